"""The Talk view in a real browser: a conversation, time, two tabs, and everything that can be done to a message."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from threading import Event

from playwright.sync_api import BrowserContext, Locator, Page, expect

from browser.conftest import MakeSite
from killable import server
from understudy.agents import Scripted
from understudy.errors import AgentError
from understudy.story.dialogue import Candidate, Reply, Situation, Turn

LONG = " ".join(f"word{number}" for number in range(1, 3000))  # at the pace of these tests, for minutes


def say(page: Page, text: str) -> None:
    """Send a message as soon as that is possible: while a reply is being told, it stays in the box."""
    expect(page.get_by_role("button", name="Stop")).to_be_hidden()
    page.get_by_label("Message").fill(text)
    page.get_by_label("Message").press("Enter")


def replies(page: Page) -> Locator:
    """Replies that have been told to their end."""
    return page.locator(".message.by-character[data-message] .bubble")


def bubbles(page: Page) -> Locator:
    return page.locator(".message[data-message] .bubble")


def slider(page: Page) -> Locator:
    return page.get_by_role("slider", name="Moment in the story")


def begin(page: Page, site: str, story: str = "brass-key", at: str = "2.1") -> None:
    page.goto(f"{site}/?story={story}&at={at}&who=Ines")


def test_a_whole_conversation_is_there_after_a_reload(page: Page, site: str) -> None:
    begin(page, site)
    expect(page.get_by_role("heading", level=1)).to_have_text("Talk with Ines Vale")
    say(page, "Where is the key?")
    expect(replies(page)).to_have_text(["This is the line numbered 1."])
    expect(page.locator("[data-announce]")).to_have_text("Ines Vale: This is the line numbered 1.")
    expect(page.get_by_label("Message")).to_be_focused()
    say(page, "And the hook?")
    expect(replies(page)).to_have_count(2)
    assert "/chats/" in page.url
    page.reload()
    expect(bubbles(page)).to_have_text(
        ["Where is the key?", "This is the line numbered 1.", "And the hook?", "This is the line numbered 2."]
    )
    expect(page.get_by_role("heading", level=1)).to_have_text("Where is the key?")
    expect(page.locator(".chat-list a[aria-current]")).to_contain_text("Where is the key?")


def test_somebody_thinks_then_speaks_word_by_word(page: Page, make_site: MakeSite) -> None:
    thinking = Event()

    class Thinker(Scripted):
        def reply(self, situation: Situation, history: Sequence[Turn]) -> Reply:
            assert thinking.wait(120)
            return super().reply(situation, history)

    site, _ = make_site(Thinker([LONG]), pace=0.05)
    begin(page, site)
    say(page, "Tell me everything.")
    expect(page.get_by_role("status", name="Ines Vale is about to answer")).to_be_visible()
    thinking.set()
    reply = page.locator(".message[aria-busy] .bubble")
    expect(reply).to_contain_text("word3")
    assert "word2999" not in reply.inner_text()
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("Stopped here.")).to_be_visible()


def test_an_opener_begins_a_chat(page: Page, site: str) -> None:
    begin(page, site)
    page.get_by_role("button", name="Who are you?").click()
    expect(bubbles(page)).to_have_text(["Who are you?", "This is the line numbered 1."])


def test_stop_keeps_what_was_seen(page: Page, make_site: MakeSite) -> None:
    site, _ = make_site(Scripted([LONG, "Second."]), pace=0.05)
    begin(page, site)
    say(page, "Tell me everything.")
    expect(page.locator(".message[aria-busy] .bubble")).to_contain_text("word5")
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("Stopped here.")).to_be_visible()
    partial = replies(page).inner_text()
    assert partial.startswith("word1 word2 word3 word4 word5")
    assert "word2999" not in partial
    page.reload()
    expect(replies(page)).to_have_text([partial])
    say(page, "Go on.")
    expect(replies(page)).to_have_text([partial, "Second."])


def test_retry_edit_delete_and_branch(page: Page, site: str) -> None:
    begin(page, site)
    say(page, "Where is the key?")
    expect(replies(page)).to_have_text(["This is the line numbered 1."])
    page.get_by_role("button", name="Retry").click()
    expect(replies(page)).to_have_text(["This is the line numbered 2."])
    versions = page.get_by_role("group", name="Other versions")
    expect(versions).to_contain_text("2/2")
    versions.get_by_role("button", name="Version before").click()
    expect(replies(page)).to_have_text(["This is the line numbered 1."])
    expect(versions).to_contain_text("1/2")

    page.locator(".by-user").hover()
    page.locator(".by-user").get_by_role("button", name="Edit").click()
    page.get_by_role("dialog").get_by_label("Message").fill("Where is the hook?")
    page.get_by_role("button", name="Save as a new branch").click()
    expect(bubbles(page)).to_have_text(["Where is the hook?", "This is the line numbered 1."])
    page.locator(".by-user").get_by_role("button", name="Version before").click()
    expect(bubbles(page)).to_have_text(["Where is the key?", "This is the line numbered 2."])

    old = page.url
    page.get_by_role("button", name="Branch").last.click()
    page.wait_for_url(lambda url: "/chats/" in url and url != old)
    expect(bubbles(page)).to_have_text(["Where is the key?", "This is the line numbered 2."])
    expect(page.get_by_role("heading", level=1)).to_have_text("Where is the key? (branch)")

    page.locator(".by-character").get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    expect(bubbles(page)).to_have_count(2)
    page.locator(".by-character").get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(bubbles(page)).to_have_text(["Where is the key?"])
    page.locator("[data-deleted]").get_by_role("button", name="Undo").click()
    expect(bubbles(page)).to_have_text(["Where is the key?", "This is the line numbered 2."])
    expect(page.locator("[data-deleted]")).to_be_hidden()
    page.locator(".by-character").get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.locator("[data-deleted]")).to_contain_text("Deleted: This is the line numbered 2.")
    page.get_by_role("button", name="Answer").click()
    expect(page.locator("[data-deleted]")).to_be_hidden()
    expect(bubbles(page)).to_have_count(2)
    page.goto(old)
    expect(bubbles(page)).to_have_count(2)


def test_a_chat_is_renamed_and_deleted(page: Page, site: str) -> None:
    begin(page, site)
    say(page, "Where is the key?")
    expect(replies(page)).to_have_count(1)
    page.locator(".talk-head summary").click()
    page.get_by_role("button", name="Rename").click()
    page.get_by_role("dialog").get_by_label("Title").fill('Keys & <b>"hooks"</b>')
    page.get_by_role("dialog").get_by_role("button", name="Rename").click()
    expect(page.get_by_role("heading", level=1)).to_have_text('Keys & <b>"hooks"</b>')
    expect(page.locator(".chat-list")).to_contain_text('Keys & <b>"hooks"</b>')
    page.locator(".talk-head summary").click()
    page.get_by_role("button", name="Delete chat").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.locator(".chat-list")).to_contain_text("What you talk about is kept here.")


def test_moving_through_time_keeps_the_chat_and_shows_the_difference(page: Page, site: str) -> None:
    begin(page, site, at="1.1")
    say(page, "Where is the key?")
    expect(replies(page)).to_have_count(1)

    track = page.locator("[data-timeline-track]")
    box = track.bounding_box()
    thumb = slider(page).bounding_box()
    assert box and thumb
    page.mouse.move(thumb["x"] + thumb["width"] / 2, thumb["y"] + thumb["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=8)
    page.mouse.up()
    expect(page.locator("[data-timeline-name]")).to_have_text("Act 2, scene 1")
    expect(slider(page)).to_have_attribute("aria-valuetext", "Act 2, scene 1: High Water")
    difference = page.locator("[data-difference]")
    expect(difference).to_contain_text("Ines Vale, Act 2, scene 1")
    expect(difference).to_contain_text("Tobias Rook")

    expect(page.get_by_role("link", name="Story", exact=True)).to_have_attribute("href", "/story/brass-key?at=2.1")

    difference.get_by_role("button", name="Ask the last question again").click()
    expect(bubbles(page)).to_have_text(
        ["Where is the key?", "This is the line numbered 1.", "Where is the key?", "This is the line numbered 2."]
    )
    expect(page.locator(".divider")).to_have_text(["Act 1, scene 1", "On to Act 2, scene 1"])

    slider(page).focus()
    page.keyboard.press("Home")
    expect(page.locator(".message.forgotten")).to_have_count(2)
    expect(difference).to_contain_text("still to come")
    say(page, "And now?")
    expect(replies(page)).to_have_text(
        ["This is the line numbered 1.", "This is the line numbered 2.", "This is the line numbered 2."]
    )  # it has spoken once before, not twice: the later reply is not remembered
    page.reload()
    expect(page.locator("[data-timeline-name]")).to_have_text("Act 1, scene 1")
    expect(page.locator(".message.forgotten")).to_have_count(2)


def test_the_timeline_tells_nothing_of_what_is_to_come(page: Page, site: str) -> None:
    begin(page, site, at="1.2")
    slider(page).focus()
    slider(page).press("ArrowRight")
    expect(page.locator("[data-timeline-name]")).to_have_text("Act 2, scene 1")
    assert "High Water" not in page.content()
    slider(page).press("Enter")
    expect(page.locator("[data-timeline-title]")).to_have_text("High Water")


def test_a_moment_at_which_somebody_cannot_be_there_is_refused_in_place(page: Page, site: str) -> None:
    page.goto(f"{site}/?story=demo&who=Bohm&at=3.1.1")
    for said in (1, 2):  # first before there is a chat, then in it
        slider(page).focus()
        slider(page).press("End")
        expect(page.get_by_role("alert")).to_contain_text("dead by then")
        expect(page.locator("[data-timeline-name]")).to_have_text("Part 3, chapter 1, scene 1")
        say(page, "How are you, Doctor?")
        expect(page.get_by_role("alert")).to_be_hidden()
        expect(replies(page)).to_have_count(said)


def test_several_are_in_the_scene_and_answer_when_spoken_to(page: Page, site: str) -> None:
    begin(page, site, at="2.2")
    page.get_by_label("Tobias Rook is in the scene").check()
    expect(page.get_by_role("heading", level=1)).to_have_text("Talk with Ines Vale and Tobias Rook")
    say(page, "Tobias, where is your coat?")
    expect(page.locator(".by-character .message-author")).to_have_text(["Tobias Rook"])
    say(page, "Good evening, all!")
    expect(page.locator(".by-character .message-author")).to_have_text(["Tobias Rook", "Ines Vale", "Tobias Rook"])
    page.get_by_label("Ines Vale is in the scene").uncheck()
    expect(page.get_by_label("Message")).to_have_attribute("placeholder", "Say something to Tobias Rook")
    page.get_by_label("Tobias Rook is in the scene").click()
    expect(page.get_by_role("alert")).to_contain_text("Somebody has to be in the scene")
    expect(page.get_by_label("Tobias Rook is in the scene")).to_be_checked()


def test_one_speaks_as_somebody_of_the_story(page: Page, site: str) -> None:
    begin(page, site)
    page.get_by_label("Speaking as").select_option("Tobias Rook")
    expect(page).to_have_url(f"{site}/?story=brass-key&at=2.1&who=Ines+Vale&as=Tobias+Rook")
    say(page, "I took the key.")
    expect(page.locator(".message-author")).to_have_text(["Tobias Rook", "Ines Vale"])
    expect(page.locator(".by-character")).to_contain_text("to Tobias Rook")


def test_two_tabs_of_a_chat_show_the_same(context: BrowserContext, page: Page, site: str) -> None:
    begin(page, site)
    say(page, "Where is the key?")
    expect(replies(page)).to_have_count(1)
    second = context.new_page()
    second.goto(page.url)
    expect(replies(second)).to_have_count(1)
    say(second, "And the hook?")
    expect(replies(second)).to_have_count(2)
    expect(replies(page)).to_have_count(2)
    say(page, "And the rain?")
    expect(bubbles(second)).to_have_count(6)
    slider(second).focus()
    second.keyboard.press("ArrowRight")
    expect(page.locator("[data-timeline-name]")).to_have_text("Act 2, scene 2")


def test_a_chat_is_taken_away_in_three_formats(page: Page, site: str) -> None:
    begin(page, site)
    say(page, 'Where is "the" <key>?')
    expect(replies(page)).to_have_count(1)
    for name, ending in (
        ("Save as Markdown", ".md"),
        ("Save as JSON lines", ".jsonl"),
        ("Save for SillyTavern", ".sillytavern.jsonl"),
    ):
        page.locator(".talk-head summary").click()
        with page.expect_download() as downloading:
            page.get_by_role("link", name=name).click()
        assert downloading.value.suggested_filename == f"where-is-the-key{ending}"
        text = Path(downloading.value.path()).read_text(encoding="utf-8")
        if ending == ".jsonl":
            assert json.loads(text.splitlines()[0])["text"] == 'Where is "the" <key>?'
        page.keyboard.press("Escape")


def test_what_users_type_is_never_run(page: Page, site: str) -> None:
    begin(page, site)
    hostile = "<img src=x onerror=\"document.title='run'\"><script>document.title='run'</script> \u202ediputs"
    say(page, hostile)
    expect(replies(page)).to_have_count(1)
    expect(bubbles(page).first).to_have_text(hostile)
    page.reload()
    expect(bubbles(page).first).to_have_text(hostile)
    assert page.title() != "run"
    assert page.locator(".bubble img, .bubble script").count() == 0


def test_an_error_is_shown_where_it_happened_and_can_be_mended(page: Page, make_site: MakeSite) -> None:
    class Moody(Scripted):
        broken = True

        def reply(self, situation: Situation, history: Sequence[Turn]) -> Reply:
            if self.broken:
                raise AgentError("the agent has lost its voice: start it anew")
            return super().reply(situation, history)

    agent = Moody(["There you are."])
    site, _ = make_site(agent)
    begin(page, site)
    say(page, "Are you there?")
    expect(page.get_by_role("alert")).to_have_text("the agent has lost its voice: start it anew")
    expect(bubbles(page)).to_have_text(["Are you there?"])
    expect(page.get_by_label("Message")).to_have_value("")
    agent.broken = False
    page.get_by_role("button", name="Answer").click()
    expect(replies(page)).to_have_text(["There you are."])
    expect(page.get_by_role("alert")).to_be_hidden()


def test_what_was_typed_is_not_lost_when_the_server_does_not_answer(
    page: Page, context: BrowserContext, site: str
) -> None:
    begin(page, site)
    context.set_offline(True)
    say(page, "Can you hear me?")
    expect(page.get_by_role("alert")).to_contain_text("cannot be reached")
    expect(page.get_by_label("Message")).to_have_value("Can you hear me?")
    context.set_offline(False)
    page.get_by_label("Message").press("Enter")
    expect(bubbles(page)).to_have_text(["Can you hear me?", "This is the line numbered 1."])


def test_what_was_seen_is_there_after_the_server_was_killed(page: Page, story: Path, tmp_path: Path) -> None:
    with server(story, tmp_path) as (process, site):
        begin(page, site)
        say(page, "Tell me everything.")
        expect(page.locator(".message[aria-busy] .bubble")).to_contain_text("word9")
        process.kill()
        process.wait(120)
        expect(page.get_by_role("alert")).to_contain_text("The connection was lost")
        seen = page.locator(".message[aria-busy] .bubble").inner_text()
        expect(page.get_by_label("Message")).to_have_value("")
    with server(story, tmp_path, port=int(site.rsplit(":", 1)[1])):
        page.reload()
        expect(bubbles(page)).to_have_count(2)
        assert replies(page).inner_text().startswith(seen)


def test_the_why_drawer_shows_what_a_reply_was_made_from(page: Page, make_site: MakeSite) -> None:
    class Choosy:
        def reply(self, situation: Situation, history: Sequence[Turn]) -> Reply:
            line = situation.persona.past.lines()[0]
            return Reply("Get out.", (Candidate("Get out.", 0.9), Candidate(line.text, 0.5, line.moment)))

    site, _ = make_site(Choosy())
    begin(page, site)
    say(page, "I am sorry.")
    expect(replies(page)).to_have_count(1)
    page.locator(".by-character summary").click()
    drawer = page.get_by_role("dialog", name="Why Ines Vale says this")
    expect(drawer).to_contain_text("What could have been said")
    expect(drawer.locator(".runner-score")).to_have_text(["0.90", "0.50"])
    drawer.get_by_role("link", name="at 1.1.2").click()
    expect(page).to_have_url(f"{site}/story/brass-key?at=2.1&see=1.1.2#m-1.1.2")
    expect(page.locator("[id='m-1.1.2']")).to_be_visible()


def test_a_reply_that_is_on_its_way_when_the_page_is_reloaded_appears_by_itself(
    page: Page, make_site: MakeSite
) -> None:
    class Slow:
        free = Event()

        def reply(self, situation: Situation, history: Sequence[Turn]) -> Reply:
            assert self.free.wait(120)
            return Reply("At last.")

    site, _ = make_site(Slow())
    page.clock.install()
    begin(page, site)
    say(page, "Well?")
    expect(page.get_by_role("status", name="Ines Vale is about to answer")).to_be_visible()
    page.clock.fast_forward(2_000)
    expect(page.get_by_text("Ines Vale is thinking about it")).to_be_visible()
    page.reload()
    expect(page.get_by_text("A reply is on its way.")).to_be_visible()
    Slow.free.set()
    page.clock.fast_forward(2_000)
    expect(replies(page)).to_have_text(["At last."])
    expect(page.get_by_text("A reply is on its way.")).to_be_hidden()
