"""The embedded data: sizes, values and known features."""

from __future__ import annotations

from importlib import resources

import numpy as np
from scipy import stats

import nullforest as nf


def test_the_facts_of_the_leukaemia_data():
    leukemia = nf.datasets.load_leukemia_sex()
    assert leukemia.data.shape == (125, 12_625)
    assert leukemia.data.dtype == np.float32
    assert np.isfinite(leukemia.data).all()
    assert dict(zip(*np.unique(leukemia.target, return_counts=True), strict=True)) == {
        "F": 42,
        "M": 83,
    }
    assert leukemia.known.sum() == 16
    assert len(set(leukemia.feature_names)) == 12_625
    assert leukemia.feature_names[leukemia.known].tolist().count("38446_at") == 1  # XIST
    assert "Chiaretti" in leukemia.DESCR
    symbols = dict(zip(leukemia.feature_names, leukemia.gene_symbols, strict=True))
    assert sum(map(bool, symbols.values())) == 11_739
    known = {"41214_at": "RPS4Y", "38446_at": "XIST", "32864_at": "SRY", "40097_at": "EIF1AY"}
    assert known.items() <= symbols.items()


def test_all_patients_and_the_frame_on_demand():
    everyone = nf.datasets.load_leukemia_sex(unknown=True, as_frame=True)
    assert everyone.data.shape == (128, 12_625)
    assert (everyone.target == "").sum() == 3
    assert everyone.frame.shape == (128, 12_626)
    assert everyone.frame.columns[-1] == "sex"


def test_the_known_probes_stand_out():
    leukemia = nf.datasets.load_leukemia_sex()
    male = leukemia.target == "M"
    p = stats.ttest_ind(leukemia.data[male], leukemia.data[~male]).pvalue
    clear = p * len(p) < 0.05
    assert (clear & leukemia.known).sum() == 11
    assert (clear & ~leukemia.known).sum() <= 2


def test_the_file_is_small_and_its_licence_lies_beside_it():
    folder = resources.files("nullforest.datasets") / "data"
    assert len((folder / "leukemia_sex.npz").read_bytes()) <= 6_000_000
    assert "Artistic License 2.0" in (folder / "LICENSE-leukemia.txt").read_text()
