"""The ranker that ships: replies chosen by a sentence encoder trained for it.

    score:   score(c) = fit(c) + words(c) - common(c)            see `fit`, `shared_words`, `commonness`
    reply:   score(e) = fit(said(e)) + 0.5 likeness(m, heard(e)) + 0.5 words(m, e) + 0.1 age(e)
                        + 0.03 [heard(e) was said by the one faced]

over the exchanges e a character may draw on: its own past by default. What it answered when it heard
something like the message m is likely to answer m as well, so that counts half as much as the fit itself, and so does
the tf-idf cosine of the message's words with the exchange's, since an encoder knows little of a story's own names. Age
runs from 0 for the first exchange to 1 for the last (of twenty or more; by twentieths where there are fewer): minds
change, and what was said last holds. That it was the one faced who had spoken decides between equals. (Weights by
hand, with an eye on the probes of the story that ships.)

Where the character has fewer than 24 lines of its own, it can also say what its profile says in the first person, what
it feels about the one faced, and the lines of the bank in its register; a line of the bank is worth 0.05 less. Nothing
is said twice in a conversation while there is something else.

Scenes that bear on the message are shown beside the reply as memories. The model reads English: for Japanese and
Chinese the multilingual encoder is taken where one is installed, else tf-idf over the language's own words, and the
reply's evidence says which.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from understudy.agents.bank import bank_lines, register_of
from understudy.agents.commonness import Commonness
from understudy.agents.dialogue_context import content, heard_words, last_heard, said_before
from understudy.agents.encoded_memory import EncodedMemories, EncodedMemory
from understudy.agents.fit import Fit, Vectors, context_of, fits
from understudy.agents.pools import Candidates, own_past, said_at, taken_from
from understudy.agents.profile_replies import ties_to_faced
from understudy.agents.shared_words import SharedWords
from understudy.agents.tfidf import TfIdfAgent
from understudy.dialogue import Candidate, Evidence, Reply, Situation, Turn
from understudy.encoding import Floats, MultilingualEncoder, SentenceEncoder, shipped_model
from understudy.encoding.card import read_card
from understudy.story import Moment
from understudy.text import words
from understudy.wording import plain_lines, tie_sentence

__all__ = ["READ", "SHOWN", "EncoderAgent", "Option", "Question", "unsaid"]

SHOWN = 5
HEARD = 0.5
WORDS = 0.5
RECENT, LONG_PAST = 0.1, 20
FACED = 0.03
BANK = 0.05
FEW = 24
MEMORIES, MEMORABLE = 2, 0.5
SENTENCES, TELLING = 2, 0.5  # of the profile that are shown, and how like the reply they must be
READ = "en"
FOREIGN = "the encoder that ships reads English; this was found by {how}"

Question = tuple[Situation, Sequence[Turn], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Option:
    """Something that could be said: where it comes from, its score, and which exchange it was."""

    text: str
    kind: str
    score: float
    exchange: int | None = None
    moment: Moment | None = None


class EncoderAgent:
    """Answers with what was said before, chosen by meaning; ranks replies."""

    def __init__(
        self,
        model: Path | None = None,
        candidates: Candidates = own_past,
        multilingual: Path | None = None,
        threads: int = 1,
        cache: Path | bool | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        """`model` is a model folder, by default the shipped one; `cache` the folder of encodings, False for none."""
        self._model = model or shipped_model()
        read_card(self._model)  # an unusable folder is reported now, not at the first message
        self._threads, self._cache, self._progress = threads, cache, progress
        self._other_model = multilingual
        self._memories = EncodedMemories(candidates)
        self._by_words = TfIdfAgent(candidates)

    @cached_property
    def _english(self) -> Vectors:
        return Vectors(self._english_encoder)

    @cached_property
    def _english_encoder(self) -> SentenceEncoder:
        return SentenceEncoder(self._model, self._threads, self._cache, self._progress)

    @cached_property
    def _shared(self) -> SharedWords:
        return SharedWords(self._english_encoder)

    @cached_property
    def _common(self) -> Commonness:
        return Commonness(self._english_encoder)

    @cached_property
    def _multilingual(self) -> Vectors | None:
        encoder = MultilingualEncoder.find(self._other_model, self._cache, self._progress)
        return None if encoder is None else Vectors(encoder)

    def _vectors(self, language: str) -> Vectors | None:
        return self._english if language == READ else self._multilingual

    def score(self, situation: Situation, history: Sequence[Turn], candidates: Sequence[str]) -> list[float]:
        vectors = self._vectors(situation.persona.language)
        if vectors is None:
            return self._by_words.score(situation, history, candidates)
        if not candidates:
            return []
        encoded = vectors.of(candidates)
        fitting = fits(vectors, [(situation, history)])[0].exactly(encoded)
        return self._beyond(fitting, encoded, situation, history, candidates)

    def score_many(self, questions: Sequence[Question]) -> list[list[float]]:
        """`score` of many questions, encoded in batches and kept on disk."""
        vectors = self._vectors(READ)
        if vectors is None or any(situation.persona.language != READ for situation, _, _ in questions):
            return [self.score(*question) for question in questions]
        ready = fits(vectors, [(situation, history) for situation, history, _ in questions], keep=True)
        texts = list(dict.fromkeys(text for _, _, candidates in questions for text in candidates))
        rows = {text: row for row, text in enumerate(texts)}
        encoded = vectors.encoder.encode(texts)
        results = []
        for fit, (situation, history, candidates) in zip(ready, questions):
            own = encoded[[rows[text] for text in candidates]]
            results.append(self._beyond(fit.exactly(own), own, situation, history, candidates))
        return results

    def _beyond(
        self,
        fitting: Sequence[float],
        encoded: Floats,
        situation: Situation,
        history: Sequence[Turn],
        candidates: Sequence[str],
    ) -> list[float]:
        """The fit with what words and other contexts tell beside it, where the model was made with them."""
        if situation.persona.language != READ:
            return list(fitting)
        words = self._shared.of(context_of(situation, history), candidates)
        common = self._common.of(candidates, encoded)
        return [round(fit + more - less, 6) for fit, more, less in zip(fitting, words, common)]

    def reply(self, situation: Situation, history: Sequence[Turn]) -> Reply:
        language = situation.persona.language
        vectors = self._vectors(language)
        if vectors is None:
            reply = self._by_words.reply(situation, history)
            return replace(reply, evidence=(*reply.evidence, _notice("the words it shares with the message")))
        message = last_heard(situation.persona, history)
        heard = vectors.of([message])[0]
        past = self._memories.of(situation, vectors.encoder)
        options = _options(situation, fits(vectors, [(situation, history)])[0], message, heard, past, vectors)
        shown = self._chosen(situation, history, options)
        evidence = [*_evidence(shown[0], situation, message, past, vectors), *_memories(past, heard, message)]
        if language != READ:
            evidence.append(_notice("a multilingual encoder"))
        return Reply(
            shown[0].text,
            tuple(Candidate(option.text, round(option.score, 6), option.moment) for option in shown),
            tuple(evidence),
        )

    def _chosen(self, situation: Situation, history: Sequence[Turn], options: Iterable[Option]) -> list[Option]:
        """Of what could be said, best first, what is shown; its first is said."""
        return unsaid(options, said_before(situation.persona, history), SHOWN)


def _options(
    situation: Situation, fit: Fit, message: str, heard: Floats, past: EncodedMemory, vectors: Vectors
) -> Iterator[Option]:
    """What could be said, best first, equals in their order; never nothing. Made as it is asked for: a past is long."""
    query = content(heard_words(situation.persona, message), situation.persona.language)
    scores = fit.scores(past.said) + HEARD * past.heard_likeness(heard) + WORDS * past.shared_words(query)
    scores += RECENT * np.arange(len(scores), dtype=np.float32) / max(len(scores), LONG_PAST)
    if situation.faced is not None:
        scores[past.heard_from(situation.faced.name)] += FACED
    own = (
        Option(exchange.said.text.strip(), "exchange", float(scores[index]), index, said_at(exchange))
        for index, exchange in ((index, past.exchanges[index]) for index in np.argsort(-scores, kind="stable").tolist())
    )
    if past.distinct >= FEW:
        return own
    texts = dict(_sayings(situation, [exchange.said.text for exchange in past.exchanges]))
    fitting = fit.scores(vectors.of(list(texts)))
    others = (
        Option(text, kind, float(score) - (BANK if kind == "bank" else 0))
        for (text, kind), score in zip(texts.items(), fitting)
    )
    return iter(sorted((*own, *others), key=lambda option: -option.score))


def _sayings(situation: Situation, own_lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """(text, kind) of what can be said without having been said before."""
    persona = situation.persona
    if persona.language == READ:
        for line in bank_lines(register_of([*own_lines, *persona.profile])):
            yield line, "bank"
    else:
        for line in plain_lines(persona.language):
            yield line, "bank"
    for sentence in persona.profile:
        if sentence.strip() and (persona.language != READ or _first_person(sentence)):
            yield sentence.strip(), "profile"
    for tie in ties_to_faced(situation):
        yield tie_sentence(tie, persona.language), "relation"


def _first_person(sentence: str) -> bool:
    return not {"i", "i'm", "i've", "my", "me", "we", "our"}.isdisjoint(words(sentence, READ))


def unsaid(options: Iterable[Option], said: Sequence[str], most: int) -> list[Option]:
    """The first few that differ and have not been said; where all have, the one said longest ago."""
    last_said = {text: index for index, text in enumerate(said)}
    unused, repeated = dict[str, Option](), dict[str, Option]()
    for option in options:
        (repeated if option.text in last_said else unused).setdefault(option.text, option)
        if len(unused) == most:
            break
    return list(unused.values()) or [min(repeated.values(), key=lambda option: last_said[option.text])]


def _evidence(
    chosen: Option, situation: Situation, message: str, past: EncodedMemory, vectors: Vectors
) -> Iterator[Evidence]:
    """Where the reply comes from, the profile sentences that are most like it, and ties to the one faced."""
    language = situation.persona.language
    if chosen.exchange is not None:
        exchange = past.exchanges[chosen.exchange]
        prompt = exchange.heard or exchange.said
        yield taken_from(exchange, _shared(message, prompt.text, language))
    else:
        yield Evidence(chosen.kind, chosen.text, words=_shared(message, chosen.text, language))
    profile = [sentence for sentence in situation.persona.profile if sentence.strip() and sentence != chosen.text]
    likeness = vectors.of(profile) @ vectors.of([chosen.text])[0]
    for index in np.argsort(-likeness, kind="stable")[:SENTENCES].tolist():
        if likeness[index] >= TELLING:
            yield Evidence("profile", profile[index], words=_shared(chosen.text, profile[index], language))
    for tie in ties_to_faced(situation):
        if (sentence := tie_sentence(tie, language)) != chosen.text:
            yield Evidence("relation", sentence)


def _memories(past: EncodedMemory, heard: Floats, message: str) -> Iterator[Evidence]:
    if not message.strip():
        return
    for line, setting, _ in past.memories(heard, MEMORIES, MEMORABLE):
        text = f"{line.speaker}: {line.text}"
        yield Evidence("memory", f"{setting} ({text})" if setting else text, line.moment)


def _shared(message: str, text: str, language: str) -> tuple[str, ...]:
    """Words of meaning two texts have in common, in the order of the first."""
    known = content(words(text, language), language)
    return tuple(word for word in content(words(message, language), language) if word in known)


def _notice(how: str) -> Evidence:
    return Evidence("notice", FOREIGN.format(how=how))
