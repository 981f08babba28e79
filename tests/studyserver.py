"""`understudy study serve` in a process of its own, for tests with crowds, signals and kills."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

__all__ = ["StudyServer", "study_server", "write_chat", "write_likely"]

LINK = re.compile(r"^  http://[^/]+/take/(\S+)$")
LIKELY = """\
kind = "likely"
title = "Would Ines say this?"
people_per_item = {people_per_item}
items_per_person = {items_per_person}
checks = {checks}

[material]
story = "brass-key"
character = "Ines"
lines = "lines.txt"
"""

CHAT = """\
kind = "chat"
title = "Get to know somebody"
people_per_item = 2
items_per_person = 1

[material]
"""


@dataclass(frozen=True, slots=True)
class StudyServer:
    process: subprocess.Popen[str]
    url: str
    tokens: list[str]
    """Of the links that were made with --links."""

    def take(self, token: str) -> str:
        return f"{self.url}/api/take/{token}"


def write_likely(
    story: Path, lines: int, people_per_item: int = 3, items_per_person: int = 20, checks: int = 0
) -> Path:
    """A study beside the brass key, whose lines are only judged."""
    folder = story.parent
    (folder / "lines.txt").write_text("".join(f"I have {number} keys.\n" for number in range(lines)), encoding="utf-8")
    path = folder / "ines.toml"
    settings = {"people_per_item": people_per_item, "items_per_person": items_per_person, "checks": checks}
    path.write_text(LIKELY.format(**settings), encoding="utf-8")
    return path


def write_chat(story: Path, chats: int, turns: int, rate: bool = False, **material: object) -> Path:
    """A study of chats between people, or with `agents`."""
    folder = story.parent
    personas = ({"persona": [f"i collect stamps number {number}.", "my aunt is a baker."]} for number in range(5))
    (folder / "personas.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in personas), encoding="utf-8")
    path = folder / "talk.toml"
    fast = {"personas": '"personas.jsonl"', "arrives_s": [0, 0], "writes_s": [0, 0], "rate": str(rate).lower()}
    settings = {**fast, "chats": chats, "turns": [turns, turns], **material}
    path.write_text(CHAT + "".join(f"{key} = {value}\n" for key, value in settings.items()), encoding="utf-8")
    return path


def _heed_signals() -> None:
    """Background jobs and nohup have these ignored, which children would inherit."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


@contextmanager
def study_server(
    study: Path, *options: str | Path, port: int = 0, environment: Mapping[str, str] | None = None
) -> Iterator[StudyServer]:
    """Gives the server once it answers; its database lies beside the study unless `options` name one."""
    command = [sys.executable, "-m", "understudy", "study", "serve", str(study), "--port", str(port)]
    with (study.parent / "log").open("a") as log:
        process = subprocess.Popen(
            [*command, *map(str, options)],
            cwd=study.parent,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1", **(environment or {})},
            preexec_fn=_heed_signals,
        )
    try:
        assert process.stdout is not None
        printed = ""
        for line in process.stdout:
            printed += line
            if line.startswith("Ctrl-C"):
                (url,) = re.findall(r"is open: (http://[^/ ]+)/", printed)
                with httpx.Client(
                    transport=httpx.HTTPTransport(retries=8), timeout=120
                ) as client:  # it may still be starting
                    assert client.get(f"{url}/health").status_code == 200
                tokens = [found[1] for found in map(LINK.match, printed.splitlines()) if found]
                yield StudyServer(process, url, tokens)
                break
        else:
            pytest.fail(f"the server did not start: {printed}{(study.parent / 'log').read_text()}")
    finally:
        process.kill()
        process.communicate()
