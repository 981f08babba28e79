"""Write a persona: at least five sentences of at most fifteen words, as PersonaChat's were.

`--format personas` writes them as JSON lines, which `revise` and `chat` studies take; `--format cards` writes a folder
of character cards, which every command takes as a story.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from understudy.formats.cards.document import Card, in_version, json_of
from understudy.formats.chat_records import PersonaRecord
from understudy.progress import Progress
from understudy.studies import Study
from understudy.studies.item import Answer, Problem, Question, StudyItem
from understudy.studies.kind import GivenAnswer, Kind, write_json_lines
from understudy.text import fold

SENTENCES = "sentences"
LEAST, MOST_WORDS = 5, 15
TEMPLATE = """\
kind = "personas"
title = "Invent a person"
instructions = \"\"\"
Invent somebody and let them tell of themselves in at least five short sentences: what they do, like, own, fear, want.
Write as they would ("I ..."), each sentence about something else. Do not describe yourself or anybody real.
\"\"\"
example = "I teach the cello. I am afraid of heights. My brother lives in Lisbon. I collect maps. I sleep badly."
consent = "I am at least 18 and take part of my own will. I can stop at any time and have my answers deleted."
people_per_item = 1         # each persona is written by one person
items_per_person = 5        # how many one person may invent
checks = 0                  # nobody chooses here, so there is nothing to check
seed = 0

[material]
count = 20                  # how many personas to collect
sentences = 5               # at least so many for each
words = 15                  # at most so many a sentence
"""
MADE_UP = tuple(
    f"I {verb} {object_}."
    for verb, objects in {
        "repair": "old radios|wooden boats|church clocks",
        "teach": "swimming to children|night classes in law|my neighbour the piano",
        "grew up": "on a lighthouse|in a bakery|among seven sisters",
        "am afraid of": "deep water|moths|being late",
        "never eat": "breakfast|anything red|before noon",
        "collect": "train tickets|maps of islands|odd buttons",
        "want to": "see the desert|own a goat|learn Welsh",
    }.items()
    for object_ in objects.split("|")
)


def written_sentences(answer: Answer) -> tuple[str, ...]:
    """The sentences of an answer, those without words left out."""
    return tuple(text.strip() for text in answer.get(SENTENCES, ()) if text.strip())


def _items(study: Study, _: Progress) -> list[StudyItem]:
    study.only("count", "sentences", "words")
    least, most_words = study.number("sentences", LEAST), study.number("words", MOST_WORDS)
    question = Question(SENTENCES, "texts", "Sentences of your person", least=least, most_words=most_words)
    return [StudyItem(f"persona {number + 1}", (), (question,)) for number in range(study.number("count", 20))]


def _problems(_: StudyItem, answer: Answer) -> list[Problem]:
    """A sentence left blank between others, or written twice."""
    texts = list(answer.get(SENTENCES, ()))
    last = max((index for index, text in enumerate(texts) if text.strip()), default=-1)
    first: dict[str, int] = {}
    problems = []
    for index, text in enumerate(texts[: last + 1]):
        if not text.strip():
            problems.append(Problem(SENTENCES, "this sentence is blank: write it, or remove it", index))
        elif (earlier := first.setdefault(fold(text), index)) != index:
            problems.append(Problem(SENTENCES, f"this says the same as sentence {earlier + 1}: write another", index))
    return problems


def _simulated(item: StudyItem, _: float, rng: random.Random) -> dict[str, Any]:
    """Sentences drawn from a list: no skill makes one persona more right than another."""
    question = item.questions[0]
    fitting = [text for text in MADE_UP if not question.most_words or len(text.split()) <= question.most_words]
    return {SENTENCES: rng.sample(fitting, min(question.least, len(fitting)))}


def _write_personas(_: Study, answers: Sequence[GivenAnswer], path: Path) -> None:
    records = (PersonaRecord(written_sentences(each.answer)) for each in answers)
    write_json_lines(path, (record.document() for record in records))


def _write_cards(_: Study, answers: Sequence[GivenAnswer], folder: Path) -> None:
    """A card for each persona, named by its number; who wrote it stands nowhere."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, each in enumerate(answers, 1):
        document = {"name": f"Person {number}", "description": "\n".join(written_sentences(each.answer))}
        (folder / f"person-{number}.json").write_bytes(json_of(in_version(Card(document, 1), 2)))


KIND = Kind(
    "personas",
    "writes a persona",
    TEMPLATE,
    _items,
    _simulated,
    _problems,
    outputs={"personas": _write_personas, "cards": _write_cards},
)
