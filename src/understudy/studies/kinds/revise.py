"""Rewrite a persona: the same person in other words, sentence by sentence, as PersonaChat's revised personas were.

A rewritten sentence shares no word of meaning with its original, in any form: English words are compared by their
stems ('skiing' and 'ski' are one), Japanese and Chinese ones as they are. Words of grammar (`text.stop_words`) may be
shared.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from understudy.formats.chat_records import PersonaRecord
from understudy.language.lexical.tokenization import stem
from understudy.progress import Progress
from understudy.studies import Study, personas_of
from understudy.studies.item import Answer, Block, Problem, Question, ShownLine, StudyItem
from understudy.studies.kind import GivenAnswer, Kind, write_json_lines
from understudy.text import guess_language, stop_words, tokenizer, words

SENTENCES = "sentences"
MOST_WORDS = 15
TEMPLATE = """\
kind = "revise"
title = "Say it in other words"
instructions = \"\"\"
You see what somebody says of themselves. Write each sentence anew, so that it could be the same person but shares no
word of meaning with the original: say it more generally, more closely, or from another side.
\"\"\"
example = "'I love to ski.' can become 'Winter is my favourite time of year.'"
consent = "I am at least 18 and take part of my own will. I can stop at any time and have my answers deleted."
people_per_item = 1
items_per_person = 5
checks = 0                  # nobody chooses here, so there is nothing to check
seed = 0

[material]
story = "demo"              # whose cast's profiles are rewritten: any story, PersonaChat's files too
# personas = "personas.jsonl"   # or instead: what a `personas` study wrote with --format personas
words = 15                  # at most so many a sentence
# limit = 100               # a sample of so many personas
"""
MADE_UP = (
    "There is always room for something else in that life.",
    "Ask anybody who ever met me.",
    "Such days please us most.",
    "It keeps everyone busy until evening comes.",
    "Nobody had expected quite that.",
    "Old habits seldom leave people alone.",
    "Somewhere nearby it became ordinary.",
    "Others would call this luck.",
)


def shared_forms(original: str, rewritten: str, language: str) -> list[tuple[str, str]]:
    """(word of the rewritten sentence, word of the original) of each word of meaning that both have in some form."""
    theirs = dict(_stemmed(original, language))
    return [(word, theirs[key]) for key, word in dict(_stemmed(rewritten, language)).items() if key in theirs]


def _stemmed(sentence: str, language: str) -> Iterator[tuple[str, str]]:
    """(stem, word) of each word of meaning."""
    light = stop_words(language)
    for word in words(sentence, language):
        if word not in light:
            yield (stem(word) if language == "en" else word), word


def _items(study: Study, progress: Progress) -> list[StudyItem]:
    study.only("story", "personas", "words", "limit")
    personas = personas_of(study)
    for language in {guess_language(" ".join(sentences)) for sentences in personas}:
        tokenizer(language)  # if its extra is missing, now is the time to say so
    personas = study.sample(personas)
    items = []
    for number, sentences in enumerate(personas, 1):
        progress("Items", number, len(personas))
        label, size = "Each sentence in other words, in the same order", len(sentences)
        most_words = study.number("words", MOST_WORDS)
        question = Question(SENTENCES, "texts", label, least=size, most=size, most_words=most_words)
        block = Block("What somebody says of themselves", tuple(ShownLine(None, text) for text in sentences))
        items.append(StudyItem(f"persona {number}", (block,), (question,)))
    return items


def _original(item: StudyItem) -> tuple[str, ...]:
    return tuple(line.text for line in item.blocks[0].lines)


def _problems(item: StudyItem, answer: Answer) -> list[Problem]:
    original = _original(item)
    language = guess_language(" ".join(original))
    problems = []
    for index, (theirs, ours) in enumerate(zip(original, answer.get(SENTENCES, ()), strict=False)):
        if shared := shared_forms(theirs, ours, language):
            problems.append(Problem(SENTENCES, f"{_named(shared)}: say it in another way", index))
    return problems


def _named(shared: Sequence[tuple[str, str]]) -> str:
    return "; ".join(
        f"'{word}' stands in the original" if word == other else f"'{word}' shares its stem with '{other}'"
        for word, other in shared
    )


def _simulated(item: StudyItem, _: float, rng: random.Random) -> dict[str, Any]:
    """Sentences that would go with anything: no skill makes one rewriting more right than another."""
    language = guess_language(" ".join(_original(item)))
    drawn = rng.sample(MADE_UP, len(MADE_UP))
    return {
        SENTENCES: [
            next((text for text in drawn[index % len(drawn) :] + drawn if not shared_forms(theirs, text, language)), "")
            for index, theirs in enumerate(_original(item))
        ]
    }


def _write_personas(_: Study, answers: Sequence[GivenAnswer], path: Path) -> None:
    records = (
        PersonaRecord(tuple(text.strip() for text in each.answer[SENTENCES]), _original(each.item)) for each in answers
    )
    write_json_lines(path, (record.document() for record in records))


KIND = Kind(
    "revise",
    "rewrites a persona in other words",
    TEMPLATE,
    _items,
    _simulated,
    _problems,
    outputs={"personas": _write_personas},
)
