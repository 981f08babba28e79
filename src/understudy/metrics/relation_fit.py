"""Does a line's tone towards the one it is said to fit what the speaker feels for them at that moment?

    tone(u) = (warm - cold) / (warm + cold + 1)              of its warm and cold words, -1..1
    fit(u)  = 1 - max(0, -tone(u) * affection / 10)          1: nothing against it; 0: as wrong as can be

Warm to an enemy and cold to a friend are wrong; a line without warm or cold words fits anybody. A word after a negation
counts for the other side ('not glad'). Words come from a list, so irony and warmth without such words are missed:
of the embedded story's lines 6% are taken for misfits as they stand, 16% would be if the feeling were the opposite.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from understudy.dialogue import Situation
from understudy.errors import InputError
from understudy.metrics.line_metric import LineMetric, TextMetric
from understudy.metrics.samples import Samples

__all__ = ["Tone", "relation_fit", "tone_of"]

STRONGEST = 10  # of affection
NEAR = 2  # words before a term in which a negation turns it
WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Tone:
    """-1 is cold, 1 is warm; and the words that say so."""

    value: float
    warm: tuple[str, ...] = ()
    cold: tuple[str, ...] = ()


def relation_fit(samples: Samples, situation: Situation) -> LineMetric:
    """The metric for a persona before the one it faces."""
    faced, language = situation.faced, situation.persona.language
    levels = [tie.level for tie in faced.relations if tie.kind == "affection"] if faced else []
    level, name = next((level for level in levels if level is not None), 0), faced.name if faced else ""

    def score_text(line: str) -> tuple[float, str]:
        tone = tone_of(line, language)
        fit = 1 - max(0.0, -tone.value * level / STRONGEST)
        return round(fit, 6), _reason(tone, name, level) if fit < 1 else ""

    return TextMetric("relation_fit", samples, score_text, _missing(situation, levels))


def tone_of(line: str, language: str = "en") -> Tone:
    """How warm or cold a line is."""
    warm, cold, negations = _lexicon(language)
    text = " ".join(line.lower().replace("’", "'").split())
    terms: dict[bool, list[str]] = {True: [], False: []}
    for is_warm, pattern in ((True, warm), (False, cold)):
        for match in pattern.finditer(text):
            negated = bool(negations) and _negated(text[: match.start()], negations)
            terms[is_warm != negated].append(f"not {match[0]}" if negated else match[0])
    friendly, hostile = len(terms[True]), len(terms[False])
    return Tone((friendly - hostile) / (friendly + hostile + 1), tuple(terms[True]), tuple(terms[False]))


def _missing(situation: Situation, levels: Sequence[int | None]) -> str:
    who = situation.persona.name
    if situation.faced is None:
        return f"nobody is faced: say before whom {who} stands"
    if all(level is None for level in levels):
        return f"how {who} feels about {situation.faced.name} at this moment is not told"
    return ""


def _reason(tone: Tone, name: str, level: int) -> str:
    if tone.value > 0:
        return f"warm ({', '.join(tone.warm)}) to {name}, whom the speaker does not like ({level:+})"
    return f"cold ({', '.join(tone.cold)}) to {name}, whom the speaker likes ({level:+})"


def _negated(before: str, negations: frozenset[str]) -> bool:
    near = WORD.findall(before.replace("n't", " nt"))[-NEAR:]
    return any(word in negations for word in near)


@cache
def _lexicon(language: str) -> tuple[re.Pattern[str], re.Pattern[str], frozenset[str]]:
    lexicons = tomllib.loads(files("understudy.metrics").joinpath("tone.toml").read_text(encoding="utf-8"))
    if language not in lexicons:
        raise InputError(f"there are no warm and cold words for '{language}': choose from {', '.join(lexicons)}")
    lists = lexicons[language]
    negations = frozenset(word.strip().replace("'", "") for word in lists["turned"].split(",") if word.strip())
    return _pattern(lists["warm"], language), _pattern(lists["cold"], language), negations


def _pattern(listed: str, language: str) -> re.Pattern[str]:
    """The longest phrase at a place counts, and whole words only where words are written apart."""
    phrases = sorted(
        {" ".join(phrase.split()) for phrase in listed.split(",") if phrase.strip()}, key=len, reverse=True
    )
    joined = "|".join(re.escape(phrase) for phrase in phrases)
    return re.compile(rf"(?<!\w)(?:{joined})(?!\w)" if language == "en" else joined)
