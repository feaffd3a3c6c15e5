"""Names of the samples of images, from the names of their files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

_SUBJECT = re.compile(r"(?<![A-Za-z0-9])sub-[A-Za-z0-9]+")
#: Endings of images, the longest first.
_ENDINGS = re.compile(
    r"(\.(dscalar|dtseries|func|shape|label))?\.(nii|gii|mgh|mgz|img|hdr)(\.gz)?$", re.IGNORECASE
)
_LEFT = re.compile(r"(^|[/._-])(lh|L|hemi-L)(?=[._-]|$)")
_RIGHT = re.compile(r"(^|[/._-])(rh|R|hemi-R)(?=[._-]|$)")


def subjects_of(paths: Sequence[Path]) -> list[str]:
    """A name for each file: its subject as BIDS has it, its own name, or a folder's.

    Examples
    --------
    >>> subjects_of([Path("sub-01/anat/sub-01_T1w.nii.gz"), Path("sub-02/anat/sub-02_T1w.nii.gz")])
    ['sub-01', 'sub-02']
    >>> subjects_of([Path("anna/surf/lh.thickness"), Path("bob/surf/lh.thickness")])
    ['anna', 'bob']
    >>> subjects_of([Path("anna.nii.gz"), Path("bob.nii")])
    ['anna', 'bob']
    """
    subjects = [_SUBJECT.findall(str(path)) for path in paths]
    if all(subjects):
        return [names[-1] for names in subjects]
    stems = [_ENDINGS.sub("", path.name) for path in paths]
    if len(set(stems)) == len(stems):
        return stems
    parts = [path.parts for path in paths]
    for level in range(-2, -min(map(len, parts)) - 1, -1):
        folders = [part[level] for part in parts]
        if len(set(folders)) == len(folders):
            return folders
    return stems


def hemisphere_of(path: Path) -> str:
    """The hemisphere that a file's name tells: left, right, or "" where it does not.

    Examples
    --------
    >>> [hemisphere_of(Path(name)) for name in ("lh.area", "sub-1_hemi-R_thick.gii", "x.gii")]
    ['left', 'right', '']
    """
    left, right = bool(_LEFT.search(path.name)), bool(_RIGHT.search(path.name))
    return "" if left == right else "left" if left else "right"
