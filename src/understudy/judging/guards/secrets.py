"""The guard of secrets: stops a draft that reveals what is kept from somebody who hears it.

    told(d, s)   d has half of the words of meaning of secret s, at least two; or the message asks after s and d affirms
                 it, or adds one more word of it; of a secret of others that the character does not know, six in ten,
                 at least three
    confided     lines said where the one faced was not, close to words that ask for silence; or about the one faced.
                 That a writer's words are like such a line is only a doubt, as many are that tell nothing of it

Secrets are the facts that an author has given with `known_to`, of the character and of others who confided in it, and
the true names of those who go by another. Where nobody has marked anything, presence alone decides.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from understudy.agents.dialogue_context import KnownPeople, last_heard
from understudy.agents.pools import KeyedCache
from understudy.agents.word_tokens import roots
from understudy.judging.guards.address import people_named
from understudy.judging.guards.phrases import affirms, asks, called, denies, has_negation
from understudy.judging.guards.story_view import DatedFact, Guard, StoryView, StoryViews, Verdict
from understudy.story.dialogue import Draft, Situation, Turn
from understudy.story.persona import Past
from understudy.story.types import Line
from understudy.text import sentences

NAME = "secrets"
SHARE, LEAST = 0.5, 2
SHARE_OF_OTHERS, LEAST_OF_OTHERS = 0.6, 3  # who does not know a secret can hit upon two words of it
WEAK = frozenset(
    "see know have be do say tell go come get make take give think want let put keep hold off both "
    "good old late well".split()
) | roots("must tell never nothing little great much many more ourselves")
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


def kept_secret(views: StoryViews) -> Guard:
    """The guard of facts that the author marked with `known_to`."""

    def guard(situation: Situation, history: Sequence[Turn], draft: Draft) -> Verdict:
        message = last_heard(situation.persona, history)
        for view in views(situation):
            if called(draft.text, view.true_names) and not called(message, view.true_names):
                return Verdict.spoiler(NAME)
            stated, asked = Statement.of(draft.text, view.story.language), roots(message, view.story.language)
            if any(tells(view, fact, asked, stated) for fact in view.withheld):
                return Verdict.spoiler(NAME)
            if draft.source == "writer" and any(retells(view, fact, asked, stated) for fact in view.unknown_secrets):
                return Verdict.spoiler(NAME)
            said = draft.moment if draft.source in ("exchange", "memory") else None
            if said is not None and said.numbers in view.telling_moments:
                return Verdict.spoiler(NAME)
        return Verdict.passing(NAME)

    return guard


@dataclass(frozen=True, slots=True)
class Statement:
    """The words of meaning of a text and its sentences, of those that state something, and whether one affirms."""

    parts: tuple[frozenset[str], ...]
    stated: tuple[frozenset[str], ...]
    affirms: bool

    @classmethod
    def of(cls, text: str, language: str) -> Statement:
        return _statement(text, language)


@lru_cache(2048)
def _statement(text: str, language: str) -> Statement:
    split = sentences(text)
    stating = [part for part in map(_after_no, split) if not denies(part) and not asks(part)]
    return Statement(
        tuple(roots(part, language) for part in dict.fromkeys((text, *split))),
        tuple(roots(part, language) for part in stating),
        any(map(affirms, (text, *split))),
    )


def tells(view: StoryView, fact: DatedFact, asked: frozenset[str], said: Statement) -> bool:
    """Does a reply reveal a fact, where a message has asked with these words?"""
    if retells(view, fact, asked, said, SHARE, LEAST):
        return True
    for value in fact.value_roots:
        telling = value - view.name_roots
        is_asked = bool(telling) and len(telling & asked) >= min(LEAST, len(telling))
        adds = any((telling - asked or telling) & part for part in said.stated)
        if is_asked and (adds or said.affirms):
            return True
    return False


def retells(
    view: StoryView,
    fact: DatedFact,
    asked: frozenset[str],
    said: Statement,
    share: float = SHARE_OF_OTHERS,
    least: int = LEAST_OF_OTHERS,
) -> bool:
    """Has a reply a share of a fact's words? What the message says already is not revealed: it must add one."""
    for value in fact.value_roots:
        strong = value - view.name_roots - WEAK
        needed = max(min(least, len(strong)), share * len(strong))
        if any(len(shared) >= needed and shared - asked for part in said.parts if (shared := strong & part)):
            return True
    return False


def _after_no(sentence: str) -> str:
    """'No, I wrote it in one night' states what follows; 'No, I never did' denies still."""
    rest = LEADING_NO.sub("", sentence, count=1)
    return sentence if has_negation(rest) or not rest else rest


def confided(views: StoryViews) -> Guard:
    """The guard of lines said in confidence, for stories whose author has marked no secrets."""
    return _where_none_is_marked(views, by_presence)


def retold_confidence(views: StoryViews) -> Guard:
    """The guard of a writer's words that are like a line said in confidence; many are that tell nothing of it."""
    return _where_none_is_marked(views, retold)


def _where_none_is_marked(views: StoryViews, unmarked: Guard) -> Guard:
    def guard(situation: Situation, history: Sequence[Turn], draft: Draft) -> Verdict:
        if any(view.has_marked_secrets for view in views(situation)):
            return Verdict.passing(NAME)
        return unmarked(situation, history, draft)

    return guard


def by_presence(situation: Situation, history: Sequence[Turn], draft: Draft) -> Verdict:  # noqa: ARG001
    """Is it an old line that was said in confidence, where the one faced was not?"""
    faced, past = situation.faced, situation.persona.past
    if draft.source not in ("exchange", "memory") or draft.moment is None:
        return Verdict.passing(NAME)
    company = past.company(draft.moment)
    is_kept = len(company) <= SMALL_COMPANY and draft.moment.numbers in _secrets_of(past).moments
    if is_kept and (faced.name if faced else "") not in company:
        return Verdict.spoiler(NAME)
    return Verdict.passing(NAME)


def retold(situation: Situation, history: Sequence[Turn], draft: Draft) -> Verdict:
    """Has a writer used the words of an own line that was said in confidence, where the one faced was not?"""
    language, past = situation.persona.language, situation.persona.past
    listener = situation.faced.name if situation.faced else ""
    stated = " ".join(part for part in sentences(draft.text) if not denies(part) and not asks(part))
    if draft.source != "writer" or not stated:
        return Verdict.passing(NAME)
    message = last_heard(situation.persona, history)
    said, message_roots = roots(stated, language), roots(message, language)
    for line, company, around in _secrets_of(past).lines:
        if listener in company or line.speaker != situation.persona.name:
            continue
        line_roots = roots(line.text, language)
        own = line_roots & said
        if (
            len(own - WEAK) >= LEAST
            and len(own) >= SHARE * len(said)
            and len((line_roots | around) & (said | message_roots)) >= LEAST + 1
        ):
            return Verdict.spoiler(NAME)
    return Verdict.passing(NAME)


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
    known = KnownPeople.of(situation)
    if any(known.is_same(faced.name, name) for name in situation.persona.past.company(draft.moment)):
        return Verdict.passing(NAME)
    people = [other for other in known.people if known.is_same(other.name, faced.name)]
    about = people_named(draft.text, people)
    return Verdict.spoiler(NAME) if about else Verdict.passing(NAME)
