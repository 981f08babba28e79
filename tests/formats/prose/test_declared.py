"""Declared people and found ones."""

from __future__ import annotations

from understudy.formats.prose.novel import with_declared
from understudy.novels.prose import NovelCharacter
from understudy.story.types import Character


def test_who_is_found_under_a_declared_name_is_the_declared_person() -> None:
    found = (
        NovelCharacter("Emma", ("Emma Woodhouse", "Miss Woodhouse"), "f"),
        NovelCharacter("Miss Emma", (), "f", is_narrator=True),
        NovelCharacter("Mr. Knightley", (), "m"),
    )
    cast = with_declared(
        found, [Character("Emma Woodhouse", ("Miss Emma",)), Character("Isabella", ("Miss Woodhouse",))]
    )
    assert cast == (
        NovelCharacter("Emma Woodhouse", ("Miss Emma", "Emma"), "f", is_narrator=True),
        NovelCharacter("Isabella", ("Miss Woodhouse",)),
        NovelCharacter("Mr. Knightley", (), "m"),
    )


def test_without_declarations_the_cast_is_as_found() -> None:
    found = (NovelCharacter("Emma"), NovelCharacter("Mr. Knightley"))
    assert with_declared(found, []) == found
