"""Taking part in a study in a real browser: by keys alone on a phone's screen, through reloads and lost connections."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from browser.accessibility import assert_accessible, too_wide
from browser.test_talk_access import tab_to
from server.conftest import serving
from studyserver import EARLIER, LOOKED_UP, PREFERRED, RATED, TABLED, WRITTEN, options, study_store
from understudy.server.middleware import RequestLimits
from understudy.server.studies import StudyContext
from understudy.server.studies.routes import make_study_app
from understudy.studies.item import Block, Option, Question, ShownLine, StudyItem
from understudy.studies.store import StudyStore

FREELY = RequestLimits(per_second=1_000, burst=10_000, token_per_second=1_000, token_burst=10_000)
ENDLESS = "unbreakable" * 40

MakeStudy = Callable[..., tuple[str, StudyStore]]


@pytest.fixture
def make_study(tmp_path: Path) -> Iterator[MakeStudy]:
    """A server with a study of the given items, and the address of its first participant's page."""
    with ExitStack() as open_now:

        def make(*items: StudyItem, **settings: Any) -> tuple[str, StudyStore]:
            store = open_now.enter_context(study_store(tmp_path, *items, **settings))
            site = open_now.enter_context(serving(make_study_app(StudyContext(store), limits=FREELY)))
            return f"{site}/take/{store.invite('mara', 1)[0]}", store

        yield make


def begin(page: Page, address: str) -> Page:
    page.goto(address)
    page.get_by_label("I agree").check()
    page.get_by_role("button", name="Begin").click()
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("1 of")
    return page


def given(store: StudyStore) -> list[dict[str, object]]:
    return [dict(each.answer) for each in store.answers(store.study("mara").id)]


def test_from_consent_to_thanks_by_keys_alone_on_a_phone(browser: Browser, make_study: MakeStudy) -> None:
    address, store = make_study(RATED, WRITTEN, ask=("Age",))
    context = browser.new_context(viewport={"width": 360, "height": 740}, reduced_motion="reduce")
    page = context.new_page()
    page.goto(address)
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    tab_to(page, "Age")
    page.keyboard.type("41")
    tab_to(page, "I agree")
    page.keyboard.press("Space")
    tab_to(page, "Begin")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("What you will do")
    expect(page.locator("#take").get_by_text("A line in her voice")).to_be_visible()
    tab_to(page, "Start")
    page.keyboard.press("Enter")
    for number in (1, 2):
        heading = page.get_by_role("heading", level=1)
        expect(heading).to_have_text(f"Item {number} of 2")
        expect(heading).to_be_focused()
        assert too_wide(page) == []
        if page.get_by_text("How fluent").is_visible():
            page.keyboard.press("4")  # the first question, and on to the next
            expect(page.get_by_role("radio", name="4")).to_be_checked()
            page.keyboard.press("2")
            expect(page.get_by_role("radio", name="No", exact=True)).to_be_checked()
            expect(page.get_by_role("button", name="Save and go on")).to_be_focused()
            page.keyboard.press("Enter")
        else:
            tab_to(page, "Describe her: 1")
            page.keyboard.type("I keep the 2 lights.")
            page.keyboard.press("Enter")
            expect(page.get_by_label("Describe her: 2")).to_be_focused()
            page.keyboard.type("I collect keys.")
            page.keyboard.press("Enter")
            expect(page.get_by_label("Describe her: 3")).to_be_focused()
            page.keyboard.press("Control+Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Thank you")
    assert {"fluency": 4, "fits": "no"} in given(store)
    assert {"persona": ["I keep the 2 lights.", "I collect keys."]} in given(store)
    assert store.asked_of(store.study("mara").id) == {"p1": {"Age": "41"}}
    context.close()


def test_what_is_wrong_is_named_as_one_types_and_refused_at_the_end(page: Page, make_study: MakeStudy) -> None:
    address, store = make_study(WRITTEN)
    begin(page, address)
    first, second = page.get_by_label("Describe her: 1"), page.get_by_label("Describe her: 2")
    first.press_sequentially("I keep the light.")
    second.press_sequentially(" ".join(["word"] * 16))
    expect(page.get_by_text("16/15 words")).to_be_visible()
    problem = page.get_by_text("16 words, and 15 are allowed")
    expect(problem).to_be_visible()
    expect(second).to_have_attribute("aria-invalid", "true")
    expect(first).to_have_attribute("aria-invalid", "false")
    described = second.get_attribute("aria-describedby") or ""
    assert any("16 words" in page.locator(f"#{part}").inner_text() for part in described.split())
    page.get_by_role("button", name="Save and go on").click()
    expect(page.get_by_role("alert").filter(has_text="One question needs another look")).to_be_visible()
    expect(second).to_be_focused()
    assert given(store) == []
    second.fill("I collect keys.")
    expect(problem).to_be_hidden()
    page.get_by_role("button", name="Save and go on").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Thank you")
    assert given(store) == [{"persona": ["I keep the light.", "I collect keys."]}]


def test_a_rewritten_sentence_is_compared_with_its_own_original(page: Page, make_study: MakeStudy) -> None:
    original = Block("Of themselves", (ShownLine(None, "I ski."), ShownLine(None, "I have cats.")))
    rewritten = Question("sentences", "texts", "In other words", least=2, most=2)
    begin(page, make_study(StudyItem("persona 1", (original,), (rewritten,)), kind="revise")[0])
    first, second = page.get_by_label("In other words: 1"), page.get_by_label("In other words: 2")
    second.fill("My cats rule.")
    expect(page.get_by_text("'cats' stands in the original")).to_be_visible()
    expect(second).to_have_attribute("aria-invalid", "true")
    expect(first).to_have_attribute("aria-invalid", "false")
    second.fill("Skiing bores my pets.")  # of the other original
    expect(page.locator(".problems > li")).to_have_count(0)
    page.get_by_role("button", name="Save and go on").click()
    expect(page.locator(".problems > li")).to_have_text("1 of at least 2 sentences: add some")
    expect(first).to_be_focused()


def test_what_is_missing_is_said_at_the_end_and_not_before(page: Page, make_study: MakeStudy) -> None:
    address, _ = make_study(RATED)
    begin(page, address)
    with page.expect_response(re.compile("/check$")):
        page.get_by_role("radio", name="3", exact=True).check(force=True)
    expect(page.locator(".problems > li")).to_have_count(0)
    page.get_by_role("button", name="Save and go on").click()
    expect(page.locator("[data-question=fits] .problems")).to_have_text("choose an answer")
    expect(page.locator("[data-question=fluency] .problems > li")).to_have_count(0)
    expect(page.get_by_role("radio", name="Yes")).to_be_focused()


def test_a_reload_keeps_what_was_entered(page: Page, make_study: MakeStudy) -> None:
    address, _ = make_study(WRITTEN)
    begin(page, address)
    page.get_by_label("Describe her: 2").fill("I collect keys.")
    page.get_by_role("button", name="Add another").click()
    page.get_by_label("Describe her: 3").fill("I am tall.")
    page.get_by_text("Add a comment").click()
    page.get_by_label("Comment").fill("Not easy.")
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_contain_text("1 of 1")
    expect(page.get_by_label("Describe her: 1")).to_have_value("")
    expect(page.get_by_label("Describe her: 2")).to_have_value("I collect keys.")
    expect(page.get_by_label("Describe her: 3")).to_have_value("I am tall.")
    expect(page.get_by_label("Comment")).to_have_value("Not easy.")


def test_the_last_answer_is_taken_back_and_changed(page: Page, make_study: MakeStudy) -> None:
    address, store = make_study(RATED)
    begin(page, address)
    page.get_by_text("Add a comment").click()
    page.get_by_label("Comment").fill("Hm.")
    page.get_by_role("heading", level=1).focus()
    for key in ("5", "1", "Enter"):
        page.keyboard.press(key)
    expect(page.get_by_role("heading", level=1)).to_have_text("Thank you")
    page.get_by_role("button", name="Take back last answer").click()
    expect(page.get_by_role("status").filter(has_text="Taken back.")).to_have_count(1)
    expect(page.get_by_role("radio", name="5")).to_be_checked()
    expect(page.get_by_role("radio", name="Yes")).to_be_checked()
    expect(page.get_by_label("Comment")).to_have_value("Hm.")
    assert given(store) == []
    page.get_by_role("radio", name="No", exact=True).check()
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Thank you")
    assert given(store) == [{"fluency": 5, "fits": "no"}]


def test_time_goes_on_after_an_answer_was_taken_back(page: Page, make_study: MakeStudy) -> None:
    address, store = make_study(RATED)
    page.clock.install()
    begin(page, address)

    def seconds() -> float:
        (each,) = store.answers(store.study("mara").id)
        return each.seconds

    page.clock.fast_forward(3_600_000)  # far more than the test itself takes anywhere
    for key in ("5", "1", "Enter"):
        page.keyboard.press(key)
    expect(page.get_by_role("heading", level=1)).to_have_text("Thank you")
    assert 3_600 <= seconds() < 7_200
    page.get_by_role("button", name="Take back last answer").click()
    expect(page.get_by_role("radio", name="5")).to_be_checked()
    page.clock.fast_forward(3_600_000)
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Thank you")
    assert 7_200 <= seconds() < 10_800


def test_a_comment_comes_back_in_another_tab_and_is_not_cut(page: Page, make_study: MakeStudy) -> None:
    address, _ = make_study(RATED)
    begin(page, address)
    for key in ("5", "1"):
        page.keyboard.press(key)
    page.get_by_text("Add a comment").click()
    comment = page.get_by_label("Comment")
    expect(comment).to_have_attribute("maxlength", "5000")
    comment.fill("Hm.")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Thank you")
    other = page.context.new_page()
    other.goto(address)
    other.get_by_role("button", name="Take back last answer").click()
    other.get_by_role("button", name="Start").or_(other.get_by_label("Comment")).first.wait_for()
    if other.get_by_role("button", name="Start").is_visible():
        other.get_by_role("button", name="Start").click()
    expect(other.get_by_label("Comment")).to_have_value("Hm.")


def test_a_withdrawal_whose_response_is_lost_is_done(page: Page, make_study: MakeStudy) -> None:
    address, store = make_study(WRITTEN)
    page.clock.install()
    begin(page, address)
    page.get_by_label("Describe her: 1").fill("I keep the light.")
    lost: list[Route] = []

    def lose(route: Route) -> None:
        """Of the first request only the response is lost."""
        lost.append(route)
        if len(lost) == 1:
            route.fetch()
            route.abort()
        else:
            route.continue_()

    page.route("**/withdraw", lose)
    page.get_by_text("Options").click()
    page.get_by_role("button", name="Withdraw and delete my answers").click()
    page.get_by_role("button", name="Withdraw and delete", exact=True).click()
    page.clock.run_for(1_000)
    expect(page.get_by_role("heading", level=1)).to_have_text("Your answers were deleted")
    assert len(lost) == 2 and store.people(store.study("mara").id) == []
    assert page.evaluate("Object.keys(sessionStorage).length") == 0


def test_whoever_withdraws_is_asked_once_and_forgotten(page: Page, make_study: MakeStudy) -> None:
    address, store = make_study(RATED, PREFERRED)
    begin(page, address)
    page.keyboard.press("1")
    page.get_by_text("Options").click()
    page.get_by_role("button", name="Withdraw and delete my answers").click()
    dialog = page.get_by_role("dialog", name="Withdraw from the study?")
    expect(dialog.get_by_role("button", name="Keep my answers")).to_be_focused()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    assert len(store.people(store.study("mara").id)) == 1
    page.get_by_text("Options").click()
    page.get_by_role("button", name="Withdraw and delete my answers").click()
    dialog.get_by_role("button", name="Withdraw and delete").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Your answers were deleted")
    assert store.people(store.study("mara").id) == []
    assert page.evaluate("Object.keys(sessionStorage).length") == 0
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_have_text("This link does not work")


def test_a_lost_connection_is_said_and_the_answer_is_saved_once(page: Page, make_study: MakeStudy) -> None:
    address, store = make_study(RATED, PREFERRED)
    page.clock.install()
    begin(page, address)
    lost: list[str] = []

    def lose(route: Route) -> None:
        """The first request does not arrive; of the second only the response is lost."""
        lost.append(route.request.post_data or "")
        if len(lost) == 2:
            route.fetch()
        route.abort() if len(lost) < 3 else route.continue_()

    page.route("**/answers", lose)
    heading = page.get_by_role("heading", level=1)
    if page.get_by_text("How fluent").is_visible():
        page.keyboard.press("4")
    page.keyboard.press("1")
    page.get_by_role("button", name="Save and go on").dblclick()
    expect(page.get_by_text("Not saved yet, trying again")).to_be_visible()
    for _ in range(2):
        page.clock.fast_forward(2_000)
    expect(heading).to_have_text("Item 2 of 2")
    expect(page.get_by_text("Not saved yet, trying again")).to_be_hidden()
    assert len(lost) == 3 and len(set(lost)) == 1 and len(given(store)) == 1


def test_earlier_scenes_are_searched_and_ticked(page: Page, make_study: MakeStudy) -> None:
    address, store = make_study(LOOKED_UP)
    begin(page, address)
    expect(page.locator(".folded-block")).to_have_count(12)
    expect(page.get_by_text("I counted 7 steps")).to_be_hidden()
    page.get_by_label("Search in these").fill("7 STEPS")
    expect(page.locator("mark")).to_have_text("7 steps")
    expect(page.get_by_text("1 of 12")).to_be_visible()
    page.get_by_label("Scene 7: needed").check()
    page.get_by_label("Search in these").fill("")
    expect(page.locator(".folded-block:visible")).to_have_count(12)
    expect(page.locator("mark")).to_have_count(0)
    page.get_by_label("Scene 2: needed").check()
    expect(page.get_by_text("Ticked: Scene 2, Scene 7")).to_be_visible()
    page.get_by_role("radio", name="Mara Quill").check()
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Thank you")
    assert given(store) == [{"speaker": "mara quill", "history": ["scene 2", "scene 7"]}]


def test_the_same_may_be_asked_of_several_and_ticked_for_each(page: Page, make_study: MakeStudy) -> None:
    scenes = (*(Option(block.name, block.title) for block in EARLIER), Option("earlier", "A scene further back"))
    questions = [
        question
        for mask in ("P0", "P1")
        for question in (
            Question(f"{mask} who", "choice", f"Who is {mask}?", options("Ines", "Mara"), about=mask),
            Question(f"{mask} needed", "choices", "Which scenes?", scenes, is_required=False, about=mask),
        )
    ]
    address, store = make_study(replace(LOOKED_UP, questions=tuple(questions)))
    begin(page, address)
    expect(page.get_by_role("region", name="P1").get_by_role("heading", name="P1")).to_be_visible()
    page.keyboard.press("1")
    page.keyboard.press("2")  # the next question that has to be answered
    page.get_by_label("Scene 3: needed for P1").check()
    page.get_by_label("Scene 5: needed for P0").check()
    page.get_by_role("region", name="P1").get_by_label("A scene further back").check()
    expect(page.get_by_role("region", name="P1").get_by_text("Ticked: Scene 3")).to_be_visible()
    page.reload()
    expect(page.get_by_label("Scene 3: needed for P1")).to_be_checked()
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Thank you")
    assert given(store) == [
        {"P0 who": "ines", "P0 needed": ["scene 5"], "P1 who": "mara", "P1 needed": ["scene 3", "earlier"]}
    ]


def test_rows_are_added_removed_and_sent(page: Page, make_study: MakeStudy) -> None:
    address, store = make_study(TABLED)
    begin(page, address)
    for number, name in ((1, "Ines"), (2, "Tom"), (3, "Mara")):
        if number > 1:
            page.get_by_role("button", name="Add a row").click()
        page.get_by_role("group", name=f"Row {number}").get_by_label("Who", exact=True).fill(name)
    page.get_by_role("button", name="Remove row 2").click()
    expect(page.get_by_role("group", name="Row 2").get_by_label("Who", exact=True)).to_have_value("Mara")
    page.get_by_role("checkbox", name="Fear").check()
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Thank you")
    rows = [{"who": name, "to whom": "", "how": ""} for name in ("Ines", "Mara")]
    assert given(store) == [{"ties": rows, "moods": ["fear"]}]


def test_two_long_replies_stand_beside_each_other_and_on_a_phone_below(page: Page, make_study: MakeStudy) -> None:
    begin(page, make_study(PREFERRED)[0])
    first, second = (page.locator(".option").nth(index) for index in (0, 1))

    def tops() -> list[float]:
        return [(each.bounding_box() or {"y": 0})["y"] for each in (first, second)]

    assert tops()[0] == tops()[1]
    page.set_viewport_size({"width": 360, "height": 740})
    assert tops()[0] < tops()[1]


def test_numbers_are_letters_where_one_writes_and_can_be_switched_off(page: Page, make_study: MakeStudy) -> None:
    begin(page, make_study(RATED)[0])
    page.get_by_text("Add a comment").click()
    page.get_by_label("Comment").press_sequentially("4 of 5")
    expect(page.locator("#take :checked")).to_have_count(0)
    page.get_by_text("Options").click()
    page.get_by_role("button", name="Keys").click()
    page.get_by_label("Numbers choose answers").uncheck()
    page.get_by_role("dialog").get_by_role("button", name="Close").click()
    page.get_by_role("heading", level=1).focus()
    page.keyboard.press("4")
    expect(page.locator("#take :checked")).to_have_count(0)
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_contain_text("1 of 1")
    page.keyboard.press("4")
    expect(page.locator("#take :checked")).to_have_count(0)


def test_what_items_hold_is_text(page: Page, make_study: MakeStudy) -> None:
    evil = "<img src=x onerror=\"document.title='taken'\"> & <b>bold</b>"
    item = replace(
        RATED, blocks=(Block(evil, (ShownLine(evil, evil),)), Block("x", (ShownLine(evil, evil),), is_folded=True))
    )
    begin(page, make_study(item, title=evil, instructions=evil, consent=evil)[0])
    expect(page.get_by_role("heading", name="<b>bold</b>").first).to_be_visible()
    assert page.locator("main img, main b").count() == 0 and page.title() != "taken"


def test_everything_has_a_name_can_be_read_and_fits(page: Page, make_study: MakeStudy) -> None:
    address, _ = make_study(consent=ENDLESS, title=f"A study {ENDLESS}", ask=("Age",))
    page.goto(address)
    page.get_by_label("Age").fill("41")
    assert_accessible(page)
    page.get_by_label("I agree").check()
    page.get_by_role("button", name="Begin").click()
    expect(page.get_by_role("button", name="Start")).to_be_visible()
    assert_accessible(page)
    page.get_by_role("button", name="Start").click()
    for number in range(1, 6):
        expect(page.get_by_role("heading", level=1)).to_have_text(f"Item {number} of 5")
        assert_accessible(page)
        page.keyboard.press("Control+Enter")
        expect(page.get_by_role("alert").filter(has_text="another look")).to_be_visible()
        for written in page.locator(".questions textarea:not(#comment)").all():
            written.fill(ENDLESS)
        for group in page.locator(".scale, .options").all():
            if group.locator("input").count():
                group.locator("input").first.check(force=True)
        assert_accessible(page)
        page.keyboard.press("Control+Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Thank you")
    assert_accessible(page)
    for name in ("instructions", "keys", "withdraw"):
        page.locator("nav summary").click()
        assert_accessible(page)
        page.locator(f"[data-open={name}]").click()
        expect(page.get_by_role("dialog")).to_be_visible()
        assert_accessible(page)
        page.keyboard.press("Escape")


def test_without_scripts_it_says_so(browser: Browser, make_study: MakeStudy) -> None:
    address, _ = make_study(RATED)
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address)
    expect(page.get_by_text("Taking part needs JavaScript")).to_be_visible()
    context.close()


def test_what_was_read_and_closed_stays_closed(page: Page, make_study: MakeStudy) -> None:
    about = Block("Who Mara is", (ShownLine(None, "I keep the light."), ShownLine(None, "I collect keys.")))
    items = [replace(RATED, name=f"line {number}", blocks=(about, *RATED.blocks)) for number in (1, 2)]
    begin(page, make_study(*items)[0])
    expect(page.get_by_text("I collect keys.")).to_be_visible()
    page.get_by_role("heading", name="Who Mara is").click()
    expect(page.get_by_text("I collect keys.")).to_be_hidden()
    for key in ("4", "1", "Enter"):
        page.keyboard.press(key)
    expect(page.get_by_role("heading", level=1)).to_have_text("Item 2 of 2")
    expect(page.get_by_role("heading", name="Who Mara is")).to_be_visible()
    expect(page.get_by_text("I collect keys.")).to_be_hidden()
    expect(page.locator(".line.is-asked")).to_be_visible()  # what is asked about cannot be closed
