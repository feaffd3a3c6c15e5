"""The number of trees: a forest grows until its selection has settled.

After a first hundred trees, which tell how many nodes a tree has, the features are tested at
increasing numbers of trees, a factor of √2 apart. The forest is finished when its selection is
expected to agree with that of an independent forest (`selection.agreement`), or when it has reached
the largest number of trees. Only tallies decide, so that the same seed gives the same number of
trees on any number of cores, resumed or not.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from nullforest._util.progress import Report, describe
from nullforest.forest.forest import Forest
from nullforest.forest.settings import MOST_TREES, whole_number
from nullforest.nulls import Kind
from nullforest.selection.agreement import LEAST_AGREEMENT, Agreement, SplitHalf, agreement
from nullforest.selection.error_rates import ErrorRate
from nullforest.selection.selection import Selection, select
from nullforest.tallies.tally import Tally

#: Trees that tell how many nodes a tree has.
PILOT = 100
#: Mean count at the first test. Fewer selections tell too little about weak features.
FIRST_MEAN_COUNT = 20.0
#: Mean count of the largest forest by default. Counts then have a noise of 6 %.
LARGEST_MEAN_COUNT = 300.0
#: Nodes of the first and the largest forest by default, where there are many features: about ten
#: seconds, and some minutes, of one core.
FIRST_NODES, LARGEST_NODES = 4_000_000, 40_000_000


@dataclass(frozen=True)
class Settling:
    """What is tested while a forest grows, and when it ends at the latest.

    Attributes
    ----------
    alpha, error, null
        Error rate and null model; see :func:`nullforest.select`.
    max_trees : int or None
        Largest number of trees; by the data where None.
    """

    alpha: float = 0.05
    error: ErrorRate = "fdr"
    null: Kind = "auto"
    max_trees: int | None = None

    def __post_init__(self) -> None:
        if self.max_trees is not None:
            whole_number("max_trees", self.max_trees, 1, MOST_TREES)

    def tests(self, tally: Tally) -> list[int]:
        """Numbers of trees at which the features are tested, by the first hundred trees.

        Examples
        --------
        >>> import nullforest as nf
        >>> pilot = nf.Tally.from_counts([300] + [0] * 999, nodes_per_tree=[3] * 100, n_samples=50)
        >>> Settling().tests(pilot)[:3], Settling().tests(pilot)[-2:]
        ([6667, 9428, 13333], [75425, 100000])
        >>> Settling(max_trees=8000).tests(pilot)
        [6667, 8000]
        """
        start = trees_for(tally, FIRST_MEAN_COUNT, FIRST_NODES)
        end = trees_for(tally, LARGEST_MEAN_COUNT, LARGEST_NODES)
        most = math.ceil(end) if self.max_trees is None else self.max_trees
        steps = math.ceil(2 * math.log2(most / start)) if most > start else 0
        earlier = (max(round(start * 2 ** (step / 2)), PILOT) for step in range(steps))
        return sorted({*(trees for trees in earlier if trees < most), most})


def trees_for(tally: Tally, mean_count: float, nodes: int) -> float:
    """Trees in which a feature has this mean count, or which have so many nodes if those are fewer.

    The first hundred trees tell how many nodes a tree has.
    """
    first = tally.nodes_per_tree[:PILOT]
    return min(mean_count * tally.n_columns, nodes) / max(float(first.mean()), 1 / len(first))


def settle(
    rule: Settling,
    grown: Callable[[int, Forest | None, Report | None], Forest],
    forest: Forest | None = None,
    progress: Report | None = None,
    before: int = 0,
) -> Iterator[tuple[Forest, Selection]]:
    """Yield a growing forest and its selection; the last one has settled.

    The states at all tests are yielded where there are tests `before` the first at which the forest
    may end; otherwise those in between may be left out.

    Parameters
    ----------
    rule : Settling
        What is tested.
    grown : callable
        Gives the forest with so many trees in all, from an earlier one, and tells the progress.
    forest : Forest, optional
        Trees that exist already.
    progress : callable, optional
        Told the trees done and the trees of the next test.
    before : int
        Tests before the first at which the forest may end, half as many trees every other time.
    """
    pilot = min(PILOT, rule.max_trees or PILOT)
    early = False  # a forest that was stopped by an earlier limit of time may grow now
    if forest is None or forest.n_trees < pilot:
        forest = grown(pilot, forest, None)
        early = forest.stopped_early
    tests = rule.tests(forest.tally)
    first = round(trees_for(forest.tally, FIRST_MEAN_COUNT, FIRST_NODES))
    earlier = {round(tests[0] / 2 ** (step / 2)) for step in range(1, before + 1)}
    points = sorted({trees for trees in earlier if trees > pilot} | {*tests})
    # A forest that has more trees already is tested as it is.
    for trees in [n for n in points if n >= forest.n_trees] or [forest.n_trees]:
        if trees > forest.n_trees and not early:
            forest = grown(trees, forest, progress)
            early = forest.stopped_early
        first_split = None
        if not before:  # nobody watches: what has clearly not settled need not be tested as a whole
            first_split = SplitHalf.of(forest.tally, rule.null, rule.alpha, rule.error, seed=0)
            if first_split and first_split.unsettled and not early and trees < tests[-1]:
                _tell(progress, first_split.expected)
                continue
        selection = select(forest.tally, rule.alpha, rule.error, rule.null)
        if trees < tests[0] and not early:
            yield forest, selection
            continue
        found = agreement(selection, first_split)
        settled = found is None or found.settled
        ends = settled or early or trees >= tests[-1]
        note = ""
        if found is not None and not found.settled and ends:
            note = _note(early, found)
        elif forest.n_trees < first:  # a forest that finds nothing agrees with all such
            note = (
                f"{_end(early)} after {forest.n_trees} trees, before {first} trees, at which the "
                "features are tested first; weak ones may be missing. Allow more "
                f"{'time (max_seconds=)' if early else 'trees (max_trees=)'}."
            )
        if note:
            selection = replace(selection, notes=(*selection.notes, note))
        yield (
            replace(forest, note=note, stopped_early=early),
            replace(selection, known_agreement=found),
        )
        if ends:
            return
        assert found is not None
        _tell(progress, found.expected)


def _tell(progress: Report | None, expected: float) -> None:
    describe(progress, f"agreement {expected:.2f}, ends at {LEAST_AGREEMENT:g}")


def _end(early: bool) -> str:
    return "The time was over" if early else "The largest number of trees was reached"


def _note(early: bool, found: Agreement) -> str:
    return (
        f"{_end(early)} before the selection had settled: that of another seed is expected to have "
        f"a Jaccard index of {found.expected:.2f} ± {found.standard_error:.2f} with this one, and "
        f"four times the trees {found.change * max(found.n_selected, 1):+.0f} selected features. "
        f"Allow more {'time (max_seconds=)' if early else 'trees (max_trees=)'}."
    )


def last(states: Iterable[tuple[Forest, Selection]]) -> tuple[Forest, Selection]:
    """The last state of a growing forest; the earlier ones are not kept."""
    return deque(states, maxlen=1)[0]
