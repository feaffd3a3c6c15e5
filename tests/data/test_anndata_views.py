"""A subset of an AnnData is grown on as the matrix that it stands for."""

import anndata
import numpy as np
import pytest
import scipy.sparse

import nullforest as nf

FORMATS = {
    "csr matrix": scipy.sparse.csr_matrix,
    "csc matrix": scipy.sparse.csc_matrix,
    "csr array": scipy.sparse.csr_array,
    "csc array": scipy.sparse.csc_array,
    "dense": np.array,
}
SUBSETS = {
    "columns": (slice(None), slice(0, 20)),
    "rows": (slice(5, None), slice(0, 20)),
    "picked": (slice(None), np.array([9, 3, 17, 4])),
}


@pytest.mark.parametrize("subset", SUBSETS)
@pytest.mark.parametrize("backed", [False, True], ids=["memory", "backed"])
@pytest.mark.parametrize("form", FORMATS)
def test_a_view_is_the_matrix_it_stands_for(form, backed, subset, tmp_path):
    X = np.random.default_rng(0).poisson(0.6, size=(40, 30)).astype(np.float32)
    y = X[:, 3] > 0
    rows, columns = SUBSETS[subset]
    stored = anndata.AnnData(FORMATS[form](X))
    stored.var_names = [f"gene {i}" for i in range(30)]
    if backed:
        stored.write_h5ad(tmp_path / "X.h5ad")
        stored = anndata.read_h5ad(tmp_path / "X.h5ad", backed="r")
    view = stored[rows, columns]
    forest = nf.grow(view, y[rows], trees=20)
    expected = nf.grow(X[rows][:, columns], y[rows], trees=20)
    np.testing.assert_array_equal(forest.tally.counts, expected.tally.counts)
    np.testing.assert_array_equal(forest.predict(view), expected.predict(X[rows][:, columns]))
    assert list(forest.tally.names) == [f"gene {i}" for i in np.arange(30)[columns]]


def test_an_empty_anndata_is_refused_in_a_sentence():
    empty = anndata.AnnData(shape=(40, 3))
    with pytest.raises(nf.InputError, match="holds no matrix"):
        nf.grow(empty, np.arange(40) % 2, trees=5)


REFUSED = {"complex": scipy.sparse.csr_matrix(np.eye(10) * 1j)}
if tuple(map(int, scipy.__version__.split(".")[:2])) >= (1, 15):  # earlier ones have two axes
    REFUSED["one axis"] = scipy.sparse.coo_array(np.ones(10))
    REFUSED["three axes"] = scipy.sparse.coo_array(np.ones((10, 2, 2)))


@pytest.mark.parametrize("X", REFUSED.values(), ids=REFUSED)
def test_other_sparse_arrays_are_refused_in_a_sentence(X):
    with pytest.raises(nf.InputError, match=r"^X "):
        nf.grow(X, np.arange(10) % 2, trees=5)
