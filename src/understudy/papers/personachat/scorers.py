"""How well each of many profiles fits what somebody has said so far.

    tfidf      cosine of tf-idf vectors: everything said so far, the whole profile (or the single sentence)
    others     score(profile) = sum over its sentences s of max over utterances u of r(u, s) / sqrt(|profile|)

r is a resemblance (`words`, `links`, `encoder`, or an agent of yours that has `encode`). Names joined by + are added
up, each divided by what it is at its best on training utterances, so that they count alike.

A resemblance is how much an utterance gives away of a profile sentence. It is made for the sentences it is to know and
then takes utterances: a row for each, a column for each sentence, higher is more. Words are cut to their stems
('remodeling', 'remodel'), and what a word weighs is learnt from training dialogues.

    words   cosine of stems, a stem weighing idf ** 1.5: rare words tell more of a person than plain tf-idf believes
    links   log(1 - b + b * P(w | sentence) / P(w)) summed over an utterance's stems, never below 0, where
            P(w | sentence) = mean over its stems v of 0.3 [w = v] + 0.7 t(w | v), b = 0.1, and t(w | v) is how often
            a profile's v comes out as w when people talk ('mother', 'mom'): learnt from pairs of a profile sentence
            and an utterance that expresses it (IBM's translation model 1)

The numbers were chosen on training dialogues.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from understudy.agents import agent_named
from understudy.errors import AgentError, InputError
from understudy.language.lexical import TfIdf
from understudy.text import stems

Matrix = NDArray[np.float32]
Resemblance = Callable[[Sequence[str]], Matrix]
Links = Mapping[str, Mapping[str, float]]
"""For a stem of a profile, how probable each stem is when it is talked of."""

POWER = 1.5
TALKED_OF = 0.1
SAME_STEM = 0.3
ROUNDS = 5
LEAST_LINK = 0.004
NULL = ""  # what an utterance's words come from when they come from no word of the sentence

BEST = "links+encoder"  # what words tell and what meaning tells, together
PROBES = 300  # training utterances by which the scale of a resemblance is told


@dataclass(frozen=True, slots=True)
class Training:
    """What the measures learn from: utterances, profile sentences, and pairs of one with the other."""

    utterances: Sequence[str]
    sentences: Sequence[str]
    pairs: Sequence[tuple[str, str]] = ()


def by_words(sentences: Sequence[str], training: Training) -> Resemblance:
    """The measure `words`."""
    texts = [*training.utterances, *training.sentences]
    seen = Counter(stem for text in texts for stem in set(stems(text)))
    weigh = _Weigh(seen, len(texts))
    table = _SentenceWords((_unit(stems(text), weigh) for text in sentences), len(sentences))
    return lambda said: np.stack([table.sums(_unit(stems(text), weigh)) for text in said])


def by_links(sentences: Sequence[str], training: Training) -> Resemblance:
    """The measure `links`."""
    links = learn_links(training.pairs)
    plain = Counter(stem for text in training.utterances for stem in stems(text))
    every = plain.total() + 0.5 * (len(plain) + 1)

    def gains(sentence: str) -> dict[str, float]:
        known = set(stems(sentence))
        chance: defaultdict[str, float] = defaultdict(float)
        for stem in known:
            chance[stem] += SAME_STEM / len(known)
            for word, share in links.get(stem, {}).items():
                chance[word] += (1 - SAME_STEM) * share / len(known)
        odds = {word: share * every / (plain[word] + 0.5) for word, share in chance.items()}
        return {word: float(np.log1p(TALKED_OF / (1 - TALKED_OF) * odd)) for word, odd in odds.items()}

    table = _SentenceWords((gains(sentence) for sentence in sentences), len(sentences))

    def resemblance(said: Sequence[str]) -> Matrix:
        bags = [Counter(stems(text)) for text in said]
        summed = np.stack([table.sums(bag) for bag in bags])
        unsaid = np.array([bag.total() for bag in bags], dtype=np.float32) * np.float32(np.log(1 - TALKED_OF))
        return np.maximum(summed + unsaid[:, None], 0, dtype=np.float32)

    return resemblance


def learn_links(pairs: Iterable[tuple[str, str]]) -> Links:
    """t(w | v) by expectation maximisation: each word said is shared out among the words it may have come from."""
    numbers: dict[str, int] = {NULL: 0}
    sources, targets, groups, group = list[int](), list[int](), list[int](), 0
    for sentence, utterance in pairs:
        origins = [0, *(numbers.setdefault(stem, len(numbers)) for stem in dict.fromkeys(stems(sentence)))]
        for stem in stems(utterance):
            word = numbers.setdefault(stem, len(numbers))
            sources += origins
            targets += [word] * len(origins)
            groups += [group] * len(origins)
            group += 1
    if not group:
        return {}
    keys, index = np.unique(np.array(sources) * len(numbers) + np.array(targets), return_inverse=True)
    origin, word_of = np.divmod(keys, len(numbers))
    said = np.array(groups)
    chance = np.ones(len(keys))
    for _ in range(ROUNDS):
        share = chance[index]
        share /= np.bincount(said, share)[said]
        counts = np.bincount(index, share, len(keys))
        chance = counts / np.bincount(origin, counts, len(numbers))[origin]
    names = list(numbers)
    links: dict[str, dict[str, float]] = {}
    for at in np.flatnonzero((chance >= LEAST_LINK) & (origin > 0)):
        links.setdefault(names[origin[at]], {})[names[word_of[at]]] = float(chance[at])
    return links


class _Weigh:
    def __init__(self, seen: Mapping[str, int], texts: int) -> None:
        self._seen, self._texts = seen, texts

    def __call__(self, stem: str) -> float:
        return math.pow(math.log((1 + self._texts) / (1 + self._seen.get(stem, 0))), POWER)


def _unit(bag: Sequence[str], weigh: Callable[[str], float]) -> dict[str, float]:
    weights = {stem: (1 + math.log(count)) * weigh(stem) for stem, count in Counter(bag).items()}
    norm = math.hypot(*weights.values()) or 1.0
    return {stem: weight / norm for stem, weight in weights.items()}


class _SentenceWords:
    """Weights of words in texts, by word: adding up a query's words touches only the texts that have them."""

    def __init__(self, bags: Iterable[Mapping[str, float]], size: int) -> None:
        posted: dict[str, tuple[list[int], list[float]]] = {}
        for number, bag in enumerate(bags):
            for word, weight in bag.items():
                indices, weights = posted.setdefault(word, ([], []))
                indices.append(number)
                weights.append(weight)
        self._size = size
        self._posted = {
            word: (np.array(indices), np.array(weights, dtype=np.float32))
            for word, (indices, weights) in posted.items()
        }

    def sums(self, query: Mapping[str, float]) -> Matrix:
        totals = np.zeros(self._size, dtype=np.float32)
        for word, weight in query.items():
            if word in self._posted:
                indices, weights = self._posted[word]
                totals[indices] += weights * np.float32(weight)  # a text stands once in a posting
        return totals


Make = Callable[[Sequence[str], Training], Resemblance]


def by_encoder(sentences: Sequence[str], training: Training) -> Resemblance:  # noqa: ARG001
    """The cosine of the shipped encoder's vectors: of an utterance as something said, of a sentence as one's own."""
    from understudy.language.encoding.encoder import SentenceEncoder

    encoder = SentenceEncoder()
    known = encoder.encode(list(sentences), role="own")
    return lambda said: encoder.encode(list(said), role="reply") @ known.T


SCORERS: dict[str, Make | None] = {"tfidf": None, "words": by_words, "links": by_links, "encoder": by_encoder}


def scorers_for(training: Training) -> list[str]:
    """Those that what there is allows: `links` needs pairs to learn from, `encoder` the model that is shipped."""
    from understudy.language.encoding.encoder import shipped_model

    missing = {"links": not training.pairs, "encoder": not (shipped_model() / "model.json").is_file()}
    ready = [name for name in SCORERS if not missing.get(name, False)]
    return [*ready, *([BEST] if set(BEST.split("+")) <= set(ready) else [])]


class ProfileScorer(Protocol):
    """Knows some profiles. `starts` says where each one's sentences begin among all their sentences."""

    starts: NDArray[np.int64]

    def scores(self, said: Sequence[str]) -> tuple[Matrix, Matrix]:
        """After each utterance: a score for every profile, and for every sentence of theirs."""
        ...


def scorer_named(name: str, profiles: Sequence[Sequence[str]], training: Training) -> ProfileScorer:
    if name == "tfidf":
        return _Whole(profiles)
    sentences = list(dict.fromkeys(sentence for profile in profiles for sentence in profile))
    return _BySentence(profiles, sentences, resemblance_named(name, sentences, training))


def resemblance_named(name: str, sentences: Sequence[str], training: Training) -> Resemblance:
    """A resemblance by its name, several joined by +, or that of an agent's encoder."""
    parts = [_resemblance(part.strip(), sentences, training) for part in name.split("+")]
    if len(parts) == 1:
        return parts[0]
    probes = training.utterances[:PROBES]
    if not probes:
        raise InputError(f"'{name}' needs training utterances, by which its parts are made to count alike")
    scales = [float(part(probes).max(axis=1).mean()) or 1.0 for part in parts]
    return lambda said: np.sum([part(said) / scale for part, scale in zip(parts, scales)], axis=0, dtype=np.float32)


def _resemblance(name: str, sentences: Sequence[str], training: Training) -> Resemblance:
    if name == "links" and not training.pairs:
        raise InputError("'links' learns from pairs of a profile sentence and an utterance, and the folder has none")
    make = SCORERS.get(name)
    if make is not None:
        return make(sentences, training)
    agent: Any = agent_named(name)
    encode = getattr(agent, "encode", None)
    if encode is None:
        raise AgentError(
            f"'{name}' cannot compare sentences: choose from {', '.join(SCORERS)}, or an agent with encode"
        )
    known = np.asarray(encode(list(sentences)), dtype=np.float32)
    return lambda said: np.asarray(encode(list(said)), dtype=np.float32) @ known.T


class _Whole:
    """The obvious way: one text against another."""

    def __init__(self, profiles: Sequence[Sequence[str]]) -> None:
        self.starts = _starts(profiles)
        self._profiles = TfIdf(" ".join(profile) for profile in profiles)
        self._sentences = TfIdf(sentence for profile in profiles for sentence in profile)

    def scores(self, said: Sequence[str]) -> tuple[Matrix, Matrix]:
        prefixes = [" ".join(said[: length + 1]) for length in range(len(said))]
        by_profile = np.stack([self._profiles.scores(text) for text in prefixes])
        return by_profile, np.stack([self._sentences.scores(text) for text in prefixes])


class _BySentence:
    """A sentence counts as much as the utterance that gives it away most."""

    def __init__(self, profiles: Sequence[Sequence[str]], sentences: Sequence[str], measure: Resemblance) -> None:
        self.starts = _starts(profiles)
        number = {sentence: index for index, sentence in enumerate(sentences)}
        self._places = np.array([number[sentence] for profile in profiles for sentence in profile], dtype=np.int64)
        self._roots = np.sqrt(np.array([len(profile) for profile in profiles], dtype=np.float32))
        self._measure = measure

    def scores(self, said: Sequence[str]) -> tuple[Matrix, Matrix]:
        best: Matrix = np.maximum.accumulate(self._measure(said), axis=0)[:, self._places]
        by_profile = np.add.reduceat(best, self.starts, axis=1) / self._roots
        return by_profile.astype(np.float32), best


def _starts(profiles: Sequence[Sequence[str]]) -> NDArray[np.int64]:
    return np.cumsum([0, *(len(profile) for profile in profiles)], dtype=np.int64)[:-1]
