"""When a forest is tested, and when it ends: a number of trees, or a selection that has settled.

After a first hundred trees, which tell how many nodes a tree has, the features are tested at
increasing numbers of trees, a factor of √2 apart. The forest is finished when its selection is
expected to agree with that of an independent forest (`selection.agreement`), or when it has reached
the largest number of trees. Only tallies decide, so that the same seed gives the same number of
trees on any number of cores, resumed or not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from nullforest._util.errors import check_known
from nullforest._util.progress import Report, describe
from nullforest._util.words import Sentence, Setting
from nullforest.nulls import KINDS, Kind
from nullforest.nulls.distribution import check_alpha
from nullforest.run.forest import Forest
from nullforest.selection.agreement import LEAST_AGREEMENT, Agreement, SplitHalf, agreement
from nullforest.selection.error_rates import ERROR_RATES, ErrorRate
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
#: Points of a trajectory per doubling of a forest of a given size, and doublings: 16 points.
STEPS_PER_DOUBLING, DOUBLINGS = 3, 5
#: Points before the first test of a forest that grows until its selection has settled: a factor of
#: √2 apart, from a sixteenth of its trees on.
POINTS_BEFORE = 8


@dataclass(frozen=True)
class Question:
    """What the counts of a forest are tested for: an error rate and its level, a null model."""

    alpha: float = 0.05
    error: ErrorRate = "fdr"
    null: Kind = "auto"

    def __post_init__(self) -> None:
        check_alpha(self.alpha)
        for what, word, words in [
            ("error rate", self.error, ERROR_RATES),
            ("null model", self.null, KINDS),
        ]:
            if not (isinstance(word, str) and word in words):
                check_known(what, word, words)


@dataclass(frozen=True, eq=False)
class State:
    """A forest at one point of its growth, its selection if it was tested, and whether it ends."""

    forest: Forest
    selection: Selection | None
    ends: bool


@dataclass(frozen=True)
class FixedNumber:
    """A number of trees.

    Attributes
    ----------
    question : Question or None
        What is tested at the end; nothing where None.
    trees : int
        Trees in all.
    watched : bool
        Test at the points of a trajectory, too.
    """

    question: Question | None
    trees: int
    watched: bool = False
    #: Trees that are grown before the points are known.
    pilot: ClassVar[int] = 0

    @property
    def most(self) -> int:
        """Trees that the progress counts to."""
        return self.trees

    def points(self, forest: Forest | None) -> list[int]:
        """The number of trees, and smaller ones, even on a log scale, where they are watched.

        Examples
        --------
        >>> FixedNumber(None, 1000, watched=True).points(None)[-4:]
        [500, 630, 794, 1000]
        """
        if not self.watched:
            return [self.trees]
        steps = np.arange(-STEPS_PER_DOUBLING * DOUBLINGS, 1) / STEPS_PER_DOUBLING
        return sorted({max(1, round(float(share))) for share in self.trees * 2.0**steps})

    def judge(
        self, forest: Forest, trees: int, early: bool, progress: Report | None
    ) -> State | None:
        """The forest with its selection."""
        if early:
            note = Sentence(
                "Stopped by ",
                Setting("max_seconds", equals=""),
                f" after {forest.n_trees} of {self.trees} trees.",
            )
            forest = replace(forest, note=note)
        selection = None
        if (question := self.question) is not None:
            selection = select(forest, question.alpha, question.error, question.null)
        return State(forest, selection, early or trees >= self.trees)


@dataclass(frozen=True)
class UntilSettled:
    """As many trees as it takes until the selection has settled.

    Attributes
    ----------
    question : Question
        What is tested.
    max_trees : int or None
        Largest number of trees; by the data where None.
    watched : bool
        Test half as many trees every other time before the first test at which it may end, and at
        every test, also where it is clear that the selection has not settled.
    """

    question: Question
    max_trees: int | None = None
    watched: bool = False
    #: The progress counts to the trees of the next point.
    most: ClassVar[int] = 0

    @property
    def pilot(self) -> int:
        """Trees that tell how many nodes a tree has."""
        return min(PILOT, self.max_trees or PILOT)

    def points(self, forest: Forest | None) -> list[int]:
        """Numbers of trees at which the features are tested, by the first hundred trees."""
        assert forest is not None
        tests = self.tests(forest.tally)
        before = POINTS_BEFORE if self.watched else 0
        earlier = {round(tests[0] / 2 ** (step / 2)) for step in range(1, before + 1)}
        points = sorted({trees for trees in earlier if trees > self.pilot} | {*tests})
        # A forest that has more trees already is tested as it is.
        return [trees for trees in points if trees >= forest.n_trees] or [forest.n_trees]

    def tests(self, tally: Tally) -> list[int]:
        """Numbers of trees at which the forest may end.

        Examples
        --------
        >>> import nullforest as nf
        >>> pilot = nf.Tally.from_counts([300] + [0] * 999, nodes_per_tree=[3] * 100, n_samples=50)
        >>> rule = UntilSettled(Question())
        >>> rule.tests(pilot)[:3], rule.tests(pilot)[-2:]
        ([6667, 9428, 13333], [75425, 100000])
        >>> UntilSettled(Question(), max_trees=8000).tests(pilot)
        [6667, 8000]
        """
        start = trees_for(tally, FIRST_MEAN_COUNT, FIRST_NODES)
        end = trees_for(tally, LARGEST_MEAN_COUNT, LARGEST_NODES)
        most = math.ceil(end) if self.max_trees is None else self.max_trees
        steps = math.ceil(2 * math.log2(most / start)) if most > start else 0
        earlier = (max(round(start * 2 ** (step / 2)), PILOT) for step in range(steps))
        return sorted({*(trees for trees in earlier if trees < most), most})

    def judge(
        self, forest: Forest, trees: int, early: bool, progress: Report | None
    ) -> State | None:
        """The forest with its selection; None where it clearly has not settled."""
        question, tests = self.question, self.tests(forest.tally)
        ends, first_split = early or trees >= tests[-1], None
        if not self.watched:
            first_split = SplitHalf.of(
                forest.tally, question.null, question.alpha, question.error, seed=0
            )
            if first_split and first_split.unsettled and not ends:
                _tell(progress, first_split.expected)
                return None
        forest = replace(forest, stopped_early=early, note="")
        selection = select(forest, question.alpha, question.error, question.null)
        if trees < tests[0] and not early:
            return State(forest, selection, ends=False)
        expected = agreement(selection, first_split)
        ends = ends or expected is None or expected.settled
        if not ends and expected is not None:
            _tell(progress, expected.expected)
        note = self._note(forest, early, expected) if ends else ""
        if note:
            forest = replace(forest, note=note)
            selection = replace(selection, notes=(*selection.notes, note))
        return State(forest, replace(selection, known_agreement=expected), ends)

    def _note(self, forest: Forest, early: bool, expected: Agreement | None) -> str:
        """What is not certain about the selection at which the forest ends."""
        end = "The time was over" if early else "The largest number of trees was reached"
        more = ("time", "max_seconds") if early else ("trees", "max_trees")
        remedy = (f"Allow more {more[0]} (", Setting(more[1]), ").")
        first = round(trees_for(forest.tally, FIRST_MEAN_COUNT, FIRST_NODES))
        if expected is not None and not expected.settled:
            change = expected.change * max(expected.n_selected, 1)
            return Sentence(
                f"{end} before the selection had settled: that of another seed is expected to have "
                f"a Jaccard index of {expected.expected:.2f} ± {expected.standard_error:.2f} with "
                f"this one, and four times the trees {change:+.0f} selected features. ",
                *remedy,
            )
        if forest.n_trees < first:  # a forest that finds nothing agrees with all such
            return Sentence(
                f"{end} after {forest.n_trees} trees, before {first} trees, at which the features "
                "are tested first; weak ones may be missing. ",
                *remedy,
            )
        return ""


Schedule = FixedNumber | UntilSettled


def trees_for(tally: Tally, mean_count: float, nodes: int) -> float:
    """Trees in which a feature has this mean count, or which have so many nodes if those are fewer.

    The first hundred trees tell how many nodes a tree has.
    """
    first = tally.nodes_per_tree[:PILOT]
    return min(mean_count * tally.n_columns, nodes) / max(float(first.mean()), 1 / len(first))


def _tell(progress: Report | None, expected: float) -> None:
    describe(progress, f"agreement {expected:.2f}, ends at {LEAST_AGREEMENT:g}")
