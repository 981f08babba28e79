"""The Talk view with the agent that ships, on the story that ships."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from browser.conftest import MakeSite
from understudy.agents import agent_named


def test_the_same_question_at_two_moments_and_why_each_was_answered_so(page: Page, make_site: MakeSite) -> None:
    site, _ = make_site(agent_named("encoder"))
    page.goto(f"{site}/?story=demo&who=Zita&at=1.3&as=Benedek")
    say = page.get_by_label("Message")
    say.press_sequentially("Do you trust the Prior?\n")
    replies = page.locator(".message.by-character[data-message]")
    expect(replies).to_have_count(1, timeout=120_000)
    page.get_by_role("slider").focus()
    page.keyboard.press("End")
    expect(page.locator("[data-difference]")).to_contain_text("Zita Karst, The end")
    page.get_by_role("button", name="Ask the last question again").click()
    expect(replies).to_have_count(2, timeout=120_000)
    first, second = (reply.locator(".bubble").inner_text() for reply in replies.all())
    assert first != second

    replies.first.locator("summary").click()
    drawer = page.get_by_role("dialog", name="Why Zita Karst says this")
    expect(drawer.get_by_role("heading", name="Memories it stirred")).to_be_visible()
    scores = [float(score) for score in drawer.locator(".runner-score").all_inner_texts()]
    assert len(scores) == 5
    assert scores == sorted(scores, reverse=True)
    expect(drawer.locator(".runners .chosen")).to_contain_text(first)
    moments = [text.removeprefix("at ") for text in drawer.locator(".grounds-source").all_inner_texts()]
    assert moments
    assert all(tuple(map(int, moment.split("."))) < (1, 3) for moment in moments)  # nothing from after it was said
    drawer.locator(".grounds-source").first.click()
    expect(page).to_have_url(re.compile(rf"/story/demo\?at=1\.3.*#m-{re.escape(moments[0])}$"))
    expect(page.locator(f"[id='m-{moments[0]}']")).to_be_visible()
