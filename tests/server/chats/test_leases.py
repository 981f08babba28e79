"""Two servers over one PostgreSQL: a chat is worked on by one at a time, and nothing is said twice or lost."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from threading import Event
from typing import Any

import httpx
import pytest

from server.chats.conftest import Remembering, events_of
from server.chats.test_service import BEGUN
from server.conftest import MakeContext, visiting
from understudy.server.app import make_app
from understudy.server.chats import leases
from understudy.server.context import AppContext
from understudy.story.dialogue import Reply, Situation, Turn


class Blocking(Remembering):
    """Replies once `free` is set."""

    def __init__(self) -> None:
        super().__init__()
        self.thinking, self.free = Event(), Event()

    def reply(self, situation: Situation, history: Sequence[Turn]) -> Reply:
        self.thinking.set()
        assert self.free.wait(120)
        return super().reply(situation, history)


class Two:
    """Two servers, each with an agent that blocks, and a chat."""

    def __init__(self, make_context: MakeContext, address: str) -> None:
        self.agents = Blocking(), Blocking()
        self.contexts: list[AppContext] = [make_context(agent, database=address) for agent in self.agents]
        self.chat = ""
        self.here: httpx.AsyncClient
        self.there: httpx.AsyncClient

    def run(self, work: Any) -> Any:
        async def running() -> Any:
            async with visiting(make_app(self.contexts[0])) as here, visiting(make_app(self.contexts[1])) as there:
                self.here, self.there = here, there
                self.chat = (await here.post("/api/chats", json=BEGUN)).json()["id"]
                return await work()

        return asyncio.run(running())

    async def say(self, client: httpx.AsyncClient, text: str = "Well?") -> httpx.Response:
        return await client.post(f"/api/chats/{self.chat}/messages", json={"text": text})

    async def begun(self, client: httpx.AsyncClient, agent: Blocking, text: str = "Well?") -> asyncio.Task[Any]:
        saying = asyncio.create_task(self.say(client, text))
        assert await asyncio.to_thread(agent.thinking.wait, 120)
        return saying

    async def document(self, client: httpx.AsyncClient) -> dict[str, Any]:
        document: dict[str, Any] = (await client.get(f"/api/chats/{self.chat}")).json()
        return document

    async def held_until(self) -> float:
        """When the chat's lease runs out, by the database's clock."""
        rows = await self.contexts[1].database.read(
            lambda db: db.rows("SELECT held_until FROM chats WHERE id = ?", (self.chat,))
        )
        return float(rows[0][0])

    async def texts(self, client: httpx.AsyncClient) -> list[str]:
        return [message["text"] for message in (await self.document(client))["messages"]]


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(120):
        while not condition():
            await asyncio.sleep(0.01)


@pytest.fixture
def two(make_context: MakeContext, address: str, monkeypatch: pytest.MonkeyPatch) -> Two:
    monkeypatch.setattr(leases, "POLL_S", 0.02)
    return Two(make_context, address)


FIRST, SECOND = "Ines Vale has heard 1 things and said 0.", "Ines Vale has heard 3 things and said 1."


def test_a_reply_that_one_writes_is_seen_through_the_other_with_its_state(two: Two) -> None:
    async def work() -> None:
        saying = await two.begun(two.here, two.agents[0])
        seen = await two.document(two.there)
        assert seen["writing"] and [message["unanswered"] for message in seen["messages"]] == [True]
        two.agents[0].free.set()
        await saying
        seen = await two.document(two.there)
        assert not seen["writing"] and [message["unanswered"] for message in seen["messages"]] == [False, False]

    two.run(work)


def test_what_comes_to_the_other_waits_until_the_reply_is_there(two: Two) -> None:
    async def work() -> None:
        first = await two.begun(two.here, two.agents[0])
        second = asyncio.create_task(two.say(two.there, "And now?"))
        await until(lambda: two.contexts[1].chats._tasks)
        await asyncio.sleep(0.1)
        assert not two.agents[1].thinking.is_set()
        for agent in two.agents:
            agent.free.set()
        await asyncio.gather(first, second)
        assert await two.texts(two.here) == ["Well?", FIRST, "And now?", SECOND]

    two.run(work)


def test_a_retry_that_waited_for_the_answer_gets_that_one(two: Two) -> None:
    async def work() -> None:
        saying = await two.begun(two.here, two.agents[0])
        (message,) = (await two.document(two.there))["messages"]
        path = f"/api/chats/{two.chat}/messages/{message['id']}/retry"
        retrying = asyncio.create_task(two.there.post(path, json={}))
        await until(lambda: two.contexts[1].chats._tasks)
        two.agents[0].free.set()
        await saying
        events = events_of(await retrying)
        assert [data["text"] for name, data in events if name == "done"] == [FIRST]
        assert not two.agents[1].thinking.is_set()
        (_, reply) = (await two.document(two.there))["messages"]
        assert reply["siblings"] == [reply["id"]]

    two.run(work)


def test_a_stop_that_comes_to_the_other_is_passed_on(two: Two) -> None:
    async def work() -> None:
        saying = await two.begun(two.here, two.agents[0])
        stopping = asyncio.create_task(two.there.post(f"/api/chats/{two.chat}/stop", json={}))
        stopped = (await stopping).json()
        two.agents[0].free.set()
        await saying
        await two.contexts[0].chats.close()
        assert [message["unanswered"] for message in stopped["messages"]] == [False]
        assert await two.texts(two.there) == ["Well?"]

    two.run(work)


def test_a_chat_that_the_other_deletes_is_written_no_further(two: Two) -> None:
    async def work() -> None:
        saying = await two.begun(two.here, two.agents[0])
        deleting = asyncio.create_task(two.there.delete(f"/api/chats/{two.chat}"))
        await until(lambda: any(stream.stopped for stream in two.contexts[0].chats._streams))
        two.agents[0].free.set()
        assert (await deleting).is_success
        assert "done" not in dict(events_of(await saying))
        assert (await two.here.get(f"/api/chats/{two.chat}")).status_code == 404

    two.run(work)


def test_whoever_was_taken_for_dead_and_comes_back_stores_nothing_more(
    two: Two, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after a long pause of the process: its lease ran out, and the other has answered."""
    monkeypatch.setattr(leases, "LEASE_S", 0.5)
    monkeypatch.setattr(leases, "RENEW_S", 60.0)

    async def work() -> None:
        slow = await two.begun(two.here, two.agents[0])
        (message,) = (await two.document(two.there))["messages"]
        two.agents[1].free.set()
        retried = await two.there.post(f"/api/chats/{two.chat}/messages/{message['id']}/retry", json={})
        assert [data["text"] for name, data in events_of(retried) if name == "done"] == [FIRST]
        two.agents[0].free.set()
        assert "another process" in dict(events_of(await slow))["problem"]["error"]["message"]
        seen = await two.document(two.here)
        assert [message["text"] for message in seen["messages"]] == ["Well?", FIRST]
        assert len(seen["messages"][1]["siblings"]) == 1 and not seen["writing"]

    two.run(work)


def test_a_lease_is_renewed_as_long_as_it_is_needed(two: Two, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "RENEW_S", 0.02)

    async def work() -> None:
        saying = await two.begun(two.here, two.agents[0])
        first = await two.held_until()
        async with asyncio.timeout(120):
            while await two.held_until() <= first:
                pass
        assert (await two.document(two.there))["writing"]
        two.agents[0].free.set()
        await saying
        assert await two.texts(two.there) == ["Well?", FIRST]

    two.run(work)


def test_a_server_with_a_database_of_its_own_says_as_well_that_it_is_writing(make_context: MakeContext) -> None:
    agent = Blocking()
    context = make_context(agent)

    async def work() -> None:
        async with visiting(make_app(context)) as client:
            chat = (await client.post("/api/chats", json=BEGUN)).json()["id"]
            saying = asyncio.create_task(client.post(f"/api/chats/{chat}/messages", json={"text": "Well?"}))
            assert await asyncio.to_thread(agent.thinking.wait, 120)
            assert (await client.get(f"/api/chats/{chat}")).json()["writing"]
            assert "A reply is on its way." in (await client.get(f"/chats/{chat}")).text
            agent.free.set()
            await saying
            assert "A reply is on its way." not in (await client.get(f"/chats/{chat}")).text
            assert not (await client.get(f"/api/chats/{chat}")).json()["writing"]

    asyncio.run(work())
