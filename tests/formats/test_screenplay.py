"""How a screenplay counts time: sections as levels, scene numbers, what stands before the first of either."""

from __future__ import annotations

import pytest

from reading import of_kind, read_bytes
from understudy.formats.fountain import READER, fountain_elements
from understudy.formats.screenplay import outline_of
from understudy.sources import Event, Heading, Opening, SceneStart, Unread


def levels_of(*blocks: str) -> tuple[str, ...]:
    return outline_of(fountain_elements(enumerate("\n\n".join(blocks).split("\n"), 1))).levels[:-2]


def is_numbered(*blocks: str) -> bool:
    return outline_of(fountain_elements(enumerate("\n\n".join(blocks).split("\n"), 1))).numbered


def moments(*blocks: str) -> list[tuple[tuple[int, ...] | None, int | None]]:
    """(section, number) of every scene."""
    position: tuple[int, ...] | None = None
    found: list[tuple[tuple[int, ...] | None, int | None]] = []
    for event in read_bytes(READER, "\n\n".join(blocks).encode()):
        if isinstance(event, Heading) and event.numbers is not None:
            position = event.numbers
        elif isinstance(event, SceneStart):
            found.append((position, event.number))
    return found


@pytest.mark.parametrize(
    ("sections", "levels"),
    [
        (["# Act 1", "# Act 2: The Fall"], ("act",)),
        (["# ACT I", "# ACT II", "# ACT IV."], ("act",)),
        (["# Act One - Setup", "# Act Two"], ("act",)),
        (["# Part 1", "## Chapter 1", "## Chapter 2", "# Part 2", "## Chapter 1"], ("part", "chapter")),
        (["# Act 1", "## A beat", "# Act 2"], ("act",)),
        (["# Setup", "# Confrontation"], ()),
        (["# Act 1", "# Another Act", "# Act 2"], ()),
        (["# Act 2", "# Act 1"], ()),
        (["# Act 1", "# Part 2"], ()),
        (["# Scene 1", "# Scene 2"], ()),
        (["## Act 1"], ()),
        (["# Act mild"], ()),
    ],
)
def test_sections_are_levels_where_all_of_a_depth_agree(sections: list[str], levels: tuple[str, ...]) -> None:
    assert levels_of(*sections) == levels


def test_what_stands_before_a_section_is_number_0_of_it() -> None:
    assert moments("INT. TEASER", "# Act 1", "INT. A", "INT. B", "# Act 2", "INT. C") == [
        ((0,), None),
        ((1,), None),
        ((1,), None),
        ((2,), None),
    ]
    assert moments("# Part 1", "INT. A", "## Chapter 1", "INT. B") == [((1, 0), None), ((1, 1), None)]


def test_scene_numbers_count_where_all_have_them() -> None:
    assert moments("INT. A #1#", "INT. B #2#", "INT. C #5#") == [(None, 1), (None, 2), (None, 5)]
    assert moments("INT. A #1#", "INT. B #1A#", "INT. C #2#") == [(None, None)] * 3
    assert moments("INT. A #1#", "INT. B", "INT. C #2#") == [(None, None)] * 3
    assert moments("# Act 1", "INT. A #1#", "# Act 2", "INT. B #1#") == [((1,), 1), ((2,), 1)]
    assert moments("# Setup", "INT. A #1#", "# End", "INT. B #1#") == [(None, None)] * 2
    assert not is_numbered("Rain.")


def test_what_stands_before_the_first_numbered_scene_is_scene_0() -> None:
    assert moments("Rain.", "INT. A #1#", "INT. B #2#") == [(None, 0), (None, 1), (None, 2)]
    assert moments("# Act 1", "Rain.", "INT. A #1#", "# Note", "Snow.") == [(None, 0), (None, 1)]
    assert moments("Rain.", "INT. A #0#") == [(None, None)] * 2


def test_a_scene_that_has_only_a_number_has_no_setting() -> None:
    events = read_bytes(READER, b".SCENE 3\n\nRain.\n\n.SCENE 3 #4#\n\nSnow.\n")
    assert [(scene.setting, scene.number) for scene in of_kind(events, SceneStart)] == [("", 3), ("SCENE 3", 4)]


def test_the_title_page_may_say_what_scenes_are_called() -> None:
    events: list[Event] = read_bytes(READER, b"Title: Nights\nScenes are: night\n\n.A #1#\n\nRain.\n")
    assert events[0] == Opening(("night", "line"), "Nights")


def test_a_cue_without_words_is_listed() -> None:
    events = read_bytes(READER, b"INT. A\n\n@Bob\n\nRain.\n\n@Bob\n[[what?]]\n\nRain.\n")
    assert [(event.text, event.reason) for event in of_kind(events, Unread)] == [
        ("Bob", "a cue without words"),
        ("what?", "a note"),
        ("Bob", "a cue without words"),
    ]
