"""A story as a chat: sessions a day apart, who is the user, and that it reads back."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings

from awkward import AwkwardScene, awkward_scenes, story_of, told
from understudy.formats import read, reader_of
from understudy.formats.export import export_sillytavern
from understudy.sources.source import SourceFile

TWO = [
    AwkwardScene("A kitchen.", ((None, "Night."), ("Odile", "You sold it."), ("Bastien", "I did."), ("Odile", "Why?"))),
    AwkwardScene("", (("Bastien", "{{user}} is a macro."),)),
]


def rows(scenes: list[AwkwardScene], character: str | None = None) -> list[dict[str, Any]]:
    stream = io.StringIO()
    export_sillytavern(story_of(scenes), stream, character)
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_of_two_the_one_who_says_less_is_the_user() -> None:
    header, setting, *messages = rows(TWO)
    assert (header["character_name"], header["user_name"]) == ("Odile", "Bastien")
    assert setting["extra"] == {"type": "narrator", "understudy": "setting"}
    assert [(row["name"], row["is_user"]) for row in messages] == [
        ("System", False),
        ("Odile", False),
        ("Bastien", True),
        ("Odile", False),
        ("Bastien", True),
    ]
    assert messages[3]["send_date"] == "2000-01-01T00:03:00.000Z"
    assert messages[4]["send_date"] == "2000-01-02T00:04:00.000Z"
    assert messages[4]["extra"] == {"understudy": "verbatim"}


def test_from_a_chair_the_others_are_the_user_and_a_group_has_none() -> None:
    three = [AwkwardScene("", (("Odile", "One."), ("Bastien", "Two."), ("Marguerite", "Three.")))]
    header, *messages = rows(three)
    assert (header["character_name"], header["user_name"]) == ("unused", "unused")
    assert not any(row["is_user"] for row in messages)
    header, *messages = rows(three, "Bastien")
    assert header["character_name"] == "Bastien"
    assert [row["is_user"] for row in messages] == [True, False, True]


@settings(suppress_health_check=list(HealthCheck))
@given(scenes=awkward_scenes())
def test_any_story_reads_back(tmp_path: Path, scenes: list[AwkwardScene]) -> None:
    story = story_of(scenes)
    people = [member.character.name for member in story.cast()]
    for chair in (None, *people[:1]):
        path = tmp_path / "out.jsonl"
        with path.open("w", encoding="utf-8") as stream:
            assert export_sillytavern(story, stream, chair) == story.count()[1]
        assert reader_of(SourceFile(path)).name == "sillytavern"
        assert told(read(path)) == told(story)
