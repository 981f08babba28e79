"""What can be checked of a page without a person: names, contrast, landmarks, and that it fits the screen."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path

from playwright.sync_api import Page, expect

__all__ = ["WIDTHS", "assert_accessible", "complaints", "fits", "resize", "too_wide"]

WIDTHS = (360, 768, 1280)
LOOK = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")
OVER = """() => {
    const {scrollWidth, clientWidth} = document.documentElement;
    if (scrollWidth <= clientWidth) return [];
    const over = [...document.querySelectorAll("*")].filter((element) => element.scrollWidth > element.clientWidth + 1);
    const names = over.map((element) => `<${element.tagName} class="${element.className}">`);
    return [`${scrollWidth} > ${clientWidth}`, ...names];
}"""
SETTLED = "() => Promise.allSettled(document.getAnimations().map((animation) => animation.finished)).then(() => {})"


def complaints(page: Page) -> list[str]:
    """What stands in the way of somebody who cannot see the page well, or at all; empty is good."""
    problems: list[str] = page.evaluate(LOOK)
    return problems


def too_wide(page: Page) -> list[str]:
    """What makes the page wider than the screen; empty is good."""
    problems: list[str] = page.evaluate(OVER)
    return problems


def fits(page: Page) -> bool:
    return not too_wide(page)


def resize(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 740})


def assert_accessible(page: Page, widths: Iterable[int] = WIDTHS, allowed: Collection[str] = ()) -> None:
    """Nothing stands in anybody's way as the page is now, at any of the widths, in light and dark colours.

    Nobody may have chosen colours with the button: that would outweigh what the system wishes.
    """
    for width in widths:
        resize(page, width)
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            pressed = str(scheme == "dark").lower()
            expect(page.locator("[data-theme-toggle]")).to_have_attribute("aria-pressed", pressed)
            page.evaluate(SETTLED)
            problems = [problem for problem in complaints(page) if problem not in allowed] + too_wide(page)
            assert not problems, (page.url, width, scheme, problems)
