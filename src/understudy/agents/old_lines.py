"""Drafts from what is there already: own lines and their sentences, what was heard, profile and ties.

    bearing(e) = 0.5 likeness(m, heard(e)) + 0.5 words(m, e) + 0.1 age(e)           of an exchange e
    bearing(s) = 0.5 words(m, s) + 0.35 [s is a tie to somebody the message is about]      of a profile sentence or a tie
    bearing(l) = 0.5 likeness(m, l) + 0.5 words(m, l)                                of a line that somebody else said

Each is worth 0.15 more where it names somebody that the message names, by whatever name. What somebody else said is
told as such, and only where it bears strongly on the message. Nothing here is judged: see `judging.guarded`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from understudy.agents.dialogue_context import content, heard_words, last_heard
from understudy.agents.encoded_memory import EncodedMemory
from understudy.agents.encoder import READ, EncoderAgent
from understudy.agents.fit import CachedEncoder
from understudy.agents.pools import said_at, taken_from
from understudy.agents.profile_replies import ties_to_faced
from understudy.agents.tfidf import TfIdfAgent
from understudy.cancellation import Cancellation
from understudy.dialogue import DEFAULT_SAMPLING, Draft, Evidence, Sampling, Situation, Turn, Usage
from understudy.lexical import TfIdf
from understudy.persona import Other
from understudy.story import Line
from understudy.text import words
from understudy.wording import reported, speaker_words, tie_sentence, tie_to_faced

__all__ = ["OldLines", "RecalledDraft"]

MOST_LINES, MOST_HEARD = 40, 3
HEARD, WORDS, RECENT, LONG_PAST = 0.5, 0.5, 0.1, 20
NAMED, TIE = 0.15, 0.35
TELLING = 0.45  # of what somebody else said
DIRECTION = re.compile(r"[\[(][^\])]*[\])]\s*")
SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"'“‘])|(?<=[。！？])(?=[^」』”\s])")
LONG_LINE = 2  # sentences
IN_FIRST_PERSON = frozenset({"i", "i'm", "i've", "my", "me", "we", "our"})


@dataclass(frozen=True, slots=True)
class RecalledDraft(Draft):
    """A draft with how much it bears on the message, beyond how well it would fit."""

    bearing: float = 0.0


class OldLines:
    """Offers what the character has said, heard, and is."""

    def __init__(self, agent: EncoderAgent) -> None:
        self.agent = agent
        self._by_words = TfIdfAgent()

    def drafts(
        self,
        situation: Situation,
        history: Sequence[Turn],
        sampling: Sampling = DEFAULT_SAMPLING,  # noqa: ARG002
        cancellation: Cancellation | None = None,  # noqa: ARG002
    ) -> tuple[list[Draft], Usage]:
        persona = situation.persona
        message = last_heard(persona, history)
        cached = self.agent.encoder(persona.language)
        people = _mentioned(situation, message)
        drafts: list[Draft] = [*_facts(situation, message, people)]
        if cached is None:
            drafts += _from_words(self._by_words, situation, history)
        else:
            memory = self.agent.memory(situation, cached)
            drafts += _own_lines(situation, message, memory, cached, people)
            drafts += _heard(situation, message, memory, cached, people)
        return drafts, Usage()


def _own_lines(
    situation: Situation, message: str, memory: EncodedMemory, cached: CachedEncoder, people: Sequence[Other]
) -> Iterator[Draft]:
    if not memory.exchanges:
        return
    vector = cached.encode([message])[0]
    query = content(heard_words(situation.persona, message), situation.persona.language)
    bearing = HEARD * memory.heard_likeness(vector) + WORDS * memory.shared_words(query)
    bearing += RECENT * np.arange(len(bearing), dtype=np.float32) / max(len(bearing), LONG_PAST)
    order = np.argsort(-(bearing + memory.said @ vector), kind="stable")[:MOST_LINES].tolist()
    named = _pattern(people)
    for index in order:
        exchange = memory.exchanges[index]
        text = exchange.said.text.strip()
        about = NAMED if named is not None and named.search(text) else 0.0
        source = "exchange" if exchange.approved is None else "approved"
        evidence = (taken_from(exchange, _shared(message, text, situation.persona.language)),)
        moment = said_at(exchange)
        yield RecalledDraft(text, source, moment, evidence, None, float(bearing[index]) + about)
        parts = [part.strip() for part in SENTENCE_END.split(text) if part.strip()]
        if len(parts) >= LONG_LINE:
            for part in _runs(parts):
                about = NAMED if named is not None and named.search(part) else 0.0
                yield RecalledDraft(part, source, moment, evidence, None, float(bearing[index]) + about)


def _runs(parts: Sequence[str]) -> Iterator[str]:
    """One and two sentences of a longer line, side by side."""
    for first in range(len(parts)):
        for size in (1, 2, 3):
            if first + size <= len(parts) and size < len(parts):
                yield " ".join(parts[first : first + size])


def _heard(
    situation: Situation, message: str, memory: EncodedMemory, cached: CachedEncoder, people: Sequence[Other]
) -> Iterator[Draft]:
    """The sentence of somebody else's that bears most on the message, told as theirs."""
    persona = situation.persona
    lines = [line for line in memory.lines if line.speaker not in (None, persona.name)]
    query = content(heard_words(persona, message), persona.language)
    if not lines or not query:
        return
    index = TfIdf((line.text for line in lines), persona.language)
    scores = index.scores(query)
    best = np.argsort(-scores, kind="stable")[: 8 * MOST_HEARD].tolist()
    vector = cached.encode([message])[0]
    named = _pattern(people)
    found = list[RecalledDraft]()
    for place in best:
        line = lines[place]
        parts = [part.strip() for part in SENTENCE_END.split(DIRECTION.sub("", line.text)) if part.strip()]
        parts = [part for part in parts if not part.endswith("?") and len(part) > 12]
        if not parts:
            continue
        likeness = cached.encode(parts) @ vector
        which = int(np.argmax(likeness))
        bearing = HEARD * float(likeness[which]) + WORDS * float(scores[place])
        bearing += RECENT * place / max(len(lines), LONG_PAST)
        bearing += NAMED if named is not None and named.search(parts[which]) else 0.0
        if bearing >= TELLING and line.speaker is not None:
            found.append(_quoted(line, parts[which], persona.language, bearing))
    yield from sorted(found, key=lambda draft: -draft.bearing)[:MOST_HEARD]


def _quoted(line: Line, text: str, language: str, bearing: float) -> RecalledDraft:
    evidence = Evidence("memory", f"{line.speaker}: {line.text}", line.moment)
    return RecalledDraft(
        reported(line.speaker or "", text, language), "memory", line.moment, (evidence,), None, bearing
    )


def _facts(situation: Situation, message: str, people: Sequence[Other]) -> Iterator[Draft]:
    """Profile sentences that are no secret from the one faced, ties to them, and to whom the message is about."""
    persona, language = situation.persona, situation.persona.language
    kept = set(situation.secrets)
    sentences = [
        text.strip()
        for text in persona.profile
        if text.strip() and text not in kept and (language != READ or IN_FIRST_PERSON & set(words(text, READ)))
    ]
    query = content(heard_words(persona, message), language)
    shared = TfIdf(sentences, language).scores(query).tolist() if sentences else []
    named = _pattern(people)
    for text, score in zip(sentences, shared):
        about = NAMED if named is not None and named.search(text) else 0.0
        yield RecalledDraft(text, "profile", None, (Evidence("profile", text),), None, WORDS * score + about)
    of_speaker = not speaker_words(language).isdisjoint(words(message, language))
    for tie in ties_to_faced(situation):
        text = tie_to_faced(tie, language)
        bearing = (TIE if of_speaker else 0.0) - (0.1 if tie.kind == "familiarity" else 0.0)
        yield RecalledDraft(text, "relation", None, (Evidence("relation", text),), None, bearing)
    meant = {other.name for other in people}
    for tie in persona.relations:
        if tie.to in meant and (situation.faced is None or tie.to != situation.faced.name):
            text = tie_sentence(tie, language)
            bearing = TIE - (0.1 if tie.kind == "familiarity" else 0.0)
            yield RecalledDraft(text, "relation", None, (Evidence("relation", text),), None, bearing)


def _from_words(agent: TfIdfAgent, situation: Situation, history: Sequence[Turn]) -> Iterator[Draft]:
    reply = agent.reply(situation, history)
    for candidate in reply.candidates:
        source = "exchange" if candidate.moment is not None else "profile"
        yield RecalledDraft(candidate.text, source, candidate.moment, reply.evidence, None, candidate.score)


def _mentioned(situation: Situation, message: str) -> list[Other]:
    """Those whom a message names, by whatever name."""
    return [other for other in situation.acquaintances if (p := _pattern([other])) is not None and p.search(message)]


def _pattern(people: Iterable[Other]) -> re.Pattern[str] | None:
    names = {name for other in people for name in (other.name, *other.aliases)}
    if not names:
        return None
    ordered = sorted(names, key=len, reverse=True)
    return re.compile("|".join(rf"(?<!\w){re.escape(n)}(?!\w)" if n.isascii() else re.escape(n) for n in ordered))


def _shared(message: str, text: str, language: str) -> tuple[str, ...]:
    known = content(words(text, language), language)
    return tuple(word for word in content(words(message, language), language) if word in known)
