from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.conftest import Ask
from understudy.formats import read
from understudy.server.pages.story import highlight, query_words, search
from understudy.story.storyfile import Story


def moments(story: Story, query: str, at: str) -> list[str]:
    return [hit.line.moment.dotted for hit in search(story, query, story.moment(at)).hits]


def test_only_what_was_read_is_found(stories: dict[str, Story]) -> None:
    story = stories["brass-key"]
    assert moments(story, "lighthouse", "1.2") == []
    assert moments(story, "lighthouse", "2.1") == ["1.2.1"]
    assert moments(story, "LIGHTHOUSE", "end") == ["1.2.1", "2.2.1"]


def test_every_word_must_be_there(stories: dict[str, Story]) -> None:
    story = stories["brass-key"]
    assert moments(story, "key lighthouse", "end") == ["1.2.1", "2.2.1"]
    assert moments(story, "key thief", "end") == []
    assert moments(story, "   ", "end") == []
    assert moments(story, "Rain", "end") == ["1.1.1"]


def test_japanese_is_found_without_spaces_and_in_any_width() -> None:
    story = read("demo-ja")
    hits = search(story, "映写機", story.moment("end")).hits
    assert hits and all("映写機" in hit.line.text for hit in hits)
    assert highlight("ＡＢＣ温度", query_words("abc")) == [("ＡＢＣ", True), ("温度", False)]


def test_who_speaks_goes_by_the_name_of_the_moment(stories: dict[str, Story]) -> None:
    story = stories["demo"]
    speakers = {at: {hit.speaker for hit in search(story, "imagine", story.moment(at)).hits} for at in ("1.2", "end")}
    assert "Aurel Benedek" in speakers["1.2"] and "Danilo Reuss" not in speakers["1.2"]
    assert "Danilo Reuss" in speakers["end"]


def test_more_than_is_shown_is_counted(stories: dict[str, Story]) -> None:
    story = stories["demo"]
    few = search(story, "the", story.moment("end"), limit=3)
    assert len(few.hits) == 3 and few.total > 100


def test_what_was_looked_for_is_marked() -> None:
    assert highlight("The key, the KEY.", query_words("key")) == [
        ("The ", False), ("key", True), (", the ", False), ("KEY", True), (".", False),
    ]  # fmt: skip
    assert highlight("Straße", query_words("SS")) == [("Stra", False), ("ß", True), ("e", False)]


@given(st.text(), st.text())
def test_marking_changes_no_letter(text: str, query: str) -> None:
    words = query_words(query)
    pieces = highlight(text, words)
    assert "".join(piece for piece, _ in pieces) == text
    assert all(piece for piece, _ in pieces)


def test_over_http(ask: Ask) -> None:
    answer = ask("GET", "/api/stories/brass-key/search", params={"q": "thief", "at": "2.1"}).json()
    assert answer["total"] == 1 and answer["moment"] == "2.1"
    assert answer["lines"] == [
        {"moment": "1.2.2", "speaker": "Mara Quill", "text": "Then you are a thief, and a cheap one."}
    ]
    whole = ask("GET", "/api/stories/brass-key/search", params={"q": "thief", "limit": 1}).json()
    assert whole["total"] == 2 and len(whole["lines"]) == 1


@pytest.mark.parametrize("query", [{}, {"q": ""}, {"q": "x" * 201}, {"q": "x", "limit": 0}])
def test_what_is_no_query_is_refused(ask: Ask, query: dict[str, str]) -> None:
    assert ask("GET", "/api/stories/brass-key/search", params=query).status_code == 400
