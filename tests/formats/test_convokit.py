from __future__ import annotations

import json
import tracemalloc
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reading import AwkwardScene, awkward_scenes, events_of, stands, story_of, told
from understudy.errors import InputError
from understudy.formats import read, sources_of
from understudy.formats.convokit import READER, export_convokit
from understudy.sources import Description, SceneStart, Speech, Unread
from understudy.sources.source import SourceFile


def utterance(
    number: object, conversation: object = "c", reply: object = None, time: object = None, **fields: Any
) -> Any:
    return {"id": f"u{number}", "conversation_id": conversation, "speaker": "Odile", "text": f"text {number}",
            "reply-to": reply, "timestamp": time, "meta": {}, "vectors": [], **fields}  # fmt: skip


def corpus(folder: Path, rows: Sequence[Any], **files: Any) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "utterances.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for name, content in {"index": {}, **files}.items():
        (folder / f"{name}.json").write_text(json.dumps(content))
    return folder


def texts(folder: Path) -> list[list[str]]:
    return [[line.text for line in scene.lines] for scene in read(folder).scenes()]


def test_a_folder_and_its_utterances_are_read_alike(tmp_path: Path) -> None:
    rows = [utterance(1, "u1"), utterance(2, "u1", "u1", speaker="Bastien"), utterance(3, "u3")]
    folder = corpus(tmp_path / "quarrels", rows, conversations={"u1": {"meta": {"title": "The piano"}}})
    assert sources_of(folder)[0] == [folder / "utterances.jsonl"]
    for path in (folder, folder / "utterances.jsonl"):
        story = read(path)
        assert story.title == "quarrels"
        assert [(scene.setting, len(scene.lines)) for scene in story.scenes()] == [("The piano", 2), ("", 1)]
        assert story.files()[0].format == "convokit"


def test_a_folder_of_scripts_stays_a_story_folder(tmp_path: Path) -> None:
    (tmp_path / "utterances.jsonl").write_text(json.dumps(utterance(1)) + "\n")
    (tmp_path / "part-1.txt").write_text("Odile: Well?\nBastien: Well.\n")
    assert [path.name for path in sources_of(tmp_path)[0]] == ["part-1.txt", "utterances.jsonl"]


def test_replies_come_after_what_they_reply_to(tmp_path: Path) -> None:
    rows = [
        utterance(3, "c", "u2"),
        utterance(2, "c", "u1"),
        utterance(5, "c", "u1"),
        utterance(1),
        utterance(4, "c", "u3"),
    ]
    assert texts(corpus(tmp_path, rows)) == [["text 1", "text 2", "text 3", "text 4", "text 5"]]


def test_timestamps_order_utterances_and_conversations(tmp_path: Path) -> None:
    rows = [
        utterance(4, "late", None, 40),
        utterance(3, "early", "u1", "30"),
        utterance(1, "early", None, 10.5),
        utterance(2, "early", "u1", 20),
        utterance(5, "late", "u4", 35),  # a clock that was slow: a reply is never before what it replies to
        utterance(6, "late", None, 37),
    ]
    assert texts(corpus(tmp_path, rows)) == [["text 1", "text 2", "text 3"], ["text 6", "text 4", "text 5"]]
    rows[2]["timestamp"] = None
    assert texts(corpus(tmp_path, rows))[0][0] == "text 6"


def test_replies_to_nothing_or_in_a_circle_lose_nobody(tmp_path: Path) -> None:
    rows = [utterance(1, "c", "u2"), utterance(2, "c", "u1"), utterance(3, "c", "gone"), utterance(4, "c", "u4")]
    assert sorted(texts(corpus(tmp_path, rows))[0]) == ["text 1", "text 2", "text 3", "text 4"]


def test_speakers_are_called_what_their_meta_says_and_told_apart(tmp_path: Path) -> None:
    rows = [utterance(n, "c", speaker=f"s{n}") for n in range(1, 5)]
    speakers = {
        "s1": {"meta": {"character_name": "BIANCA"}, "vectors": []},
        "s2": {"meta": {"name": "Bianca"}},
        "s3": {"username": "cameron"},
        "s9": {"meta": {"name": "Nobody here"}},
    }
    story = read(corpus(tmp_path, rows, speakers=speakers))
    assert [line.speaker for scene in story.scenes() for line in scene.lines] == [
        "Bianca s1",
        "Bianca s2",
        "Cameron",
        "s4",
    ]


def test_older_corpora_and_blank_speakers(tmp_path: Path) -> None:
    rows = [
        {"id": "1", "root": "1", "user": "u", "text": "One.", "reply_to": None, "timestamp": None},
        {"id": "2", "root": "1", "user": "", "text": "A door.", "reply_to": "1", "timestamp": None},
        {"id": "3", "root": "1", "user": {"id": "v"}, "text": " ", "reply_to": "2", "timestamp": None},
    ]
    (tmp_path / "utterances.json").write_text(json.dumps(rows, indent=1))
    (tmp_path / "users.json").write_text(json.dumps({"u": {"meta": {"name": "Odile"}}}))
    (path,) = sources_of(tmp_path)[0]
    found = events_of(READER, path)
    assert [type(event) for event in found[1:] if not hasattr(event, "character")] == [
        SceneStart,
        Speech,
        Description,
        Unread,
    ]
    assert [event.speakers for event in found if isinstance(event, Speech)] == [("Odile",)]


def test_a_damaged_file_beside_the_utterances_is_named(tmp_path: Path) -> None:
    folder = corpus(tmp_path, [utterance(1)])
    (folder / "speakers.json").write_text("{")
    with pytest.raises(InputError, match=r"speakers\.json"):
        read(folder)


def test_an_utterance_of_no_conversation_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"utterances\.jsonl:2: is no utterance"):
        read(corpus(tmp_path, [utterance(1), {"id": "u2"}]))


def test_memory_is_that_of_an_index_not_of_the_file(tmp_path: Path) -> None:
    rows = [utterance(n, f"c{n % 500}", None, n, text="word " * 500) for n in range(5_000)]
    path = corpus(tmp_path, rows) / "utterances.jsonl"
    del rows
    tracemalloc.start()
    count = sum(isinstance(event, Speech) for event in READER.events(SourceFile(path)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 5_000
    assert peak < path.stat().st_size / 4


ids = st.sampled_from(["1", "2", "3", 4, None])


@given(
    rows=st.lists(
        st.fixed_dictionaries(
            {"id": ids, "conversation_id": ids, "speaker": ids | st.text(), "text": st.text() | ids, "reply-to": ids},
            optional={"timestamp": st.none() | st.integers() | st.text(), "meta": st.none() | st.just({})},
        ),
        min_size=1,
        max_size=6,
    )
)
def test_any_utterances_are_read_or_refused(rows: list[Any]) -> None:
    stands(READER, "\n".join(map(json.dumps, rows)).encode())


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
