"""Ctrl-C, at whatever point of the program's start it comes."""

from __future__ import annotations

import importlib
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

# Sends Ctrl-C to itself the moment a module is looked for.
PROGRAM = """
import os, signal, sys
{before}

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupting())
from understudy.__main__ import main
sys.argv = ["understudy", *{command!r}]
main()
"""


def interrupted_at(module: str, *command: str, before: str = "") -> subprocess.CompletedProcess[str]:
    program = PROGRAM.format(module=module, command=list(command), before=before)
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, preexec_fn=hears_ctrl_c)


def hears_ctrl_c() -> None:
    """A test run started in the background (`nohup make test &`) hands down an ignored Ctrl-C."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.mark.parametrize(
    "module",
    [
        "understudy.cli",
        "click",
        "numpy",
        "rich.console",
        "understudy.formats",
        "understudy.cli.score",
        "understudy.metrics.scoring",  # when the command has begun already
        "understudy.metrics.voice",
        "understudy.metrics.uppl",
    ],
)
def test_ctrl_c_while_the_program_is_being_loaded_just_ends_it(module: str, tmp_path: Path) -> None:
    lines = tmp_path / "lines.txt"
    lines.write_text("The tide is out.\n")
    ended = interrupted_at(module, "score", str(lines), "--story", "demo", "--as", "Zita")
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "\nStopped.\n")


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    lines, scores = tmp_path / "lines.txt", tmp_path / "scores.jsonl"
    lines.write_text("The tide is out.\n")
    command = ("score", str(lines), "--story", "demo", "--as", "Zita", "-o", str(scores))
    assert interrupted_at("understudy.metrics.scoring.engine", *command).returncode == 130
    assert not scores.exists()


def test_who_starts_it_deaf_to_ctrl_c_has_it_so() -> None:
    deaf = "signal.signal(signal.SIGINT, signal.SIG_IGN)"
    ended = interrupted_at("understudy.cli", "--version", before=deaf)
    assert (ended.returncode, ended.stderr) == (0, "") and "understudy" in ended.stdout


def test_python_m_and_the_program_are_the_same() -> None:
    told = subprocess.run([sys.executable, "-m", "understudy", "--version"], capture_output=True, text=True)
    assert told.returncode == 0 and told.stdout.startswith("understudy")


def test_importing_the_program_leaves_ctrl_c_as_it_was() -> None:
    before = signal.getsignal(signal.SIGINT)
    importlib.import_module("understudy.__main__")
    assert signal.getsignal(signal.SIGINT) is before


def in_shell(redirected: str, *command: str, **told: str) -> subprocess.CompletedProcess[str]:
    line = f"{shlex.join([sys.executable, '-m', 'understudy', *command])} {redirected}"
    return subprocess.run(line, shell=True, capture_output=True, text=True, timeout=120, env={**os.environ, **told})


CHAT = ("chat", "demo", "Zita", "--agent", "tfidf")


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_a_chat_whose_stdin_is_closed_says_so(options: tuple[str, ...]) -> None:
    ended = in_shell("<&-", *CHAT, *options)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "stdin is closed" in ended.stderr and "Traceback" not in ended.stderr


def test_a_closed_stdin_takes_nothing_from_a_chat_that_needs_none() -> None:
    assert in_shell("<&-", *CHAT, "--say", "Who wrote it?").returncode == 0


@pytest.mark.parametrize(("command", "status"), [(("--say", "Hello"), 0), (("--dance",), 2), (("--at", "99"), 1)])
def test_a_closed_stderr_changes_nothing_but_what_is_said_there(command: tuple[str, ...], status: int) -> None:
    ended, heard = in_shell("2>&-", *CHAT, *command), in_shell("", *CHAT, *command)
    assert (ended.returncode, ended.stdout) == (heard.returncode, heard.stdout)
    assert ended.returncode == status


def test_all_three_may_be_closed() -> None:
    assert in_shell("<&- >&- 2>&-", *CHAT, "--say", "Hello").returncode == 0


@pytest.mark.parametrize("columns", ["0", "wide", "-3"])
def test_a_terminal_of_no_size_is_shown_something(columns: str) -> None:
    shown = in_shell("", *CHAT, "--say", "Hello", "--why", COLUMNS=columns, LINES="0")
    assert shown.returncode == 0
    assert "considered as well" in shown.stdout
