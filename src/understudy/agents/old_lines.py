"""Drafts from what is there already: own lines and their sentences, what was heard, profile and ties.

    relevance(e) = 0.35 likeness(m, heard(e)) + 0.35 words(m, e) + 0.5 covered(m, e) + 0.1 age(e)      of an exchange e
    relevance(s) = 0.35 words(m, s) + 0.5 covered(m, s)                                 of a profile sentence s
    relevance(l) = 0.35 likeness(m, l) + 0.35 covered(m, l) + 0.1 age(l) - 0.25        of a line that somebody else said

`words` is a tf-idf cosine, `covered` the share of the message's words of meaning that the text has, rare ones counting
more. Each is worth 0.15 more where it names somebody that the message names, by whatever name. What somebody else
said is told as such. A question for a name, or for who is behind one, gets it. Nothing here is judged: see
`judging.guarded`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from understudy.agents.addressing import Addressing
from understudy.agents.dialogue_context import (
    KnownPeople,
    content,
    heard_turns,
    heard_words,
    is_first_person,
    last_heard,
    meant_by_last,
    own_name_words,
    repeats,
    said_before,
    said_sentences,
    shared_content,
    ties_to_faced,
)
from understudy.agents.direct_answers import KNOWS, direct_answers, tells_unasked
from understudy.agents.encoder import READ, EncoderAgent, memory_evidence
from understudy.agents.fit import CachedEncoder
from understudy.agents.pools import EncodedMemory, said_at, taken_from
from understudy.agents.reply_text import is_mid_sentence, rests, split_begun
from understudy.agents.tfidf import TfIdfAgent
from understudy.agents.word_tokens import plain_line, roots
from understudy.language.lexical import TfIdf
from understudy.progress import Cancellation
from understudy.story import wording
from understudy.story.dialogue import DEFAULT_SAMPLING, Draft, Evidence, Sampling, Situation, Turn, Usage
from understudy.story.persona import Other
from understudy.story.types import Line, Relation
from understudy.story.wording import speaker_words, tie_sentence, tie_to_faced
from understudy.text import capitalised, find_name, fold, sentences, words

MOST_LINES, MOST_HEARD, MOST_WEIGHED = 40, 3, 5_000

# Weights of relevance, on the scale of `judging.selection`. They are fitted to nothing: they were set by hand with the
# 68 probes of the story that ships in view (docs/guards.md), so that what is said there answers the question.
HEARD, WORDS, COVERED = 0.35, 0.35, 0.5
RECENT = 0.1  # of the newest line
REPEAT_BONUS, REPEAT_SIMILARITY = 0.4, 0.92  # what was answered to the very same message is the answer
NAMED = 0.15  # somebody of the message is named
TIE, ASKED_TIE = 0.2, 0.9  # to somebody whom the message names; whose feeling it asks for
HEARSAY_PENALTY, MIN_COVERAGE = 0.25, 0.5  # of what others said, which must speak of half of the message
CUT = 0.1  # less for a part of a line
TOO_LONG, LONG_WORDS = 0.08, 40  # less for a line of more words
BY_WORDS, LEAST_BY_WORDS = 0.6, 0.05  # where there is no encoder, shared words alone must tell

LONG_LINE = 2  # sentences
LEAST_MEANT = 2  # words of meaning of a sentence that can stand by itself
SECOND_PERSON = re.compile(r"\b(?:you(?:'re|'ve|'ll|r|rs)?|thou|thee|thy|thine)\b", re.IGNORECASE)
TO_ANOTHER = 0.08  # less for a line that was said to somebody else
FATE = re.compile(
    r"\b(?:became|become|becomes|happened|where is|where's|how is|how's|dead|alive|die|died|well|still|gone)\b",
    re.IGNORECASE,
)
WHO_ARE_YOU = re.compile(
    r"\b(?:who are you|your name|are you called|call you|introduce yourself)\b|名前|叫什么|你是谁|誰", re.IGNORECASE
)
WHO_IS = re.compile(r"\b(?:who|what) (?:is|was|are)\b|\breally\b|誰|谁", re.IGNORECASE)
FEELING_ASKED = re.compile(
    r"\b(?:like|love|trust|hate|think (?:of|about)|feel (?:about|for)|friends?|enem(?:y|ies)|angry|"
    r"fond|forgive|to you|to each other)\b|好き|嫌い|友|喜欢|恨|朋友",
    re.IGNORECASE,
)
DIRECT = 1.2  # the relevance of an answer to the very question: more than the terms of any line come to
IDENTITY, FATE_KNOWN = 1.4, 0.6  # of who somebody is, before all else; of what became of them, where that is asked
BEGUN = 2.0  # the rest of a line that was begun comes before all else


@dataclass(frozen=True, slots=True)
class RecalledDraft(Draft):
    """A draft with how much it bears on the message, beyond how well it would fit."""

    relevance: float = 0.0


class OldLines:
    """Offers what the character has said, heard, and is."""

    def __init__(self, agent: EncoderAgent) -> None:
        self.agent = agent
        self._by_words = TfIdfAgent()

    def drafts(
        self,
        situation: Situation,
        history: Sequence[Turn],
        sampling: Sampling = DEFAULT_SAMPLING,  # noqa: ARG002
        cancellation: Cancellation | None = None,  # noqa: ARG002
    ) -> tuple[list[Draft], Usage]:
        persona = situation.persona
        if is_mid_sentence(split_begun(persona, history)[1]):
            return list(_rests(situation, history)), Usage()
        message = last_heard(persona, history)
        query = _Query.of(situation, meant_by_last(persona, history))
        drafts: list[Draft] = [*_facts(situation, message, query)]
        cached = self.agent.encoder(persona.language)
        if cached is None:
            drafts += _from_words(self._by_words, situation, history)
        else:
            memory = self.agent.memory(situation, cached)
            drafts += _own_lines(situation, query, memory, cached)
            drafts += _heard(situation, query, memory, cached)
        said = said_sentences(persona, history)
        drafts = [draft for draft in drafts if not repeats(draft.text, said)]
        return [*_rests(situation, history), *_direct(situation, history, message), *drafts], Usage()


@dataclass(frozen=True, slots=True)
class _Query:
    """A message: how much each of its words says, and whom it names."""

    message: str
    rarities: Mapping[str, float]
    people: Sequence[Other]
    language: str

    @classmethod
    def of(cls, situation: Situation, message: str) -> _Query:
        persona, language = situation.persona, situation.persona.language
        bags = [roots(line.text, language) for line in persona.past.lines(MOST_WEIGHED)]
        asked = roots(message, language) - roots(" ".join(own_name_words(persona)), language)
        # the rarer in the character's own lines, the more
        rarities = {word: math.log((2 + len(bags)) / (1 + sum(word in bag for bag in bags))) for word in sorted(asked)}
        known = KnownPeople.of(situation).people
        return cls(message, rarities, [each for each in known if find_name(message, each.names)], language)

    def coverage(self, text: str) -> float:
        """How much of what the message asks for a text speaks of."""
        total, covered = sum(self.rarities.values()), roots(text, self.language)
        return sum(weight for word, weight in self.rarities.items() if word in covered) / total if total else 0.0

    def bonus(self, text: str) -> float:
        """What it is worth that a text names somebody whom the message names, by whatever name."""
        return NAMED if find_name(text, (name for other in self.people for name in other.names)) else 0.0


def _rests(situation: Situation, history: Sequence[Turn]) -> Iterator[RecalledDraft]:
    """Where the character has begun an old line, or a sentence of its profile: the rest of it, or of its sentence."""
    before, begun = split_begun(situation.persona, history)
    for rest, source in rests(situation.persona, begun, MOST_WEIGHED) if begun else ():
        moment = source.moment if isinstance(source, Line) else None
        if isinstance(source, Line):
            evidence = Evidence("exchange", last_heard(situation.persona, before) or source.text, moment)
        else:
            evidence = Evidence("profile", source)
        for text in dict.fromkeys((rest, *sentences(rest)[:1])):
            yield RecalledDraft(text, evidence.kind, moment, (evidence,), None, BEGUN)


def _direct(situation: Situation, history: Sequence[Turn], message: str) -> Iterator[RecalledDraft]:
    """Answers to the very question; where all of them have been given in this chat, one that says so."""
    said = said_before(situation.persona, history)
    answers = direct_answers(situation, message, heard_turns(situation.persona, history)[:-1], said)
    fresh = [answer for answer in answers if not any(fold(answer.text) in fold(text) for text in said)]
    if split_begun(situation.persona, history)[1]:  # what has been answered needs no second answer
        fresh, again = (fresh if len(fresh) == len(answers) else []), []
    else:
        again = [replace(answer, text=f"As I said: {answer.text}") for answer in answers[:1]]
    for answer in fresh or again:
        yield RecalledDraft(answer.text, answer.source, None, answer.evidence, None, DIRECT)


def _own_lines(situation: Situation, query: _Query, memory: EncodedMemory, cached: CachedEncoder) -> Iterator[Draft]:
    if not memory.exchanges:
        return
    message, language = query.message, query.language
    vector, bag = cached.encode([message])[0], content(heard_words(situation.persona, message), language)
    ranked = memory.ranked_for(bag)
    exchanges = [memory.exchanges[index] for index in ranked.indices]
    likeness = ranked.heard_likeness(vector)
    relevance = HEARD * likeness + REPEAT_BONUS * (likeness > REPEAT_SIMILARITY)
    relevance += WORDS * memory.shared_words(bag)[ranked.indices]
    relevance += RECENT * ranked.indices / len(memory.exchanges)
    relevance += COVERED * np.array([query.coverage(exchange.said.text) for exchange in exchanges], np.float32)
    order = np.argsort(-(relevance + ranked.said @ vector), kind="stable")[:MOST_LINES].tolist()
    ties = (Evidence("relation", tie_sentence(tie, language)) for tie in ties_to_faced(situation))
    beside = (*ties, *memory_evidence(memory, vector, bag, message))
    addressing = Addressing(situation)
    for index in order:
        exchange = exchanges[index]
        text = plain_line(exchange.said.text)
        if not addressing.has_subject(exchange, message):
            continue
        if not text or _only_repeats(text, message, language):
            continue
        source = "exchange" if exchange.approved is None else "approved"
        prompt = exchange.heard or exchange.said
        evidence = (taken_from(exchange, shared_content(message, prompt.text, language)), *beside)
        moment = said_at(exchange)
        own = float(relevance[index])
        if SECOND_PERSON.search(text) and not addressing.is_for_faced(exchange):
            own -= TO_ANOTHER
        too_long = TOO_LONG if len(text.split()) > LONG_WORDS else 0.0
        yield RecalledDraft(text, source, moment, evidence, None, own + query.bonus(text) - too_long)
        own -= COVERED * query.coverage(text)
        parts = sentences(text)
        for part in _runs(parts) if len(parts) >= LONG_LINE else ():
            if len(content(words(part, language), language)) >= LEAST_MEANT:
                relevant = own - CUT + COVERED * query.coverage(part) + query.bonus(part)
                yield RecalledDraft(part, source, moment, evidence, None, relevant)


def _only_repeats(text: str, message: str, language: str) -> bool:
    """'Ross!' answers nothing that is asked of Ross."""
    said = roots(text, language)
    return bool(said) and said <= roots(message, language)


def _runs(parts: Sequence[str]) -> Iterator[str]:
    """One and two sentences of a longer line, side by side."""
    for first in range(len(parts)):
        for size in (1, 2, 3):
            if first + size <= len(parts) and size < len(parts):
                yield " ".join(parts[first : first + size])


def _heard(situation: Situation, query: _Query, memory: EncodedMemory, cached: CachedEncoder) -> Iterator[Draft]:
    """Sentences of others that bear on a question, told as theirs."""
    persona, message = situation.persona, query.message
    lines = [line for line in memory.lines if line.speaker not in (None, persona.name)]
    bag = content(heard_words(persona, message), persona.language)
    if not lines or not bag or not message.rstrip().endswith(("?", "？", "吗", "か")):
        return
    index = TfIdf((line.text for line in lines), persona.language)
    scores = index.scores(bag)
    best = np.argsort(-scores, kind="stable")[: 8 * MOST_HEARD].tolist()
    vector = cached.encode([message])[0]
    hearsay = list[RecalledDraft]()
    faced = situation.faced.name if situation.faced else ""
    own = (*own_name_words(persona), *persona.attributes.get("nickname", ()))
    for position in best:
        line = lines[position]
        if line.speaker == faced or line.speaker is None:
            continue
        parts = [part for part in sentences(plain_line(line.text)) if _can_be_told(part)]
        parts = [part for part in parts if find_name(part, own) is None]
        covered = [query.coverage(part) for part in parts]
        if not parts or max(covered) < MIN_COVERAGE:
            continue
        which = covered.index(max(covered))
        relevance = HEARD * float(cached.encode([parts[which]])[0] @ vector) + WORDS * covered[which] - HEARSAY_PENALTY
        relevance += RECENT * position / len(lines) + query.bonus(parts[which])
        hearsay.append(_quoted(line, parts[which], persona.language, relevance))
    yield from sorted(hearsay, key=lambda draft: -draft.relevance)[:MOST_HEARD]


def _can_be_told(sentence: str) -> bool:
    """A statement, and not one about whoever heard it."""
    return not sentence.endswith(("?", "？", "—")) and len(sentence) > 12 and SECOND_PERSON.search(sentence) is None


def _quoted(line: Line, text: str, language: str, relevance: float) -> RecalledDraft:
    evidence = Evidence("memory", f"{line.speaker}: {line.text}", line.moment)
    reported = wording.said("reported", language, name=line.speaker or "", text=text)
    return RecalledDraft(reported, "memory", line.moment, (evidence,), None, relevance)


def _facts(situation: Situation, message: str, query: _Query) -> Iterator[Draft]:
    """Profile sentences that are no secret from the one faced, ties to them, and to whom the message is about."""
    persona, language = situation.persona, situation.persona.language
    kept = set(situation.secrets)
    profile = [
        text.strip()
        for text in persona.profile
        if text.strip() and text not in kept and (language != READ or is_first_person(text))
    ]
    profile = [text for text in profile if not tells_unasked(persona, message, text)]
    bag = content(heard_words(persona, message), language)
    shared = TfIdf(profile, language).scores(bag).tolist() if profile else []
    for text, score in zip(profile, shared):
        relevance = WORDS * score + COVERED * query.coverage(text) + query.bonus(text)
        yield _known("profile", text, relevance)
    yield from _identities(situation, message, query.people)
    of_speaker = not speaker_words(language).isdisjoint(words(message, language))
    known, faced = KnownPeople.of(situation), situation.faced.name if situation.faced else ""
    for tie in _asked_ties(known.ties(situation, faced) if faced else (), message):
        text = tie_to_faced(tie, language)
        relevance = _tie_relevance(tie, message) if of_speaker or re.search(r"\b(?:I|we)\b", message) else 0.0
        yield _known("relation", text, relevance)
    for other in query.people:
        ties = () if known.is_same(other.name, faced) else known.ties(situation, other.name)
        for tie in _asked_ties(ties, message):
            called = _as_called(other, message)
            text = capitalised(tie_sentence(replace(tie, to=called), language))
            yield _known("relation", text, _tie_relevance(tie, message))


def _known(kind: str, text: str, relevance: float) -> RecalledDraft:
    """A sentence of the profile or of a tie, as it stands."""
    return RecalledDraft(text, kind, None, (Evidence(kind, text),), None, relevance)


def _asked_ties(ties: Iterable[Relation], message: str) -> list[Relation]:
    """How well somebody is known answers only whoever asks for that."""
    return [tie for tie in ties if tie.kind != "familiarity" or KNOWS.search(message)]


def _tie_relevance(tie: Relation, message: str) -> float:
    return ASKED_TIE if tie.kind == "familiarity" or FEELING_ASKED.search(message) else TIE


def _identities(situation: Situation, message: str, people: Sequence[Other]) -> Iterator[Draft]:
    """The own name, who is meant by another name, and the fate of those asked after."""
    persona, language = situation.persona, situation.persona.language

    if WHO_ARE_YOU.search(message):
        name = persona.attributes.get("goes by", (persona.name,))[0]
        yield _known("profile", wording.said("named", language, name=name), IDENTITY)
    for nickname in persona.attributes.get("nickname", ()):
        if WHO_IS.search(message) and find_name(message, [nickname]):
            yield _known("profile", wording.said("nicknamed", language, name=nickname), IDENTITY)
    for other in people:
        alias = next((name for name in other.aliases if find_name(message, [name])), None)
        tells = alias is not None and not set(alias.split()) <= set(other.name.split())  # not 'Pia is Pia Lenk.'
        if alias is not None and tells and other.name not in message and WHO_IS.search(message):
            sentence = wording.said("alias", language, alias=capitalised(alias), name=other.name)
            yield _known("profile", sentence, IDENTITY)
        fates = (someone.profile for someone in situation.acquaintances if someone.name == other.name)
        for told in chain.from_iterable(fates):
            text = capitalised(told.replace(other.name, _as_called(other, message)))
            yield _known("profile", text, FATE_KNOWN if FATE.search(message) else 0.0)


def _as_called(other: Other, message: str) -> str:
    """The name by which a message calls somebody: 'the Prior', 'Dr Bohm'."""
    match = find_name(message, other.names)
    if match is None:
        return other.name
    has_article = match[0].startswith("the ") or message[: match.start()].lower().endswith("the ")
    return ("the " if has_article else "") + match[0].removeprefix("the ")


def _from_words(agent: TfIdfAgent, situation: Situation, history: Sequence[Turn]) -> Iterator[Draft]:
    reply = agent.reply(situation, history)
    for candidate in reply.candidates:
        source = "exchange" if candidate.moment is not None else "profile"
        score = candidate.score or 0.0
        relevance = score + (BY_WORDS if score > LEAST_BY_WORDS else 0.0)
        yield RecalledDraft(candidate.text, source, candidate.moment, reply.evidence, None, relevance)
