"""Who may do what on a study server: a walk over every route with nothing, with a token, and with the key."""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import Any, cast

import pytest

from server.studies.conftest import AS_ORGANISER, request, study_app
from studyserver import write_chat, write_likely
from understudy.server import application
from understudy.server.access import AccessPolicy, Sessions, login_routes
from understudy.server.middleware import RequestLimits
from understudy.server.studies import StudyContext, routes
from understudy.server.studies.routes import TOKEN_PREFIXES, make_study_app
from understudy.studies import participation
from understudy.studies.chatting import chat_view, say
from understudy.studies.opening import open_study
from understudy.studies.store import StudyStore, open_study_store

OPERATIONS = (*routes.OPERATIONS, *application.OPERATIONS)
LOGINS = login_routes(Sessions(cast(Any, None), AccessPolicy()))
ROUTES = [
    *(operation.route() for operation in OPERATIONS),
    *routes.ROUTES,
    *login_routes(Sessions(cast(Any, None), AccessPolicy())),
]
ENDPOINTS = sorted({(method, route.path) for route in ROUTES for method in route.methods or () if method != "HEAD"})
PARTICIPANTS = [(method, path) for method, path in ENDPOINTS if path.startswith(TOKEN_PREFIXES)]
OPEN_TO_ALL = {("GET", "/health"), ("GET", "/login")}
LOGIN = ("POST", "/login")  # refuses a wrong key itself
BODY: dict[str, Any] = {"assignment": 1, "answer": {}, "asked": {}, "count": 1, "text": "Hello.", "key": "k"}


def filled(path: str, token: str) -> str:
    values = {"token": token, "study": "mara", "code": "p1"}
    return re.sub(r"\{(\w+)\}", lambda match: values[match[1]], path)


def body_of(method: str) -> dict[str, Any]:
    return {"json": BODY} if method == "POST" else {}


def test_participants_have_routes_of_their_own() -> None:
    assert len(PARTICIPANTS) >= 7 and {path for _, path in PARTICIPANTS} >= {"/take/{token}", "/api/take/{token}"}
    assert all("{token}" in path for _, path in PARTICIPANTS)
    assert not any("{token}" in path for method, path in set(ENDPOINTS) - set(PARTICIPANTS))


@pytest.mark.parametrize(("method", "path"), [each for each in ENDPOINTS if each not in (*PARTICIPANTS, LOGIN)])
def test_a_token_opens_nothing_of_the_organisers(store: StudyStore, method: str, path: str) -> None:
    app = study_app(store)
    token, _ = store.invite("mara", 2)
    before = len(store.people(store.study("mara").id))
    ways: list[dict[str, Any]] = [{}, {"headers": {"Authorization": f"Bearer {token}"}}, {"params": {"token": token}}]
    ways.append({"headers": {"Cookie": f"understudy_session={token}"}})
    for way in ways:
        response = request(app, method, filled(path, token), **way, **body_of(method))
        assert (response.status_code == 401) == ((method, path) not in OPEN_TO_ALL)
    assert len(store.people(store.study("mara").id)) == before
    assert request(app, method, filled(path, token), headers=AS_ORGANISER, **body_of(method)).status_code != 401


@pytest.mark.parametrize(("method", "path"), PARTICIPANTS)
def test_a_token_that_was_never_made_opens_nothing(store: StudyStore, method: str, path: str) -> None:
    store.invite("mara", 1)
    for token in ("x", "p1", "%2e%2e", "x%2F..%2Fstudies"):
        assert request(study_app(store), method, filled(path, token), **body_of(method)).status_code == 404


@pytest.mark.parametrize(("method", "path"), PARTICIPANTS)
def test_a_token_shows_its_own_item_and_nothing_of_others(store: StudyStore, method: str, path: str) -> None:
    mine, theirs = store.invite("mara", 2)
    others = participation.give_consent(store, theirs, {})
    assert others.assignment is not None
    participation.give_consent(store, mine, {})
    comment = "a comment of somebody else"
    answers = {"fluency": {"fluency": 4, "fits": "yes"}, "better": {"better": "a"}}
    view = others
    while view.item is not None and view.item.questions[0].name in answers:
        answer = answers[view.item.questions[0].name]
        view = participation.give_answer(store, theirs, view.assignment or 0, answer, comment)
    before = [each for each in store.answers(store.study("mara").id) if each.person == "p2"]
    body = {"json": {**BODY, "assignment": others.assignment}} if method == "POST" else {}
    response = request(study_app(store), method, filled(path, mine), **body)
    assert response.status_code < 500
    for secret in (theirs, comment, "the secret agent", '"hidden"', '"p2"', '"expected"'):
        assert secret not in response.text
    assert [each for each in store.answers(store.study("mara").id) if each.person == "p2"] == before


def database_rows(store: StudyStore) -> list[Any]:
    """Everything that people have and gave, without the times at which they were last there."""
    statements = (
        "SELECT code, asked, state FROM people ORDER BY id",
        "SELECT id, person, item, answered, answer, comment FROM assignments ORDER BY id",
        "SELECT item, side, person, agent FROM seats ORDER BY id",
        "SELECT item, number, side, person, text FROM messages ORDER BY id",
    )
    return [store.database.rows(statement) for statement in statements]


LEAVES_NOTHING_UNCHANGED = ("/api/take/{token}/consent", "/api/take/{token}/withdraw")


@pytest.mark.parametrize("state", ["ended", "withdrawn", "not yet agreed"])
@pytest.mark.parametrize("is_chat", [False, True])
def test_a_token_without_a_part_opens_no_item_and_changes_nothing(
    story: Path, tmp_path: Path, state: str, is_chat: bool
) -> None:
    with open_study_store(tmp_path / "studies.db") as store:
        study = write_chat(story, chats=3, turns=2) if is_chat else write_likely(story, 3)
        name = open_study(store, study).name
        mine, *others = store.invite(name, 3)
        for token in others:
            begin_and_speak(store, token, is_chat)
        if state != "not yet agreed":
            begin_and_speak(store, mine, is_chat)
        if state == "ended":
            store.end(name, "p1")
        if state == "withdrawn":
            participation.withdraw(store, mine)
        before = database_rows(store)
        for method, path in PARTICIPANTS:
            if path in LEAVES_NOTHING_UNCHANGED:
                continue
            for assignment in range(1, 4):
                body = {"json": {**BODY, "assignment": assignment}} if method == "POST" else {}
                response = request(study_app(store), method, filled(path, mine), **body)
                assert response.status_code < 500 and (response.status_code == 404) == (state == "withdrawn")
                for shown in ("I have ", "stamps", "Hello"):
                    assert shown not in response.text
            assert database_rows(store) == before


def begin_and_speak(store: StudyStore, token: str, is_chat: bool) -> None:
    participation.give_consent(store, token, {})
    if is_chat and chat_view(store, token).turn == "mine":
        say(store, token, "Hello from me.", "1")


@pytest.mark.parametrize(("method", "path"), PARTICIPANTS)
def test_a_token_opens_no_chat_of_others(story: Path, tmp_path: Path, method: str, path: str) -> None:
    with open_study_store(tmp_path / "studies.db") as store:
        name = open_study(store, write_chat(story, chats=2, turns=2)).name
        one, other, mine = store.invite(name, 3)
        for token in (one, other, mine):
            participation.give_consent(store, token, {})
        item = chat_view(store, one).item
        assert chat_view(store, other).item == item
        first = one if chat_view(store, one).turn == "mine" else other
        say(store, first, "My secret is a turquoise accordion.", "k")  # the key that `mine` will send, too
        assert chat_view(store, mine).item != item
        theirs = [[row for row in rows if item in row] for rows in database_rows(store)[1:]]
        for assignment in range(1, 4):
            body = {"json": {**BODY, "assignment": assignment}} if method == "POST" else {}
            response = request(study_app(store), method, filled(path, mine), **body)
            assert response.status_code < 500
            for secret in ("accordion", one, other, '"p1"', '"hidden"', '"agents"'):
                assert secret not in response.text
        assert [[row for row in rows if item in row] for rows in database_rows(store)[1:]] == theirs


def test_each_token_has_a_rate_of_its_own(store: StudyStore) -> None:
    app = study_app(store, RequestLimits(token_per_second=0.001, token_burst=3))
    first, second = store.invite("mara", 2)
    statuses = [request(app, "GET", f"/api/take/{first}").status_code for _ in range(5)]
    assert statuses == [200, 200, 200, 429, 429]
    assert request(app, "GET", f"/take/{first}").status_code == 429
    assert request(app, "GET", f"/api/take/{second}").status_code == 200
    assert "retry-after" in request(app, "GET", f"/api/take/{first}").headers


def test_tokens_cannot_be_tried_without_end(store: StudyStore) -> None:
    app = study_app(store, RequestLimits(per_second=0.001, burst=10))
    statuses = [request(app, "GET", f"/api/take/guess{number}").status_code for number in range(15)]
    assert statuses == [404] * 10 + [429] * 5


def test_a_class_behind_one_address_is_not_limited_by_it(store: StudyStore) -> None:
    app = study_app(store, RequestLimits(per_second=0.001, burst=10))
    for token in store.invite("mara", 15):
        assert request(app, "GET", f"/api/take/{token}").status_code == 200
    assert request(app, "POST", f"/api/take/{token}/answers", json=BODY).status_code == 400
    assert [request(app, "GET", f"/api/take/guess{number}").status_code for number in range(12)] == [404] * 10 + [
        429
    ] * 2


def test_tokens_are_not_logged(store: StudyStore, caplog: pytest.LogCaptureFixture) -> None:
    (token,) = store.invite("mara", 1)
    with caplog.at_level(logging.INFO, "understudy.server"):
        request(study_app(store), "GET", f"/api/take/{token}")
        request(study_app(store), "GET", f"/take/{token}")
    assert "/api/take/{token}" in caplog.text and token not in caplog.text


def test_on_this_machine_alone_the_organiser_needs_no_key(store: StudyStore) -> None:
    app = make_study_app(StudyContext(store))
    assert request(app, "GET", "/api/studies").status_code == 200
    assert request(app, "GET", "/").headers["location"] == "/studies"
    assert request(app, "GET", "/api/studies", headers={"Host": "evil.example"}).status_code == 421


def test_another_sites_page_answers_for_nobody(store: StudyStore) -> None:
    (token,) = store.invite("mara", 1)
    headers = {"Origin": "https://evil.example"}
    refused = request(study_app(store), "POST", f"/api/take/{token}/withdraw", headers=headers, json={})
    assert refused.status_code == 403 and len(store.people(store.study("mara").id)) == 1


def test_there_is_no_story_here_and_strangers_are_sent_to_the_login(store: StudyStore) -> None:
    app = study_app(store)
    assert request(app, "GET", "/api/stories", headers=AS_ORGANISER).status_code == 404
    page = request(app, "GET", "/studies", headers={"Accept": "text/html"})
    assert page.status_code == 303 and page.headers["location"] == "/login?next=%2Fstudies"
    login = request(app, "GET", "/login").text
    assert "studies are run" in login and "Would Mara" not in login
