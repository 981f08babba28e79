"""Replies that are written reach the event loop piece by piece, and whoever leaves stops the writing."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from contextlib import aclosing
from threading import Barrier

import pytest

from understudy.errors import AgentError, BackendError
from understudy.progress import Cancellation
from understudy.server.executor import AgentExecutor
from understudy.server.problems import Refused
from understudy.story.dialogue import Reply, Sampling, Situation, Turn
from understudy.story.persona import Persona
from writers import PIECES, Writer

NOBODY = Situation(Persona("Nobody"))
HELLO = (Turn("You", "Hello"),)


def test_pieces_come_one_by_one_and_then_the_reply() -> None:
    writer = Writer(gated=True)
    executor = AgentExecutor(writer)

    async def run() -> list[str | Reply]:
        received: list[str | Reply] = []
        async with aclosing(executor.stream(NOBODY, HELLO, Sampling(seed=3))) as items:
            for _ in PIECES:
                writer.release()
                received.append(await anext(items))
                assert len(writer.written) == len(received)  # each arrives before the next is written
            received.append(await anext(items))
        return received

    *pieces, reply = asyncio.run(run())
    assert tuple(pieces) == PIECES and isinstance(reply, Reply) and reply.text == "".join(PIECES)
    assert writer.samplings == [Sampling(seed=3)] and executor.replies_total == 1
    executor.close()


@pytest.mark.parametrize("how", ["close", "disconnect", "cancel"])
def test_whoever_leaves_stops_the_writing(how: str) -> None:
    writer = Writer(gated=True)
    executor = AgentExecutor(writer)

    async def run() -> None:
        left, cancellation = asyncio.Event(), Cancellation()

        async def disconnected() -> None:
            await left.wait()

        items = executor.stream(NOBODY, HELLO, disconnected=disconnected, cancellation=cancellation)
        writer.release()
        assert await anext(items) == PIECES[0]
        if how == "close":
            await items.aclose()
        else:
            left.set() if how == "disconnect" else cancellation.cancel()
            with pytest.raises(Refused, match="stopped"):
                await anext(items)
        assert await asyncio.to_thread(writer.ended.wait, 120)

    asyncio.run(run())
    executor.close()
    assert writer.written == [PIECES[0]]


def test_whoever_leaves_the_queue_is_never_written_for() -> None:
    writer = Writer(gated=True)
    executor = AgentExecutor(writer, concurrency=1)

    async def run() -> None:
        first, cancellation = executor.stream(NOBODY, HELLO), Cancellation()
        begun = asyncio.ensure_future(anext(first))
        assert await asyncio.to_thread(writer.begun.wait, 120)
        second = asyncio.ensure_future(anext(executor.stream(NOBODY, HELLO, cancellation=cancellation)))
        while not executor.queue_length:
            await asyncio.sleep(0)
        cancellation.cancel()
        with pytest.raises(Refused):
            await second
        writer.release()
        assert await begun == PIECES[0]
        await first.aclose()

    asyncio.run(run())
    executor.close()
    assert len(writer.heard) == 1


def test_errors_reach_whoever_waits_for_the_next_piece() -> None:
    executor = AgentExecutor(Writer(fails_at=2))

    async def run() -> list[str | Reply]:
        items = executor.stream(NOBODY, HELLO)
        received = [await anext(items), await anext(items)]
        with pytest.raises(BackendError, match="broke off"):
            await anext(items)
        return received

    assert asyncio.run(run()) == list(PIECES[:2])
    executor.close()


def test_a_generator_that_returns_no_reply_is_an_error_that_says_so() -> None:
    class Forgetful(Writer):
        def stream(self, *_: object) -> object:  # type: ignore[override]
            yield "Well."

    executor = AgentExecutor(Forgetful())
    with pytest.raises(AgentError, match="return Reply"):
        asyncio.run(executor.reply(NOBODY, HELLO))
    executor.close()


def test_an_agent_that_does_not_stream_gives_its_reply_alone() -> None:
    class Choosing:
        def reply(self, situation: Situation, history: Sequence[Turn]) -> Reply:
            return Reply("Well.")

    executor = AgentExecutor(Choosing())

    async def run() -> list[str | Reply]:
        return [item async for item in executor.stream(NOBODY, HELLO)]

    assert asyncio.run(run()) == [Reply("Well.")]
    executor.close()


class Meeting:
    """Replies once `count` replies are under way at the same time."""

    def __init__(self, count: int) -> None:
        self.barrier = Barrier(count)

    def reply(self, situation: Situation, history: Sequence[Turn]) -> Reply:
        self.barrier.wait(120)
        return Reply("We are all here.")


@pytest.mark.parametrize("declared", [True, False])
def test_waiting_is_not_bound_to_the_number_of_processors(declared: bool) -> None:
    """Sixteen that wait for each other would wait forever if fewer could run at once."""
    agent = Meeting(16)
    if declared:
        agent.waits = True  # type: ignore[attr-defined]
    executor = AgentExecutor(agent)

    async def run() -> None:
        await asyncio.gather(*(executor.reply(NOBODY, HELLO) for _ in range(16)))

    asyncio.run(run())
    executor.close()


def test_computing_is_bound_to_the_number_of_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("understudy.server.executor.IDLE_CPU", 0.0)  # as if the processors were never idle
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    running, most = 0, 0

    class Computing:
        def reply(self, situation: Situation, history: Sequence[Turn]) -> Reply:
            nonlocal running, most
            running += 1
            most = max(most, running)
            time.sleep(0.03)
            running -= 1
            return Reply("Done.")

    executor = AgentExecutor(Computing())

    async def run() -> None:
        await asyncio.gather(*(executor.reply(NOBODY, HELLO) for _ in range(8)))

    asyncio.run(run())
    executor.close()
    assert most <= 2


def test_fifty_streams_are_each_complete_and_in_order() -> None:
    class Counting(Writer):
        def __init__(self) -> None:
            super().__init__([f"{number} " for number in range(40)])

    executor = AgentExecutor(Counting())

    async def receive() -> list[str | Reply]:
        return [item async for item in executor.stream(NOBODY, HELLO)]

    async def run() -> list[list[str | Reply]]:
        return await asyncio.gather(*(receive() for _ in range(50)))

    for *pieces, reply in asyncio.run(run()):
        assert pieces == [f"{number} " for number in range(40)] and isinstance(reply, Reply)
    executor.close()


def test_agents_are_chosen_by_name_and_the_first_is_the_default() -> None:
    first, second = Writer(["First."]), Writer(["Second."])
    executor = AgentExecutor({"one": first, "two": second})
    assert asyncio.run(executor.reply(NOBODY, HELLO)).text == "First."
    assert asyncio.run(executor.reply(NOBODY, HELLO, agent="two")).text == "Second."
    with pytest.raises(Refused, match="choose from one, two"):
        asyncio.run(executor.reply(NOBODY, HELLO, agent="three"))
    executor.close()
