"""The Talk view as it lies on a screen: nothing covers or cuts what is to be read or pressed."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Locator, Page, expect

from browser.conftest import MakeSite
from browser.test_talk import replies, say
from understudy.agents import Scripted

PHONE = (390, 844)
TOPMOST = """(element, [dx, dy]) => {
    const {left, top, right, bottom} = element.getBoundingClientRect();
    const [x, y] = [dx < 0 ? right + dx : left + dx, dy < 0 ? bottom + dy : top + dy];
    const topmost = document.elementFromPoint(x, y);
    return topmost === element ? "itself" : element.contains(topmost) ? "inside" : topmost?.className ?? "nothing";
}"""

IS_WHOLE = """select => {
    const text = document.createElement("span");
    Object.assign(text.style, { font: getComputedStyle(select).font, position: "absolute", whiteSpace: "nowrap" });
    text.textContent = select.selectedOptions[0].text;
    document.body.append(text);
    const { width } = text.getBoundingClientRect();
    text.remove();
    const { paddingLeft, paddingRight } = getComputedStyle(select);
    const arrow = 16;
    return width <= select.clientWidth - parseFloat(paddingLeft) - Math.max(parseFloat(paddingRight), arrow);
}"""
"""Is the chosen option of a select read to its end?"""


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


def test_the_row_below_the_message_is_whole(page: Page, make_site: MakeSite) -> None:
    site, _ = make_site({"auto": Scripted(["Yes."]), "script": Scripted(["No."])})
    for size in (PHONE, (1280, 800), (1800, 900)):
        open_on(page, size, f"{site}/?story=brass-key&at=2.2&who=Ines&who=Tobias")
        for choice in ("agent", "answer"):
            assert page.locator(f"[data-{choice}-choice]").evaluate(IS_WHOLE), (choice, size)
        assert box(page.locator(".composer-foot"))["height"] < 120
        open_on(page, size, f"{site}/?story=brass-key&at=2.2&who=Ines")
        hint, row = page.get_by_text("Shift + Enter: new line"), page.locator("[data-agent-choice]")
        assert not hint.is_visible() or abs(box(hint)["y"] - box(row)["y"]) < 20


def test_a_short_chat_reaches_the_bottom_of_the_screen_and_no_further(page: Page, site: str) -> None:
    open_on(page, PHONE, f"{site}/?story=brass-key&at=2.1&who=Ines")
    say(page, "Where is the key?")
    expect(replies(page)).to_have_count(1)
    for size in (PHONE, (768, 1024), (1280, 800)):
        page.set_viewport_size({"width": size[0], "height": size[1]})
        composer = box(page.locator(".composer"))
        assert abs(composer["y"] + composer["height"] - size[1]) < 1
        assert page.evaluate("document.documentElement.scrollHeight") == size[1]


def test_a_deleted_message_is_named_on_one_line_and_the_last_one_is_seen(page: Page, site: str) -> None:
    open_on(page, PHONE, f"{site}/?story=brass-key&at=2.1&who=Ines")
    long = "Where is the key that hung upon the hook in the lamp room before the fog came in? " * 3
    for number, text in enumerate(["Where is the key?", "And the hook?", "And the fog?", long], 1):
        say(page, text)
        expect(replies(page)).to_have_count(number)
    page.locator(".by-user").last.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    notice = page.locator("[data-deleted]")
    expect(notice).to_contain_text("Deleted: Where is the key that hung")
    assert box(notice)["height"] < 80
    last = page.locator("[data-message] .bubble").last
    assert box(last)["y"] + box(last)["height"] <= box(page.locator(".composer"))["y"]
