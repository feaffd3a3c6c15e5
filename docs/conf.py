"""The documentation site; `make docs` builds it."""

from __future__ import annotations

import re
import sys
import warnings
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx

import nullforest

# Public names of folders (`nf.baselines`) are attributes; autodoc imports modules.
for _folder in ("baselines", "datasets", "plots", "simulate", "wrappers"):
    sys.modules[f"nullforest.{_folder}"] = getattr(nullforest, _folder)

project = "nullforest"
author = "The nullforest developers"
copyright = author  # the name that Sphinx reads
version = release = nullforest.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["make_figures.py", "_build"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"  # numpydoc has the types in words
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
# Docstrings that estimators inherit refer to pages of scikit-learn.
suppress_warnings = ["ref.ref"]

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "remove_config_comments": True,
    "plot_gallery": True,
    "write_computation_times": False,  # a page that loads scripts from other sites
}

html_theme = "furo"
html_title = "nullforest"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_theme_options = {"source_directory": "docs/"}

# The examples print no warning of their own; one that appears is a defect.
warnings.filterwarnings("ignore", category=UserWarning, message=".*non-interactive.*")
Path(__file__).with_name("_build").mkdir(exist_ok=True)

#: Spaces at which no line may break: in 1 000, 1.02 ± .03, α = .05, 5 × 3, 4 % and 2 s.
_JOINED = re.compile(
    r"(?<=\d) (?=\d{3}\b|[±×%=<>]|[µm]?s\b|[MG]iB\b)|(?<=[±×=<>]) (?=[\d.])|(?<=α) (?==)"
)
_NUMBERS = re.compile(r"[\d\s.,:;%±×–−+=<>()-]+(s|GiB|MiB)?")


def join_numbers(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Keep numbers on one line: their spaces do not break, and neither do cells of numbers."""
    for text in list(doctree.findall(nodes.Text)):
        if not isinstance(text.parent, nodes.literal | nodes.literal_block):
            text.parent.replace(text, nodes.Text(_JOINED.sub("\u00a0", text.astext())))
    for cell in doctree.findall(nodes.entry):
        if _NUMBERS.fullmatch(cell.astext()):
            cell["classes"].append("numbers")


def setup(app: Sphinx) -> None:
    """Add what this site does besides the extensions."""
    app.connect("doctree-resolved", join_numbers)
