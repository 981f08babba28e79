"""Being remembered, in a real browser: off at first, switched on under a name, shown, changed, forgotten, undone."""

from __future__ import annotations

from playwright.sync_api import Locator, Page, expect

from browser.accessibility import assert_accessible
from browser.conftest import MakeSite
from understudy.agents import Scripted


def say(page: Page, text: str) -> None:
    count = page.locator(".message.by-character[data-message]").count()
    page.get_by_label("Message").fill(text)
    page.get_by_label("Message").press("Enter")
    expect(page.locator(".message.by-character[data-message]")).to_have_count(count + 1)


def switch(page: Page) -> Locator:
    return page.locator("[data-remember]")


def remembered(page: Page) -> Locator:
    return page.locator(".memory-list li[data-number] > p:first-child")


def remember_as(page: Page, name: str) -> None:
    switch(page).click()
    page.get_by_label("Your name").fill(name)
    page.get_by_role("button", name="Remember me").click()
    expect(page.locator(".memory-switch")).to_contain_text(f"You are remembered as {name}")


def test_off_at_first_then_remembered_in_a_later_chat(page: Page, make_site: MakeSite) -> None:
    site, _ = make_site(Scripted(["Is that so?"] * 9))
    page.goto(f"{site}/?story=brass-key&at=2.1&who=Ines")
    expect(switch(page)).not_to_be_checked()
    say(page, "I keep bees.")
    expect(remembered(page)).to_have_count(0)
    remember_as(page, "Tom")
    say(page, "I work at the harbour.")
    expect(remembered(page)).to_have_text(["I work at the harbour"])
    expect(page.locator(".memory-list")).to_contain_text("told Ines Vale at")
    page.goto(f"{site}/?story=brass-key&at=2.1&who=Ines")
    expect(switch(page)).not_to_be_checked()
    remember_as(page, "Tom")  # begins the chat
    expect(remembered(page)).to_have_text(["I work at the harbour"])
    expect(page.get_by_role("link", name="in another chat")).to_be_visible()
    page.goto(f"{site}/?story=brass-key&at=2.2&who=Tobias")
    remember_as(page, "Tom")
    expect(page.locator(".memory-list")).to_contain_text("has not been told anything about you yet")


def test_edited_forgotten_and_undone_at_once(page: Page, make_site: MakeSite) -> None:
    site, _ = make_site(Scripted(["Is that so?"] * 9))
    page.goto(f"{site}/?story=brass-key&at=2.1&who=Ines")
    remember_as(page, "Tom")
    say(page, "I work at the harbour. I have two dogs.")
    page.get_by_role("button", name="Edit: I work at the harbour").click()
    page.get_by_label("What you said of yourself").fill("I work at the shipyard")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(remembered(page)).to_have_text(["I work at the shipyard", "I have two dogs"])
    page.get_by_role("button", name="Forget: I have two dogs").click()
    expect(remembered(page)).to_have_text(["I work at the shipyard"])
    undo = page.get_by_role("button", name="Undo the last change")
    expect(undo).to_be_focused()
    undo.click()
    expect(remembered(page)).to_have_text(["I work at the shipyard", "I have two dogs"])
    page.get_by_role("button", name="Forget all of it").click()
    expect(remembered(page)).to_have_count(0)
    switch(page).click()
    expect(page.locator(".memory")).to_contain_text("Off: nothing is kept")


def test_called_off_or_refused_it_stays_off(page: Page, make_site: MakeSite) -> None:
    site, _ = make_site(Scripted(["Is that so?"]))
    page.goto(f"{site}/?story=brass-key&at=2.1&who=Ines")
    switch(page).click()
    page.locator("[data-asking]").get_by_role("button", name="Cancel").click()
    expect(switch(page)).not_to_be_checked()
    switch(page).click()
    page.get_by_label("Your name").fill("Tobias")
    page.get_by_role("button", name="Remember me").click()
    expect(page.locator("[data-problem]")).to_contain_text("is a name of somebody in the story")
    expect(switch(page)).not_to_be_checked()


def test_the_panel_can_be_used_by_everybody(page: Page, make_site: MakeSite) -> None:
    site, _ = make_site(Scripted(["Is that so?"]))
    page.goto(f"{site}/?story=brass-key&at=2.1&who=Ines")
    remember_as(page, "Tom")
    say(page, "I work at the harbour. I have two dogs.")
    expect(remembered(page)).to_have_count(2)
    assert_accessible(page)
