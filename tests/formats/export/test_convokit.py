"""A story as a ConvoKit corpus: the five files, and that they read back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from awkward import AwkwardScene, awkward_scenes, story_of, told
from understudy.errors import InputError
from understudy.formats import read
from understudy.formats.export import export_convokit

SCENES = [
    AwkwardScene("A kitchen.", (("Odile", "You sold it."), ("Bastien", "I did."), (None, "A door."))),
    AwkwardScene("", (("Odile", "Why?"),)),
]


def test_the_files_are_those_of_a_corpus(tmp_path: Path) -> None:
    assert export_convokit(story_of(SCENES), tmp_path / "corpus") == 4
    rows = [json.loads(line) for line in (tmp_path / "corpus" / "utterances.jsonl").read_text().splitlines()]
    assert [(row["id"], row["conversation_id"], row["reply-to"], row["timestamp"]) for row in rows] == [
        ("1.1", "1.1", None, 0),
        ("1.2", "1.1", "1.1", 1),
        ("1.3", "1.1", "1.2", 2),
        ("2.1", "2.1", None, 3),
    ]
    files = {path.name: json.loads(path.read_text()) for path in (tmp_path / "corpus").glob("*.json")}
    assert set(files) == {"speakers.json", "conversations.json", "corpus.json", "index.json"}
    assert set(files["speakers.json"]) == {"Odile", "Bastien", "[description]"}
    assert files["conversations.json"]["1.1"]["meta"] == {"setting": "A kitchen.", "moment": "1"}
    assert {"utterances-index", "speakers-index", "conversations-index", "overall-index", "version"} <= set(
        files["index.json"]
    )


def test_nothing_is_overwritten_and_nothing_is_no_corpus(tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("mine")
    with pytest.raises(InputError, match="not an empty folder"):
        export_convokit(story_of(SCENES), tmp_path)
    with pytest.raises(InputError, match="no lines"):
        export_convokit(story_of([AwkwardScene("A kitchen.", ())]), tmp_path / "corpus")


@settings(suppress_health_check=list(HealthCheck))
@given(scenes=awkward_scenes())
def test_any_story_with_lines_reads_back(tmp_path_factory: pytest.TempPathFactory, scenes: list[AwkwardScene]) -> None:
    story = story_of(scenes)
    folder = tmp_path_factory.mktemp("corpus") / "out"
    export_convokit(story, folder)
    assert told(read(folder)) == [scene for scene in told(story) if scene.lines]
    assert read(folder).title == story.title
