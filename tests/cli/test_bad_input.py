"""Bad input ends in one sentence with the remedy and status 2, without a traceback."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest


def _write(frame: pd.DataFrame, tmp_path: Path, name: str = "bad.csv") -> Path:
    path = tmp_path / name
    frame.to_csv(path, index=False)
    return path


def _no_file(frame, tmp_path):
    return [tmp_path / "none.csv", "--target", "ill"], "There is no file"


def _folder(frame, tmp_path):
    return [tmp_path, "--target", "ill"], "is a folder"


def _empty(frame, tmp_path):
    path = tmp_path / "empty.csv"
    path.touch()
    return [path, "--target", "ill"], "is empty"


def _wrong_format(frame, tmp_path):
    path = tmp_path / "people.xlsx"
    path.write_bytes(b"PK")
    return [path, "--target", "ill"], "does not tell a format"


def _not_a_table(frame, tmp_path):
    path = tmp_path / "page.csv"
    path.write_text("<!DOCTYPE html>\n<p>Moved\n")
    return [path, "--target", "ill"], "does not look like a table"


def _binary(frame, tmp_path):
    path = tmp_path / "image.csv"
    path.write_bytes(bytes(range(128, 256)) * 20)
    return [path, "--target", "ill"], "is not a table of text in UTF-8 or UTF-16"


def _cut_short(frame, tmp_path):
    path = tmp_path / "cut.csv.gz"
    frame.to_csv(path, index=False)
    path.write_bytes(path.read_bytes()[:400])
    return [path, "--target", "ill"], "is damaged, truncated"


def _broken_parquet(frame, tmp_path):
    path = tmp_path / "broken.parquet"
    path.write_bytes(b"PAR1 and nothing more")
    return [path, "--target", "ill"], "cannot be read as PARQUET"


def _broken_npz(frame, tmp_path):
    path = tmp_path / "broken.npz"
    path.write_bytes(b"PK\x03\x04 and nothing more")
    return [path, "--target", "y"], "cannot be read as NPZ"


def _pickled(frame, tmp_path):
    path = tmp_path / "objects.npy"
    np.save(path, np.array([{"a": 1}], object), allow_pickle=True)
    return [path, "--target", "0"], "not Python objects"


def _no_matrix(frame, tmp_path):
    path = tmp_path / "flat.npz"
    np.savez(path, y=np.arange(4))
    return [path, "--target", "y"], "holds no matrix X"


def _ragged(frame, tmp_path):
    path = tmp_path / "ragged.csv"
    path.write_text("a,b,ill\n1,2,yes\n3,4,no,5\n")
    return [path, "--target", "ill"], "Expected 3 fields in line 3, saw 4"


def _wrong_target(frame, tmp_path):
    path = _write(frame.rename(columns={"ill": "illness"}), tmp_path)
    return [path, "--target", "ilness"], "did you mean 'illness'?"


def _wrong_ids(frame, tmp_path):
    return [_write(frame, tmp_path), "--target", "ill", "--ids", "Person"], "'person'?"


def _wrong_drop(frame, tmp_path):
    return [_write(frame, tmp_path), "--target", "ill", "--drop", "gene 99"], "did you mean"


def _target_dropped(frame, tmp_path):
    return [_write(frame, tmp_path), "--target", "ill", "--drop", "ill"], "cannot be left out too"


def _one_class(frame, tmp_path):
    return [
        _write(frame.assign(ill="yes"), tmp_path),
        "--target",
        "ill",
    ], "same value in every sample"


def _all_constant(frame, tmp_path):
    constant = pd.DataFrame({"ill": frame["ill"], "a": 1.0, "b": 2})
    return [_write(constant, tmp_path), "--target", "ill"], "Every feature"


def _text(frame, tmp_path):
    frame["gene 7"] = frame["gene 7"].astype(object)
    frame.loc[4, "gene 7"] = "n.d."
    arguments = [_write(frame, tmp_path), "--target", "ill", "--ids", "person"]
    return arguments, "Column 'gene 7' holds text, 'n.d.' in data row 5"


def _missing_target(frame, tmp_path):
    frame.loc[[6, 9], "ill"] = None
    return [
        _write(frame, tmp_path),
        "--target",
        "ill",
    ], "The target 'ill' has no value in 2 of 60 samples (the first is number 7)"


def _same_names(frame, tmp_path):
    path = tmp_path / "twice.csv"
    path.write_text("a,b,a,ill\n1,2,3,yes\n4,5,6,no\n")
    return [path, "--target", "ill"], "several columns of the same name ('a')"


def _infinite(frame, tmp_path):
    frame.loc[2, "gene 5"] = np.inf
    arguments = [_write(frame, tmp_path), "--target", "ill", "--drop", "person"]
    return arguments, "Feature gene 5 holds an infinite value"


def _infinite_target(frame, tmp_path):
    frame["age"] = np.arange(len(frame)) + 0.5
    frame.loc[2, "age"] = -np.inf
    arguments = [_write(frame, tmp_path), "--target", "age", "--drop", "person", "--drop", "ill"]
    return (
        arguments,
        "The target 'age' has an infinite value in 1 of 60 samples (the first is number 3)",
    )


def _one_row(frame, tmp_path):
    return [_write(frame.head(1), tmp_path), "--target", "ill"], "has 1 row of data"


def _names_as_target(frame, tmp_path):
    return [_write(frame, tmp_path), "--target", "person"], "is it a column of names?"


def _text_regression(frame, tmp_path):
    arguments = [_write(frame, tmp_path), "--target", "ill", "--task", "regression"]
    return arguments, "use --task classification"


def _too_many_classes(frame, tmp_path):
    arguments = [_write(frame, tmp_path), "--target", "gene 1", "--task", "classification"]
    return arguments, "use --task regression"


def _too_many_candidates(frame, tmp_path):
    arguments = [_write(frame, tmp_path), "--target", "ill", "--drop", "person"]
    return [
        *arguments,
        "--candidates",
        31,
    ], "--candidates 31 must lie between 1 and the 30 features"


def _no_share(frame, tmp_path):
    arguments = [_write(frame, tmp_path), "--target", "ill", "--drop", "person"]
    return [*arguments, "--set", "samples=1.5"], "--set samples=1.5 must lie between 0 and 1"


def _no_rate(frame, tmp_path):
    return [
        _write(frame, tmp_path),
        "--target",
        "ill",
        "--alpha",
        5,
    ], "--alpha 5.0 is no error rate"


ALL = [
    _no_file,
    _folder,
    _empty,
    _wrong_format,
    _not_a_table,
    _binary,
    _cut_short,
    _broken_parquet,
    _broken_npz,
    _pickled,
    _no_matrix,
    _ragged,
    _wrong_target,
    _wrong_ids,
    _wrong_drop,
    _target_dropped,
    _one_class,
    _all_constant,
    _text,
    _missing_target,
    _same_names,
    _infinite,
    _infinite_target,
    _one_row,
    _names_as_target,
    _text_regression,
    _too_many_classes,
    _too_many_candidates,
    _no_share,
    _no_rate,
]
#: These also run as a process of their own, which takes a second each.
AS_A_PROCESS = [
    _not_a_table,
    _wrong_target,
    _one_class,
    _all_constant,
    _text,
    _missing_target,
    _too_many_candidates,
]


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.__name__.strip("_"))
def test_bad_input_is_one_sentence(case, frame, tmp_path, run):
    arguments, words = case(frame, tmp_path)
    out = tmp_path / "out.csv"
    result = run("select", *arguments, "--table", out)
    assert isinstance(result.exception, SystemExit), result.exception
    assert result.exit_code == 2
    assert words in result.stderr
    assert result.stderr.startswith("Error: ")
    assert len(result.stderr.strip().splitlines()) == 1
    assert result.stdout == ""
    assert not out.exists()


@pytest.mark.parametrize("case", AS_A_PROCESS, ids=lambda case: case.__name__.strip("_"))
def test_bad_input_ends_the_process_with_2_and_no_traceback(case, frame, tmp_path, command):
    arguments, words = case(frame, tmp_path)
    done = command("select", *arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_an_unknown_option_value_is_refused_with_the_choices(data, run):
    result = run("select", data, "--target", "ill", "--error", "fdx")
    assert result.exit_code == 2
    assert "fwer" in result.stderr
