"""Tallies of forests in files, whose kind is told from their contents."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from nullforest._util.errors import InputError
from nullforest._util.files import reading
from nullforest.tallies.file_format import load
from nullforest.tallies.readers import forest_file, lightgbm, pyspark, xgboost
from nullforest.tallies.tally import Tally


def read_file(path: Path, n_samples: int | None = None) -> Tally:
    """Take the tally of the forest in a file.

    Parameters
    ----------
    path : Path
        A tally, a forest that r/nullforest.R wrote, a model of LightGBM (text) or XGBoost (JSON),
        or the folder of a model of Spark.
    n_samples : int, optional
        Training samples, where the file does not tell.
    """
    if path.is_dir():
        with reading(path, "a model of Spark"):
            return pyspark.read_folder(path, n_samples)
    with reading(path, "a forest"), path.open("rb") as file:
        content = file.read()
        if content.startswith(b"PK"):
            return load(path)
        if content.startswith(b"\x1f\x8b"):
            content = gzip.decompress(content)
        if content.startswith(b"tree\n"):
            return lightgbm.read_text(content.decode(), n_samples)
        model = json.loads(content) if content.lstrip()[:1] == b"{" else None
        if isinstance(model, dict) and model.get("format") == forest_file.FORMAT:
            return forest_file.read_forest(model)
        if isinstance(model, dict) and "learner" in model:
            return xgboost.read_saved(model, n_samples)
    raise InputError(
        f"{path} holds no forest that nullforest reads; give a tally (Tally.save()), a forest "
        "written by r/nullforest.R, or a model of LightGBM (text) or XGBoost (JSON)."
    )
