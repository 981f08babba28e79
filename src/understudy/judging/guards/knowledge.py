"""The guard of knowledge: stops what the character cannot have learnt by the moment.

    later or elsewhere    the metrics `anachronism` and `unwitnessed` count something
    made up               a name or a number that neither the character's past nor its profile, ties and this chat has

The second is checked for drafts of a writer only. What others say in this chat is known, so a draft may ask about it or
deny it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

from understudy.agents.dialogue_context import KnownPeople, heard_turns
from understudy.agents.pools import KeyedCache
from understudy.judging.guards.phrases import asks, denies, names_in, numbers_in, roots, sentences
from understudy.judging.guards.story_view import StoryViews
from understudy.judging.guards.verdict import Guard, Verdict
from understudy.story.dialogue import Draft, Situation, Turn
from understudy.story.persona import Persona
from understudy.story.wording import tie_sentence
from understudy.text import words

__all__ = ["OF_THE_PERSONA", "invented", "known_words", "not_yet_known", "prepare", "unheard_part", "words_of_chat"]

NAME = "knowledge"
WRITTEN = frozenset({"writer"})
OF_THE_PERSONA = frozenset({"exchange", "profile", "relation", "memory", "bank"})
"""Sources that hold nothing of the future: the persona itself, and lines that state nothing."""

_WORDS = KeyedCache[frozenset[str]](32)
_SITUATION_WORDS = KeyedCache[frozenset[str]](32)


def not_yet_known(views: StoryViews) -> Guard:
    """The guard that consults the story's chronology."""

    def guard(situation: Situation, history: Sequence[Turn], draft: Draft) -> Verdict:
        if draft.source in OF_THE_PERSONA:
            return Verdict.passing(NAME)
        stories = views(situation)
        if situation.persona.story and not stories:
            return Verdict.stopped(NAME, "cannot be judged: its story is not here")
        messages_heard, language = heard_turns(situation.persona, history), situation.persona.language
        text = " ".join(
            unheard_part(part, messages_heard, language) if asks(part) or denies(part) else part
            for part in sentences(draft.text)
        )
        for view in stories:
            if any(score.value for score in view.scores("anachronism", [text])):
                return Verdict.spoiler(NAME)
            # a writer's prompt has nothing of other scenes: two common words side by side are a coincidence
            if view.unwitnessed_words(text) if draft.source in WRITTEN else view.scores("unwitnessed", [text])[0].value:
                return Verdict.spoiler(NAME)
        return Verdict.passing(NAME)

    return guard


def prepare(views: StoryViews, situation: Situation, texts: Sequence[str]) -> None:
    """Score many texts in one batch, which is faster than one by one; the guard then uses the cached scores."""
    for view in views(situation):
        view.scores("anachronism", texts)


def unheard_part(text: str, messages_heard: Sequence[str], language: str) -> str:
    """A text without the words that others have used in this chat; blank where no word of meaning is left."""
    known = frozenset[str]().union(*(roots(turn, language) for turn in messages_heard))
    left = " ".join(word for word in text.split() if not roots(word, language) or not roots(word, language) <= known)
    return left if roots(left, language) else ""


def invented(situation: Situation, history: Sequence[Turn], draft: Draft) -> Verdict:
    """Names and numbers that nobody has told the character."""
    if draft.source not in WRITTEN or situation.persona.language != "en":
        return Verdict.passing(NAME)
    past = known_words(situation.persona)
    chat_words = words_of_chat(situation, history)
    for name in names_in(draft.text):
        folded = name.casefold().replace("’", "'").removesuffix("'s")
        forms = {folded, folded + "s", folded.removesuffix("s")}
        if forms.isdisjoint(past) and forms.isdisjoint(chat_words):
            return Verdict.stopped(NAME, "names what nobody told")
    if numbers := numbers_in(draft.text):
        counted = {part for word in chat_words for part in word.split("-")} | past
        if numbers - counted:
            return Verdict.stopped(NAME, "counts what nobody counted")
    return Verdict.passing(NAME)


def words_of_chat(situation: Situation, history: Sequence[Turn]) -> frozenset[str]:
    """The words of this chat, and of what the situation says beside the character's past."""
    around = _SITUATION_WORDS.get_or_create(id(situation), situation, lambda: _words_around(situation))
    return around | _bare_words(turn.text for turn in history)


def _words_around(situation: Situation) -> frozenset[str]:
    """Made once for a situation: there can be thousands of acquaintances, and dozens of drafts to a message."""
    people = (
        (person.name, *person.aliases, *person.profile, *(told.text for told in person.told))
        for person in KnownPeople.of(situation).people
    )
    return _bare_words((*chain.from_iterable(people), situation.setting, *situation.secrets))


def _bare_words(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(word.removesuffix("'s") for text in texts for word in words(text))


def known_words(persona: Persona) -> frozenset[str]:
    """Every word that a character has said or heard, or that describes it."""
    return _WORDS.get_or_create(
        (id(persona.past), persona.profile, persona.relations), persona.past, lambda: _words_of(persona)
    )


def _words_of(persona: Persona) -> frozenset[str]:
    vocabulary = {word for scene in persona.past.scenes() for line in scene.lines for word in words(line.text)}
    vocabulary |= {word for scene in persona.past.scenes() for word in words(scene.setting)}
    texts = (persona.name, *persona.profile, *(tie_sentence(tie, persona.language) for tie in persona.relations))
    vocabulary |= {word for text in texts for word in words(text)}
    vocabulary |= {word for values in persona.attributes.values() for value in values for word in words(value)}
    vocabulary |= {part for word in vocabulary if "-" in word for part in word.split("-")}
    return frozenset(word.removesuffix("'s") for word in vocabulary)
