"""Examples of invented people: questions and answers in their voice, with names and numbers substituted.

    # Marta Quill          a person
    S: Marta=f Quill=s     words that are exchanged, with their kind
    F: Joss                whom they face
    P: ... T: ... V: ...   a sentence of the profile, a tie, a line that shows the voice
    X: Joss: heard / said  something once said, and what it answered
    M: Edda: text          something somebody said
    Q: ...  A: ...         a question, and its answers

Names, places and numbers have to be copied from the prompt, since they are others each time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from random import Random
from typing import TypeVar

from recipes.writer.chats import TrainingExample, near_misses
from recipes.writer.grounding import bearing, content, support
from recipes.writer.tables import names, random_name
from understudy.agents.prompt_contents import ChatTurn, PastExchange, PastLine, PromptContents
from understudy.text import sentences

__all__ = ["HELD_BACK", "SeedPerson", "read_seeds", "seed_examples"]

HELD_BACK = ("Barney Pike", "Odile", "Sergeant Malloy")
"""People who are never trained on."""

SPEAKER = re.compile(r"\b(?:I|I'm|I've|me|my|mine|we|us|our)\b")

Item = TypeVar("Item")


@dataclass(slots=True)
class SeedPerson:
    name: str
    faced: str = ""
    exchanged: dict[str, str] = field(default_factory=dict)
    profile: list[str] = field(default_factory=list)
    ties: list[str] = field(default_factory=list)
    voice: list[str] = field(default_factory=list)
    said: list[PastExchange] = field(default_factory=list)
    heard: list[PastLine] = field(default_factory=list)
    questions: list[tuple[str, list[str]]] = field(default_factory=list)

    def add(self, key: str, text: str) -> None:
        if key == "S":
            self.exchanged = dict(pair.split("=") for pair in text.split())
        elif key == "F":
            self.faced = text
        elif key == "X":
            first_part, said = text.split(" / ", 1)
            speaker, heard = first_part.split(": ", 1)
            self.said.append(PastExchange(speaker, heard, said))
        elif key == "M":
            speaker, line = text.split(": ", 1)
            self.heard.append(PastLine(speaker, line))
        elif key == "Q":
            self.questions.append((text, []))
        elif key == "A":
            self.questions[-1][1].append(text)
        else:
            {"P": self.profile, "T": self.ties, "V": self.voice}[key].append(text)


@cache
def read_seeds() -> tuple[SeedPerson, ...]:
    """The people that come with the recipe."""
    people: list[SeedPerson] = []
    for file in sorted(Path(__file__).with_name("seeds").glob("*.txt")):
        for line in file.read_text(encoding="utf-8").splitlines():
            key, text = line[:1], line[2:].strip()
            if line.startswith("# "):
                people.append(SeedPerson(text))
            elif line[1:2] == ":":
                people[-1].add(key, text)
    return tuple(people)


def seed_examples(rng: Random, rounds: int, held_back: bool = False) -> Iterator[TrainingExample]:
    """Every question of every person, so many times, each time with other names and other memories."""
    for person in read_seeds():
        if (person.name in HELD_BACK) == held_back:
            for _ in range(rounds):
                for question, answers in person.questions:
                    yield _exchanged(
                        _example(person, question, rng.choice(answers), rng), _drawn(person.exchanged, rng)
                    )


def _example(person: SeedPerson, question: str, answer: str, rng: Random) -> TrainingExample:
    def bears(text: str) -> float:
        return bearing(text, question, answer)

    facing = _faced(person, question, answer, rng)
    theirs = [tie for tie in person.ties if facing and (facing in tie or facing.split()[-1] in tie)]
    contents = PromptContents(
        name=person.name,
        profile=tuple(_some(person.profile, 3, rng) if rng.random() < 0.15 else person.profile),
        facing=facing,
        theirs=tuple(theirs),
        turns=tuple(_turns(person, question, rng)) if rng.random() < 0.35 else (),
        message=question,
        facts=tuple(_facts(person, theirs, bears, rng)),
        others=tuple(_heard(person, bears, rng)),
    )
    own = _own(person, question, bears, bool(contents.facts), rng)
    shown = {exchange.said for exchange in own}
    voice = _some([line for line in person.voice if line not in shown], rng.choice((2, 3, 4, 5)), rng)
    contents = replace(contents, own=tuple(own), voice=tuple(voice))
    parts = sentences(answer)
    if len(parts) > 1 and rng.random() < 0.35:  # unsupported sentences at the end are dropped in some of the examples
        while len(parts) > 1 and support(contents, parts[-1]) < 0.5:
            parts.pop()
    return TrainingExample(contents, " ".join(parts))


def _faced(person: SeedPerson, question: str, answer: str, rng: Random) -> str:
    """Whom the question comes from: now and then somebody else, most of the time where it is about the one faced."""
    faced = person.faced
    if SPEAKER.search(question):
        return faced  # the answer may rest on what the one faced said, or on the tie to them
    if faced and rng.random() < 0.3 and not content(faced) & content(f"{question} {answer}"):
        return random_name(rng)
    if faced and content(faced) & content(question) and rng.random() < 0.8:
        return rng.choice([*(line.speaker for line in person.heard if line.speaker != faced), random_name(rng)])
    return faced


def _facts(person: SeedPerson, theirs: list[str], bears: Callable[[str], float], rng: Random) -> list[str]:
    known = [*person.profile, *(tie for tie in person.ties if tie not in theirs)]
    facts = sorted((text for text in [*known, *theirs] if bears(text) >= 1), key=bears, reverse=True)[:3]
    facts += _some([text for text in known if text not in facts], rng.choice((0, 1)), rng)
    return facts if rng.random() >= 0.12 else []


def _own(
    person: SeedPerson, question: str, bears: Callable[[str], float], has_facts: bool, rng: Random
) -> list[PastExchange]:
    said = [item for item in person.said if bears(item.said) + bears(item.heard) / 2 >= 1]
    own = sorted(said, key=lambda item: -bears(item.said))[:2]
    own += [PastExchange("", "", line) for line in person.voice if bears(line) >= 2][:1]
    spare = [item for item in person.said if item not in own]
    own += _some(spare, rng.choice((0, 1)) if own else rng.choice((1, 2)), rng)
    own = [item if rng.random() < 0.7 else PastExchange("", "", item.said) for item in own][:3]
    if has_facts and rng.random() < 0.3:
        own = near_misses(question, rng)[:1] + own[:2]
        rng.shuffle(own)
    return own


def _heard(person: SeedPerson, bears: Callable[[str], float], rng: Random) -> list[PastLine]:
    heard = [line for line in person.heard if bears(line.text) >= 1]
    return heard + _some([line for line in person.heard if line not in heard], rng.choice((0, 0, 1)), rng)


def _turns(person: SeedPerson, question: str, rng: Random) -> Iterator[ChatTurn]:
    """One or two other questions that were answered before."""
    for earlier, answers in _some([pair for pair in person.questions if pair[0] != question], rng.choice((1, 2)), rng):
        yield ChatTurn(False, earlier)
        yield ChatTurn(True, rng.choice(answers))


def _some(items: list[Item], count: int, rng: Random) -> list[Item]:
    return rng.sample(items, min(len(items), count))


def _drawn(kinds: Mapping[str, str], rng: Random) -> dict[str, str]:
    """Another word for each that may be exchanged; now and then its own."""
    if rng.random() < 0.15:
        return {word: word for word in kinds}
    drawn: dict[str, str] = {}
    for word, kind in kinds.items():
        if kind == "num2":
            drawn[word] = str(rng.randint(100, 999))
        elif kind == "num":
            drawn[word] = rng.choice(names("num"))
        else:
            drawn[word] = rng.choice([name for name in names(kind) if name not in drawn.values()])
    return drawn


def _exchanged(example: TrainingExample, words: Mapping[str, str]) -> TrainingExample:
    """The example with other names, places and numbers, the same throughout."""
    lower = {word.lower(): exchange for word, exchange in words.items()}
    alternatives = "|".join(sorted(map(re.escape, words), key=len, reverse=True))
    pattern = re.compile(rf"(?<![A-Za-z])({alternatives})(?![A-Za-z])", re.IGNORECASE) if words else None

    def exchange(text: str) -> str:
        if pattern is not None:
            text = pattern.sub(lambda match: _cased(lower[match[1].lower()], match[1]), text)
        return text.replace("_", " ")

    contents = example.contents
    return TrainingExample(
        replace(
            contents,
            name=exchange(contents.name),
            profile=tuple(map(exchange, contents.profile)),
            facing=exchange(contents.facing),
            theirs=tuple(map(exchange, contents.theirs)),
            voice=tuple(map(exchange, contents.voice)),
            turns=tuple(ChatTurn(turn.is_own, exchange(turn.text)) for turn in contents.turns),
            message=exchange(contents.message),
            facts=tuple(map(exchange, contents.facts)),
            own=tuple(
                PastExchange(exchange(item.speaker), exchange(item.heard), exchange(item.said)) for item in contents.own
            ),
            others=tuple(PastLine(exchange(line.speaker), exchange(line.text)) for line in contents.others),
        ),
        exchange(example.reply),
    )


def _cased(new: str, old: str) -> str:
    return new[:1].upper() + new[1:] if old[:1].isupper() else new
