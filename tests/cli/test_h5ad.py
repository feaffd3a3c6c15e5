"""From an .h5ad file to its genes, and back into the file."""

from __future__ import annotations

import json

import anndata
import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import nullforest as nf

QUICK = ("--trees", "300", "--error", "fwer")


def cells(form=np.array, n=80, genes=200):
    """Counts in which gene 7 tells the group, gene 9 the batch, and gene 11 is never seen."""
    rng = np.random.default_rng(3)
    X = rng.poisson(1.0, size=(n, genes)).astype(np.float32)
    batch = np.arange(n) % 2
    X[:, 7] += 3 * (np.arange(n) >= n // 2)
    X[:, 9] += 3 * batch
    X[:, 11] = 0
    data = anndata.AnnData(form(X))
    data.obs["group"] = pd.Categorical(np.where(np.arange(n) >= n // 2, "B", "T"))
    data.obs["batch"] = [f"run {i}" for i in batch]
    data.obs["tissue"] = np.where(np.arange(n) % 4, "skin", "lung")
    data.obs["age"] = X[:, 7] + rng.normal(size=n)
    data.var_names = [f"ENSG{i:05d}" for i in range(genes)]
    data.var["symbol"] = [f"GENE{i}" for i in range(genes)]
    data.layers["noise"] = form(rng.poisson(1.0, size=(n, genes)).astype(np.float32))
    return data


@pytest.mark.parametrize(
    "form",
    [np.array, scipy.sparse.csr_matrix, scipy.sparse.csc_matrix],
    ids=["dense", "csr", "csc"],
)
def test_the_columns_are_in_the_file_that_is_read_back(form, tmp_path, run):
    path, out, table = tmp_path / "sc.h5ad", tmp_path / "out.h5ad", tmp_path / "t.csv"
    cells(form).write_h5ad(path)
    result = run(
        *(
            "select",
            path,
            "-t",
            "group",
            "--annotations",
            "symbol",
            "--h5ad",
            out,
            "--table",
            table,
        ),
        *QUICK,
    )
    assert result.exit_code == 0, result.stderr
    assert "ENSG00007 (GENE7)" in result.stdout
    assert (
        "1 column has the same value in all samples, so that no node can split it: 'ENSG00011'"
        in result.stdout
    )
    back, frame = anndata.read_h5ad(out), pd.read_csv(table, index_col="feature")
    assert back.var_names[back.var["nullforest_selected"]].tolist() == ["ENSG00007"]
    assert frame.loc["ENSG00007", "name"] == "GENE7"
    here = back.var.loc[frame.index]
    assert (here["nullforest_higher_in"] == frame["higher_in"].fillna("")).all()
    for name in ("count", "expected_count", "p_value", "q_value", "selected", "difference", "auc"):
        np.testing.assert_allclose(here[f"nullforest_{name}"], frame[name], rtol=1e-12)
    assert back.var.loc["ENSG00011", "nullforest_p_value"] == 1
    assert back.uns["nullforest"]["alpha"] == 0.05
    assert back.uns["nullforest"]["effects"]["comparison"] == "two classes"
    np.testing.assert_array_equal(
        back.X.toarray() if form is not np.array else back.X, np.asarray(cells().X)
    )
    assert list(back.obs) == ["group", "batch", "tissue", "age"]


def test_layers_and_filters_change_the_question(tmp_path, run):
    path = tmp_path / "sc.h5ad"
    cells().write_h5ad(path)
    noise = run("select", path, "-t", "group", "--layer", "noise", "--json", tmp_path / "a", *QUICK)
    assert noise.exit_code == 0, noise.stderr
    chosen = json.loads((tmp_path / "a").read_text())
    assert "ENSG00007" not in [row["feature"] for row in chosen["selected"]]
    some = run(
        *("select", path, "-t", "group", "--obs-filter", "tissue == 'skin'"),
        *("--json", tmp_path / "b", *QUICK),
    )
    assert some.exit_code == 0, some.stderr
    found = json.loads((tmp_path / "b").read_text())
    assert found["n_samples"] == 60
    assert found["selected"][0]["feature"] == "ENSG00007"
    assert any("60 of 80 samples have tissue == 'skin'" in note for note in found["notes"])


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["-t", "gruop"], "did you mean 'group'?"),
        (["-t", "group", "--layer", "raw"], "has no layer 'raw'; it has 'noise'"),
        (["-t", "group", "--annotations", "symbols"], "no column 'symbols'; it has 'symbol'"),
        (["-t", "group", "--obs-filter", "tissue = 3"], "--obs-filter 'tissue = 3' "),
        (["-t", "group", "--obs-filter", "colour == 1"], "cannot be used"),
        (["-t", "group", "--obs-filter", "tissue == 'x'"], "leaves no sample"),
        (["-t", "group", "--mask", "m.nii"], "--mask does not apply to an .h5ad file"),
        (["-t", "group", "--transpose"], "--transpose is for tables"),
    ],
)
def test_what_cannot_be_read_is_told_in_a_sentence(arguments, sentence, tmp_path, run):
    path, out = tmp_path / "sc.h5ad", tmp_path / "out.h5ad"
    cells().write_h5ad(path)
    result = run("select", path, *arguments, "--h5ad", out, *QUICK)
    assert result.exit_code == 2
    assert sentence in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    assert not out.exists()


def test_a_truncated_file_is_told_in_a_sentence(tmp_path, run):
    path = tmp_path / "sc.h5ad"
    cells().write_h5ad(path)
    path.write_bytes(path.read_bytes()[:3000])
    result = run("select", path, "-t", "group", *QUICK)
    assert result.exit_code == 2
    assert "cannot be read as AnnData" in result.stderr
    no_file = run("select", tmp_path / "no.h5ad", "-t", "group")
    assert no_file.exit_code == 2
    assert "There is no file" in no_file.stderr


def test_genes_of_an_anndata_in_memory_backed_and_of_views(tmp_path):
    settings = {"trees": 300, "error": "fwer"}
    data = cells(scipy.sparse.csr_matrix)
    expected = nf.select_genes(data, "group", **settings)
    assert data.var_names[data.var["nullforest_selected"]].tolist() == ["ENSG00007"]
    path = tmp_path / "sc.h5ad"
    cells(scipy.sparse.csr_matrix).write_h5ad(path)
    backed = anndata.read_h5ad(path, backed="r")
    np.testing.assert_array_equal(
        nf.select_genes(backed, "group", **settings).pvalues, expected.pvalues
    )
    assert "nullforest_p_value" in backed.var
    backed.file.close()
    whole = cells(scipy.sparse.csc_matrix)
    view = whole[whole.obs["tissue"] == "skin", :50]
    selection = nf.select_genes(view, "group", names="symbol", **settings)
    assert selection.tally.n_samples == 60
    assert selection.table["name"].iloc[0] == "GENE7"
    assert view.var["nullforest_selected"].sum() == 1
    assert "nullforest_selected" not in whole.var
    number = nf.select_genes(whole, "age", key_added="age", **settings)
    assert number.selected[0] == "ENSG00007"
    assert {"age_p_value", "age_selected"} <= set(whole.var)


def test_batches_are_blocks(tmp_path):
    data = cells(n=120)
    data.obs["group"] = data.obs["batch"].str.replace("run ", "g")
    data.obs.loc[data.obs_names[:10], "group"] = "g0"
    plain = nf.select_genes(data, "group", trees=100)
    assert "ENSG00009" in plain.selected
    within = nf.select_genes(data, "group", blocks="batch", trees=100)
    assert "ENSG00009" not in within.selected
    with pytest.raises(nf.InputError, match="column of blocks 'btch' is not in the AnnData"):
        nf.select_genes(data, "group", blocks="btch")
    with pytest.raises(nf.InputError, match="takes an AnnData"):
        nf.select_genes(data.X, "group")


def with_raw():
    """Cells with all genes in `raw`, and genes 100 to 149 and one of its own left."""
    data = cells(scipy.sparse.csr_matrix)
    kept = data[:, 100:150].copy()
    kept.raw = data
    kept.var_names = ["another", *kept.var_names[1:]]
    return kept


def test_raw_is_the_layer_of_all_genes(tmp_path, run):
    settings = {"trees": 300, "error": "fwer"}
    expected = nf.select_genes(cells(scipy.sparse.csr_matrix), "group", names="symbol", **settings)
    data = with_raw()
    selection = nf.select_genes(data, "group", layer="raw", names="symbol", **settings)
    np.testing.assert_array_equal(selection.pvalues, expected.pvalues)
    assert selection.selected.tolist() == ["ENSG00007"]
    path, out = tmp_path / "raw.h5ad", tmp_path / "out.h5ad"
    with_raw().write_h5ad(path)
    arguments = ("--layer", "raw", "--annotations", "symbol", "--h5ad", out)
    result = run("select", path, "-t", "group", *arguments, *QUICK)
    assert result.exit_code == 0, result.stderr
    for each in (data, anndata.read_h5ad(out)):
        raw = each.raw.var
        assert raw.index[raw["nullforest_selected"]].tolist() == ["ENSG00007"]
        there = each.var["nullforest_p_value"]
        assert np.isnan(there["another"])
        np.testing.assert_array_equal(there[1:], raw.loc[each.var_names[1:], "nullforest_p_value"])
        assert each.var["nullforest_selected"].dtype == bool
    view = with_raw()[:60]
    assert nf.select_genes(view, "group", layer="raw", **settings).tally.n_samples == 60
    backed = anndata.read_h5ad(path, backed="r")
    again = nf.select_genes(backed, "group", layer="raw", **settings)
    np.testing.assert_array_equal(again.pvalues, expected.pvalues)
    backed.file.close()


def test_survival_times_of_cells_or_patients():
    data = cells(n=200)
    rng = np.random.default_rng(0)
    data.obs["days"] = rng.exponential(np.exp(-np.asarray(data.X[:, 7], float)))
    data.obs["died"] = rng.random(200) < 0.8
    selection = nf.select_genes(data, time="days", event="died", trees=1000)
    assert selection.selected.tolist() == ["ENSG00007"]
    assert data.var.loc["ENSG00007", "nullforest_hazard"] == "higher"
    for wrong in ({}, {"target": "group", "time": "days"}, {"time": "days"}):
        with pytest.raises(nf.InputError, match="both time= and event="):
            nf.select_genes(data, **wrong)


def test_what_scanpy_writes_is_read(tmp_path, run):
    import scanpy as sc  # slow to import, and no other test needs it

    path, out = tmp_path / "scanpy.h5ad", tmp_path / "out.h5ad"
    data = cells(scipy.sparse.csr_matrix)
    data.layers["counts"] = data.X.copy()
    sc.pp.normalize_total(data, target_sum=1e4)
    sc.pp.log1p(data)
    data.write_h5ad(path)
    result = run("select", path, "-t", "group", "--h5ad", out, "--layer", "counts", *QUICK)
    assert result.exit_code == 0, result.stderr
    back = sc.read_h5ad(out)
    assert back.var_names[back.var["nullforest_selected"]].tolist() == ["ENSG00007"]
    assert "log1p" in back.uns
