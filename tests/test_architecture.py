"""The path of the data is the path of the imports, and ARCHITECTURE.md says so truthfully."""

import ast
import io
import re
import shutil
import subprocess
import sys
import tokenize
from collections import Counter
from pathlib import Path

import grimp

import nullforest

ROOT = Path(nullforest.__file__).parent
PROJECT = Path(__file__).parents[1]


def test_imports_keep_the_contracts():
    command = shutil.which("lint-imports", path=str(Path(sys.executable).parent))
    done = subprocess.run([command, "--no-cache"], cwd=PROJECT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_the_table_of_folders_says_what_is_imported():
    graph = grimp.build_graph("nullforest", exclude_type_checking_imports=True)
    packages = {p.name for p in ROOT.iterdir() if (p / "__init__.py").exists()}
    found = {
        name: {
            part
            for module in {f"nullforest.{name}", *graph.find_descendants(f"nullforest.{name}")}
            for other in graph.find_modules_directly_imported_by(module)
            if other.count(".") and (part := other.split(".")[1]) != name
        }
        for name in packages
    }
    page = (PROJECT / "ARCHITECTURE.md").read_text("utf-8")
    rows = re.findall(r"^\| `(\w+)/` \| .+? \| (.+?) \|$", page, re.M)
    written = {name: set(re.findall(r"`(\w+)`", imports)) for name, imports in rows}
    assert written == found


def test_what_the_page_names_exists():
    page = (PROJECT / "ARCHITECTURE.md").read_text("utf-8").split("```")[2]
    roots = [PROJECT / name for name in ("src", "tests", "reproduction", "studies", "benchmarks")]
    paths = [path for root in roots for path in (root, *root.rglob("*"))]
    places = [f"/{path.relative_to(PROJECT).as_posix()}" for path in paths]
    texts = [path.read_text("utf-8") for path in paths if path.suffix in {".py", ".js", ".hpp"}]
    words = {word for text in texts for word in re.findall(r"\w+", text)}
    for name in re.findall(r"`([^`\n]+)`", page):
        if name.startswith(("make ", "import ")) or (PROJECT / name).exists():
            continue
        if "/" in name or name.endswith((".py", ".js")):
            assert any(place.endswith(f"/{name.rstrip('/')}") for place in places), name
        else:
            assert {*re.findall(r"[A-Za-z_]\w+", name)} <= words, name


def lines_of_code(path):
    """Lines of a file that are neither empty nor comments nor docstrings."""
    text = path.read_text("utf-8")
    if path.suffix != ".py":
        text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
        return sum(not line.strip().startswith("//") for line in text.splitlines() if line.strip())
    blank = {tokenize.NL, tokenize.NEWLINE, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT}
    code = {
        line
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type not in blank
        for line in range(token.start[0], token.end[0] + 1)
    }
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(getattr(node.value, "value", None), str):
            code -= set(range(node.lineno, node.end_lineno + 1))
    return len(code)


def test_files_answer_one_question():
    # A habit, not a law: a class is not torn apart for it.
    suffixes = {".py", ".hpp", ".cpp", ".js"}
    lengths = {
        str(p.relative_to(ROOT)): lines_of_code(p)
        for p in ROOT.rglob("*")
        if p.suffix in suffixes and "vendor" not in p.parts
    }
    assert {name: n for name, n in lengths.items() if n > 500} == {}


def test_one_name_is_one_thing():
    files = [p for p in ROOT.rglob("*.py") if p.name != "__init__.py"]
    modules = Counter(p.name for p in files)
    classes = Counter(
        node.name
        for p in files
        for node in ast.parse(p.read_text("utf-8")).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert [name for names in (modules, classes) for name, n in names.items() if n > 1] == []


def test_the_top_folder_is_small():
    assert len([p for p in ROOT.iterdir() if p.name != "__pycache__"]) <= 16
