"""How near a reply is in meaning to what was said and to the scene, by the shipped sentence encoder.

Cosines of the reply's vector with that of the turns, of the turns with the scene as what is known beside them, of the
last turn, and the largest with a single turn and with a sentence of the scene. The encoder reads English; for other
languages the multilingual encoder is taken where one is installed, and without it the features are 0.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from understudy.agents.fit import CachedEncoder
from understudy.bench.hpd.features import Feature
from understudy.dialogue import Example
from understudy.encoding import Context, Floats, MultilingualEncoder, shared_encoder
from understudy.lexical.rows import Reals
from understudy.text import fold

__all__ = ["Meaning"]

FEATURES = tuple(Feature(name, 1) for name in ("near_turns", "near_all", "near_turn", "near_scene"))
SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])")
SENTENCES = 8  # of the scene that are read with the turns
READ = "en"


class Meaning:
    features: Sequence[Feature] = FEATURES

    @cached_property
    def _english(self) -> CachedEncoder:
        return CachedEncoder(shared_encoder())

    @cached_property
    def _multilingual(self) -> CachedEncoder | None:
        encoder = MultilingualEncoder.find()
        return None if encoder is None else CachedEncoder(encoder)

    def values(self, example: Example) -> Reals:
        persona = example.situation.persona
        cached = self._english if persona.language == READ else self._multilingual
        result = np.zeros((len(example.candidates), len(FEATURES)))
        if cached is None or not example.candidates:
            return result
        replies = cached.encode(example.candidates)
        own = fold(persona.name)
        turns = tuple((fold(turn.speaker) == own, turn.text) for turn in example.history)
        scene = sentences(example.situation.setting)
        if turns or scene:
            known = tuple(scene[:SENTENCES])
            contexts = [Context(turns=turns), Context(own=known, turns=turns)]
            near = replies @ cached.encoder.encode_contexts(contexts).T
            result[:, 0] = near[:, 0] if turns else 0.0
            result[:, 1] = near[:, 1]
        result[:, 2] = _nearest(replies, cached.encode([text for _, text in turns]))
        result[:, 3] = _nearest(replies, cached.encode(scene, "own"))
        return np.round(result, 5)  # the same, however many texts went through the encoder together


def sentences(text: str) -> list[str]:
    return [sentence.strip() for sentence in SENTENCE_END.split(text) if sentence.strip()]


def _nearest(replies: Floats, texts: Floats) -> Floats:
    return (replies @ texts.T).max(axis=1) if len(texts) else np.zeros(len(replies), np.float32)
