"""The method page as a PDF, docs/method.pdf; `make pdf` runs this script.

pandoc turns the page into typst, and typst sets it; both come from Python packages (extra `docs`).
"""

from __future__ import annotations

import re
import tempfile
import tomllib
from pathlib import Path

import pypandoc
import typst

import nullforest

DOCS = Path(__file__).parent
SITE = tomllib.loads((DOCS.parent / "pyproject.toml").read_text("utf-8"))["project"]["urls"]
#: Page, fonts and tables. Fonts are those that typst carries.
STYLE = """
#set page(paper: "a4", margin: 2.2cm, numbering: "1")
#set text(font: "Libertinus Serif", size: 10pt)
#set par(justify: true)
#set table(stroke: none, inset: 3pt)
#show table: set text(size: 7.5pt)
#show table: set par(justify: false)
#show figure: set block(breakable: true)
#show raw: set text(size: 8pt)
#show link: set text(fill: rgb("#0b5394"))
#set table.hline(stroke: .5pt)
"""


def source() -> str:
    """The page without what belongs to the site alone, its links made absolute."""
    text = (DOCS / "method.md").read_text("utf-8")
    text = text.replace(" Also as a [PDF](method.pdf).", "")
    text = re.sub(r"<!-- .*? -->\n?", "", text)
    site = SITE["Documentation"]
    text = re.sub(r"\]\((\w+)\.md(#[\w-]+)?\)", rf"]({site}/\1.html\2)", text)
    title, _, rest = text.partition("\n")
    heading = title.removeprefix("# ")
    author = f"The nullforest developers, version {nullforest.__version__}"
    return f'---\ntitle: "{heading}"\nauthor: "{author}"\n---\n{rest}'


def main() -> None:
    """Write the PDF."""
    options = ["--standalone", f"--variable=header-includes={STYLE}", "--columns=200"]
    body = pypandoc.convert_text(source(), "typst", "markdown-citations", extra_args=options)
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "method.typ"
        made.write_text(body, "utf-8")
        typst.compile(made, output=DOCS / "method.pdf")
    print(DOCS / "method.pdf")


if __name__ == "__main__":
    main()
