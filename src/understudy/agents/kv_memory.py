"""The Key-Value Profile Memory network of PersonaChat: a second hop over what was said in training.

    q+  = q + b * sum_i s_i p_i                             as in `profile_memory`, with its weights
    t_j = softmax over j of a * cos(q+, k_j)                over keys k_j, the messages of the training dialogues
    q++ = unit(q+) + g * unit(sum_j t_j unit(v_j))          values v_j are the replies they got
    score(c) = cos(q++, c)

Only the 64 nearest keys are attended to. a and g are settings of the model folder, which carries the messages and
replies as texts. As in the paper, nothing is trained with the second hop: it is added at test time.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from understudy.agents.bag_ranker import Hop, Query, Question, unit
from understudy.agents.profile_memory import ProfileMemory
from understudy.language.lexical import Floats
from understudy.language.model_folder import ModelFolder
from understudy.story.dialogue import Situation, Turn

__all__ = ["KeyValueMemory"]

NEAREST = 64
RECALLED = 8  # shown as evidence


class KeyValueMemory(ProfileMemory):
    name = "kv-memory"

    def _prepare(self, folder: ModelFolder) -> None:
        super()._prepare(folder)
        self._heard, self._said = folder.texts("memory.heard"), folder.texts("memory.said")
        if len(self._heard) != len(self._said):
            raise folder.error(f"its memory has {len(self._heard)} messages and {len(self._said)} replies")
        self._sharpness = float(folder.number("settings", "sharpness", low=0, high=1_000))
        self._gain = float(folder.number("settings", "gain", low=-1_000, high=1_000))
        self._keys, self._values = self._rows(self._heard), self._rows(self._said)

    def query(self, situation: Situation, history: Sequence[Turn]) -> Query:
        total, looked_up = self.first_hops(situation, history)
        first = unit(total)
        return self._second_hop(first, looked_up, self._keys @ first)

    def score_many(self, questions: Sequence[Question]) -> list[list[float]]:
        """All questions look up the keys together, which takes a tenth of the time."""
        first = [self.first_hops(situation, history) for situation, history, _ in questions]
        directions = [unit(total) for total, _ in first]
        nearness = np.stack(directions) @ self._keys.T if directions else np.zeros((0, len(self._keys)), np.float32)
        queries = (
            self._second_hop(direction, hops, row) for direction, (_, hops), row in zip(directions, first, nearness)
        )
        return [
            self._cosines(query, candidates, situation.persona.language)
            for query, (situation, _, candidates) in zip(queries, questions)
        ]

    def _second_hop(self, first: Floats, looked_up: tuple[Hop, ...], nearness: Floats) -> Query:
        nearest = _largest(nearness, NEAREST)
        if not len(nearest) or not first.any():
            return Query(first, looked_up)
        grown = np.exp(np.float32(self._sharpness) * (nearness[nearest] - nearness[nearest].max()))
        shares = grown / grown.sum()
        recalled = unit((shares[:, None] * self._values[nearest]).sum(axis=0))
        order = np.argsort(-shares, kind="stable")[:RECALLED]
        memories = tuple(
            Hop("memory", f"{self._heard[nearest[at]]} -> {self._said[nearest[at]]}", float(shares[at])) for at in order
        )
        return Query(unit(first + np.float32(self._gain) * recalled), (*looked_up, *memories))

    def _rows(self, texts: Sequence[str]) -> Floats:
        rows = np.empty((len(texts), self.vectors.width), np.float32)
        for row, text in enumerate(texts):
            rows[row] = unit(self.vectors.uncached(text))
        return rows


def _largest(numbers: Floats, k: int) -> NDArray[np.intp]:
    """Indices of the k largest numbers, ascending."""
    if k >= len(numbers):
        return np.arange(len(numbers))
    return np.sort(np.argpartition(-numbers, k)[:k])
