"""The Talk view with several in the scene, replies that go on, settings, the lorebook, and chats that come back."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from browser.accessibility import assert_accessible
from browser.conftest import FREELY, MakeSite
from browser.test_talk import begin, bubbles, replies, say
from server.conftest import serving
from understudy.agents import Scripted
from understudy.formats import read
from understudy.server.app import make_app
from understudy.server.context import AppContext
from understudy.server.story_registry import StoryRegistry
from understudy.story.dialogue import Sampling
from writers import PIECES, Writer

CARD = """{"spec": "chara_card_v2", "spec_version": "2.0", "data": {"name": "Odile",
"description": "Odile keeps the light.", "first_mes": "Who is there?",
"alternate_greetings": ["Come in, {{user}}."], "character_book": {"entries": [
{"keys": ["lamp"], "content": "{{char}} cleans the lamp at dawn.", "enabled": true, "insertion_order": 1},
{"keys": ["cellar"], "content": "Nobody goes there.", "enabled": false, "insertion_order": 2}]}}}"""


def test_who_answers_can_be_chosen_and_they_talk_on_by_themselves(page: Page, site: str) -> None:
    begin(page, site, at="2.2")
    expect(page.get_by_label("Answered by")).to_have_count(0)
    page.get_by_label("Tobias Rook is in the scene").check()
    answered, turn = page.get_by_label("Answered by"), page.get_by_role("button", name="Next turn")
    expect(turn).to_be_disabled()
    authors = page.locator(".by-character[data-message] .message-author")
    say(page, "It rains.")
    expect(authors).to_have_text(["Ines Vale"])
    turn.click()
    expect(authors).to_have_text(["Ines Vale", "Tobias Rook"])
    expect(turn).to_be_focused()
    answered.select_option("Everyone")
    say(page, "What now?")
    expect(authors).to_have_text(["Ines Vale", "Tobias Rook", "Ines Vale", "Tobias Rook"])
    expect(answered).to_have_value("*")  # it holds until something else is chosen
    answered.select_option("Tobias Rook")
    say(page, "Ines?")
    expect(authors.last).to_have_text("Tobias Rook")
    expect(authors).to_have_count(5)
    page.get_by_label("Tobias Rook is in the scene").uncheck()
    expect(answered).to_have_count(0)
    say(page, "And alone?")
    expect(authors.last).to_have_text("Ines Vale")
    page.get_by_label("Tobias Rook is in the scene").check()
    assert_accessible(page)


def test_a_reply_goes_on_and_what_stood_there_is_a_version(page: Page, make_site: MakeSite) -> None:
    writer, first = Writer(), "".join(PIECES)
    site, _ = make_site(writer)
    begin(page, site)
    say(page, "Where were you?")
    expect(replies(page)).to_have_text([first])
    writer.pieces, writer.gated = ("Not ", "once."), True
    page.get_by_role("button", name="Continue").click()
    expect(page.locator(".message[aria-busy] .bubble")).to_contain_text(first)  # it stands there meanwhile
    writer.release(2)
    expect(replies(page)).to_have_text([f"{first} Not once."])
    expect(page.get_by_role("button", name="Continue")).to_be_focused()
    page.get_by_role("button", name="Version before").click()
    expect(replies(page)).to_have_text([first])


def test_how_replies_are_written_is_kept_with_the_chat(page: Page, make_site: MakeSite) -> None:
    writer = Writer()
    site, _ = make_site({"writer": writer, "script": Scripted(["Yes."])})
    begin(page, site)
    settings = page.get_by_role("button", name="How replies are written")
    dialog = page.get_by_role("dialog", name="How replies are written")
    settings.click()
    expect(dialog).to_contain_text("What is left blank is up to writer")
    assert_accessible(page)
    dialog.get_by_label("Temperature").fill("3")
    dialog.get_by_role("button", name="Use these").click()
    expect(dialog).to_be_visible()  # out of range
    dialog.get_by_label("Temperature").fill("1.25")
    dialog.get_by_label("Longest reply").fill("64")
    dialog.get_by_role("button", name="Use these").click()
    page.wait_for_url("**/chats/*")
    say(page, "Where were you?")
    expect(replies(page)).to_have_count(1)
    assert writer.samplings == [Sampling(temperature=1.25, max_tokens=64)]
    page.reload()
    page.get_by_label("Words by").select_option("script")
    expect(page.locator("[data-agent-name]")).to_have_text("script")
    settings.click()
    expect(dialog).to_contain_text("script chooses among what there is")
    expect(dialog.get_by_label("Temperature")).to_have_value("1.25")
    dialog.get_by_role("button", name="Leave all to the agent").click()
    expect(page.locator("[data-talk]")).to_have_attribute("data-sampling", "{}")
    settings.click()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()


def test_a_deleted_chat_comes_back_by_undo_and_from_the_list(page: Page, site: str) -> None:
    begin(page, site)
    say(page, "Where is the key?")
    expect(replies(page)).to_have_count(1)
    address = page.url
    for undo in ("Undo", "Restore: Where is the key?"):
        page.locator(".talk-head summary").click()
        page.get_by_role("button", name="Delete chat").click()
        page.get_by_role("dialog").get_by_role("button", name="Delete").click()
        expect(page.locator("[data-deleted]")).to_contain_text("Deleted: Where is the key?")
        expect(page.locator(".chat-link")).to_have_count(0)
        if undo != "Undo":
            page.reload()
            expect(page.locator("[data-deleted]")).to_be_hidden()
            page.get_by_text("Deleted lately: 1").click()
        assert_accessible(page, [1280])
        page.get_by_role("button", name=undo).click()
        page.wait_for_url(address)
        expect(bubbles(page)).to_have_count(2)
        expect(page.get_by_text("Deleted lately")).to_have_count(0)


def test_chats_of_the_same_title_are_told_apart(page: Page, site: str) -> None:
    for follow_up in ("And the hook?", "And the rain?"):
        begin(page, site)
        for count, text in enumerate(("Where is the key?", follow_up), 1):
            say(page, text)
            expect(replies(page)).to_have_count(count)
    chats = page.locator(".chat-link")
    expect(chats.locator(".chat-title")).to_have_text(["Where is the key?"] * 2)
    expect(chats.nth(0)).to_contain_text("And the rain?")
    expect(chats.nth(1)).to_contain_text("And the hook?")
    expect(chats.locator("time")).to_have_count(2)


@pytest.fixture
def lighthouse(tmp_path: Path) -> Path:
    path = tmp_path / "odile.json"
    path.write_text(CARD, encoding="utf-8")
    return path


def test_greetings_and_lorebook_of_a_card_are_there_to_read(page: Page, lighthouse: Path, tmp_path: Path) -> None:
    registry = StoryRegistry({"odile": read(lighthouse)})
    with (
        AppContext.open(registry, Scripted(["Yes."] * 9), tmp_path / "data") as context,
        serving(make_app(context, limits=FREELY)) as site,
    ):
        page.goto(f"{site}/?story=odile&at=end&who=Odile")
        page.get_by_text("2 entries").click()
        entries = page.locator(".lore-list li")
        expect(entries).to_have_text(
            ["Comes up with: lamp Odile cleans the lamp at dawn.", "Switched off Nobody goes there."]
        )
        assert_accessible(page, [1280])
        greetings = page.locator(".greetings .bubble")
        expect(greetings).to_have_text(["Who is there?", "Come in."])  # seen before anything is said
        page.get_by_role("button", name="Begin with this").last.click()
        expect(page.locator(".by-character[data-message] .bubble")).to_have_text(["Come in."])
        expect(page.get_by_role("group", name="Other versions")).to_contain_text("2/2")
        page.goto(f"{site}/?story=odile&at=end&who=Odile")
        page.get_by_text("2 entries").click()
        say(page, "Is the lamp lit?")
        expect(page.locator(".by-character[data-message]")).to_have_count(2)
        expect(entries.first).to_be_visible()  # it stays open as the page is drawn anew
