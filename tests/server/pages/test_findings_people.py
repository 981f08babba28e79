"""The People page without scripts: what was found by person, decided by forms, kept at once, and for authors alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from server.conftest import Ask, MakeContext
from stories import brass_key, found_fact, found_tie, write_claims
from understudy.formats import read
from understudy.people import draft as drafting
from understudy.people.draft import read_draft
from understudy.progress import Progress
from understudy.server.access import AccessPolicy
from understudy.server.app import make_app
from understudy.server.context import AppContext
from understudy.story.storyfile import Story
from understudy.story.types import Fact, Moment, Relation

EVIL = "<script>alert(1)</script>"


def claims(story: Story, _: Progress | None = None) -> Iterator[Fact | Relation]:
    yield found_fact("Tobias Rook", "hobby", f"hooks {EVIL}", Moment((1, 1, 3), story.levels), confidence=0.7)
    yield found_tie("Tobias Rook", "Mara Quill", "spouse", Moment((1, 2, 1), story.levels), confidence=0.8, term="wife")
    yield found_tie("Mara Quill", "Tobias Rook", "friend", Moment((1, 2, 2), story.levels), confidence=0.4)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return brass_key(tmp_path / "found-key")


@pytest.fixture
def context(make_context: MakeContext, folder: Path) -> AppContext:
    write_claims(read(folder), folder / "found.toml", list(claims(read(folder))))
    context = make_context()
    context.stories.put("key", read(folder))
    return context


def ids(context: AppContext) -> dict[str, str]:
    return {entry.kind: entry.id for entry in read_draft(context.stories.story("key")).file.entries}


def decisions(context: AppContext) -> dict[str, str]:
    return {e.kind: e.decision.verdict for e in read_draft(context.stories.story("key")).file.entries}


def test_entries_of_a_person_with_their_lines_and_who_was_there(ask: Ask) -> None:
    page = ask("GET", "/people/key").text
    assert "An author’s page" in page and "3 found" in page and "Tobias Rook: I sold her key" in page
    assert EVIL not in page and "&lt;script&gt;" in page
    assert 'href="/story/key?at=end&amp;see=1.2.1#m-1.2.1"' in page
    assert "There: <span" in page and "Ines Vale, Tobias Rook" in page
    assert "Not used: below the bound" in ask("GET", "/people/key", params={"who": "Mara Quill"}).text


def test_deciding_changes_the_story_at_once(ask: Ask, context: AppContext) -> None:
    friend = ids(context)["friend"]
    answer = ask("POST", "/people/key/decide?who=Mara%20Quill", data={"entry": friend, "decision": "accepted"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/people/key?who=Mara%20Quill")
    persona = ask("GET", "/api/stories/key/characters/Mara%20Quill").json()
    assert persona["relations"][0]["kind"] == "friend" and persona["relations"][0]["found"]["sources"] == ["1.2.2"]
    ask("POST", "/people/key/decide", data={"entry": friend, "decision": "changed", "value": "enemy"})
    persona = ask("GET", "/api/stories/key/characters/Mara%20Quill").json()
    assert [tie["kind"] for tie in persona["relations"]] == ["enemy"]
    ask("POST", "/people/key/undo")
    assert decisions(context)["friend"] == "accepted"
    ask("POST", "/people/key/all", data={"kind": "hobby", "decision": "rejected"})
    assert decisions(context)["hobby"] == "rejected"
    assert "rejected" in ask("GET", "/people/key?show=rejected&who=Tobias%20Rook").text


@pytest.mark.parametrize(
    ("path", "form", "status"),
    [
        ("decide", {"entry": "nothing", "decision": "accepted"}, 400),
        ("decide", {"entry": "nothing", "decision": "burnt"}, 400),
        ("all", {"kind": "nothing", "decision": "accepted"}, 400),
        ("undo", {}, 400),
    ],
)
def test_what_cannot_be_done_is_told_of(ask: Ask, path: str, form: dict[str, str], status: int) -> None:
    answer = ask("POST", f"/people/key/{path}", data=form)
    assert answer.status_code == status and 'role="alert"' in answer.text


def test_looking_for_people_from_the_page(
    ask: Ask, context: AppContext, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "found.toml").unlink()
    assert "Look for people in the text" in ask("GET", "/people/key").text
    monkeypatch.setattr(drafting, "FINDERS", (("fake", claims),))
    assert ask("POST", "/people/key/find").status_code == 303
    assert set(decisions(context)) == {"hobby", "spouse", "friend"}


def test_a_damaged_file_is_told_of(ask: Ask, folder: Path) -> None:
    (folder / "found.toml").write_text("bound = 3\n")
    answer = ask("GET", "/people/key")
    assert answer.status_code == 400 and "&#39;bound&#39; is 3" in answer.text


def test_readers_may_not_see_it(context: AppContext) -> None:
    import asyncio

    from server.conftest import visiting

    policy = AccessPolicy.for_host("127.0.0.1", "a-key-of-authors-alone", reader_key="a-key-of-all-the-readers")

    async def get(path: str) -> httpx.Response:
        async with visiting(make_app(context, policy)) as client:
            return await client.get(path, headers={"Authorization": "Bearer a-key-of-all-the-readers"})

    assert asyncio.run(get("/people/key")).status_code == 403
    story = asyncio.run(get("/story/key")).text
    assert "/people/key" not in story


def test_found_ties_are_marked_on_the_character_page_and_drawn_otherwise(ask: Ask) -> None:
    page = ask("GET", "/character/key/Tobias%20Rook?at=end").text
    assert re.search(r'<line class="tie unsaid found"', page) and 'class="tie warm-3"' in page
    assert "dash-dotted ones were found in the text" in page
    assert "Mara Quill seems to be my wife." in page and 'class="found"' in page and "found, 1.2.1" in page
    before = ask("GET", "/character/key/Tobias%20Rook?at=1.1").text
    assert "found, " not in before and "hooks" not in before
    other = ask("GET", "/character/key/Ines%20Vale?at=end").text
    assert "It seems that what Tobias Rook enjoys is hooks" in other, "she was there"
    mara = ask("GET", "/character/key/Mara%20Quill?at=end").text
    assert "hooks" not in mara
