"""The ranker that ships: replies chosen by a sentence encoder trained for it.

    score:   score(c) = fit(c) + shared(c) - hubness(c)           see `fit`
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
is said twice in a conversation while there is something else, and no line that was meant for somebody else
(`addressing`).

Scenes that bear on the message are shown beside the reply as memories. The model reads English: for Japanese and
Chinese the multilingual encoder is taken where one is installed, else tf-idf over the language's own words, and the
reply's evidence says which.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from understudy.agents.addressing import Addressing
from understudy.agents.dialogue_context import (
    content,
    heard_words,
    is_first_person,
    last_heard,
    said_before,
    shared_content,
    ties_to_faced,
)
from understudy.agents.fit import CachedEncoder, Fit, Hubness, SharedWords, build_context, build_fits
from understudy.agents.plain_replies import bank_lines, fallbacks, register_of
from understudy.agents.pools import (
    Candidates,
    EncodedExchanges,
    EncodedMemories,
    EncodedMemory,
    own_past,
    said_at,
    taken_from,
)
from understudy.agents.tfidf import TfIdfAgent
from understudy.language.encoding import Floats
from understudy.language.encoding.cache import BACKGROUND
from understudy.language.encoding.encoder import MultilingualEncoder, SentenceEncoder, read_encoder_card, shipped_model
from understudy.story.dialogue import Candidate, Evidence, Question, Reply, Situation, Turn
from understudy.story.types import Moment
from understudy.story.wording import plain_lines, tie_sentence

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
ENCODING = (
    "chosen from the {ranked:,} of {all:,} exchanges that share most words with the message or are the newest: "
    "the others are still being encoded"
)
FOREIGN = "the encoder that ships reads English; this was found by {how}"


@dataclass(frozen=True, slots=True)
class ReplyOption:
    """Something that could be said: where it comes from, its score, and which exchange it was."""

    text: str
    kind: str
    score: float
    exchange: int | None = None
    moment: Moment | None = None


class EncoderAgent:
    """Answers with what was said before, chosen by meaning; ranks replies."""

    considered = SHOWN
    """How many of the best options are scored; beyond those shown, by a model that reads them again."""

    def __init__(
        self,
        model: Path | None = None,
        candidates: Candidates = own_past,
        threads: int = 1,
        cache: Path | bool | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        """`model` is a model folder, by default the shipped one; `cache` the folder of encodings, False for none."""
        self._model = model or shipped_model()
        read_encoder_card(self._model)  # an unusable folder is reported now, not at the first message
        self._threads, self._cache, self._progress = threads, cache, progress
        self._memories = EncodedMemories(candidates)
        self._by_words = TfIdfAgent(candidates)

    @cached_property
    def _english(self) -> CachedEncoder:
        return CachedEncoder(self._english_encoder)

    @cached_property
    def _english_encoder(self) -> SentenceEncoder:
        return SentenceEncoder(self._model, self._threads, self._cache, self._progress)

    @cached_property
    def _shared_words(self) -> SharedWords:
        return SharedWords(self._english_encoder)

    @cached_property
    def _hubness(self) -> Hubness:
        return Hubness(self._english_encoder)

    @cached_property
    def _multilingual(self) -> CachedEncoder | None:
        encoder = MultilingualEncoder.find(self._cache, self._progress)
        return None if encoder is None else CachedEncoder(encoder)

    def encoder(self, language: str) -> CachedEncoder | None:
        """The encoder of a language; None where none is installed."""
        return self._english if language == READ else self._multilingual

    def memory(self, situation: Situation, cached: CachedEncoder) -> EncodedMemory:
        """What the character may draw on, encoded."""
        return self._memories.of(situation, cached.encoder)

    def score(self, situation: Situation, history: Sequence[Turn], candidates: Sequence[str]) -> list[float]:
        cached = self.encoder(situation.persona.language)
        if cached is None:
            return self._by_words.score(situation, history, candidates)
        if not candidates:
            return []
        encoded = cached.encode(candidates)
        fit = build_fits(cached, [(situation, history)])[0]
        return self._add_terms(fit, encoded, situation, history, candidates)

    def score_many(self, questions: Sequence[Question]) -> list[list[float]]:
        """`score` of many questions, encoded in batches and cached on disk."""
        cached = self.encoder(READ)
        if cached is None or any(situation.persona.language != READ for situation, _, _ in questions):
            return [self.score(*question) for question in questions]
        fits = build_fits(cached, [(situation, history) for situation, history, _ in questions], keep=True)
        texts = list(dict.fromkeys(text for _, _, candidates in questions for text in candidates))
        rows = {text: row for row, text in enumerate(texts)}
        encoded = cached.encoder.encode(texts)
        results = []
        for fit, (situation, history, candidates) in zip(fits, questions):
            own = encoded[[rows[text] for text in candidates]]
            results.append(self._add_terms(fit, own, situation, history, candidates))
        return results

    def _add_terms(
        self, fit: Fit, encoded: Floats, situation: Situation, history: Sequence[Turn], candidates: Sequence[str]
    ) -> list[float]:
        """The fits with shared words and hubness, where the model has weights for them."""
        fits = fit.independent_scores(encoded)
        if situation.persona.language != READ:
            return fits
        shared = self._shared_words.scores(build_context(situation, history), candidates, fit.told)
        hubness = self._hubness.scores(candidates, encoded)
        return [round(alone + word - hub, 6) for alone, word, hub in zip(fits, shared, hubness)]

    def reply(self, situation: Situation, history: Sequence[Turn]) -> Reply:
        language = situation.persona.language
        cached = self.encoder(language)
        if cached is None:
            reply = self._by_words.reply(situation, history)
            return replace(reply, evidence=(*reply.evidence, _notice("the words it shares with the message")))
        with BACKGROUND.paused():
            return self._reply(situation, history, cached)

    def _reply(self, situation: Situation, history: Sequence[Turn], cached: CachedEncoder) -> Reply:
        language = situation.persona.language
        message = last_heard(situation.persona, history)
        message_vector = cached.encode([message])[0]
        past = self._memories.of(situation, cached.encoder)
        query = content(heard_words(situation.persona, message), language)
        ranked = past.ranked_for(query)
        fit = build_fits(cached, [(situation, history)])[0]
        options = _options(situation, fit, query, message, message_vector, past, ranked, cached)
        shown = self._select(situation, history, options)
        evidence = [*_evidence(shown[0], situation, message, past, cached)]
        evidence += memory_evidence(past, message_vector, query, message)
        if not ranked.is_complete:
            evidence.append(Evidence("notice", ENCODING.format(ranked=len(ranked.indices), all=len(past.exchanges))))
        if language != READ:
            evidence.append(_notice("a multilingual encoder"))
        return Reply(
            shown[0].text,
            tuple(Candidate(option.text, round(option.score, 6), option.moment) for option in shown),
            tuple(evidence),
        )

    def _select(
        self, situation: Situation, history: Sequence[Turn], options: Iterable[ReplyOption]
    ) -> list[ReplyOption]:
        """The options to show; the first of them is said."""
        most = SHOWN if situation.persona.language != READ else self.considered
        chosen = unsaid(options, said_before(situation.persona, history), most)
        if most == SHOWN:
            return chosen
        scores = self._rescored((situation, history, [option.text for option in chosen]), chosen)
        rescored = [replace(option, score=score) for option, score in zip(chosen, scores)]
        return sorted(rescored, key=lambda option: -option.score)[:SHOWN]

    def _rescored(self, question: Question, options: Sequence[ReplyOption]) -> list[float]:
        """The scores of the best options by a model that reads them again."""
        raise NotImplementedError


def _options(
    situation: Situation,
    fit: Fit,
    query: Mapping[str, float],
    message: str,
    message_vector: Floats,
    past: EncodedMemory,
    ranked: EncodedExchanges,
    cached: CachedEncoder,
) -> Iterator[ReplyOption]:
    """What could be said, best first, ties in their order; never empty. Lazy, since a past can be long.

    Lines that were meant for somebody else are left out.
    """
    indices = ranked.indices
    scores = (
        fit.scores(ranked.said)
        + HEARD * ranked.heard_likeness(message_vector)
        + WORDS * past.shared_words(query)[indices]
    )
    scores += RECENT * indices.astype(np.float32) / max(len(past.exchanges), LONG_PAST)
    if situation.faced is not None:
        scores[past.heard_from(situation.faced.name)[indices]] += FACED
    lines = (
        ReplyOption(exchange.said.text.strip(), "exchange", float(scores[row]), index, said_at(exchange))
        for row, index in ((row, int(indices[row])) for row in np.argsort(-scores, kind="stable").tolist())
        for exchange in (past.exchanges[index],)
    )
    own = _suited(lines, situation, message, past)
    if past.distinct >= FEW:
        return own
    texts = dict(_sayings(situation, [exchange.said.text for exchange in past.exchanges]))
    scores_of_texts = fit.scores(cached.encode(list(texts)))
    additional = (
        ReplyOption(text, kind, float(score) - (BANK if kind == "bank" else 0))
        for (text, kind), score in zip(texts.items(), scores_of_texts)
    )
    return iter(sorted((*own, *additional), key=lambda option: -option.score))


def _suited(
    own: Iterable[ReplyOption], situation: Situation, message: str, past: EncodedMemory
) -> Iterator[ReplyOption]:
    """Own lines but those that were meant for somebody else; where there are such, ways of not answering come last."""
    addressing, has_others = Addressing(situation), False
    for option in own:
        assert option.exchange is not None
        if addressing.suits(past.exchanges[option.exchange], message):
            yield option
        else:
            has_others = True
    if has_others:
        yield from _evasions(situation, message, past)


def _evasions(situation: Situation, message: str, past: EncodedMemory) -> Iterator[ReplyOption]:
    """For want of a line: ways of not answering a question, and remarks where nothing was asked."""
    persona = situation.persona
    register = register_of([*(exchange.said.text for exchange in past.exchanges), *persona.profile])
    purpose = "evasions" if message.rstrip().endswith(("?", "？", "吗", "か")) else "remarks"
    for line in fallbacks(purpose, register, persona.language):
        yield ReplyOption(line, "bank", 0.0)


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
        if sentence.strip() and (persona.language != READ or is_first_person(sentence)):
            yield sentence.strip(), "profile"
    for tie in ties_to_faced(situation):
        yield tie_sentence(tie, persona.language), "relation"


def unsaid(options: Iterable[ReplyOption], said: Sequence[str], most: int) -> list[ReplyOption]:
    """The first few that differ and have not been said; where all have, the one said longest ago."""
    last_said = {text: index for index, text in enumerate(said)}
    unused, repeated = dict[str, ReplyOption](), dict[str, ReplyOption]()
    for option in options:
        (repeated if option.text in last_said else unused).setdefault(option.text, option)
        if len(unused) == most:
            break
    return list(unused.values()) or [min(repeated.values(), key=lambda option: last_said[option.text])]


def _evidence(
    chosen: ReplyOption, situation: Situation, message: str, past: EncodedMemory, cached: CachedEncoder
) -> Iterator[Evidence]:
    """Where the reply comes from, the profile sentences that are most like it, and ties to the one faced."""
    language = situation.persona.language
    if chosen.exchange is not None:
        exchange = past.exchanges[chosen.exchange]
        prompt = exchange.heard or exchange.said
        yield taken_from(exchange, shared_content(message, prompt.text, language))
    else:
        yield Evidence(chosen.kind, chosen.text, words=shared_content(message, chosen.text, language))
    profile = [sentence for sentence in situation.persona.profile if sentence.strip() and sentence != chosen.text]
    similarity = cached.encode(profile) @ cached.encode([chosen.text])[0]
    for index in np.argsort(-similarity, kind="stable")[:SENTENCES].tolist():
        if similarity[index] >= TELLING:
            yield Evidence("profile", profile[index], words=shared_content(chosen.text, profile[index], language))
    for tie in ties_to_faced(situation):
        if (sentence := tie_sentence(tie, language)) != chosen.text:
            yield Evidence("relation", sentence)


def memory_evidence(
    past: EncodedMemory, message_vector: Floats, query: Mapping[str, float], message: str
) -> Iterator[Evidence]:
    """The scenes that bear on a message, as they are shown beside a reply."""
    if not message.strip():
        return
    for line, setting, _ in past.memories(message_vector, query, MEMORIES, MEMORABLE):
        text = f"{line.speaker}: {line.text}"
        yield Evidence("memory", f"{setting} ({text})" if setting else text, line.moment)


def _notice(how: str) -> Evidence:
    return Evidence("notice", FOREIGN.format(how=how))
