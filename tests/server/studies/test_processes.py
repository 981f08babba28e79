"""Real study servers that are killed: one process on SQLite, and several on one PostgreSQL."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from killable import children
from studyserver import StudyServer, study_server, write_chat, write_likely
from timing import until
from understudy.studies.store import open_study_store
from waiting_agent import WAITING_AGENT

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")

KEY = "a long and quite random key"
TURNS = 2


class Person:
    """Asks on a new connection each time, which any process may take, and again where it breaks."""

    def __init__(self, server: StudyServer, token: str) -> None:
        self.take, self.name = server.take(token), token[:8]
        self.client = httpx.AsyncClient(
            verify=False, timeout=120, limits=httpx.Limits(max_keepalive_connections=0, max_connections=None)
        )
        self.acknowledged: list[Any] = []
        self.seen: list[str] = []

    async def ask(self, method: str, path: str, body: Any = None, status: int = 200) -> dict[str, Any]:
        for _ in range(600):
            try:
                response = await self.client.request(method, self.take + path, json=body)
            except httpx.TransportError:
                await asyncio.sleep(0.1)
                continue
            assert response.status_code == status, response.text
            document: dict[str, Any] = response.json()
            return document
        raise AssertionError("nobody answers")

    async def answer_all(self) -> None:
        view = await self.ask("POST", "/consent", {"asked": {}})
        while view["state"] == "item":
            body = {"assignment": view["assignment"], "answer": {"likely": "likely"}, "comment": self.name}
            view = await self.ask("POST", "/answers", body)
            self.acknowledged.append(body["assignment"])
        assert view["state"] == "done"

    async def talk(self) -> None:
        view = await self.ask("POST", "/consent", {"asked": {}})
        assert view["state"] == "chat"
        chat = await self.ask("GET", "/chat?after=0&state=")
        while chat["state"] != "over":
            if chat["turn"] == "mine":
                number = len(self.acknowledged)
                chat = await self.ask("POST", "/chat", {"text": f"{self.name} {number}", "key": f"{number}"})
                self.acknowledged.append(f"{self.name} {number}")
            else:
                chat = await self.ask("GET", f"/chat?after={len(self.seen)}&state={chat['state']}")
            for message in chat["messages"]:
                if message["number"] == len(self.seen) + 1:
                    self.seen.append(message["text"])


@contextmanager
def two_processes(study: Path, address: str, *options: str, **environment: str) -> Iterator[StudyServer]:
    several = ("--store", address, "--processes", "2", "--behind-proxy")
    with study_server(study, *several, *options, environment=environment) as server:
        until(lambda: len(children(server.process)) == 2)
        yield server


async def kill_one(process: subprocess.Popen[str], people: list[Person]) -> None:
    """Kill one of the children in the middle of the work, and wait until there are two again."""
    while sum(len(person.acknowledged) for person in people) < len(people):
        await asyncio.sleep(0.01)
    before = await asyncio.to_thread(children, process)
    os.kill(before[0], signal.SIGKILL)
    await asyncio.to_thread(until, lambda: len(set(children(process)) - {before[0]}) == 2)


def test_answers_of_many_survive_a_kill_of_one_of_two_processes(story: Path, address: str) -> None:
    study = write_likely(story, lines=20, people_per_item=30, items_per_person=6)

    async def crowd(server: StudyServer) -> list[Person]:
        people = [Person(server, token) for token in server.tokens]
        await asyncio.gather(kill_one(server.process, people), *(person.answer_all() for person in people))
        return people

    with two_processes(study, address, "--links", "30") as server:
        people = asyncio.run(crowd(server))
    with open_study_store(address) as store:
        rows = store.database.rows("SELECT id, comment, item FROM assignments WHERE answered IS NOT NULL")
    acknowledged = {(number, person.name) for person in people for number in person.acknowledged}
    assert {(number, name) for number, name, _ in rows} == acknowledged and len(rows) == 30 * 6
    given = Counter(item for _, _, item in rows)
    assert max(given.values()) - min(given.values()) <= 2


def test_people_on_different_processes_are_paired_and_hear_each_other_over_a_kill(story: Path, address: str) -> None:
    study = write_chat(story, chats=10, turns=TURNS)

    async def crowd(server: StudyServer) -> list[Person]:
        people = [Person(server, token) for token in server.tokens]
        await asyncio.gather(kill_one(server.process, people), *(person.talk() for person in people))
        return people

    with two_processes(study, address, "--links", "20") as server:
        people = asyncio.run(crowd(server))
    with open_study_store(address) as store:
        seats = store.database.rows("SELECT item, side, person FROM seats")
        messages = store.database.rows("SELECT item, number, text FROM messages ORDER BY item, number")
    assert len(seats) == len({(item, side) for item, side, _ in seats}) == len({person for _, _, person in seats}) == 20
    chats: dict[int, list[str]] = {}
    for item, _, text in messages:
        chats.setdefault(item, []).append(text)
    assert len(chats) == 10
    for person in people:
        (chat,) = [chat for chat in chats.values() if person.acknowledged[0] in chat]
        assert person.seen == chat and len(chat) == 2 * TURNS
        assert [text for text in chat if text.startswith(person.name)] == person.acknowledged


def let_leases_run_out(address: str) -> None:
    """As if they had not been renewed for long."""
    with open_study_store(address) as store:
        store.database.rows("UPDATE seats SET lease = ''")


@pytest.mark.parametrize("is_waited_for", [False, pytest.param(True, marks=pytest.mark.thorough)])
def test_a_reply_of_an_agent_whose_process_is_killed_is_made_by_the_other(
    story: Path, address: str, is_waited_for: bool
) -> None:
    study = write_chat(story, chats=1, turns=TURNS, agents='["waiting:waiting"]', agents_percent=100)
    folder = study.parent
    (folder / "waiting.py").write_text(WAITING_AGENT, encoding="utf-8")

    async def talk(server: StudyServer) -> tuple[Person, int]:
        person = Person(server, server.tokens[0])
        talking = asyncio.create_task(person.talk())
        (thinking,) = await asyncio.to_thread(until, lambda: list(folder.glob("thinking-*")))
        killed = int(thinking.name.partition("-")[2])
        os.kill(killed, signal.SIGKILL)
        if not is_waited_for:
            await asyncio.to_thread(let_leases_run_out, address)
        (folder / "free").touch()
        await talking
        return person, killed

    with two_processes(study, address, "--links", "1") as server:
        person, killed = asyncio.run(talk(server))
    replies = [text for text in person.seen if text not in person.acknowledged]
    assert len(replies) == len(person.acknowledged) == TURNS
    assert replies[0].startswith("Said after 1 by") and str(killed) not in " ".join(replies)


def test_whoever_has_logged_in_is_known_to_every_process(story: Path, address: str) -> None:
    study = write_likely(story, lines=2)

    def pages(cookies: httpx.Cookies, count: int = 6) -> set[int]:
        return {httpx.get(f"{server.url}/studies", cookies=cookies, timeout=120).status_code for _ in range(count)}

    with two_processes(study, address, UNDERSTUDY_API_KEY=KEY) as server:
        assert pages(httpx.Cookies()) == {401}
        login = httpx.post(f"{server.url}/login", data={"key": KEY}, timeout=120)
        assert login.status_code == 303 and pages(login.cookies, 30) == {200}
        assert httpx.post(f"{server.url}/logout", cookies=login.cookies, timeout=120).status_code == 303
        assert pages(login.cookies) == {401}


@pytest.mark.parametrize("kind", ["likely", "chat"])
def test_one_process_on_sqlite_that_is_killed_has_lost_nothing_acknowledged(story: Path, kind: str) -> None:
    study = write_chat(story, chats=4, turns=TURNS) if kind == "chat" else write_likely(story, 10, 10, 6)

    async def crowd(first: StudyServer) -> list[Person]:
        people = [Person(first, token) for token in first.tokens]
        work = [asyncio.create_task(person.talk() if kind == "chat" else person.answer_all()) for person in people]
        while sum(len(person.acknowledged) for person in people) < 5:
            await asyncio.sleep(0.01)
        first.process.kill()
        await asyncio.to_thread(first.process.wait)
        port = int(first.url.rpartition(":")[2])
        with study_server(study, port=port):
            await asyncio.gather(*work)
        return people

    with study_server(study, "--links", "8") as server:
        people = asyncio.run(crowd(server))
    with open_study_store(study.parent / "studies.db") as store:
        if kind == "chat":
            stored = [text for (text,) in store.database.rows("SELECT text FROM messages")]
        else:
            stored = [number for (number,) in store.database.rows("SELECT id FROM assignments WHERE answered <> ''")]
    assert sorted(stored) == sorted(each for person in people for each in person.acknowledged)
    assert len(stored) == (8 * TURNS if kind == "chat" else 8 * 6)
