"""A reply that is written in another thread, so that Ctrl-C is heard at once whatever the agent waits for."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from queue import SimpleQueue
from threading import Thread

from understudy.cancellation import Cancellation
from understudy.dialogue import DEFAULT_SAMPLING, Reply, Situation, StreamingAgent, Turn

__all__ = ["stream_in_thread"]

STOP_TIMEOUT_S = 5.0  # how long an agent that was told to stop may take


def stream_in_thread(
    agent: StreamingAgent, situation: Situation, history: Sequence[Turn]
) -> Generator[str, None, Reply]:
    """The pieces as they come; the generator returns the reply. Closing it stops the agent's writing."""
    cancellation, queue = Cancellation(), SimpleQueue[str | Reply | BaseException]()

    def write() -> None:
        pieces = agent.stream(situation, history, DEFAULT_SAMPLING, cancellation)
        try:
            while not cancellation.is_cancelled:
                queue.put(next(pieces))
        except StopIteration as end:
            queue.put(end.value)
        except BaseException as error:  # raised again in the thread that prints
            queue.put(error)
        finally:
            pieces.close()

    thread = Thread(target=write, name="agent", daemon=True)
    thread.start()
    try:
        while True:
            item = queue.get()
            if isinstance(item, Reply):
                return item
            if isinstance(item, BaseException):
                raise item
            yield item
    finally:
        cancellation.cancel()
        thread.join(STOP_TIMEOUT_S)
