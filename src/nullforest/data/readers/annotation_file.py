"""Files of annotations: names of features and columns of text about them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from nullforest._util.errors import InputError, reason_of

if TYPE_CHECKING:
    import pandas as pd


def read_annotations(path: Path) -> pd.DataFrame:
    r"""Read a table of text: CSV, or TSV by its ending (also compressed); every cell stays text.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "genes.csv"
    >>> _ = file.write_text("probe,symbol\n001_at,XIST\n")
    >>> read_annotations(file).values.tolist()
    [['001_at', 'XIST']]
    """
    import pandas as pd

    separator = "\t" if ".tsv" in path.suffixes or ".txt" in path.suffixes else ","
    try:
        return pd.read_csv(path, dtype=str, keep_default_na=False, sep=separator)
    except FileNotFoundError:
        raise InputError(f"There is no file {path}; check --annotations.") from None
    except (OSError, ValueError, EOFError) as error:  # also what pandas raises, and no text
        raise InputError(
            f"The annotations {path} cannot be read ({reason_of(error)}); give a CSV or TSV with "
            "the features' names in its first column."
        ) from None
