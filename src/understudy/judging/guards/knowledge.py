"""The guard of knowledge: stops what the character cannot have learnt by the moment.

    later or elsewhere    the metrics `anachronism` and `unwitnessed` count something
    made up               a name or a number that neither the character's past nor its profile, ties and this chat has

The second is checked for drafts of a writer only. What others say in this chat is known, so a draft may ask about it or
deny it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from understudy.agents.dialogue_context import KnownPeople, heard_turns
from understudy.agents.pools import KeyedCache
from understudy.agents.word_tokens import roots
from understudy.judging.guards.address import people_met
from understudy.judging.guards.phrases import asks, denies, has_negation, is_ordinary, is_title, names_in, numbers_in
from understudy.judging.guards.story_view import Guard, StoryView, StoryViews, Verdict
from understudy.story.chronology import Chronology, PersonaKnowledge
from understudy.story.dialogue import Draft, Situation, Turn
from understudy.story.persona import Persona
from understudy.story.wording import tie_sentence
from understudy.text import sentences, words

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


# The guard of the future: stops what gives away that somebody knows the story further than the character does.
#
#     quoted     most of a sentence stands in a line unheard by the character, and is nothing that anybody might say
#     named      somebody of the cast of whom the character cannot have heard
#     rare       another name or a rare word that the story keeps out of so many scenes that it is no accident
#     told       two words side by side, neither common, one unheard, from an unheard line, and two more from beside it
#
# Ordinary words give nothing away, whenever the story happens to use them first: whoever writes well uses all of them.
# The metrics `anachronism` and `unwitnessed`, which count them, are for drafts that are compared (`knowledge`).


COMMON = 0.01  # the share of a story's lines that have a common word
BESIDE, RELATED = 2, 2  # lines around a phrase, and words of the draft in them
CHANCE, FEWEST = 0.05, 3  # see `chronology`

_NAMES = KeyedCache[frozenset[str]](64)


class Term(NamedTuple):
    """A term of a draft that the character has not heard: as it is written, and the story's lines that have it."""

    name: str
    written: str
    lines: NDArray[np.int64]


def known_later(views: StoryViews) -> Guard:
    def guard(situation: Situation, history: Sequence[Turn], draft: Draft) -> Verdict:
        if draft.source in OF_THE_PERSONA:
            return Verdict.passing(NAME)
        stories = views(situation)
        if situation.persona.story and not stories:
            return Verdict.stopped(NAME, "cannot be judged: its story is not here")
        heard = heard_turns(situation.persona, history)
        if any(_gives_away(view, situation, heard, draft.text) for view in stories):
            return Verdict.spoiler(NAME)
        return Verdict.passing(NAME)

    return guard


def _gives_away(view: StoryView, situation: Situation, heard: Sequence[str], text: str) -> bool:
    parts, language = sentences(text), view.story.language
    known = np.concatenate([view.own_runs, view.runs.hashes_of(heard)])
    if any(view.runs.is_quoted(part, view.knowledge, known) for part in dict.fromkeys((text, *parts))):
        return True
    # Who asks about what the other one has said, or denies it, need not know it.
    stated = " ".join(
        unheard_part(part, heard, language) if asks(part) or has_negation(part) else part for part in parts
    )
    chronology, knowledge = view.chronology, view.knowledge
    every = {name: lines for name, _, lines in chronology.lines_of(stated)}
    unheard = _unheard_terms(stated, knowledge, _known_names(situation, chronology))
    return any(
        _is_phrase_of(term, every, knowledge) if " " in term.name else _is_telling(term, knowledge, language)
        for term in unheard
    )


def _unheard_terms(text: str, knowledge: PersonaKnowledge, names: frozenset[str]) -> list[Term]:
    terms = []
    for name, written, lines in knowledge.chronology.lines_of(text):
        parts = name.split(" ")
        if knowledge.own.issuperset(parts) or (len(parts) == 1 and name in names):
            continue
        if not _is_heard(lines, knowledge):
            terms.append(Term(name, written, lines))
    return terms


def _is_heard(lines: NDArray[np.int64], knowledge: PersonaKnowledge) -> bool:
    return bool(knowledge.witnessed[lines[lines < knowledge.bound]].any())


def _is_telling(term: Term, knowledge: PersonaKnowledge, language: str) -> bool:
    """Is a word a name of the cast, or another name or rare word whose absence so far is no accident?"""
    chronology = knowledge.chronology
    if language != "en":
        return chronology.is_of_the_cast(term.name)
    if is_title(term.written):
        return False
    if chronology.is_of_the_cast(term.name) and not term.written[:1].islower():
        # Who is called by an ordinary word is meant where the story writes the word as a name: Hope, not hope.
        return chronology.is_written_as_name(term.name) or not is_ordinary(term.written)
    is_name = chronology.is_written_as_name(term.name) and not term.written[:1].islower()
    if not is_name and not term.written.islower():
        return False
    before = term.lines[term.lines < knowledge.bound]
    lines, share = (before, knowledge.attended) if len(before) else (term.lines, knowledge.reached)
    scenes = chronology.scenes_of(lines)
    return scenes >= FEWEST and (1 - share) ** scenes < CHANCE and not is_ordinary(term.written)


def _is_phrase_of(term: Term, every: Mapping[str, NDArray[np.int64]], knowledge: PersonaKnowledge) -> bool:
    """Are two words side by side taken from an unheard line, with others from beside it?"""
    parts = term.name.split(" ")
    uses = [every[part] for part in parts]
    most = COMMON * len(knowledge.chronology.spoken)
    if any(len(lines) > most for lines in uses) or all(_is_heard(lines, knowledge) for lines in uses):
        return False
    related = 0
    for name, lines in every.items():
        if " " not in name and name not in parts:
            place = np.searchsorted(lines, term.lines - BESIDE)
            near = lines[np.minimum(place, len(lines) - 1)]
            related += bool(((near >= term.lines - BESIDE) & (near <= term.lines + BESIDE)).any())
    return related >= RELATED


def _known_names(situation: Situation, chronology: Chronology) -> frozenset[str]:
    """The words of the names of those whom the character faces or has met, and of where it is."""

    def read() -> frozenset[str]:
        here = (*((situation.faced,) if situation.faced else ()), *situation.present)
        names = {*(other.name for other in here), *people_met(situation.persona.past)}
        return frozenset(word for text in (*names, situation.setting) for word in chronology.words(text))

    return _NAMES.get_or_create((id(situation), id(chronology)), (situation, chronology), read)
