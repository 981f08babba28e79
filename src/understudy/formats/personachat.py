"""PersonaChat in ParlAI's dialogue form: all seven variants, with or without candidates.

    1 your persona: i only eat kosher.
    2 partner's persona: i'm a stay at home dad.
    3 what they say<TAB>the reply<TAB><TAB>candidate|candidate|...|the reply

The number at the start goes back to 1 where a new dialogue begins. As a story each dialogue is a scene between two
people named for it: 'Person 12A' speaks first in each pair and is the partner, 'Person 12B' is the one with 'your
persona'. As a benchmark each reply is a question put to B.

A unit is a line that is not blank. Candidates are questions, not story: they belong to their line and are read by
`examples` only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from understudy.sources import CastEntry, Event, Opening, Reader, SceneStart, Speech, Unread
from understudy.sources.source import SourceFile
from understudy.story.dialogue import Example, Situation, Turn
from understudy.story.persona import Other, Persona
from understudy.story.types import Character

LINE = re.compile(r"\s*(\d{1,9}) (.*)", re.DOTALL)
PERSONA = re.compile(r"(your|partner's) persona:\s*(.*)")
SILENCE = "__SILENCE__"
"""What ParlAI writes where the partner has said nothing yet."""


@dataclass(slots=True)
class _MessagePair:
    """One line of a dialogue: what the partner says, and the reply to it."""

    line: int
    said: str
    reply: str
    candidates: tuple[str, ...]


@dataclass(slots=True)
class _PersonaChatDialogue:
    """One dialogue, whole: a few lines. Profiles keep the lines they stand on."""

    number: int
    line: int
    own: list[tuple[int, str]] = field(default_factory=list)
    partner: list[tuple[int, str]] = field(default_factory=list)
    pairs: list[_MessagePair] = field(default_factory=list)
    blank: list[tuple[int, str]] = field(default_factory=list)

    @property
    def first(self) -> str:
        return f"Person {self.number}A"

    @property
    def second(self) -> str:
        return f"Person {self.number}B"


LONGEST_DIALOGUE = 100_000


def events(source: SourceFile) -> Iterator[Event]:
    yield Opening(("scene", "line"))
    for dialogue in _dialogues(source):
        yield SceneStart(source.at(dialogue.line), "", (dialogue.first, dialogue.second), dialogue.number, units=0)
        for name, profile in ((dialogue.first, dialogue.partner), (dialogue.second, dialogue.own)):
            at = source.at(profile[0][0] if profile else dialogue.line)
            yield CastEntry(at, Character(name, (), tuple(text for _, text in profile)), units=len(profile))
        for line, text in dialogue.blank:
            yield Unread(source.at(line), text, "a persona or a dialogue line with no words")
        for pair in dialogue.pairs:
            units = 1
            for speaker, text in ((dialogue.first, pair.said), (dialogue.second, pair.reply)):
                if text:
                    yield Speech(source.at(pair.line), (speaker,), text, units)
                    units = 0


def examples(source: SourceFile) -> Iterator[Example]:
    """A question for every reply; without candidates in the file, the reply is the only one."""
    for dialogue in _dialogues(source):
        persona = Persona(dialogue.second, profile=tuple(text for _, text in dialogue.own))
        faced = Other(dialogue.first, tuple(text for _, text in dialogue.partner))
        situation = Situation(persona, faced=faced, present=(faced,))
        history: list[Turn] = []
        for number, pair in enumerate(dialogue.pairs, 1):
            if pair.said:
                history.append(Turn(dialogue.first, pair.said))
            if not pair.reply:
                continue
            candidates = pair.candidates or (pair.reply,)
            gold = frozenset(index for index, text in enumerate(candidates) if text == pair.reply)
            if not gold:
                raise source.error("the reply is not among its candidates: the line is damaged", pair.line)
            yield Example(situation, tuple(history), candidates, gold, f"{dialogue.number}.{number}")
            history.append(Turn(dialogue.second, pair.reply))


def _dialogues(source: SourceFile) -> Iterator[_PersonaChatDialogue]:
    dialogue: _PersonaChatDialogue | None = None
    last = 0
    for line, text in source.lines():
        if not text.strip():
            continue
        match = LINE.fullmatch(text)
        if match is None:
            raise source.error("a line of a PersonaChat dialogue begins with its number and a space", line)
        number = int(match[1])
        if number == 1:
            if dialogue is not None:
                yield dialogue
            dialogue = _PersonaChatDialogue(1 if dialogue is None else dialogue.number + 1, line)
        elif dialogue is None or number <= last:
            raise source.error(f"line {number} comes after {last}: a dialogue's numbers begin at 1 and rise", line)
        elif number > LONGEST_DIALOGUE:
            raise source.error(f"a dialogue of more than {LONGEST_DIALOGUE:,} lines", line)
        last = number
        _add(dialogue, line, match[2])
    if dialogue is not None:
        yield dialogue


def _add(dialogue: _PersonaChatDialogue, line: int, text: str) -> None:
    persona = PERSONA.fullmatch(text.strip())
    said, reply, _, candidates = (*(part.strip() for part in text.split("\t", 3)), "", "", "")[:4]
    said = "" if said == SILENCE else said
    if persona and persona[2]:
        (dialogue.own if persona[1] == "your" else dialogue.partner).append((line, persona[2]))
    elif persona or not (said or reply):
        dialogue.blank.append((line, text.strip()))
    else:
        offered = tuple(part.strip() for part in candidates.split("|")) if candidates else ()
        dialogue.pairs.append(_MessagePair(line, said, reply, offered))


READER = Reader("PersonaChat dialogues", events, examples)
