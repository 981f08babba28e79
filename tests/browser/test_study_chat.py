"""Two people, one at a desk and one with a phone, before `study serve`: they talk to the end and rate each other."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from browser.accessibility import too_wide
from studyserver import StudyServer, study_server, write_chat
from understudy.studies.results import answers_of
from understudy.studies.store import open_study_store

DESK, PHONE = {"width": 1280, "height": 800}, {"width": 360, "height": 740}
PICTURES = os.environ.get("UNDERSTUDY_PICTURES")
"""A folder for pictures of what was seen, for somebody who wants to look."""


@pytest.fixture
def server(story: Path) -> Iterator[StudyServer]:
    study = write_chat(story, chats=1, turns=2, rate=True)
    with study_server(study, "--links", "3") as server:
        yield server


@pytest.fixture
def people(browser: Browser, server: StudyServer) -> Iterator[list[Page]]:
    """Two who have a link, each in a browser of their own, which has nothing to complain about."""
    found: list[str] = []
    contexts = [browser.new_context(viewport=size, reduced_motion="reduce") for size in (DESK, PHONE)]  # type: ignore[arg-type]
    pages = [context.new_page() for context in contexts]
    for page, token in zip(pages, server.tokens, strict=False):
        page.on("pageerror", lambda error: found.append(str(error)))
        page.on("console", lambda line: found.append(line.text) if "Content Security" in line.text else None)
        page.goto(f"{server.url}/take/{token}")
    yield pages
    for context in contexts:
        context.close()
    assert found == []


def picture(page: Page, name: str) -> None:
    assert too_wide(page) == []
    if PICTURES:
        page.screenshot(path=Path(PICTURES) / f"{name}.png", full_page=True)


def in_turn(people: list[Page]) -> list[Page]:
    """The one who begins, and the other."""
    for page in people:
        expect(page.get_by_text(re.compile("It is your turn|Your partner is writing"))).to_be_visible()
    return sorted(people, key=lambda page: not page.get_by_text("It is your turn.").is_visible())


def refused(page: Page, text: str, message: str) -> None:
    page.get_by_label("Your message").fill(text)
    page.get_by_label("Your message").press("Enter")
    expect(page.locator("#say-problems")).to_contain_text(message)
    expect(page.get_by_label("Your message")).to_have_value(text)


def test_two_talk_to_the_end_and_rate_each_other(people: list[Page], server: StudyServer, story: Path) -> None:
    desk, phone = people
    desk.get_by_role("button", name="Begin").click()
    expect(desk.get_by_text("Looking for somebody to talk with")).to_be_visible()
    picture(desk, "waiting")
    phone.get_by_role("button", name="Begin").click()
    first, second = in_turn(people)
    expect(second.get_by_text("Your partner is writing")).to_be_visible()
    profiles = {page: page.locator(".persona li").all_inner_texts() for page in people}
    assert profiles[desk] != profiles[phone]
    refused(first, "so " * 15 + "many", "16 words, and 15 are allowed")
    picture(first, "refused")
    refused(first, f"Well, {profiles[first][0]}", "copied from your character")
    expect(second.locator(".message")).to_have_count(0)
    texts = ["Good evening to you.", "And to you, whoever you are.", "I buy paper with teeth.", "My family bakes."]
    for number, text in enumerate(texts):
        speaker, listener = (first, second) if number % 2 == 0 else (second, first)
        speaker.get_by_label("Your message").fill(text)
        if number == 1:
            speaker.reload()  # in the middle of writing
            expect(speaker.get_by_label("Your message")).to_have_value(text)
            listener.reload()
        expect(speaker.get_by_text("It is your turn.")).to_be_visible()
        if number == 2:
            picture(phone, "talking-phone")
            picture(desk, "talking")
        speaker.get_by_label("Your message").press("Enter")
        expect(listener.locator(".message:not(.mine) .message-text").filter(has_text=text)).to_be_visible()
    for page in people:
        expect(page.locator(".message-text")).to_have_text(texts)
        page.get_by_role("button", name="Go on").click()
        expect(page.get_by_role("heading", name="Your chat")).to_be_visible()
    expect(desk.get_by_text(texts[3])).to_be_visible()
    picture(desk, "rating")
    picture(phone, "rating-phone")
    for page, steps, partner in ((desk, "453", phone), (phone, "511", desk)):
        for question, step in zip(("How fluent", "How engaging", "How consistent"), steps, strict=True):
            page.get_by_role("group", name=question).get_by_role("radio", name=step).check()
        page.get_by_role("radio", name=profiles[partner][0]).check()
        page.get_by_role("button", name="Save and go on").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Thank you")
        picture(page, f"thanks-{steps}")
    with open_study_store(story.parent / "studies.db") as store:
        given = {each.person: each for each in answers_of(store, store.study("talk"))}
    scales = "fluency", "engagingness", "consistency"
    rated = {person: [each.answer[name] for name in scales] for person, each in given.items()}
    assert rated == {"p1": [4, 5, 3], "p2": [5, 1, 1]}
    for side, person in enumerate(("p1", "p2")):
        hidden = given[person].item.hidden
        assert hidden["chat"] == [[(number + hidden["begins"]) % 2, text] for number, text in enumerate(texts)]
        assert given[person].answer["profile"] == hidden["right"][side]


def test_whoever_withdraws_leaves_the_other_with_a_word_and_nobody_waits_in_vain(
    people: list[Page], server: StudyServer, browser: Browser
) -> None:
    for page in people:
        page.get_by_role("button", name="Begin").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Talk with your partner")
    first, second = in_turn(people)
    first.get_by_label("Your message").fill("Good evening.")
    first.get_by_label("Your message").press("Enter")
    expect(second.get_by_text("Good evening.")).to_be_visible()
    late = browser.new_context().new_page()
    late.goto(f"{server.url}/take/{server.tokens[2]}")
    late.get_by_role("button", name="Begin").click()
    expect(late.get_by_role("heading", level=1)).to_have_text("Thank you")  # the only chat has its two
    late.context.close()
    second.get_by_text("Options").click()
    second.get_by_role("button", name="Withdraw and delete my answers").click()
    picture(second, "withdrawing")
    second.get_by_role("dialog").get_by_role("button", name="Withdraw and delete").click()
    expect(second.get_by_role("heading", level=1)).to_have_text("Your answers were deleted")
    expect(first.get_by_text("Your partner has left")).to_be_visible()
    picture(first, "left")
