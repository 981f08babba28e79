"""Finding the names of a cast in running text, without a regular expression per name; and replacing names in it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import NamedTuple

from understudy.text import TITLES, WORD, either, is_unspaced

__all__ = ["NOT_NAMES", "HeardName", "NameFinder", "NameReplacer"]

BEGINNING = re.compile(r"(?<![^\W_])[^\W_a-z][^\W_]*(?:[’'][^\W_]+)*")  # a token that may begin a name
RUN_ON = "\u3005\u3041-\u309f\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"  # hiragana, Han, Hangul: words are not set apart
KATAKANA = "\u30a1-\u30fa\u30fc-\u30ff\uff66-\uff9f"
SPACED = f"[^\\W_{RUN_ON}{KATAKANA}]"  # letters and digits of scripts that set words apart
POSSESSIVE = ("'s", "’s")
NOT_NAMES = TITLES | frozenset("doctor the old young little uncle aunt".split())
"""What can be part of a name, and means nobody by itself."""


class HeardName(NamedTuple):
    """Who was named, and how."""

    character: int
    name: str


class NameFinder:
    """Says whose names a text contains.

    Names match as they are written or in capitals, never in lower case ('will' is not Will). A word of a longer
    name counts when only one person has it (`Ines` for Ines Vale; `Geller` is nobody in particular). A name two
    people share points to neither.
    """

    def __init__(self, names: Iterable[tuple[int, str]]) -> None:
        owners: dict[str, set[int]] = {}
        parts: dict[str, set[int]] = {}
        for character, name in names:
            owners.setdefault(name, set()).add(character)
            tokens = WORD.findall(name)
            for token in tokens if len(tokens) > 1 else ():
                if token.lower() not in NOT_NAMES and len(token) > 1 and not token[0].islower():
                    parts.setdefault(token, set()).add(character)
        for part, who in parts.items():
            owners.setdefault(part, who)  # a name that stands on its own, shared or not, wins over a part of one
        owners = {name: who for name, who in owners.items() if len(who) == 1}
        self._by_token: dict[str, list[tuple[tuple[str, ...], HeardName]]] = {}
        self._unspaced: dict[str, HeardName] = {}
        for name, who in owners.items():
            heard = HeardName(next(iter(who)), name)
            if is_unspaced(name):
                self._unspaced[name] = heard
                continue
            for form in {name, name.upper()}:
                tokens = WORD.findall(form)
                if tokens and not tokens[0].islower():
                    self._by_token.setdefault(tokens[0], []).append((tuple(tokens), heard))
        self._beginnings = {token + ending for token in self._by_token for ending in ("", *POSSESSIVE)}
        for entries in self._by_token.values():
            entries.sort(key=lambda entry: -len(entry[0]))
        self._unspaced_pattern = re.compile(either(self._unspaced))

    def find(self, text: str) -> Iterator[int]:
        """The characters named in a text, each as often as named. The longest name at a place wins."""
        return (heard.character for heard in self.find_names(text))

    def find_names(self, text: str) -> Iterator[HeardName]:
        """The same with the name of the cast, or the part of it, that stands in the text."""
        if self._unspaced:
            for match in self._unspaced_pattern.finditer(text):
                yield self._unspaced[match[0]]
        if self._beginnings.isdisjoint(BEGINNING.findall(text)):
            return  # most lines name nobody, and two C calls are enough to know
        end = 0
        for match in BEGINNING.finditer(text):
            if match.start() < end:
                continue
            for name, heard in self._by_token.get(_bare(match[0]), ()):
                if len(name) == 1:
                    yield heard
                    end = match.end()
                    break
                tokens = list(islice(WORD.finditer(text, match.start()), len(name)))
                if tuple(_bare(token[0]) for token in tokens) == name:
                    yield heard
                    end = tokens[-1].end()
                    break


class NameReplacer:
    """Puts other names in the place of names, where they stand whole.

    A name ends where its script does or a word would: Casimir is not in 'Casimirways', but in "Casimir's" and in
    'Casimirは'; カシム is not in カシムール. Han and hiragana are written without a mark between words, so there a name
    is found wherever its letters stand, unless they belong to a longer one of `others`, which stays as it is.
    """

    def __init__(self, names: Mapping[str, str], others: Iterable[str] = ()) -> None:
        self._new = {form(old): form(new) for old, new in names.items() for form in (str.upper, str)}
        self._new |= {form(name): form(name) for name in others for form in (str.upper, str)}
        longest_first = sorted(filter(None, self._new), key=len, reverse=True)
        self._pattern = re.compile("|".join(map(_whole, longest_first))) if longest_first else None

    def __call__(self, text: str) -> str:
        return text if self._pattern is None else self._pattern.sub(lambda match: self._new[match[0]], text)

    def undecided(self, text: str) -> int:
        """How many characters at the end of a text may belong to a name, depending on what follows them."""
        longest = max(map(len, self._new), default=0)
        for size in range(min(longest, len(text)), 0, -1):
            if any(name.startswith(text[-size:]) for name in self._new):
                return size
        return 0


def _whole(name: str) -> str:
    """A pattern for a name that is not part of a longer word of its own script."""
    before, after = _script(name[0]), _script(name[-1])
    return (f"(?<!{before})" if before else "") + re.escape(name) + (f"(?!{after})" if after else "")


def _script(letter: str) -> str | None:
    """The letters that would go on with a word; None where words are not set apart, or it is no letter."""
    return next((script for script in (f"[{KATAKANA}]", SPACED) if re.match(script, letter)), None)


def _bare(token: str) -> str:
    return token[:-2] if token.endswith(POSSESSIVE) else token
