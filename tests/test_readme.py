"""The README and two pages beside it are run, and every link between pages leads to a page and a heading."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCS = ROOT / "docs"
TALKING, GUESSING = ((DOCS / name).read_text(encoding="utf-8") for name in ("talking.md", "papers/tvshowguess.md"))
SHOWN = re.findall(r"```console\n\$ (understudy .*)\n((?:.*\n)*?)```", README + TALKING + GUESSING)
PYTHON = re.findall(r"```python\n((?:.*\n)*?)```", TALKING)
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
MAX_WORDS = 1_400
MAX_WORDS_OF_DOCS = 32_000


def test_there_is_something_to_run() -> None:
    assert len(SHOWN) >= 4
    assert len(PYTHON) == 1


def test_the_readme_is_read_in_minutes() -> None:
    assert len(README.split()) <= MAX_WORDS


@pytest.mark.parametrize(("command", "expected"), SHOWN, ids=[command for command, _ in SHOWN])
def test_a_command_prints_what_the_readme_shows(command: str, expected: str) -> None:
    environment = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1", "PYTHONUTF8": "1"}
    python = f"{sys.executable} -m "
    done = subprocess.run(python + command, shell=True, capture_output=True, text=True, env=environment, check=True)
    assert shown(done.stdout) == shown(expected)


def shown(text: str) -> list[str]:
    """Lines as compared: a score may differ in its last digit from one processor to another."""
    return [re.sub(r"\b\d\.\d\d\b", "0.00", line.rstrip()) for line in text.rstrip().splitlines()]


def test_make_demo_installs_the_page_and_ends_with_the_command_that_opens_it(tmp_path: Path) -> None:
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path)
    if shutil.which("make") is None:
        pytest.skip("there is no make here")
    outside = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    command = ["make", "--no-print-directory", "-n", "demo"]
    done = subprocess.run(command, cwd=tmp_path, env=outside, capture_output=True, text=True, check=True)
    printed = "\n".join(line for line in done.stdout.splitlines() if not line.startswith("make"))
    assert "-e '.[serve]'" in printed
    assert "understudy serve demo --open" in printed.strip().splitlines()[-1]


def test_installing_a_browser_waits_for_another_installation(tmp_path: Path) -> None:
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path)
    if shutil.which("make") is None:
        pytest.skip("there is no make here")
    command = ["make", "-n", ".venv/browser"]
    printed = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert printed.count("DPkg::Lock::Timeout=") == len(re.findall(r"apt-get (?:update|install) -qq", printed)) == 2


def test_the_python_that_is_shown_runs() -> None:
    done = subprocess.run([sys.executable, "-c", PYTHON[0]], capture_output=True, text=True, check=True)
    assert len(done.stdout) > 50


def linked_from(page: Path) -> set[Path]:
    links = re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    return {(page.parent / link).resolve() for link in links}


def test_every_page_is_in_the_table_of_the_docs_and_every_note_belongs_to_a_page() -> None:
    pages = {*DOCS.glob("*.md"), *(DOCS / "papers").glob("*.md")} - {DOCS / "README.md"}
    assert pages - linked_from(DOCS / "README.md") == set()
    assert set((DOCS / "notes").glob("*.md")) - set().union(*map(linked_from, pages)) == set()


def test_the_pages_that_a_user_reads_stay_short() -> None:
    pages = [*DOCS.glob("*.md"), *(DOCS / "papers").glob("*.md")]
    assert sum(len(page.read_text(encoding="utf-8").split()) for page in pages) <= MAX_WORDS_OF_DOCS


def headings(page: Path) -> set[str]:
    """The anchors of a page's headings."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#:\s]*)(#[^)\s]*)?\)", page.read_text(encoding="utf-8"))
    targets = [(page.parent / link if link else page, anchor[1:]) for link, anchor in links]
    assert [target for target, _ in targets if not target.exists()] == []
    assert [(target.name, anchor) for target, anchor in targets if anchor and anchor not in headings(target)] == []
