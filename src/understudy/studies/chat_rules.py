"""What may be said in a chat of a study: short messages in one's own words.

A message has at most `most_words` words, and repeats neither a run of RUN words of the speaker's profile nor a whole
sentence of it, however short. PersonaChat refused messages that match the profile letter by letter; taking runs of
words, a copy with another ending is refused as well.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from understudy.studies.item import Problem
from understudy.studies.word_counts import count_words
from understudy.text import words

__all__ = ["copied_words", "message_problems", "shortened"]

RUN = 4
SHORTEST = 2
MESSAGE = "message"
SENTENCE_ENDS = ".!?。！？"
PIECE = re.compile(r"\s*(?:[^\s\u3040-\u30ff\u4e00-\u9fff]+|\S)")
CLAUSE_ENDS = ",;:、，；："


def message_problems(text: str, profile: Sequence[str], most_words: int, language: str) -> list[Problem]:
    count = count_words(text)
    if not text.strip():
        return [Problem(MESSAGE, "write something")]
    problems = []
    if count > most_words:
        problems.append(Problem(MESSAGE, f"{count} words, and {most_words} are allowed: make it shorter"))
    if copied := copied_words(text, profile, language):
        problems.append(Problem(MESSAGE, f"'{copied}' is copied from your character: say it in your own words"))
    return problems


def copied_words(text: str, profile: Sequence[str], language: str) -> str:
    """The first run of words that a text has from a profile; blank if there is none."""
    said = words(text, language)
    for sentence in profile:
        own = words(sentence, language)
        length = min(len(own), RUN)
        if length < SHORTEST:
            continue
        runs = {tuple(own[at : at + length]) for at in range(len(own) - length + 1)}
        for at in range(len(said) - length + 1):
            if tuple(said[at : at + length]) in runs:
                return " ".join(said[at : at + length])
    return ""


def shortened(text: str, most_words: int) -> str:
    """An agent's reply within the rules: the sentences of it that fit, or else the clauses, or else its first words."""
    if count_words(text) <= most_words:
        return text.strip()
    taken = ""
    for piece in PIECE.findall(text):  # a word, or a letter of a script without blanks
        if count_words(taken + piece) > most_words:
            break
        taken += piece
    for ends in (SENTENCE_ENDS, CLAUSE_ENDS):
        last = max(taken.rfind(mark) for mark in ends)
        if last > 0:
            return taken[: last + 1].rstrip(CLAUSE_ENDS).strip()
    return taken.strip()
