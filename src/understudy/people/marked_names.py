"""Names in a text, put aside so that patterns can be written over what stands between them.

    'This is my wife, Emily.'   ->   'this is my wife, @0.'   people = ('Emily Waltham',)

A capital inside a sentence that is no name of the cast becomes '#': somebody or something that is not in the cast.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from understudy.story import Character
from understudy.text import stop_words

__all__ = ["UNSPACED", "MarkedText", "NameIndex", "is_generic"]

TOKEN = re.compile(r"(?<![\w'])[A-Z][\w-]*\.?(?:'(?!(?:s|m|ll|re|d|ve)\b)[A-Za-z]+)?")
STARTS_SENTENCE = re.compile(r"(?:^|[.!?:;\"(\[\-…]|\.\.)\s*\"?$")
TITLES = frozenset("mr mrs ms miss dr doctor professor sir lady lord uncle aunt captain master".split())
PARTS_THAT_NAME_NOBODY = TITLES | frozenset("the a an and of old young little big fake past fat first second".split())
GENERIC = frozenset(
    """man men woman women boy girl guy lady gentleman kid child baby person people nurse doctor dr teacher waiter
    waitress director interviewer policeman cop officer guard clerk manager receptionist assistant announcer driver
    salesman bartender customer student principal headmaster professor judge lawyer maid reverend rabbi priest minister
    voice all both everyone crowd mother father mom dad grandma grandpa grandmother grandfather son daughter brother
    sister wife husband santa stripper agent host operator caller server attendant messenger servant lord soldier
    captain king queen prince duke first second third hdm mayor proprietor owner contractor""".split()
)
ALSO_WORDS = frozenset("will may can mark grant hope page tag chase rich art bill sue rob".split())
"""Names that begin sentences as other words do."""
KIN_CAPITALS = frozenset("mom mommy mother mum ma mama dad daddy father papa pop grandma grandpa god i".split())
UNSPACED = ("ja", "zh")
LONGEST = 3  # words of a name


@dataclass(frozen=True, slots=True)
class MarkedText:
    """A text in small letters with '@n' in the place of the n-th of `people`."""

    text: str
    people: tuple[str, ...]


def is_generic(name: str) -> bool:
    """Does a cast name say what somebody is, not who: 'Waiter', 'Girl 2', 'The Doctor'?"""
    words = re.findall(r"[^\W\d_]+", name.lower())
    return all(word in GENERIC or word in PARTS_THAT_NAME_NOBODY or len(word) < 2 for word in words)


class NameIndex:
    """Whose a name is: names and aliases, then words of them that only one person has."""

    def __init__(self, cast: Iterable[Character], language: str = "en") -> None:
        whole: dict[str, set[str]] = {}
        parts: dict[str, set[str]] = {}
        for character in cast:
            for name in (character.name, *character.aliases):
                if is_generic(name) or "'s " in name.replace("’", "'"):
                    continue
                words = _key(name).split()
                whole.setdefault(" ".join(words), set()).add(character.name)
                for word in words if len(words) > 1 and words[0] not in TITLES else ():
                    if word not in PARTS_THAT_NAME_NOBODY | GENERIC | stop_words("en"):
                        parts.setdefault(word, set()).add(character.name)
        owners = parts | whole  # a name that stands on its own wins over a part of one
        self._owner = {name: next(iter(who)) for name, who in owners.items() if len(who) == 1 and len(name) > 1}
        longest_first = sorted(map(re.escape, self._owner), key=len, reverse=True)
        is_unspaced = language in UNSPACED and longest_first
        self._unspaced = re.compile("|".join(longest_first)) if is_unspaced else None

    def owner(self, name: str) -> str | None:
        return self._owner.get(_key(name))

    def mark(self, text: str) -> MarkedText:
        """The text with names put aside. The longest name at a place wins."""
        if self._unspaced is not None:
            return self._mark_unspaced(self._unspaced, text)
        text = text.replace("’", "'").replace("“", '"').replace("”", '"')
        people: list[str] = []
        pieces: list[str] = []
        done = 0
        tokens = list(TOKEN.finditer(text))
        index = 0
        while index < len(tokens):
            token = tokens[index]
            used, who = self._longest(text, tokens, index)
            starts = STARTS_SENTENCE.search(text, 0, token.start()) is not None
            if who is not None and starts and used == 1 and token[0].lower() in ALSO_WORDS:
                who = None
            if who is not None:
                last = tokens[index + used - 1]
                end = last.end() - (last[0].endswith(".") and text[last.end() - 1] == ".")
                pieces += (text[done : token.start()], f"@{len(people)}")
                people.append(who)
                done = end
            elif not starts and token[0].lower().rstrip(".") not in KIN_CAPITALS and not token[0].isupper():
                pieces += (text[done : token.start()], "#")
                done = token.end() - token[0].endswith(".")
            index += used
        pieces.append(text[done:])
        return MarkedText("".join(pieces).lower(), tuple(people))

    def _mark_unspaced(self, names: re.Pattern[str], text: str) -> MarkedText:
        """Nothing tells where a word ends: the name itself has to."""
        people: list[str] = []

        def put_aside(match: re.Match[str]) -> str:
            people.append(self._owner[match[0]])
            return f"@{len(people) - 1}"

        return MarkedText(names.sub(put_aside, text), tuple(people))

    def _longest(self, text: str, tokens: list[re.Match[str]], index: int) -> tuple[int, str | None]:
        for count in range(min(LONGEST, len(tokens) - index), 0, -1):
            run = tokens[index : index + count]
            if any(text[a.end() : b.start()] != " " for a, b in pairwise(run)):
                continue
            if (who := self._owner.get(_key(" ".join(token[0] for token in run)))) is not None:
                return count, who
        return 1, None


def _key(name: str) -> str:
    return re.sub(r"[^\w\s'-]", "", name.replace("’", "'")).lower()
