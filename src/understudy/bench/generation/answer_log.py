"""Answers of an agent, written down question by question, so that a stopped run goes on where it was.

A file of JSON lines for each agent and set of questions, `{"item": the question's name, ...}`; what an agent of yours
would now say is not known to it: empty the folder when you change the agent.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from understudy.bench.judged_agents import JudgedAgent, fingerprint
from understudy.database.record_log import RecordLog
from understudy.story.dialogue import Example

__all__ = ["answer_log"]


def answer_log(
    folder: Path | None, kind: str, judged: JudgedAgent, questions: Sequence[Example], data: Path | None
) -> RecordLog:
    """By question; without a folder nothing is written down."""
    path = None if folder is None else folder / f"{fingerprint(judged, questions, data)}.{kind}.jsonl"
    return RecordLog(path, "item")
