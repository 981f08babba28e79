"""People without names: 'the porter', 'the old woman', who speak now and then."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from understudy.quotations.lexicon import Lexicon
from understudy.quotations.names import QuotedParts
from understudy.quotations.prose import Prose

__all__ = ["Epithet", "speaking_epithets"]

AFTER_MARKS = 3  # characters back from a verb of speech that follows a quotation: into it
MODIFIERS = 2  # words between the article and the noun: 'the little old woman'


@dataclass(frozen=True, slots=True)
class Epithet:
    """As it is written, for example 'the porter'; how often it speaks."""

    surface: str
    count: int
    gender: str


def speaking_epithets(prose: Prose, lexicon: Lexicon) -> list[Epithet]:
    """Nouns with an article that are subjects of verbs of speech in narration, most frequent first."""
    verbs = "|".join(sorted(lexicon.speech_verbs, key=len, reverse=True))
    articles = "|".join(sorted(lexicon.definite_articles, key=len, reverse=True))
    word = r"[^\W\d_]+(?:-[^\W\d_]+)*"
    after_verb = re.compile(rf"\b(?:{verbs})\s({articles})\s({word}(?:\s{word}){{0,{MODIFIERS + 1}}})")
    before_verb = re.compile(rf"\b({articles})\s({word}(?:\s{word}){{0,{MODIFIERS}}}?)\s(?:{verbs})\b", re.IGNORECASE)
    quoted = QuotedParts(prose)
    inverted: Counter[str] = Counter()
    plain: Counter[str] = Counter()
    for pattern, counts in ((after_verb, inverted), (before_verb, plain)):
        for match in pattern.finditer(prose.text):
            if match.start() not in quoted and (counts is plain or match.start() - AFTER_MARKS in quoted):
                noun = _noun_phrase(match[2].split(), lexicon)
                if noun:
                    counts[f"{match[1].lower()} {noun}"] += 1
    heads = {surface.split()[-1] for surface in inverted}
    for surface, count in plain.items():
        if surface.split()[-1] in heads or surface.split()[-1].lower() in lexicon.role_genders:
            inverted[surface] += count
    return [
        Epithet(surface, count, lexicon.role_genders.get(surface.split()[-1].lower(), ""))
        for surface, count in inverted.most_common()
    ]


def _noun_phrase(words: list[str], lexicon: Lexicon) -> str:
    """The words up to where a noun phrase ends; none if it is longer than a noun with its modifiers."""
    phrase: list[str] = []
    for word in words:
        if word.lower() in lexicon.noun_ends or word.endswith("ly"):
            break
        phrase.append(word)
    if len(phrase) > MODIFIERS + 1 or (phrase and phrase[-1].endswith("s") and not phrase[-1].endswith("ss")):
        return ""
    return " ".join(phrase)
