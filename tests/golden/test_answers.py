"""The answers of record come out again: tallies to the bit, logarithms of p-values to 1e-10."""

from math import log
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
            # A rate that is off by ε moves log p by about ε log p. Linear algebra sums in an order
            # of each processor's own: ε is 2e-12 between two of them.
            assert log(float(now)) == pytest.approx(log(float(before)), rel=1e-10, abs=0), where
