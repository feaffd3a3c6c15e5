"""Tables of constants in the documentation, from the comments above them in the sources.

A table stands between `<!-- constants: WHAT -->` and `<!-- constants: end -->`. WHAT is a null
model, `all` for the constants of all of them, or modules of the package, separated by commas.
"""

from __future__ import annotations

import inspect
import re
from importlib import import_module

import pandas as pd

from studies.markdown import markdown
from studies.sensitivity import documented

BEGIN, END = r"<!-- constants: (?!end)(.+?) -->", "<!-- constants: end -->"


def of_model(kind: str) -> str:
    """The constants that enter one null model, or all."""
    rows = []
    for name, constant in documented().items():
        if kind in ("all", *constant.models):
            row = (f"`{name}`", _shown(constant.value), constant.unit, constant.set_on)
            rows.append((*row, constant.reason))
    if not rows:
        raise ValueError(f"No constant enters a null model called {kind!r}.")
    columns = ["constant", "value", "unit", "set on", "reason"]
    return markdown(pd.DataFrame(rows, columns=columns))


def of_modules(names: list[str]) -> str:
    """The constants of some modules of the package; one comment may stand above several."""
    rows = []
    for module_name in names:
        module = import_module(f"nullforest.{module_name}")
        pattern = r"^((?:#: .+\n)+)((?:[A-Z][A-Z_, ]* = .+\n)+)"
        for comment, lines in re.findall(pattern, inspect.getsource(module), re.M):
            reason = " ".join(line.removeprefix("#: ") for line in comment.splitlines())
            constants = re.findall(r"[A-Z_]{3,}(?=[A-Z_, ]* = )", lines)
            short = module_name.rsplit(".", 1)[-1]
            shown = [_shown(getattr(module, name)) for name in constants]
            joined = ", ".join(f"`{name}`" for name in constants)
            rows.append((f"`{short}`: {joined}", "; ".join(shown), reason))
    return markdown(pd.DataFrame(rows, columns=["constant", "value", "reason"]))


def with_constants(text: str) -> str:
    """The page with the present constants in its tables."""

    def table(found: re.Match[str]) -> str:
        what = found[1]
        made = of_modules(what.split(", ")) if "." in what else of_model(what)
        return f"<!-- constants: {what} -->\n\n{made}\n\n{END}"

    return re.sub(f"{BEGIN}.*?{END}", table, text, flags=re.S)


def _shown(value: object) -> str:
    values = value if isinstance(value, tuple) else (value,)
    return ", ".join(f"{x:,}".replace(",", " ") if isinstance(x, int) else f"{x:g}" for x in values)
