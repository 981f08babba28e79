from __future__ import annotations

import re
from urllib.parse import urljoin, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.conftest import Ask
from understudy.server.pages.story import PAGE_LINES, page_index, paginate, story_address
from understudy.story.spoiler_free import Stop
from understudy.story.types import Moment
from walking import Page


def page(ask: Ask, path: str, status: int = 200) -> Page:
    answer = ask("GET", path)
    assert answer.status_code == status, answer.text
    return Page(answer.text)


def test_a_story_is_read_up_to_the_moment(ask: Ask) -> None:
    shown = page(ask, "/story/brass-key?at=1.2")
    assert "The brass key was on its hook" in shown.text and "Low Water" in shown.text
    for later in ("I sold her key", "The quay", "Mara Quill", "High Water"):
        assert later not in shown.text
    assert {"m-1", "m-1.1", "m-1.1.1", "m-1.1.2", "m-1.1.4"} <= set(shown.ids)
    assert len(shown.ids) == len(set(shown.ids))


def test_without_a_moment_it_opens_at_the_end_of_the_first_chapter(ask: Ask) -> None:
    shown = page(ask, "/story/brass-key")
    assert "a cheap one" in shown.text and "I am sorry about the key" not in shown.text


def test_inside_a_scene_lines_and_company_end_where_the_moment_is(ask: Ask) -> None:
    shown = page(ask, "/story/demo?at=1.1.1.6")
    assert "By what name, then" in shown.text and "Painted on her bow" in shown.text
    assert "The Regulation obliges me" not in shown.text
    assert "Benedek" not in shown.text, "he comes later in the scene"


def test_reading_on_asks_first_and_leads_one_scene_further(ask: Ask) -> None:
    shown = page(ask, "/story/brass-key?at=1.2")
    assert "read-on" in shown.ids and "Act 1, scene 2 comes next" in re.sub(r"\s+", " ", shown.text)
    (further,) = [link for link in shown.links if "at=2.1" in link and "see=1.2" in link]
    following = page(ask, further.partition("#")[0])
    assert "I sold her key" in following.text and "I am sorry about the key" not in following.text
    assert further.partition("#")[2] in following.ids


def test_the_rest_of_a_scene_that_is_under_way_comes_first(ask: Ask) -> None:
    shown = page(ask, "/story/brass-key?at=1.1.3")
    (further,) = [link for link in shown.links if "at=1.2" in link]
    assert further.endswith("#m-1.1.3") and "m-1.1.3" in page(ask, further.partition("#")[0]).ids


def test_at_the_end_there_is_nothing_more_and_at_the_start_nothing_yet(ask: Ask) -> None:
    assert "The end." in page(ask, "/story/brass-key?at=end").text
    start = page(ask, "/story/brass-key?at=start")
    assert "Nothing has been read yet" in start.text and "Ines" not in start.text
    assert any("at=1.2" in link for link in start.links)


def test_a_page_is_a_chapter_and_any_line_opens_its_own(ask: Ask) -> None:
    last = page(ask, "/story/demo?at=2.3")
    assert "m-2.2.4" in last.ids and "m-1.1.1" not in last.ids
    first = page(ask, "/story/demo?at=2.3&see=1.1.1.7")
    assert "m-1.1.1.7" in first.ids and "m-2.2.4" not in first.ids
    assert "m-2.2.1" in page(ask, "/story/demo?at=2.3&see=nonsense").ids


def test_contents_list_what_was_reached(ask: Ask) -> None:
    shown = page(ask, "/story/demo?at=1.3&see=1.1")
    assert "Yellow Flag" in shown.text and "Six Feet" in shown.text
    for later in ("The Arm Before the Spine", "The Tuesday Boat"):
        assert later not in ask("GET", "/story/demo?at=1.2").text


def test_every_link_into_the_story_leads_to_something_there(ask: Ask) -> None:
    for start in ("/story/demo?at=2.3", "/story/demo?at=2.3&q=tongs"):
        here = page(ask, start)
        assert any(link.startswith("/story/") for link in here.links)
        for link in here.links:
            address = urlsplit(urljoin(start, link))
            if address.path == "/story/demo" and address.fragment:
                assert address.fragment in page(ask, f"{address.path}?{address.query}").ids, link


def test_a_false_name_is_shown_until_it_is_known(ask: Ask) -> None:
    early = ask("GET", "/story/demo?at=1.2").text
    assert "Aurel Benedek" in early and "Danilo" not in early
    assert "Danilo Reuss" in ask("GET", "/story/demo?at=end&see=1.1").text


def test_search_marks_what_was_found_and_leads_there(ask: Ask) -> None:
    answer = ask("GET", "/story/brass-key", params={"at": "2.1", "q": "THIEF"})
    assert "<mark>thief</mark>" in answer.text and "by his shoes" not in answer.text
    (link,) = [link for link in Page(answer.text).links if link.endswith("#m-1.2.2")]
    assert "<mark>thief</mark>" in ask("GET", link.partition("#")[0]).text
    assert "Nothing found" in page(ask, "/story/brass-key?at=1.2&q=lighthouse").text


def test_what_a_reader_types_is_never_markup(ask: Ask) -> None:
    answer = ask("GET", "/story/brass-key", params={"at": "2.1", "q": "<script>x</script>", "see": "<b>"})
    assert answer.status_code == 200 and "<script>x" not in answer.text


@pytest.mark.parametrize(("path", "status"), [("/story/none", 404), ("/story/demo?at=nonsense", 404)])
def test_what_is_not_there(ask: Ask, path: str, status: int) -> None:
    assert ask("GET", path).status_code == status


def stops(chapters: list[list[int]]) -> list[Stop]:
    """A timeline of chapters, given as the lines of their scenes, all of which were reached."""
    timeline = []
    for chapter, scenes in enumerate(chapters, 1):
        timeline.append(Stop(Moment((chapter,)), True, title=f"Chapter {chapter}"))
        timeline += [Stop(Moment((chapter, number)), True, lines=lines) for number, lines in enumerate(scenes, 1)]
    return timeline


@given(st.lists(st.lists(st.integers(0, 1500), min_size=1, max_size=6), min_size=1, max_size=6))
def test_every_line_is_on_one_page_in_order_and_no_page_is_heavy(chapters: list[list[int]]) -> None:
    pages = paginate(stops(chapters))
    read = [
        (*segment.scene.moment.numbers, line)
        for story_page in pages
        for segment in story_page.segments
        for line in range(segment.first, segment.last + 1)
    ]
    assert read == [
        (chapter, scene, line)
        for chapter, scenes in enumerate(chapters, 1)
        for scene, lines in enumerate(scenes, 1)
        for line in range(1, lines + 1)
    ]
    for story_page in pages:
        assert sum(segment.last - segment.first + 1 for segment in story_page.segments) < 3 * PAGE_LINES
        assert len({segment.scene.moment.numbers[0] for segment in story_page.segments}) == 1, (
            "a page is of one chapter"
        )


@given(st.lists(st.lists(st.integers(1, 1500), min_size=1, max_size=5), min_size=1, max_size=5), st.data())
def test_a_line_is_found_on_the_page_that_has_it(chapters: list[list[int]], data: st.DataObject) -> None:
    pages = paginate(stops(chapters))
    chapter = data.draw(st.integers(1, len(chapters)))
    scene = data.draw(st.integers(1, len(chapters[chapter - 1])))
    line = data.draw(st.integers(1, chapters[chapter - 1][scene - 1]))
    story_page = pages[page_index(pages, Moment((chapter, scene, line)))]
    assert any(
        segment.scene.moment.numbers == (chapter, scene) and segment.first <= line <= segment.last
        for segment in story_page.segments
    )
    assert page_index(pages, Moment((chapter,))) == next(
        index for index, story_page in enumerate(pages) if story_page.start.numbers[0] == chapter
    )


def test_a_page_knows_the_chapter_it_begins() -> None:
    first, second, third = paginate(stops([[10, 20], [450, 30]]))
    assert first.title is not None and first.title.title == "Chapter 1"
    assert second.title is not None and second.title.moment == Moment((2,))
    assert third.title is None and third.start == Moment((2, 2))


def test_without_a_moment_a_story_opens_where_reading_stopped() -> None:
    pages = paginate(stops([[10], [10], [10]]))
    assert page_index(pages, None) == 2
    assert page_index(pages, Moment((9,))) == 2
    assert page_index(pages, Moment((0,))) == 0


def test_what_was_not_reached_is_on_no_page() -> None:
    unread = [Stop(Moment((2,)), False), Stop(Moment((2, 1)), False)]
    assert [story_page.start.dotted for story_page in paginate([*stops([[5]]), *unread])] == ["1.1"]
    assert paginate(unread) == []


def test_addresses_escape_what_they_carry_and_never_point_past_the_moment() -> None:
    at = Moment((2, 1))
    assert story_address("a/b c", at, Moment((1, 2, 3)), "x&y") == ("/story/a%2Fb%20c?at=2.1&see=1.2.3&q=x%26y#m-1.2.3")
    assert story_address("s", at, Moment((2, 1))).endswith("#read-on")
    assert story_address("s", at) == "/story/s?at=2.1"
