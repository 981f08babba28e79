"""People in a real browser: found entries decided by mouse and keyboard, with and without scripts, on any screen."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from browser.accessibility import assert_accessible
from browser.conftest import MakeSite
from stories import brass_key, found_fact, found_tie, write_claims
from timing import until
from understudy.formats import read
from understudy.people.draft import read_draft
from understudy.story.storyfile import Story
from understudy.story.types import Moment

HOOKS, SOLD, THIEF = Moment((1, 1, 3)), Moment((1, 2, 1)), Moment((1, 2, 2))


@pytest.fixture
def story(tmp_path: Path) -> Story:
    folder = brass_key(tmp_path / "found-key")
    write_claims(
        read(folder),
        folder / "found.toml",
        [
            found_fact("Tobias Rook", "hobby", "hooks " + "x" * 90, HOOKS, confidence=0.7),
            found_fact("Tobias Rook", "profile", "I never look at hooks", HOOKS, confidence=0.93),
            found_tie("Tobias Rook", "Mara Quill", "spouse", SOLD, THIEF, confidence=0.8, term="wife"),
            found_tie("Tobias Rook", "Mara Quill", "affection", SOLD, confidence=0.7, level=-4),
            found_tie("Mara Quill", "Tobias Rook", "friend", THIEF, confidence=0.4),
        ],
    )
    return read(folder)


@pytest.fixture
def site(make_site: MakeSite, story: Story) -> str:
    address, context = make_site()
    context.stories.put("key", story)
    return address


def verdicts(story: Story) -> dict[str, str]:
    return {entry.kind: entry.decision.verdict for entry in read_draft(story).file.entries}


def test_entries_are_taken_rejected_changed_and_taken_back(page: Page, site: str, story: Story) -> None:
    page.goto(f"{site}/people/key")
    expect(page.get_by_role("heading", name="Tobias Rook")).to_be_visible()
    page.get_by_role("button", name="Take I never look at hooks").click()
    expect(page.locator(".entry")).to_have_count(3)
    page.get_by_role("button", name="Reject all of spouse").click()
    expect(page.locator(".entry")).to_have_count(2)
    page.get_by_role("button", name="Undo the last decision").click()
    expect(page.locator(".entry")).to_have_count(3)
    page.get_by_role("link", name="Mara Quill 1").click()
    page.get_by_label("Another value for Tobias Rook").fill("enemy")
    page.get_by_role("button", name="Change Tobias Rook").click()
    expect(page.get_by_text("Everything is decided here.")).to_be_visible()
    assert verdicts(story) == {"hobby": "", "profile": "accepted", "spouse": "", "affection": "", "friend": "changed"}
    page.goto(f"{site}/character/key/Mara%20Quill?at=end")
    expect(page.get_by_text("Tobias Rook is my enemy.").first).to_be_visible()
    page.get_by_role("link", name="found, 1.2.2").first.click()
    expect(page).to_have_url(f"{site}/story/key?at=end&see=1.2.2#m-1.2.2")


def test_a_line_that_cannot_be_decided_says_why(page: Page, site: str) -> None:
    page.goto(f"{site}/people/key?who=Mara%20Quill")
    page.get_by_label("Another value for Tobias Rook").fill("best of friends")
    page.get_by_role("button", name="Change Tobias Rook").click()
    expect(page.get_by_role("alert")).to_contain_text("'best of friends' is no kind of tie")


def test_it_works_without_scripts(browser: Browser, site: str, story: Story) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{site}/people/key")
    page.get_by_role("button", name="Take all of hobby").click()
    until(lambda: verdicts(story)["hobby"] == "accepted")
    context.close()


def test_everything_fits_is_named_and_can_be_read(page: Page, site: str) -> None:
    for address in (
        "/people/key",
        "/people/key?show=all&who=Mara%20Quill",
        "/people/demo",
        "/character/key/Tobias%20Rook",
    ):
        page.goto(site + address)
        assert_accessible(page)
