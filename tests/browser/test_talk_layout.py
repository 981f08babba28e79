"""The Talk view as it lies on a screen: nothing covers or cuts what is to be read or pressed."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Locator, Page, expect

from browser.test_talk import replies, say

PHONE = (390, 844)
TOPMOST = """(element, [dx, dy]) => {
    const {left, top, right, bottom} = element.getBoundingClientRect();
    const [x, y] = [dx < 0 ? right + dx : left + dx, dy < 0 ? bottom + dy : top + dy];
    const topmost = document.elementFromPoint(x, y);
    return topmost === element ? "itself" : element.contains(topmost) ? "inside" : topmost?.className ?? "nothing";
}"""


def topmost(element: Locator, dx: float, dy: float) -> str:
    """What lies on top at a distance from the left or right, and the top or bottom of an element."""
    name: str = element.evaluate(TOPMOST, [dx, dy])
    return name


def box(element: Locator) -> Any:
    rectangle = element.bounding_box()
    assert rectangle is not None
    return rectangle


def open_on(page: Page, size: tuple[int, int], address: str) -> None:
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.goto(address)


def test_on_a_phone_panels_open_below_their_buttons_and_buttons_are_whole(page: Page, site: str) -> None:
    open_on(page, PHONE, f"{site}/?story=demo&at=end")
    for name in ("chats-panel", "cast-panel"):
        button, panel = page.locator(f"[data-panel={name}]"), page.locator(f"#{name}")
        assert topmost(button, 20, -0.5) == "itself"
        button.click()
        expect(panel).to_be_visible()
        assert box(button)["y"] < box(panel)["y"] < PHONE[1] / 2
        button.click()


def test_on_a_phone_every_opener_is_seen_at_once(page: Page, site: str) -> None:
    open_on(page, PHONE, f"{site}/?story=demo&at=end")
    last = page.locator("[data-opener]").last
    assert box(last)["y"] + box(last)["height"] <= box(page.locator(".composer"))["y"]


def test_nothing_peeks_out_around_the_timeline(page: Page, site: str) -> None:
    for size in (PHONE, (768, 900), (1280, 800)):
        open_on(page, size, f"{site}/?story=brass-key&at=2.1&who=Ines")
        for number in range(1, 8 if size == PHONE else 2):
            say(page, "Where is the key?")
            expect(replies(page)).to_have_count(number)
        card = page.locator(".talk-time > .card")
        assert topmost(card, 40, 0.5) == "itself"  # the border
        for x in (1, -1):
            for y in (1, -1):
                assert topmost(card, x, y) == "talk-time", (size, x, y)


def test_versions_stand_at_their_bubble(page: Page, site: str) -> None:
    open_on(page, PHONE, f"{site}/?story=brass-key&at=2.1&who=Ines")
    say(page, "Where is the key?")
    expect(replies(page)).to_have_count(1)
    page.locator(".by-user").hover()
    page.locator(".by-user").get_by_role("button", name="Edit").click()
    page.get_by_role("dialog").get_by_label("Message").fill("Hm?")
    page.get_by_role("button", name="Save as a new branch").click()
    expect(page.locator(".by-user .bubble")).to_have_text("Hm?")
    page.get_by_role("button", name="Retry").click()
    expect(replies(page)).to_have_text(["This is the line numbered 2."])
    for side, message in (("left", page.locator(".by-character")), ("right", page.locator(".by-user"))):
        bubble, versions = box(message.locator(".bubble")), box(message.locator(".swipes"))
        edges = [it["x"] + (it["width"] if side == "right" else 0) for it in (bubble, versions)]
        assert abs(edges[0] - edges[1]) < 8
        assert 0 <= versions["y"] - bubble["y"] - bubble["height"] < 16


def test_a_placeholder_is_not_cut(page: Page, site: str) -> None:
    open_on(page, (360, 740), f"{site}/?story=demo&at=end&who=Zita&who=Casimir Ould&who=Gudrun Haake")
    message = page.get_by_label("Message")
    expect(message).to_have_attribute("placeholder", "Say something")
    message.evaluate("element => { element.placeholder = 'Say something to somebody with quite a long name, Esq.'; }")
    page.set_viewport_size({"width": 350, "height": 740})
    assert message.evaluate("element => element.clientHeight > 60 && element.scrollHeight <= element.clientHeight")
