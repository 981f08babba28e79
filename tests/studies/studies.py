"""Studies to try things on, without a story."""

from __future__ import annotations

from pathlib import Path

from understudy.studies.item import Block, Option, Question, ShownLine, StudyItem
from understudy.studies.study import Study

LIKELY = Question("likely", "choice", "Would they say this?", (Option("likely", "Likely"), Option("unlikely", "Not")))


def study(**changes: object) -> Study:
    settings: dict[str, object] = {
        "kind": "likely",
        "title": "Would they?",
        "consent": "I agree.",
        "people_per_item": 2,
        "items_per_person": 3,
        "material": {"story": "demo"},
        "folder": Path(),
    }
    return Study(**(settings | changes))  # type: ignore[arg-type]


def items(count: int = 4) -> list[StudyItem]:
    return [
        StudyItem(
            f"line {n}",
            (Block("The line", (ShownLine("Zita", f"words {n}", True),)),),
            (LIKELY,),
            {"agent": f"bot {n}"},
        )
        for n in range(1, count + 1)
    ]
