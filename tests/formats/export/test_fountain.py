"""A story written as a screenplay reads back as the same scenes and lines, whatever is said in it."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from generated import HERE, Plan, plans
from samples import SAMPLES
from understudy.errors import InputError
from understudy.formats import read, reader_of
from understudy.formats.export import export_fountain
from understudy.sources.events import CastEntry, Description, Heading, Opening, SceneStart, Speech
from understudy.sources.source import SourceFile
from understudy.story.storyfile import Story
from understudy.story.types import Character

generous = settings(suppress_health_check=list(HealthCheck))


def told(story: Story) -> object:
    lines = [
        (scene.moment, scene.setting, [(line.moment, line.speaker, line.text) for line in scene.lines])
        for scene in story.scenes()
    ]
    return story.title, story.levels, lines, [heading for heading in story.headings() if heading[1]]


def written(story: Story, folder: Path) -> Path:
    path = folder / "out.dat"  # told by content, not by name
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        assert export_fountain(story, stream) == story.count()[1]
    return path


@pytest.mark.parametrize("name", ["demo", "demo-ja", "demo-zh"])
def test_the_embedded_stories_survive(tmp_path: Path, name: str) -> None:
    story = read(name)
    again = read(written(story, tmp_path))
    assert told(again) == told(story)
    assert reader_of(SourceFile(tmp_path / "out.dat")).name == "fountain"
    assert not list(again.unread())


@pytest.mark.parametrize("form", SAMPLES)
def test_whatever_can_be_read_can_be_written(tmp_path: Path, form: str) -> None:
    name, content = SAMPLES[form]
    (tmp_path / name).write_bytes(content())
    story = read(tmp_path / name)
    if not story.count()[0]:
        with pytest.raises(InputError, match="no scenes"):
            written(story, tmp_path)
        return
    assert told(read(written(story, tmp_path))) == told(story)


@settings(suppress_health_check=list(HealthCheck))
@given(plan=plans())
def test_any_story_survives(tmp_path_factory: pytest.TempPathFactory, plan: Plan) -> None:
    folder = tmp_path_factory.mktemp("fountain")
    story = plan.story(folder)
    assume(any(line.speaker for scene in story.scenes() for line in scene.lines))
    assert told(read(written(story, folder))) == told(story)


STARTS = [
    "@",
    "!",
    ".",
    "..",
    "...",
    ">",
    "~",
    "=",
    "===",
    "#",
    "##",
    "[[",
    "/*",
    "(",
    "\\",
    "*",
    "_",
    "INT. ",
    "CUT TO:",
]
STARTS += ["FADE IN:", "Title: ", "scene 3", "Act 1", "> a <", "SHOUTED", "ext "]
PIECES = st.sampled_from(
    ["*", "**", "_", "\\", "\\\\", "[", "[[", "]]", "/*", "*/", "(", ")", "^", "#3#", " ", "<", ":", "."]
)
LETTERS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=6)
AWKWARD = st.builds(
    lambda start, rest: " ".join((start + "".join(rest)).split()),
    st.sampled_from(["", *STARTS]),
    st.lists(PIECES | LETTERS | st.sampled_from(["word", "WORD", "snake_case"]), max_size=8),
)
SAID = AWKWARD.filter(bool)


@generous
@given(said=st.lists(st.tuples(st.sampled_from([None, "Odile", "Bastien"]), SAID), min_size=1, max_size=6))
@example([("Odile", "(a) (b) \\(c) [[d]]"), (None, "/* *x* */"), ("Bastien", ".45 \\*"), (None, "[\\[[")])
def test_any_text_survives(tmp_path_factory: pytest.TempPathFactory, said: list[tuple[str | None, str]]) -> None:
    folder = tmp_path_factory.mktemp("fountain")
    plan = Plan(events=[Opening(("scene", "line")), SceneStart(HERE, "Anywhere")])
    plan.events += (Description(HERE, text) if who is None else Speech(HERE, (who,), text) for who, text in said)
    assume(any(who for who, _ in said))
    story = plan.story(folder)
    again = read(written(story, folder))
    assert [(line.speaker, line.text) for scene in again.scenes() for line in scene.lines] == said


@generous
@given(titles=st.lists(AWKWARD, min_size=1, max_size=4), settings_=st.lists(AWKWARD, min_size=1, max_size=4))
def test_any_title_and_setting_survives(
    tmp_path_factory: pytest.TempPathFactory, titles: list[str], settings_: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("fountain")
    plan = Plan(events=[Opening(("night", "hour", "line"), titles[0] or "x")])
    for number, title in enumerate(titles):
        plan.events.append(Heading(HERE, title, (2 * number,)))
        for hour, setting in enumerate(settings_):
            plan.events += (SceneStart(HERE, setting, number=3 * hour), Speech(HERE, ("Odile",), "The piano?"))
    story = plan.story(folder)
    assert told(read(written(story, folder))) == told(story)


@generous
@given(names=st.lists(AWKWARD.filter(lambda name: any(map(str.isalpha, name))), min_size=1, max_size=4))
@example(["Salt and Sons", "Mrs. (K)", "NASA", "ODILE ^", "@home", "bob", "All"])
def test_any_name_survives(tmp_path_factory: pytest.TempPathFactory, names: list[str]) -> None:
    folder = tmp_path_factory.mktemp("fountain")
    plan = Plan(events=[Opening(("scene", "line")), SceneStart(HERE, "Anywhere")])
    plan.events += (CastEntry(HERE, Character(name)) for name in names)
    plan.events += (Speech(HERE, (name,), "The piano?") for name in names)
    story = plan.story(folder)
    again = read(written(story, folder))
    assert [line.speaker for scene in again.scenes() for line in scene.lines] == [
        line.speaker for scene in story.scenes() for line in scene.lines
    ]


def test_how_it_looks(tmp_path: Path) -> None:
    script = tmp_path / "act-1.txt"
    script.write_text(
        "# act 1: The Quarrel\n## scene 1: A kitchen at night\n[The kettle sings.]\n[BANG!]\n"
        "ODILE (softly): You sold *it*.\n## scene 2: INT. YARD\nODILE: .45?\n## scene 3\nODILE: Yes.\n"
    )
    stream = io.StringIO()
    export_fountain(read(script), stream)
    assert stream.getvalue() == (
        "Title: act-1\n\n# act 1: The Quarrel\n\n.A kitchen at night #1#\n\nThe kettle sings.\n\n!BANG!\n\n"
        "@Odile\n(softly)\nYou sold \\*it\\*.\n\nINT. YARD #2#\n\n@Odile\n\\.45?\n\n.SCENE 3\n\n@Odile\nYes.\n"
    )
