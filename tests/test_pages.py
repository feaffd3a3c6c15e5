"""Pages of the documentation are what their generators write from the committed tables."""

import re
from pathlib import Path
from pydoc import locate

import pytest

import nullforest as nf
from studies import power_page, speed_page
from studies.calibration import page as calibration
from studies.pages import DOCS, PAGES


@pytest.mark.parametrize("name", PAGES)
def test_page_or_picture_is_what_its_generator_writes(name):
    assert (DOCS / name).read_text("utf-8") == PAGES[name](), "run `make pages`"


def test_links_between_pages_lead_somewhere():
    root = DOCS.parent
    for path in [root / "README.md", *DOCS.glob("*.md")]:
        for target in re.findall(r"\]\(([^)#\s]+)", path.read_text("utf-8")):
            if target.startswith("gallery/"):  # made from the examples when the site is built
                target = f"../examples/{Path(target).stem}.py".replace("index.py", "README.txt")
            if not target.startswith("http") and target != "method.pdf":  # made with the site
                assert (path.parent / target).exists(), f"{path.name}: {target}"


def test_every_name_of_the_reference_has_an_example():
    for name in reference():  # doctests run them
        assert ">>> " in (locate(name).__doc__ or ""), name


def test_every_public_name_is_in_the_reference_and_every_page_in_the_contents():
    folders = {"baselines", "datasets", "plots", "simulate", "wrappers"}
    names = {f"nullforest.{name}" for name in {*nf.__all__} - folders}
    names |= {f"nullforest.{folder}.{n}" for folder in folders for n in getattr(nf, folder).__all__}
    assert not names - reference()
    listed = re.findall(r"^(\w+)$", (DOCS / "index.md").read_text("utf-8"), re.MULTILINE)
    assert {page.stem for page in DOCS.glob("*.md")} - {"index"} <= {*listed}


def test_files_agree_on_the_version():
    root = DOCS.parent
    changes = (root / "CHANGELOG.md").read_text("utf-8")
    released = re.search(r"^## (\S+) \((\d{4}-\d\d-\d\d)\)$", changes, re.MULTILINE)
    assert released
    cited = (root / "CITATION.cff").read_text("utf-8")
    assert f"\nversion: {released[1]}\ndate-released: {released[2]}\n" in cited
    assert f"The method of nullforest {released[1]}," in (DOCS / "method.md").read_text("utf-8")
    # Between releases the version is that of the next one, with .dev0.
    assert nf.__version__ == released[1] or nf.__version__.endswith(".dev0")


def test_ratios_of_the_readme_are_those_of_the_calibration_page():
    readme = (DOCS.parent / "README.md").read_text("utf-8")
    lines = (DOCS / "calibration.md").read_text("utf-8").splitlines()
    rows = [row for row in _rows(readme.splitlines()) if len(row) == 5]  # data, model, three ratios
    quoted = [row[-3:] for row in rows if re.match(r"\d\.\d", row[-1])]
    measured = [row[-4:-1] for row in _rows(lines)]
    assert len(quoted) == 4
    assert all(row in measured for row in quoted)


def test_the_readme_quotes_the_power_study_and_the_benchmark():
    readme = (DOCS.parent / "README.md").read_text("utf-8")
    assert power_page.short_table() in readme
    assert speed_page.short_text() in readme


def test_pages_agree_on_the_bagged_null_model_with_many_trees():
    found = calibration.null_ratios()
    found = found[(found["setting"] == calibration.MANY_TREES) & (found["null"] == "bagged")]
    ratio = found.set_index("alpha")["ratio"]
    words = f"{ratio[0.001]:.2f} times the level at α = .001 and {ratio[0.0001]:.2f} times at 1e-4"
    assert words in (DOCS / "baselines.md").read_text("utf-8")


def test_the_page_of_the_reproduction_says_where_the_maps_come_from():
    page = (DOCS / "reproduction.md").read_text("utf-8")
    section = page.split("## Where the cortical maps come from")[1].split("\n## ")[0]
    assert "python -m reproduction" in section
    assert "--maps" in section


def reference():
    found, module = set(), ""
    for line in (DOCS / "api.rst").read_text("utf-8").splitlines():
        if line.startswith(".. currentmodule:: "):
            module = line.split()[-1]
        elif re.fullmatch(r"   \w+", line):
            found.add(f"{module}.{line.strip()}")
    return found


def _rows(lines):
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if "|" in line]
