"""The examples of docs/writing-an-agent.md run as they are printed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[1] / "docs" / "writing-an-agent.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^## (.*)\n(?:(?!^## ).*\n)*?```python\n((?:.*\n)*?)```", PAGE, re.MULTILINE)


@pytest.mark.parametrize("code", [code for _, code in EXAMPLES], ids=[title for title, _ in EXAMPLES])
def test_an_example_runs_and_its_claims_hold(code: str) -> None:
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_first_agent_is_chatted_with_from_the_command_line(tmp_path: Path) -> None:
    """In 20 lines, as its heading says: the imports, the class and nothing else."""
    title, code = EXAMPLES[0]
    agent = code.partition("\n\nsituation =")[0]
    assert title == "An agent in 20 lines" and len(agent.strip().splitlines()) <= 20
    (tmp_path / "mine.py").write_text(agent, encoding="utf-8")
    command = [sys.executable, "-m", "understudy", "chat", "demo", "Zita", "--at", "2.3", "--agent", "mine:Keeper"]
    done = subprocess.run(
        [*command, "--say", "Is it coffee that you take black?"], capture_output=True, text=True, cwd=tmp_path
    )
    assert (done.returncode, done.stdout.strip()) == (0, "I take my coffee black and my facts in ink.")
