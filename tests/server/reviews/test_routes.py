"""The review operations: the queue, decisions, taking back, agreement; and what each refuses."""

from __future__ import annotations

import httpx
import pytest

from server.conftest import Ask, MakeContext
from understudy.metrics.utterances import UtteranceStore
from understudy.server.app import make_app


def decide(ask: Ask, number: int | str, decision: str, by: str = "Mara") -> httpx.Response:
    return ask("POST", f"/api/utterances/{number}/decision", json={"decision": decision, "by": by})


def undo(ask: Ask, number: int | str, by: str = "Mara") -> httpx.Response:
    return ask("POST", f"/api/utterances/{number}/undo", json={"by": by})


def texts(answer: httpx.Response) -> list[str]:
    return [utterance["text"] for utterance in answer.json()["utterances"]]


def test_lines_near_the_bound_come_first_and_those_without_a_score_last(ask: Ask) -> None:
    answer = ask("GET", "/api/utterances", params={"metric": "psprob", "bound": 0.5})
    assert texts(answer) == [
        "The tide keeps its own books.",
        "Nobody sells a light.",
        "I counted the steps twice.",
        "Salt in everything, even the tea.",
        "LOL whatever.",
        "Unjudged.",
    ]
    queue = answer.json()
    assert (queue["left"], queue["done"], queue["metrics"]) == (6, 0, ["psprob"])
    assert queue["characters"] == ["Ines Vale", "Mara Quill"] and queue["reviewers"] == []
    first = queue["utterances"][0]
    assert first["scores"] == {"psprob": {"value": 0.52, "reason": "words they share"}}
    assert (first["since"], first["until"], first["file"], first["line"]) == ("0", "end", "generated.txt", 7)
    assert (first["decision"], first["by"]) == ("approved", "filter")


def test_by_default_the_bound_is_the_least_that_the_filter_let_through(ask: Ask) -> None:
    queue = ask("GET", "/api/utterances").json()
    assert (queue["metric"], queue["bound"]) == ("psprob", 0.52)


def test_a_decision_counts_and_leaves_the_queue(ask: Ask, lines: UtteranceStore) -> None:
    (first, *_) = ask("GET", "/api/utterances", params={"bound": 0.5}).json()["utterances"]
    decided = decide(ask, first["number"], "rejected").json()
    assert (decided["decision"], decided["by"]) == ("rejected", "Mara")
    assert lines.get(first["number"]).decision == "rejected"
    then = ask("GET", "/api/utterances", params={"bound": 0.5, "by": "Mara"})
    assert first["text"] not in texts(then) and (then.json()["left"], then.json()["done"]) == (5, 1)
    mine = ask("GET", "/api/utterances", params={"show": "mine", "by": "Mara"})
    assert texts(mine) == [first["text"]]


def test_one_takes_back_ones_own_decision_and_nobody_elses(ask: Ask) -> None:
    assert undo(ask, 1).status_code == 409  # it is the filter's
    decide(ask, 1, "rejected")
    assert undo(ask, 1, "Ines").status_code == 409
    decide(ask, 1, "approved", "Ines")
    refused = undo(ask, 1)
    assert refused.status_code == 409 and "Ines" in refused.json()["error"]["message"]
    assert undo(ask, 1, "Ines").json()["decision"] == "rejected"
    back = undo(ask, 1).json()
    assert back["decision"] == "approved"
    assert undo(ask, 1).status_code == 409
    assert ask("GET", "/api/utterances", params={"by": "Mara"}).json()["left"] == 6


def test_a_second_opinion_is_asked_of_whoever_has_none_yet(ask: Ask) -> None:
    for number in (1, 2):
        decide(ask, number, "approved")
    second = {"show": "second", "by": "Ines", "metric": "psprob", "bound": 0.5}
    answer = ask("GET", "/api/utterances", params=second)
    assert [utterance["number"] for utterance in answer.json()["utterances"]] == [1, 2] and answer.json()["left"] == 2
    decide(ask, 1, "rejected", "Ines")
    assert [utterance["number"] for utterance in ask("GET", "/api/utterances", params=second).json()["utterances"]] == [
        2
    ]
    assert ask("GET", "/api/utterances", params={"show": "second", "by": "Mara"}).json()["utterances"] == []
    assert answer.json()["reviewers"] == ["Mara"]


def test_agreement_counts_what_stands(ask: Ask) -> None:
    def agreement(first: str, second: str) -> tuple[int, float | None, float | None]:
        document = ask("GET", "/api/utterances/agreement", params={"first": first, "second": second}).json()
        return document["n"], document["share"], document["kappa"]

    assert agreement("Mara", "Ines") == (0, None, None)
    for number, ours, theirs in ((1, "approved", "approved"), (2, "rejected", "rejected"), (3, "approved", "rejected")):
        decide(ask, number, ours)
        decide(ask, number, theirs, "Ines")
    n, share, kappa = agreement("Mara", "Ines")
    assert n == 3 and share == pytest.approx(2 / 3) and kappa == pytest.approx((2 / 3 - 4 / 9) / (5 / 9))
    undo(ask, 3, "Ines")
    assert agreement("Mara", "Ines")[:2] == (2, 1.0)
    assert agreement("Mara", "filter")[0] == 3


@pytest.mark.parametrize("number", ["99", "0", "-1", "x", "1.0", "9" * 30, "١"])
def test_an_utterance_that_is_not_there(ask: Ask, number: str) -> None:
    assert decide(ask, number, "approved").status_code == 404
    assert undo(ask, number).status_code == 404


@pytest.mark.parametrize(
    "body",
    [
        {"decision": "pending", "by": "Mara"},
        {"decision": "approved"},
        {"decision": "approved", "by": ""},
        {"decision": "approved", "by": "  "},
        {"decision": "approved", "by": "Filter"},
        {"decision": "approved", "by": "x" * 81},
        {"decision": "approved", "by": "Mara\0"},
        {"decision": "approved", "by": "Mara", "more": 1},
    ],
)
def test_a_decision_that_is_none(ask: Ask, lines: UtteranceStore, body: dict[str, object]) -> None:
    assert ask("POST", "/api/utterances/1/decision", json=body).status_code == 400
    assert len(lines.history(1)) == 2


@pytest.mark.parametrize("query", [{"bound": "nan"}, {"bound": "inf"}, {"limit": "0"}, {"show": "all"}])
def test_a_queue_that_cannot_be(ask: Ask, query: dict[str, str]) -> None:
    assert ask("GET", "/api/utterances", params=query).status_code == 400


def test_a_score_that_nothing_has(ask: Ask) -> None:
    refused = ask("GET", "/api/utterances", params={"metric": "charm"})
    assert refused.status_code == 404 and "psprob" in refused.json()["error"]["message"]


def test_another_sites_page_decides_nothing(ask: Ask, lines: UtteranceStore) -> None:
    refused = ask(
        "POST", "/api/utterances/1/decision", json={"decision": "rejected", "by": "Mara"},
        headers={"Origin": "http://evil.example"},
    )  # fmt: skip
    assert refused.status_code == 403 and lines.get(1).decision == "approved"


def test_a_database_that_cannot_be_written_changes_nothing_and_says_so(ask: Ask, lines: UtteranceStore) -> None:
    lines.database._connection.execute("PRAGMA query_only = ON")  # type: ignore[union-attr]
    refused = decide(ask, 1, "rejected")
    assert refused.status_code == 507 and "nothing was lost" in refused.json()["error"]["message"]
    assert ask("GET", "/api/utterances").status_code == 200
    lines.database._connection.execute("PRAGMA query_only = OFF")  # type: ignore[union-attr]
    assert lines.get(1).decision == "approved" and decide(ask, 1, "rejected").status_code == 200


def test_the_fingerprint_changes_with_what_may_be_said(ask: Ask) -> None:
    def fingerprint() -> str:
        body = {"model": "brass-key/Ines@2.1", "messages": [{"role": "user", "content": "Hello"}]}
        return str(ask("POST", "/v1/chat/completions", json=body).json()["system_fingerprint"])

    before = fingerprint()
    assert fingerprint() == before
    decide(ask, 1, "rejected")
    assert fingerprint() != before


def test_without_a_database_it_says_how_to_have_one(make_context: MakeContext) -> None:
    import asyncio

    from server.conftest import visiting

    async def get() -> httpx.Response:
        async with visiting(make_app(make_context())) as client:
            return await client.get("/api/utterances")

    refused = asyncio.run(get())
    assert refused.status_code == 404 and "--store" in refused.json()["error"]["message"]
