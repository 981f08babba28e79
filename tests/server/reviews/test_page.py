"""The review page without scripts: the name is asked once, every form works, and what people wrote is escaped."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape

import httpx
import pytest

from server.conftest import Ask, MakeContext
from studyserver import line
from understudy.metrics.utterances import UtteranceStore
from understudy.metrics.utterances.record import APPROVED, FILTER

EVIL = '<script>alert("x")</script>'
MARA, INES = {"Cookie": "understudy_reviewer=Mara"}, {"Cookie": "understudy_reviewer=Ines%20Vale"}


def shown(page: str) -> str:
    """The line that is looked at."""
    return unescape(re.findall(r'id="line"[^>]*>(.*?)</blockquote>', page, re.S)[0])


def decide(ask: Ask, number: int, decision: str, who: dict[str, str] = MARA, query: str = "") -> httpx.Response:
    return ask("POST", f"/review/decide{query}", data={"number": str(number), "decision": decision}, headers=who)


def test_the_name_is_asked_once_and_kept_in_a_cookie(ask: Ask) -> None:
    page = ask("GET", "/review").text
    assert "Who reviews?" in page and 'id="line"' not in page
    answer = ask("POST", "/review/name?show=second", data={"name": "  Ines   Vale "})
    assert (answer.status_code, answer.headers["location"]) == (303, "/review?show=second")
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith("understudy_reviewer=Ines%20Vale;")
    assert "HttpOnly" in cookie and "samesite=strict" in cookie.lower() and "Path=/review" in cookie
    page = ask("GET", "/review", headers=INES).text
    assert "Who reviews?" not in page and "You are Ines Vale" in page


@pytest.mark.parametrize("name", ["", "   ", "filter"])
def test_a_name_that_is_none_is_asked_for_again(ask: Ask, name: str) -> None:
    answer = ask("POST", "/review/name", data={"name": name})
    assert answer.status_code == 400 and 'role="alert"' in answer.text and "Who reviews?" in answer.text
    assert "set-cookie" not in answer.headers


def test_it_says_for_whom_it_is_and_shows_the_line_nearest_to_the_bound(ask: Ask) -> None:
    page = ask("GET", "/review?bound=0.46", headers=MARA).text
    assert "An author’s page" in page
    assert shown(page) == "Nobody sells a light."
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))
    assert "Ines Vale From the start on" in text
    assert "psprob 0.45 0.01 under words they share" in text
    assert "read from generated.txt , line 7" in text
    assert "The filter: rejected" in text and "6 left" in text and "0 done by you" in text


def test_deciding_leads_to_the_line_that_came_next(ask: Ask, lines: UtteranceStore) -> None:
    page = ask("GET", "/review?bound=0.5", headers=MARA).text
    number = int(re.findall(r'name="number" value="(\d+)"', page)[0])
    after = re.findall(r'name="next" value="(\d+)"', page)[0]
    answer = ask(
        "POST", "/review/decide?bound=0.5", headers=MARA,
        data={"number": str(number), "next": after, "decision": "rejected"},
    )  # fmt: skip
    assert (answer.status_code, answer.headers["location"]) == (303, f"/review?bound=0.5&line={after}")
    assert lines.get(number).decision == "rejected" and lines.get(number).by == "Mara"
    page = ask("GET", answer.headers["location"], headers=MARA).text
    assert shown(page) == "Nobody sells a light." and "5</strong> left" in page and "1</strong> done" in page


def test_any_earlier_decision_can_be_taken_back(ask: Ask, lines: UtteranceStore) -> None:
    for number in (1, 2, 3):
        decide(ask, number, "rejected")
    page = ask("GET", "/review?bound=0.5", headers=MARA).text
    assert re.findall(r'name="number" value="(\d+)"', page)[1:] == ["3", "3", "2", "1"]  # the last; then each
    answer = ask("POST", "/review/undo?bound=0.5", data={"number": "1"}, headers=MARA)
    assert answer.headers["location"] == "/review?bound=0.5&line=1"
    assert [lines.get(number).decision for number in (1, 2, 3)] == ["approved", "rejected", "rejected"]
    assert shown(ask("GET", answer.headers["location"], headers=MARA).text) == lines.get(1).utterance.text


def test_what_was_taken_back_is_shown_again_also_far_from_the_bound(ask: Ask, lines: UtteranceStore) -> None:
    lines.add([line(f"Near {number}.", psprob=0.5) for number in range(30)], APPROVED, FILTER)
    far = next(entry.number for entry in lines.find() if entry.utterance.text == "LOL whatever.")
    decide(ask, far, "rejected")
    after = ask("POST", "/review/undo?bound=0.5", data={"number": str(far)}, headers=MARA).headers["location"]
    assert shown(ask("GET", after, headers=MARA).text) == "LOL whatever."


def test_somebody_elses_later_decision_is_not_taken_back(ask: Ask) -> None:
    decide(ask, 1, "rejected")
    decide(ask, 1, "approved", INES)
    page = ask("GET", "/review", headers=MARA).text
    assert "Decide again" in page and "Ines Vale: approved" in page
    answer = ask("POST", "/review/undo", data={"number": "1"}, headers=MARA)
    assert answer.status_code == 409 and 'role="alert"' in answer.text and "Ines Vale" in answer.text


def test_a_second_opinion_does_not_show_the_first(ask: Ask) -> None:
    decide(ask, 1, "rejected")
    page = ask("GET", "/review?show=second", headers=INES).text
    card = page.partition('class="card line"')[2].partition("</article>")[0]
    assert "Somebody else has decided" in card and "Mara" not in card and ">rejected<" not in card
    decide(ask, 1, "rejected", INES)
    page = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", ask("GET", "/review", headers=INES).text))
    assert "Lines both decided 1" in page and "Decided alike 100%" in page and "chance cannot be told" in page


def test_agreement_of_whomever_one_chooses(ask: Ask) -> None:
    for number, mara, ines in ((1, "rejected", "rejected"), (2, "approved", "approved"), (3, "approved", "rejected")):
        decide(ask, number, mara)
        decide(ask, number, ines, INES)
    page = ask("GET", "/review?first=Mara&second=filter", headers={"Cookie": "understudy_reviewer=Zoe"}).text
    plain = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))
    assert "Lines both decided 3 Decided alike 67%" in plain
    plain = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", ask("GET", "/review", headers=MARA).text))
    assert "Lines both decided 3 Decided alike 67% Kappa 0.40" in plain


def test_skipping_puts_a_line_off_for_this_visit(ask: Ask) -> None:
    page = ask("GET", "/review?bound=0.5", headers=MARA).text
    first = shown(page)
    skip = unescape(re.findall(r'href="([^"]+)" data-key="s"', page)[0])
    page = ask("GET", skip, headers=MARA).text
    assert shown(page) != first and first not in page and "1 skipped" in page and "6</strong> left" in page
    everything = ask("GET", "/review?skip=1.2.3.4.5.6", headers=MARA).text
    assert "What is left was skipped." in everything


def test_when_all_is_done_it_says_so(ask: Ask) -> None:
    for number in range(1, 7):
        decide(ask, number, "approved")
    page = ask("GET", "/review", headers=MARA).text
    assert "Nothing is left to decide." in page and "Undo" in page
    assert (
        "There is no line that somebody else has decided about" in ask("GET", "/review?show=second", headers=MARA).text
    )
    assert shown(ask("GET", "/review?show=mine", headers=MARA).text)


@pytest.mark.parametrize(
    "query",
    ["metric=charm", "bound=x", "bound=nan", "line=x", "line=99", "skip=a.b", "show=all", "character=Nobody%00"],
)
def test_an_address_that_says_something_wrong_still_shows_a_page(ask: Ask, query: str) -> None:
    assert ask("GET", f"/review?{query}", headers=MARA).status_code == 200


def test_decisions_that_cannot_be(ask: Ask, lines: UtteranceStore) -> None:
    assert decide(ask, 99, "approved").status_code == 404
    assert decide(ask, 1, "burn").status_code == 400
    assert decide(ask, 1, "rejected", {}).status_code == 400  # nobody decides
    assert len(lines.history(1)) == 2


def test_what_people_wrote_is_escaped(ask: Ask, lines: UtteranceStore) -> None:
    lines.add([line(EVIL, f"{EVIL}Anne", psprob=0.5)], APPROVED, f"{EVIL}Zed")
    number = max(entry.number for entry in lines.find())
    lines.decide(number, "rejected", f"{EVIL}Yan")
    evil = {"Cookie": "understudy_reviewer=%3Cscript%3Ealert(%22x%22)%3C%2Fscript%3E"}
    decide(ask, number, "approved", evil)
    for who in (MARA, evil):
        for query in (
            "",
            f"?line={number}",
            "?show=second",
            "?show=mine",
            f"?first={EVIL}&character={EVIL}&metric={EVIL}",
        ):
            page = ask("GET", f"/review{query}", headers=who).text
            assert "alert" in page and "<script>alert" not in page


def test_no_inline_scripts_or_styles_and_every_field_has_a_label(ask: Ask) -> None:
    decide(ask, 1, "approved")
    for page in (ask("GET", "/review").text, ask("GET", "/review", headers=MARA).text):
        assert not re.search(r"\sstyle=|\son\w+=|<style|<script(?![^>]*\ssrc=)", page)
        assert not re.search(r'(?:src|href|action)="(?!/|#)', page)
        bare = re.sub(r"<label.*?</label>", "", page, flags=re.S)
        assert re.findall(r'<(?:input(?![^>]*type="hidden")|select|textarea)[^>]*>', bare) == []


def test_the_way_to_it_is_shown_only_where_there_is_something_to_review(ask: Ask, make_context: MakeContext) -> None:
    assert 'href="/review"' in ask("GET", "/stories").text
    import asyncio

    from server.conftest import visiting
    from understudy.server.app import make_app

    async def responses() -> list[httpx.Response]:
        async with visiting(make_app(make_context())) as client:
            return [await client.get("/stories"), await client.get("/review")]

    stories, review = asyncio.run(responses())
    assert 'href="/review"' not in stories.text
    assert review.status_code == 404 and "--store" in review.text


def test_the_lines_of_one_of_several_stories_are_looked_at_alone(ask: Ask, lines: UtteranceStore) -> None:
    assert 'name="story"' not in ask("GET", "/review", headers=MARA).text  # nothing to choose from
    lines.add([replace(line("Cast off.", psprob=0.5), story=f"Harbour {EVIL}")], APPROVED, FILTER)
    page = ask("GET", "/review", headers=MARA).text
    assert EVIL not in page and 'name="story"' in page
    page = ask("GET", "/review", params={"story": f"Harbour {EVIL}"}, headers=MARA).text
    assert shown(page) == "Cast off." and '<strong class="number">1</strong> left' in page and EVIL not in page
    queue = ask("GET", "/api/utterances", params={"by": "Mara", "story": f"Harbour {EVIL}"}).json()
    assert [line["text"] for line in queue["utterances"]] == ["Cast off."] and queue["left"] == 1
    assert queue["stories"] == ["", f"Harbour {EVIL}"]
