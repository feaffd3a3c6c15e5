"""10x matrices, gene sets and atlas regions as groups."""

from __future__ import annotations

import gzip

import anndata
import h5py
import numpy as np
import pandas as pd
import pytest
import scipy.io
import scipy.sparse

import nullforest as nf
from brains import atlas, save_mask, volumes

QUICK = ("--trees", "500")


def _counts(n=80, genes=300):
    rng = np.random.default_rng(4)
    X = rng.poisson(1.0, size=(n, genes))
    X[n // 2 :, 10:13] += 2
    barcodes = [f"CELL{i}-1" for i in range(n)]
    about = pd.DataFrame({"barcode": barcodes, "kind": np.repeat(["T", "B"], n // 2)})
    return (
        X,
        barcodes,
        [f"ENSG{i}" for i in range(genes)],
        [f"GENE{i}" for i in range(genes)],
        about,
    )


def _h5(folder, *, version=3):
    X, barcodes, identifiers, symbols, about = _counts()
    path = folder / "matrix.h5"
    turned = scipy.sparse.csc_matrix(X.T)
    with h5py.File(path, "w") as file:
        group = file.create_group("matrix" if version == 3 else "GRCh38")
        group["barcodes"] = np.array(barcodes, "S")
        for name in ("data", "indices", "indptr"):
            group[name] = getattr(turned, name)
        group["shape"] = turned.shape
        group["features/id" if version == 3 else "genes"] = np.array(identifiers, "S")
        group["features/name" if version == 3 else "gene_names"] = np.array(symbols, "S")
    about.to_csv(folder / "cells.csv", index=False)
    return path


def _mtx(folder):
    X, barcodes, identifiers, symbols, about = _counts()
    scipy.io.mmwrite(folder / "matrix.mtx", scipy.sparse.coo_matrix(X.T))
    plain = folder / "matrix.mtx"
    (folder / "matrix.mtx.gz").write_bytes(gzip.compress(plain.read_bytes()))
    plain.unlink()
    rows = [f"{i}\t{s}\tGene Expression" for i, s in zip(identifiers, symbols, strict=True)]
    (folder / "features.tsv.gz").write_bytes(gzip.compress("\n".join(rows).encode()))
    (folder / "barcodes.tsv").write_text("\n".join(barcodes))
    about.to_csv(folder / "cells.csv", index=False)
    return folder


@pytest.mark.parametrize("make", [_h5, lambda f: _h5(f, version=2), _mtx], ids=["h5", "v2", "mtx"])
def test_matrices_of_cell_ranger_are_read(make, tmp_path, run):
    path = make(tmp_path)
    table = nf.read_table(path, "kind", sample_table=tmp_path / "cells.csv")
    X, barcodes, *_ = _counts()
    np.testing.assert_array_equal(table.X.toarray(), X[:, table.columns])
    assert table.sample_ids.tolist() == barcodes
    assert table.annotations["name"].tolist() == [f"GENE{i}" for i in table.columns]
    about, out = tmp_path / "cells.csv", tmp_path / "out.h5ad"
    pd.read_csv(about).iloc[:-2].to_csv(about, index=False)  # two cells are of no kind
    options = ("--sample-table", about, "--matched-only", "--h5ad", out)
    result = run("select", path, "-t", "kind", *options, *QUICK)
    assert result.exit_code == 0, result.stderr
    assert "ENSG10 (GENE10)" in result.stdout
    back = anndata.read_h5ad(out)
    np.testing.assert_array_equal(back.X.toarray(), X)
    assert back.obs_names.tolist() == barcodes
    assert back.obs["kind"].isna().tolist() == [False] * 78 + [True] * 2
    assert back.var.loc["ENSG10", "name"] == "GENE10"
    assert "ENSG10" in back.var_names[back.var["nullforest_selected"]]
    assert back.uns["nullforest"]["n_samples"] == 78


def test_scanpy_reads_the_same_matrix(tmp_path):
    import scanpy as sc

    path = _h5(tmp_path)
    with h5py.File(path, "r+") as file:
        file["matrix/features/feature_type"] = np.array(["Gene Expression"] * 300, "S")
        file["matrix/features/genome"] = np.array(["GRCh38"] * 300, "S")
    expected = sc.read_10x_h5(path)
    table = nf.read_table(path, "kind", sample_table=tmp_path / "cells.csv")
    np.testing.assert_array_equal(table.X.toarray(), expected.X.toarray()[:, table.columns])
    assert table.annotations["name"].tolist() == expected.var_names[table.columns].tolist()


def test_gene_sets_are_tested_as_groups(tmp_path, run):
    path, sets, out = _mtx(tmp_path), tmp_path / "sets.gmt", tmp_path / "t.groups.csv"
    sets.write_text(
        "PLANTED\tof the test\tGENE10\tGENE11\tGENE12\tUNKNOWN1\n"
        "OTHER\tof the test\tGENE1\tENSG2\tGENE3\n"
        "NOWHERE\tof the test\tUNKNOWN2\n"
    )
    given = ("select", path, "-t", "kind", "--sample-table", tmp_path / "cells.csv", *QUICK)
    result = run(*given, "--groups", sets, "--table", tmp_path / "t.csv")
    assert result.exit_code == 0, result.stderr
    assert "2 of 8 genes of the sets are not in the data: 'UNKNOWN1', 'UNKNOWN2'" in result.stdout
    assert "1 sets have no gene of the data: 'NOWHERE'" in result.stdout
    frame = pd.read_csv(out)
    assert frame["group"].tolist() == ["PLANTED", "OTHER"]
    assert frame["size"].tolist() == [3, 3]
    assert frame["selected"].tolist() == [True, False]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("A\t\tNOT\tKNOWN\nB\t\tNEITHER\n", "name no gene of the data: 'NOT', 'KNOWN'"),
        ("A only\n", "Line 1 of"),
        ("A\t\tx\nA\t\ty\n", "two gene sets 'A'"),
        ("\n", "holds no gene sets"),
    ],
)
def test_gene_sets_that_cannot_be_used(text, sentence, tmp_path, run):
    path, sets, out = _mtx(tmp_path), tmp_path / "sets.gmt", tmp_path / "t.groups.csv"
    sets.write_text(text)
    given = ("select", path, "-t", "kind", "--sample-table", tmp_path / "cells.csv", *QUICK)
    result = run(*given, "--groups", sets, "--table", tmp_path / "t.csv")
    assert result.exit_code == 2
    assert sentence in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    assert not out.exists()
    assert "needs the atlas" in run(*given, "--groups", "atlas").stderr
    assert "There is no file" in run(*given, "--groups", tmp_path / "no.gmt").stderr


def test_regions_of_an_atlas_are_groups(tmp_path, run):
    paths, _ = volumes(tmp_path)
    labels, names = atlas(tmp_path)
    out = tmp_path / "t.groups.csv"
    result = run(
        *("select", *paths, "-t", "diagnosis", "--sample-table", tmp_path / "participants.tsv"),
        *("--mask", save_mask(tmp_path), "--atlas", labels, "--atlas", names),
        *("--groups", "atlas", "--table", tmp_path / "t.csv", *QUICK),
    )
    assert result.exit_code == 0, result.stderr
    frame = pd.read_csv(out)
    assert frame["group"].tolist() == ["Insula", "Elsewhere"]
    assert frame["selected"].tolist() == [True, False]


def test_a_matrix_that_does_not_fit_its_names(tmp_path):
    _mtx(tmp_path)
    (tmp_path / "barcodes.tsv").write_text("A\nB\n")
    with pytest.raises(nf.InputError, match="give files of one matrix"):
        nf.read_table(tmp_path, "kind", sample_table=tmp_path / "cells.csv")
    (tmp_path / "barcodes.tsv").unlink()
    with pytest.raises(nf.InputError, match=r"no file .*barcodes.tsv"):
        nf.read_table(tmp_path, "kind", sample_table=tmp_path / "cells.csv")
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["numbers"] = np.arange(3)
    with pytest.raises(nf.InputError, match="no matrix of Cell Ranger"):
        nf.read_table(tmp_path / "x.h5", "kind", sample_table=tmp_path / "cells.csv")
