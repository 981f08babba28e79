"""The chat page of a study: two people before a real server; waiting, turns and losses before one that is made up."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from browser.accessibility import assert_accessible
from browser.test_take import FREELY
from server.conftest import serving
from studyserver import RATED, study_store
from understudy.server.studies import StudyContext
from understudy.server.studies.routes import make_study_app
from understudy.studies.item import Option, Question, StudyItem

PERSONA = ["I keep a lighthouse.", "I have three cats.", "I was born at sea."]


CHAT = StudyItem(
    "chat 1",
    (),
    (Question("profile", "choice", "Which of these is your partner?", (Option("a", "1"), Option("b", "2"))),),
    hidden={
        "personas": [PERSONA, ["I mend nets.", "I sing in a choir."]],
        "foil": ["I fly kites.", "I fear the dark."],
        "right": ["a", "b"],
        "begins": 0,
        "partner": "person",
        "agents": [],
        "turns": 2,
        "most_words": 15,
        "language": "en",
        "patience_s": 120,
        "arrives_s": [0, 0],
        "writes_s": [0, 0],
    },
    people=2,
)


def test_two_people_meet_talk_and_say_who_the_other_was(browser: Browser, tmp_path: Path) -> None:
    settings = {"kind": "chat", "consent": "", "instructions": "", "example": "", "items_per_person": 1}
    with (
        study_store(tmp_path, CHAT, **settings) as store,  # type: ignore[arg-type]
        serving(make_study_app(StudyContext(store), limits=FREELY)) as site,
    ):
        first, second = (browser.new_context().new_page() for _ in range(2))
        tokens = store.invite("mara", 2)
        first.goto(f"{site}/take/{tokens[0]}")
        first.get_by_role("button", name="Begin").click()
        expect(first.get_by_text("Looking for somebody to talk with")).to_be_visible()
        second.goto(f"{site}/take/{tokens[1]}")
        second.get_by_role("button", name="Begin").click()
        expect(first.get_by_text("It is your turn.")).to_be_visible()
        expect(second.get_by_text("Your partner is writing")).to_be_visible()
        expect(second.get_by_text("I mend nets.")).to_be_visible()
        say = first.get_by_label("Your message")
        say.fill("Hello: I have three cats, you know.")
        say.press("Enter")
        expect(first.locator("#say-problems")).to_contain_text("copied from your character")
        for speaker, listener, text in (
            (first, second, "Who are you?"),
            (second, first, "A fisherman, more or less."),
            (first, second, "I look after the lamp."),
            (second, first, "Then I know your light."),
        ):
            speaker.get_by_label("Your message").fill(text)
            if speaker is second:
                speaker.reload()
            expect(speaker.get_by_text("It is your turn.")).to_be_visible()
            speaker.get_by_label("Your message").press("Enter")
            expect(listener.locator(".message:not(.mine)").filter(has_text=text)).to_be_visible()
        for page, partner in ((first, "I mend nets."), (second, "I keep a lighthouse.")):
            page.get_by_role("button", name="Go on").click()
            expect(page.get_by_role("heading", name="Your chat")).to_be_visible()
            page.get_by_role("radio", name=partner).check()
            page.keyboard.press("Control+Enter")
            expect(page.get_by_role("heading", level=1)).to_have_text("Thank you")
        answers = {each.person: each.answer for each in store.answers(store.study("mara").id)}
        assert answers == {"p1": {"profile": "a"}, "p2": {"profile": "b"}}
        for page in (first, second):
            page.context.close()


class MadeUpChat:
    """The documented chat API, played by a test."""

    def __init__(self) -> None:
        self.state, self.turns_left = "waiting", 2
        self.turn: str | None = None
        self.messages: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.is_lost = False
        self.polls = 0

    def document(self, after: int) -> dict[str, Any]:
        new = [message for message in self.messages if message["number"] > after]
        return {
            "state": self.state, "messages": new, "turn": self.turn, "turns_left": self.turns_left,
            "persona": PERSONA, "problems": [],
        }  # fmt: skip

    def say(self, text: str, mine: bool) -> None:
        self.messages.append({"number": len(self.messages) + 1, "mine": mine, "text": text})

    def handle(self, route: Route) -> None:
        request = route.request
        if self.is_lost:
            route.abort()
            return
        if request.method == "GET":
            self.polls += 1
            (after,) = parse_qs(urlsplit(request.url).query)["after"]
            # A real server holds the request until there is news.
            document = self.document(int(after))
            if not document["messages"] and self.polls > 1:
                request.frame.page.wait_for_timeout(50)
            route.fulfill(json=document)
            return
        body = json.loads(request.post_data or "{}")
        if len(body["text"].split()) > 15:
            problem = {"question": "text", "message": "16 words, and 15 are allowed", "index": None}
            route.fulfill(status=422, json={"error": {"message": "no"}, "problems": [problem]})
            return
        if body["key"] not in self.keys:
            self.keys.append(body["key"])
            self.say(body["text"], mine=True)
            self.turn, self.turns_left = "theirs", self.turns_left - 1
        route.fulfill(json=self.document(0))


@pytest.fixture
def chat() -> MadeUpChat:
    return MadeUpChat()


@pytest.fixture
def talking(page: Page, chat: MadeUpChat, tmp_path: Path) -> Iterator[Page]:
    """A participant in the waiting room."""
    with study_store(tmp_path, RATED) as store, serving(make_study_app(StudyContext(store), limits=FREELY)) as site:
        (token,) = store.invite("mara", 1)
        study = {
            "kind": "chat", "title": "Get to know each other", "instructions": "", "example": "", "consent": "",
            "ask": [], "comments": False,
        }  # fmt: skip
        view = {
            "study": study, "state": "chat", "assignment": None, "item": None, "draft": None,
            "progress": {"answered": 0, "of": 1}, "can_undo": False,
        }  # fmt: skip

        def handle_view(route: Route) -> None:
            is_over = chat.state == "closed"
            route.fulfill(json={**view, "state": "done" if is_over else "chat"})

        page.route(f"**/api/take/{token}", handle_view)
        page.route(f"**/api/take/{token}/chat*", chat.handle)
        page.clock.install()
        page.goto(f"{site}/take/{token}")
        yield page
        page.unroute_all(behavior="ignoreErrors")
        page.goto("about:blank")


def test_two_talk_in_turns_until_it_is_over(talking: Page, chat: MadeUpChat) -> None:
    expect(talking.get_by_text("Looking for somebody to talk with")).to_be_visible()
    expect(talking.get_by_label("Your message")).to_be_hidden()
    chat.state, chat.turn = "talking", "mine"
    expect(talking.get_by_text("It is your turn.")).to_be_visible()
    expect(talking.get_by_text("I have three cats.")).to_be_visible()
    expect(talking.get_by_text("2 more messages of yours.")).to_be_visible()
    say = talking.get_by_label("Your message")
    say.press_sequentially("Hello, who are you?")
    expect(talking.get_by_text("4/15 words")).to_be_visible()
    say.press("Enter")
    expect(talking.locator(".message.mine .message-text")).to_have_text("Hello, who are you?")
    expect(say).to_have_value("")
    expect(talking.get_by_text("Your partner is writing")).to_be_visible()
    chat.say("Nobody you know.", mine=False)
    chat.turn = "mine"
    expect(talking.locator(".message:not(.mine)")).to_have_text("PartnerNobody you know.")
    say.fill("Too bad.")
    talking.get_by_role("button", name="Send").dblclick()
    expect(talking.locator(".message.mine")).to_have_count(2)
    assert len(chat.keys) == 2
    chat.state, chat.turn = "over", None
    expect(talking.get_by_text("The conversation is over")).to_be_visible()
    expect(say).to_be_hidden()
    chat.state = "closed"
    talking.get_by_role("button", name="Go on").click()
    expect(talking.get_by_role("heading", level=1)).to_have_text("Thank you")


def test_a_refused_message_stays_and_says_why(talking: Page, chat: MadeUpChat) -> None:
    chat.state, chat.turn = "talking", "mine"
    say = talking.get_by_label("Your message")
    say.fill(" ".join(["word"] * 16))
    expect(talking.locator(".counter.is-over")).to_have_text("16/15 words")
    say.press("Enter")
    expect(talking.locator("#say-problems")).to_have_text("16 words, and 15 are allowed")
    expect(say).to_have_value(" ".join(["word"] * 16))
    expect(say).to_be_focused()
    assert chat.messages == []
    chat.say("Still there?", mine=False)
    expect(talking.get_by_text("Still there?")).to_be_visible()
    expect(talking.locator("#say-problems")).to_have_text("16 words, and 15 are allowed")  # news does not hide it
    say.fill("Yes.")
    expect(talking.locator("#say-problems > li")).to_have_count(0)


def test_a_reload_and_a_lost_connection_lose_nothing(talking: Page, chat: MadeUpChat) -> None:
    chat.state, chat.turn = "talking", "mine"
    chat.say("Are you there?", mine=False)
    say = talking.get_by_label("Your message")
    say.fill("I am here.")
    talking.reload()
    expect(talking.get_by_text("Are you there?")).to_be_visible()
    expect(say).to_have_value("I am here.")
    chat.is_lost = True
    say.press("Enter")
    expect(talking.get_by_text("trying again")).to_be_visible()
    chat.is_lost = False
    talking.clock.fast_forward(1_000)
    expect(talking.locator(".message.mine .message-text")).to_have_text("I am here.")
    assert len(chat.keys) == 1


def test_what_is_written_while_a_message_is_sent_stays(talking: Page, chat: MadeUpChat) -> None:
    chat.state = "talking"
    say = talking.get_by_label("Your message")
    for number, (typed, left) in enumerate((("I am here. And you?", "And you?"), ("Or not?", "Or not?")), 1):
        chat.turn, chat.turns_left = "mine", 2
        expect(talking.get_by_text("It is your turn.")).to_be_visible()
        say.fill("I am here.")
        chat.is_lost = True
        say.press("Enter")
        expect(talking.get_by_text("trying again")).to_be_visible()
        say.fill(typed)
        chat.is_lost = False
        talking.clock.fast_forward(1_000)
        expect(talking.locator(".message.mine .message-text")).to_have_text(["I am here."] * number)
        expect(say).to_have_value(left)
        talking.reload()
        expect(say).to_have_value(left)


def test_everything_has_a_name_can_be_read_and_fits(talking: Page, chat: MadeUpChat) -> None:
    expect(talking.get_by_text("Looking for somebody")).to_be_visible()
    assert_accessible(talking)
    chat.state, chat.turn = "talking", "mine"
    for number in range(4):
        chat.say("unbreakable" * 30, mine=number % 2 == 0)
    expect(talking.locator(".message")).to_have_count(4)
    assert_accessible(talking)
