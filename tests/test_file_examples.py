"""The examples on the pages of images and genes run, in a folder with the files they name."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import anndata
import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from brains import atlas, grayordinates, save_mask, thickness, volumes
from nullforest.cli.app import app

DOCS = Path(__file__).parents[1] / "docs"
#: Fewer trees than the examples grow; what is tested is that they run.
QUICK = ("--trees", "100")


def _examples(page):
    text = (DOCS / page).read_text("utf-8")
    for language, code in re.findall(r"^```(console|python)\n(.*?)^```$", text, re.M | re.S):
        if language == "python":
            yield page, code
        else:
            for command in code.replace("\\\n", " ").splitlines():
                yield page, command


EXAMPLES = [*_examples("neuroimaging.md"), *_examples("genomics.md")]


def _images(folder, command):
    """The files that an example names; only those of its format, since they take time."""
    if "hemi-L" in command or "lh." in command or "dscalar" in command:
        if "dscalar" in command:
            grayordinates(folder, n=20)
        elif "hemi-L" in command:
            thickness(folder, "gii", n=12)
        elif ".mgh" in command:
            thickness(folder, "mgh", n=12)
        else:
            (folder / "subjects").mkdir()
            thickness(folder / "subjects", "freesurfer", n=12)
            (folder / "subjects" / "participants.tsv").rename(folder / "participants.tsv")
        (folder / "participants.tsv").rename(folder / "people.tsv")
        return
    _, about = volumes(folder, n=30, stacked="all.nii.gz" in command)
    about.to_csv(folder / "in_order.tsv", sep="\t", index=False)
    save_mask(folder)
    atlas(folder)


def _expression(n=60, genes=120):
    rng = np.random.default_rng(2)
    X = rng.poisson(1.0, size=(n, genes)).astype(np.float32)
    X[n // 2 :, 5] += 3
    return X


def _cells(folder):
    from cli.test_gene_sets import _h5, _mtx

    X = _expression()
    data = anndata.AnnData(X)
    data.obs["group"] = np.repeat(["T", "B"], len(X) // 2)
    data.obs["batch"] = np.tile(["1", "2"], len(X) // 2)
    data.obs["tissue"] = np.where(np.arange(len(X)) % 5, "skin", "lung")
    data.var_names = [f"ENSG{i}" for i in range(X.shape[1])]
    data.var["symbol"] = [f"GENE{i}" for i in range(X.shape[1])]
    data.layers["counts"] = X.copy()
    data.write_h5ad(folder / "sc.h5ad")
    (folder / "sets.gmt").write_text("A\t\tGENE5\tGENE6\tOTHER\nB\t\tGENE7\tGENE8\n")
    _h5(folder).rename(folder / "filtered_feature_bc_matrix.h5")
    (folder / "filtered_feature_bc_matrix").mkdir()
    _mtx(folder / "filtered_feature_bc_matrix")
    cells = pd.read_csv(folder / "cells.csv").rename(columns={"kind": "cluster"})
    cells.to_csv(folder / "cells.csv", index=False)
    names = [f"s{i}" for i in range(len(X))]
    turned = pd.DataFrame(X.T, index=data.var_names, columns=names)
    turned.to_csv(folder / "expression.csv")
    ill = np.repeat(["yes", "no"], len(X) // 2)
    pd.DataFrame({"sample": names, "ill": ill}).to_csv(folder / "samples.csv", index=False)
    excel = pd.DataFrame(X[:, :20] / 4).assign(ill=ill)
    excel.to_csv(folder / "from_excel.txt", sep="\t", decimal=",", index=False, encoding="utf-16")


def _cohort(folder):
    from cli.test_genotypes import VCF, plink

    path = plink(folder, variants=400, cases=30)
    for ending in (".bed", ".bim", ".fam"):
        path.with_suffix(ending).rename(folder / f"cohort{ending}")
    names = [line.split()[1] for line in (folder / "cohort.fam").read_text().splitlines()]
    traits = pd.DataFrame({"IID": names, "height": np.arange(len(names)) + 0.5})
    traits.to_csv(folder / "traits.tsv", sep="\t", index=False)
    return VCF


def _variants(folder):
    from cli.test_genotypes import VCF

    (folder / "cohort.vcf").write_text(VCF)
    traits = pd.DataFrame({"IID": list("abcd"), "ill": list("yynn")})
    traits.to_csv(folder / "traits.tsv", sep="\t", index=False)


def test_the_page_quotes_the_benchmark_of_genotypes():
    results = DOCS.parent / "benchmarks" / "results" / "genotypes.csv"
    rows = pd.read_csv(results, dtype=str)
    page = (DOCS / "genomics.md").read_text("utf-8")
    quoted = page.split("<!-- genotypes -->")[1].split("<!-- end of genotypes -->")[0]
    assert f"The largest resident set is {rows['peak_resident_mib'][0]} MiB" in quoted
    for _, row in rows.iterrows():
        assert f"an odds ratio of {row['odds_ratio']} p = {row['p_value']}" in quoted
        assert f"{row['selected']} (chromosome {row['chromosomes']})" in quoted


def test_every_format_has_an_example():
    text = " ".join(code for _, code in EXAMPLES)
    wanted = (".nii.gz", ".shape.gii", "lh.thickness", ".mgh", ".dscalar.nii", ".h5ad", ".h5 ")
    wanted += ("matrix/", "--transpose", ".bed", ".vcf.gz", ".gmt", ".txt", "participants.tsv")
    assert [word for word in wanted if word not in text] == []


@pytest.mark.parametrize(("page", "code"), EXAMPLES, ids=[code[:60] for _, code in EXAMPLES])
def test_the_example_runs(page, code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if page == "neuroimaging.md":
        _images(tmp_path, code)
    elif "cohort.bed" in code:
        _cohort(tmp_path)
    elif "cohort.vcf" in code:
        _variants(tmp_path)
        code = code.replace(".vcf.gz", ".vcf")
    else:
        _cells(tmp_path)
    if code.startswith("nullforest"):
        words = shlex.split(code)[1:]
        result = CliRunner().invoke(app, [*words, *QUICK])
        assert result.exit_code == 0, result.stderr
        written = {
            option: Path(words[words.index(option) + 1])
            for option in ("--table", "--maps", "--plot", "--h5ad")
            if option in words
        }
        assert all(path.exists() for path in written.values())
        if "--maps" in words:
            assert (written["--maps"] / "clusters.csv").exists()
        if "--groups" in words:
            assert written["--table"].with_suffix(".groups.csv").exists()
    else:
        exec(compile(code, page, "exec"), {})
