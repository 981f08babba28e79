"""What is written as Markdown reads back the same."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from generated import Plan, plans
from reading import damage, of_kind, read_bytes, recognises, speaker_texts, stands
from samples import SAMPLES
from understudy.errors import InputError
from understudy.formats import read, reader_of
from understudy.formats.assembly import Assembly
from understudy.formats.markdown import READER, export_markdown
from understudy.sources import (
    CastEntry,
    Cue,
    Description,
    Event,
    Heading,
    Opening,
    SceneStart,
    Speech,
    Unread,
)
from understudy.sources.source import SourceFile
from understudy.story.storyfile import Story, StoryWriter
from understudy.story.types import Character, Source


def parsed(text: str) -> list[Event]:
    return read_bytes(READER, text.encode())


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("**Ivo:** Well.", ("Ivo", "Well.")),
        ("**Ivo**: Well.", ("Ivo", "Well.")),
        ("*Ivo:* Well.", ("Ivo", "Well.")),
        ("_Ivo_: Well.", ("Ivo", "Well.")),
        ("__Ivo Karst:__ Well.", ("Ivo Karst", "Well.")),
        ("***IVO:*** Well.", ("IVO", "Well.")),
        ("- **Ivo**: Well.", ("Ivo", "Well.")),
        ("1. **Ivo:** Well.", ("Ivo", "Well.")),
        ("> **Ivo:** Well.", ("Ivo", "Well.")),
        ("**Ivo** (low): Well.", ("Ivo", "(low) Well.")),
        ("**Ivo** *(low)*: Well.", ("Ivo", "(low) Well.")),
        ("**IVO (low):** Well.", ("IVO", "(low) Well.")),
        ("**Ivo and Ada:** Well: no.", ("Ivo & Ada", "Well: no.")),
        ("**イヴォ：** はい。", ("イヴォ", "はい。")),
        (r"**Salt \& Sons\: Ltd\.:** \*Well\* &amp; *good*.", ("Salt & Sons: Ltd.", "*Well* & *good*.")),
        ("*Ivo leaves.*", ("", "Ivo leaves.")),
        ("_(she leaves)_", ("", "she leaves")),
        ("(Rain.)", ("", "Rain.")),
        ("**Rain** falls: it is wet.", ("", "**Rain** falls: it is wet.")),
        ("**Note:** nobody says this.", ("", "**Note:** nobody says this.")),
    ],
)
def test_a_line_is_somebodys_or_a_description(line: str, said: tuple[str, str]) -> None:
    assert speaker_texts(parsed(f"**Zoe:** Before.\n\n{line}\n")) == [("Zoe", "Before."), said]


def test_what_is_said_goes_on_below_and_a_paragraph_apart_is_nobodys() -> None:
    text = "**Ivo:** One\ntwo.\n**Ada:**\n\n> Three\n> four.\n\nThe rain\nstops.\n\n- five\n- six\n"
    assert speaker_texts(parsed(text)) == [
        ("Ivo", "One two."),
        ("Ada", "Three four."),
        ("", "The rain stops."),
        ("", "five"),
        ("", "six"),
    ]


def test_headings_are_title_chapters_and_scenes() -> None:
    text = """# The Quarrel
by nobody

## Low Water
### The kitchen
**Ivo:** One.
### The yard
**Ivo:** Two.
## High Water
**Ivo:** Three.
"""
    events = parsed(text)
    assert events[0] == Opening(("chapter", "scene", "line"), title="The Quarrel")
    assert [(one.title, one.numbers) for one in of_kind(events, Heading)] == [
        ("The Quarrel", None),
        ("", (0,)),
        ("Low Water", (1,)),
        ("High Water", (2,)),
    ]
    assert [one.setting for one in of_kind(events, SceneStart)] == ["The kitchen", "The yard"]


def test_headings_that_number_themselves_keep_their_numbers() -> None:
    text = "Act 2: Salt\n===\n\nScene 3 - The quay\n---\n\n**Ivo:** One.\n\nScene 5\n---\n**Ivo:** Two.\n"
    events = parsed(text)
    assert events[0] == Opening(("act", "scene", "line"))
    assert [(one.title, one.numbers, one.units) for one in of_kind(events, Heading)] == [("Salt", (2,), 2)]
    assert [(one.number, one.setting) for one in of_kind(events, SceneStart)] == [(3, "The quay"), (5, "")]


def test_chapters_alone_have_scenes_of_their_own_and_a_rule_begins_one() -> None:
    events = parsed(
        "---\n\n# Chapter 1\n**Ivo:** One.\n\n***\n\n**Ivo:** Two.\n\n* * *\n# Chapter 2\n**Ivo:** Three.\n"
    )
    assert events[0] == Opening(("chapter", "scene", "line"))
    assert len(of_kind(events, SceneStart)) == 1
    assert [one.numbers for one in of_kind(events, Heading)] == [None, (1,), None, (2,)]


def test_front_matter_is_kept_and_used(tmp_path: Path) -> None:
    front = "---\ntitle: 'The Net'\nlang: ja\ncast:\n  - Ivo Karst\n  - \"Ada\"\ntags: [a]\n---\n"
    text = front + "**Karst:** One.\n\n**Ada:** Two.\n"
    (tmp_path / "a.md").write_text(text)
    story = read(tmp_path / "a.md")
    assert (story.title, story.language) == ("The Net", "ja")
    assert [member.character.name for member in story.cast()] == ["Ivo Karst", "Ada"]
    assert story.files()[0].headings == 8


def test_code_comments_and_tables_are_not_read() -> None:
    text = "**Ivo:** One.\n```\n**Ada:** Two.\n```\n<!-- **Ada:**\nThree. -->\n| a | b |\n**Ivo:** Four.\n"
    assert speaker_texts(parsed(text)) == [("Ivo", "One."), ("Ivo", "Four.")]
    assert [one.reason for one in of_kind(parsed(text), Unread)] == [
        "code", "code", "code", "a comment", "a comment", "a row of a table",
    ]  # fmt: skip


def test_a_description_moves_people() -> None:
    events = parsed("**Ivo:** One.\n\n*Ivo leaves.*\n")
    assert of_kind(events, Description)[0].cues == (Cue("leave", "Ivo"),)


def test_plain_names_are_read_below_headings() -> None:
    text = "# The yard\n\nIvo: One.\nAda (low): Two.\n"
    assert recognises(READER, text.encode(), Path("a"))
    assert speaker_texts(parsed(text)) == [("Ivo", "One."), ("Ada", "(low) Two.")]


@pytest.mark.parametrize(
    "other",
    [
        "# act 1: The Quarrel\n## scene 1: Here\nANN: One.\nBOB: Two.\n",
        "ANN: One.\nBOB: Two.\n",
        "# Tool\n\n- **Fast**: it is.\n- **Small**: it is.\n- **Free**: it is.\n",
        "# Tool\n\nWhat it does.\n\n**Note:** one.\n\n**Warning:** two.\n",
        '{"**a:**": 1}\n{"**a:**": 1}\n',
        "---\ntitle: x\n---\nText.\n",
        "",
    ],
)
def test_other_text_is_no_dialogue_in_markdown(other: str) -> None:
    assert not recognises(READER, other.encode(), Path("any.md"))


def test_the_pages_of_this_project_are_no_dialogues() -> None:
    root = Path(__file__).parents[2]
    pages = [*root.glob("*.md"), *root.glob("docs/*.md")]
    assert [page.name for page in pages if recognises(READER, page.read_bytes()[: 1 << 16], page)] == []


PIECES = st.sampled_from(
    ["**Ivo:** ", "*", "# ", "## Scene 1", "\n", "\n\n", "---", "> ", "- ", "```", "<!--", "-->", "a b"]
)


@given(st.lists(PIECES, min_size=1).map("".join).filter(str.strip))
def test_whatever_stands_there_adds_up(text: str) -> None:
    parsed(text)


@given(damage(b"---\ntitle: x\n---\n# Chapter 1\n\n**Ivo:** One *two*.\n\n_(Ivo leaves)_\n\nA\n---\n**Ada**: Three.\n"))
def test_a_damaged_file_is_read_or_refused(content: bytes) -> None:
    stands(READER, content or b"\n")


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
