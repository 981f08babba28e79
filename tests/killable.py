"""`understudy serve` in a process of its own, with an agent that talks at length, for tests that kill it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

__all__ = ["WORDS", "children", "server"]

WORDS = 400
AGENT = f"""
from understudy.agents import Scripted

def talkative():
    return Scripted(" ".join(f"reply{{reply}}word{{word}}" for word in range({WORDS})) for reply in range(9))
"""


def children(process: subprocess.Popen[str]) -> list[int]:
    listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(process.pid)], capture_output=True, text=True)
    return [int(number) for number in listed.stdout.split()]


@contextmanager
def server(
    story: Path, folder: Path, port: int = 0, options: Sequence[str] = (), agent: str = "longwinded:talkative"
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Gives the process and its URL, once it answers. What it keeps lies in the folder, for the next one to find."""
    (folder / "longwinded.py").write_text(AGENT, encoding="utf-8")
    command = [sys.executable, "-m", "understudy", "serve", str(story), "--agent", agent, *options]
    process = subprocess.Popen(
        [*command, "--port", str(port), "--data", str(folder / "data")],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    try:
        assert process.stdout is not None
        told = ""
        for line in process.stdout:
            told += line
            if found := re.search(r"Talk on (http://[^ ]+)/ ", line):
                with httpx.Client(
                    transport=httpx.HTTPTransport(retries=8), timeout=120
                ) as client:  # it may still be starting
                    assert client.get(f"{found[1]}/health").status_code == 200
                yield process, found[1]
                break
        else:
            pytest.fail(f"the server did not start: {told}")
    finally:
        process.kill()
        process.communicate()
