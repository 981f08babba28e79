"""The continuity page in a browser: it fits, can be read in light and dark, and what is dismissed can be taken back."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from browser.accessibility import assert_accessible

PATH = "/continuity/demo?least=0.3"


def test_it_can_be_read_dismissing_is_undone_and_the_way_leads_to_the_scene(page: Page, site: str) -> None:
    page.goto(f"{site}{PATH}")
    assert_accessible(page)
    count = page.locator(".fault").count()
    page.get_by_role("button", name="Dismiss").first.click()
    expect(page.locator(".fault")).to_have_count(count - 1)
    page.get_by_label("dismissed ones too").check()
    page.get_by_role("button", name="Show").click()
    page.get_by_role("button", name="List it again").click()
    expect(page.locator(".fault.dismissed")).to_have_count(0)
    expect(page.locator(".fault")).to_have_count(count)
    line = page.locator(".fault a").first
    moment = line.inner_text()
    line.click()
    expect(page.locator(f"[id='m-{moment}']")).to_be_visible()
