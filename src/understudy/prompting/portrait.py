"""What a character's past lines tell of it where nobody has described it: whom it talks with, and about what.

    weight(w) = n(w) ln (((n(w) + 1/2) / N) / ((m(w) + 1/2) / M))

n counts a word in the character's own lines, N all their words, m and M those of everybody else in its hearing: the
words that are most its own have the most weight. Those that others use in a fifth of the scenes are nobody's own.
Everything comes from the past view, so nothing of it is of the future.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

from understudy.errors import MissingExtra
from understudy.persona import Past
from understudy.story import Exchange, Moment
from understudy.text import stop_words, words

__all__ = ["Partner", "characteristic_words", "partners_of"]

PASTS = 32  # that are remembered
SCENES = 40  # the most recent ones whose words are counted; bounds the work on a long story
LEAST_LINES, LEAST_USED = 40, 4
LEAST_RATIO = 4.0  # times as often as others
COMMON = 1 / 5  # of the scenes
FEW, TERMS = 3, 8
SHORTEST = 4  # letters of an English word that says what a talk is about


@dataclass(frozen=True, slots=True)
class Partner:
    """Somebody the character has answered: how often, since when, and what was said last."""

    name: str
    answers: int
    since: Moment
    last: Exchange


@lru_cache(PASTS)
def partners_of(past: Past) -> tuple[Partner, ...]:
    """Those a character has answered, the most often first. A past never changes, so it is read once."""
    partners: dict[str, Partner] = {}
    for exchange in past.exchanges():
        if exchange.heard is not None and exchange.heard.speaker is not None and exchange.said.text.strip():
            name = exchange.heard.speaker
            known = partners.get(name) or Partner(name, 0, exchange.said.moment, exchange)
            partners[name] = Partner(name, known.answers + 1, known.since, exchange)
    return tuple(sorted(partners.values(), key=lambda partner: -partner.answers))


@lru_cache(PASTS)
def characteristic_words(past: Past, name: str, language: str) -> tuple[str, ...]:
    """Words that a character, which the past calls `name`, uses more than those around it; names are none."""
    try:
        people = (name, *(partner.name for partner in partners_of(past)))
        names = frozenset(word for who in people for word in words(who, language))
    except MissingExtra:  # without its tokenizer a language has no words to count
        return ()
    own, others, scenes_with = Counter[str](), Counter[str](), Counter[str]()
    lines = scenes = 0
    for scene in past.scenes(SCENES):
        heard = Counter[str]()
        for line in scene.lines:
            if line.speaker is not None:
                (own if line.speaker == name else heard).update(words(line.text, language))
                lines += line.speaker == name
        others += heard
        scenes_with.update(heard.keys())
        scenes += 1
    if lines < LEAST_LINES:
        return ()
    light, shortest = stop_words(language) | names, SHORTEST if language == "en" else 1
    total, rest = sum(own.values()), max(sum(others.values()), 1)
    ratios = {
        word: (count + 0.5) / total * rest / (others[word] + 0.5)
        for word, count in own.items()
        if count >= LEAST_USED
        and len(word) >= shortest
        and word not in light
        and "'" not in word
        and scenes_with[word] <= max(scenes * COMMON, 1)
    }
    telling = [word for word, ratio in ratios.items() if ratio >= LEAST_RATIO]
    best = sorted(telling, key=lambda word: (-own[word] * math.log(ratios[word]), word))[:TERMS]
    return tuple(best) if len(best) >= FEW else ()
