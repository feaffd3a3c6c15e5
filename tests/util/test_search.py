"""Bisection of monotone predicates."""

from hypothesis import given
from hypothesis import strategies as st

from nullforest._util.search import bisect, smallest_true


@given(st.integers(-50, 50), st.integers(0, 100), st.integers(-200, 200), st.integers(-60, 160))
def test_smallest_true_is_the_linear_search(low, length, turn, start):
    high = low + length
    expected = next((k for k in range(low, high) if k >= turn), high)
    assert smallest_true(lambda k: k >= turn, low, high, start) == expected


def test_bracket_holds_the_turning_point():
    low, high = bisect(lambda x: x * x > 2, 0.0, 2.0, 1e-9)
    assert low <= 2**0.5 <= high
    assert high - low <= 1e-9
    assert bisect(lambda k: k > 10, 0, 64, 1) == (10, 11)


def test_a_good_guess_costs_few_evaluations():
    evaluated = []

    def predicate(k):
        evaluated.append(k)
        return k >= 1000

    assert smallest_true(predicate, 0, 10**9, start=998) == 1000
    assert len(evaluated) <= 5
