"""The queue is first in, first out; disconnected clients leave it; a full queue refuses with Retry-After."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from threading import Event

import pytest

from understudy.errors import AgentError
from understudy.server import executor as executor_module
from understudy.server.executor import AgentExecutor, Repetitions
from understudy.server.problems import Refused
from understudy.story.dialogue import Reply, Situation, Turn
from understudy.story.persona import Persona

NOBODY = Situation(Persona("Nobody"))


class Blocking:
    """Repeats the last message, once `free` is set; `messages` are those it was given."""

    def __init__(self) -> None:
        self.free, self.messages = Event(), list[str]()

    def reply(self, situation: Situation, history: Sequence[Turn]) -> Reply:
        self.messages.append(history[-1].text)
        assert self.free.wait(120)
        if history[-1].text == "fail":
            raise AgentError("cannot")
        return Reply(history[-1].text)


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(120):
        while not holds():
            await asyncio.sleep(0.001)


def asking(executor: AgentExecutor, text: str) -> asyncio.Task[Reply]:
    return asyncio.ensure_future(executor.reply(NOBODY, [Turn("You", text)]))


def test_first_come_first_served_and_each_gets_their_own() -> None:
    agent = Blocking()
    executor = AgentExecutor(agent, concurrency=1)

    async def run() -> list[str]:
        requests = [asking(executor, str(number)) for number in range(20)]
        await until(lambda: executor.queue_length == 19)
        agent.free.set()
        return [(await request).text for request in requests]

    assert asyncio.run(run()) == [str(number) for number in range(20)]
    assert agent.messages == [str(number) for number in range(20)]
    assert executor.replies_total == 20 and executor.queue_length == 0
    executor.close()


def test_who_goes_away_leaves_the_queue_and_is_never_answered() -> None:
    agent = Blocking()
    executor = AgentExecutor(agent, concurrency=1)

    async def run() -> None:
        first, second, third = (asking(executor, name) for name in ("first", "second", "third"))
        await until(lambda: executor.queue_length == 2)
        second.cancel()
        await asyncio.wait([second])
        assert executor.queue_length == 1
        agent.free.set()
        assert (await first).text == "first" and (await third).text == "third"

    asyncio.run(run())
    assert agent.messages == ["first", "third"]
    executor.close()


def test_a_client_that_has_gone_while_waiting_is_left_out() -> None:
    agent = Blocking()
    executor = AgentExecutor(agent, concurrency=1)

    async def run() -> None:
        leaves = asyncio.Event()

        async def disconnected() -> None:
            await leaves.wait()

        first = asking(executor, "first")
        second = asyncio.ensure_future(executor.reply(NOBODY, [Turn("You", "second")], disconnected))
        await until(lambda: executor.queue_length == 1)
        leaves.set()
        with pytest.raises(Refused):
            await second
        agent.free.set()
        assert (await first).text == "first"
        assert (await asking(executor, "third")).text == "third"

    asyncio.run(run())
    assert agent.messages == ["first", "third"]
    executor.close()


def test_a_client_that_leaves_during_its_reply_frees_the_thread_when_it_is_done() -> None:
    agent = Blocking()
    executor = AgentExecutor(agent, concurrency=1)

    async def run() -> None:
        first = asking(executor, "first")
        await until(lambda: agent.messages == ["first"])
        first.cancel()
        second = asking(executor, "second")
        await until(lambda: executor.queue_length == 1)
        assert agent.messages == ["first"]
        agent.free.set()
        assert (await second).text == "second"

    asyncio.run(run())
    executor.close()


def test_a_reply_that_fails_frees_its_thread() -> None:
    agent = Blocking()
    agent.free.set()
    executor = AgentExecutor(agent, concurrency=1)

    async def run() -> None:
        with pytest.raises(AgentError):
            await asking(executor, "fail")
        assert (await asking(executor, "next")).text == "next"

    asyncio.run(run())
    executor.close()


def test_beyond_its_end_the_queue_says_when_to_come_back() -> None:
    agent = Blocking()
    executor = AgentExecutor(agent, concurrency=1, max_queue=2)

    async def run() -> None:
        requests = [asking(executor, str(number)) for number in range(3)]
        await until(lambda: executor.queue_length == 2)
        with pytest.raises(Refused) as refused:
            await asking(executor, "one too many")
        assert refused.value.status == 503 and refused.value.retry_after
        agent.free.set()
        assert [(await request).text for request in requests] == ["0", "1", "2"]

    asyncio.run(run())
    executor.close()


def test_a_request_that_comes_again_is_known_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    repetitions = Repetitions()
    first = repetitions.again(b"Who wrote it?")
    assert first.times == 0 and first.is_new("Nobody.")
    first.add("Nobody. ")
    again = repetitions.again(b"Who wrote it?")
    assert again.times == 1 and not again.is_new("Nobody.") and again.is_new("Nobody you know.")
    assert repetitions.again(b"Who else?").times == 0
    monkeypatch.setattr(executor_module, "REMEMBERED_S", -1.0)
    assert repetitions.again(b"Who wrote it?").times == 0


def test_no_more_requests_are_known_than_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executor_module, "REMEMBERED", 2)
    repetitions = Repetitions()
    for request in (b"a", b"b", b"c"):
        repetitions.again(request)
    assert [repetitions.again(request).times for request in (b"c", b"b")] == [1, 1]
    assert repetitions.again(b"a").times == 0
