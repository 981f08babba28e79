"""What is still to be answered, collected while the other questions are put, so that all of it is asked for at once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from understudy.errors import MissingAnswer

__all__ = ["MissingAnswers"]


class MissingAnswers:
    """missing = MissingAnswers()
    for question in questions:
        with missing:
            replies.append(agent.reply(question))
    missing.check()
    """

    def __init__(self) -> None:
        self._requests: dict[tuple[Path, str], Mapping[str, Any]] = {}

    def __enter__(self) -> None:
        """A `MissingAnswer` of the block ends it, and nothing else."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        if not isinstance(error, MissingAnswer):
            return False
        self._requests |= error.requests
        return True

    def __bool__(self) -> bool:
        return bool(self._requests)

    def check(self) -> None:
        """Raise all that was collected as one `MissingAnswer`."""
        if self._requests:
            raise MissingAnswer(self._requests)
