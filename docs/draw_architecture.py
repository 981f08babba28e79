"""`python docs/draw_architecture.py` rewrites the table of layers in docs/architecture.md.

Its rows are those that `lint-imports` checks; what a package is, its docstring says.
"""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "architecture.md"
START, END = "<!-- layers: drawn by docs/draw_architecture.py -->", "<!-- /layers -->"


def rows() -> list[list[str]]:
    """The rows from the top down; packages of one row do not import each other."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (layers,) = (contract["layers"] for contract in settings["tool"]["importlinter"]["contracts"])
    return [[name.strip() for name in row.split("|")] for row in layers if row != "__main__"]


def first_sentence(package: str) -> str:
    module = ROOT / "src" / "understudy" / package
    path = module / "__init__.py" if module.is_dir() else module.with_suffix(".py")
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return re.split(r"(?<=[.?])\s+(?=[A-Z])|\n\n", text)[0].replace("\n", " ")


def table() -> str:
    lines = ["| package | what it is |", "|---|---|"]
    for row in rows():
        lines += [f"| `{package}` | {first_sentence(package)} |" for package in row]
    return "\n".join(lines)


def drawn(page: str) -> str:
    before, _, rest = page.partition(START)
    return f"{before}{START}\n{table()}\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    PAGE.write_text(drawn(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
