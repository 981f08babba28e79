"""What a character can look back on, as vectors: what it said, what it had heard before, and what it was there for.

    likeness(m, l) = cos(m, l)                          of a message and a line, both encoded as something said
    memory(s)      = max over lines l of scene s of likeness(m, l)

Lines are encoded once and kept: on disk by their text, here for the personas last asked. Of what a character only
overheard the most recent lines are taken, so that a long story does not take long to remember.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from understudy.agents.kept import Kept
from understudy.agents.pools import Candidates, key_of
from understudy.dialogue import Situation
from understudy.encoding import Encoder, Floats
from understudy.lexical import TfIdf
from understudy.persona import Past
from understudy.story import Exchange, Line, Moment

__all__ = ["Recollection", "Recollections"]

OVERHEARD = 2_000
SCENES = 400  # that are looked through for them, so that a long story is not read to its beginning
LEAST_LINE = 12  # characters: 'Yes.' and 'What?' bring nothing back


class Recollection:
    """Exchanges in story order with the vectors of both halves; scenes by the vectors of their lines."""

    def __init__(self, exchanges: Iterable[Exchange], past: Past, encoder: Encoder, language: str = "en") -> None:
        self.exchanges = tuple(exchange for exchange in exchanges if exchange.said.text.strip())
        self.distinct = len({exchange.said.text.strip() for exchange in self.exchanges})
        self._encoder = encoder
        self.said = encoder.encode([exchange.said.text for exchange in self.exchanges])
        heard = [place for place, exchange in enumerate(self.exchanges) if exchange.heard is not None]
        self._heard = np.array(heard, np.intp)
        self._heard_vectors = encoder.encode([self._prompt(place) for place in heard])
        numbers: dict[str | None, int] = {None: 0}
        speakers = (None if exchange.heard is None else exchange.heard.speaker for exchange in self.exchanges)
        self._heard_from = np.array([numbers.setdefault(name, len(numbers)) for name in speakers], np.int32)
        self._numbers = numbers
        self._words = TfIdf(
            (f"{self._prompt(place)} {exchange.said.text}" for place, exchange in enumerate(self.exchanges)), language
        )
        self._lines, self._settings = _scene_lines(past)
        self._line_vectors: Floats | None = None

    def heard_likeness(self, message: Floats) -> Floats:
        """How like the message what was heard before each exchange is; 0 where nothing was."""
        found = np.zeros(len(self.exchanges), np.float32)
        found[self._heard] = self._heard_vectors @ message
        return found

    def shared_words(self, message: Mapping[str, float]) -> Floats:
        """The cosine of a message's words with those of each exchange, both halves together."""
        return self._words.scores(message)

    def heard_from(self, name: str) -> NDArray[np.bool_]:
        """For each exchange: was it somebody of that name who had spoken?"""
        return np.equal(self._heard_from, self._numbers.get(name, -1))

    def memories(self, message: Floats, count: int, least: float) -> list[tuple[Line, str, float]]:
        """The scenes that bear most on the message: the line that does, the setting, how much."""
        if not self._lines:
            return []
        if self._line_vectors is None:
            self._line_vectors = self._encoder.encode([line.text for line in self._lines])
        scores = self._line_vectors @ message
        best: dict[tuple[int, ...], tuple[Line, str, float]] = {}
        for place in np.argsort(-scores, kind="stable").tolist():
            if scores[place] < least or len(best) == count:
                break
            line = self._lines[place]
            best.setdefault(_scene(line.moment), (line, self._settings[_scene(line.moment)], float(scores[place])))
        return list(best.values())

    def _prompt(self, place: int) -> str:
        heard = self.exchanges[place].heard
        return "" if heard is None else heard.text


class Recollections:
    """Those last used, by who is asked and when; candidates that are a collection belong to all who share it."""

    def __init__(self, candidates: Candidates, kept: int = 32) -> None:
        self._candidates = candidates
        self._kept = Kept[Recollection](kept)

    def of(self, situation: Situation, encoder: Encoder) -> Recollection:
        exchanges, persona = self._candidates(situation), situation.persona
        return self._kept.of(
            key_of(exchanges, persona, own_past_too=True),
            (exchanges, persona),
            lambda: Recollection(exchanges, persona.past, encoder, persona.language),
        )


def _scene_lines(past: Past) -> tuple[list[Line], dict[tuple[int, ...], str]]:
    """What was said in the scenes a character was in, by anybody, the most recent; and where each scene was."""
    lines, settings = list[Line](), dict[tuple[int, ...], str]()
    for scene in past.scenes(SCENES):
        for line in scene.lines:
            if line.speaker is not None and len(line.text) >= LEAST_LINE:
                lines.append(line)
                settings[_scene(line.moment)] = scene.setting
    return lines[-OVERHEARD:], settings


def _scene(moment: Moment) -> tuple[int, ...]:
    return moment.numbers[:-1]
