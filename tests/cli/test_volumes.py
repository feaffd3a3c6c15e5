"""From volumes to maps: NIfTI in, the same grid out, the planted peak in its region."""

from __future__ import annotations

import base64
import json
import re

import nibabel as nib
import numpy as np
import pandas as pd
import pytest
from nilearn.image import load_img
from nilearn.reporting import get_clusters_table
from scipy import ndimage

import nullforest as nf
from brains import AFFINE, PEAK, SHAPE, atlas, mask, planted, save_mask, volumes

QUICK = ("--trees", "500", "--error", "fwer", "--alpha", "0.01")


def _select(run, folder, *more, data=None):
    paths, _ = volumes(folder)
    return run(
        *("select", *(data or paths), "-t", "diagnosis"),
        *("--sample-table", folder / "participants.tsv", *more, *QUICK),
    )


def test_the_peak_comes_back_with_its_region_on_the_same_grid(tmp_path, run):
    labels, names = atlas(tmp_path)
    maps, clusters, table = (
        tmp_path / "maps",
        tmp_path / "maps" / "clusters.csv",
        tmp_path / "t.csv",
    )
    result = _select(
        *(run, tmp_path, "--mask", save_mask(tmp_path), "--atlas", labels),
        *("--atlas", names, "--maps", maps, "--table", table),
    )
    assert result.exit_code == 0, result.stderr
    found = pd.read_csv(clusters).iloc[0]
    assert found["peak"] == "voxel {} {} {}".format(*PEAK)
    np.testing.assert_allclose(found[["x", "y", "z"]].astype(float), (AFFINE @ [*PEAK, 1])[:3])
    assert found["region"] == "Insula"
    assert found["regions"].startswith("Insula")
    assert "Insula" in result.stdout
    images = {
        name: load_img(str(maps / f"{name}.nii.gz")) for name in ("neglog10p", "q", "selected")
    }
    for image in images.values():
        np.testing.assert_array_equal(image.affine, AFFINE)
        assert image.shape == SHAPE
    frame = pd.read_csv(table).sort_values("column")
    logp = images["neglog10p"].get_fdata()
    np.testing.assert_allclose(logp[mask()], -np.log10(frame["p_value"]), rtol=1e-6)
    np.testing.assert_allclose(images["q"].get_fdata()[mask()], frame["q_value"], rtol=1e-6)
    assert (images["q"].get_fdata()[~mask()] == 1).all()
    effect = load_img(str(maps / "difference.nii.gz")).get_fdata()
    np.testing.assert_allclose(effect[mask()], frame["difference"], rtol=1e-5)
    assert effect[PEAK] < -1  # control − AD: brighter in patients
    chosen = images["selected"].get_fdata() == 1
    np.testing.assert_array_equal(chosen[mask()], frame["selected"])
    assert chosen[planted()].sum() >= 4
    # An independent implementation of clusters: scipy's labels of voxels that share a face.
    sizes = np.bincount(ndimage.label(chosen)[0].ravel())[1:]
    assert sorted(pd.read_csv(clusters)["size"]) == sorted(sizes)
    assert (frame.loc[frame["selected"], "cluster"] > 0).all()
    assert (frame.loc[~frame["selected"], "cluster"] == 0).all()
    reference = get_clusters_table(
        images["neglog10p"], stat_threshold=float(logp[chosen].min()) * 0.999
    )
    assert (reference[["X", "Y", "Z"]].iloc[0].to_numpy(float) == found[["x", "y", "z"]]).all()


def test_a_pattern_a_list_and_a_stack_are_the_same_data(tmp_path, run):
    paths, about = volumes(tmp_path)
    by_list = nf.read_table(paths, "diagnosis", sample_table=tmp_path / "participants.tsv")
    given = {"sample_table": tmp_path / "participants.tsv"}
    by_glob = nf.read_table(tmp_path / "sub-*.nii.gz", "diagnosis", **given)
    np.testing.assert_array_equal(by_list.X, by_glob.X)
    assert (
        by_list.target.labels.tolist()
        == by_glob.target.labels.tolist()
        == about["diagnosis"].tolist()
    )
    assert by_list.sample_ids.tolist() == about["participant_id"].tolist()
    stack, _ = volumes(tmp_path, stacked=True)
    about.to_csv(tmp_path / "participants.tsv", sep="\t", index=False)
    by_stack = nf.read_table(stack[0], "diagnosis", **given)
    np.testing.assert_array_equal(by_list.X, by_stack.X)
    assert "the rows of participants.tsv were taken in their order" in by_stack.notes[0]


def test_volumes_of_freesurfer_are_read_as_volumes(tmp_path):
    paths, _ = volumes(tmp_path, n=10)
    mgz = []
    for path in paths:
        image = nib.load(path)
        mgz.append(tmp_path / path.name.replace(".nii.gz", ".mgz"))
        nib.MGHImage(image.get_fdata().astype(np.float32), image.affine).to_filename(mgz[-1])
    given = {"sample_table": tmp_path / "participants.tsv"}
    one, other = (nf.read_table(files, "diagnosis", **given) for files in (paths, mgz))
    np.testing.assert_array_equal(one.X, other.X)
    written = other.geometry.save(tmp_path, "map", np.ones(mask().sum()))
    np.testing.assert_allclose(nib.load(written[0]).affine, AFFINE)


def _truncated(folder, paths):
    paths[3].write_bytes(paths[3].read_bytes()[:900])
    return [], "sub-03_T1w.nii.gz cannot be read as an image"


def _other_mask(folder, paths):
    return ["--mask", save_mask(folder, (12, 14, 9))], "has the shape 12 × 14 × 9"


def _moved_mask(folder, paths):
    path = save_mask(folder)
    nib.Nifti1Image(nib.load(path).get_fdata(), np.eye(4)).to_filename(path)
    return ["--mask", path], "another affine"


def _subjects_missing(folder, paths):
    frame = pd.read_csv(folder / "participants.tsv", sep="\t")
    frame[frame["participant_id"] != "sub-04"].to_csv(
        folder / "participants.tsv", sep="\t", index=False
    )
    paths[5].unlink()
    return [], "1 sample has no row with a target in"


def _no_target(folder, paths):
    return ["-t", "age"], "The target 'age' is not in"


def _other_grid(folder, paths):
    nib.Nifti1Image(np.ones((3, 3, 3)), AFFINE).to_filename(paths[2])
    return [], "bring all images to one grid first"


def _other_place(folder, paths):
    image = nib.load(paths[2])
    nib.Nifti1Image(image.get_fdata(), np.eye(4)).to_filename(paths[2])
    return [], "have different affines"


def _atlas_elsewhere(folder, paths):
    path = folder / "atlas.nii.gz"
    far = np.eye(4)
    far[:3, 3] = 500
    nib.Nifti1Image(np.ones((3, 3, 3), np.int16), far).to_filename(path)
    return ["--atlas", path], "No feature lies in a region"


def _bad_labels(folder, paths):
    labels, names = atlas(folder)
    names.write_text("a,b\n1,2\n")
    return ["--atlas", labels, "--atlas", names], "with the columns index and name"


def _labels_alone(folder, paths):
    return ["--atlas", atlas(folder)[1]], "0 atlases were given"


def _mesh(folder, paths):
    return ["--mesh", folder / "lh.pial"], "--mesh does not apply to volumes"


def _layer(folder, paths):
    return ["--layer", "raw"], "--layer does not apply to a NIfTI image"


HARM = [
    *(_truncated, _other_mask, _moved_mask, _subjects_missing, _no_target, _other_grid),
    *(_other_place, _atlas_elsewhere, _bad_labels, _labels_alone, _mesh, _layer),
]


@pytest.mark.parametrize("harm", HARM)
def test_what_cannot_be_used_is_told_in_a_sentence(harm, tmp_path, run):
    paths, _ = volumes(tmp_path, n=12)
    more, sentence = harm(tmp_path, paths)
    maps = tmp_path / "maps"
    result = run(
        *("select", tmp_path / "sub-*.nii.gz", "-t", "diagnosis", "--maps", maps),
        *("--sample-table", tmp_path / "participants.tsv", *more),
    )
    assert result.exit_code == 2, result.output
    assert re.search(sentence, result.stderr), result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    assert not maps.exists()


def test_subjects_on_one_side_can_be_left_out(tmp_path, run):
    paths, about = volumes(tmp_path, n=40)
    paths[5].unlink()
    about.loc[4, "diagnosis"] = None  # n/a
    about.to_csv(tmp_path / "participants.tsv", sep="\t", index=False, na_rep="n/a")
    out = tmp_path / "out.json"
    result = run(
        *("select", tmp_path / "sub-*.nii.gz", "-t", "diagnosis", "--matched-only"),
        *("--sample-table", tmp_path / "participants.tsv", "--json", out, "--trees", "50"),
    )
    assert result.exit_code == 0, result.stderr
    answer = json.loads(out.read_text())
    assert answer["n_samples"] == 38
    assert any(
        "1 sample has no row with a target" in note and "'sub-04'" in note and "'sub-05'" in note
        for note in answer["notes"]
    )


def test_maps_are_not_overwritten_and_tables_have_none(tmp_path, run, data):
    volumes(tmp_path, n=12)
    images = ("select", tmp_path / "sub-*.nii.gz", "-t", "diagnosis", "--trees", "20")
    images += ("--sample-table", tmp_path / "participants.tsv")
    maps = tmp_path / "maps"
    maps.mkdir()
    (maps / "q.nii.gz").write_text("mine")
    refused = run(*images, "--maps", maps)
    assert refused.exit_code == 2
    assert "--force" in refused.stderr
    assert (maps / "q.nii.gz").read_text() == "mine"
    assert run(*images, "--maps", maps, "--force").exit_code == 0
    table = run("select", data, "-t", "ill", "--drop", "person", "--maps", tmp_path / "x")
    assert table.exit_code == 2
    assert "--maps is for images" in table.stderr
    assert not (tmp_path / "x").exists()


def test_a_glass_brain_is_drawn(tmp_path, run):
    picture, page = tmp_path / "brain.png", tmp_path / "report.html"
    result = _select(run, tmp_path, "--plot", picture, "--report", page)
    assert result.exit_code == 0, result.stderr
    assert picture.read_bytes()[:4] == b"\x89PNG"
    drawn = re.search('src="data:image/png;base64,([^"]+)"', page.read_text())
    assert base64.b64decode(drawn[1])[:4] == b"\x89PNG"
