"""What is written out reads back the same."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from generated import Plan, plans
from reading import AwkwardScene, awkward_scenes, story_of
from samples import SAMPLES
from understudy.errors import InputError
from understudy.formats import read
from understudy.formats.export import export_folder, export_jsonl, export_parquet
from understudy.story.storyfile import Story
from understudy.story.types import Line, Scene


def content(story: Story) -> object:
    """All a story tells, but for where it was read from."""
    scenes = [
        Scene(s.moment, s.setting, tuple(sorted(s.present)), tuple(Line(x.moment, x.speaker, x.text) for x in s.lines))
        for s in story.scenes()
    ]
    cast = {(m.character.name, frozenset(m.character.aliases), m.character.profile, m.lines) for m in story.cast()}
    presence_intervals = [sorted(story.presence_intervals(scene.moment)) for scene in scenes]
    about = (story.title, story.language, story.levels, set(story.schema.attributes), set(story.schema.kinds))
    ties = {(tie, tie.term) for tie in story.relations()}
    return scenes, cast, presence_intervals, about, set(story.facts()), ties, list(story.headings())


@pytest.mark.parametrize("name", ["demo", "demo-ja", "demo-zh"])
def test_the_embedded_stories_survive_the_folder(tmp_path: Path, name: str) -> None:
    story = read(name)
    export_folder(story, tmp_path / "out")
    assert content(read(tmp_path / "out")) == content(story)


@given(plan=plans())
def test_any_story_survives_the_folder(tmp_path_factory: pytest.TempPathFactory, plan: Plan) -> None:
    folder = tmp_path_factory.mktemp("export")
    story = plan.story(folder)
    export_folder(story, folder / "out")
    assert content(read(folder / "out")) == content(story)


def test_the_words_for_ties_survive_the_folder(tmp_path: Path) -> None:
    (tmp_path / "play.xml").write_bytes(SAMPLES["TEI drama"][1]())
    story = read(tmp_path / "play.xml")
    export_folder(story, tmp_path / "out")
    assert content(read(tmp_path / "out")) == content(story)
    assert {tie.term for tie in story.relations()} == {"brother", "sister"}


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("mine")
    with pytest.raises(InputError, match="not an empty folder"):
        export_folder(read("demo-zh"), tmp_path)
    assert (tmp_path / "note.txt").read_text() == "mine"


def test_json_lines_hold_every_line_in_order() -> None:
    story = read("demo-zh")
    stream = io.StringIO()
    count = export_jsonl(story, stream)
    rows = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert count == len(rows) == story.count()[1]
    assert set(rows[0]) == {"moment", "scene", "speaker", "text", "source"}
    expected = [(line.moment.dotted, line.speaker, line.text) for scene in story.scenes() for line in scene.lines]
    assert [(row["moment"], row["speaker"], row["text"]) for row in rows] == expected
    assert rows[1]["source"].startswith("act-1.txt:")


def test_parquet_holds_the_same(tmp_path: Path) -> None:
    import pyarrow.parquet

    story = read("demo-zh")
    export_parquet(story, tmp_path / "out.parquet")
    stream = io.StringIO()
    export_jsonl(story, stream)
    table = pyarrow.parquet.read_table(tmp_path / "out.parquet")
    assert table.to_pylist() == [json.loads(line) for line in stream.getvalue().splitlines()]


def write_rows(story: Story, path: Path) -> None:
    if path.suffix == ".parquet":
        export_parquet(story, path)
    else:
        with path.open("w", encoding="utf-8") as stream:
            export_jsonl(story, stream)


def lines_of(story: Story) -> list[tuple[str, str | None, str]]:
    return [(line.moment.dotted, line.speaker, line.text) for scene in story.scenes() for line in scene.lines]


@pytest.mark.parametrize("name", ["out.jsonl", "out.parquet"])
@settings(suppress_health_check=list(HealthCheck))
@given(scenes=awkward_scenes())
def test_rows_of_any_story_read_back_at_their_moments(tmp_path: Path, name: str, scenes: list[AwkwardScene]) -> None:
    story = story_of(scenes)
    write_rows(story, tmp_path / name)
    assert lines_of(read(tmp_path / name)) == lines_of(story)


@pytest.mark.parametrize("name", ["out.jsonl", "out.parquet"])
def test_rows_of_an_embedded_story_read_back(tmp_path: Path, name: str) -> None:
    story = read("demo")
    write_rows(story, tmp_path / name)
    assert lines_of(read(tmp_path / name)) == lines_of(story)
