"""Runs agents off the event loop, and hands on what they write piece by piece.

An agent that computes gets as many threads as there are processors. One that declares `waits = True` spends its time
waiting for a network: up to `MAX_THREADS` of its replies are under way at once.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections import OrderedDict, deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import aclosing, suppress
from functools import partial
from hashlib import blake2b
from typing import Any, TypeVar

from understudy.agents.conversation import write_reply
from understudy.agents.reply_text import continued, split_begun
from understudy.progress import Cancellation
from understudy.server.problems import CLIENT_CLOSED, Refused
from understudy.story.dialogue import DEFAULT_SAMPLING, Agent, Reply, Sampling, Situation, StreamingAgent, Turn

MAX_THREADS = 128
RETRY_AFTER_S = 2
TICK_S = 0.02  # interval at which a queue without progress is checked
CLOSE_S = 5.0  # how long work that nobody waits for any more may go on when the pool is closed
IDLE_CPU = 0.5  # processors in use, below which the running work is taken to wait for something
MAX_QUEUE = 1_000
REMEMBERED, REMEMBERED_S = 10_000, 3600.0  # requests of which it is known that they came, and for how long
OPENING = 60  # characters by which replies to the same request are told apart

Result = TypeVar("Result")
Disconnected = Callable[[], Awaitable[None]]
"""Returns when the client has disconnected."""


class Asked:
    """How often a request has come, and digests of how the replies to it began."""

    def __init__(self) -> None:
        self.times, self.last = 0, time.monotonic()
        self._openings: set[bytes] = set()

    def is_new(self, text: str) -> bool:
        """Did no reply so far begin like a text?"""
        return _digest(text.strip()[:OPENING].encode()) not in self._openings

    def add(self, text: str) -> None:
        self._openings.add(_digest(text.strip()[:OPENING].encode()))


class Repetitions:
    """Requests that came lately, by a digest of each; of their texts nothing is kept."""

    def __init__(self) -> None:
        self._asked = OrderedDict[bytes, Asked]()

    def again(self, request: bytes) -> Asked:
        digest = _digest(request)
        asked = self._asked.pop(digest, None)
        if asked is None or time.monotonic() - asked.last > REMEMBERED_S:
            asked = Asked()
        else:
            asked.times, asked.last = asked.times + 1, time.monotonic()
        self._asked[digest] = asked
        if len(self._asked) > REMEMBERED:
            self._asked.popitem(last=False)
        return asked


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=16).digest()


class AgentExecutor:
    """The agents of a server by name, the default first. Agents hold no conversation: one instance serves every chat.

    `concurrency` fixes the number of replies at a time, whatever the agents declare.
    """

    def __init__(
        self, agents: Agent | Mapping[str, Agent], concurrency: int | None = None, max_queue: int = MAX_QUEUE
    ) -> None:
        self.agents = dict(agents) if isinstance(agents, Mapping) else {type(agents).__name__.lower(): agents}
        self.default = next(iter(self.agents))
        self.replies_total = 0
        self.repetitions = Repetitions()
        if concurrency is not None:
            self._computing = self._waiting = WorkerPool(concurrency, max_queue)
        else:
            self._computing = WorkerPool(os.cpu_count() or 1, max_queue, MAX_THREADS)
            self._waiting = WorkerPool(MAX_THREADS, max_queue)

    @property
    def agent(self) -> Agent:
        """The default agent."""
        return self.agents[self.default]

    @property
    def queue_length(self) -> int:
        return sum(pool.queue_length for pool in {self._computing, self._waiting})

    def named(self, name: str | None) -> Agent:
        """The agent of a name; None is the default."""
        agent = self.agents.get(name or self.default)
        if agent is None:
            listed = ", ".join(self.agents)
            raise Refused(f"there is no agent '{(name or '')[:80]}' here: choose from {listed}", 404, "agent")
        return agent

    async def reply(
        self,
        situation: Situation,
        history: Sequence[Turn],
        disconnected: Disconnected | None = None,
        agent: str | None = None,
        sampling: Sampling = DEFAULT_SAMPLING,
    ) -> Reply:
        """The whole reply. A client that disconnects leaves the queue, and stops an agent that can be stopped."""
        async with aclosing(self.stream(situation, history, sampling, disconnected, agent=agent)) as items:
            async for item in items:
                if isinstance(item, Reply):
                    return item
        raise AssertionError("a stream ends with a reply or an error")

    async def stream(
        self,
        situation: Situation,
        history: Sequence[Turn],
        sampling: Sampling = DEFAULT_SAMPLING,
        disconnected: Disconnected | None = None,
        cancellation: Cancellation | None = None,
        agent: str | None = None,
    ) -> AsyncGenerator[str | Reply, None]:
        """The pieces of a reply as they are written, then the reply; of an agent that does not stream only the reply.

        Where the last turn of the history is the character's own, the reply is what comes after it: both texts joined
        as they are, are the whole (see `agents.reply_text`).

        Closing the generator, `cancellation` and a client that disconnects each stop the agent's writing.
        """
        speaker = self.named(agent)
        pool = self._waiting if getattr(speaker, "waits", False) else self._computing
        if not isinstance(speaker, StreamingAgent):
            reply = await pool.run(partial(speaker.reply, situation, tuple(history)), disconnected)
            self.replies_total += 1
            begun = split_begun(situation.persona, history)[1]
            yield continued(reply, begun) if begun else reply
            return
        own, requested = Cancellation(), cancellation or Cancellation()
        loop, queue = asyncio.get_running_loop(), asyncio.Queue[str | Reply | BaseException | None]()

        def put(item: str | Reply | BaseException | None) -> None:
            with suppress(RuntimeError):  # the event loop was closed
                loop.call_soon_threadsafe(queue.put_nowait, item)

        async def leaving() -> None:
            if disconnected is None:
                await cancelled(requested)
            else:
                await _first_of(cancelled(requested), disconnected())
            own.cancel()

        watching = asyncio.ensure_future(leaving())
        try:
            await pool.start(
                partial(write_reply, speaker, situation, tuple(history), put, sampling, own),
                partial(asyncio.shield, watching),
            )
            while True:
                item = await queue.get()
                if item is None:
                    raise Refused("the reply was stopped", CLIENT_CLOSED)
                if isinstance(item, BaseException):
                    raise item
                if isinstance(item, Reply):
                    self.replies_total += 1
                yield item
                if isinstance(item, Reply):
                    return
        finally:
            watching.cancel()
            own.cancel()  # does nothing where the reply is complete

    async def run(self, work: Callable[[], Result], disconnected: Disconnected | None = None) -> Result:
        """Run other CPU-bound work in the queue of agents that compute."""
        return await self._computing.run(work, disconnected)

    def close(self) -> None:
        for pool in {self._computing, self._waiting}:
            pool.close()


async def cancelled(cancellation: Cancellation) -> None:
    """Returns when it was cancelled, in whatever thread."""
    loop, event = asyncio.get_running_loop(), asyncio.Event()

    def wake() -> None:
        with suppress(RuntimeError):  # the loop was closed
            loop.call_soon_threadsafe(event.set)

    with cancellation.callback(wake):
        await event.wait()


async def _first_of(*waits: Awaitable[None]) -> None:
    tasks = [asyncio.ensure_future(wait) for wait in waits]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()


class WorkerPool:
    """Threads behind a bounded FIFO queue: `concurrency` jobs run at once; a client that disconnects leaves the queue.

    Where `max_concurrency` is larger, more are started for as long as those that run leave the processors idle: they
    wait for a network, so the queue need not wait for them.
    """

    def __init__(self, concurrency: int, max_queue: int, max_concurrency: int | None = None) -> None:
        self._concurrency = self._limit = concurrency
        self._max_concurrency = max(concurrency, max_concurrency or concurrency)
        self._max_queue = max_queue
        self._running = 0
        self._queue: deque[asyncio.Future[None]] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self._working: set[Future[Any]] = set()
        self._threads = ThreadPoolExecutor(self._max_concurrency, thread_name_prefix="agent")

    @property
    def queue_length(self) -> int:
        return len(self._queue)

    async def run(self, work: Callable[[], Result], disconnected: Disconnected | None = None) -> Result:
        """`disconnected` is awaited only while the work is queued."""
        future = await self.start(work, disconnected)
        return await asyncio.shield(future)  # cancelling the caller does not free the thread any sooner

    async def start(
        self, work: Callable[[], Result], disconnected: Disconnected | None = None
    ) -> asyncio.Future[Result]:
        """The future of work that has begun, once a thread is free for it."""
        if self._running < self._limit and not self._queue:
            self._running += 1
        else:
            await self._wait_for_thread(disconnected)
        working = self._threads.submit(work)
        self._working.add(working)
        working.add_done_callback(self._working.discard)
        future = asyncio.wrap_future(working)
        future.add_done_callback(self._finish)
        return future

    async def _wait_for_thread(self, disconnected: Disconnected | None) -> None:
        if len(self._queue) >= self._max_queue:
            problem = f"{len(self._queue)} others are waiting for a reply: try again in a moment"
            raise Refused(problem, 503, code="queue_full", retry_after=RETRY_AFTER_S)
        turn = asyncio.get_running_loop().create_future()
        self._queue.append(turn)
        self._watch()
        try:
            if disconnected is None:
                await turn
            elif not await _comes_before(turn, disconnected):
                raise Refused("the client has disconnected", CLIENT_CLOSED)
        except BaseException:
            self._leave(turn)
            raise

    def _leave(self, turn: asyncio.Future[None]) -> None:
        if turn in self._queue:
            self._queue.remove(turn)
        elif turn.done() and not turn.cancelled():  # it got a thread while it was leaving: pass the thread on
            self._release()

    def _finish(self, future: asyncio.Future[Any]) -> None:
        if not future.cancelled():
            future.exception()  # marks it as retrieved: the caller may have been cancelled
        self._release()

    def _release(self) -> None:
        self._running -= 1
        self._admit()
        if self._running <= self._concurrency:
            self._limit = self._concurrency

    def _admit(self) -> None:
        while self._queue and self._running < self._limit:
            turn = self._queue.popleft()
            if not turn.done():
                self._running += 1
                turn.set_result(None)

    def _watch(self) -> None:
        """Check again soon whether the running jobs leave the processors idle."""
        if self._timer is None and self._limit < self._max_concurrency:
            loop, now = asyncio.get_running_loop(), time.monotonic()
            self._timer = loop.call_later(TICK_S, self._widen, now, time.process_time())

    def _widen(self, since: float, cpu_since: float) -> None:
        self._timer = None
        if not self._queue:
            return
        cpu = (time.process_time() - cpu_since) / max(time.monotonic() - since, TICK_S)
        if cpu < IDLE_CPU:
            self._limit = min(2 * self._limit, self._max_concurrency)
            self._admit()
        if self._queue:
            self._watch()

    def close(self, timeout_s: float = CLOSE_S) -> None:
        """Work that cannot be stopped is left to its thread after `timeout_s`: it must not keep the server up."""
        if self._timer is not None:
            self._timer.cancel()
        self._threads.shutdown(wait=False, cancel_futures=True)
        wait(tuple(self._working), timeout_s)


async def _comes_before(turn: asyncio.Future[None], disconnected: Disconnected) -> bool:
    """Whether the job gets a thread before the client disconnects."""
    await _first_of(asyncio.shield(turn), disconnected())
    return turn.done()
