"""The study API: a participant from consent to withdrawal, and what the organiser sees and does."""

from __future__ import annotations

from typing import Any

import pytest

from server.studies.conftest import AS_ORGANISER, AskStudy
from studyserver import CONSENT, ITEMS
from understudy.studies.store import StudyStore

ANSWERS: dict[str, dict[str, Any]] = {
    "fluency": {"fluency": 4, "fits": "yes"},
    "better": {"better": "a"},
    "persona": {"persona": ["I keep the light.", "I collect keys."]},
    "speaker": {"speaker": "mara quill", "history": ["scene 7"]},
    "ties": {"ties": [{"who": "Ines", "to whom": "Mara", "how": "a friend"}], "moods": ["calm"]},
}


def answer_to(view: dict[str, Any]) -> dict[str, Any]:
    return ANSWERS[view["item"]["questions"][0]["name"]]


def begin(ask: AskStudy, store: StudyStore) -> tuple[str, dict[str, Any]]:
    (token,) = store.invite("mara", 1)
    return f"/api/take/{token}", ask("POST", f"/api/take/{token}/consent", json={"asked": {}}).json()


def test_a_participant_from_consent_to_thanks(ask: AskStudy, store: StudyStore) -> None:
    (token,) = store.invite("mara", 1)
    take = f"/api/take/{token}"
    view = ask("GET", take).json()
    assert view["state"] == "consent" and view["item"] is None and view["study"]["consent"] == CONSENT
    view = ask("POST", f"{take}/consent", json={"asked": {}}).json()
    for number in range(len(ITEMS)):
        assert view["state"] == "item" and view["progress"] == {"answered": number, "of": len(ITEMS)}
        assert view["can_undo"] == (number > 0) and set(view["item"]) == {"blocks", "questions"}
        body = {"assignment": view["assignment"], "answer": answer_to(view), "comment": "hm", "seconds": 2.5}
        view = ask("POST", f"{take}/answers", json=body).json()
    assert view["state"] == "done" and view["progress"] == {"answered": len(ITEMS), "of": len(ITEMS)}
    given = store.answers(store.study("mara").id)
    assert {each.person for each in given} == {"p1"} and {each.seconds for each in given} == {2.5}


def test_an_answer_sent_twice_counts_once_and_a_different_one_is_refused(ask: AskStudy, store: StudyStore) -> None:
    take, view = begin(ask, store)
    body = {"assignment": view["assignment"], "answer": answer_to(view)}
    first = ask("POST", f"{take}/answers", json=body).json()
    again = ask("POST", f"{take}/answers", json=body).json()
    assert again["assignment"] == first["assignment"] and again["progress"]["answered"] == 1
    other = {**body, "answer": {}}
    assert ask("POST", f"{take}/answers", json=other).status_code == 422
    assert len(store.answers(store.study("mara").id)) == 1


def test_what_is_wrong_is_said_as_one_types_and_at_the_end(ask: AskStudy, store: StudyStore) -> None:
    take, view = begin(ask, store)
    while view["item"]["questions"][0]["name"] != "persona":
        body = {"assignment": view["assignment"], "answer": answer_to(view)}
        view = ask("POST", f"{take}/answers", json=body).json()
    long = {"persona": ["Short.", "word " * 16]}
    checked = ask("POST", f"{take}/check", json={"assignment": view["assignment"], "answer": long}).json()
    (problem,) = checked["problems"]
    assert (problem["question"], problem["index"]) == ("persona", 1) and "16 words" in problem["message"]
    refused = ask("POST", f"{take}/answers", json={"assignment": view["assignment"], "answer": {"why": "So."}})
    assert refused.status_code == 422 and refused.json()["error"]["code"] == "answer_refused"
    assert [each["question"] for each in refused.json()["problems"]] == ["persona"]


def test_an_answer_is_taken_back_and_shown_again(ask: AskStudy, store: StudyStore) -> None:
    take, view = begin(ask, store)
    answer = answer_to(view)
    ask("POST", f"{take}/answers", json={"assignment": view["assignment"], "answer": answer})
    undone = ask("POST", f"{take}/undo", json={}).json()
    assert undone["assignment"] == view["assignment"] and undone["draft"] == answer and not undone["can_undo"]
    assert ask("POST", f"{take}/undo", json={}).json() == undone, "the response may have been lost"


def test_whoever_withdraws_leaves_nothing(ask: AskStudy, store: StudyStore) -> None:
    take, view = begin(ask, store)
    ask("POST", f"{take}/answers", json={"assignment": view["assignment"], "answer": answer_to(view)})
    assert ask("POST", f"{take}/withdraw", json={}).json() == {"withdrawn": True}
    assert store.answers(store.study("mara").id) == [] and store.people(store.study("mara").id) == []
    assert ask("GET", take).status_code == 404
    page = ask("GET", take.removeprefix("/api"))
    assert page.status_code == 404 and "This link does not work" in page.text


@pytest.mark.parametrize(
    "body", [{"assignment": 1}, {"assignment": "1", "answer": {}}, {"assignment": 1, "answer": []}]
)
def test_bodies_of_another_shape_are_refused(ask: AskStudy, store: StudyStore, body: dict[str, Any]) -> None:
    take, _ = begin(ask, store)
    assert ask("POST", f"{take}/answers", json=body).status_code == 400


@pytest.mark.parametrize("number", [-1, 2**63, 2**70])
def test_numbers_that_no_database_has_are_refused(ask: AskStudy, store: StudyStore, number: int) -> None:
    take, _ = begin(ask, store)
    for path in ("check", "answers"):
        body = {"assignment": number, "answer": {}}
        assert ask("POST", f"{take}/{path}", json=body).status_code == 400
    assert ask("GET", f"{take}/chat?after={number}").status_code == 400


def test_the_organiser_sees_how_far_it_is_and_not_who_wrote_what(ask: AskStudy, store: StudyStore) -> None:
    take, view = begin(ask, store)
    body = {"assignment": view["assignment"], "answer": answer_to(view), "comment": "Hard to say.", "seconds": 9}
    ask("POST", f"{take}/answers", json=body)
    (summary,) = ask("GET", "/api/studies", headers=AS_ORGANISER).json()["studies"]
    assert (summary["answers"], summary["wanted"], summary["people"]) == (1, 2 * len(ITEMS), 1)
    found = ask("GET", "/api/studies/mara", headers=AS_ORGANISER).json()
    (person,) = found["people"]
    assert (person["code"], person["answered"]) == ("p1", 1) and found["seconds"] == 9
    ((_, comment),) = found["comments"]
    assert comment == "Hard to say." and sum(count for _, count in found["pace"]) == 1
    assert found["agreement_answers"] == 1
    page = ask("GET", "/studies/mara", headers=AS_ORGANISER).text
    assert "Hard to say." in page and "the secret agent" not in page


def test_links_are_made_and_ended(ask: AskStudy, store: StudyStore) -> None:
    made = ask("POST", "/api/studies/mara/tokens", headers=AS_ORGANISER, json={"count": 3}).json()["links"]
    assert len(set(made)) == 3 and all(link.startswith("http://127.0.0.1/take/") for link in made)
    path = "/api" + made[1].removeprefix("http://127.0.0.1")
    assert ask("GET", path).json()["state"] == "consent"
    assert ask("DELETE", "/api/studies/mara/people/p2", headers=AS_ORGANISER).status_code == 204
    assert ask("GET", path).json()["state"] == "closed"
    assert ask("DELETE", "/api/studies/mara/people/p9", headers=AS_ORGANISER).status_code == 404
    assert ask("POST", "/api/studies/mara/tokens", headers=AS_ORGANISER, json={"count": 0}).status_code == 400
    assert ask("POST", "/api/studies/mara/tokens", headers=AS_ORGANISER, json={"count": 10_001}).status_code == 400
    assert ask("POST", "/api/studies/other/tokens", headers=AS_ORGANISER, json={"count": 1}).status_code == 404
    assert ask("GET", "/studies/other", headers=AS_ORGANISER).status_code == 404


def test_the_api_is_documented(ask: AskStudy) -> None:
    document = ask("GET", "/openapi.json", headers=AS_ORGANISER).json()
    assert "/api/take/{token}/answers" in document["paths"] and "stories" not in document["info"]["summary"]
    assert "422" in document["paths"]["/api/take/{token}/answers"]["post"]["responses"]
