"""Write the answers of record: `python -m tests.golden.answers > tests/golden/answers.txt`.

Data sets of every kind of target and table. Those named first spell every setting out, so that a
change of defaults does not move them; those named "default" are the answers that users get. A line
is either the hash of one array of a tally, or the p-value of one feature under one null model.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.ensemble import RandomForestClassifier

import nullforest as nf

#: Features whose p-values are kept: these ranks in the order of the counts.
RANKS = (0, 1, 2, 5, 10, 20, 50, 100, 200, 400)


def full(seed: int) -> dict[str, int | None]:
    """Seed of a forest of full trees whose probes have the same seed."""
    return {"seed": seed, "probe_seed": seed, "max_depth": None}


def _tallies() -> Iterator[tuple[str, nf.Tally, tuple[str, ...]]]:
    """Name, tally and null models of each answer."""
    leukemia = nf.datasets.load_leukemia_sex()
    forest = nf.grow(
        leukemia.data, leukemia.target, trees=1000, candidates=600, probes=1200, **full(1)
    )
    yield "leukemia", forest.tally, ("probes", "bagged", "paper")

    X, y, _ = nf.simulate.independent(120, 800, 20, relevance=0.5, seed=2)
    pools = nf.grow(X, y, trees=600, candidates=60, draw="tree", probes=800, **full(2))
    yield "independent, per tree", pools.tally, ("probes", "bagged", "paper")
    sklearn = RandomForestClassifier(100, max_features=40, max_samples=0.5, random_state=2)
    yield "independent, scikit-learn", nf.tally(sklearn.fit(X, y)), ("bagged", "paper")

    rng = np.random.default_rng(3)
    snps = rng.binomial(2, rng.uniform(0.05, 0.5, 600), size=(150, 600)).astype(float)
    snps[:, :60] = rng.normal(size=(150, 60))
    snps[rng.random(snps.shape) < 0.01] = np.nan
    label = rng.integers(0, 3, 150)
    mixed = nf.grow(snps, label, trees=800, candidates=30, probes=1500, replace=True, **full(3))
    yield "SNPs, three classes", mixed.tally, ("probes", "bagged", "paper")

    noise = rng.normal(size=(442, 90))
    diabetes = load_diabetes()
    X = np.hstack([diabetes.data, noise])
    numbers = nf.grow(
        X, diabetes.target, trees=300, candidates=10, probes=300, min_leaf=5, **full(4)
    )
    yield "diabetes and noise", numbers.tally, ("probes", "bagged", "paper")

    wine = load_wine()
    X = np.hstack([wine.data, np.random.default_rng(5).normal(size=(178, 120))])
    entropy = nf.grow(
        X, wine.target, trees=400, candidates=12, criterion="entropy", probes=300, **full(5)
    )
    yield "wine and noise", entropy.tally, ("probes", "bagged", "paper")
    yield from _defaults()


def _defaults() -> Iterator[tuple[str, nf.Tally, tuple[str, ...]]]:
    """What users get who set nothing but what their data need."""
    leukemia = nf.datasets.load_leukemia_sex()
    X, sex = leukemia.data[:, :3000], leukemia.target
    yield "default, two classes", nf.grow(X, sex, max_trees=8000).tally, ("auto", "bagged")

    rng = np.random.default_rng(6)
    kind = np.arange(90) % 3
    wide = rng.normal(size=(90, 900))
    wide[:, :12] += 1.2 * (kind == 1)[:, None]
    three = nf.grow(wide, np.array(["a", "b", "c"])[kind], max_trees=9000)
    yield "default, three classes", three.tally, ("auto",)

    diabetes = load_diabetes()
    yield "default, numbers", nf.grow(diabetes.data, diabetes.target).tally, ("auto",)
    cancer = load_breast_cancer()
    yield "default, small table", nf.grow(cancer.data, cancer.target).tally, ("auto",)

    X, y, _ = nf.simulate.survival(120, 700, 10, 2.0, 0.3, seed=7)
    yield "default, survival", nf.grow(X, y, max_trees=9000).tally, ("auto",)
    yield "default, survival, few", nf.grow(X[:, :40], y, max_trees=4000).tally, ("auto",)

    names = np.array(["red", "green", "blue", "brown"])
    frame = pd.DataFrame(rng.normal(size=(160, 12))).add_prefix("n")
    frame["colour"] = names[rng.integers(0, 4, 160)]
    frame["smoker"] = rng.random(160) < 0.3
    frame["size"] = pd.Categorical(
        np.array(["S", "M", "L"])[rng.integers(0, 3, 160)], ["S", "M", "L"], ordered=True
    )
    frame.loc[rng.random(160) < 0.1, "n3"] = np.nan
    ill = np.where(frame["n0"] + (frame["colour"] == "red") + rng.normal(size=160) > 0.5, "y", "n")
    site = np.arange(160) % 5
    yield "default, categories", nf.grow(frame, ill, max_trees=4000).tally, ("auto",)
    blocks = nf.grow(frame, ill, blocks=site, max_trees=4000)
    yield "default, categories and blocks", blocks.tally, ("auto",)
    age = site + rng.normal(size=160)
    adjusted = nf.grow(frame.drop(columns="colour"), ill, adjust=age, max_trees=4000)
    yield "default, covariate", adjusted.tally, ("auto",)

    counts = sparse.random(100, 1200, 0.2, random_state=8, format="csr")
    cells = nf.grow(counts, np.arange(100) % 2, max_trees=6000)
    yield "default, sparse", cells.tally, ("auto",)

    weight = rng.uniform(0.5, 2.0, 90)
    weighted = nf.grow(wide, wide[:, 5] + rng.normal(size=90), sample_weight=weight, max_trees=6000)
    yield "default, weights", weighted.tally, ("auto",)
    balanced = nf.grow(wide, kind == 0, class_weight="balanced", max_trees=6000)
    yield "default, class weights", balanced.tally, ("auto",)


def _hash(values: np.ndarray) -> str:
    return hashlib.sha256(np.ascontiguousarray(values).astype("<i8").tobytes()).hexdigest()[:16]


def lines() -> Iterator[tuple[str, str, str, str]]:
    """Every answer as (data set, what, which, value)."""
    for name, tally, kinds in _tallies():
        arrays = {
            "counts": tally.counts,
            "nodes_per_tree": tally.nodes_per_tree,
            "couplings": tally.couplings,
        }
        if tally.probes is not None:
            arrays |= {"probe wins": tally.probes.wins, "probe ids": tally.probes.ids}
        if tally.shadows is not None:
            arrays |= {"shadow counts": tally.shadows.wins}
        for what, values in arrays.items():
            yield name, "tally", what, _hash(values)
        order = np.argsort(-tally.counts, kind="stable")
        for kind in kinds:
            p = nf.select(tally, 0.05, "fdr", kind).pvalues
            for rank in RANKS:
                if rank < len(order):
                    yield name, kind, str(order[rank]), f"{p[order[rank]]:.15e}"


if __name__ == "__main__":
    for line in lines():
        print("\t".join(line))
