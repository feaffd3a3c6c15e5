"""Forests of R's ranger and randomForest, through the file that r/nullforest.R writes."""

import gzip
import json
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import nullforest as nf
from naive import foreign_forests as naive
from nullforest.tallies.tally import COUPLING_EDGES
from studies.packages.r_packages import has_r_package

SOURCE = Path(__file__).parents[2] / "r" / "nullforest.R"
#: Each forest with the dump of its own package: feature of every internal node, tree by tree.
SCRIPT = """
source("%s"); set.seed(1); suppressMessages(library(%s))
n <- 60; x <- as.data.frame(matrix(rnorm(n * 9), n)); names(x)[2] <- 'gene "b" \\\\ \u00e4'
z <- 2 * x[[1]] + rnorm(n); y <- factor(ifelse(z > 0, "ill", "well"))
time <- rexp(n, exp(z / 2)); event <- rep(c(1, 1, 0), n / 3)
forest <- %s
write_forest(forest, x, %s, "%s")
features <- function(t) %s
for (t in 1:20) cat(t, features(t), sep = ",", fill = FALSE, "\\n")
write.csv(cbind(x, y = as.integer(y), z = z), "%s", row.names = FALSE)
"""
TREE_INFO = "{ i <- treeInfo(forest, t); match(i$splitvarName[!i$terminal], names(x)) - 1 }"
GET_TREE = "{ g <- getTree(forest, t); g[g[, 'status'] != -1, 'split var'] - 1 }"
RANGER = "ranger(x = x, y = %s, num.trees = 20, mtry = 4, seed = 1, num.threads = 1, %s)"
COX = (
    "ranger(dependent.variable.name = 'time', status.variable.name = 'event', data = cbind(x, time "
    "= time, event = event), num.trees = 20, mtry = 4, seed = 1, keep.inbag = TRUE)"
)
CASES = {
    "ranger classes": ("ranger", RANGER % ("y", "keep.inbag = TRUE"), "y", TREE_INFO),
    "ranger subsample": (
        "ranger",
        RANGER % ("z", "keep.inbag = TRUE, replace = FALSE"),
        "z",
        TREE_INFO,
    ),
    "ranger without bags": ("ranger", RANGER % ("y", "num.random.splits = 1"), "y", TREE_INFO),
    "ranger survival": ("ranger", COX, "NULL", TREE_INFO),
    "randomForest classes": (
        "randomForest",
        "randomForest(x, y, ntree = 20, mtry = 4, keep.inbag = TRUE)",
        "y",
        GET_TREE,
    ),
    "randomForest numbers": (
        "randomForest",
        "randomForest(x, z, ntree = 20, mtry = 4, keep.inbag = TRUE)",
        "z",
        GET_TREE,
    ),
}


def in_r(script: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["Rscript", "--vanilla", "-e", script],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "LC_ALL": "C.UTF-8"},
    )


def needs(package: str) -> None:
    if not has_r_package(package):
        pytest.skip(f"R has no package {package}; `make programs` installs it")


@pytest.fixture(params=CASES)
def case(request, tmp_path):
    package, forest, target, dump = CASES[request.param]
    needs(package)
    path = tmp_path / "forest.json.gz"
    script = SCRIPT % (SOURCE, package, forest, target, path, dump, tmp_path / "data.csv")
    done = in_r(script)
    assert done.returncode == 0, done.stderr
    lines = [line.strip(",\n ").split(",")[1:] for line in done.stdout.splitlines() if line]
    return request.param, path, [[int(v) for v in line if v.strip()] for line in lines]


def test_counts_and_couplings_equal_those_of_the_packages_own_dump(case):
    name, path, dump = case
    tally = nf.tally(path)
    assert tally.nodes_per_tree.tolist() == [len(tree) for tree in dump]
    flat = [feature for tree in dump for feature in tree]
    assert tally.counts.tolist() == [flat.count(f) for f in range(9)]
    assert (tally.candidates, tally.n_samples, tally.draw) == (4, 60, "node")
    assert tally.names[1] == 'gene "b" \\ ä'
    assert nf.null(tally).kind == "bagged"
    assert bool(tally.notes) == ("without bags" in name or "survival" in name)
    assert tally.levels.tolist() == [[60.0, 60.0]] * 9
    if "survival" in name or "without" in name:
        return
    # Samples go down the trees by their values; couplings by the definition.
    forest = json.loads(gzip.decompress(path.read_bytes()))
    data = pd.read_csv(path.with_name("data.csv"))
    X = data.iloc[:, :9].to_numpy()
    classes = forest["target"] == "classes"
    y = np.eye(2)[data["y"] - 1] if classes else data["z"].to_numpy()[:, None]
    whole = float(((y - y.mean(axis=0)) ** 2).sum())
    found = []
    for tree in forest["trees"]:
        stack = [(0, np.ones(60, bool))]
        while stack:
            node, inside = stack.pop()
            if tree["left"][node] <= 0:
                assert set(np.flatnonzero(np.array(tree["leaf"]) == node)) == set(
                    np.flatnonzero(inside)
                )
                continue
            weight = (np.array(tree["bag"]) * inside).tolist()
            found.append(naive.coupling(weight, y.tolist(), whole))
            left = X[:, tree["feature"][node]] <= tree["cut"][node]
            stack += [(tree["left"][node], inside & left), (tree["right"][node], inside & ~left)]
    expected = np.histogram(np.minimum(found, 1), COUPLING_EDGES)[0]
    assert tally.couplings.sum(axis=0).tolist() == expected.tolist()


def test_what_cannot_be_tested_is_refused_in_a_sentence(tmp_path):
    needs("ranger")
    settings = {
        "importance = 'impurity_corrected'": "permuted copies",
        "always.split.variables = 'a'": "always.split.variables",
        "split.select.weights = c(.9, .1)": "split.select.weights",
        "splitrule = 'extratrees'": "",
    }
    script = f"source('{SOURCE}'); x <- data.frame(a = rnorm(50), b = rnorm(50)); y <- rnorm(50)\n"
    script += f"try(write_forest(lm(y ~ a, x), x, y, '{tmp_path}/none'))\n"
    script += f"f <- list(); class(f) <- 'ranger'; try(write_forest(f, x, y, '{SOURCE}'))\n"
    for number, setting in enumerate(settings):
        script += f"f <- ranger::ranger(x = x, y = y, num.trees = 5, num.threads = 1, {setting})\n"
        script += f"write_forest(f, x, y, '{tmp_path}/{number}.json')\n"
    done = in_r(script)
    assert done.returncode == 0, done.stderr
    assert "no forest of ranger" in done.stderr
    assert "exists" in done.stderr
    for number, words in enumerate(settings.values()):
        path = tmp_path / f"{number}.json"
        if words:
            with pytest.raises(nf.InputError, match=words):
                nf.tally(path)
        else:
            assert nf.tally(path).splitter == "random"
            assert nf.null(nf.tally(path)).kind == "paper"


def test_the_command_is_called_from_r(tmp_path, monkeypatch):
    needs("ranger")
    page = (SOURCE.parents[1] / "docs" / "ranger.md").read_text("utf-8")
    code = page.split("<!-- the command, called from R -->")[1].split("```r\n")[1].split("```")[0]
    assert len([line for line in code.strip().splitlines() if line]) <= 6
    command = Path(shutil.which("nullforest", path=Path(os.sys.executable).parent) or "")
    if not command.is_file():
        command = tmp_path / "nullforest"
        command.write_text(f'#!/bin/sh\nexec {os.sys.executable} -m nullforest "$@"\n')
        command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{command.parent}:{os.environ['PATH']}")
    start = "set.seed(1); d <- data.frame(matrix(rnorm(80 * 20), 80)); d$ill <- d$X3 > 0; "
    done = in_r(start + code + "t <- nullforest(d, 'ill'); cat(t$feature[1], t$selected[1])")
    assert done.stdout.split()[-2:] == ["X3", "True"], done.stderr
