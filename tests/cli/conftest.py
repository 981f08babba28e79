from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from cliruns import Document, Run, Start
from remembering import remember
from understudy.cli import understudy

TELLTALE = """
from understudy.story.dialogue import Candidate, Reply

class Telltale:
    def reply(self, situation, history):
        texts = ["His name is Danilo Reuss.", "I count what I carry."]
        return Reply(texts[0], tuple(Candidate(text, 0.0) for text in texts))
"""


@pytest.fixture(autouse=True)
def remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands that run in this process read the demo once, and encode a text once."""
    remember(monkeypatch)


@pytest.fixture
def telltale(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """An agent whose best reply tells what Zita of the demo learns only after 2.3."""
    (tmp_path / "telltale.py").write_text(TELLTALE)
    monkeypatch.syspath_prepend(tmp_path)
    return "telltale:Telltale"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command in an empty folder, 80 columns wide; it must end with the status given."""
    folder = tmp_path / "place"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "80")

    def run(*arguments: str | Path, status: int = 0, stdin: str | None = None) -> Result:
        result = CliRunner().invoke(understudy, list(map(str, arguments)), input=stdin, prog_name="understudy")
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == status, result.output
        return result

    return run


@pytest.fixture
def document(run: Run) -> Document:
    """The one document that a command prints with --json."""

    def document(*arguments: str | Path, stdin: str | None = None) -> Any:
        return json.loads(run(*arguments, "--json", stdin=stdin).stdout)

    return document


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
