"""Polarity towards somebody, for or against: of a text, and of ties."""

from __future__ import annotations

import re
from collections.abc import Iterable

from understudy.story import Relation

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
NOT = re.compile(r"\b(?:not|never|no|cannot|hardly|nor|neither)\b|n['’]t\b", re.IGNORECASE)
ASKS = re.compile(
    r"\b(?:like|love|trust|hate|think (?:of|about)|feel (?:about|for)|friends?|enem(?:y|ies)|angry|"
    r"fond|forgive|mean to you|to you|to each other)\b",
    re.I,
)
FRIENDLY = frozenset({"friend", "lover", "teammate", "family", "confidant", "teacher"})
HOSTILE = frozenset({"enemy", "opponent"})
CLAUSE = 24  # characters before a word of feeling in which a negation reverses it


def asks_feeling(message: str) -> bool:
    """Does a message ask what somebody feels about somebody?"""
    return ASKS.search(message) is not None


def polarity(text: str) -> int:
    """Words of feeling counted, for 1 and against -1, turned round by a 'not' in the same clause."""
    total = 0
    for match in FEELING.finditer(text):
        sign = -1 if AGAINST.search(match[1]) else 1
        clause = re.split(r"[.!?;,]", text[max(0, match.start() - CLAUSE) : match.start()])[-1]
        total += -sign if NOT.search(clause) else sign
    return total


def tie_polarity(ties: Iterable[Relation]) -> int:
    """1 where ties are for somebody, -1 where they are against them, 0 where they are neither or both."""
    total = 0
    for tie in ties:
        if tie.kind == "affection" and tie.level is not None and abs(tie.level) > 1:
            return 1 if tie.level > 0 else -1  # affection counts more than the kind of relation
        total += (tie.kind in FRIENDLY) - (tie.kind in HOSTILE)
    return (total > 0) - (total < 0)
