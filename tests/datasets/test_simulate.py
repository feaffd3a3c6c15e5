"""The generators: correlations, covariance, regions, files."""

import nibabel
import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components

import nullforest as nf
from nullforest._util.errors import InputError
from nullforest.datasets.simulate.cortical import (
    FWHM,
    _template,
    fsaverage5_graph,
    smooth_maps,
    smoothing_kernel,
)
from nullforest.datasets.simulate.cortical_surface import read_maps, read_mesh
from nullforest.features.spatial import edge_graph


def grid_mesh(side):
    """A flat square of side × side points, a millimetre apart, cut into triangles."""
    x, y = np.meshgrid(np.arange(side), np.arange(side))
    points = np.column_stack([x.ravel(), y.ravel(), np.zeros(side * side)]).astype(float)
    a = (np.arange(side - 1)[:, None] * side + np.arange(side - 1)).ravel()
    faces = np.vstack(
        [
            np.column_stack([a, a + 1, a + side]),
            np.column_stack([a + 1, a + side + 1, a + side]),
        ]
    )
    return points, faces


@pytest.fixture(scope="module")
def mesh():
    return grid_mesh(20)


@pytest.fixture(scope="module")
def maps():
    """Fifty correlated maps on the grid."""
    rng = np.random.default_rng(1)
    return 2.5 + rng.normal(size=(50, 12)) @ rng.normal(size=(12, 400)) / 10


def correlations(X, y):
    centred = X - X.mean(0)
    labels = y - y.mean()
    return (labels @ centred) / (np.linalg.norm(centred, axis=0) * np.linalg.norm(labels))


@pytest.mark.parametrize("rho", [0.0, 0.3, 0.5, 0.9])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_relevant_features_have_the_correlation_given(rho, dtype):
    S, N = 5000, 200
    X, y, relevant = nf.simulate.independent(S, 2 * N, N, relevance=rho, seed=3, dtype=dtype)
    assert X.dtype == dtype
    assert relevant.sum() == N
    assert y.sum() == S // 2
    r = correlations(X.astype(float), y)
    # Tate (1954): Var r ≈ (1-ρ²)²(1-ρ²/2)/S for equal classes; the mean of N independent ones
    # has a standard error smaller by √N. Four of them: one failure in 16 000.
    error = (1 - rho**2) * np.sqrt(1 - rho**2 / 2) / np.sqrt(S * N)
    assert abs(r[relevant].mean() - rho) < 4 * error
    assert abs(r[~relevant].mean()) < 4 / np.sqrt(S * N)


def test_irrelevant_features_have_sigma_and_no_mean():
    S, F = 2000, 100
    X, _, _ = nf.simulate.independent(S, F, 0, sigma=5.0, seed=1)
    assert abs(X.mean()) < 4 * 5.0 / np.sqrt(S * F)
    assert abs(X.std() - 5.0) < 4 * 5.0 / np.sqrt(2 * S * F)  # standard error of a deviation


def test_generators_repeat_themselves_and_vary_with_the_seed(maps, mesh):
    for draw in (
        lambda seed: nf.simulate.independent(40, 10, 3, seed=seed),
        lambda seed: nf.simulate.cortical(40, 0.05, source=maps, mesh=mesh, seed=seed),
    ):
        one, again, other = draw(5), draw(5), draw(6)
        assert all(np.array_equal(a, b) for a, b in zip(one, again, strict=True))
        assert not np.array_equal(one[0], other[0])


def test_an_odd_sample_out_belongs_to_class_zero():
    assert np.bincount(nf.simulate.independent(11, 5, 1)[1]).tolist() == [6, 5]


@pytest.mark.parametrize(
    "arguments",
    [
        {"n_relevant": 11},
        {"n_relevant": -1},
        {"relevance": 1.0},
        {"sigma": 0.0},
        {"n_samples": 1},
        {"n_features": 0, "n_relevant": 0},
        {"dtype": np.int32},
    ],
)
def test_impossible_requests_are_refused(arguments):
    settings = {"n_samples": 20, "n_features": 10, "n_relevant": 2} | arguments
    with pytest.raises(InputError):
        nf.simulate.independent(**settings)


def test_model_has_the_mean_and_covariance_of_the_maps(maps, mesh):
    model = nf.simulate.CorticalModel.fit(maps, mesh)
    np.testing.assert_allclose(model.mean, maps.mean(0))
    np.testing.assert_allclose(model.modes.T @ model.modes, np.cov(maps.T, bias=True), atol=1e-12)
    np.testing.assert_allclose(model.deviation, maps.std(0))


def test_drawn_maps_reproduce_the_covariance(maps, mesh):
    model = nf.simulate.CorticalModel.fit(maps, mesh)
    S = 4000
    X, _ = model.draw(S, np.zeros(400, bool), seed=2)
    values, axes = np.linalg.eigh(np.cov(maps.T, bias=True))
    white = (X - maps.mean(0)) @ axes[:, -12:] / np.sqrt(values[-12:])
    error = np.cov(white.T) - np.eye(12)
    # Elements of the covariance of S white normals have variance (1 + [i = j])/S. Bonferroni
    # over the 78 different ones at 1e-3 in all: 4.4 standard errors.
    assert np.all(np.abs(error) < 4.4 * np.sqrt((1 + np.eye(12)) / S))
    outside = (X - maps.mean(0)) @ axes[:, :-12]
    assert np.abs(outside).max() < 1e-9  # the maps have rank 12


def test_vertices_of_the_region_have_the_correlation_given(maps, mesh):
    S, rho = 20000, 0.4
    X, y, region = nf.simulate.cortical(
        S, 0.1, relevance=rho, source=maps, mesh=mesh, seed_vertex=210, seed=4
    )
    r = correlations(X, y)
    error = (1 - rho**2) * np.sqrt(1 - rho**2 / 2) / np.sqrt(S)  # Tate (1954), one vertex
    # Bonferroni over the 400 vertices at 1e-3 in all: 4.7 standard errors.
    assert np.all(np.abs(r[region] + rho) < 4.7 * error)
    assert np.all(np.abs(r[~region]) < 4.7 / np.sqrt(S))


@pytest.mark.parametrize("share", [0.001, 0.002, 0.005, 0.01, 0.02])
def test_regions_on_the_cortex_are_connected_nested_and_of_the_size_given(share):
    model = nf.simulate.CorticalModel(np.zeros(10242), np.zeros((1, 10242)), fsaverage5_graph())
    region = model.region(share, seed_vertex=4000)
    assert region.sum() == round(share * 10242)
    within = model.graph[region][:, region]
    assert connected_components(within)[0] == 1
    assert np.all(model.region(0.02, 4000)[region])
    distance = model.distance(region)
    assert np.all((distance == 0) == region)


def test_region_is_the_nearest_vertices_along_the_surface():
    # A sheet with a slit: vertices across the slit are near in space and far along the surface.
    points, faces = grid_mesh(9)
    across = {(x, y): y * 9 + x for x in range(9) for y in range(9)}
    slit = {(across[4, y], across[5, y]) for y in range(8)}
    keep = [
        not any({a, b} <= set(face) for a, b in slit) and not _bridges(face, across)
        for face in faces.tolist()
    ]
    graph = edge_graph(points, faces[np.array(keep)])
    sheet = nf.simulate.CorticalModel(np.zeros(81), np.zeros((1, 81)), graph)
    region = sheet.region(15 / 81, across[4, 0])
    assert not region[[across[5, y] for y in range(3)]].any()


def _bridges(face, across):
    """Whether a triangle joins the two sides of the slit between columns 4 and 5."""
    columns = {vertex % 9 for vertex in face}
    rows = {vertex // 9 for vertex in face}
    return {4, 5} <= columns and min(rows) < 8


def test_smoothing_has_the_width_given():
    points, faces = grid_mesh(41)
    kernel = smoothing_kernel(edge_graph(points * 0.5, faces), fwhm=6.0)
    middle = 20 * 41 + 20
    row = kernel[[middle]].toarray()[0].reshape(41, 41)[20]
    # Along a line of the grid geodesic and straight distance agree: half the height at 3 mm.
    np.testing.assert_allclose(row[20 + 6] / row[20], 0.5, rtol=1e-9)
    np.testing.assert_allclose(row[20 + 3] / row[20], np.exp(-0.5 * (1.5 * FWHM / 6.0) ** 2))


def test_default_maps_are_smooth_thickness():
    maps = smooth_maps()
    assert maps.shape == (315, 10242)
    mean = _template("thick_left")
    # Means of 315 maps of deviation 0.4 mm; Bonferroni over 10 242 vertices at 1e-3: 5.3.
    assert np.max(np.abs(maps.mean(0) - mean)) < 5.3 * 0.4 / np.sqrt(315)
    graph = fsaverage5_graph().tocoo()
    centred = (maps - maps.mean(0)) / maps.std(0)
    near = np.mean(np.einsum("sv,sv->v", centred[:, graph.row], centred[:, graph.col]) / 315)
    # White noise under a Gaussian filter of spread s is correlated exp(-d²/4s²) at distance d;
    # edges are 2.9 mm and s = 2.1 mm, but the mesh is coarse: between a third and two thirds.
    assert 0.33 < near < 0.75


@pytest.mark.parametrize("kind", ["npz", "npz-vertices", "gii", "mgh", "mgh-stack", "txt", "list"])
def test_maps_are_read_from_files(kind, maps, tmp_path):
    maps = maps.astype(np.float32)
    vertices = np.arange(400)[::2]
    if kind == "npz":
        np.savez(tmp_path / "maps.npz", X=maps)
        read = read_maps(tmp_path / "maps.npz")
    elif kind == "npz-vertices":
        np.savez(tmp_path / "maps.npz", X=maps[:, vertices], vertex=vertices)
        read = read_maps(str(tmp_path / "maps.npz"))
        np.testing.assert_array_equal(read.vertices, vertices)
        maps = maps[:, vertices]
    elif kind == "gii":
        arrays = [nibabel.gifti.GiftiDataArray(row, datatype="float32") for row in maps]
        nibabel.save(nibabel.GiftiImage(darrays=arrays), tmp_path / "maps.func.gii")
        read = read_maps(tmp_path / "maps.func.gii")
    elif kind == "mgh-stack":
        stack = nibabel.MGHImage(maps.T[:, None, None, :].copy(), np.eye(4))
        nibabel.save(stack, tmp_path / "stack.mgz")
        read = read_maps(tmp_path / "stack.mgz")
    else:
        names = []
        for i, row in enumerate(maps):
            names.append(f"subject{i}.mgh")
            nibabel.save(nibabel.MGHImage(row[:, None, None], np.eye(4)), tmp_path / names[-1])
        if kind == "txt":
            (tmp_path / "subjects.txt").write_text("\n".join(names) + "\n")
            read = read_maps(tmp_path / "subjects.txt")
        else:
            read = read_maps([tmp_path / name for name in names])
    np.testing.assert_array_equal(read.values, maps)


def test_left_cortex_is_read_from_cifti(tmp_path):
    values = np.random.default_rng(0).normal(size=(3, 9)).astype(np.float32)
    left = nibabel.cifti2.BrainModelAxis.from_surface([1, 3, 4, 7], 10, "CortexLeft")
    right = nibabel.cifti2.BrainModelAxis.from_surface([0, 2, 5, 6, 8], 10, "CortexRight")
    axis = nibabel.cifti2.ScalarAxis(["a", "b", "c"])
    image = nibabel.Cifti2Image(values, header=(axis, left + right))
    nibabel.save(image, tmp_path / "maps.dscalar.nii")
    read = read_maps(tmp_path / "maps.dscalar.nii")
    np.testing.assert_array_equal(read.values, values[:, :4])
    assert read.vertices.tolist() == [1, 3, 4, 7]


def test_surface_is_read_from_gifti(mesh, tmp_path):
    points, faces = mesh
    arrays = [
        nibabel.gifti.GiftiDataArray(points.astype(np.float32), intent="pointset"),
        nibabel.gifti.GiftiDataArray(faces.astype(np.int32), intent="triangle"),
    ]
    nibabel.save(nibabel.GiftiImage(darrays=arrays), tmp_path / "sheet.surf.gii")
    read = read_mesh(tmp_path / "sheet.surf.gii")
    np.testing.assert_array_equal(read[0], points)
    np.testing.assert_array_equal(read[1], faces)


def test_unusable_sources_are_refused_in_a_sentence(maps, mesh, tmp_path):
    np.savez(tmp_path / "other.npz", Y=maps)
    holes = maps.copy()
    holes[0, 0] = np.nan
    for source, words in [
        (tmp_path / "none.npz", "no file"),
        (tmp_path / "other.npz", "no array X"),
        (maps[:, :30], "30 vertices"),
        (maps[:1], "two subjects"),
        (holes, "missing"),
    ]:
        with pytest.raises(InputError, match=words):
            nf.simulate.CorticalModel.fit(source, mesh)
    with pytest.raises(InputError, match="seed_vertex"):
        nf.simulate.cortical(10, source=maps, mesh=mesh, seed_vertex=400)
