"""Answers of an agent, written down question by question, so that a stopped run goes on where it was.

A file of JSON lines for each agent and set of questions, `{"item": the question's name, ...}`; what an agent of yours
would now say is not known to it: empty the folder when you change the agent.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from understudy.bench.judged_agents import JudgedAgent, fingerprint
from understudy.dialogue import Example

__all__ = ["AnswerLog"]

Record = dict[str, Any]


class AnswerLog:
    """`records` are the answers that are known, by question; without a folder nothing is written down."""

    def __init__(
        self, folder: Path | None, kind: str, judged: JudgedAgent, questions: Sequence[Example], data: Path | None
    ) -> None:
        self.records: dict[str, Record] = {}
        self._path: Path | None = None
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            self._path = folder / f"{fingerprint(judged, questions, data)}.{kind}.jsonl"
            self._read(self._path)

    def add(self, records: Iterable[Record]) -> None:
        new = list(records)
        self.records |= {record["item"]: record for record in new}
        if self._path is not None:
            with self._path.open("a", encoding="utf-8") as file:
                file.writelines(json.dumps(record, ensure_ascii=False) + "\n" for record in new)

    def _read(self, path: Path) -> None:
        if not path.is_file():
            return
        lines = path.read_bytes().splitlines(keepends=True)
        if lines and not lines[-1].endswith(b"\n"):  # stopped while it was written
            with path.open("r+b") as file:
                file.truncate(sum(map(len, lines[:-1])))
            lines.pop()
        for line in lines:
            record = json.loads(line)
            self.records[record["item"]] = record
