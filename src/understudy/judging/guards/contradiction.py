"""The guards of contradictions: they stop a draft against what the character is and feels, and old lines that no longer
hold.

ties      asked what it feels about somebody, it says the opposite of the tie that holds
age       'I am forty' where the profile says otherwise
gender    'he' of a woman that the message asks after
profile   the metric `contradiction`, where there is one: a classifier of profile sentences against replies
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from understudy.agents.dialogue_context import KnownPeople, last_heard, tie_sign, uncontradicted
from understudy.agents.word_tokens import roots
from understudy.judging.guards.address import line_at, people_named
from understudy.judging.guards.phrases import affirms, denies, numbers_in
from understudy.judging.guards.secrets import WEAK
from understudy.judging.guards.story_view import DatedFact, Guard, StoryView, StoryViews, Verdict
from understudy.story.dialogue import Draft, Situation, Turn
from understudy.story.persona import Other
from understudy.story.types import SECRET, Moment, Relation, holding_at

NAME = "contradiction"
METRIC = "contradiction"
SURE = 0.9
HATES = re.compile(r"\b(?:hate|despise|dislike|enemy|angry)\b", re.IGNORECASE)
OWN_AGE = re.compile(
    r"\bI(?: am|'m|’m) (?:only |just |already |nearly )?([a-z-]+|\d+)(?: years old)?\b(?! (?:years|"
    r"days|miles|feet)(?! old))"
)
YES_OR_NO = re.compile(
    r"\W*(?:(?:and|so|but|tell me|well)\W+)?(?:do|does|did|are|is|was|were|would|will|can|could|have|has)\b",
    re.IGNORECASE,
)
SHORT = 15  # words; in a longer reply 'he' may be somebody else
HE, SHE = re.compile(r"\b(?:he|him|his|himself)\b", re.I), re.compile(r"\b(?:she|her|hers|herself)\b", re.I)


def against_ties(situation: Situation, history: Sequence[Turn], draft: Draft) -> Verdict:
    """Does it say the opposite of what is felt for those the message asks about?"""
    message = last_heard(situation.persona, history)
    if draft.source == "relation" or not asks_feeling(message):
        return Verdict.passing(NAME)
    felt = _felt(situation, message)
    said = polarity(draft.text, of_deeds=False)
    if not said and YES_OR_NO.match(message):
        asked_sign = -1 if HATES.search(message) else 1
        said = asked_sign if affirms(draft.text) else -asked_sign if denies(draft.text) else 0
    return Verdict.stopped(NAME, "goes against a tie") if said * felt < 0 else Verdict.passing(NAME)


def _felt(situation: Situation, message: str) -> int:
    """What is felt for those a message names, and for its speaker where it speaks of them; 0 where it is not one."""
    known, faced = KnownPeople.of(situation), situation.faced
    names = people_named(message, known.people)
    if faced is not None and re.search(r"\b(?:me|we|us|I)\b", message):
        names = names | {known.name_of(faced.name)}
    signs = {tie_polarity(known.ties(situation, name)) for name in names} - {0}
    return signs.pop() if len(signs) == 1 else 0


def against_age(situation: Situation, history: Sequence[Turn], draft: Draft) -> Verdict:  # noqa: ARG001
    """Does it give itself another age?"""
    ages = situation.persona.attributes.get("age", ())
    if not ages or draft.source != "writer":
        return Verdict.passing(NAME)
    own = numbers_in(" ".join(ages))
    for match in OWN_AGE.finditer(draft.text):
        said = numbers_in(match[1])
        if said and said != own:
            return Verdict.stopped(NAME, "gives another age")
    return Verdict.passing(NAME)


def wrong_gender(views: StoryViews) -> Guard:
    """'He' of a woman, 'she' of a man, where the message asks after one person and the draft names nobody."""

    def guard(situation: Situation, history: Sequence[Turn], draft: Draft) -> Verdict:
        message = last_heard(situation.persona, history)
        known = KnownPeople.of(situation)
        named = people_named(message, known.people)
        named -= {known.name_of(situation.faced.name) if situation.faced else ""}
        if not message.rstrip().endswith("?") or len(draft.text.split()) > SHORT:
            return Verdict.passing(NAME)
        if len(named) != 1 or draft.source != "writer" or people_named(draft.text, known.people) - named:
            return Verdict.passing(NAME)
        he, she = HE.search(draft.text), SHE.search(draft.text)
        for view in views(situation):
            gender = view.genders.get(view.true_name(next(iter(named))), "")
            is_woman = re.search(r"\b(?:woman|girl|female)\b", gender) is not None
            is_man = re.search(r"\b(?:man|boy|male)\b", gender) is not None
            if (is_woman and he and not she) or (is_man and she and not he):
                return Verdict.stopped(NAME, "takes a man for a woman, or a woman for a man")
        return Verdict.passing(NAME)

    return guard


def against_profile(views: StoryViews) -> Guard:
    """The classifier, for personas without a past only: on characters of stories it is not accurate enough."""

    def guard(situation: Situation, history: Sequence[Turn], draft: Draft) -> Verdict:  # noqa: ARG001
        if draft.source != "writer" or len(situation.persona.past):
            return Verdict.passing(NAME)
        for view in views(situation):
            if any(score.value is not None and score.value >= SURE for score in view.scores(METRIC, [draft.text])):
                return Verdict.stopped(NAME, "contradicts the profile")
        return Verdict.passing(NAME)

    return guard


# Polarity towards somebody, for or against: of a text, and of ties.


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


# The guard of outdated lines: stops an old line that a later tie, fact or death contradicts, or that was a lie.
#
# ties      it speaks of somebody for whom the feeling has turned since, and the message asks for it or the line states
#           it
# facts     the message asks after something that a newer fact of the character's is about, and the line does not have
#           it
# lies      the same, where those who heard the line were not to know the fact, and those who hear it now know it
# things    line and message are about something that the character no longer has or is
# deaths    line and message are about somebody who has died since


OUTDATED = "outdated"
TOPIC = 2  # content words of a fact that make a message one about it


def outdated(views: StoryViews) -> Guard:
    def guard(situation: Situation, history: Sequence[Turn], draft: Draft) -> Verdict:
        if draft.source not in ("exchange", "memory") or draft.moment is None:
            return Verdict.passing(OUTDATED)
        message = last_heard(situation.persona, history)
        for view in views(situation):
            if reason := _overtaken(view, situation, message, draft.text, draft.moment):
                return Verdict.stopped(OUTDATED, reason)
        return Verdict.passing(OUTDATED)

    return guard


def _overtaken(view: StoryView, situation: Situation, message: str, text: str, said: Moment) -> str:
    people = KnownPeople.of(situation).people
    asked_about = _meant(view, situation, message, people)
    company = situation.persona.past.company(said)
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
