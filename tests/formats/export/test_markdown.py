"""What is written as Markdown reads back the same."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from generated import Plan, plans
from samples import SAMPLES
from understudy.errors import InputError
from understudy.formats import read, reader_of
from understudy.formats.assembly import Assembly
from understudy.formats.export import export_markdown
from understudy.sources.events import CastEntry, Description, Event, Heading, Opening, SceneStart, Speech
from understudy.sources.source import SourceFile
from understudy.story.storyfile import Story, StoryWriter
from understudy.story.types import Character, Source

HERE = Source("made.txt", 1)


def written(story: Story) -> str:
    stream = io.StringIO()
    assert export_markdown(story, stream) == story.count()[1]
    return stream.getvalue()


def content(story: Story) -> object:
    """What Markdown can hold of a story."""
    lines = [(scene.setting, [(x.moment, x.speaker, x.text) for x in scene.lines]) for scene in story.scenes()]
    cast = {(member.character.name, member.lines) for member in story.cast()}
    return story.title, story.language, story.levels, lines, cast, list(story.headings())


def assert_reads_back(story: Story, folder: Path) -> None:
    if all(line.speaker is None for scene in story.scenes() for line in scene.lines):
        with pytest.raises(InputError, match="no scenes|nobody speaks"):
            written(story)
        return
    path = folder / "out.dat"
    path.write_text(written(story), encoding="utf-8", newline="\n")
    assert reader_of(SourceFile(path)).name == "markdown"
    again = read(path)
    assert content(again) == content(story)
    assert again.files()[0].unread == 0


@pytest.mark.parametrize("name", ["demo", "demo-ja", "demo-zh"])
def test_the_embedded_stories_survive(tmp_path: Path, name: str) -> None:
    assert_reads_back(read(name), tmp_path)


@pytest.mark.parametrize("form", [form for form in SAMPLES if form != "HPD relations (XLSX)"])
def test_every_form_survives(tmp_path: Path, form: str) -> None:
    name, sample = SAMPLES[form]
    (tmp_path / name).write_bytes(sample())
    assert_reads_back(read(tmp_path / name), tmp_path)


@settings(suppress_health_check=list(HealthCheck))
@given(plan=plans())
def test_any_plan_of_a_story_survives(tmp_path_factory: pytest.TempPathFactory, plan: Plan) -> None:
    folder = tmp_path_factory.mktemp("markdown")
    assert_reads_back(plan.story(folder), folder)


MARKS = st.sampled_from([*"*_\\:：#&;-+<>[]()|`~!.,'\"", "**", "and", "&amp;", "&#97;", "---", "```", "both", "A:"])
WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zs", "Zl", "Zp"]), min_size=1, max_size=5)
TEXTS = st.lists(MARKS | WORDS, min_size=1, max_size=6).flatmap(
    lambda parts: st.lists(st.sampled_from(["", " "]), min_size=len(parts), max_size=len(parts)).map(
        lambda spaces: " ".join("".join(map(str.__add__, parts, spaces)).split())
    )
)
NAMES = TEXTS.filter(lambda name: any(map(str.isalpha, name)))


@settings(suppress_health_check=list(HealthCheck))
@given(
    names=st.lists(NAMES, min_size=1, max_size=3),
    lines=st.lists(st.tuples(st.integers(-1, 2), TEXTS), min_size=1),
    setting=TEXTS,
)
def test_any_names_and_texts_survive(
    tmp_path_factory: pytest.TempPathFactory, names: list[str], lines: list[tuple[int, str]], setting: str
) -> None:
    folder = tmp_path_factory.mktemp("markdown")
    story = _story(folder, names, lines, setting)
    if story is not None:
        assert_reads_back(story, folder)


def _story(folder: Path, names: list[str], lines: list[tuple[int, str]], setting: str) -> Story | None:
    """A story of one scene; None where two of the names are one."""
    events: list[Event] = [Opening(("chapter", "scene", "line")), Heading(HERE, setting, (1,))]
    events += [CastEntry(HERE, Character(name)) for name in names]
    events.append(SceneStart(HERE, setting))
    for who, text in lines:
        speaker = names[who % len(names)]
        events.append(Description(HERE, text) if who < 0 else Speech(HERE, (speaker,), text))
    path = folder / "made.txt"
    path.write_text("made up\n")
    source = SourceFile(path)
    source.units = sum(event.units for event in events if not isinstance(event, Opening))
    with StoryWriter(None) as writer:
        assembly = Assembly(writer)
        try:
            assembly.add_file(source, "made", events)
            assembly.finish("Made: \"Up\" \\ --- # 'x'")
        except InputError:
            return None
        return Story(writer.address)


def test_a_story_without_scenes_is_refused(tmp_path: Path) -> None:
    name, sample = SAMPLES["HPD relations (XLSX)"]
    (tmp_path / name).write_bytes(sample())
    with pytest.raises(InputError, match="no scenes"):
        export_markdown(read(tmp_path / name), io.StringIO())
