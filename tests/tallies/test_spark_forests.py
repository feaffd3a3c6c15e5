"""Forests of Spark ML, trained in a real local session."""

import shutil

import numpy as np
import pytest
from pyspark.ml import Pipeline
from pyspark.ml.classification import DecisionTreeClassifier, RandomForestClassifier
from pyspark.ml.feature import VectorAssembler
from pyspark.ml.regression import RandomForestRegressor
from pyspark.sql import SparkSession

import nullforest as nf
from naive import foreign_forests as naive
from nullforest.tallies.tally import COUPLING_EDGES

S, F = 90, 10
rng = np.random.default_rng(0)
X = rng.normal(size=(S, F))
number = X[:, 2] + rng.normal(size=S)
label = (number > 0).astype(float)


@pytest.fixture(scope="module")
def frame():
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java; `make programs` installs it")
    builder = SparkSession.builder.master("local[1]")
    for name, value in {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.codegen.wholeStage": "false",  # a second of compilation for each query
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    }.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    rows = [[*map(float, row)] for row in np.column_stack([label, number, X])]
    names = ["label", "number", *[f"x{i}" for i in range(F)]]
    table = session.createDataFrame(rows, names).coalesce(1)
    yield VectorAssembler(inputCols=names[2:], outputCol="features").transform(table).cache()
    session.stop()


def test_the_tally_equals_that_of_the_dump_and_of_the_saved_model(frame, tmp_path):
    forest = RandomForestClassifier(numTrees=12, maxDepth=4, featureSubsetStrategy="sqrt", seed=1)
    model = forest.fit(frame)
    before = model.toDebugString
    tally = nf.tally(model, n_samples=S)
    assert model.toDebugString == before
    counts, nodes = naive.spark_counts(before, F)
    assert tally.counts.tolist() == counts
    assert tally.nodes_per_tree.tolist() == nodes
    assert (tally.candidates, tally.n_samples, tally.draw) == (4, S, "node")
    assert nf.null(tally).kind == "bagged"
    model.write().save(str(tmp_path / "model"))
    assert nf.tally(tmp_path / "model", n_samples=S) == tally
    with pytest.raises(nf.InputError, match="give n_samples"):
        nf.tally(tmp_path / "model")
    (tmp_path / "model" / "metadata" / "_SUCCESS").unlink()
    shutil.rmtree(tmp_path / "model" / "data")
    with pytest.raises(nf.InputError, match="whole model of Spark"):
        nf.tally(tmp_path / "model", n_samples=S)


def test_couplings_of_numbers_equal_their_definition(frame):
    forest = RandomForestRegressor(
        labelCol="number",
        numTrees=6,
        maxDepth=5,
        bootstrap=False,
        featureSubsetStrategy="0.45",
        seed=1,
    )
    model = Pipeline(stages=[forest]).fit(frame)
    tally = nf.tally(model)  # without a bootstrap the trees tell the number of samples
    assert (tally.candidates, tally.n_samples) == (5, S)
    y, found = number[:, None], []
    whole = float(((y - y.mean()) ** 2).sum())
    for tree in model.stages[-1].trees:
        stack = [(tree._call_java("rootNode"), np.ones(S, bool))]
        while stack:
            node, inside = stack.pop()
            if node.subtreeDepth() == 0:
                continue
            found.append(naive.coupling(inside.astype(float).tolist(), y.tolist(), whole))
            left = X[:, node.split().featureIndex()] <= node.split().threshold()
            stack += [(node.leftChild(), inside & left), (node.rightChild(), inside & ~left)]
    expected = np.histogram(np.minimum(found, 1), COUPLING_EDGES)[0]
    assert tally.couplings.sum(axis=0).tolist() == expected.tolist()


def test_other_models_are_refused(frame):
    with pytest.raises(nf.InputError, match="independently"):
        nf.tally(DecisionTreeClassifier(maxDepth=2).fit(frame), n_samples=S)
