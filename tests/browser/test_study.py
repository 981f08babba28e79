"""The organiser's dashboard in a real browser: it follows a study, makes links and ends them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from browser.accessibility import assert_accessible
from browser.test_take import FREELY
from server.conftest import serving
from studyserver import RATED, study_store
from understudy.server.studies import StudyContext
from understudy.server.studies.routes import make_study_app
from understudy.studies import participation
from understudy.studies.store import StudyStore

ENDLESS = "unbreakable" * 30


@pytest.fixture
def store(tmp_path: Path) -> Iterator[StudyStore]:
    with study_store(tmp_path, RATED, people_per_item=4) as store:
        yield store


@pytest.fixture
def site(store: StudyStore) -> Iterator[str]:
    with serving(make_study_app(StudyContext(store), limits=FREELY)) as site:
        yield site


def answer(store: StudyStore, token: str, fluency: int, comment: str = "") -> None:
    view = participation.give_consent(store, token, {})
    assert view.assignment is not None
    participation.give_answer(store, token, view.assignment, {"fluency": fluency, "fits": "yes"}, comment, 8.0)


def test_it_follows_the_study_by_itself(page: Page, site: str, store: StudyStore) -> None:
    tokens = store.invite("mara", 3)
    page.clock.install()
    page.goto(site)
    page.get_by_role("link", name="Would Mara say this?").click()
    progress = page.get_by_role("region", name="Progress")
    expect(progress).to_contain_text("0 of 4")
    expect(page.get_by_text("Nobody has left a comment yet.")).to_be_visible()
    page.get_by_label("How many").fill("7")  # what is being entered stays
    page.get_by_role("button", name="End the link of p3").focus()
    answer(store, tokens[0], 4, "A fine line.")
    answer(store, tokens[1], 5)
    page.clock.fast_forward(5_000)
    expect(progress).to_contain_text("2 of 4")
    expect(progress).to_contain_text("2 of 3 have answered")
    expect(page.get_by_text("A fine line.")).to_be_visible()
    expect(page.get_by_role("row", name="p1 active 1 0 ")).to_be_visible()
    by_hour = re.compile("^Answers by the hour, [12] at most")  # an hour may have begun between the two
    expect(page.get_by_role("group", name=by_hour)).to_be_visible()
    expect(page.get_by_label("How many")).to_have_value("7")
    expect(page.get_by_role("button", name="End the link of p3")).to_be_focused()
    comments = page.get_by_role("region", name="Comments")
    assert "p1" not in comments.inner_text() and "p2" not in comments.inner_text()


def test_links_are_made_to_be_copied_and_ended(page: Page, site: str, store: StudyStore) -> None:
    page.goto(f"{site}/studies/mara")
    expect(page.get_by_text("Nobody is invited yet")).to_be_visible()
    page.get_by_label("How many").fill("2")
    page.get_by_role("button", name="Make links").click()
    expect(page.get_by_role("row")).to_have_count(3)
    links = page.get_by_label("One for each participant").input_value().splitlines()
    assert len(set(links)) == 2 and all(link.startswith(f"{site}/take/") for link in links)
    page.get_by_role("button", name="End the link of p2").click()
    dialog = page.get_by_role("dialog", name="End the link of p2?")
    dialog.get_by_role("button", name="Leave it open").click()
    expect(dialog).to_be_hidden()
    page.get_by_role("button", name="End the link of p2").click()
    dialog.get_by_role("button", name="End the link").click()
    expect(page.get_by_role("row", name="p2 ended")).to_be_visible()
    expect(page.get_by_role("button", name="End the link of p2")).to_have_count(0)
    states = {}
    for link in links:
        page.goto(link)
        heading = page.get_by_role("heading", level=1)
        expect(heading).to_be_focused()
        states[heading.inner_text()] = link
    assert set(states) == {"Would Mara say this?", "This study is closed"}


def test_a_server_that_has_gone_is_said(page: Page, site: str) -> None:
    page.goto(f"{site}/studies/mara")
    page.route("**/tokens", lambda route: route.abort())
    page.get_by_role("button", name="Make links").click()
    expect(page.get_by_role("alert")).to_contain_text("cannot be reached")


def test_everything_has_a_name_can_be_read_and_fits(page: Page, site: str, store: StudyStore) -> None:
    for token, fluency in zip(store.invite("mara", 4), (4, 5, 4, 2)):
        answer(store, token, fluency, ENDLESS)
    for address in ("/studies", "/studies/mara", "/studies/nothing"):
        page.goto(site + address)
        if address == "/studies/mara":
            page.get_by_role("button", name="Make links").click()
            expect(page.get_by_label("One for each participant")).to_be_visible()
        assert_accessible(page)
