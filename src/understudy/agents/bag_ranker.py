"""What the three embedding models of PersonaChat share: candidates are ranked by their cosine with a query.

    score(c) = cos(query, c),   c = sum of its words' vectors

How message and profiles make the query is each model's own. Its answer is the best of the character's own lines by that
score; where there is none left to say, it speaks from its profile.

A word that was never seen in training has a vector all the same, made from its spelling: random signs for the word and
for each run of three to five letters in it, drawn by a hash. Training begins with the same vectors, made shorter for
common words. So an unseen word is like itself and like words spelled alike, and unlike all others, as in tf-idf.
"""

from __future__ import annotations

import hashlib
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from understudy.agents.plain_replies import reply_with_line
from understudy.agents.pools import Candidates, Pool, Pools, own_past, taken_from
from understudy.language.lexical import Floats
from understudy.language.model_folder import ModelFolder, read_model
from understudy.story.dialogue import Evidence, Question, Reply, Situation, Turn
from understudy.text import words

CACHED_TEXTS = 1 << 15
CACHED_WORDS = 1 << 12
NGRAM_LENGTHS = (3, 4, 5)
MAX_LETTERS = 64  # of a word that count

MAX_WIDTH, MAX_TURNS = 65_536, 10_000  # of a model folder
BLOCK = 8192  # lines whose vectors are cached together
CACHED_BLOCKS = 8
SENTENCES = 3  # of the profile that are shown


class WordVectors:
    """The vectors of a vocabulary, and of any text."""

    def __init__(self, vocabulary: Sequence[str], rows: Floats) -> None:
        self.width = rows.shape[1]
        self._row_of = {word: row for row, word in enumerate(vocabulary)}
        self._rows = rows
        self._unseen = lru_cache(CACHED_WORDS)(lambda word: spelled(word, self.width))
        # Messages and profiles are wanted as sums, candidates as directions, so no text is cached twice.
        self.of = lru_cache(CACHED_TEXTS)(self.uncached)
        self.direction = lru_cache(CACHED_TEXTS)(lambda text, language="en": unit(self.uncached(text, language)))

    def uncached(self, text: str, language: str = "en") -> Floats:
        """The sum of the vectors of a text's words."""
        tokens = words(text, language)
        known = [self._row_of[word] for word in tokens if word in self._row_of]
        total: Floats = self._rows[known].sum(axis=0, dtype=np.float32)
        for word in tokens:
            if word not in self._row_of:
                total = total + self._unseen(word)
        return total


def spelled(word: str, width: int) -> Floats:
    """A vector of length about 1 for a word, from its letters alone."""
    marked = f"<{word[:MAX_LETTERS]}>"
    ngrams = [
        f"#{marked[start : start + length]}" for length in NGRAM_LENGTHS for start in range(len(marked) - length + 1)
    ]
    signs = _signs([word, *ngrams], width)
    total = signs[0] + signs[1:].sum(axis=0) / math.sqrt(len(ngrams) or 1)
    vector: Floats = (total / math.sqrt(width * (2 if ngrams else 1))).astype(np.float32)
    return vector


def unit(vector: Floats) -> Floats:
    """The same direction, length 1; the zero vector is returned as it is."""
    length = np.float32(math.sqrt(float(np.dot(vector, vector))))
    return vector / length if length > 0 else vector


def _signs(texts: Sequence[str], width: int) -> NDArray[np.int64]:
    """1 and -1, as many as the vector is wide, a row a text."""
    size = -(-width // 8)
    drawn = b"".join(hashlib.shake_128(text.encode("utf-8", "surrogatepass")).digest(size) for text in texts)
    bits = np.unpackbits(np.frombuffer(drawn, np.uint8).reshape(len(texts), size), axis=1, count=width)
    return bits.astype(np.int64) * 2 - 1


@dataclass(frozen=True, slots=True)
class Hop:
    """Something looked up on the way to the query: what kind of thing, its text, its share of the attention."""

    kind: str
    text: str
    share: float


@dataclass(frozen=True, slots=True)
class ReplyQuery:
    """What candidates are compared with, of length 1, and what went into it."""

    direction: Floats
    hops: tuple[Hop, ...] = ()


class BagRanker(ABC):
    """Ranks replies, and answers with the character's own lines."""

    name: ClassVar[str]

    def __init__(self, model: Path | ModelFolder, candidates: Candidates = own_past) -> None:
        """`model` is a folder that `understudy train` made; `candidates` says which lines may be said."""
        folder = model if isinstance(model, ModelFolder) else read_model(model, self.name)
        self.card = dict(folder.card)
        vocabulary = folder.texts("words")
        rows = folder.tensor("vectors", len(vocabulary), None)
        if not 0 < rows.shape[1] <= MAX_WIDTH:  # without words, an empty tensor can claim any width
            raise folder.error(f"its vectors are {rows.shape[1]:,} wide, and must be from 1 to {MAX_WIDTH:,}")
        self.vectors = WordVectors(vocabulary, rows)
        self.turns = max(folder.integer("settings", "turns", low=0, high=MAX_TURNS), 1)
        self.balance = float(folder.tensor("balance"))
        self._prepare(folder)
        self._pools = Pools(candidates)
        self._block = lru_cache(CACHED_BLOCKS)(self._directions)

    def _prepare(self, folder: ModelFolder) -> None:  # noqa: B027
        """Take from the folder what only this model has."""

    @abstractmethod
    def query(self, situation: Situation, history: Sequence[Turn]) -> ReplyQuery: ...

    def score(self, situation: Situation, history: Sequence[Turn], candidates: Sequence[str]) -> list[float]:
        if not candidates:
            return []
        return self._cosines(self.query(situation, history), candidates, situation.persona.language)

    def score_many(self, questions: Sequence[Question]) -> list[list[float]]:
        """The same for many questions; a model that is faster with many at once has its own way."""
        return [self.score(*question) for question in questions]

    def reply(self, situation: Situation, history: Sequence[Turn]) -> Reply:
        pool, query = self._pools.of(situation), self.query(situation, history)
        scores = self._scores(pool, query, situation.persona.language)
        ranked = np.argsort(-scores, kind="stable").tolist()
        return reply_with_line(pool, ranked, scores, situation, history, lambda index: _evidence(pool, index, query))

    def profile(self, situation: Situation) -> list[str]:
        """The sentences of whatever profiles the situation carries: one's own, the other's, both or none."""
        faced = () if situation.faced is None else situation.faced.profile
        return [sentence for sentence in (*situation.persona.profile, *faced) if sentence.strip()]

    def looked_up(self, sentences: Sequence[str], shares: Floats) -> tuple[Hop, ...]:
        return tuple(Hop("profile", sentence, float(share)) for sentence, share in zip(sentences, shares))

    def sums(self, texts: Sequence[str], language: str) -> Floats:
        """The vector of every text, as rows."""
        rows = [self.vectors.of(text, language) for text in texts]
        return np.stack(rows) if rows else np.zeros((0, self.vectors.width), np.float32)

    def _cosines(self, query: ReplyQuery, candidates: Sequence[str], language: str) -> list[float]:
        # One product a candidate: a matrix product rounds differently with the number of its rows.
        return [float(np.dot(self.vectors.direction(text, language), query.direction)) for text in candidates]

    def _scores(self, pool: Pool, query: ReplyQuery, language: str) -> Floats:
        blocks = [
            self._block(pool, start, language) @ query.direction for start in range(0, len(pool.exchanges), BLOCK)
        ]
        return np.concatenate(blocks) if blocks else np.zeros(0, np.float32)

    def _directions(self, pool: Pool, start: int, language: str) -> Floats:
        texts = (exchange.said.text for exchange in pool.exchanges[start : start + BLOCK])
        return np.stack([unit(self.vectors.uncached(text, language)) for text in texts])


def message_of(history: Sequence[Turn], turns: int) -> str:
    """The last turns, as one text."""
    return " ".join(turn.text for turn in history[-turns:])


def attention(query: Floats, rows: Floats) -> Floats:
    """softmax(cos(query, row)) over the rows."""
    lengths = np.sqrt((rows * rows).sum(axis=1))
    cosines = (rows @ unit(query)) / np.where(lengths > 0, lengths, np.float32(1))
    grown = np.exp(cosines - cosines.max(initial=-1.0))
    shares: Floats = grown / grown.sum()
    return shares


def _evidence(pool: Pool, index: int, query: ReplyQuery) -> Iterator[Evidence]:
    """When the line was said, and what was looked up, with its share of the attention."""
    exchange = pool.exchanges[index]
    yield taken_from(exchange)
    if exchange.setting:
        yield Evidence("memory", exchange.setting, exchange.said.moment)
    for kind in ("profile", "memory"):
        of_kind = sorted((hop for hop in query.hops if hop.kind == kind), key=lambda hop: -hop.share)
        for hop in of_kind[:SENTENCES]:
            yield Evidence(kind, f"{hop.text} (attention {hop.share:.2f})")


# Starspace (Wu et al. 2017) as PersonaChat uses it: the profile joins the message, and one cosine ranks.
#
#     sim(q, c) = cos(q, c)
#     q = sum of W_w over words w of the message + b * sum of W_w over words w of the profile sentences
#     c = sum of W_w over words w of the candidate
#
# W is one table of word vectors for all; b, how much a word of a profile counts, is learnt with it. Both are trained so
# that the true reply is nearer than others by a margin. The attention shown as evidence is how like the query each
# sentence is; it takes no part in the score.


class Starspace(BagRanker):
    name = "starspace"

    def query(self, situation: Situation, history: Sequence[Turn]) -> ReplyQuery:
        language = situation.persona.language
        total = self.vectors.of(message_of(history, self.turns), language)
        sentences = self.profile(situation)
        if not sentences:
            return ReplyQuery(unit(total))
        rows = self.sums(sentences, language)
        total = total + np.float32(self.balance) * rows.sum(axis=0)
        return ReplyQuery(unit(total), self.looked_up(sentences, attention(total, rows)))


# The ranking Profile Memory network of PersonaChat: the message looks up the profile before it looks for a reply.
#
#     s_i = softmax over i of cos(q, p_i)         over the profile sentences p_i
#     q+  = q + b * sum_i s_i p_i                 once for every hop
#     score(c) = cos(q+, c)
#
# q, p_i and c are sums of word vectors from one table; b, how much the profile counts, is learnt with it.


MAX_HOPS = 100


class ProfileMemory(BagRanker):
    name = "profile-memory"

    def _prepare(self, folder: ModelFolder) -> None:
        self.hops = max(folder.integer("settings", "hops", low=0, high=MAX_HOPS), 1)

    def query(self, situation: Situation, history: Sequence[Turn]) -> ReplyQuery:
        total, looked_up = self.first_hops(situation, history)
        return ReplyQuery(unit(total), looked_up)

    def first_hops(self, situation: Situation, history: Sequence[Turn]) -> tuple[Floats, tuple[Hop, ...]]:
        """q+ and the attention of the last hop."""
        language = situation.persona.language
        total = self.vectors.of(message_of(history, self.turns), language)
        sentences = self.profile(situation)
        if not sentences:
            return total, ()
        rows = self.sums(sentences, language)
        for _ in range(self.hops):
            shares = attention(total, rows)
            total = total + np.float32(self.balance) * (shares[:, None] * rows).sum(axis=0)
        return total, self.looked_up(sentences, shares)


# The Key-Value Profile Memory network of PersonaChat: a second hop over what was said in training.
#
#     q+  = q + b * sum_i s_i p_i                             as in `profile_memory`, with its weights
#     t_j = softmax over j of a * cos(q+, k_j)                over keys k_j, the messages of the training dialogues
#     q++ = unit(q+) + g * unit(sum_j t_j unit(v_j))          values v_j are the replies they got
#     score(c) = cos(q++, c)
#
# Only the 64 nearest keys are attended to. a and g are settings of the model folder, which carries the messages and
# replies as texts. As in the paper, nothing is trained with the second hop: it is added at test time.


NEAREST = 64
RECALLED = 8  # shown as evidence


class KeyValueMemory(ProfileMemory):
    name = "kv-memory"

    def _prepare(self, folder: ModelFolder) -> None:
        super()._prepare(folder)
        self._heard, self._said = folder.texts("memory.heard"), folder.texts("memory.said")
        if len(self._heard) != len(self._said):
            raise folder.error(f"its memory has {len(self._heard)} messages and {len(self._said)} replies")
        self._sharpness = float(folder.number("settings", "sharpness", low=0, high=1_000))
        self._gain = float(folder.number("settings", "gain", low=-1_000, high=1_000))
        self._keys, self._values = self._rows(self._heard), self._rows(self._said)

    def query(self, situation: Situation, history: Sequence[Turn]) -> ReplyQuery:
        total, looked_up = self.first_hops(situation, history)
        first = unit(total)
        return self._second_hop(first, looked_up, self._keys @ first)

    def score_many(self, questions: Sequence[Question]) -> list[list[float]]:
        """All questions look up the keys together, which takes a tenth of the time."""
        first = [self.first_hops(situation, history) for situation, history, _ in questions]
        directions = [unit(total) for total, _ in first]
        nearness = np.stack(directions) @ self._keys.T if directions else np.zeros((0, len(self._keys)), np.float32)
        queries = (
            self._second_hop(direction, hops, row) for direction, (_, hops), row in zip(directions, first, nearness)
        )
        return [
            self._cosines(query, candidates, situation.persona.language)
            for query, (situation, _, candidates) in zip(queries, questions)
        ]

    def _second_hop(self, first: Floats, looked_up: tuple[Hop, ...], nearness: Floats) -> ReplyQuery:
        nearest = _largest(nearness, NEAREST)
        if not len(nearest) or not first.any():
            return ReplyQuery(first, looked_up)
        grown = np.exp(np.float32(self._sharpness) * (nearness[nearest] - nearness[nearest].max()))
        shares = grown / grown.sum()
        recalled = unit((shares[:, None] * self._values[nearest]).sum(axis=0))
        order = np.argsort(-shares, kind="stable")[:RECALLED]
        memories = tuple(
            Hop("memory", f"{self._heard[nearest[at]]} -> {self._said[nearest[at]]}", float(shares[at])) for at in order
        )
        return ReplyQuery(unit(first + np.float32(self._gain) * recalled), (*looked_up, *memories))

    def _rows(self, texts: Sequence[str]) -> Floats:
        rows = np.empty((len(texts), self.vectors.width), np.float32)
        for row, text in enumerate(texts):
            rows[row] = unit(self.vectors.uncached(text))
        return rows


def _largest(numbers: Floats, k: int) -> NDArray[np.intp]:
    """Indices of the k largest numbers, ascending."""
    if k >= len(numbers):
        return np.arange(len(numbers))
    return np.sort(np.argpartition(-numbers, k)[:k])
