"""Review in a real browser: by keys, by mouse and touch, two reviewers, without scripts, and on a small screen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from browser.accessibility import assert_accessible
from browser.conftest import MakeSite
from studyserver import filled, line
from understudy.metrics.utterances import UtteranceStore
from understudy.metrics.utterances.record import APPROVED, FILTER

TIDE, LIGHT, STEPS = "The tide keeps its own books.", "Nobody sells a light.", "I counted the steps twice."
NEAR = "/review?metric=psprob&bound=0.5"


@pytest.fixture
def lines(tmp_path: Path) -> Iterator[UtteranceStore]:
    store = filled(tmp_path / "lines.db")
    yield store
    store.close()


@pytest.fixture
def site(make_site: MakeSite, lines: UtteranceStore) -> str:
    return make_site(utterances=lines)[0]


def sit_down(page: Page, site: str, name: str = "Mara") -> Page:
    page.goto(site + NEAR)
    page.get_by_role("textbox", name="Your name").fill(name)
    page.keyboard.press("Enter")
    expect(page.locator("#line")).to_be_visible()
    page.wait_for_load_state()  # from then on keys are heard
    return page


@pytest.fixture
def review(page: Page, site: str) -> Page:
    """The review view before Mara."""
    return sit_down(page, site)


def standing(page: Page) -> Page:
    expect(page.locator("#review")).not_to_have_attribute("aria-busy", "true")
    return page


def test_a_queue_worked_through_by_keys_alone(review: Page, lines: UtteranceStore) -> None:
    expect(review.locator("#line")).to_have_text(TIDE)
    review.keyboard.press("a")
    expect(review.locator("#line")).to_have_text(LIGHT)
    expect(review.get_by_role("status")).to_have_text(f"Approved. {LIGHT}")
    standing(review).keyboard.press("r")
    expect(review.locator("#line")).to_have_text(STEPS)
    expect(review.locator(".review-progress")).to_contain_text("4 left")
    expect(review.locator(".review-progress")).to_contain_text("2 done by you")
    standing(review).keyboard.press("s")
    expect(review.locator("#line")).to_have_text("Salt in everything, even the tea.")
    expect(review.get_by_text("1 skipped")).to_be_visible()
    for key, expected in (("j", "LOL whatever."), ("k", "Salt in everything, even the tea.")):
        standing(review).keyboard.press(key)
        expect(review.locator("#line")).to_have_text(expected)
    by_text = {entry.utterance.text: (entry.decision, entry.by) for entry in lines.find()}
    assert by_text[TIDE] == ("approved", "Mara") and by_text[LIGHT] == ("rejected", "Mara")
    assert by_text[STEPS][1] == FILTER


def test_the_last_decision_is_taken_back_by_a_key_and_any_other_by_its_button(
    review: Page, lines: UtteranceStore
) -> None:
    for key, then in (("r", LIGHT), ("a", STEPS), ("r", "Salt in everything, even the tea.")):
        standing(review).keyboard.press(key)
        expect(review.locator("#line")).to_have_text(then)
    standing(review).keyboard.press("u")
    expect(review.locator("#line")).to_have_text(STEPS)
    expect(review.get_by_role("status")).to_contain_text("Taken back.")
    standing(review).get_by_role("button", name=f"Undo about {TIDE}").click()
    expect(review.locator("#line")).to_have_text(TIDE)
    expect(review.locator(".latest > li")).to_have_count(1)
    texts = {entry.utterance.text: entry.decision for entry in lines.find()}
    assert (texts[TIDE], texts[LIGHT], texts[STEPS]) == ("approved", "approved", "approved")
    assert len(lines.history(1)) == 4  # nothing was deleted


def test_keys_are_letters_where_one_writes_and_help_lists_them(review: Page) -> None:
    review.keyboard.press("?")
    dialog = review.get_by_role("dialog", name="Keys")
    expect(dialog).to_be_visible()
    review.keyboard.press("a")  # decides nothing while the keys are being read
    review.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    review.get_by_label("Bound", exact=True).focus()
    review.keyboard.press("r")
    review.keyboard.press("u")
    expect(review.locator("#line")).to_have_text(TIDE)
    expect(review.locator(".review-progress")).to_contain_text("0 done by you")


def test_metric_bound_and_character_are_chosen_on_the_page(review: Page) -> None:
    review.get_by_label("Bound", exact=True).fill("0.9")
    review.keyboard.press("Enter")
    expect(review.locator("#line")).to_have_text("Salt in everything, even the tea.")
    assert "bound=0.9" in review.url
    standing(review).locator("select[name=character]").select_option("Mara Quill")
    expect(review.locator("#line")).to_have_text("Unjudged.")
    expect(review.get_by_text("From 2.1 on")).to_be_visible()
    expect(review.get_by_text("no line to go by")).to_be_visible()
    review.reload()
    expect(review.locator("#line")).to_have_text("Unjudged.")


def test_two_reviewers_and_how_far_they_agree(review: Page, site: str, browser: Browser) -> None:
    for key, then in (("a", LIGHT), ("r", STEPS), ("a", "Salt in everything, even the tea.")):
        standing(review).keyboard.press(key)
        expect(review.locator("#line")).to_have_text(then)
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    ines = sit_down(context.new_page(), site, "Ines")
    ines.locator("select[name=show]").select_option("second")
    expect(ines.locator("#line")).to_have_text(TIDE)
    expect(ines.get_by_text("Somebody else has decided about this line")).to_be_visible()
    for key, then in (("a", LIGHT), ("r", STEPS)):
        standing(ines).keyboard.press(key)
        expect(ines.locator("#line")).to_have_text(then)
    standing(ines).keyboard.press("r")
    expect(ines.get_by_text("There is no line that somebody else has decided about")).to_be_visible()
    agreement = ines.get_by_role("region", name="Agreement")
    expect(agreement).to_contain_text("3")
    expect(agreement).to_contain_text("67%")
    expect(agreement).to_contain_text("0.40")
    agreement.locator("select[name=second]").select_option("filter")
    expect(agreement.locator("select[name=second]")).to_have_value("filter")
    standing(ines).locator("select[name=first]").select_option("Mara")
    expect(agreement).to_contain_text("100%")
    expect(agreement).to_contain_text("1.00")
    context.close()


def test_the_name_is_asked_once_and_can_be_changed(review: Page, site: str) -> None:
    review.goto(f"{site}/review")
    expect(review.locator("#line")).to_be_visible()
    review.get_by_role("link", name="You are Mara").click()
    review.get_by_role("textbox", name="Your name").fill("Ines")
    review.get_by_role("button", name="Start reviewing").click()
    expect(review.get_by_role("link", name="You are Ines")).to_be_visible()


def test_by_mouse_and_by_touch(site: str, browser: Browser, lines: UtteranceStore) -> None:
    context = browser.new_context(viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
    page = sit_down(context.new_page(), site)
    page.get_by_role("button", name="Approve").tap()
    expect(page.locator("#line")).to_have_text(LIGHT)
    standing(page).get_by_role("button", name="Reject").tap()
    expect(page.locator("#line")).to_have_text(STEPS)
    standing(page).get_by_role("link", name="Skip", exact=True).tap()
    expect(page.locator("#line")).to_have_text("Salt in everything, even the tea.")
    standing(page).get_by_role("button", name="Undo the last decision").tap()
    expect(page.locator("#line")).to_have_text(LIGHT)
    assert lines.get(1).by == "Mara"
    context.close()


def test_without_scripts(site: str, browser: Browser, lines: UtteranceStore) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = sit_down(context.new_page(), site)
    page.get_by_role("button", name="Reject").click()
    expect(page.locator("#line")).to_have_text(LIGHT)
    assert lines.get(1).decision == "rejected"
    page.get_by_label("Bound", exact=True).fill("0.9")
    page.get_by_role("button", name="Show").click()
    expect(page.locator("#line")).to_have_text("Salt in everything, even the tea.")
    page.get_by_role("link", name=STEPS).click()
    expect(page.locator("#line")).to_have_text(STEPS)
    page.get_by_role("button", name="Undo the last decision").click()
    expect(page.locator("#line")).to_have_text(TIDE)
    assert lines.get(1).decision == "approved"
    context.close()


def test_a_server_that_has_gone_is_said_and_the_line_stays(review: Page) -> None:
    review.route("**/review/decide*", lambda route: route.abort())
    review.keyboard.press("a")
    expect(review.get_by_role("alert")).to_contain_text("cannot be reached")
    expect(review.locator("#line")).to_have_text(TIDE)
    review.unroute("**/review/decide*")
    standing(review).keyboard.press("a")
    expect(review.locator("#line")).to_have_text(LIGHT)
    expect(review.get_by_role("alert")).to_be_hidden()


def test_what_lines_hold_is_text(review: Page, lines: UtteranceStore, site: str) -> None:
    evil = "<img src=x onerror=\"document.title='taken'\"> & <b>bold</b>"
    lines.add([line(evil, psprob=0.5)], APPROVED, FILTER)
    review.goto(site + NEAR)
    expect(review.locator("#line")).to_have_text(evil)
    review.keyboard.press("a")
    expect(review.locator("#line")).to_have_text(TIDE)
    expect(review.locator(".latest")).to_contain_text("<b>bold</b>")
    assert "taken" not in review.title() and review.locator(".latest img, #line b").count() == 0


def test_everything_fits_is_named_and_can_be_read(review: Page, lines: UtteranceStore, site: str) -> None:
    lines.add([line("Aunbreakable" + "x" * 300, "Somebody with a name " + "y" * 60, psprob=0.5)], APPROVED, FILTER)
    review.goto(site + NEAR)
    review.keyboard.press("a")
    expect(review.locator("#line")).to_have_text(TIDE)
    standing(review).keyboard.press("k")
    standing(review).keyboard.press("r")
    for address in (NEAR, "/review?show=mine", "/review?show=second", "/review?rename"):
        review.goto(site + address)
        assert_accessible(review)
