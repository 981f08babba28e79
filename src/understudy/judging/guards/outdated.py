"""The guard of outdated lines: stops an old line that a later tie, fact or death contradicts, or that was a lie.

ties      it speaks of somebody for whom the feeling has turned since, and the message asks for it or the line states it
facts     the message asks after something that a newer fact of the character's is about, and the line does not have it
lies      the same, where those who heard the line were not to know the fact, and those who hear it now know it
things    line and message are about something that the character no longer has or is
deaths    line and message are about somebody who has died since
"""

from __future__ import annotations

from collections.abc import Sequence

from understudy.agents.dialogue_context import KnownPeople, last_heard
from understudy.judging.guards.address import company_at, line_at, people_named
from understudy.judging.guards.contradiction import asks_feeling, polarity, tie_polarity
from understudy.judging.guards.phrases import roots
from understudy.judging.guards.secrets import WEAK
from understudy.judging.guards.story_view import DatedFact, StoryView, StoryViews
from understudy.judging.guards.verdict import Guard, Verdict
from understudy.story.dialogue import Draft, Situation, Turn
from understudy.story.persona import Other
from understudy.story.types import SECRET, Moment, holding_at

__all__ = ["outdated"]

NAME = "outdated"
TOPIC = 2  # content words of a fact that make a message one about it


def outdated(views: StoryViews) -> Guard:
    def guard(situation: Situation, history: Sequence[Turn], draft: Draft) -> Verdict:
        if draft.source not in ("exchange", "memory") or draft.moment is None:
            return Verdict.passing(NAME)
        message = last_heard(situation.persona, history)
        for view in views(situation):
            if reason := _overtaken(view, situation, message, draft.text, draft.moment):
                return Verdict.stopped(NAME, reason)
        return Verdict.passing(NAME)

    return guard


def _overtaken(view: StoryView, situation: Situation, message: str, text: str, said: Moment) -> str:
    people = KnownPeople.of(situation).people
    asked_about = _meant(view, situation, message, people)
    company = company_at(situation.persona.past, said)
    about = {view.true_name(name) for name in people_named(text, people)}
    if _addressed(text):
        about |= {view.true_name(name) for name in company} & asked_about
    if any(_turned(view, who, said) for who in about) and (polarity(text) or asks_feeling(message)):
        return "was felt once"
    if any(who in view.deaths and said < view.deaths[who] for who in asked_about) and (
        about & asked_about or _speaks_of_somebody(text)
    ):
        return "was so once"
    language = view.story.language
    whole = line_at(situation.persona.past, said) or text
    message_roots, line_roots = roots(message, language), roots(text, language) | roots(whole, language)
    if any(_ignores(view, fact, message_roots, line_roots, said, company) for fact in view.shared):
        return "is known better by now"
    for fact, newer in view.outdated_facts:
        gone = (
            _all_roots(fact.values, view) - view.name_roots - (_all_roots(newer.values, view) if newer else frozenset())
        )
        ended = newer.since if newer is not None else fact.until
        if (
            ended is not None
            and said < ended
            and gone & message_roots & line_roots
            and fact.attribute in ("belongings", "title")
        ):
            return "was so once"
    return ""


def _meant(view: StoryView, situation: Situation, message: str, people: Sequence[Other]) -> set[str]:
    """Whom a message is about: those it names, and its speaker where it says 'me' or 'we'."""
    meant = {view.true_name(name) for name in people_named(message, people)}
    if situation.faced is not None and {"me", "i", "we", "us", "myself"} & set(
        message.lower().replace("?", " ").split()
    ):
        meant.add(view.true_name(situation.faced.name))
    return meant - {""}


def _turned(view: StoryView, who: str, said: Moment) -> bool:
    """Has the feeling for somebody turned since a moment?"""
    ties = [tie for tie in view.ties if tie.to == who]
    then, now = (tie_polarity(holding_at(ties, at)) for at in (said, view.at))
    return then * now < 0


def _ignores(
    view: StoryView,
    fact: DatedFact,
    message_roots: frozenset[str],
    line_roots: frozenset[str],
    said: Moment,
    company: frozenset[str],
) -> bool:
    """Is a line about a fact that it does not know, or that it hid from those who heard it?"""
    if fact.attribute != SECRET:
        return False
    knew = view.knew(fact, said)
    hidden = knew is not None and not knew.issuperset(map(view.true_name, company - {view.who}))
    if not (hidden or said < fact.first):
        return False
    for value in fact.value_roots:
        topic = value & message_roots
        if (
            len(topic) >= min(TOPIC, len(value))
            and topic & line_roots
            and value - message_roots
            and not (value - message_roots - WEAK) & line_roots
        ):
            return True
    return False


def _all_roots(values: Sequence[str], view: StoryView) -> frozenset[str]:
    return frozenset[str]().union(*(roots(value, view.story.language) for value in values))


def _addressed(text: str) -> bool:
    return bool({"you", "your", "you're"} & set(text.lower().replace(",", " ").replace(".", " ").split()))


def _speaks_of_somebody(text: str) -> bool:
    return bool({"he", "him", "his", "she", "her", "he's", "she's"} & set(text.lower().replace(".", " ").split()))
