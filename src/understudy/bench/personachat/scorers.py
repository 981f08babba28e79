"""How well each of many profiles fits what somebody has said so far.

    tfidf      cosine of tf-idf vectors: everything said so far, the whole profile (or the single sentence)
    others     score(profile) = sum over its sentences s of max over utterances u of r(u, s) / sqrt(|profile|)

r is a resemblance (`words`, `links`, `encoder`, or an agent of yours that has `encode`). Names joined by + are added
up, each divided by what it is at its best on training utterances, so that they count alike.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from understudy.agents import agent_named
from understudy.bench.personachat.resemblance import Matrix, Resemblance, Training, by_links, by_words
from understudy.errors import AgentError, InputError
from understudy.lexical import TfIdf

__all__ = ["SCORERS", "ProfileScorer", "resemblance_named", "scorer_named", "scorers_for"]

BEST = "links+encoder"  # what words tell and what meaning tells, together
PROBES = 300  # training utterances by which the scale of a resemblance is told

Make = Callable[[Sequence[str], Training], Resemblance]


def by_encoder(sentences: Sequence[str], training: Training) -> Resemblance:  # noqa: ARG001
    """The cosine of the shipped encoder's vectors: of an utterance as something said, of a sentence as one's own."""
    from understudy.encoding import SentenceEncoder

    encoder = SentenceEncoder()
    known = encoder.encode(list(sentences), role="own")
    return lambda said: encoder.encode(list(said), role="reply") @ known.T


SCORERS: dict[str, Make | None] = {"tfidf": None, "words": by_words, "links": by_links, "encoder": by_encoder}


def scorers_for(training: Training) -> list[str]:
    """Those that what there is allows: `links` needs pairs to learn from, `encoder` the model that is shipped."""
    from understudy.encoding import shipped_model

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
