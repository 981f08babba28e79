"""Ctrl-C, at whatever point of the program's start it comes."""

from __future__ import annotations

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
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)


@pytest.mark.parametrize(
    "module",
    [
        "understudy.cli",
        "click",
        "numpy",
        "rich.console",
        "understudy.readers",
        "understudy.cli.voicing",
        "understudy.cli.score_rows",  # when the command has begun already
        "understudy.metrics.voice",
        "understudy.lexical.kneserney",
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
    assert interrupted_at("understudy.scoring.request", *command).returncode == 130
    assert not scores.exists()


def test_who_starts_it_deaf_to_ctrl_c_has_it_so() -> None:
    deaf = "signal.signal(signal.SIGINT, signal.SIG_IGN)"
    ended = interrupted_at("understudy.cli.tour", "--version", before=deaf)
    assert (ended.returncode, ended.stderr) == (0, "") and "understudy" in ended.stdout


def test_python_m_and_the_program_are_the_same() -> None:
    told = subprocess.run([sys.executable, "-m", "understudy", "--version"], capture_output=True, text=True)
    assert told.returncode == 0 and told.stdout.startswith("understudy")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler  # importing it here has changed nothing
