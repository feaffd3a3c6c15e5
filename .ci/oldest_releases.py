"""Print constraints for pip: the oldest release of every dependency that pyproject.toml allows."""

import re
import tomllib
from pathlib import Path

project = tomllib.loads(Path("pyproject.toml").read_text("utf-8"))["project"]
extras = project["optional-dependencies"]
for requirement in sorted({*project["dependencies"], *extras["test"]}, key=str.lower):
    name, oldest = re.fullmatch(r"([\w-]+)>=([\d.]+)", requirement).groups()
    print(f"{name}=={oldest}")
