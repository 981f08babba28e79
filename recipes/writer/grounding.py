"""Does a prompt contain what a reply says? Replies that are not grounded in it would teach the model to invent.

support(p, r) = |words(p) & words(r)| / |words(r)|       words of meaning, without their endings; 1 where r has none
grounded(p, r)  iff  every name and number of r stands in p
"""

from __future__ import annotations

import re

from recipes.writer.tables import names
from understudy.agents.prompt_contents import PromptContents
from understudy.agents.word_tokens import terms
from understudy.text import sentences

__all__ = ["bearing", "content", "first_sentences", "grounded", "support"]

WORD = re.compile(r"[a-z0-9]+(?:['-][a-z]+)*")
NAME = re.compile(r"(?<![.!?] )(?<!^)\b[A-Z][a-z]+\b|\b\d+\b")
COMMON = frozenset(
    "I God Lord Heaven Oh O English England Mr Mrs Miss Sir Madam Dr Christmas Sunday Monday Well Yes No But "
    "And".split()
)
ROUND = frozenset({"two", "three"})  # numbers that are said without being counted


def content(text: str) -> frozenset[str]:
    """The words of meaning of an English text, without their endings."""
    return terms(text, "en")


def first_sentences(text: str, most: int) -> str | None:
    """The first sentences of a text up to so many words; None where its first is longer."""
    chosen: list[str] = []
    size = 0
    for sentence in sentences(text):
        size += len(sentence.split())
        if size > most:
            break
        chosen.append(sentence)
    return " ".join(chosen) or None


def support(contents: PromptContents, reply: str) -> float:
    said = content(reply)
    return len(said & content(prompt_text(contents))) / len(said) if said else 1.0


def grounded(contents: PromptContents, reply: str) -> bool:
    known = set(WORD.findall(prompt_text(contents).lower()))
    named = {name.lower() for name in NAME.findall(reply) if name not in COMMON}
    numbers = {word for word in WORD.findall(reply.lower()) if word in names("num") and word not in ROUND}
    return named | numbers <= known


def bearing(text: str, question: str, answer: str) -> float:
    """How much a text has to do with an answer, and half as much with its question."""
    return len(content(text) & content(answer)) + 0.5 * len(content(text) & content(question))


def prompt_text(contents: PromptContents) -> str:
    """All that a prompt says, as one text."""
    return " ".join(
        (
            contents.name, contents.facing, contents.message, *contents.setting, *contents.profile, *contents.theirs,
            *contents.voice, *(turn.text for turn in contents.turns), *contents.facts,
            *(f"{item.speaker} {item.heard} {item.said}" for item in contents.own),
            *(f"{line.speaker} {line.text}" for line in contents.others),
        )
    )  # fmt: skip
