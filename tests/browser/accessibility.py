"""What can be checked of a page without a person: names, contrast, landmarks, and that it fits the screen."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page

__all__ = ["complaints", "fits", "too_wide"]

LOOK = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")
OVER = """() => {
    const {scrollWidth, clientWidth} = document.documentElement;
    if (scrollWidth <= clientWidth) return [];
    const over = [...document.querySelectorAll("*")].filter((element) => element.scrollWidth > element.clientWidth + 1);
    const names = over.map((element) => `<${element.tagName} class="${element.className}">`);
    return [`${scrollWidth} > ${clientWidth}`, ...names];
}"""


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
