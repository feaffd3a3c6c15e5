r"""How were the gene symbols of the leukaemia data made? This script turns an export into the file.

Source: the table hgu95Asym of the Bioconductor package annotate (in Debian as r-bioc-annotate
1.76.0), Artistic License 2.0. The export is a TSV without a header, probe and symbol:

    load("annotate/data/hgu95Asym.rda"); k <- ls(hgu95Asym)
    v <- sapply(k, function(i) get(i, hgu95Asym)[1])
    write.table(cbind(k, v), "export.tsv", sep="\t", row.names=FALSE, col.names=FALSE, quote=FALSE)

Run it from the root of the repository:

    python tools/make_leukemia_symbols.py export.tsv \
        src/nullforest/datasets/data/leukemia_symbols.txt.gz
"""

from __future__ import annotations

import argparse
import gzip
from pathlib import Path

from nullforest.datasets import load_leukemia_sex

#: Symbols that the table lacks, by the documentation of the data.
ADDED = {"38446_at": "XIST"}


def main() -> None:
    """Read the export, and write one symbol per line in the order of the probes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("export", type=Path, help="TSV of probes and symbols")
    parser.add_argument("out", type=Path, help="where the embedded file goes")
    arguments = parser.parse_args()
    lines = arguments.export.read_text("ascii").splitlines()
    symbols = dict(line.split("\t") for line in lines)
    missing = {probe for probe, symbol in symbols.items() if symbol == "NA"}
    names = load_leukemia_sex().feature_names.tolist()
    found = [ADDED.get(name, "" if name in missing else symbols[name]) for name in names]
    arguments.out.write_bytes(gzip.compress("\n".join(found).encode("ascii"), 9, mtime=0))
    print(f"{arguments.out}: {sum(map(bool, found))} symbols of {len(names)} probes")


if __name__ == "__main__":
    main()
