"""Words that a reply shares with what was said and with the scene.

    weight(x)    = how rare the word's root x is                                    names of those present left out
    shared(c, t) = sqrt(sum of weight(x) over x in both c and t)
    cosine(c, t) = (sum of weight(x)^2 over x in both) / (|c| |t|),   |t|^2 = sum of weight(x)^2 over x in t

t is the dialogue, the scene, or the two together. Rarity is that of the shipped encoder's training texts (a word of
several tokens is as rare as the rarest of them, and a little more); in other languages than English all words weigh
alike. Whoever is present is named by anybody at any time: their names tell nothing of what is spoken of.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import pairwise

from understudy.agents.word_roots import roots
from understudy.bench.hpd.features import Feature, TextFeatures
from understudy.dialogue import Example, Situation, Turn
from understudy.encoding import shared_encoder
from understudy.text import words

__all__ = ["SHARED_WORDS", "present_names", "rarity"]

FEATURES = (
    Feature("shared_with_dialogue", 1),
    Feature("shared_with_scene", 1),
    Feature("shared_with_any", 1),
    Feature("cosine_dialogue", 1),
    Feature("cosine_scene", 1),
    Feature("shared_pairs", 1),
)
IN_PIECES = 1.0  # what a word of several tokens is rarer than the rarest of them

Bag = Mapping[str, float]


def present_names(situation: Situation, history: Sequence[Turn]) -> list[str]:
    """The names of all who speak or are there, the persona among them."""
    spoke = (turn.speaker for turn in history)
    return list(dict.fromkeys((situation.persona.name, *spoke, *(other.name for other in situation.present))))


@cache
def _rarities() -> list[float]:
    """Of every token of the shipped encoder."""
    rarities: list[float] = shared_encoder().rarity.tolist()
    return rarities


@cache
def rarity(word: str) -> float:
    """How rare an English word is."""
    table = _rarities()
    tokens = [table[token] for token in shared_encoder().words(word)]
    return max(tokens, default=0.0) + (IN_PIECES if len(tokens) > 1 else 0.0)


def _prepare(example: Example) -> Callable[[str], Sequence[float]]:
    situation, language = example.situation, example.situation.persona.language
    names = present_names(situation, example.history)
    present = frozenset[str]().union(*(roots(name, language) for name in names))

    def bag(text: str) -> Bag:
        return {root: rarity(root) if language == "en" else 1.0 for root in roots(text, language) - present}

    said = "\n".join(turn.text for turn in example.history)
    dialogue, scene = bag(said), bag(situation.setting)
    both = {**dialogue, **scene}
    pairs = _pairs(f"{said}\n{situation.setting}", language, present)

    def values(text: str) -> list[float]:
        reply = bag(text)
        return [
            *(math.sqrt(_shared(reply, part)) for part in (dialogue, scene, both)),
            _cosine(reply, dialogue),
            _cosine(reply, scene),
            math.sqrt(len(_pairs(text, language, present) & pairs)),
        ]

    return values


def _pairs(text: str, language: str, present: frozenset[str]) -> set[tuple[str, str]]:
    """Neighbouring words of which one at least has a meaning of its own."""
    said = words(text, language)
    telling = roots(text, language) - present
    carries = {word: bool(roots(word, language) & telling) for word in set(said)}
    return {pair for pair in pairwise(said) if carries[pair[0]] or carries[pair[1]]}


def _shared(reply: Bag, part: Bag) -> float:
    return math.fsum(weight for root, weight in reply.items() if root in part)


def _cosine(reply: Bag, part: Bag) -> float:
    norm = math.hypot(*reply.values()) * math.hypot(*part.values())
    return math.fsum(weight * part[root] for root, weight in reply.items() if root in part) / norm if norm else 0.0


SHARED_WORDS = TextFeatures(FEATURES, _prepare)
