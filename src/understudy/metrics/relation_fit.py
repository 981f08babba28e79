"""Does a line's tone towards the one it is said to fit what the speaker feels for them at that moment?

    tone(u) = (warm - cold) / (warm + cold + 1)              of its warm and cold words, -1..1
    fit(u)  = 1 - max(0, -tone(u) * affection / 10)          1: nothing against it; 0: as wrong as can be

Warm to an enemy and cold to a friend are wrong; a line without warm or cold words fits anybody. Tone is told by words
(`language.lexical.tone`): of the embedded story's lines 6% are taken for misfits as they stand, 16% would be if the
feeling were the opposite.
"""

from __future__ import annotations

from collections.abc import Sequence

from understudy.language.lexical.tone import Tone, tone_of
from understudy.metrics.line_metric import LineMetric, TextMetric
from understudy.metrics.samples import Samples
from understudy.story.dialogue import Situation

__all__ = ["relation_fit"]

STRONGEST = 10  # of affection


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
