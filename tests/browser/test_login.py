"""The login page and the header of every page, on screens of several widths, light and dark."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from browser.accessibility import WIDTHS, assert_accessible, complaints, fits, resize
from browser.conftest import FREELY, SCRIPT
from server.conftest import serving
from studyserver import filled
from understudy.agents import Scripted
from understudy.server.access import AccessPolicy
from understudy.server.app import make_app
from understudy.server.context import AppContext
from understudy.server.story_registry import StoryRegistry
from understudy.story.storyfile import Story

KEY, READERS = "a long and quite random key", "another long and random key"
NOWHERE_YET = ["no <nav>"]  # before one has logged in, there is nowhere to go
ROWS = """() => new Set([...document.querySelectorAll(".masthead > *, .views > a")].map((element) => {
    const {top, bottom} = element.getBoundingClientRect();
    return Math.round((top + bottom) / 2 / 12);
})).size"""


@pytest.fixture
def keyed(on_stage: dict[str, Story], tmp_path: Path) -> Iterator[str]:
    with closing(filled(tmp_path / "lines.db")) as lines:
        opened = AppContext.open(StoryRegistry(on_stage), Scripted(SCRIPT), tmp_path / "data", utterances=lines)
        with (
            opened as context,
            serving(make_app(context, AccessPolicy.for_host("127.0.0.1", KEY, reader_key=READERS), FREELY)) as url,
        ):
            yield url


def test_the_login_page_looks_like_the_others_and_says_what_is_wrong(page: Page, keyed: str) -> None:
    page.goto(f"{keyed}/stories")
    expect(page).to_have_title("Log in – Understudy")
    expect(page.get_by_role("heading", level=1)).to_have_text("Log in")
    key = page.get_by_label("Key")
    expect(key).to_be_focused()
    assert key.get_attribute("autocomplete") == "current-password"
    assert page.locator("input[autocomplete=username]").count() == 1
    assert_accessible(page, allowed=NOWHERE_YET)
    key.fill("wrong")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("not a key of this server")
    expect(key).to_have_attribute("aria-invalid", "true")
    assert_accessible(page, allowed=NOWHERE_YET)
    key.fill(KEY)
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Stories")


def test_the_header_takes_at_most_two_rows(page: Page, keyed: str) -> None:
    page.goto(f"{keyed}/login")
    page.get_by_label("Key").fill(KEY)
    page.keyboard.press("Enter")
    expect(page.locator(".composer")).to_be_visible()
    for path in ("/", "/stories", "/review", "/docs", "/character/demo/Zita%20Karst", "/story/demo"):
        page.goto(keyed + path)
        for width, most in zip(WIDTHS, (2, 1, 1)):
            resize(page, width)
            assert page.evaluate(ROWS) <= most, (width, path)
            assert fits(page), (width, path)


def test_nothing_can_be_sent_before_the_script_listens(page: Page, keyed: str) -> None:
    """The browser would submit the form itself, and what was said would stand in the address."""
    page.goto(f"{keyed}/login")
    page.route("**/static/talk.js", lambda route: route.abort())
    page.get_by_label("Key").fill(KEY)
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Send")).to_be_disabled()
    expect(page.locator("[data-say]")).to_be_disabled()
    page.unroute("**/static/talk.js")
    page.reload()
    expect(page.get_by_role("button", name="Send")).to_be_enabled()
    expect(page.locator("[data-say]")).to_be_enabled()


def test_a_reader_talks_without_a_complaint_of_the_browser(page: Page, keyed: str) -> None:
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda line: errors.append(line.text) if line.type == "error" else None)
    page.goto(f"{keyed}/login")
    page.get_by_label("Key").fill(READERS)
    page.keyboard.press("Enter")
    page.locator("[data-say]").fill("Who are you?")
    page.get_by_role("button", name="Send").click()
    expect(page.locator(".transcript")).to_contain_text("This is the line numbered 1.")
    page.goto(f"{keyed}/stories")
    expect(page.get_by_text("Add a story")).to_have_count(0)
    assert complaints(page) == []
    page.get_by_text("Choose a story").click()
    page.get_by_role("button", name="Log out").click()
    expect(page).to_have_title("Log in – Understudy")
    assert errors == []
