"""A scripted agent that writes piece by piece, as a language model does."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from threading import Event, Semaphore

from understudy.errors import BackendError
from understudy.progress import Cancellation
from understudy.story.dialogue import DEFAULT_SAMPLING, Candidate, Draft, Reply, Sampling, Situation, Turn, Usage

__all__ = ["PIECES", "HostileWriter", "Offering", "Writer"]


PIECES = ("I ", "never ", "left ", "the ", "quay.")


class Writer:
    """Writes `pieces`; `written` are those that were taken from it, over all replies.

    With `gated`, each piece waits for a `release`: as behind a slow back end, a cancellation wakes it. It fails before
    the piece numbered `fails_at`, where there is one.
    """

    waits = True

    def __init__(
        self,
        pieces: Sequence[str] = PIECES,
        gated: bool = False,
        fails_at: int | None = None,
        usage: Usage | None = None,
        log_probs: tuple[float, ...] | None = None,
        candidates: tuple[Candidate, ...] = (),
    ) -> None:
        self.pieces, self.gated, self.fails_at = tuple(pieces), gated, fails_at
        self.usage, self.log_probs, self.candidates = usage, log_probs, candidates
        self.written: list[str] = []
        self.samplings: list[Sampling] = []
        self.heard: list[tuple[Situation, tuple[Turn, ...]]] = []
        self.begun, self.ended = Event(), Event()
        self._gate = Semaphore(0)

    def release(self, pieces: int = 1) -> None:
        self._gate.release(pieces)

    def reply(self, situation: Situation, history: Sequence[Turn]) -> Reply:
        writing = self.stream(situation, history)
        while True:
            try:
                next(writing)
            except StopIteration as end:
                reply: Reply = end.value
                return reply

    def stream(
        self,
        situation: Situation,
        history: Sequence[Turn],
        sampling: Sampling = DEFAULT_SAMPLING,
        cancellation: Cancellation | None = None,
    ) -> Generator[str, None, Reply]:
        cancellation = cancellation or Cancellation()
        self.samplings.append(sampling)
        self.heard.append((situation, tuple(history)))
        self.begun.set()
        try:
            for number, piece in enumerate(self.pieces):
                if self.gated:
                    with cancellation.callback(self._gate.release):
                        assert self._gate.acquire(timeout=120)
                if cancellation.is_cancelled:
                    raise BackendError("the connection was closed")
                if number == self.fails_at:
                    raise BackendError("the back end broke off: is it still running?")
                self.written.append(piece)
                yield piece
        finally:
            self.ended.set()
        return Reply("".join(self.pieces), self.candidates, (), self.usage, self.log_probs)


# Drafters that offer what must not be said, for tests of the guards.


class Offering:
    """Offers the same texts, whatever is asked."""

    def __init__(self, *texts: str, source: str = "writer") -> None:
        self.texts, self.source = texts, source

    def drafts(
        self,
        situation: Situation,
        history: Sequence[Turn],
        sampling: Sampling = DEFAULT_SAMPLING,
        cancellation: Cancellation | None = None,
    ) -> tuple[list[Draft], Usage]:
        return [Draft(text, self.source) for text in self.texts], Usage(1, 10, 10, 0.1)


class HostileWriter(Offering):
    """Writes another text at each attempt, in pieces of any size; counts how often it was stopped."""

    def __init__(self, *texts: str, piece: int = 3) -> None:
        super().__init__(*texts)
        self.piece, self.attempts, self.closed = piece, 0, 0

    def stream(
        self,
        situation: Situation,
        history: Sequence[Turn],
        sampling: Sampling = DEFAULT_SAMPLING,
        cancellation: Cancellation | None = None,
    ) -> Generator[str, None, Reply]:
        text = self.texts[self.attempts % len(self.texts)]
        self.attempts += 1
        try:
            for place in range(0, len(text), self.piece):
                yield text[place : place + self.piece]
        except GeneratorExit:
            self.closed += 1
            raise
        return Reply(text, usage=Usage(1, 10, 10, 0.1))
