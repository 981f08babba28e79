"""The continuity page in a browser: it fits, can be read in light and dark, and what is dismissed can be taken back."""

from __future__ import annotations

from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, expect

from browser.accessibility import complaints, fits

PATH = "/continuity/demo?least=0.3"


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_and_can_be_read(browser: Browser, site: str, width: int, scheme: Literal["light", "dark"]) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": 800}, color_scheme=scheme, reduced_motion="reduce"
    )
    page = context.new_page()
    page.goto(f"{site}{PATH}")
    assert fits(page) and complaints(page) == []
    context.close()


def test_dismissing_undoing_and_the_way_to_the_scene(page: Page, site: str) -> None:
    page.goto(f"{site}{PATH}")
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
