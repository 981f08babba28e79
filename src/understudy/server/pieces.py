"""A reply while it is written: which part of its pieces can be sent already.

Both classes take pieces with `feed` and give back what is safe to send; `finish` gives the rest. A piece may end in
the middle of a name or of a stop sequence, so some text is held back until it is known what follows.
"""

from __future__ import annotations

from collections.abc import Sequence

from understudy.story.names import ShownNames
from understudy.story.storyfile.name_finder import NameReplacer

__all__ = ["ShownPieces", "StopSequences"]


class ShownPieces:
    """Pieces with false names in the place of true ones. What may be the beginning of a name is held back."""

    def __init__(self, names: ShownNames) -> None:
        self._names = names
        self._text = ""
        self._sent = 0  # characters of the text with false names

    def feed(self, piece: str) -> str:
        in_text = self._names.in_text
        if not isinstance(in_text, NameReplacer):
            return piece  # nobody goes by a false name
        self._text += piece
        return self._shown(len(self._text) - in_text.undecided(self._text))

    def finish(self) -> str:
        return self._shown(len(self._text))

    def _shown(self, end: int) -> str:
        shown = self._names.in_text(self._text[:end])
        start, self._sent = self._sent, max(self._sent, len(shown))
        return shown[start:]


class StopSequences:
    """Ends a text before the first of some sequences; `is_stopped` says whether one came."""

    def __init__(self, sequences: Sequence[str]) -> None:
        self._sequences, self._pending = tuple(sequences), ""
        self.is_stopped = False

    def feed(self, piece: str) -> str:
        if self.is_stopped:
            return ""
        self._pending += piece
        matches = [index for index in map(self._pending.find, self._sequences) if index >= 0]
        if matches:
            self.is_stopped = True
            end = min(matches)
        else:
            end = len(self._pending) - max(map(self._possible_start, self._sequences), default=0)
        sent, self._pending = self._pending[:end], "" if matches else self._pending[end:]
        return sent

    def finish(self) -> str:
        pending, self._pending = self._pending, ""
        return pending

    def _possible_start(self, sequence: str) -> int:
        """How many characters at the end of the text may be the beginning of a sequence."""
        longest = min(len(sequence) - 1, len(self._pending))
        return next((size for size in range(longest, 0, -1) if self._pending.endswith(sequence[:size])), 0)
