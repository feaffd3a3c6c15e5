"""The answers of record come out again: tallies to the bit, p-values to 1e-10."""

from pathlib import Path

import pytest
from tests.golden.answers import lines

KEPT = Path(__file__).with_name("answers.txt")


def test_forests_and_pvalues_are_those_of_record():
    kept = [tuple(line.split("\t")) for line in KEPT.read_text().splitlines()]
    found = list(lines())
    assert [line[:3] for line in found] == [line[:3] for line in kept]
    for (*where, now), (*_, before) in zip(found, kept, strict=True):
        if where[1] == "tally":
            assert now == before, where
        else:
            # Relative, so that a p-value of 1e-30 is held as well.
            assert float(now) == pytest.approx(float(before), rel=1e-10, abs=0), where
