"""Libraries that report their use are told not to before they are loaded, and only one place loads them."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from understudy.language import SWITCHES, import_library

REPOSITORY = Path(__file__).parents[2]
SOURCE = REPOSITORY / "src" / "understudy"


def executed(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes below this one, without what only a type checker reads."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            for statement in child.orelse:
                yield from (statement, *executed(statement))
        else:
            yield child
            yield from executed(child)


@cache
def sources() -> list[tuple[Path, str]]:
    return [(path, path.read_text(encoding="utf-8")) for path in sorted(SOURCE.rglob("*.py"))]


def modules_with(*words: str) -> Iterator[tuple[Path, ast.Module]]:
    """The modules in which one of these names stands at all: no other can import or call it. None is kept."""
    for path, text in sources():
        if any(word in text for word in words):
            yield path, ast.parse(text)


ROOT = Path(__file__).parents[2]
IMPORTED_AS = {"scikit-learn": "sklearn", "sentence-transformers": "sentence_transformers"}


def test_no_module_imports_them_by_itself() -> None:
    imports, read = [], 0
    for path, module in modules_with(*SWITCHES):
        read += 1
        for node in executed(module):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module or ""]
            else:
                continue
            imports += [f"{path}:{node.lineno} {name}" for name in names if name.partition(".")[0] in SWITCHES]
    assert read >= len(SWITCHES)
    assert not imports, "import these through understudy.language.import_library"


@pytest.mark.parametrize("library", ["onnxruntime", "daft"])
def test_the_switch_is_set_before_the_library_is_loaded(library: str) -> None:
    [(variable, value)] = SWITCHES[library].items()
    script = f"""
import os, sys
from importlib.abc import MetaPathFinder
class Watch(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name == {library!r}:
            print(os.environ.get({variable!r}))
            raise ImportError("seen")
sys.meta_path.insert(0, Watch())
from understudy.language import import_library
try:
    import_library({library!r})
except ImportError:
    pass
"""
    environment = {name: setting for name, setting in os.environ.items() if name != variable}
    command = [sys.executable, "-c", script]
    output = subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout
    assert output.strip() == value


def test_what_the_user_has_set_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORT_DISABLE_TELEMETRY", "0")
    import_library("onnxruntime")
    assert os.environ["ORT_DISABLE_TELEMETRY"] == "0"


def extras() -> set[str]:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return set(project["optional-dependencies"])


def test_every_missing_extra_names_one_there_is() -> None:
    named = {}
    for path, module in modules_with("MissingExtra"):
        for node in ast.walk(module):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("MissingExtra"):
                assert len(node.args) == 2, f"{path}:{node.lineno}"
                extra = node.args[1]
                assert isinstance(extra, ast.Constant), f"{path}:{node.lineno}: the extra is not written out"
                named[f"{path}:{node.lineno}"] = extra.value
    assert named
    assert not {where: extra for where, extra in named.items() if extra not in extras()}


def test_every_extra_in_the_docs_is_one_there_is() -> None:
    pages = [*REPOSITORY.glob("*.md"), *(REPOSITORY / "docs").rglob("*.md")]
    texts = [*((path, path.read_text(encoding="utf-8")) for path in pages), *sources()]
    named = {
        (path, name.strip())
        for path, text in texts
        for names in re.findall(r"(?:understudy|'\.)\[([a-z, ]+)\]'", text)
        for name in names.split(",")
    }
    assert len({name for _, name in named}) >= 3
    assert not {(path, name) for path, name in named if name not in extras()}


def test_what_benchmarks_compare_with_is_checked_alike_whether_it_is_installed() -> None:
    """mypy would follow an installed library, and stop at what another release of it exports."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["mypy"]["overrides"]
    skipped = {
        module
        for override in settings
        if override.get("follow_imports") == "skip" and override.get("ignore_missing_imports")
        for module in override["module"]
    }
    needed = re.findall(r"^[\w-]+", (ROOT / "benchmarks/requirements.txt").read_text(encoding="utf-8"), re.MULTILINE)
    assert {f"{IMPORTED_AS.get(name, name)}.*" for name in needed} <= skipped
