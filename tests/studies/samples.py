"""Studies to try things on: a small one without a story, each kind's template with its material, people who answer."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import hpdsessions
from understudy.progress import ignore_progress
from understudy.studies import Study, load_study
from understudy.studies.item import Block, Option, Question, ShownLine, StudyItem
from understudy.studies.kind import GivenAnswer, Kind

TRADES = "clocks bread boats roses wine glass".split()


def chat(name: str, speakers: Sequence[str] = ("kv-memory", "human"), about: int = 0) -> dict[str, Any]:
    first, second = TRADES[about % len(TRADES)], TRADES[(about + 1) % len(TRADES)]
    return {
        "id": name,
        "speakers": list(speakers),
        "profiles": [[f"i make {first}.", f"{first} pay."], [f"i sell {second}.", f"{second} sell."]],
        "turns": [
            {"speaker": 0, "text": "hello there"},
            {"speaker": 1, "text": "hi, what do you do?"},
            {"speaker": 0, "text": f"i like to make {first}"},
        ],
    }


def write_chats(path: Path, chats: Sequence[Mapping[str, Any]] | None = None) -> Path:
    rows = chats or [chat(f"chat-{number}", about=number) for number in range(4)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def _write_lines(folder: Path) -> None:
    (folder / "lines.txt").write_text("I count what I burn.\nGood morning.\tYo, what is up?\n", encoding="utf-8")


def _write_questions(folder: Path) -> None:
    """Sessions as `understudy questions` writes them: two agents have proposed the wrong replies, and one more."""
    sessions = hpdsessions.sessions(3)
    for session in sessions.values():
        wrong = [*session["negative_response"], "Ask me tomorrow, Moss."]
        agents = ("kv-memory", "star-space")
        session["proposed"] = [{"text": text, "agent": agents[number % 2]} for number, text in enumerate(wrong)]
        session["reviewed"] = False
    (folder / "set.json").write_text(json.dumps(sessions), encoding="utf-8")


MATERIAL: Mapping[str, Callable[[Path], object]] = {
    "candidates": _write_questions,
    "rate": lambda folder: write_chats(folder / "chats.jsonl"),
    "likely": _write_lines,
}
"""What a kind's template names beside the story that comes with the program."""


def study_of(kind: Kind, folder: Path, **material: Any) -> Study:
    """The study of a kind's template, with other material where it is given; None leaves a key out."""
    folder.mkdir(parents=True, exist_ok=True)
    if kind.name in MATERIAL:
        MATERIAL[kind.name](folder)
    path = folder / "study.toml"
    path.write_text(kind.template, encoding="utf-8")
    study = load_study(path)
    merged = {key: value for key, value in {**study.material, **material}.items() if value is not None}
    return replace(study, material=merged)


def items_of(kind: Kind, study: Study) -> list[StudyItem]:
    return kind.items(study, ignore_progress)


def crowd(
    kind: Kind, items: Sequence[StudyItem], people: int = 3, skill: float = 1.0, seed: int = 0
) -> list[GivenAnswer]:
    """Everybody answers everything."""
    rng = random.Random(seed)
    return [
        GivenAnswer(item, f"p{person}", kind.simulate(item, skill, rng))
        for item in items
        for person in range(1, people + 1)
    ]


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
