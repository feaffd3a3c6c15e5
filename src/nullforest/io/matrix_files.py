"""Files that hold a matrix with its samples and features beside it: which reader reads which."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nullforest._util.errors import InputError
from nullforest._util.files import as_path
from nullforest.io.feature_matrix import FeatureMatrix


@dataclass(frozen=True)
class MatrixOptions:
    """How a matrix is read; each option belongs to some formats, and is refused by the others.

    Attributes
    ----------
    layer : str or None
        Layer of an AnnData, instead of `X`.
    names : str or None
        Column of an AnnData's genes that is shown beside their names.
    obs_filter : str or None
        Condition on the columns of the samples.
    mask : Path or None
        Image of the voxels to use.
    mesh : sequence of Path
        Surfaces that the vertices belong to, the left hemisphere first.
    sample_table : Path or None
        Table with the target of each sample.
    matched_only : bool
        Leave out samples that the data or the table alone has.
    """

    layer: str | None = None
    names: str | None = None
    obs_filter: str | None = None
    mask: Path | None = None
    mesh: Sequence[Path] = ()
    sample_table: Path | None = None
    matched_only: bool = False

    def refuse(self, names: Sequence[str], kind: str) -> None:
        """Refuse options that files of another kind take."""
        for name in names:
            if getattr(self, name):
                option = name.replace("_", "-")
                raise InputError(f"--{option} does not apply to {kind}; leave it out.")


#: Options by the kind of files that they do not apply to.
_IMAGE_OPTIONS = ("mask", "mesh")
_GENE_OPTIONS = ("layer", "names")


def found_files(given: Any) -> list[Path]:
    """The files named by a path, a pattern such as "sub-*.nii.gz", or a list of either."""
    several = given if isinstance(given, list | tuple) else [given]
    files: list[Path] = []
    for path in map(as_path, several):
        if any(sign in str(path) for sign in "*?[") and not path.exists():
            found = sorted(Path(path.anchor).glob(str(path.relative_to(path.anchor))))
            if not found:
                raise InputError(f"No file matches {path}; check the pattern.")
            files += found
        else:
            files.append(path)
    if not files:
        raise InputError("There is no file; give at least one.")
    return files


def single(paths: Sequence[Path]) -> Path:
    """The only file; several are refused."""
    if len(paths) > 1:
        raise InputError(
            f"{len(paths)} files were given ({paths[0]}, {paths[1]}, …), which only images can be "
            "read from; give one."
        )
    return paths[0]


def kind_of(paths: Sequence[Path]) -> str | None:
    """Kind of the files, by the name of the first; None for tables."""
    name = paths[0].name.lower()
    if name.endswith(".h5ad"):
        return "h5ad"
    return None


def read_matrix(paths: Sequence[Path], kind: str, options: MatrixOptions) -> FeatureMatrix:
    """The matrix of files of one kind."""
    options.refuse(_IMAGE_OPTIONS, f"a {kind} file")
    from nullforest.io.omics.annotated import read_h5ad

    return read_h5ad(single(paths), layer=options.layer, names=options.names)
