"""Which draft is said: the one the other drafts agree with, that fits what was said, and that breaks no rule.

    score(c) = 0.62 agreement(c) + 0.54 fit(c) - 0.15 echo(c) - 0.11 [c asks back] - 0.08 [c is a fact as it stands]

    agreement   mean over the drafts d of the F1 of the words of meaning of c and d: what many drafts say is rarely made up
    fit         the encoder's cosine of the turns (nothing else) with the candidate
    echo        share of the candidate's words of meaning that the message has

Candidates are the drafts, each also without its last sentences, own lines and their sentences, and facts; only whole
drafts vote. Weights are ridge coefficients on 2,060 rows of candidates marked by hand (165 questions), checked by
leaving out a role at a time. Log-probabilities without the message (mutual information), without the persona, and a
yes-or-no judge in the same adapter were tried: beside agreement they bring nothing, and each costs a pass of the model.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from prepare import COMMON, NAMED, WORD, content, told
from prompting import Scene

__all__ = ["Candidate", "against_ties", "agreement", "broken", "openings", "ranked"]

AGREEMENT, FIT, ECHO, ASKS_BACK, PLAIN_FACT = 0.62, 0.54, -0.15, -0.11, -0.08
BROKEN = re.compile(r"\b(?:user|assistant|system)\b|<\||^\w+(?: \w+)?: |Me:|\bAI\b|language model", re.I)
NUMBERS = frozenset(
    "three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen "
    "twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million".split()
)


@dataclass(frozen=True)
class Candidate:
    """Something that could be said: where it comes from ('draft', 'cut', 'own', 'part', 'fact') and its fit."""

    text: str
    kind: str
    fit: float


def openings(text: str) -> list[str]:
    """A draft without its last sentence, without its last two: what is added last is what is made up."""
    parts = re.split(r"(?<=[.!?])\s+(?=[A-Z'])", text.strip())
    return [" ".join(parts[:count]) for count in range(1, len(parts))]


def agreement(candidates: Sequence[Candidate]) -> list[float]:
    said = [content(c.text) for c in candidates]
    drafts = [place for place, c in enumerate(candidates) if c.kind == "draft"]
    found = []
    for place, words in enumerate(said):
        others = [said[d] for d in drafts if d != place]
        found.append(sum(_f1(words, o) for o in others) / len(others) if others else 0.0)
    return found


def ranked(
    scene: Scene, candidates: Sequence[Candidate], ties: Sequence[str] = (), said: Sequence[str] = ()
) -> list[tuple[float, Candidate, str]]:
    """Best first: score, candidate, and why it may not be said (those come last).

    `ties` are the sentences of the ties to whomever the message asks after; `said` is what was said in this chat.
    """
    asked = content(scene.message)
    scored = []
    for agreed, c in zip(agreement(candidates), candidates):
        words = content(c.text)
        score = AGREEMENT * agreed + FIT * c.fit + ECHO * (len(words & asked) / len(words) if words else 0.0)
        score += ASKS_BACK * c.text.endswith("?") + PLAIN_FACT * (c.kind == "fact")
        why = broken(scene, c.text, said) or ("goes against a tie" if against_ties(scene.message, c.text, ties) else "")
        scored.append((score, c, why))
    return sorted(scored, key=lambda item: (bool(item[2]), -item[0]))


def broken(scene: Scene, text: str, said: Sequence[str] = ()) -> str:
    """Why a candidate may not be said at all; blank where it may."""
    words = text.split()
    if not words or not re.search(r"[.!?'\"\u2019\u201d]$", text) or text[:1].islower():
        return "breaks off"
    if BROKEN.search(text):
        return "speaks for another"
    threes = [tuple(w.lower() for w in words[at : at + 3]) for at in range(len(words) - 2)]
    if len(set(threes)) < len(threes) or (len(words) > 5 and len({w.lower() for w in words}) < 0.6 * len(words)):
        return "says it twice"
    if _plain(text) == _plain(scene.message) or text in said:
        return "was said just now"
    if text.endswith("?") and not content(text) - content(scene.message):
        return "gives the question back"
    prompt = told(scene)
    known = set(WORD.findall(prompt.lower()))
    names = {n.lower() for n in NAMED.findall(text) if n not in COMMON}
    if names - known - {w + "s" for w in known} - {w[:-1] for w in known} or _numbers(text) - _numbers(prompt):
        return "names what nobody told"
    if scene.facing and re.search(rf"(?<![,!?.] )(?<!^)\b{re.escape(scene.facing)}\b(?! ?[,.!?])", text):
        return "speaks of the one faced as of somebody else"
    own = re.escape(scene.name)
    if re.search(rf"\b{own}\b", text) and not re.match(rf"(?:I am|I'm|My name is|The name is)?\s*{own}\b", text):
        return "speaks of oneself as of somebody else"
    return ""


FEELING = re.compile(
    r"\b(like|love|loves|trust|fond|dear|friend|hate|despise|dislike|wary|cannot stand|enemy|opposite|puts me off|keep away)\b", re.I
)
AGAINST = frozenset({"hate", "despise", "dislike", "wary", "cannot stand", "enemy", "opposite", "puts me off", "keep away"})
NOT = re.compile(r"\b(?:not|never|no|cannot|hardly|nor)\b|n['\u2019]t\b", re.I)
ASKS_FEELING = re.compile(r"\b(like|love|trust|hate|think of|feel about|friend|angry)\b", re.I)


def polarity(text: str) -> int:
    """For somebody or against: words of feeling counted, turned round by a 'not' in the same clause."""
    total = 0
    for match in FEELING.finditer(text):
        sign = -1 if match[1].lower() in AGAINST else 1
        clause = re.split(r"[.!?;,]", text[max(0, match.start() - 22) : match.start()])[-1]
        total += -sign if NOT.search(clause) else sign
    return total


def against_ties(message: str, text: str, ties: Sequence[str]) -> bool:
    """Does a reply about somebody say the opposite of what is felt for them?"""
    if not ASKS_FEELING.search(message):
        return False
    held = sum((polarity(t) > 0) - (polarity(t) < 0) for t in ties)
    said = polarity(text)
    if not said:
        asked = -1 if re.search(r"\bhate\b", message, re.I) else 1
        if re.match(r"Yes|Aye?\b|Of course|With my life|I do\b(?! not|n)", text):
            said = asked
        elif re.match(r"No\b|Never|Not\b|I don|I do not|I cannot", text):
            said = -asked
    return said * held < 0


def _numbers(text: str) -> set[str]:
    parts = {part for word in WORD.findall(text.lower()) for part in word.split("-")}
    return {part for part in parts if part in NUMBERS or part.isdigit()}


def _plain(text: str) -> str:
    return re.sub(r"\W+", " ", text.lower()).strip()


def _f1(one: set[str], other: set[str]) -> float:
    return 2 * len(one & other) / (len(one) + len(other)) if one or other else 0.0
