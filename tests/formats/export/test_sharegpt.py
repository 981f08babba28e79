"""Conversations for training: from whose chair, and that they read back."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from awkward import AwkwardScene, awkward_scenes, story_of, told
from understudy.formats import read, reader_of
from understudy.formats.export import export_messages, export_sharegpt
from understudy.sources.source import SourceFile

WRITERS = {"sharegpt": export_sharegpt, "messages": export_messages}
SCENES = [AwkwardScene("A kitchen.", ((None, "Night."), ("Odile", "You sold it."), ("Bastien", "I did.")))]


def records(form: str, character: str | None = None) -> list[dict[str, object]]:
    stream = io.StringIO()
    assert WRITERS[form](story_of(SCENES), stream, character) == 3
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_without_a_chair_names_say_who_speaks() -> None:
    (record,) = records("sharegpt")
    assert record == {
        "id": "1",
        "setting": "A kitchen.",
        "conversations": [
            {"from": "system", "value": "Night."},
            {"from": "Odile", "value": "You sold it."},
            {"from": "Bastien", "value": "I did."},
        ],
    }
    (record,) = records("messages")
    assert [message["role"] for message in record["messages"]] == ["system", "user", "user"]  # type: ignore[attr-defined]


def test_from_a_chair_its_own_turns_are_the_model_s() -> None:
    (record,) = records("sharegpt", "Odile")
    turns = record["conversations"]
    assert [(turn["from"], turn.get("name")) for turn in turns] == [  # type: ignore[attr-defined]
        ("system", None),
        ("gpt", "Odile"),
        ("human", "Bastien"),
    ]
    (record,) = records("messages", "Bastien")
    assert [message["role"] for message in record["messages"]] == ["system", "user", "assistant"]  # type: ignore[attr-defined]


@pytest.mark.parametrize("form", WRITERS)
@settings(suppress_health_check=list(HealthCheck))
@given(scenes=awkward_scenes())
def test_any_story_reads_back(tmp_path: Path, form: str, scenes: list[AwkwardScene]) -> None:
    story = story_of(scenes)
    people = [member.character.name for member in story.cast()]
    for chair in (None, *people[:1]):
        path = tmp_path / "out.jsonl"
        with path.open("w", encoding="utf-8") as stream:
            assert WRITERS[form](story, stream, chair) == story.count()[1]
        assert reader_of(SourceFile(path)).name == form
        assert told(read(path)) == told(story)
