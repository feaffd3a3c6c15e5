"""Comparison of the published tests on simulated and real data."""
