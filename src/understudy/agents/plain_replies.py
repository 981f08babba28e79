"""Replies of a character that has no earlier line for them: from the bank, lines that anybody could say in three
registers, or from its profile and ties.

    register = 'rough'  where rough words outweigh formal ones in what the character says and is told to be
               'formal' where it is the other way round
               'plain'  where neither stands out

A word counts once for each line it stands in; one in `MARKED` lines is enough to leave 'plain'.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from understudy.agents.addressing import Addressing
from understudy.agents.dialogue_context import content, heard_words, last_heard, said_before, ties_to_faced
from understudy.agents.pools import Pool, distinct, reply_from
from understudy.language.lexical import Floats, TfIdf
from understudy.story.dialogue import Candidate, Evidence, Reply, Situation, Turn
from understudy.story.wording import plain_lines, speaker_words, tie_sentence
from understudy.text import word_table, words

REGISTERS = ("plain", "formal", "rough")
MARKED = 0.08

ROUGH = re.compile(
    r"\b(?:ain't|gonna|gotta|wanna|dunno|yeah|yep|nah|nope|hey|damn\w*|hell|crap|shit\w*|fuck\w*|ass|bastards?|bloody|"
    r"stupid|idiots?|dude|guys?|kid|shut up|screw|y'all|'em|mate|lousy|cops?|bucks?|booze|rough|gruff|blunt|crude|rude|"
    r"foul-mouthed|thug|smuggler|sailor|thief|soldier)\b",
    re.IGNORECASE,
)
FORMAL = re.compile(
    r"\b(?:shall|indeed|pray|madam|sir|lord|lady|ladies|majesty|highness|grace|excellency|perhaps|certainly|regret|"
    r"permit|allow me|beg|pardon|obliged|honou?red?|humbly|esteemed|gentlemen|gentleman|whom|upon|thus|nevertheless|"
    r"moreover|cannot|ought|thou|thee|thy|hath|doth|prior|abbot|bishop|judge|professor|butler|prince|princess|duke|"
    r"duchess|king|queen|noble|polite|formal|courteous|dignified|scholarly|reserved)\b",
    re.IGNORECASE,
)


def _bank() -> dict[str, dict[str, list[str]]]:
    return word_table("agents", "bank.toml")


@cache
def bank_lines(register: str) -> tuple[str, ...]:
    """All lines of a register, in the bank's order."""
    return tuple(line for lines in _bank()[register].values() for line in lines)


def lines_for(purpose: str, register: str, language: str = "en") -> tuple[str, ...]:
    """The lines of one purpose ('greeting', 'thanks', 'leaving', ...), in a register or in another language."""
    return tuple(_bank()[register if language == "en" else language].get(purpose, ()))


def fallbacks(purpose: str, register: str, language: str = "en") -> tuple[str, ...]:
    """Lines for want of an answer: 'evasions' of a question, 'small_talk', 'remarks' where nothing was asked."""
    return tuple(_bank()[purpose][register if language == "en" else language])


@cache
def stock_lines() -> frozenset[str]:
    """Every line of the bank, of any purpose, register and language."""

    def texts(value: object) -> Iterator[str]:
        if isinstance(value, dict):
            for inner in value.values():
                yield from texts(inner)
        elif isinstance(value, list):
            yield from map(str, value)

    return frozenset(texts(_bank()))


def register_of(lines: Iterable[str]) -> str:
    """How somebody talks who says, or is described by, these lines."""
    count = rough = formal = 0
    for line in lines:
        count += 1
        rough += ROUGH.search(line) is not None
        formal += FORMAL.search(line) is not None
    if max(rough, formal) <= MARKED * count or rough == formal:
        return "plain"
    return "rough" if rough > formal else "formal"


# Answering from profile and ties, in the first person: for a character that has no earlier line to draw on.
#
#     score(s) = cos(message, s) + 0.3 [s is what the character feels about somebody the message is about]
#
# over words that carry meaning. A message is about those it names, and about the one faced where it speaks of
# its speaker ('Do you trust me?'). Where nothing fits, the profile is told in its order, and never the same twice.


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


def reply_with_line(
    pool: Pool,
    ranked: Iterable[int],
    scores: Floats,
    situation: Situation,
    history: Sequence[Turn],
    evidence: Callable[[int], Iterable[Evidence]],
) -> Reply:
    """The best line that suits the one faced and was not said yet; else from the profile, else a line again."""
    persona = situation.persona
    asked, said = last_heard(persona, history), said_before(persona, history)
    addressing = Addressing(situation)
    suited = [index for index in ranked if addressing.suits(pool.exchanges[index], asked)]
    shown = distinct(pool, suited, said)
    if not shown and (reply := from_profile(situation, heard_words(persona, asked), said)) is not None:
        return reply
    shown = shown or distinct(pool, suited, ())
    return reply_from(pool, shown, scores, evidence(shown[0])) if shown else plainly(situation, said)


def plainly(situation: Situation, said: Sequence[str]) -> Reply:
    """A plain line; once all of them have been said, everything the character can say comes round again."""
    lines = plain_lines(situation.persona.language)
    everything = (*(sentence.text for sentence in _sentences(situation)), *lines)
    text = next((line for line in lines if line not in said), everything[len(said) % len(everything)])
    return Reply(text, (Candidate(text, None),), (Evidence("profile", NOTHING),))


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
