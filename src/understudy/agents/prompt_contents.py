"""Everything a prompt is made of, as plain values: training fills them from its corpora, running from a `Situation`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import zip_longest
from typing import NamedTuple

from understudy.agents.dialogue_context import introduced_name, introductions
from understudy.story.dialogue import USER_NAME, Situation, Turn
from understudy.story.persona import Other, Past, Persona, Told
from understudy.story.types import KIN, SECRET, Exchange, Fact, Line, Moment, Relation, Scene
from understudy.story.wording import fact_sentence, tie_sentence
from understudy.text import fold

ABOUT_FACED = 5  # sentences about the one faced, the own ties first
ABOUT_PRESENT = 2  # sentences about each of the others present
MAX_REMEMBERED = 8
MAX_TURNS = 200
ACTION = re.compile(r"(?<![*\w])\*[^*\n]+\*(?![*\w])|＊[^＊\n]+＊")


class PastExchange(NamedTuple):
    """Something the character once said, and what it answered; `speaker` and `heard` may be blank."""

    speaker: str
    heard: str
    said: str
    moment: Moment | None = None
    is_private: bool = False
    """The one faced was not there."""
    is_relevant: bool = True
    """Bears on the message, rather than merely being the nearest there is."""


class PastLine(NamedTuple):
    """Something somebody else said in the character's hearing."""

    speaker: str
    text: str
    moment: Moment | None = None
    is_private: bool = False
    is_relevant: bool = True


class ChatTurn(NamedTuple):
    """A turn of the conversation: is it the character's own, its text, and the name of whoever else spoke."""

    is_own: bool
    text: str
    speaker: str = ""


@dataclass(frozen=True, slots=True)
class Recalled:
    """What of a character's past and profile bears on a message, best first, and lines that show its voice."""

    facts: tuple[str, ...] = ()
    own: tuple[PastExchange, ...] = ()
    others: tuple[PastLine, ...] = ()
    voice: tuple[str, ...] = ()
    told: tuple[Told, ...] = ()
    """What the one faced told in earlier chats."""


@dataclass(frozen=True, slots=True)
class PromptContents:
    """The sections of a prompt. What is a tuple can be shortened item by item."""

    name: str
    profile: tuple[str, ...] = ()
    facing: str = ""
    theirs: tuple[str, ...] = ()
    """The own ties to the one faced, and what is known of them."""
    present: tuple[str, ...] = ()
    setting: tuple[str, ...] = ()
    """One sentence, or none."""
    note: tuple[str, ...] = ()
    """What was told of the setting in mid-talk, and bears on the message."""
    voice: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    directions: tuple[str, ...] = ()
    turns: tuple[ChatTurn, ...] = ()
    """The conversation before the message."""
    told: tuple[str, ...] = ()
    """What the one faced said of themselves in turns that are no longer shown."""
    remembered: tuple[Told, ...] = ()
    """What the one faced told in earlier chats, what bears on the message first."""
    lore: tuple[str, ...] = ()
    others: tuple[PastLine, ...] = ()
    own: tuple[PastExchange, ...] = ()
    facts: tuple[str, ...] = ()
    message: str = ""
    speaker: str = ""
    """Who says the message, where it is not the one faced."""
    goes_by: str = ""
    """The name others know the character by, where it is not its own."""
    when: str = ""
    """The moment of the story, with its title where that is wanted; blank for somebody who has none, and at the end."""
    language: str = "en"
    plain: Mapping[str, str] = field(default_factory=dict)
    """Sentences that say what was found without certainty -> how they would be said if it were certain."""
    dates: Mapping[str, str] = field(default_factory=dict)
    """Sentences about ties -> since when they hold, in words."""
    scene: tuple[str, ...] = ()
    """What was said and done last in the character's hearing, the newest last."""
    scene_heading: str = ""
    thoughts: tuple[str, ...] = ()
    """What the character has said to itself alone, the newest first."""
    impressions: tuple[str, ...] = ()
    """What the own lines tell of somebody whom no profile describes."""
    dealings: tuple[str, ...] = ()
    """Since when one has talked with the one faced, and what was said last."""


@dataclass(frozen=True, slots=True)
class PromptMessage:
    """A message of a rendered prompt; `parts` are (section, text), joined by `separator`."""

    role: str
    parts: list[tuple[str, str]]
    separator: str = "\n\n"

    @property
    def content(self) -> str:
        return self.separator.join(text for _, text in self.parts)


def contents_of(
    situation: Situation, history: Sequence[Turn], recalled: Recalled, lore: Sequence[str] = ()
) -> PromptContents:
    """The contents of a prompt before it is trimmed."""
    persona, faced = situation.persona, situation.faced
    own_name = fold(persona.name)
    spoken = [ChatTurn(fold(turn.speaker) == own_name, turn.text, turn.speaker) for turn in history]
    last = max((index for index, turn in enumerate(spoken) if not turn.is_own), default=-1)
    heard = [turn.text for turn in spoken if not turn.is_own]
    # Someone of the story has a name already; what they call themselves may be a lie or a joke.
    facing = faced.name if faced is not None else introduced_name(heard, persona.language)
    secrets = tuple(dict.fromkeys(situation.secrets))
    return PromptContents(
        name=persona.name,
        profile=tuple(text for text in persona.profile if text.strip() and text not in secrets),
        facing=facing,
        theirs=() if faced is None else _about(faced, situation)[:ABOUT_FACED],
        present=tuple(_present(situation)),
        setting=(situation.setting,) if situation.setting.strip() else (),
        note=(situation.note,) if situation.note.strip() else (),
        voice=recalled.voice,
        secrets=secrets,
        turns=tuple(_label(turn, facing) for turn in (spoken[:last] if last >= 0 else spoken)[-MAX_TURNS:]),
        told=introductions(heard[:-1], persona.language),
        remembered=() if faced is None else (recalled.told or faced.told[::-1])[:MAX_REMEMBERED],
        lore=tuple(text for text in lore if text.strip()),
        others=recalled.others,
        own=recalled.own,
        facts=tuple(text for text in recalled.facts if text not in secrets),
        message=spoken[last].text if last >= 0 else "",
        speaker=_label(spoken[last], facing).speaker if last >= 0 else "",
        goes_by=next(iter(persona.attributes.get("goes by", ())), ""),
        when=moment_in_words(persona.moment) if persona.story and not persona.moment.is_end else "",
        language=persona.language,
        plain=_plain_sentences(situation),
    )


def shows_actions(texts: Iterable[str]) -> bool:
    """Does one of the texts tell an action between asterisks? Where a card or a talk does, a reply may."""
    return any(ACTION.search(text) for text in texts)


def moment_in_words(moment: Moment) -> str:
    """'part 1, chapter 2, scene 3', without the line."""
    is_line = len(moment.numbers) > 1 and len(moment.numbers) == len(moment.levels)
    return str(Moment(moment.numbers[:-1], moment.levels) if is_line else moment)


def _plain_sentences(situation: Situation) -> dict[str, str]:
    persona = situation.persona
    others = situation.listeners
    found = (persona.found, *(other.found for other in others))
    plain = {text: sentence.plain for sentences in found for text, sentence in sentences.items()}
    for tie in _ties(situation):
        plain[tie_sentence(tie, persona.language)] = tie_sentence(tie, persona.language, hedged=False)
    return {hedged: sentence for hedged, sentence in plain.items() if hedged != sentence}


def _label(turn: ChatTurn, facing: str) -> ChatTurn:
    """A user without a name is the one faced; 'You' would be taken for the character."""
    return turn._replace(speaker=facing) if turn.speaker == USER_NAME else turn


def _about(other: Other, situation: Situation) -> tuple[str, ...]:
    ties = _ties_to(other, situation.persona)
    return (*(tie_sentence(tie, situation.persona.language) for tie in ties), *other.profile)


def _ties_to(other: Other, persona: Persona) -> Iterable[Relation]:
    return dict.fromkeys((*other.relations, *(tie for tie in persona.relations if tie.to == other.name)))


def _present(situation: Situation) -> list[str]:
    """Those who are there besides the one faced, with what is felt for them."""
    faced = "" if situation.faced is None else situation.faced.name
    return [
        " ".join((f"{other.name}.", *_about(other, situation)[:ABOUT_PRESENT]))
        for other in situation.present
        if other.name != faced
    ]


# Where a character stands at its moment, for a model that follows instructions.
#
# What has just happened, what it thinks, who it is where nobody has described it, and what is between it and whomever
# it talks with.
#
# Everything is taken from the situation and the persona's past view, so that it holds nothing later than the moment and
# nothing the character was not there for. Ties are dated, the newest first; what was found in a single place is said to
# have seemed so there, since a mood passes.


SHOWN_IN_SCENE, SHOWN_OF_LAST = 24, 6  # lines
LINE_WORDS, THOUGHT_WORDS = 45, 70
THOUGHTS, PARTNERS, COMPANY = 4, 4, 6
CIRCUMSTANCES_OF_FACED, CIRCUMSTANCES_OF_PRESENT = 8, 2  # sentences
DESCRIBED = 3  # sentences of a profile that say who somebody is
OFTEN = 10  # answers
PASTS = 32  # whose partners are remembered
BEGINNING = frozenset((0, 1))  # what is dated by these numbers alone has held since before the story


@dataclass(frozen=True, slots=True)
class Partner:
    """Somebody the character has answered: how often, since when, and what was said last."""

    name: str
    answers: int
    since: Moment
    last: Exchange


@lru_cache(PASTS)
def _partners_of(past: Past) -> tuple[Partner, ...]:
    """Those a character has answered, the most often first. A past never changes, so it is read once."""
    partners: dict[str, Partner] = {}
    for exchange in past.exchanges():
        if exchange.heard is not None and exchange.heard.speaker is not None and exchange.said.text.strip():
            name = exchange.heard.speaker
            known = partners.get(name) or Partner(name, 0, exchange.said.moment, exchange)
            partners[name] = Partner(name, known.answers + 1, known.since, exchange)
    return tuple(sorted(partners.values(), key=lambda partner: -partner.answers))


def with_circumstances(contents: PromptContents, situation: Situation, has_title: bool = False) -> PromptContents:
    """The contents with the situation's circumstances."""
    persona, faced = situation.persona, situation.faced
    shared = [] if faced is None else [text for text in contents.profile if text in _secrets(persona)]
    thoughts = {line.moment: line for line in persona.past.thoughts()}
    lines = _recent(situation)
    company = [other for other in situation.present if faced is None or other.name != faced.name]
    shown = {line.moment for line in lines}
    return replace(
        contents,
        goes_by="" if faced is not None and not situation.known_as else contents.goes_by,
        profile=tuple(text for text in contents.profile if text not in shared),
        when=f"{contents.when} of '{persona.story}'" if has_title and contents.when else contents.when,
        theirs=() if faced is None else tuple(_circumstances_of(faced, situation))[:CIRCUMSTANCES_OF_FACED],
        present=tuple(" ".join(_introduced(other, situation, contents)) for other in company),
        dates={tie_sentence(tie, persona.language): _since(tie) for tie in _ties(situation) if _since(tie)},
        scene=tuple(
            _told(line, situation, line.moment in thoughts)
            for line, following in zip_longest(lines, lines[1:])
            if line.speaker is not None or following is None or following.moment not in thoughts
        ),
        scene_heading=_heading(situation, contents, len(lines)),
        thoughts=tuple(
            shortened(line.text, THOUGHT_WORDS, persona.language)
            for line in reversed(thoughts.values())
            if line.moment not in shown
        )[:THOUGHTS],
        impressions=tuple(_impressions(persona)) if len(contents.profile) < DESCRIBED else (),
        dealings=(*_confided(situation, contents, shared), *_dealings(situation, shown)),
        facts=tuple(text for text in contents.facts if text not in shared),
        own=tuple(item for item in contents.own if item.is_relevant and item.moment not in shown),
        others=tuple(item for item in contents.others if item.is_relevant and item.moment not in shown),
    )


def shortened(text: str, most: int, language: str) -> str:
    """Beginning and end of a text that has more than so many words; two characters of a text without spaces are one."""
    separator, pieces = (" ", text.split()) if language == "en" else ("", list(text))
    length = most if language == "en" else 2 * most
    if len(pieces) <= length:
        return text
    ending = length // 3
    return separator.join((*pieces[: length - ending], "...", *pieces[-ending:]))


def _recent(situation: Situation) -> Sequence[Line]:
    if situation.scene is None:
        return ()
    return situation.scene.lines[-(SHOWN_IN_SCENE if situation.is_in_scene else SHOWN_OF_LAST) :]


def _told(line: Line, situation: Situation, is_thought: bool) -> str:
    text = shortened(line.text, LINE_WORDS, situation.persona.language)
    if line.speaker is None:
        return f"({text})"
    speaker = "You" if line.speaker == situation.persona.name else line.speaker
    return f"{speaker}, to yourself: {text}" if is_thought else f"{speaker}: {text}"


def _heading(situation: Situation, contents: PromptContents, shown: int) -> str:
    """What the lines of the scene are, and that nothing after them has happened."""
    scene = situation.scene
    now = f"It is {contents.when}. " if contents.when else ""
    if scene is None:
        return f"{now}Nothing that you were there for has happened yet." if now else ""
    if situation.is_in_scene:
        so_far = "What has been said and done here so far" if shown == len(scene.lines) else "The last of what was said"
        return f"{now}{so_far}, as far as you were there; what comes next has not happened yet:"
    begins = len(situation.persona.moment.numbers) < len(situation.persona.moment.levels)
    waiting = "It is only just beginning: nothing of it has happened yet. " if begins else ""
    return f"{now}{now and waiting}{_last_scene(scene, situation.persona.name)} It ended like this:"


def _last_scene(scene: Scene, own_name: str) -> str:
    others = [name for name in scene.present if name != own_name]
    company = f", with {_listed(others[:COMPANY])}" if 0 < len(others) <= COMPANY else ""
    setting = f" ({scene.setting.strip().rstrip('.')})" if scene.setting.strip() else ""
    return f"You were there last in {scene.moment}{setting}{company}."


def _ties(situation: Situation) -> Iterator[Relation]:
    yield from situation.persona.relations
    for other in situation.listeners:
        yield from other.relations


def _since(tie: Relation) -> str:
    """Since when a tie holds; blank where that is from before the story, or for good."""
    if tie.kind in KIN or BEGINNING.issuperset(tie.since.numbers) or tie.since.is_end:
        return ""
    when = moment_in_words(tie.since)
    if tie.found is None:
        return f"since {when}"
    return f"so it seemed in {when}" if len(tie.found.sources) == 1 else f"as of {when}"


def _circumstances_of(other: Other, situation: Situation) -> Iterator[str]:
    """Ties to somebody, the newest first, then what is known of them."""
    persona = situation.persona
    for tie in sorted(_ties_to(other, persona), key=lambda tie: tie.since.numbers, reverse=True):
        yield tie_sentence(tie, persona.language)
    yield from other.profile


def _introduced(other: Other, situation: Situation, contents: PromptContents) -> Iterator[str]:
    yield f"{other.name}."
    about = list(_circumstances_of(other, situation))[:CIRCUMSTANCES_OF_PRESENT]
    yield from (text for text in about if text not in contents.plain)
    if likely := [contents.plain[text] for text in about if text in contents.plain]:
        yield f"Likely: {' '.join(likely)}"


def _impressions(persona: Persona) -> Iterator[str]:
    """What the own lines tell of who one is."""
    if partners := _partners_of(persona.past):
        since = {who.name: f"since {_coarsely(who.since)}" for who in partners[:PARTNERS]}
        if len(set(since.values())) == 1:
            yield f"You have talked most with {_listed(list(since))}, {since.popitem()[1]}."
        else:
            yield f"You have talked most with {_listed([f'{name} ({when})' for name, when in since.items()])}."


def _coarsely(moment: Moment) -> str:
    """'season 1, episode 2', or 'act 1, scene 2' where a story has no finer parts."""
    return moment_in_words(Moment(moment.numbers[: max(len(moment.numbers) - 2, 2)], moment.levels))


def _secrets(persona: Persona) -> dict[str, str]:
    """Sentences of the profile that are not for everybody, and what each keeps from others."""
    values = persona.attributes.get(SECRET, ())
    facts = (Fact(persona.name, SECRET, (value,), persona.moment, known_to=()) for value in values)
    return {fact_sentence(fact, persona.language): fact.values[0] for fact in facts}


def _confided(situation: Situation, contents: PromptContents, shared: Sequence[str]) -> Iterator[str]:
    """What the one faced knows of the character that others do not."""
    if situation.faced is not None and contents.goes_by and not situation.known_as:
        yield f"{situation.faced.name} knows you by your real name."
    secrets = _secrets(situation.persona)
    for text in shared:
        yield f"{contents.facing} knows what you keep from others: {secrets[text]}."


def _dealings(situation: Situation, shown: set[Moment]) -> Iterator[str]:
    """Since when one has talked with the one faced, and the last that was said, where it is not shown already."""
    faced, persona = situation.faced, situation.persona
    if faced is None or not persona.story:
        return
    partner = next((partner for partner in _partners_of(persona.past) if partner.name == faced.name), None)
    if partner is not None:
        yield _how_often(partner)
        heard, said = partner.last.heard, partner.last.said
        if heard is not None and said.moment not in shown:
            yield (
                f'The last of it ({moment_in_words(said.moment)}): {faced.name}: "'
                f'{shortened(heard.text, LINE_WORDS, persona.language)}" You: "'
                f'{shortened(said.text, LINE_WORDS, persona.language)}"'
            )
    elif not (faced.profile or faced.relations or faced.told):
        if any(other.name == faced.name for other in situation.acquaintances):
            yield f"You have met {faced.name}, or heard of them; the two of you have hardly talked."
        else:
            yield f"You have not talked with {faced.name} so far."


def _how_often(partner: Partner) -> str:
    first, last = moment_in_words(partner.since), moment_in_words(partner.last.said.moment)
    if first == last:
        return f"You have talked with {partner.name} only in {last}."
    often = "often" if partner.answers >= OFTEN else "a few times"
    return f"You have talked with {partner.name} {often}, first in {first}, last in {last}."


def _listed(names: Sequence[str]) -> str:
    """'Ann, Bob and Cid'."""
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)
