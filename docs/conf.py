"""The documentation site; `make docs` builds it."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import nullforest

# Public names of folders (`nf.baselines`) are attributes; autodoc imports modules.
for _folder in ("baselines", "datasets", "importances", "plots", "simulate"):
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

myst_enable_extensions = ["colon_fence", "dollarmath"]
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
}

html_theme = "furo"
html_title = "nullforest"
html_static_path: list[str] = []
html_show_sphinx = False
html_theme_options = {"source_directory": "docs/"}

# The examples print no warning of their own; one that appears is a defect.
warnings.filterwarnings("ignore", category=UserWarning, message=".*non-interactive.*")
Path(__file__).with_name("_build").mkdir(exist_ok=True)
