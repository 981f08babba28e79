"""The Talk page as the server draws it: readable without scripts, and nothing in it from after the moment."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from server.chats.conftest import events_of
from server.chats.test_service import reaching
from server.conftest import Ask
from understudy.formats import read
from understudy.server.access import AccessPolicy
from understudy.server.app import make_app
from understudy.server.context import AppContext
from understudy.server.story_registry import StoryRegistry
from understudy.story.dialogue import Evidence, Reply, Situation, Turn
from understudy.story.storyfile import Story

LORE = [{"keys": ["lamp", "{{char}}'s light"], "content": "{{char}} cleans the lamp at dawn.", "enabled": True}]


def begun(ask: Ask, at: str = "1.2") -> str:
    chat = {"story": "brass-key", "characters": ["Tobias Rook"], "at": at, "speaker": "Ines Vale"}
    return str(ask("POST", "/api/chats", json=chat).json()["id"])


def test_the_first_page_introduces_somebody_at_the_end_of_the_first_chapter(ask: Ask) -> None:
    page = ask("GET", "/", params={"story": "demo"})
    assert page.status_code == 200
    assert 'data-at="1.2.1"' in page.text
    assert "Talk with Zita Karst" in page.text
    assert "I smoke the letters" in page.text
    assert 'role="slider"' in page.text
    assert "/api/stories/demo/characters/Zita%20Karst/portrait.svg" in page.text


def test_without_a_story_the_first_one_is_shown(ask: Ask) -> None:
    assert 'data-story="brass-key"' in ask("GET", "/").text


def test_nothing_on_the_page_comes_from_after_its_moment(ask: Ask, stories: dict[str, Story]) -> None:
    page = ask("GET", "/", params={"story": "demo", "at": "1.2", "who": "Zita"}).text
    at = stories["demo"].moment("1.2")
    later = [title for moment, title in stories["demo"].headings() if moment > at]
    later += [setting for moment, setting, _ in stories["demo"].outline() if moment >= at]
    earlier = [setting for moment, setting, _ in stories["demo"].outline() if moment < at]
    assert later and earlier
    assert [title for title in set(later) - set(earlier) if title in page] == []
    assert "Danilo" not in page and "Sool" not in page
    assert page.count('data-scenes="1"') == len(list(stories["demo"].outline()))  # that there is more is no secret


def test_who_is_chosen_and_as_whom_one_speaks_are_in_the_address(ask: Ask) -> None:
    page = ask(
        "GET", "/", params=[("story", "demo"), ("at", "2.3"), ("who", "Zita"), ("who", "Pia Lenk"), ("as", "Benedek")]
    )
    assert "Talk with Zita Karst and Pia Lenk" in page.text
    assert re.search(r'<option value="Aurel Benedek" selected>', page.text)
    chosen = re.findall(r'name="who" value="([^"]+)"[^>]* checked', page.text)
    assert set(chosen) == {"Zita Karst", "Pia Lenk"}


def test_a_chat_can_be_read_without_scripts_with_what_each_reply_was_made_from(ask: Ask) -> None:
    chat = begun(ask)
    events_of(ask("POST", f"/api/chats/{chat}/messages", json={"text": "Where is my key?"}))
    page = ask("GET", f"/chats/{chat}").text
    assert "Where is my key?" in page
    assert "This is the line numbered 1." in page
    assert "reply 1 of 100" in page
    assert f"/api/chats/{chat}/export?format=markdown" in page
    assert "Talking needs JavaScript" in page


def test_a_chat_moved_back_marks_what_is_not_remembered_there(ask: Ask) -> None:
    chat = begun(ask, "2.2")
    events_of(ask("POST", f"/api/chats/{chat}/messages", json={"text": "Where is my key?"}))
    ask("PATCH", f"/api/chats/{chat}", json={"at": "1.2"})
    events_of(ask("POST", f"/api/chats/{chat}/messages", json={"text": "And now?"}))
    page = ask("GET", f"/chats/{chat}").text
    assert page.count("not remembered here") == 2
    assert "Back to Act 1, scene 2" in page


@pytest.mark.parametrize(
    ("address", "status"),
    [("/?story=nothing", 404), ("/?story=demo&at=9.9", 404), ("/?story=demo&who=Nobody", 404), ("/chats/nothing", 404)],
)
def test_what_cannot_be_shown_is_a_page_that_says_where_to_go(ask: Ask, address: str, status: int) -> None:
    page = ask("GET", address)
    assert page.status_code == status
    assert 'role="alert"' in page.text and 'href="/stories"' in page.text
    assert "Sool" not in page.text and "Danilo" not in page.text


def test_before_anybody_has_spoken_nobody_can_be_talked_to(ask: Ask) -> None:
    page = ask("GET", "/", params={"story": "demo", "at": "start"}).text
    assert "Nobody has spoken yet" in page
    assert "Move along the timeline" in page


def test_portraits_differ_and_keep_their_colours_as_others_come(ask: Ask, stories: dict[str, Story]) -> None:
    def colours(at: str) -> dict[str, str]:
        page = ask("GET", "/", params={"story": "demo", "at": at}).text
        cast = page.partition('data-cast data-part="cast"')[2].partition("</form>")[0]
        sources = re.findall(r"characters/([^/]+)/portrait\.svg\?tone=(\d+)", cast)
        return dict(sources)

    early, late = colours("1.2"), colours("end")
    assert len(set(late.values())) == len(late) == len(stories["demo"].cast_before(stories["demo"].moment("end")))
    assert early and {name: late[name] for name in early if name in late} == {
        name: tone for name, tone in early.items() if name in late
    }


class Lamplit:
    """Says what entry of the lorebook it was given."""

    def reply(self, situation: Situation, history: Sequence[Turn]) -> Reply:
        return Reply("Lit.", evidence=(Evidence("lore", "Odile cleans the lamp at dawn.", words=("lamp",)),))


def test_the_lorebook_is_shown_to_authors_and_what_of_it_came_up_to_all(tmp_path: Path) -> None:
    book = {"entries": [{**entry, "insertion_order": 1, "extensions": {}} for entry in LORE], "extensions": {}}
    data = {"name": "Odile", "description": "Odile keeps the light.", "character_book": book}
    card = {"spec": "chara_card_v2", "spec_version": "2.0", "data": data}
    (tmp_path / "odile.json").write_text(json.dumps(card), encoding="utf-8")
    policy = AccessPolicy.for_host("127.0.0.1", "a" * 20, reader_key="b" * 20)
    author, reader = ({"Authorization": f"Bearer {key * 20}"} for key in "ab")
    registry = StoryRegistry({"odile": read(tmp_path / "odile.json")})
    with AppContext.open(registry, Lamplit(), tmp_path / "data") as context:
        context.chats.pace_s = 0
        ask = reaching(make_app(context, policy))
        address = "/?story=odile"
        page = ask("GET", address, headers=author).text
        assert "knows the story up to" not in page and '<div class="talk-time" hidden>' in page  # a card tells none
        assert "Odile cleans the lamp at dawn." in page and "lamp, Odile&#39;s light" in page
        assert "cleans the lamp" not in ask("GET", address, headers=reader).text
        begun = {"story": "odile", "characters": ["Odile"]}
        chat = ask("POST", "/api/chats", json=begun, headers=reader).json()["id"]
        events_of(ask("POST", f"/api/chats/{chat}/messages", json={"text": "The lamp?"}, headers=reader))
        page = ask("GET", f"/chats/{chat}", headers=reader).text
        assert "From the lorebook" in page and "brought up by: lamp" in page and "divider" not in page


def test_the_default_agent_is_told_in_words(ask: Ask) -> None:
    page = ask("GET", "/", params={"story": "demo", "agent": "auto"}).text
    assert "the best answer that passes the guards" in page and "words by" not in page
    assert "words by" in ask("GET", "/", params={"story": "demo", "agent": "writer"}).text
