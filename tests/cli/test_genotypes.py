"""Genotypes: PLINK sets made by PLINK itself, VCF, and the plot by chromosome."""

from __future__ import annotations

import gzip
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest

import nullforest as nf
from nullforest._util.column_store import ColumnStore

PLINK = shutil.which("plink1.9") or shutil.which("plink")
QUICK = ("--trees", "2000")


def plink(folder, variants=3000, cases=150):
    """A set of PLINK's own simulation: variant `risk` makes ill; it is moved to chromosome 7."""
    if PLINK is None:
        pytest.skip("PLINK 1.9 is not installed, and makes the data of this test.")
    model = f"{variants - 1} null 0.05 0.5 1 1\n1 risk 0.4 0.4 4 mult\n"
    (folder / "model.txt").write_text(model)
    numbers = ("--simulate-ncases", str(cases), "--simulate-ncontrols", str(cases))
    simulated = (PLINK, "--simulate", "model.txt", *numbers, "--seed", "3", "--out", "raw")
    subprocess.run(simulated, cwd=folder, check=True, capture_output=True)
    bim = pd.read_csv(folder / "raw.bim", sep=r"\s+", header=None)
    bim[0] = np.arange(variants) * 22 // variants + 1
    bim[3] = 1000 * (np.arange(variants) % (variants // 22 + 1) + 1)
    bim.loc[bim[1] == "risk", [0, 3]] = [7, 555]
    bim.to_csv(folder / "raw.bim", sep="\t", header=False, index=False)
    sort = (PLINK, "--bfile", "raw", "--make-bed", "--out", "set")
    subprocess.run(sort, cwd=folder, check=True, capture_output=True)
    return folder / "set.bed"


def test_the_planted_variant_is_found_on_its_chromosome(tmp_path, run):
    path = plink(tmp_path)
    table, picture = tmp_path / "t.csv", tmp_path / "manhattan.png"
    result = run(*("select", path, "-t", "phenotype", "--table", table, "--plot", picture, *QUICK))
    assert result.exit_code == 0, result.stderr
    first = pd.read_csv(table).iloc[0]
    assert (first["feature"], first["chromosome"], first["position"]) == ("risk", 7, 555)
    assert first["selected"]
    assert 0.6 < max(first["auc"], 1 - first["auc"]) < 1
    assert picture.read_bytes()[:4] == b"\x89PNG"


def test_genotypes_stay_on_disk_and_are_those_that_plink_writes_as_text(tmp_path):
    path = plink(tmp_path, variants=200, cases=20)
    table = nf.read_table(path, "phenotype")
    assert isinstance(table.X, ColumnStore)
    recode = (PLINK, "--bfile", "set", "--recode", "A", "--out", "text")
    subprocess.run(recode, cwd=tmp_path, check=True, capture_output=True)
    text = pd.read_csv(tmp_path / "text.raw", sep=r"\s+")  # numbers of the first allele
    expected = text.iloc[:, 6:].to_numpy(float)[:, table.columns]
    np.testing.assert_array_equal(table.X[:, :], expected)
    assert table.target.labels.tolist() == text["PHENOTYPE"].map({1: "control", 2: "case"}).tolist()
    names = [column.rsplit("_", 1)[0] for column in text.columns[6:]]
    assert table.feature_names.tolist() == [names[i] for i in table.columns]
    in_memory = nf.grow(expected, table.target.labels, trees=50)
    np.testing.assert_array_equal(
        nf.grow(table.X, table.target.labels, trees=50).tally.counts, in_memory.tally.counts
    )
    about = pd.DataFrame({"IID": text["IID"], "height": np.arange(40.0) + 0.5})
    about.to_csv(tmp_path / "pheno.txt", sep="\t", index=False)
    other = nf.read_table(path, "height", sample_table=tmp_path / "pheno.txt")
    assert other.target.task == "regression"
    np.testing.assert_array_equal(other.target.values[:, 0], about["height"])


def test_the_plot_is_by_chromosome(tmp_path):
    table = nf.read_table(plink(tmp_path, variants=220, cases=30), "phenotype")
    tally = nf.grow(table.X, table.target.labels, trees=50, feature_names=table.feature_names).tally
    from dataclasses import replace

    selection = replace(nf.select(tally), annotations=table.annotations)
    display = selection.plot("manhattan")
    assert display.group_names == [str(i) for i in range(1, 23)]
    assert (np.diff(display.positions) > 0).all()


def test_samples_without_a_phenotype(tmp_path):
    path = plink(tmp_path, variants=100, cases=10)
    lines = (tmp_path / "set.fam").read_text().splitlines()
    lines[4] = lines[4].rsplit(" ", 1)[0] + " -9"
    (tmp_path / "set.fam").write_text("\n".join(lines) + "\n")
    with pytest.raises(nf.InputError, match="'phenotype' has no value in 1 of 20 samples"):
        nf.read_table(path, "phenotype")
    table = nf.read_table(path, "phenotype", matched_only=True)
    assert table.X.shape[0] == 19
    whole = nf.read_table(path, "sex", sample_table=_sexes(tmp_path, lines)).X
    np.testing.assert_array_equal(table.X[:, :5], np.delete(whole[:, :5], 4, axis=0))


def _sexes(folder, lines):
    names = [line.split()[1] for line in lines]
    frame = pd.DataFrame({"IID": names, "sex": ["m", "f"] * (len(names) // 2)})
    frame.to_csv(folder / "sex.tsv", sep="\t", index=False)
    return folder / "sex.tsv"


@pytest.mark.parametrize(
    ("ending", "sentence"),
    [
        (".bim", "set.bim; a PLINK set needs .bed, .bim and .fam"),
        (".fam", "set.fam; a PLINK set needs .bed, .bim and .fam"),
        (".bed", "it is truncated, or belongs to another .bim or .fam file"),
    ],
)
def test_a_set_that_is_not_whole_is_told_in_a_sentence(ending, sentence, tmp_path, run):
    path, table = plink(tmp_path, variants=100, cases=10), tmp_path / "t.csv"
    if ending == ".bed":
        path.write_bytes(path.read_bytes()[:-20])
    else:
        path.with_suffix(ending).unlink()
    result = run("select", path, "-t", "phenotype", "--table", table)
    assert result.exit_code == 2
    assert sentence in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    assert not table.exists()


VCF = """##fileformat=VCFv4.2
##contig=<ID=1>
##contig=<ID=X>
##FORMAT=<ID=GT,Number=1,Type=String,Description="Genotype">
#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\ta\tb\tc\td
1\t100\trs1\tA\tG\t.\tPASS\t.\tGT\t0/0\t0|1\t1/1\t./.
1\t200\t.\tA\tG,T\t.\tPASS\t.\tGT\t0/2\t1/2\t0/0\t0/0
X\t300\trs3\tC\tT\t.\tPASS\t.\tGT\t0\t1\t0/1\t1/1
"""


@pytest.mark.parametrize("name", ["a.vcf", "a.vcf.gz"])
def test_vcf_gives_numbers_of_alternate_alleles(name, tmp_path):
    path = tmp_path / name
    path.write_bytes(gzip.compress(VCF.encode()) if name.endswith("gz") else VCF.encode())
    pd.DataFrame({"sample": list("dcba"), "ill": list("yynn")}).to_csv(
        tmp_path / "s.csv", index=False
    )
    table = nf.read_table(path, "ill", sample_table=tmp_path / "s.csv")
    nan = np.nan
    np.testing.assert_array_equal(table.X[:, :], [[0, 1, 0], [1, 2, 1], [2, 0, 1], [nan, 0, 2]])
    assert table.feature_names.tolist() == ["rs1", "1:200:A/G/T", "rs3"]
    assert table.annotations["chromosome"].tolist() == ["1", "1", "X"]
    assert table.target.labels.tolist() == ["n", "n", "y", "y"]
    with pytest.raises(nf.InputError, match="sample_table="):
        nf.read_table(path, "ill")


def test_what_is_no_vcf_is_told_in_a_sentence(tmp_path):
    path = tmp_path / "a.vcf"
    path.write_text("no variants here\n")
    with pytest.raises(nf.InputError, match="cannot be read as VCF"):
        nf.read_table(path, "ill", sample_table=tmp_path / "s.csv")
    path.write_text(VCF.split("1\t100")[0])
    with pytest.raises(nf.InputError, match="holds no variants"):
        nf.read_table(path, "ill", sample_table=tmp_path / "s.csv")
