"""Annotations by position: not a word of the text in them, and the same story from them and the text."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reading import damage
from samples import SAMPLES
from understudy.errors import InputError
from understudy.formats import read
from understudy.formats.positions import digest_of, export_positions, is_positions
from understudy.sources.source import SourceFile
from understudy.story.storyfile import Story

SPOKEN = [form for form in SAMPLES if form != "HPD relations (XLSX)"]


def exported(story: Story, *texts: Path) -> str:
    stream = StringIO()
    forms = {file.name: file.format for file in story.files()}
    digests = {text.name: digest_of(SourceFile(text), forms[text.name]) for text in texts}
    export_positions(story, stream, digests)
    return stream.getvalue()


def whole(story: Story) -> dict[str, Any]:
    """All of a story that positions carry, with the text they do not."""
    return {
        "about": (story.title, story.language, story.levels),
        "headings": [(moment.dotted, title) for moment, title in story.headings()],
        "scenes": [(scene.moment, scene.setting, scene.lines) for scene in story.scenes()],
        "presence": [set(story.presence_intervals(scene.moment)) for scene in story.scenes()],
        "spans": list(story.spans()),
        "cast": {(member.character.name, member.character.aliases, member.lines) for member in story.cast()},
    }


def sample(form: str, folder: Path) -> Path:
    name, content = SAMPLES[form]
    path = folder / name
    path.write_bytes(content())
    return path


@pytest.mark.parametrize("form", SPOKEN)
def test_read_back_it_is_the_same_story(tmp_path: Path, form: str) -> None:
    path = sample(form, tmp_path)
    story = read(path)
    positions = tmp_path / "shared.positions.jsonl"
    positions.write_text(exported(story, path), encoding="utf-8")
    assert whole(read(positions)) == whole(story)  # the text lies beside it
    elsewhere = tmp_path / "mine" / "copy.txt"
    elsewhere.parent.mkdir()
    path.rename(elsewhere)
    with pytest.raises(InputError, match="give your copy with --text"):
        read(positions)
    again = read(positions, texts=[elsewhere])
    assert [[line.text for line in scene.lines] for scene in again.scenes()] == [
        [line.text for line in scene.lines] for scene in story.scenes()
    ]


@pytest.mark.parametrize("form", SPOKEN)
def test_there_is_not_a_word_of_the_text_in_it(tmp_path: Path, form: str) -> None:
    path = sample(form, tmp_path)
    story = read(path)
    rows = [json.loads(row) for row in exported(story, path).splitlines()]
    names = {name for member in story.cast() for name in (member.character.name, *member.character.aliases)}
    names |= {line.speaker for scene in story.scenes() for line in scene.lines if line.speaker}
    written = {
        value
        for row in rows
        for item in row.values()
        for value in (item if isinstance(item, list) else [item])
        if isinstance(value, str)
    }
    allowed = names | {story.title, story.language, *story.levels, path.name}
    assert all(value in allowed or value.replace(".", "").isdigit() or value == "file" for value in written)
    text = "\n".join(map(json.dumps, rows))
    assert not any(line.text in text for scene in story.scenes() for line in scene.lines if len(line.text.split()) > 1)


def test_several_files_are_one_story_again(tmp_path: Path) -> None:
    one, two = tmp_path / "one.txt", tmp_path / "two.txt"
    one.write_bytes(SAMPLES["transcript"][1]())
    two.write_bytes(SAMPLES["transcript"][1]().replace(b"Marguerite", b"Madeleine"))
    story = read([one, two])
    positions = tmp_path / "x.positions.jsonl"
    positions.write_text(exported(story, one, two), encoding="utf-8")
    assert whole(read(positions)) == whole(story)
    assert whole(read(positions, texts=[tmp_path])) == whole(story)


def test_other_line_ends_are_the_same_text_and_another_edition_is_not(tmp_path: Path) -> None:
    path = sample("script", tmp_path)
    story = read(path)
    positions = tmp_path / "x.positions.jsonl"
    positions.write_text(exported(story, path), encoding="utf-8")
    content = path.read_bytes()
    path.write_bytes(b"\xef\xbb\xbf" + content.replace(b"\n", b"\r\n"))
    assert whole(read(positions)) == whole(story)
    path.write_bytes(content.replace(b"piano", b"organ"))
    with pytest.raises(InputError, match="as long, but says something else"):
        read(positions)
    path.write_bytes(content.replace(b"piano", b"fiddle"))
    with pytest.raises(InputError, match=r"act-1\.txt.* characters and not .*one edition only"):
        read(positions)


def test_what_positions_cannot_tell_apart_is_refused(tmp_path: Path) -> None:
    path = sample("HPD relations (XLSX)", tmp_path)
    with pytest.raises(InputError, match="no scenes"):
        exported(read(path), path)
    story = read(sample("script", tmp_path))
    with pytest.raises(InputError, match="not at hand"):
        export_positions(story, StringIO(), {})
    with pytest.raises(InputError, match="no annotations by position"):
        read(tmp_path / "act-1.txt", texts=[path])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"spans": [[0, 10**6]]}, "offsets into the text"),
        ({"line": -1}, "'line' is not a whole number"),
        ({"part": 7}, "no part 7"),
        ({"chars": 3}, "of another length"),
        ({"present": ["Odile", 3]}, "not a list of texts"),
        ({"speaker": 5}, "not a text"),
        ({"file": "../other.txt"}, "does not declare"),
        ({"moment": "1.x", "scene": "1"}, None),
    ],
)
def test_a_row_that_is_wrong_is_an_error(tmp_path: Path, change: dict[str, Any], message: str | None) -> None:
    path = sample("script", tmp_path)
    rows = [json.loads(row) for row in exported(read(path), path).splitlines()]
    index = next(number for number, row in enumerate(rows) if row.get("speaker"))
    rows[index] |= change
    positions = tmp_path / "x.positions.jsonl"
    positions.write_text("".join(json.dumps(row) + "\n" for row in rows))
    if message is None:
        read(positions)
        return
    with pytest.raises(InputError, match=message):
        read(positions)


@settings(suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_damaged_file_is_read_or_refused(tmp_path: Path, data: st.DataObject) -> None:
    path = sample("script", tmp_path)
    content = exported(read(path), path).encode()
    positions = tmp_path / "x.positions.jsonl"
    positions.write_bytes(data.draw(damage(content)))
    try:
        read(positions, tmp_path / "out.story")
    except InputError:
        assert not (tmp_path / "out.story").exists()
    else:
        (tmp_path / "out.story").unlink()


def test_it_is_told_by_its_first_row() -> None:
    assert is_positions(b'{"positions": 1, "title": "x"}') and is_positions(b'\xef\xbb\xbf{"positions":1}')
    assert not any(is_positions(content()) for _, content in SAMPLES.values())
