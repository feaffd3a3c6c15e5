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
PLAIN_AND_BOOTSTRAP = (PLAIN, PROBES, BOOTSTRAP)
MANY_SAMPLES = (SKLEARN, INTELEX)

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
    "D": Work(5_000, 1_000, 200, 32, ways=EVERY_WAY, floors={PLAIN: {SKLEARN: 20}}),
    "E": Work(100_000, 100, 50, 10, ways=EVERY_WAY, floors={PLAIN: {SKLEARN: 8, INTELEX: 1.5}}),
    "A, numbers": Work(*A, classes=0, ways=EVERY_WAY, floors={PLAIN: {SKLEARN: 25}}),
    "A, 3 classes": Work(*A, classes=3, ways=EVERY_WAY, floors={PLAIN: {SKLEARN: 35}}),
    "100 × 10 000, 20 candidates": Work(
        *(100, 10_000, 10_000, 20),
        floors={PLAIN: {SKLEARN: 250}, PROBES: {SKLEARN: 150}},
    ),
    **{
        f"{S} × 2 000": Work(
            *(S, 2_000, trees, 100),
            ways=PLAIN_AND_BOOTSTRAP,
            others=MANY_SAMPLES,
            floors={PLAIN: {SKLEARN: floor, INTELEX: 3}, PROBES: {SKLEARN: 15, INTELEX: 3}},
        )
        for S, trees, floor in [(520, 500, 35), (1_000, 250, 30), (2_000, 100, 25), (4_000, 50, 20)]
    },
    **{
        f"{S} × 2 000, numbers": Work(
            *(S, 2_000, trees, 100),
            classes=0,
            others=MANY_SAMPLES,
            floors={PLAIN: {SKLEARN: 8, INTELEX: 3}},
        )
        for S, trees in [(520, 100), (1_000, 50), (2_000, 30), (4_000, 20)]
    },
    "2000 × 2 000, 3 classes": Work(
        *(2_000, 2_000, 100, 100), classes=3, ways=PLAIN_AND_BOOTSTRAP, others=MANY_SAMPLES
    ),
    "1 000 × 20": Work(
        *(1_000, 20, 500, 4), ways=(PLAIN,), others=MANY_SAMPLES, floors={PLAIN: {INTELEX: 4}}
    ),
    "20 000 × 30": Work(
        *(20_000, 30, 100, 5), ways=(PLAIN,), others=MANY_SAMPLES, floors={PLAIN: {INTELEX: 1.5}}
    ),
}
