"""Hostile calls by seed: every outcome is a result or one sentence, never a crash or a hang.

`make fuzz CALLS=5000 SEED=0` makes them; `test_fuzz.py` makes a few of each area with fixed seeds.
A call is named by its area and its seed: `PYTHONPATH=tests python -m fuzz grow:17` repeats one.
"""
