"""`nullforest simulate`: data whose relevant features are known."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from nullforest._util.errors import InputError
from nullforest.cli import options
from nullforest.cli.endings import ends_cleanly

if TYPE_CHECKING:
    from numpy.typing import NDArray

Generator = Literal["independent", "cortical", "survival"]


@ends_cleanly
def simulate(
    generator: Annotated[
        Generator,
        typer.Argument(
            help="independent: normal features, some related to the label. cortical: maps of "
            "cortical thickness, thinner in a region for one class. survival: normal features, "
            "some of which change the hazard of an event.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path,
        typer.Argument(
            help="File to write: .npz (X, y, relevant), or .csv (also .csv.gz) with the label as "
            "column y (survival: columns time and event) and the truth beside it in "
            "NAME.truth.csv.",
            show_default=False,
        ),
    ],
    samples: Annotated[int, typer.Option(min=2, help="Samples; half of each class.")] = 100,
    features: Annotated[int, typer.Option(min=1, help="Features (independent, survival).")] = 1000,
    relevant: Annotated[
        int,
        typer.Option(min=0, help="How many features are relevant (independent, survival)."),
    ] = 20,
    region: Annotated[
        float, typer.Option(min=0, max=1, help="Share of the vertices in the region (cortical).")
    ] = 0.01,
    relevance: Annotated[
        float, typer.Option(help="Correlation of a relevant feature with the label.")
    ] = 0.5,
    hazard_ratio: Annotated[
        float, typer.Option(help="Per standard deviation of a relevant feature (survival).")
    ] = 1.5,
    censoring: Annotated[
        float, typer.Option(help="Expected share of censored samples (survival).")
    ] = 0.3,
    maps: Annotated[
        Path | None,
        typer.Option(
            help="Maps whose covariance is taken (cortical): .npz, .gii, .mgh, .dscalar.nii, or "
            ".txt that lists such files.",
            show_default="smooth fields on fsaverage5",
        ),
    ] = None,
    mesh: Annotated[
        Path | None,
        typer.Option(help="Surface of the maps (.surf.gii).", show_default="fsaverage5, left"),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same data.")] = 0,
    force: options.Force = False,
    quiet: options.Quiet = False,
) -> None:
    """Write data whose relevant features are known.

    Example: nullforest simulate independent data.csv --samples 200 --features 5000 --relevant 50
    """
    from nullforest.cli.screen import Screen

    files = _files(out, force=force)
    from nullforest.datasets import simulate as generators  # slow to import

    screen = Screen(quiet=quiet)
    with screen.waiting("Drawing samples"):
        if generator == "independent":
            X, y, truth = generators.independent(samples, features, relevant, relevance, seed=seed)
        elif generator == "survival":
            X, y, truth = generators.survival(
                samples, features, relevant, hazard_ratio, censoring, seed=seed
            )
        else:
            X, y, truth = generators.cortical(
                samples,
                region,
                relevance,
                source=None if maps is None else str(maps),
                mesh=None if mesh is None else str(mesh),
                seed=seed,
            )
        _write(files, X, y, truth)
    screen.say(f"{X.shape[0]} samples × {X.shape[1]} features, {int(truth.sum())} relevant")
    screen.say_written(files)


def _files(out: Path, *, force: bool) -> list[Path]:
    """The file, and for CSV the file of the truth; refused where they cannot be written."""
    name = out.name.lower()
    if name.endswith(".npz"):
        files = [out]
    elif name.endswith((".csv", ".csv.gz")):
        stem = out.name[: name.index(".csv")]
        files = [out, out.with_name(f"{stem}.truth.csv")]
    else:
        raise InputError(f"{out} tells no format; end the name in .npz, .csv or .csv.gz.")
    for path in files:
        if path.exists() and not force:
            raise InputError(f"{path} exists already; give another name, or --force.")
    if not out.parent.is_dir():
        raise InputError(f"There is no folder {out.parent}; create it first.")
    return files


def _write(files: list[Path], X: NDArray[Any], y: NDArray[Any], truth: NDArray[Any]) -> None:
    import numpy as np
    import pandas as pd

    from nullforest._util.files import writing

    columns = {"y": y}
    if y.dtype.names is not None:
        columns = {"event": y["event"].astype(np.int64), "time": y["time"]}
    if len(files) == 1:
        with writing(files[0], binary=True) as file:
            np.savez_compressed(file, allow_pickle=False, X=X, relevant=truth, **columns)
        return
    names = [f"x{i}" for i in range(X.shape[1])]
    table = pd.DataFrame(X, columns=names)
    for name, column in columns.items():
        table.insert(0, name, column)
    packed = files[0].name.lower().endswith(".gz")
    with writing(files[0], binary=True) as file:
        table.to_csv(file, index=False, compression="gzip" if packed else None)
    with writing(files[1]) as file:
        pd.DataFrame({"feature": names, "relevant": truth}).to_csv(file, index=False)
