from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from understudy.cli import understudy

CAST = """
title = "The Brass Key"
language = "en"

[[character]]
name = "Ines Vale"
aliases = ["Ines"]
profile = ["I keep the keys of the harbour."]

[[character]]
name = "Tobias Rook"
aliases = ["Tobias"]

[[character]]
name = "Mara Quill"
aliases = ["Mara"]

[[fact]]
who = "Ines Vale"
attribute = "belongings"
value = ["the brass key"]
from = "1.1"
until = "1.2"

[[relation]]
of = "Ines Vale"
to = "Tobias Rook"
affection = 7
from = "1.1"

[[relation]]
of = "Ines Vale"
to = "Tobias Rook"
affection = -6
from = "2.1"

[[relation]]
of = "Ines Vale"
to = "Tobias Rook"
affection = 3
from = "2.2"

[[relation]]
of = "Tobias Rook"
to = "Ines Vale"
affection = 9
from = "1.1"
"""

ACT_1 = """# act 1: Low Water
## scene 1: The chandlery, noon
Present: Ines Vale, Tobias Rook
[Rain on the roof.]
INES: The brass key was on its hook at noon, Tobias.
TOBIAS: Was it? I never look at hooks.
INES: You look at nothing else.

## scene 2: The quay, the same night
Present: Tobias Rook, Mara Quill
TOBIAS: I sold her key to the lighthouse, Mara.
MARA: Then you are a thief, and a cheap one.
% Should Mara be kinder here?
"""

ACT_2 = """# act 2: High Water
## scene 1: The chandlery, morning
Present: Ines Vale, Tobias Rook
TOBIAS: I am sorry about the key. I took it.
INES: I know a thief by his shoes. Get out.

## scene 2: The lighthouse, a week later
Present: Ines Vale, Tobias Rook
INES: So it was the lighthouse that had my key.
TOBIAS: I bought it back with my coat.
INES: You must be cold, Tobias.
"""


@pytest.fixture
def story(tmp_path: Path) -> Path:
    """A story folder: two acts of two scenes. Ines hears of the lighthouse only in 2.2; Mara she never meets."""
    folder = tmp_path / "brass-key"
    folder.mkdir()
    for name, text in (("cast.toml", CAST), ("act-1.txt", ACT_1), ("act-2.txt", ACT_2)):
        (folder / name).write_text(text, encoding="utf-8")
    return folder


Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command in an empty folder, 80 columns wide; it must end with the status given."""
    place = tmp_path / "place"
    place.mkdir()
    monkeypatch.chdir(place)
    monkeypatch.setenv("COLUMNS", "80")

    def run(*arguments: str | Path, status: int = 0, stdin: str | None = None) -> Result:
        result = CliRunner().invoke(understudy, [str(one) for one in arguments], input=stdin, prog_name="understudy")
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == status, result.output
        return result

    return run


Document = Callable[..., Any]


@pytest.fixture
def document(run: Run) -> Document:
    """The one document that a command prints with --json."""

    def document(*arguments: str | Path, stdin: str | None = None) -> Any:
        return json.loads(run(*arguments, "--json", stdin=stdin).stdout)

    return document


Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start(tmp_path: Path) -> Start:
    """Start the program as a process of its own."""

    def start(*arguments: str | Path) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "understudy", *map(str, arguments)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
            env={name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"},
            # a test run started in the background hands down an ignored Ctrl-C
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )

    return start
