"""`understudy export --format positions`, and reading it back, as a user runs them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cliruns import Document, Run
from novel_texts import stand_in_attribution
from understudy.formats import read

NOVEL = """CHAPTER I

Odile had looked for it in every room of the house, in the yard, and at last in the street, where Bastien stood.

"You sold the piano," said Odile, and sat down on the steps, "and you never told me of it."

"I sold the noise of it," said Bastien.

"Somebody will hear of this before the week is out," came from the yard.

CHAPTER II

Nobody saw either of them for the rest of the week, and the yard was as quiet as it had ever been.

"Well?" said Odile.
"""


@pytest.fixture
def novel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    stand_in_attribution(monkeypatch, ("Odile", "Bastien"))
    path = tmp_path / "novel.txt"
    path.write_text(NOVEL)
    return path


def lines(path: Path) -> list[tuple[str, str | None, str]]:
    return [(line.moment.dotted, line.speaker, line.text) for scene in read(path).scenes() for line in scene.lines]


def test_a_novel_is_shared_without_its_text_and_read_with_ones_own(
    run: Run, document: Document, novel: Path, tmp_path: Path
) -> None:
    shared, story, copy = tmp_path / "x.positions.jsonl", tmp_path / "y.story", tmp_path / "my copy.txt"
    run("quotations", novel, "--set", "1", "The Neighbour")
    run("export", novel, "--format", "positions", "-o", shared)
    written = shared.read_text()
    words = {word.strip('.,"?') for line in NOVEL.splitlines() for word in line.split()}
    names = {"Odile", "Bastien", "Neighbour", "The"}
    assert not [word for word in words - names if len(word) > 3 and f"{word} " in written]
    rows = [json.loads(line) for line in written.splitlines()]
    spoken = [row for row in rows if row.get("speaker") == "Odile"]
    assert [[NOVEL[start:end] for start, end in row["spans"]] for row in spoken] == [
        ["You sold the piano,", "and you never told me of it."],
        ["Well?"],
    ]
    assert spoken[0]["present"] and spoken[0]["confidence"] == 0.9
    before = lines(novel)
    copy.write_text(NOVEL)
    novel.with_suffix(".quotations.toml").unlink()
    novel.unlink()
    document("read", shared, "--text", copy, "-o", story)
    assert lines(story) == before
    copy.write_text(NOVEL.replace("CHAPTER II", "CHAPTER 2"))
    assert "one edition only" in run("read", shared, "--text", copy, "-o", tmp_path / "z.story", status=1).stderr


def test_a_story_file_needs_its_text(run: Run, novel: Path, tmp_path: Path) -> None:
    story, shared = tmp_path / "other" / "n.story", tmp_path / "x.positions.jsonl"
    story.parent.mkdir()
    run("read", novel, "-o", story)
    refused = run("export", story, "--format", "positions", "-o", shared, status=1).stderr
    assert "was read from 'novel.txt'" in refused and "--text" in refused
    run("export", story, "--positions", "-o", shared, "--text", novel)
    assert json.loads(shared.read_text().splitlines()[0])["files"][0]["length"] == len(NOVEL.rstrip())
    novel.write_text(NOVEL.replace("CHAPTER I\n", "CHAPTER THE FIRST\n"))
    changed = run("export", story, "--format", "positions", "-o", shared, "--text", novel, "--force", status=1).stderr
    assert "is not the text that the story was read from" in changed
    assert "goes with --format positions" in run("export", story, "--text", novel, status=2).stderr
    assert "holds no annotations" in run("read", novel, "--text", novel, "-o", tmp_path / "q.story", status=1).stderr


def test_scripts_are_shared_by_line_numbers(run: Run, tmp_path: Path) -> None:
    shared = tmp_path / "demo.positions.jsonl"
    run("export", "demo", "--format", "positions", "-o", shared)
    assert all("spans" not in json.loads(row) for row in shared.read_text().splitlines())
