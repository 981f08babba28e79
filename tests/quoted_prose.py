"""Prose for tests: a text whose quotations are what stands between double marks."""

from __future__ import annotations

import re

from understudy.novels.prose import NovelCharacter, Prose, Quotation, Span

MARKED = re.compile(r'"([^"]*)"|「([^」]*)」')


def quoted_prose(text: str, language: str = "en") -> Prose:
    parts = (Span(*match.span(match.lastindex or 0)) for match in MARKED.finditer(text))
    return Prose(text, language, (), (), (), tuple(Quotation((part,), 0) for part in parts))


def names_of(character: NovelCharacter) -> set[str]:
    return {character.name, *character.aliases}


def called(cast: tuple[NovelCharacter, ...], name: str) -> NovelCharacter:
    (character,) = (each for each in cast if name in names_of(each))
    return character
