"""Files that give the same position to what they tell: versions of one, parts of a story, or halves of an episode."""

from __future__ import annotations

from pathlib import Path

import pytest

from understudy.formats import read
from understudy.formats.assembly import SpeechIndex
from understudy.formats.documents import file_parts
from understudy.sources import Event, Speech
from understudy.story.storyfile import Story
from understudy.story.types import Source

QUAY = """# Act 1

INT. QUAY - NIGHT

ODILE
You sold the piano and never asked me about it.

BASTIEN
I sold the noise of it, and slept well ever since.

# Act 2

EXT. YARD - DAY

ODILE
Marguerite will hear of this before the week is out.
"""
HARBOUR = """# Act 1

INT. HARBOUR OFFICE - DAY

INES
The brass key was on its hook at noon, I counted them.

TOBIAS
Then somebody has been here after noon, and it was not me.

# Act 2

EXT. FERRY - DAY

INES
The ferry has left, and whoever has the key is on it.
"""


def write(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text)
    return folder


def spoken(story: Story) -> list[tuple[str, str | None]]:
    return [(line.moment.dotted, line.speaker) for scene in story.scenes() for line in scene.lines]


def test_files_that_count_alike_and_tell_different_things_are_parts(tmp_path: Path) -> None:
    story = read(write(tmp_path, a_fountain=QUAY, b_fountain=HARBOUR))
    assert story.levels == ("part", "act", "scene", "line")
    assert spoken(story) == [
        ("1.1.1.1", "Odile"), ("1.1.1.2", "Bastien"), ("1.2.1.1", "Odile"),
        ("2.1.1.1", "Ines"), ("2.1.1.2", "Tobias"), ("2.2.1.1", "Ines"),
    ]  # fmt: skip
    assert [(moment.dotted, title) for moment, title in story.headings()] == [("1", "a"), ("2", "b")]
    assert list(story.unread()) == []
    assert {file: moment.dotted for file, moment in file_parts(story).items()} == {"a.fountain": "1", "b.fountain": "2"}


def test_a_second_version_is_unread_whatever_its_punctuation_and_additions(tmp_path: Path) -> None:
    uncut = QUAY.replace(", and slept", " - and slept").replace("# Act 2", "ODILE\nYou slept?\n\n# Act 2")
    story = read(write(tmp_path, a_fountain=QUAY, b_fountain=uncut))
    assert story.levels == ("act", "scene", "line")
    assert len(spoken(story)) == 3
    assert {line.reason for line in story.unread()} == {"a second version of what a.fountain tells"}


def test_dates_of_a_cast_file_are_those_of_the_parts(tmp_path: Path) -> None:
    cast = '[[character]]\nname = "Ines"\n[[fact]]\nwho = "Ines"\nattribute = "age"\nvalue = "30"\nfrom = "2.1.1"\n'
    story = read(write(tmp_path, a_fountain=QUAY, b_fountain=HARBOUR, cast_toml=cast))
    assert [fact.since.dotted for fact in story.facts()] == ["2.1.1"]


def test_two_files_of_one_episode_are_its_halves(tmp_path: Path) -> None:
    said = "[Scene: The quay]\nOdile: {}\nBastien: {}\n"
    first = said.format("You sold the piano and never asked me about it.", "I sold the noise of it, that is all.")
    second = said.format("Marguerite will hear of this before the week is out.", "Then she will laugh as I did.")
    for name, text in (("Show S01E01a.txt", first), ("Show S01E01b.txt", second), ("Show S01E02.txt", first)):
        (tmp_path / name).write_text(text)
    story = read(tmp_path)
    assert story.levels == ("season", "episode", "scene", "line")
    assert [scene.moment.dotted for scene in story.scenes()] == ["1.1.1", "1.1.2", "1.2.1"]


def test_what_nobody_can_order_is_unread_with_the_reason(tmp_path: Path) -> None:
    files = {"a.fountain": QUAY, "b.fountain": HARBOUR.replace("Act 2", "Act 4").replace("Act 1", "Act 3")}
    files["c.fountain"] = "# Act 2\n\nINT. MILL - DAY\n\nMARA\nNobody in this mill has ever owned a piano.\n"
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    reasons = {line.reason for line in read(tmp_path).unread()}
    assert reasons == {"stands at act 2, as a.fountain does, but tells something else: rename one"}


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (["You sold the piano, and never asked!", "Something that is quite new here."], True),
        (["Something that is quite new here.", "And something else that is new."], False),
        (["Yes.", "No."], False),
        ([], False),
    ],
)
def test_versions_share_what_is_said_apart_from_short_answers(said: list[str], expected: bool) -> None:
    index = SpeechIndex()
    for text in ("You sold the piano and never asked.", "Yes.", "No."):
        index.add((1,), text)
    events: list[Event] = [Speech(Source("b", 1), ("Ann",), text) for text in said]
    assert index.has_told((1,), events) is expected
    assert not index.has_told((2,), events)
