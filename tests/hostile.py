"""Drafters that offer what must not be said, for tests of the guards."""

from __future__ import annotations

from collections.abc import Generator, Sequence

from understudy.progress import Cancellation
from understudy.story.dialogue import DEFAULT_SAMPLING, Draft, Reply, Sampling, Situation, Turn, Usage

__all__ = ["HostileWriter", "Offering"]


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
