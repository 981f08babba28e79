"""Polarity towards somebody, for or against: of a text, and of ties."""

from __future__ import annotations

import re
from collections.abc import Iterable

from understudy.agents.dialogue_context import tie_sign, uncontradicted
from understudy.story.types import Relation

__all__ = ["asks_feeling", "polarity", "tie_polarity"]

FEELING = re.compile(
    r"\b(likes?|liked|loves?|loved|trusts?|trusted|fond|dear|friends?|glad|hates?|hated|despises?|"
    r"dislikes?|wary|cannot stand|can't stand|enem(?:y|ies)|"
    r"opposite sides|puts me off|keep away|guilt|stole|thief|liar|lied|forgive)\b",
    re.IGNORECASE,
)
AGAINST = re.compile(
    r"hate|despise|dislike|wary|stand|enem|opposite|puts me off|keep away|guilt|stole|thief|liar|lied", re.I
)
DEEDS = re.compile(r"guilt|stole|thief|liar|lied|forgive", re.I)
NOT = re.compile(r"\b(?:not|never|no|cannot|hardly|nor|neither)\b|n['’]t\b", re.IGNORECASE)
ASKS = re.compile(
    r"\b(?:like|love|trust|hate|think (?:of|about)|feel (?:about|for)|friends?|enem(?:y|ies)|angry|"
    r"fond|forgive|mean to you|to you|to each other)\b",
    re.I,
)
CLAUSE = 24  # characters before a word of feeling in which a negation reverses it


def asks_feeling(message: str) -> bool:
    """Does a message ask what somebody feels about somebody?"""
    return ASKS.search(message) is not None


def polarity(text: str, of_deeds: bool = True) -> int:
    """Words of feeling counted, for 1 and against -1, turned round by a 'not' in the same clause.

    Somebody may be loved who has lied and stolen; `of_deeds` says whether that counts against them.
    """
    total = 0
    for match in FEELING.finditer(text):
        if not of_deeds and DEEDS.fullmatch(match[1]):
            continue
        sign = -1 if AGAINST.search(match[1]) else 1
        clause = re.split(r"[.!?;,]", text[max(0, match.start() - CLAUSE) : match.start()])[-1]
        total += -sign if NOT.search(clause) else sign
    return total


def tie_polarity(ties: Iterable[Relation]) -> int:
    """1 where ties to somebody are for them, -1 where they are against them, by the newest that is either."""
    total = sum(map(tie_sign, uncontradicted(ties)))
    return (total > 0) - (total < 0)
