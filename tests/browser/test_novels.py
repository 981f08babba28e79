"""A novel dropped on the stories view in a real browser: who says what is looked at, decided, undone, and stays."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from browser.accessibility import assert_accessible
from browser.test_stories import drop
from uploading import NOVEL, read_novels_here


@pytest.fixture
def novel(tmp_path: Path) -> Path:
    path = tmp_path / "The Tin Whistle.txt"
    path.write_text(NOVEL, encoding="utf-8")
    return path


@pytest.fixture
def upload(page: Page, monkeypatch: pytest.MonkeyPatch, site: str, novel: Path) -> Page:
    """The page of a novel that was dropped."""
    read_novels_here(monkeypatch)
    page.goto(f"{site}/stories")
    drop(page, novel)
    expect(page.get_by_role("heading", name="Who says it?")).to_be_visible()
    page.wait_for_load_state()  # before its scripts listen, a form is sent as if there were none
    return page


def test_a_doubtful_quotation_is_put_right_undone_and_stays_when_read_again(upload: Page) -> None:
    doubts = upload.locator(".doubt")
    expect(doubts).to_have_count(4)
    first = doubts.first
    expect(first).to_contain_text("I was at school!")
    expect(first).to_contain_text("It was everybody's.")  # the line before it
    expect(first).to_contain_text("Guess: Bastien, 20 % sure")
    first.get_by_role("button", name="Odile 19 %").click()
    expect(doubts).to_have_count(3)
    said = upload.locator("[data-decided]")
    expect(said).to_contain_text("“I was at school!” is said by Odile.")
    expect(said).to_contain_text("The story is up to date.")
    upload.reload()
    expect(upload.locator(".cast-member", has=upload.get_by_text("Odile", exact=True))).to_contain_text("5 lines")

    said.get_by_role("button", name="Undo").click()
    expect(said).to_contain_text("Undone: “I was at school!” is said by Odile.")
    expect(doubts).to_have_count(4)

    first.get_by_role("button", name="Odile 19 %").click()
    expect(doubts).to_have_count(3)
    member = upload.locator(".cast-member", has=upload.get_by_text("Odile", exact=True))
    member.get_by_text("Put right").click()
    member.get_by_label("Call them").fill("Odile Marsh")
    member.get_by_role("button", name="Rename").click()
    expect(upload.locator("[data-change]")).to_contain_text("Renamed Odile to Odile Marsh.")
    upload.get_by_role("link", name="Put right 1").click()
    expect(doubts).to_have_count(1)
    expect(doubts.first.locator(".chip.good")).to_have_text("Odile Marsh")


def test_by_keyboard_from_one_to_the_next(upload: Page) -> None:
    doubts = upload.locator(".doubt")
    doubts.first.get_by_role("button").first.focus()
    upload.keyboard.press("Enter")
    expect(doubts).to_have_count(3)
    expect(doubts.first.get_by_role("button").first).to_be_focused()
    field = doubts.first.get_by_label("Somebody else says")
    field.focus()
    upload.keyboard.type("The Boy")
    upload.keyboard.press("Enter")
    expect(upload.locator("[data-decided]")).to_contain_text("is said by The Boy, who is new.")
    expect(doubts).to_have_count(2)
    doubts.last.get_by_role("button", name="Not speech").press("Enter")
    expect(upload.locator("[data-decided]")).to_contain_text("is said by nobody.")
    expect(doubts.last.get_by_role("button").first).to_be_focused()


def test_a_decision_that_cannot_be_made_is_told_beside_the_quotations(upload: Page) -> None:
    first = upload.locator(".doubt").first
    first.get_by_label("Somebody else says").fill("\u2060")
    first.get_by_role("button", name="Says it").click()
    expect(upload.locator("[data-quotation-problem]")).to_contain_text("a speaker is a name")
    expect(upload.locator(".doubt")).to_have_count(4)


def test_quotations_fit_are_named_and_can_be_read(upload: Page) -> None:
    upload.get_by_label("Chapter").select_option("1")
    upload.get_by_role("button", name="Show").click()
    expect(upload.locator(".doubt")).to_have_count(3)
    upload.locator(".doubt").first.get_by_role("button").first.click()
    expect(upload.locator(".doubt")).to_have_count(2)
    assert_accessible(upload)


def test_without_scripts(browser: Browser, monkeypatch: pytest.MonkeyPatch, site: str, novel: Path) -> None:
    read_novels_here(monkeypatch)
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{site}/stories")
    page.get_by_label("Choose files").set_input_files(novel)
    page.get_by_role("button", name="Send and read").click()
    page.locator(".doubt").first.get_by_role("button", name="Odile 19 %").click()
    expect(page.locator(".doubt")).to_have_count(3)
    page.locator("[data-decided]").get_by_role("button", name="Undo").click()
    expect(page.locator(".doubt")).to_have_count(4)
    context.close()


def test_a_refused_file_can_be_tried_again_as_another_format(page: Page, site: str, tmp_path: Path) -> None:
    letter = tmp_path / "letter.txt"
    letter.write_text("Dear all,\n\nthe meeting is at noon. Bring the papers.\n", encoding="utf-8")
    page.goto(f"{site}/stories")
    drop(page, letter)
    expect(page.get_by_role("alert")).to_contain_text("is in no form that can be read")
    page.get_by_label("Try again as").select_option("transcript")
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("alert")).to_contain_text("nobody speaks in it, read as transcript")
