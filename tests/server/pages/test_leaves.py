from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from understudy.server.pages.leaves import MOST_LINES, leaf_with, leaves, reading_address
from understudy.spoiler_free import Stop
from understudy.story import Moment


def stops(chapters: list[list[int]]) -> list[Stop]:
    """A timeline of chapters, given as the lines of their scenes, all of which were reached."""
    found = []
    for chapter, scenes in enumerate(chapters, 1):
        found.append(Stop(Moment((chapter,)), True, title=f"Chapter {chapter}"))
        found += [Stop(Moment((chapter, number)), True, lines=lines) for number, lines in enumerate(scenes, 1)]
    return found


@given(st.lists(st.lists(st.integers(0, 1500), min_size=1, max_size=6), min_size=1, max_size=6))
def test_every_line_is_on_one_page_in_order_and_no_page_is_heavy(chapters: list[list[int]]) -> None:
    pages = leaves(stops(chapters))
    read = [
        (*piece.scene.moment.numbers, line)
        for leaf in pages
        for piece in leaf.pieces
        for line in range(piece.first, piece.last + 1)
    ]
    assert read == [
        (chapter, scene, line)
        for chapter, scenes in enumerate(chapters, 1)
        for scene, lines in enumerate(scenes, 1)
        for line in range(1, lines + 1)
    ]
    for leaf in pages:
        assert sum(piece.last - piece.first + 1 for piece in leaf.pieces) < 3 * MOST_LINES
        assert len({piece.scene.moment.numbers[0] for piece in leaf.pieces}) == 1, "a page is of one chapter"


@given(st.lists(st.lists(st.integers(1, 1500), min_size=1, max_size=5), min_size=1, max_size=5), st.data())
def test_a_line_is_found_on_the_page_that_has_it(chapters: list[list[int]], data: st.DataObject) -> None:
    pages = leaves(stops(chapters))
    chapter = data.draw(st.integers(1, len(chapters)))
    scene = data.draw(st.integers(1, len(chapters[chapter - 1])))
    line = data.draw(st.integers(1, chapters[chapter - 1][scene - 1]))
    leaf = pages[leaf_with(pages, Moment((chapter, scene, line)))]
    assert any(
        piece.scene.moment.numbers == (chapter, scene) and piece.first <= line <= piece.last for piece in leaf.pieces
    )
    assert leaf_with(pages, Moment((chapter,))) == next(
        place for place, leaf in enumerate(pages) if leaf.start.numbers[0] == chapter
    )


def test_a_page_knows_the_chapter_it_begins() -> None:
    first, second, rest = leaves(stops([[10, 20], [450, 30]]))
    assert first.title is not None and first.title.title == "Chapter 1"
    assert second.title is not None and second.title.moment == Moment((2,))
    assert rest.title is None and rest.start == Moment((2, 2))


def test_without_a_place_a_story_opens_where_reading_stopped() -> None:
    pages = leaves(stops([[10], [10], [10]]))
    assert leaf_with(pages, None) == 2
    assert leaf_with(pages, Moment((9,))) == 2
    assert leaf_with(pages, Moment((0,))) == 0


def test_what_was_not_reached_is_on_no_page() -> None:
    unread = [Stop(Moment((2,)), False), Stop(Moment((2, 1)), False)]
    assert [leaf.start.dotted for leaf in leaves([*stops([[5]]), *unread])] == ["1.1"]
    assert leaves(unread) == []


def test_addresses_escape_what_they_carry_and_never_point_past_the_moment() -> None:
    at = Moment((2, 1))
    assert reading_address("a/b c", at, Moment((1, 2, 3)), "x&y") == (
        "/story/a%2Fb%20c?at=2.1&see=1.2.3&q=x%26y#m-1.2.3"
    )
    assert reading_address("s", at, Moment((2, 1))).endswith("#read-on")
    assert reading_address("s", at) == "/story/s?at=2.1"
