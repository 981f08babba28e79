"""Write a persona, or rewrite one in other words, as PersonaChat's personas were made.

A persona is at least five sentences of at most fifteen words. `--format personas` writes them as JSON lines, which
`revise` and `chat` studies take; `--format cards` writes a folder of character cards, which every command takes as a
story.

A rewritten sentence shares no word of meaning with its original, in any form: English words are compared by their
stems ('skiing' and 'ski' are one), Japanese and Chinese ones as they are. Words of grammar (`text.stop_words`) may be
shared.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from understudy.formats.cards import Card, in_version, json_of
from understudy.formats.chat_records import PersonaRecord
from understudy.progress import Progress
from understudy.studies import Study, personas_of
from understudy.studies.item import Answer, Block, Problem, Question, ShownLine, StudyItem
from understudy.studies.kind import GivenAnswer, Kind, write_json_lines
from understudy.text import fold, guess_language, stem, stop_words, tokenizer, words

SENTENCES = "sentences"
LEAST, MOST_WORDS = 5, 15
PERSONAS_TEMPLATE = """\
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


def _persona_items(study: Study, _: Progress) -> list[StudyItem]:
    study.only("count", "sentences", "words")
    least, most_words = study.number("sentences", LEAST), study.number("words", MOST_WORDS)
    question = Question(SENTENCES, "texts", "Sentences of your person", least=least, most_words=most_words)
    return [StudyItem(f"persona {number + 1}", (), (question,)) for number in range(study.number("count", 20))]


def _persona_problems(_: StudyItem, answer: Answer) -> list[Problem]:
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


def _simulated_persona(item: StudyItem, _: float, rng: random.Random) -> dict[str, Any]:
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


PERSONAS = Kind(
    "personas",
    "writes a persona",
    PERSONAS_TEMPLATE,
    _persona_items,
    _simulated_persona,
    _persona_problems,
    outputs={"personas": _write_personas, "cards": _write_cards},
)


REVISE_TEMPLATE = """\
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
REWRITINGS = (
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


def _revision_items(study: Study, progress: Progress) -> list[StudyItem]:
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


def _revision_problems(item: StudyItem, answer: Answer) -> list[Problem]:
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


def _simulated_revision(item: StudyItem, _: float, rng: random.Random) -> dict[str, Any]:
    """Sentences that would go with anything: no skill makes one rewriting more right than another."""
    language = guess_language(" ".join(_original(item)))
    drawn = rng.sample(REWRITINGS, len(REWRITINGS))
    return {
        SENTENCES: [
            next((text for text in drawn[index % len(drawn) :] + drawn if not shared_forms(theirs, text, language)), "")
            for index, theirs in enumerate(_original(item))
        ]
    }


def _write_revisions(_: Study, answers: Sequence[GivenAnswer], path: Path) -> None:
    records = (
        PersonaRecord(tuple(text.strip() for text in each.answer[SENTENCES]), _original(each.item)) for each in answers
    )
    write_json_lines(path, (record.document() for record in records))


REVISE = Kind(
    "revise",
    "rewrites a persona in other words",
    REVISE_TEMPLATE,
    _revision_items,
    _simulated_revision,
    _revision_problems,
    outputs={"personas": _write_revisions},
)
