"""The generation half of one file: rows, samples and items that say which file and language they are of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from understudy.bench.generation.rows import Row
from understudy.bench.hpd.generation import HpdGeneration, judge_generation
from understudy.bench.judged_agents import JudgedAgent
from understudy.dialogue import Example
from understudy.progress import Progress

__all__ = ["judge_writing"]


def judge_writing(
    path: Path,
    agents: Sequence[JudgedAgent],
    questions: Mapping[str, Sequence[Example]],
    seed: int,
    progress: Progress,
    cache: Path | None,
    replies: int | None,
) -> HpdGeneration:
    """`judge_generation` of the sessions of a file, by what of them is given."""
    written = judge_generation(agents, questions, seed, progress, cache, replies)
    persona = next(iter(questions.values()))[0].situation.persona
    file: Row = {"file": path.name, "language": persona.language}
    f1 = {
        (item.judged["agent"], item.judged["given"], name): value
        for item in written.items
        for name, value in zip(item.names, item.marks.get("f1", ()))
    }
    written.rows = [{**file, **row} for row in written.rows]
    written.samples = [
        {**file, "speaker": persona.name, "condition": row["given"]}
        | {"f1": f1[row["agent"], row["given"], row["item"]]}
        | row
        for row in written.samples
        if row["reply"] is not None
    ]
    written.items = [replace(item, judged={"file": path.name, **item.judged}) for item in written.items]
    return written
