"""What a line of Japanese or Chinese claims of ties: the plainest patterns, over marked text.

possessor + term + name     '私の妹の千夏', '我女儿小满'
name + is + possessor + term   '千夏は私の妹', '小满是我女儿'
vocative                    'お母さん、', '爷爷！'
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache

from understudy.people.marked_names import MarkedText
from understudy.people.tie_grammar import tables
from understudy.people.tie_patterns import ADDRESSEE, SPEAKER, TieClaim

__all__ = ["unspaced_claims"]

MARKS = "、。！？…，,.!?「」『』“”（）()\\s—"
OF = {"ja": "の", "zh": "的?"}
BEFORE_NAME = {"ja": "(?:の|、|である)?", "zh": "(?:，|、|叫)?"}
IS = {"ja": "(?:は|が|って)", "zh": "(?:就?是|也是)"}


@cache
def unspaced_claims(language: str) -> Callable[[MarkedText], Iterator[TieClaim]]:
    """The reader of claims of a language."""
    table = tables()[language]
    kinds = {word: kind for kind, words in table["terms"].items() for word in words}
    called = {word: kind for kind, words in table["vocative"].items() for word in words}
    owners = dict.fromkeys(table["speaker"], SPEAKER) | dict.fromkeys(table["addressee"], ADDRESSEE)
    phrase = rf"(?P<owner>@\d+|{_either(owners)}){OF[language]}(?P<term>{_either(kinds)})"
    named_after = re.compile(rf"{phrase}{BEFORE_NAME[language]}(?P<to>@\d+)")
    named_before = re.compile(rf"(?P<to>@\d+){IS[language]}{phrase}")
    vocative = re.compile(rf"(?:^|[{MARKS}])(?P<term>{_either(called)})(?=[{MARKS}]|$)")

    def person(word: str, marked: MarkedText) -> str:
        return marked.people[int(word[1:])] if word.startswith("@") else owners[word]

    def read(marked: MarkedText) -> Iterator[TieClaim]:
        for pattern, name in ((named_after, "name"), (named_before, "is")):
            for match in pattern.finditer(marked.text):
                of, to = person(match["owner"], marked), person(match["to"], marked)
                if of != to:
                    yield TieClaim(kinds[match["term"]], of, to, match["term"], name)
        for match in vocative.finditer(marked.text):
            yield TieClaim(called[match["term"]], SPEAKER, ADDRESSEE, match["term"], "vocative")

    return read


def _either(words: dict[str, str]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
