"""What an agent is given, what it gives back, and the protocols it may speak.

An agent never sees a `Story`. It gets a `Situation`, whose persona is one character at one moment; history is an
argument, so agents hold no conversation and one instance serves every chat at once.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from operator import add
from typing import Generic, Protocol, TypeVar, runtime_checkable

from understudy.errors import StoryError, UnknownCharacter
from understudy.progress import Cancellation
from understudy.story.names import character_at
from understudy.story.persona import (
    Other,
    Persona,
    acquaintances_of,
    false_names,
    must_be_alive,
    names_known_to,
    other_at,
    persona_at,
    secrets_at,
)
from understudy.story.storyfile import Story
from understudy.story.storyfile.past import StoryPast
from understudy.story.types import Finding, Moment, Scene
from understudy.story.wording import fill_macros, tie_sentence
from understudy.text import fold

__all__ = [
    "DEFAULT_SAMPLING",
    "MAX_DESCRIPTION",
    "MAX_NAME",
    "NOT_KNOWN_YET",
    "USER_NAME",
    "Agent",
    "BatchAgent",
    "BatchLanguageModel",
    "Candidate",
    "ChatMessage",
    "Draft",
    "Drafter",
    "Evidence",
    "Example",
    "Guesser",
    "LanguageModel",
    "Question",
    "Ranker",
    "Reply",
    "Sampling",
    "Score",
    "Situation",
    "Streamed",
    "StreamingAgent",
    "Turn",
    "Usage",
    "mark_found",
    "outsider",
    "situation_at",
]

NOT_KNOWN_YET = "not known yet"
"""All that a reader of a chat is told of a candidate that must not be known: its text is left out."""

RECENT = 40  # lines of a scene that a situation has
USER_NAME = "You"  # the name of a user who speaks as nobody of the story


@dataclass(frozen=True, slots=True)
class Turn:
    """One thing said in a conversation."""

    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class Situation:
    """Where a reply is wanted: who answers, where, whom they face and who else is there."""

    persona: Persona
    setting: str = ""
    faced: Other | None = None
    present: tuple[Other, ...] = ()
    secrets: tuple[str, ...] = ()
    """Sentences about the character that are true and that the one faced does not know."""
    known_as: str = ""
    """The false name that the one faced knows the character by; blank where it is its own."""
    acquaintances: tuple[Other, ...] = ()
    """Everybody the character has met or heard named: names and aliases only."""
    scene: Scene | None = None
    """The scene the character is in, or was in last, with the last lines of it that it was there for."""
    is_in_scene: bool = False
    """Is that scene still going on, and the character in it?"""
    note: str = ""
    """What was told of the scene in mid-talk, by nobody in it; the setting ends with it."""

    @property
    def listeners(self) -> tuple[Other, ...]:
        """The one faced, and the others who are there."""
        return self.present if self.faced is None else (self.faced, *self.present)


Question = tuple[Situation, Sequence[Turn], Sequence[str]]
"""What candidates, or texts, are to be scored in: the situation, the history; and they."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a language model is to write; None leaves a value to the model's own default."""

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()
    seed: int | None = None
    n: int = 1


DEFAULT_SAMPLING = Sampling()

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Usage:
    """What a reply cost: requests to a language model, tokens, and the seconds spent in it."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        return Usage(*map(add, astuple(self), astuple(other)))


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of a prompt for a language model; `role` is 'system', 'user' or 'assistant'."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """One thing that made a reply: a profile line, a tie, a memory, or the exchange it was taken from.

    `kind` is 'profile', 'relation', 'memory', 'told' (by the one faced, mostly in an earlier chat), 'exchange', 'lore'
    (an entry of a lorebook, with the keys that brought it up), 'approved' (a line of the utterance database, with its
    number), 'bank' (a neutral line of the project's own), 'script', 'notice' (how the reply was found, where that needs
    saying), or 'problem' (why it was broken off);
    `words` are those that tied it to the message.
    """

    kind: str
    text: str
    moment: Moment | None = None
    words: tuple[str, ...] = ()
    found: Finding | None = None
    """Where it was found in the text: nobody wrote it."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A reply that was considered, with its score and, where it was said before, when.

    `source` says where it comes from, in the words of `Draft`; `rejected` why a guard kept it back, blank where none
    did. The text of what was kept back may itself be what must not be known: then it is blank. `score` is None where
    nothing was compared: what a writer says as it comes, or the one thing there is to say.
    """

    text: str
    score: float | None
    moment: Moment | None = None
    source: str = ""
    rejected: str = ""


@dataclass(frozen=True, slots=True)
class Draft:
    """Something that could be said, before anybody has judged it.

    `source` is 'writer' (written for this message), or the kind of `Evidence` it was taken from: 'exchange',
    'approved', 'profile', 'relation', 'told', 'bank'. `log_probs` are those of its tokens, where the writer gives them.
    """

    text: str
    source: str
    moment: Moment | None = None
    evidence: tuple[Evidence, ...] = ()
    log_probs: tuple[float, ...] | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """What is said, what else was considered (best first), and why."""

    text: str
    candidates: tuple[Candidate, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    usage: Usage | None = None
    log_probs: tuple[float, ...] | None = None
    """Of each token of the text, where it was written by a model that gives them."""


@dataclass(frozen=True, slots=True)
class Example:
    """One question put to an agent, with the replies that count as right; `gold` holds places in `candidates`."""

    situation: Situation
    history: tuple[Turn, ...]
    candidates: tuple[str, ...]
    gold: frozenset[int]
    name: str = ""


@dataclass(frozen=True, slots=True)
class Score:
    """A measurement. It may be missing: then `value` is None, and `reason` says why; never an average's zero."""

    name: str
    value: float | None
    reason: str = ""


class Streamed(Generic[Value]):
    """The pieces of a stream and, once they are over, what its generator returned. Leaving the loop closes it."""

    value: Value

    def __init__(self, generator: Generator[str, None, Value]) -> None:
        self._generator = generator

    def __iter__(self) -> Iterator[str]:
        try:
            self.value = yield from self._generator
        finally:
            self._generator.close()


@runtime_checkable
class Agent(Protocol):
    def reply(self, situation: Situation, history: Sequence[Turn]) -> Reply: ...


@runtime_checkable
class StreamingAgent(Protocol):
    """An agent that gives its reply piece by piece; the generator's return value is the whole reply.

    The pieces joined are the reply's text. Closing the generator, or cancelling from another thread while it waits,
    stops whatever writes behind it.
    """

    def stream(
        self,
        situation: Situation,
        history: Sequence[Turn],
        sampling: Sampling = DEFAULT_SAMPLING,
        cancellation: Cancellation | None = None,
    ) -> Generator[str, None, Reply]: ...


@runtime_checkable
class Drafter(Protocol):
    """Offers things that could be said, `sampling.n` of those it writes; what they cost comes with them."""

    def drafts(
        self,
        situation: Situation,
        history: Sequence[Turn],
        sampling: Sampling = DEFAULT_SAMPLING,
        cancellation: Cancellation | None = None,
    ) -> tuple[list[Draft], Usage]: ...


@runtime_checkable
class Ranker(Protocol):
    """Higher is better; a candidate's score never depends on the other candidates."""

    def score(self, situation: Situation, history: Sequence[Turn], candidates: Sequence[str]) -> list[float]: ...


@runtime_checkable
class LanguageModel(Protocol):
    """Log-probability of each token of a text, were it said next; the last token is the end of the text."""

    def log_probs(self, situation: Situation, history: Sequence[Turn], text: str) -> list[float]: ...


@runtime_checkable
class BatchLanguageModel(LanguageModel, Protocol):
    """A language model that is faster with many texts at once; the same values as one at a time."""

    def log_probs_many(self, questions: Sequence[Question]) -> list[list[list[float]]]:
        """For each question, for each of its texts, the values that `log_probs` gives."""
        ...


@runtime_checkable
class BatchAgent(Agent, Protocol):
    """An agent that is faster with many questions at once; the same replies as one at a time."""

    def reply_many(self, questions: Sequence[tuple[Situation, Sequence[Turn]]]) -> list[Reply]: ...


@runtime_checkable
class Guesser(Protocol):
    """For each masked speaker of a scene, how probable each persona is."""

    def guess(self, masked: Scene, personas: Sequence[Persona]) -> Mapping[str, Mapping[str, float]]: ...


def mark_found(reply: Reply, situation: Situation) -> Reply:
    """The reply with those pieces of its evidence marked that were found in the text."""
    persona, faced = situation.persona, situation.faced
    findings = {text: found.finding for text, found in persona.found.items()}
    findings |= {found.plain: found.finding for found in persona.found.values()}
    for tie in (*persona.relations, *(faced.relations if faced else ())):
        if tie.found is not None:
            findings |= {tie_sentence(tie, persona.language, hedged): tie.found for hedged in (True, False)}
    if not findings:
        return reply
    evidence = (replace(item, found=findings.get(item.text, item.found)) for item in reply.evidence)
    return replace(reply, evidence=tuple(evidence))


def situation_at(
    story: Story, name: str, moment: Moment | str, facing: str | Other | None = None, setting: str = ""
) -> Situation:
    """The situation of a character at a moment, before somebody.

    `facing` is somebody of the story; or somebody who is not in it, as an `Other` or written 'Tom: a sailor, 40'.
    At a moment inside a scene that the character is in, that scene's setting and company are the situation's.
    """
    at = story.moment(moment) if isinstance(moment, str) else moment
    under_way = story.current_scene(at)
    who = character_at(story, name, at).name
    is_in_scene = under_way is not None and who in under_way.present
    company: tuple[str, ...] = ()
    if under_way is not None and is_in_scene:
        setting = setting or under_way.setting
        company = tuple(other for other in under_way.present if other != who)
    if isinstance(facing, str) and ":" in facing and not story.is_name(facing):
        facing = outsider(*facing.split(":", 1))
    stranger = must_be_nobody(story, facing, at) if isinstance(facing, Other) else None
    faced = character_at(story, facing, at).name if isinstance(facing, str) else None
    if faced == who:
        raise StoryError(f"{facing} cannot stand before themselves: name somebody else")
    if faced is not None:
        must_be_alive(story.facts(faced), faced, at)
    user = stranger.name if stranger else "" if faced is None else names_known_to(story, who, at).get(faced, faced)
    persona = persona_at(story, who, at, before=[*company, *([faced] if faced else [])], user=user)
    if not setting:  # where a card says that the talk takes place
        setting = fill_macros(story.card_texts(who).scenario, "", user, story.language)
    return Situation(
        persona=persona,
        setting=setting,
        faced=stranger if faced is None else other_at(story, faced, persona),
        present=tuple(other_at(story, other, persona) for other in company),
        secrets=secrets_at(story, who, at, faced),
        known_as=false_names(story, faced, at).get(who, ""),
        acquaintances=acquaintances_of(story, persona),
        scene=persona.past.latest(RECENT) if isinstance(persona.past, StoryPast) else None,
        is_in_scene=is_in_scene,
    )


# Somebody who is not in the story and stands before one of its characters: a name, and who they are in a few words.


MAX_NAME = 80
MAX_DESCRIPTION = 1_000
SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s+|\n+")


def outsider(name: str, description: str) -> Other:
    """An invented person; the sentences of the description are what a character knows of them."""
    name, description = " ".join(name.split()), description.strip()
    if not name or not description:
        raise StoryError("write whom you speak as with a name and a few words, as in 'Tom: a sailor, 40'")
    if len(name) > MAX_NAME or len(description) > MAX_DESCRIPTION:
        raise StoryError(
            f"that is too long: a name has at most {MAX_NAME} characters, and what is said of them {MAX_DESCRIPTION}"
        )
    first, *further = (" ".join(sentence.split()) for sentence in SENTENCE_END.split(description) if sentence.strip())
    return Other(name, (first if fold(first).startswith(fold(name)) else f"{name}: {first}", *further))


def must_be_nobody(story: Story, other: Other, at: Moment) -> Other:
    """Refuse an outsider who has the name of a character: they would be taken for each other."""
    own = fold(other.name)
    names = (name for member in story.cast() for name in member.character.names)
    try:
        is_taken = own in map(fold, names) or bool(character_at(story, other.name, at))
    except UnknownCharacter as error:
        is_taken = " may be " in str(error)  # it means more than one
    if is_taken:
        raise StoryError(
            f"'{other.name}' is a name of somebody in the story: to speak as them give the name alone, "
            "or choose another name for yourself"
        )
    return other
