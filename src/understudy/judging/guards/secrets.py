"""The guard of secrets: stops a draft that reveals what is kept from somebody who hears it.

    told(d, s)   d has half of the words of meaning of secret s, at least two; or the message asks after s and d affirms
                 it, or adds one more word of it
    confided     lines said where the one faced was not, close to words that ask for silence; or about the one faced

Secrets are the facts that an author has given with `known_to`, of the character and of others who confided in it, and
the true names of those who go by another. Where nobody has marked anything, presence alone decides.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from understudy.agents.dialogue_context import last_heard
from understudy.agents.pools import KeyedCache
from understudy.dialogue import Draft, Situation, Turn
from understudy.judging.guards.company import company_at, people_named
from understudy.judging.guards.phrases import affirms, called, denies, roots, sentences
from understudy.judging.guards.story_view import DatedFact, StoryView, StoryViews
from understudy.judging.guards.verdict import Guard, Verdict
from understudy.persona import Past
from understudy.story import Line

__all__ = ["behind_their_back", "by_presence", "confided", "kept_secret", "tells"]

NAME = "secrets"
SHARE, LEAST = 0.5, 2
WEAK = frozenset(
    "see know have be do say tell go come get make take give think want let put keep hold off both "
    "good old late well".split()
)
NEAR = 6  # lines from the words that ask for silence
SMALL_COMPANY = 4  # people; what is said before more of them is no secret
SILENCE = re.compile(
    r"\b(?:secret|tell (?:nobody|no one|noone|no-one|a soul)|(?:don't|do not|never|not to|won't|"
    r"wouldn't|mustn't|must not|nor) (?:\w+ ){0,2}tell|not a word|"
    r"between (?:us|ourselves|you and me|the two of us)|(?:made me|you) promise|never told|"
    r"nobody (?:else )?knows|no one knows|hold (?:your|our|my) tongue|"
    r"keep (?:it|this|them|that) (?:quiet|to yourself|close|in)|say (?:nothing|nowt)|gave my word|"
    r"give me your word|stays? (?:in|between)|keep quiet|our little|confess)\b",
    re.IGNORECASE,
)


LEADING_NO = re.compile(r"\s*(?:no|nay|never)\b[\s,;:—–-]*", re.IGNORECASE)
NEGATION = re.compile(r"\b(?:not|never|no|nobody|nothing|none|nor|neither|cannot)\b|n['’]t\b", re.IGNORECASE)


def kept_secret(views: StoryViews) -> Guard:
    """The guard of facts that the author marked with `known_to`."""

    def guard(situation: Situation, history: Sequence[Turn], draft: Draft) -> Verdict:
        message = last_heard(situation.persona, history)
        for view in views(situation):
            if called(draft.text, view.true_names) and not called(message, view.true_names):
                return Verdict.spoiler(NAME)
            if any(tells(view, fact, message, draft.text) for fact in view.withheld):
                return Verdict.spoiler(NAME)
            said = draft.moment if draft.source in ("exchange", "memory") else None
            if said is not None and said.numbers in view.telling_moments:
                return Verdict.spoiler(NAME)
        return Verdict.passing(NAME)

    return guard


def tells(view: StoryView, fact: DatedFact, message: str, text: str) -> bool:
    """Does a reply reveal a fact?"""
    language = view.story.language
    names = roots(" ".join((view.who, fact.who, *view.audience, *view.known_names)), language)
    message_roots = roots(message, language)
    parts = (text, *sentences(text))
    stated = [part for part in map(_after_no, sentences(text)) if not denies(part) and not _asks(part)]
    for value in fact.value_roots:
        telling = value - names
        strong = telling - WEAK
        needed = max(min(LEAST, len(strong)), SHARE * len(strong))
        # What the message says already is not revealed: the reply must add something to it.
        if any(
            len(shared) >= needed and shared - message_roots
            for part in parts
            if (shared := strong & roots(part, language))
        ):
            return True
        is_asked = bool(telling) and len(telling & message_roots) >= min(LEAST, len(telling))
        adds = any((telling - message_roots or telling) & roots(part, language) for part in stated)
        if is_asked and (adds or any(map(affirms, parts))):
            return True
    return False


def _after_no(sentence: str) -> str:
    """'No, I wrote it in one night' states what follows; 'No, I never did' denies still."""
    rest = LEADING_NO.sub("", sentence, count=1)
    return sentence if NEGATION.search(rest) or not rest else rest


def confided(views: StoryViews) -> Guard:
    """The guard of what was said in confidence, for stories whose author has marked no secrets."""

    def guard(situation: Situation, history: Sequence[Turn], draft: Draft) -> Verdict:
        if any(view.has_marked_secrets for view in views(situation)):
            return Verdict.passing(NAME)
        return by_presence(situation, history, draft)

    return guard


def by_presence(situation: Situation, history: Sequence[Turn], draft: Draft) -> Verdict:
    """Was it said in confidence, where the one faced was not?"""
    language, faced = situation.persona.language, situation.faced
    past = situation.persona.past
    listener = faced.name if faced else ""
    if draft.source in ("exchange", "memory") and draft.moment is not None:
        company = company_at(past, draft.moment)
        if listener in company:
            return Verdict.passing(NAME)
        if len(company) <= SMALL_COMPANY and draft.moment.numbers in _secrets_of(past).moments:
            return Verdict.spoiler(NAME)
        return Verdict.passing(NAME)
    stated = " ".join(part for part in sentences(draft.text) if not denies(part) and not _asks(part))
    if draft.source != "writer" or not stated:
        return Verdict.passing(NAME)
    message = last_heard(situation.persona, history)
    said, message_roots = roots(stated, language), roots(message, language)
    for line, company, around in _secrets_of(past).lines:
        if listener in company or line.speaker != situation.persona.name:
            continue
        line_roots = roots(line.text, language)
        own = line_roots & said
        if own and len(own) >= SHARE * len(said) and len((line_roots | around) & (said | message_roots)) >= LEAST + 1:
            return Verdict.spoiler(NAME)
    return Verdict.passing(NAME)


def _asks(text: str) -> bool:
    return text.rstrip().endswith(("?", "？"))


@dataclass(frozen=True, slots=True)
class Confidences:
    """Lines said in confidence: when, before whom, and the words of meaning of what was said around them."""

    moments: frozenset[tuple[int, ...]]
    lines: tuple[tuple[Line, frozenset[str], frozenset[str]], ...]


_CACHE = KeyedCache[Confidences](64)


def _secrets_of(past: Past) -> Confidences:
    return _CACHE.get_or_create(id(past), past, lambda: _read(past))


def _read(past: Past) -> Confidences:
    lines = list[tuple[Line, frozenset[str], frozenset[str]]]()
    for scene in past.scenes():
        if len(scene.present) > SMALL_COMPANY:
            continue
        spoken = [line for line in scene.lines if line.speaker is not None]
        near = {
            index + step
            for index, line in enumerate(spoken)
            if SILENCE.search(line.text)
            for step in range(-NEAR, NEAR + 1)
        }
        company = frozenset(scene.present)
        for index in sorted(near & set(range(len(spoken)))):
            around = roots(" ".join(line.text for line in spoken[max(0, index - 1) : index + 1]))
            lines.append((spoken[index], company, around))
    return Confidences(frozenset(line.moment.numbers for line, _, _ in lines), tuple(lines))


def behind_their_back(situation: Situation, history: Sequence[Turn], draft: Draft) -> Verdict:  # noqa: ARG001
    """An old line about the one faced, said where they were not."""
    faced = situation.faced
    if draft.source not in ("exchange", "memory") or draft.moment is None or faced is None:
        return Verdict.passing(NAME)
    if faced.name in company_at(situation.persona.past, draft.moment):
        return Verdict.passing(NAME)
    people = [other for other in situation.acquaintances if other.name == faced.name] or [faced]
    about = people_named(draft.text, people)
    return Verdict.spoiler(NAME) if about else Verdict.passing(NAME)
