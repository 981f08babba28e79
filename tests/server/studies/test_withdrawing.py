"""Whoever withdraws in the middle of something leaves nothing, not in the database's bytes either."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from server.conftest import serving
from studyserver import RATED, study_of, write_chat
from understudy.agents import Scripted
from understudy.server.middleware import RequestLimits
from understudy.server.studies import StudyContext
from understudy.server.studies.routes import make_study_app
from understudy.studies import participation
from understudy.studies.opening import open_study
from understudy.studies.store import StudyStore, open_study_store

FREELY = RequestLimits(per_second=10_000, burst=10_000, token_per_second=10_000, token_burst=10_000)
ROUNDS = 6
SECRET = "grandmother's turquoise accordion"
ECHO = f"You have a {SECRET}?"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[StudyStore]:
    with open_study_store(tmp_path / "studies.db") as store:
        yield store


@pytest.fixture
def url(store: StudyStore) -> Iterator[str]:
    agents = {"scripted": Scripted([ECHO])}
    with serving(make_study_app(StudyContext(store, agents=agents), limits=FREELY)) as url:
        yield url


def at_once(*requests: tuple[str, str, Any]) -> list[int]:
    """Statuses of requests that are sent together."""

    async def send() -> list[int]:
        async with httpx.AsyncClient(verify=False, timeout=120) as client:
            await client.get(requests[0][1])
            sent = [client.request(method, url, json=body) for method, url, body in requests]
            return [response.status_code for response in await asyncio.gather(*sent)]

    return asyncio.run(send())


def rows_of_people(store: StudyStore) -> list[int]:
    tables = ("people", "assignments", "seats", "messages")
    return [store.database.rows(f"SELECT count(*) FROM {table}")[0][0] for table in tables]


def remains(folder: Path) -> list[str]:
    """Files of the database that still have the words."""
    return [path.name for path in folder.glob("studies.db*") if SECRET.encode() in path.read_bytes()]


@pytest.mark.parametrize("other", ["answers", "check", "withdraw", "undo", "consent"])
def test_an_answer_that_comes_with_the_withdrawal_is_not_kept(
    store: StudyStore, url: str, tmp_path: Path, other: str
) -> None:
    store.add_study("mara", study_of(ask=("Where from?",)), [RATED])
    for token in store.invite("mara", ROUNDS):
        view = participation.give_consent(store, token, {"Where from?": SECRET})
        take = f"{url}/api/take/{token}"
        body = {"assignment": view.assignment, "answer": {"fluency": 4, "fits": "yes"}, "comment": SECRET, "asked": {}}
        statuses = at_once(("POST", f"{take}/{other}", body), ("POST", f"{take}/withdraw", {}))
        assert 200 in statuses and set(statuses) <= {200, 400, 404, 422}
        assert httpx.get(take, timeout=120).status_code == 404
    assert rows_of_people(store) == [0, 0, 0, 0] and remains(tmp_path) == []
    assert [event.what for event in store.events(1)].count("somebody withdrew") == ROUNDS


@pytest.mark.parametrize("agents", [True, False])
def test_a_message_that_comes_with_the_withdrawal_is_not_kept(
    store: StudyStore, url: str, story: Path, agents: bool
) -> None:
    names = {"agents": '["scripted"]'} if agents else {}
    stored = open_study(store, write_chat(story, 2 * ROUNDS, 3, False, agents_percent=100, **names))
    for _ in range(ROUNDS):
        one, other = (f"{url}/api/take/{token}" for token in store.invite(stored.name, 2))
        for take in (one, other):
            assert httpx.post(f"{take}/consent", json={"asked": {}}, timeout=120).json()["state"] == "chat"
            httpx.get(f"{take}/chat", timeout=120)
        begun = {take: httpx.get(f"{take}/chat", timeout=120).json() for take in (one, other)}
        speaker = next((take for take, chat in begun.items() if chat["turn"] == "mine"), one)
        said = {"text": f"I sold my {SECRET}.", "key": "1"}
        assert httpx.post(f"{speaker}/chat", json=said, timeout=120).status_code == 200
        again = {"text": f"Yes, my {SECRET}!", "key": "2"}
        poll = f"{speaker}/chat?after=1&state=talking"
        statuses = at_once(("POST", f"{speaker}/withdraw", {}), ("POST", f"{speaker}/chat", again), ("GET", poll, None))
        assert statuses[0] == 200 and set(statuses) <= {200, 400, 404}
        left = other if speaker == one else one
        if not agents:
            partner = httpx.get(f"{left}/chat?after=1&state=talking", timeout=120).json()
            assert (partner["state"], partner["messages"]) == ("waiting", [])  # for another: they had said nothing
        assert httpx.post(f"{left}/withdraw", json={}, timeout=120).status_code == 200
    assert rows_of_people(store) == [0, 0, 0, 0] and remains(story.parent) == []


def test_nobody_is_seated_beside_somebody_whose_partner_has_left(store: StudyStore, url: str, story: Path) -> None:
    stored = open_study(store, write_chat(story, chats=2, turns=2))
    takes = [f"{url}/api/take/{token}" for token in store.invite(stored.name, 3)]
    for take in takes:
        httpx.post(f"{take}/consent", json={"asked": {}}, timeout=120)
    one, other, third = takes
    turns = {take: httpx.get(f"{take}/chat", timeout=120).json()["turn"] for take in (one, other)}
    one, other = (other, one) if turns[other] == "mine" else (one, other)
    assert httpx.post(f"{one}/chat", json={"text": "hello", "key": "1"}, timeout=120).status_code == 200
    httpx.post(f"{other}/withdraw", json={}, timeout=120)
    assert httpx.get(f"{third}/chat", timeout=120).json()["state"] == "waiting"
    assert httpx.get(f"{one}/chat?after=1&state=talking", timeout=120).json()["state"] == "over"
