"""The Talk view for everybody: by keyboard alone, with names and contrast, on any screen, without scripts."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page, expect

from browser.accessibility import WIDTHS, assert_accessible, resize
from browser.conftest import MakeSite
from understudy.agents import Scripted

ENDLESS = "a" * 300 + " https://example.invalid/" + "b" * 300


def focused(page: Page) -> str:
    """What has the focus, in a few words."""
    label: str = page.evaluate(
        """() => {
            const element = document.activeElement;
            const label = element.getAttribute("aria-label") ?? element.labels?.[0]?.textContent.trim();
            return label ?? element.textContent.trim();
        }"""
    )
    return label


def tab_to(page: Page, name: str, key: str = "Tab") -> None:
    for _ in range(60):
        page.keyboard.press(key)
        if focused(page).startswith(name):
            return
    pytest.fail(f"no way to {name} by {key}")


def test_everything_can_be_done_by_keyboard_alone(page: Page, site: str) -> None:
    page.goto(f"{site}/?story=brass-key&at=1.1")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("Tab")
    assert focused(page).startswith("Skip to")
    page.keyboard.press("Enter")

    # through time: by scene, by chapter, to the ends
    tab_to(page, "Moment in the story")
    now = page.locator("[data-timeline-name]")
    for key, moment in (
        ("ArrowRight", "Act 1, scene 2"),
        ("PageUp", "Act 2, scene 1"),
        ("ArrowUp", "Act 2, scene 2"),
        ("End", "The end"),
        ("PageDown", "Act 2, scene 1"),
        ("Home", "Act 1, scene 1"),
        ("PageUp", "Act 2, scene 1"),
    ):
        page.keyboard.press(key)
        expect(now).to_have_text(moment)
    page.keyboard.press("Enter")
    expect(page.locator(".cast-row")).to_have_count(3)
    expect(
        page.get_by_role("slider", name="Moment in the story")
    ).to_be_focused()  # it is not lost when the page is drawn anew

    # who is there, and as whom one speaks
    tab_to(page, "Mara Quill is in the scene")
    page.keyboard.press("Space")
    expect(page.get_by_role("heading", level=1)).to_have_text("Talk with Ines Vale and Mara Quill")
    expect(page.get_by_label("Mara Quill is in the scene")).to_be_checked()
    expect(page.get_by_label("Mara Quill is in the scene")).to_be_focused()

    # a message, why it was answered so, and back to where one was
    tab_to(page, "Message", "Shift+Tab")
    page.keyboard.type("Mara, are you there?")
    page.keyboard.press("Enter")
    expect(page.locator(".message.by-character[data-message]")).to_have_count(1)
    tab_to(page, "Why", "Shift+Tab")
    page.keyboard.press("Enter")
    why = page.get_by_role("dialog", name="Why Mara Quill says this")
    expect(why.get_by_role("button", name="Close")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.locator(".by-character summary")).to_be_focused()

    # another try, and both taken back
    tab_to(page, "Retry")
    page.keyboard.press("Enter")
    expect(page.get_by_role("group", name="Other versions")).to_contain_text("2/2")
    expect(page.get_by_role("button", name="Retry")).to_be_focused()
    for left in (2, 1):
        tab_to(page, "Delete", "Tab" if left == 2 else "Shift+Tab")
        page.keyboard.press("Enter")
        expect(page.get_by_role("dialog")).to_be_visible()
        page.keyboard.press("Enter")
        expect(page.get_by_role("dialog")).to_have_count(0)
        expect(page.locator(".message[data-message]")).to_have_count(left)
        expect(page.locator("#say")).to_be_focused()


def test_escape_stops_a_reply(page: Page, make_site: MakeSite) -> None:
    site, _ = make_site(Scripted(["word " * 3000]), pace=0.05)  # for minutes
    page.goto(f"{site}/?story=brass-key&at=2.1")
    page.get_by_label("Message").press_sequentially("Go on.\n")
    expect(page.locator(".message[aria-busy] .bubble")).to_contain_text("word word")
    page.keyboard.press("Escape")
    expect(page.get_by_text("Stopped here.")).to_be_visible()


def test_everything_has_a_name_can_be_read_and_fits(page: Page, site: str) -> None:
    page.goto(f"{site}/?story=demo&at=2.3")
    assert_accessible(page)
    page.get_by_label("Message").fill(ENDLESS)
    page.get_by_label("Message").press("Enter")
    expect(page.locator(".message.by-character[data-message]")).to_have_count(1)
    assert_accessible(page)
    page.get_by_role("slider").focus()
    page.keyboard.press("Home")
    expect(page.locator(".message.forgotten")).to_have_count(2)
    assert_accessible(page)
    for width in WIDTHS:
        resize(page, width)
        for panel in page.locator("[data-panel]").all():
            if panel.is_visible():
                panel.click()
                expect(panel).to_have_attribute("aria-expanded", "true")
                assert_accessible(page, [width])
                panel.click()
    page.locator(".by-character summary").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    assert_accessible(page)


def test_colours_are_ones_own_choice_and_kept(page: Page, site: str) -> None:
    page.goto(site)
    toggle = page.get_by_role("button", name="Dark colours")
    expect(toggle).to_have_attribute("aria-pressed", "false")
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    toggle.click()
    expect(toggle).to_have_attribute("aria-pressed", "true")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != paper
    page.reload()
    expect(toggle).to_have_attribute("aria-pressed", "true")


def test_a_chat_can_be_read_without_scripts(browser: Browser, page: Page, site: str) -> None:
    page.goto(f"{site}/?story=brass-key&at=2.1")
    page.get_by_label("Message").press_sequentially("Where is the key?\n")
    expect(page.locator(".message.by-character[data-message]")).to_have_count(1)
    context = browser.new_context(java_script_enabled=False, viewport={"width": 360, "height": 740})
    plain = context.new_page()
    plain.goto(page.url)
    expect(plain.get_by_text("Where is the key?").last).to_be_visible()
    expect(plain.get_by_text("This is the line numbered 1.").first).to_be_visible()
    plain.locator(".why summary").click()
    expect(plain.get_by_text("reply 1 of 100")).to_be_visible()
    expect(plain.get_by_text("Talking needs JavaScript")).to_be_visible()
    expect(plain.get_by_role("button", name="Send")).to_be_hidden()
    plain.goto(f"{site}/?story=brass-key&at=1.1")
    plain.get_by_label("Go to").select_option("2.1")
    plain.get_by_role("button", name="Go", exact=True).click()
    expect(plain.locator("[data-timeline-name]")).to_have_text("Act 2, scene 1")
    context.close()
