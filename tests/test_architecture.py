"""The path of the data is the path of the imports: each step knows only what comes before it."""

import ast
from pathlib import Path

import pytest

import nullforest

ROOT = Path(nullforest.__file__).parent
#: Layers from the bottom up; a module may import its own layer and those below, never above.
LAYERS = [
    {"clusters", "errors", "files", "kernels", "progress", "randomness", "ranks"},
    {"tallies", "tally_files"},
    {"forests", "engine", "datasets", "simulate", "io"},
    {"nulls"},
    {"decisions"},
    {"selection", "growth", "runs"},
    {"selector", "estimators", "report", "plots", "importances"},
    {"groups", "spatial_groups", "companions", "interactions"},
    {"baselines", "peers", "wrappers", "planning", "outlook"},
    {"auditing", "comparing"},
    {"paper", "cli", "__main__", "__init__"},
]
#: Calls down the path that are made when asked for, inside a function, and why.
LATE = {
    ("tallies", "tally_files"): "Tally.save and Tally.load are where people look for them",
    ("selection", "report"): "Selection.to_html is where people look for it",
    ("selection", "plots"): "Selection.plot is where people look for it",
}


def layer_of(part):
    for level, names in enumerate(LAYERS):
        if part in names:
            return level
    raise AssertionError(f"nullforest.{part} has no place in the picture; add it to LAYERS")


def imports_of(path):
    """The parts of nullforest that a file imports, and whether at its top or inside a function."""
    tree = ast.parse(path.read_text())
    top = {id(node) for node in tree.body}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("nullforest"):
            parts = node.module.split(".")
            named = [parts[1]] if len(parts) > 1 else [alias.name for alias in node.names]
            named = [name for name in named if name != "__version__"]
            for part in named:
                known = (ROOT / part).exists() or (ROOT / f"{part}.py").exists()
                yield (part if known else "__init__"), id(node) in top
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.startswith("nullforest."):
                    yield alias.name.split(".")[1], id(node) in top


FILES = sorted(ROOT.rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_follow_the_path_of_the_data(path):
    relative = path.relative_to(ROOT)
    part = relative.parts[0].removesuffix(".py")
    for imported, at_top in imports_of(path):
        if (part, imported) in LATE and not at_top:
            continue
        assert layer_of(imported) <= layer_of(part), f"{part} must not know {imported}"


def test_files_stay_small():
    # 600 lines is a defect by the project's own rule; 400 is the habit.
    long = {
        str(p.relative_to(ROOT)): n for p in FILES if (n := len(p.read_text().split("\n"))) > 600
    }
    assert not long
