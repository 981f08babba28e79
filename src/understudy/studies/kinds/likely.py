"""Would this character say this? Several people judge each line.

NoL (number of likelies) of a line is how many of its judges said 'likely'; the paper asked five. `--format voice`
writes the folder that `bench voice --judge` reads.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from understudy.errors import InputError
from understudy.persona import persona_at
from understudy.progress import Progress
from understudy.studies.item import Block, Item, Option, Question, Said
from understudy.studies.kind import GivenAnswer, Kind
from understudy.studies.material import open_story
from understudy.studies.study import Study

__all__ = ["KIND", "number_of_likelies"]

LIKELY = "likely"
QUESTION = Question(
    "likely",
    "choice",
    "Would this character say this?",
    (Option(LIKELY, "Likely"), Option("unlikely", "Unlikely")),
)
SAMPLE_LINES = 10
TEMPLATE = """\
kind = "likely"
title = "Would Zita say this?"
instructions = \"\"\"
You see who somebody is and what they have said, then one line.
Say whether they are likely to say it. Go by how they talk and who they are; there is no right answer.
\"\"\"
consent = "I am at least 18 and take part of my own will. I can stop at any time and have my answers deleted."
people_per_item = 5
items_per_person = 30
checks = 1
seed = 0

[material]
story = "demo"              # a story file or folder, or demo
character = "Zita"
at = "end"                  # the moment of the story
lines = "lines.txt"         # a line each, or: what was said to them<TAB>their reply
"""


def number_of_likelies(given: Sequence[GivenAnswer]) -> Counter[str]:
    """Item name -> how many people said 'likely'."""
    counts: Counter[str] = Counter({each.item.name: 0 for each in given})
    counts.update(each.item.name for each in given if each.answer.get(QUESTION.name) == LIKELY)
    return counts


def _items(study: Study, progress: Progress) -> list[Item]:
    study.only("story", "character", "at", "lines")
    story = open_story(study)
    persona = persona_at(story, study.text("character"), study.text("at", "end"))
    rng = random.Random(study.seed)  # noqa: S311
    own = [line.text for line in persona.past.lines()]
    sample = rng.sample(own, min(SAMPLE_LINES, len(own)))
    about = [Block(f"Who {persona.name} is", tuple(Said(None, text) for text in persona.profile))]
    if sample:
        about.append(Block(f"What {persona.name} has said", tuple(Said(persona.name, text) for text in sample)))
    rows = _rows(study.path("lines"))
    items = []
    for number, (context, reply) in enumerate(rows):
        progress("Items", number, len(rows))
        said = [Said("Somebody", context)] if context else []
        asked = Block("The line", (*said, Said(persona.name, reply, is_asked=True)))
        items.append(Item(f"line {number + 1}", (*about, asked), (QUESTION,), {"context": context, "reply": reply}))
    return items


def _rows(path: Path) -> list[tuple[str, str]]:
    rows = []
    for line in path.read_text(encoding="utf-8-sig").splitlines():
        if line.strip():
            context, _, reply = line.rpartition("\t")
            rows.append((context.strip(), reply.strip()))
    if not rows:
        raise InputError("holds no line to judge: write one on each line", path)
    return rows


def _simulated(item: Item, skill: float, rng: random.Random) -> dict[str, Any]:
    """Without a right answer, skill is how far people agree: each line leans one way."""
    leaning = random.Random(item.name).choice([option.key for option in QUESTION.options])  # noqa: S311
    chosen = leaning if rng.random() < skill else rng.choice([option.key for option in QUESTION.options])
    return {QUESTION.name: chosen}


def _write_voice(study: Study, given: Sequence[GivenAnswer], folder: Path) -> None:
    """The judged file of the character; names.json, which says whose lines it is beside, is the bench's user's."""
    counts = number_of_likelies(given)
    hidden = {each.item.name: each.item.hidden for each in given}
    judged = {f"{hidden[name]['context']}\t{hidden[name]['reply']}": count for name, count in counts.items()}
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{study.text('character')}.json"
    path.write_text(json.dumps(judged, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


KIND = Kind(
    "likely",
    "says whether a character would say a line",
    TEMPLATE,
    _items,
    _simulated,
    outputs={"voice": _write_voice},
)
