"""The forests that benchmarks/engine.py times, and the least ratios to other engines.

A work names its shape, the ways in which our engine grows it, and for each way the least ratio to
each of the others. A way or another without a floor is timed all the same.
"""

from __future__ import annotations

from dataclasses import dataclass, field

PLAIN = "nullforest"
PROBES = "nullforest, with virtual probes"
KEPT = "nullforest, trees kept and out-of-bag"
BOOTSTRAP = "nullforest, bootstrap"

SKLEARN, INTELEX, RANGER = "scikit-learn", "scikit-learn-intelex", "ranger"


@dataclass(frozen=True)
class Work:
    """One forest: its shape, the target, who grows it, and the least ratios."""

    samples: int
    features: int
    trees: int
    candidates: int
    classes: int = 2  # 0: a number to predict
    ways: tuple[str, ...] = (PLAIN, PROBES)
    others: tuple[str, ...] = (SKLEARN, INTELEX, RANGER)
    floors: dict[str, dict[str, float]] = field(default_factory=dict)  # of a way, to another

    def floor(self, way: str, other: str) -> float | None:
        """Return the least ratio of a way to another engine, None where there is none."""
        return self.floors.get(way, {}).get(other)


A = (250, 5_000, 500, 250)
EVERY_WAY = (PLAIN, PROBES, KEPT, BOOTSTRAP)

WORKS = {
    "A": Work(
        *A,
        ways=EVERY_WAY,
        floors={
            PLAIN: {SKLEARN: 50, RANGER: 20},
            PROBES: {SKLEARN: 35},
            BOOTSTRAP: {SKLEARN: 40},
        },
    ),
    "B": Work(
        *(100, 10_000, 1_000, 500),
        ways=EVERY_WAY,
        floors={PLAIN: {SKLEARN: 75}, PROBES: {SKLEARN: 35}},
    ),
    "C": Work(
        *(500, 10_242, 1_024, 512),
        ways=EVERY_WAY,
        floors={PLAIN: {SKLEARN: 55}, PROBES: {SKLEARN: 35}},
    ),
    "D": Work(5_000, 1_000, 200, 32, ways=EVERY_WAY, floors={PLAIN: {SKLEARN: 7}}),
    "E": Work(100_000, 100, 50, 10, ways=EVERY_WAY, floors={PLAIN: {SKLEARN: 3}}),
    "A, numbers": Work(*A, classes=0, ways=EVERY_WAY, floors={PLAIN: {SKLEARN: 25}}),
    "A, 3 classes": Work(*A, classes=3, ways=EVERY_WAY, floors={PLAIN: {SKLEARN: 35}}),
    "100 × 10 000, 20 candidates": Work(
        *(100, 10_000, 10_000, 20),
        floors={PLAIN: {SKLEARN: 250}, PROBES: {SKLEARN: 150}},
    ),
}
