"""Answering from profile and ties, in the first person: for a character that has no earlier line to draw on.

    score(s) = cos(message, s) + 0.3 [s is what the character feels about somebody the message is about]

over words that carry meaning. A message is about those it names, and about the one faced where it speaks of
its speaker ('Do you trust me?'). Where nothing fits, the profile is told in its order, and never the same twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from understudy.agents.dialogue_context import content
from understudy.language.lexical import TfIdf
from understudy.story.dialogue import Candidate, Evidence, Reply, Situation
from understudy.story.types import Relation
from understudy.story.wording import plain_lines, speaker_words, tie_sentence
from understudy.text import words

__all__ = ["from_profile", "plainly", "ties_to_faced"]

SHOWN = 5
ABOUT = 0.3
KNOWING = frozenset("know knew known met".split())
NOTHING = "there is no earlier line, profile or tie to draw on"


@dataclass(frozen=True, slots=True)
class Sentence:
    """Something the character can say of itself; a tie also says whom it is about."""

    kind: str
    text: str
    about: str | None = None
    is_familiarity: bool = False
    """Whether it tells only how well somebody is known: an answer to whoever asks for that."""


def from_profile(situation: Situation, message: Sequence[str], said: Sequence[str]) -> Reply | None:
    """The sentence that fits the message best and has not been said yet; None when all have been."""
    asks = not KNOWING.isdisjoint(message)
    unsaid = [
        sentence
        for sentence in _sentences(situation)
        if sentence.text not in said and (asks or not sentence.is_familiarity)
    ]
    if not unsaid:
        return None
    language = situation.persona.language
    tfidf = TfIdf([list(content(words(sentence.text, language), language).elements()) for sentence in unsaid])
    query = content(message, language)
    scores = tfidf.scores(query).tolist()
    for index in _asked_about(situation, message, unsaid):
        scores[index] += ABOUT
    order = sorted(range(len(unsaid)), key=lambda index: -scores[index])[:SHOWN]
    best = unsaid[order[0]]
    shared = tuple(word for word, _ in tfidf.shared_terms(query, order[0]))
    return Reply(
        best.text,
        tuple(Candidate(unsaid[index].text, scores[index]) for index in order),
        (Evidence(best.kind, best.text, words=shared),),
    )


def plainly(situation: Situation, said: Sequence[str]) -> Reply:
    """A plain line; once all of them have been said, everything the character can say comes round again."""
    lines = plain_lines(situation.persona.language)
    everything = (*(sentence.text for sentence in _sentences(situation)), *lines)
    text = next((line for line in lines if line not in said), everything[len(said) % len(everything)])
    return Reply(text, (Candidate(text, None),), (Evidence("profile", NOTHING),))


def ties_to_faced(situation: Situation) -> tuple[Relation, ...]:
    """The persona's ties to the one faced, however the situation was made."""
    faced = situation.faced
    if faced is None:
        return ()
    own = (tie for tie in situation.persona.relations if tie.to == faced.name)
    return tuple(dict.fromkeys((*faced.relations, *own)))


def _sentences(situation: Situation) -> list[Sentence]:
    """The profile, ties to the one faced, then other ties; of each person feelings first, then what they are to one."""
    persona = situation.persona
    ties = dict.fromkeys((*ties_to_faced(situation), *persona.relations))
    people = list(dict.fromkeys(tie.to for tie in ties))
    weight = {"affection": 0, "familiarity": 2}
    ordered = sorted(ties, key=lambda tie: (people.index(tie.to), weight.get(tie.kind, 1)))
    sentences = [Sentence("profile", text.strip()) for text in persona.profile if text.strip()]
    sentences += [
        Sentence("relation", tie_sentence(tie, persona.language), tie.to, tie.kind == "familiarity") for tie in ordered
    ]
    return list({sentence.text: sentence for sentence in reversed(sentences)}.values())[::-1]


def _asked_about(situation: Situation, message: Sequence[str], sentences: Sequence[Sentence]) -> list[int]:
    """Indices of the first sentence on each person the message is about."""
    language, heard = situation.persona.language, frozenset(message)
    of_speaker = not heard.isdisjoint(speaker_words(language))
    first = {
        sentence.about: index for index, sentence in reversed(list(enumerate(sentences))) if sentence.about is not None
    }
    return [
        index
        for name, index in first.items()
        if not heard.isdisjoint(content(words(name, language), language))
        or (of_speaker and situation.faced is not None and name == situation.faced.name)
    ]
