"""From surfaces to maps: GIFTI, MGH, FreeSurfer and CIFTI in, the same mesh out."""

from __future__ import annotations

import nibabel as nib
import numpy as np
import pandas as pd
import pytest
from nilearn.datasets import fetch_surf_fsaverage
from nilearn.surface import SurfaceImage, load_surf_data, load_surf_mesh
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

import nullforest as nf
from brains import grayordinates, thickness

QUICK = ("--trees", "3000", "--alpha", "0.01")


def _annotation(folder, region):
    path = folder / "lh.test.annot"
    colours = np.array([[9, 9, 9, 0, 0], [200, 0, 0, 0, 0]])
    nib.freesurfer.write_annot(
        str(path), region.astype(int), colours, ["elsewhere", "precuneus"], fill_ctab=True
    )
    return path


@pytest.mark.parametrize("form", ["gii", "mgh", "freesurfer"])
def test_the_region_comes_back_on_fsaverage5(form, tmp_path, run):
    paths, region = thickness(tmp_path, form)
    maps, clusters, table = (
        tmp_path / "maps",
        tmp_path / "maps" / "clusters.csv",
        tmp_path / "t.csv",
    )
    result = run(
        *("select", *paths, "-t", "ill", "--sample-table", tmp_path / "participants.tsv"),
        *("--maps", maps, "--table", table),
        *("--atlas", _annotation(tmp_path, region), *QUICK),
    )
    assert result.exit_code == 0, result.stderr
    found = pd.read_csv(clusters)
    assert found["region"].iloc[0] == "precuneus"
    mesh = load_surf_mesh(fetch_surf_fsaverage("fsaverage5")["pial_left"])
    peak = int(found["peak"].iloc[0].split()[1])
    assert region[peak]
    np.testing.assert_allclose(
        found[["x", "y", "z"]].iloc[0].to_numpy(float), mesh.coordinates[peak], atol=1e-3
    )
    path = maps / "neglog10p_hemi-L.func.gii"
    logp = load_surf_data(str(path))
    frame = pd.read_csv(table).sort_values("column")
    assert logp.shape == (len(mesh.coordinates),)
    np.testing.assert_allclose(logp[frame["column"]], -np.log10(frame["p_value"]), rtol=1e-6)
    both = {"left": mesh, "right": load_surf_mesh(fetch_surf_fsaverage("fsaverage5")["pial_right"])}
    image = SurfaceImage(mesh=both, data={"left": logp, "right": np.zeros_like(logp)})
    assert image.shape[0] == 2 * 10_242
    # An independent way to the clusters: components of the matrix of all triangles' corners.
    chosen = load_surf_data(str(maps / "selected_hemi-L.func.gii")) == 1
    corners = mesh.faces[chosen[mesh.faces].sum(axis=1) >= 2]
    a = np.concatenate([corners[:, i] for i in range(3)])
    b = np.concatenate([corners[:, (i + 1) % 3] for i in range(3)])
    keep = chosen[a] & chosen[b]
    graph = csr_array((np.ones(keep.sum()), (a[keep], b[keep])), shape=(10_242, 10_242))
    label = connected_components(graph, directed=False)[1][chosen]
    assert sorted(found["size"]) == sorted(np.unique(label, return_counts=True)[1])


def test_both_hemispheres_stand_side_by_side(tmp_path, run):
    paths, _ = thickness(tmp_path, "freesurfer", n=10)
    for path in paths:
        values = nib.freesurfer.read_morph_data(str(path))[::-1]
        nib.freesurfer.write_morph_data(str(path.with_name("rh.thickness")), values)
    given = {"sample_table": tmp_path / "participants.tsv"}
    table = nf.read_table(tmp_path / "*" / "surf" / "?h.thickness", "ill", **given)
    assert table.X.shape == (10, 2 * 10_242)
    np.testing.assert_array_equal(table.X[:, 10_242:], table.X[:, 10_241::-1])
    assert [table.feature_names[0], table.feature_names[-1]] == ["left 0", "right 10241"]
    assert table.sample_ids.tolist() == [f"sub-{i:02d}" for i in range(10)]
    assert table.annotations["x"].iloc[0] < 0 < table.annotations["x"].iloc[-1]
    written = table.geometry.save(tmp_path, "map", np.arange(2 * 10_242.0))
    assert [path.name for path in written] == ["map_hemi-L.func.gii", "map_hemi-R.func.gii"]
    assert load_surf_data(str(written[1]))[0] == 10_242
    (tmp_path / "sub-03" / "surf" / "rh.thickness").unlink()
    with pytest.raises(nf.InputError, match="give both files of every sample"):
        nf.read_table(tmp_path / "*" / "surf" / "?h.thickness", "ill", **given)


def test_other_meshes_are_given(tmp_path):
    square = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]], np.float32)
    faces = np.array([[0, 1, 2], [1, 3, 2]], np.int32)
    values = np.random.default_rng(0).normal(size=(12, 4)).astype(np.float32)
    arrays = [nib.gifti.GiftiDataArray(row, intent="NIFTI_INTENT_SHAPE") for row in values]
    nib.gifti.GiftiImage(darrays=arrays).to_filename(tmp_path / "maps.func.gii")
    nib.freesurfer.write_geometry(str(tmp_path / "lh.pial"), square, faces)
    surface = [
        nib.gifti.GiftiDataArray(square, intent="NIFTI_INTENT_POINTSET"),
        nib.gifti.GiftiDataArray(faces, intent="NIFTI_INTENT_TRIANGLE"),
    ]
    nib.gifti.GiftiImage(darrays=surface).to_filename(tmp_path / "m.surf.gii")
    pd.DataFrame({"age": range(12), "y": list("ab") * 6}).to_csv(tmp_path / "s.csv", index=False)
    given = {"sample_table": tmp_path / "s.csv"}
    path = tmp_path / "maps.func.gii"
    for name in ("lh.pial", "m.surf.gii"):
        table = nf.read_table(path, "y", mesh=[tmp_path / name], **given)
        np.testing.assert_array_equal(table.X, values)
        expected = np.ones((4, 4)) - np.eye(4) - np.eye(4)[::-1] + np.diag([0, 1, 1, 0])[::-1]
        np.testing.assert_array_equal(table.geometry.neighbours().toarray(), expected)
    bare = nf.read_table(path, "y", **given)
    assert bare.annotations is None
    with pytest.raises(nf.InputError, match="give it with mesh="):
        bare.geometry.neighbours()
    big = fetch_surf_fsaverage("fsaverage5")["pial_left"]
    with pytest.raises(nf.InputError, match="10242 vertices and the data 4"):
        nf.read_table(path, "y", mesh=[big], **given)
    with pytest.raises(nf.InputError, match="holds a surface, not values"):
        nf.read_table(tmp_path / "m.surf.gii", "y", **given)
    mask = nib.gifti.GiftiDataArray(np.float32([0, 1, 1, 0]), intent="NIFTI_INTENT_SHAPE")
    nib.gifti.GiftiImage(darrays=[mask]).to_filename(tmp_path / "mask.gii")
    inside = nf.read_table(path, "y", mask=tmp_path / "mask.gii", **given)
    assert inside.feature_names.tolist() == ["vertex 1", "vertex 2"]
    written = inside.geometry.save(tmp_path, "q", np.array([0.1, 0.2]), 1.0)
    np.testing.assert_allclose(load_surf_data(str(written[0])), [1, 0.1, 0.2, 1])


def test_grayordinates_come_back_as_grayordinates(tmp_path, run):
    path, region = grayordinates(tmp_path)
    maps, clusters, table = (
        tmp_path / "maps",
        tmp_path / "maps" / "clusters.csv",
        tmp_path / "t.csv",
    )
    result = run(
        *("select", path, "-t", "ill", "--sample-table", tmp_path / "participants.tsv"),
        *("--maps", maps, "--table", table, *QUICK),
    )
    assert result.exit_code == 0, result.stderr
    before, after = nib.load(path), nib.load(maps / "neglog10p.dscalar.nii")
    assert after.header.get_axis(1) == before.header.get_axis(1)
    frame = pd.read_csv(table).sort_values("column")
    np.testing.assert_allclose(after.get_fdata()[0], -np.log10(frame["p_value"]), rtol=1e-6)
    names = ["left 5", "right 200", "thalamus_left 4 4 4"]
    assert frame.loc[frame["selected"], "feature"].tolist() == names
    assert sorted(pd.read_csv(clusters)["peak"]) == names
    axis = before.header.get_axis(1)
    label = {0: ("none", (0, 0, 0, 0)), 4: ("deep", (1, 0, 0, 1))}
    labels = nib.cifti2.LabelAxis(["atlas"], label)
    values = np.where(axis.volume_mask, 4, 0).astype(np.float32)[None]
    atlas = tmp_path / "atlas.dlabel.nii"
    nib.cifti2.Cifti2Image(values, (labels, axis)).to_filename(atlas)
    found = nf.read_table(
        *(path, "ill"), sample_table=tmp_path / "participants.tsv", atlas=[atlas]
    ).annotations
    assert (found["region"] == np.where(axis.volume_mask, "deep", "")).all()
    assert region.sum() == 3


def test_a_truncated_surface_and_a_foreign_atlas_are_told_in_a_sentence(tmp_path, run):
    paths, region = thickness(tmp_path, "gii", n=6)
    given = ("-t", "ill", "--sample-table", tmp_path / "participants.tsv", "--trees", "5")
    foreign = run("select", *paths, *given, "--atlas", _annotation(tmp_path, region[:500]))
    assert foreign.exit_code == 2
    assert "has 500 vertices and the data 10242" in foreign.stderr
    paths[2].write_bytes(paths[2].read_bytes()[:2000])
    truncated = run("select", *paths, *given)
    assert truncated.exit_code == 2
    assert "cannot be read as an overlay" in truncated.stderr
    mixed = run("select", paths[0], tmp_path / "participants.tsv", *given)
    assert mixed.exit_code == 2
    assert "give files of one kind" in mixed.stderr


def test_a_surface_is_drawn(tmp_path, run):
    paths, _ = thickness(tmp_path, "mgh")
    picture = tmp_path / "brain.png"
    result = run(
        *("select", *paths, "-t", "ill", "--sample-table", tmp_path / "participants.tsv"),
        *("--plot", picture, *QUICK),
    )
    assert result.exit_code == 0, result.stderr
    assert picture.read_bytes()[:4] == b"\x89PNG"
