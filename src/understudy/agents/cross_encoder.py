"""The cross-encoder: reads a context and a reply together, beside the encoder that reads them apart.

    score(c) = cross(context, c) + w fit(c)                fit is the encoder's, see `fit`; w comes with the model
    reply:     the encoder's 20 best, by cross(context, c) + w (what the encoder gave them)
    cross    = W2 gelu(W1 f + b1) + b2                     f is what the model makes of the two

What it reads is one sequence: the context as the encoder reads it, then the reply. That is a run of the model for every
candidate, so it re-ranks what the encoder has found. It reads English; for other languages the encoder alone decides.

    my-cross-encoder/
        model.json            the card: w, how sequences are made, figures
        cross-encoder.onnx    sequences in, f of each out
        head.safetensors      W1, b1, W2, b2
        tokenizer.json
        encoder/              the encoder it stands beside, a model folder of its own
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy.agents.encoder import READ, EncoderAgent, ReplyOption
from understudy.agents.fit import MAX_PROFILE, build_context, shorten_profile
from understudy.agents.pools import Candidates, own_past
from understudy.errors import InputError
from understudy.language.encoding import MAX_WEIGHT, Context, Sequencer, parse_sequence_format
from understudy.language.encoding.encoder import load_session, load_tokenizer
from understudy.language.model_folder import ModelFolder, is_number, read_card, read_tensors
from understudy.story.dialogue import Question, Situation, Turn

NAME = "cross-encoder"
GRAPH, HEAD_FILE, TOKENIZER, ENCODER = "cross-encoder.onnx", "head.safetensors", "tokenizer.json", "encoder"
HEAD = ("head.0.weight", "head.0.bias", "head.2.weight", "head.2.bias")
RERANKED = 20
STEP = 8  # a pair's tokens are filled up to a multiple of this, and run with pairs as long
BATCH_TOKENS = 512

Progress = Callable[[int, int], None]


class PairScorer:
    """Runs the model of a folder on pairs of a context and a reply."""

    def __init__(self, folder: Path, card: dict[str, Any], threads: int) -> None:
        self._session = load_session(folder / GRAPH, 1)
        self._sequencer = Sequencer(parse_sequence_format(card, folder), load_tokenizer(folder / TOKENIZER))
        # In full precision a row of a product depends in its last digits on how many rows there are.
        self._batch_tokens = BATCH_TOKENS if card.get("bits") == 8 else 1
        self._threads = threads
        head = ModelFolder(card, read_tensors(folder / HEAD_FILE)[0], folder)
        width = int(card["width"])
        self._head = [
            head.tensor(name, *size).astype(np.float64)
            for name, size in zip(HEAD, ((None, 3 * width), (None,), (1, None), (1,)))
        ]

    def scores(
        self, contexts: Sequence[Context], replies: Sequence[Sequence[str]], progress: Progress | None = None
    ) -> list[list[float]]:
        """The scores of each context's replies."""
        context_ids = self._sequencer.contexts(contexts)
        texts = list(dict.fromkeys(text for candidates in replies for text in candidates))
        reply_ids = dict(zip(texts, self._sequencer.texts(texts, "reply")))
        batches = [(ids, [reply_ids[text] for text in candidates]) for ids, candidates in zip(context_ids, replies)]
        results = list[list[float]]()
        with ThreadPoolExecutor(self._threads) as pool:
            for scores in pool.map(self._scores, batches):
                results.append(scores)
                if progress is not None:
                    progress(len(results), len(batches))
        return results

    def _scores(self, batch: tuple[list[int], list[list[int]]]) -> list[float]:
        context, replies = batch
        scores = [0.0] * len(replies)
        lengths = [-(-(len(context) + len(reply) - 1) // STEP) * STEP for reply in replies]
        for length in sorted(set(lengths)):
            same_length = [index for index, own in enumerate(lengths) if own == length]
            size = max(self._batch_tokens // length, 1)
            for start in range(0, len(same_length), size):
                rows = same_length[start : start + size]
                for index, score in zip(rows, self._run(context, [replies[index] for index in rows], length)):
                    scores[index] = score
        return scores

    def _run(self, context: list[int], replies: list[list[int]], length: int) -> list[float]:
        ids, mask, types = (np.zeros((len(replies), length), np.int64) for _ in range(3))
        for row, reply in enumerate(replies):
            end = len(context) + len(reply) - 1  # its first token is the context's
            ids[row, :end] = [*context, *reply[1:]]
            mask[row, :end] = 1
            types[row, len(context) : end] = 1
        inputs = {"ids": ids, "mask": mask, "types": types}
        return [self._head_score(features) for features in self._session.run(None, inputs)[0].astype(np.float64)]

    def _head_score(self, features: NDArray[np.float64]) -> float:
        """The head of one pair, computed alone, so that no digit depends on the other pairs."""
        first, first_bias, second, second_bias = self._head
        inner = first @ features + first_bias
        inner *= 0.5 * (1 + np.array([math.erf(value) for value in inner / math.sqrt(2)]))
        return float(second[0] @ inner + second_bias[0])


class CrossEncoder(EncoderAgent):
    """Answers as the encoder does, with its best options re-ranked; ranks replies."""

    considered = RERANKED

    def __init__(
        self,
        model: Path,
        candidates: Candidates = own_past,
        threads: int = 1,
        cache: Path | bool | None = None,
        progress: Progress | None = None,
    ) -> None:
        """`model` is a model folder that 'understudy train cross-encoder' made; for the others see the encoder."""
        self.card = read_card(model, NAME)
        for name in (GRAPH, HEAD_FILE, TOKENIZER):
            if not (model / name).is_file():
                raise InputError(f"the model folder is not whole: it has no {name}; train it again", model)
        weight = self.card.get("weight")
        if not is_number(weight) or abs(weight) > MAX_WEIGHT:
            raise InputError("the card has no number for 'weight': train the model again, or fetch it again", model)
        self._weight = float(weight)
        self._folder = model
        super().__init__(model / ENCODER, candidates, threads, cache, progress)

    @cached_property
    def _pairs(self) -> PairScorer:
        return PairScorer(self._folder, self.card, self._threads)

    def score(self, situation: Situation, history: Sequence[Turn], candidates: Sequence[str]) -> list[float]:
        fits = super().score(situation, history, candidates)
        if situation.persona.language != READ:
            return fits
        return self._combine(self._cross_scores([(situation, history, candidates)])[0], fits)

    def score_many(self, questions: Sequence[Question]) -> list[list[float]]:
        """`score` of many questions; the encoder's vectors are cached on disk."""
        if any(situation.persona.language != READ for situation, _, _ in questions):
            return [self.score(*question) for question in questions]
        return [self._combine(*both) for both in zip(self._cross_scores(questions), super().score_many(questions))]

    def _combine(self, cross_scores: Sequence[float], fits: Sequence[float]) -> list[float]:
        return [round(cross + self._weight * fit, 6) for cross, fit in zip(cross_scores, fits)]

    def _cross_scores(self, questions: Sequence[Question]) -> list[list[float]]:
        """The model's own scores of each question's candidates."""
        contexts = [self._context(situation, history) for situation, history, _ in questions]
        return self._pairs.scores(contexts, [candidates for _, _, candidates in questions], self._progress)

    def _context(self, situation: Situation, history: Sequence[Turn]) -> Context:
        """The context, its profile shortened to what fits the turns best; before it the setting, if it is read."""
        context = build_context(situation, history)
        if len(context.own) > MAX_PROFILE:
            turns = self._english.encoder.encode_contexts([Context(turns=context.turns)])[0]
            context = shorten_profile(context, turns, self._english)
        if self.card.get("reads_setting") and situation.setting.strip():
            context = replace(context, own=(situation.setting.strip(), *context.own))
        return context

    def _rescored(self, question: Question, options: Sequence[ReplyOption]) -> list[float]:
        cross_scores = self._cross_scores([question])[0]
        return [cross + self._weight * option.score for cross, option in zip(cross_scores, options)]
