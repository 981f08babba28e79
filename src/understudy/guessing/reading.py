"""A scene read for clues: what is said, what is done meanwhile, which words, and who is named how.

Directions inside a line stand in brackets: '(to Ross) Hey.' A name is `called` when marks or greetings stand on both
sides of it ('Hey Ross, look!'), `introduced` after 'I'm' and the like, else it is `talked` about.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from understudy.guessing.names import UNSPACED, Names
from understudy.story import Scene
from understudy.text import words

__all__ = ["Mention", "ReadLine", "ReadScene", "named_in", "read_scene", "words_of"]

ASIDE = re.compile(r"\(([^()]*)\)|\[([^\[\]]*)\]|（([^（）]*)）")
TOKEN = re.compile(r"[^\W_]+(?:['’][^\W_]+)*|\.\.\.|…|[?!？！]|--|—")
WORD = re.compile(r"[^\W\d_]+")
UNSPACED_LETTERS = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")
MARKS = frozenset(',.!?;:-–—…"“”、。！？，「」')
GREETINGS = frozenset(
    "hey hi hello oh so okay ok well yes yeah no thanks listen look please sorry and uh um but now god bye goodbye "
    "night morning dear dr mr mrs miss".split()
)
INTRODUCING = frozenset(("i'm", "it's", "am", "is", "me"))
NEAR = 16  # characters before a name in which a greeting is looked for


class Mention(NamedTuple):
    """A word by which somebody may be meant, as it stands in what is said."""

    word: str
    kind: str
    owned: bool
    """Ross's: something of theirs is spoken of."""


@dataclass(frozen=True, slots=True)
class ReadLine:
    speaker: str | None
    words: tuple[str, ...]
    mentions: tuple[Mention, ...]
    asides: tuple[str, ...]
    """Directions inside the line; for a description, the whole of it."""


@dataclass(frozen=True, slots=True)
class ReadScene:
    setting: str
    lines: tuple[ReadLine, ...]

    def spoken(self) -> list[ReadLine]:
        return [line for line in self.lines if line.speaker is not None]


def read_scene(scene: Scene, names: Names, language: str) -> ReadScene:
    lines = tuple(_read(line.speaker, line.text, names, language) for line in scene.lines)
    return ReadScene(scene.setting, lines)


def _read(speaker: str | None, text: str, names: Names, language: str) -> ReadLine:
    if speaker is None:
        return ReadLine(None, (), (), (text,))
    asides = tuple("".join(found) for found in ASIDE.findall(text))
    said = ASIDE.sub(" ", text) if asides else text
    return ReadLine(speaker, words_of(said, language), tuple(_mentions(said, names, language)), asides)


def words_of(text: str, language: str) -> tuple[str, ...]:
    """Words and telling marks, in small letters."""
    if language in UNSPACED:
        return tuple(words(text, language))
    return tuple(TOKEN.findall(text.lower().replace("’", "'")))


def _mentions(said: str, names: Names, language: str) -> Iterator[Mention]:
    """Names; in English every word with a capital, because a nickname is learned by who answers to it."""
    if language in UNSPACED:
        for call in names.calls(said):
            yield _mention(said, call.start, call.end)
        return
    for found in WORD.finditer(said):
        if found[0][0].isupper() and len(found[0]) > 1:
            yield _mention(said, found.start(), found.end())


def _mention(said: str, start: int, end: int) -> Mention:
    before, after = said[:start].rstrip(), said[end:].lstrip()
    near = before[-NEAR:].lower().replace("’", "'").split()
    last = near[-1] if near else ""
    left = not before or before[-1] in MARKS or last in GREETINGS
    right = not after or after[0] in MARKS
    kind = "introduced" if last in INTRODUCING else "called" if left and right else "talked"
    return Mention(said[start:end].lower(), kind, said[end : end + 2] in ("'s", "’s"))


def named_in(text: str, meant: Mapping[str, str]) -> Sequence[tuple[str, str, str]]:
    """Who is named in a direction, in order: (who, the word before, the word after)."""
    if UNSPACED_LETTERS.search(text):  # nothing tells where a word ends: the name itself has to
        longest_first = "|".join(sorted(map(re.escape, meant), key=len, reverse=True))
        return [(meant[found[0]], "", "") for found in re.finditer(longest_first, text)] if meant else []
    told = [found[0] for found in WORD.finditer(text)]
    small = [word.lower() for word in told]
    return [
        (meant[word], small[place - 1] if place else "", small[place + 1] if place + 1 < len(told) else "")
        for place, word in enumerate(small)
        if word in meant and told[place][0].isupper()  # 'they will wait' does not name Will
    ]
