"""The reranker: a causal language model that reads a situation, what was said, and a reply, and says how it goes on.

    score(c) = v . h(c) + b        h(c) is the last hidden state behind the prompt and c, at the line end that closes it
    reply:     the encoder's 20 best, by their scores

The language model is SmolLM2 with a low-rank adapter; it and the head (v, b) were trained to tell what is said next in
novels and chats from what is said elsewhere in them (`understudy train reranker`). It reads a scene, which the encoder
does not, and weighs reply against context word by word. It reads English; for other languages the encoder decides.

    my-reranker/
        model.json               the card: the base model by its SHA-256, settings, figures
        adapter.safetensors      the adapter's matrices (8 bits, a scale for each row) and the head
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy.agents.dialogue_context import said_before
from understudy.agents.encoder import READ, SHOWN, EncoderAgent, Question, ReplyOption, unsaid
from understudy.agents.pools import Candidates, own_past
from understudy.agents.reranker_prompt import RerankerFormat
from understudy.backends.base_model import find_base
from understudy.backends.causal_lm import PromptedReplies, reply_states
from understudy.backends.transformer import CAUSAL, Transformer, open_transformer
from understudy.dialogue import Situation, Turn
from understudy.errors import InputError, MissingExtra
from understudy.model_folder import ModelFolder, Tensors, read_card, read_tensors

__all__ = ["ADAPTER", "NAME", "Reranker", "pack_matrices", "shipped_reranker", "unpack_matrices"]

NAME = "reranker"
ADAPTER = "adapter.safetensors"
HEAD = ("head.weight", "head.bias")
RERANKED = 20
ZERO = 128  # what stands for 0 in a packed matrix
LARGEST = 127


def shipped_reranker() -> Path:
    """The model folder that comes with the package."""
    return Path(str(files("understudy"))) / "models" / NAME


class Reranker(EncoderAgent):
    """Answers as the encoder does, with its best options re-ranked; ranks replies."""

    def __init__(
        self,
        model: Path | None = None,
        candidates: Candidates = own_past,
        multilingual: Path | None = None,
        threads: int = 1,
        cache: Path | bool | None = None,
        progress: Callable[[int, int], None] | None = None,
        device: str = "auto",
    ) -> None:
        """`model` is a model folder, by default the shipped one; for the others see the encoder."""
        self._reranker = model or shipped_reranker()
        self.card = read_card(self._reranker, NAME)
        self._device = device
        super().__init__(None, candidates, multilingual, threads, cache, progress)
        if not (self._reranker / ADAPTER).is_file():
            raise InputError(f"the model folder is not whole: it has no {ADAPTER}; train it again", self._reranker)

    def check(self) -> None:
        """Raise now if a library or the base model is missing, and not at the first question."""
        for library in ("torch", "transformers"):
            if find_spec(library) is None:
                raise MissingExtra("the reranker", "train")
        _base_of(self.card, self._reranker)

    @cached_property
    def _scorer(self) -> ReplyScorer:
        return _loaded(self._reranker, (self._reranker / ADAPTER).stat().st_mtime_ns, self._device)

    def score(self, situation: Situation, history: Sequence[Turn], candidates: Sequence[str]) -> list[float]:
        """Each candidate is read alone, so that no digit of its score depends on the others."""
        if situation.persona.language != READ:
            return super().score(situation, history, candidates)
        return [self._scorer.scores([(situation, history, [text])])[0][0] for text in candidates]

    def score_many(self, questions: Sequence[Question]) -> list[list[float]]:
        """`score` of many questions: to the last few digits the same, and much faster."""
        if any(situation.persona.language != READ for situation, _, _ in questions):
            return [self.score(*question) for question in questions]
        return self._scorer.scores(questions)

    def _select(
        self, situation: Situation, history: Sequence[Turn], options: Iterable[ReplyOption]
    ) -> list[ReplyOption]:
        chosen = unsaid(options, said_before(situation.persona, history), RERANKED)
        if situation.persona.language == READ:
            scores = self._scorer.scores([(situation, history, [option.text for option in chosen])])[0]
            rescored = [replace(option, score=score) for option, score in zip(chosen, scores)]
            chosen = sorted(rescored, key=lambda option: -option.score)
        return chosen[:SHOWN]


class ReplyScorer:
    """The language model with its adapter, and the head."""

    def __init__(self, folder: Path, card: dict[str, Any], device: str) -> None:
        tensors = read_tensors(folder / ADAPTER)[0]
        self._model = _adapted(folder, card, tensors, device)
        model = ModelFolder(card, tensors, folder)
        width = int(self._model.network.config.hidden_size)
        self._weight = model.tensor(HEAD[0], 1, width)[0].astype(np.float64)
        self._bias = float(model.tensor(HEAD[1], 1)[0])
        self._format = RerankerFormat(self._model.tokenizer, self._model.window)

    def scores(self, questions: Sequence[Question]) -> list[list[float]]:
        prompted = [
            PromptedReplies(self._format.prompt(situation, history), [self._format.reply(text) for text in candidates])
            for situation, history, candidates in questions
        ]
        return [[self._score(state) for state in states] for states in reply_states(self._model, prompted)]

    def _score(self, state: NDArray[np.float32]) -> float:
        return round(float(self._weight @ state.astype(np.float64)) + self._bias, 6)


@lru_cache(2)
def _loaded(folder: Path, _changed: int, device: str) -> ReplyScorer:
    """One model for all agents of a folder, as long as its file does not change."""
    return ReplyScorer(folder, read_card(folder, NAME), device)


def _base_of(card: Mapping[str, Any], folder: Path) -> str:
    base = card.get("base")
    return find_base(base if isinstance(base, dict) else {}, folder)


def _adapted(folder: Path, card: dict[str, Any], tensors: Tensors, device: str) -> Transformer:
    """The base model with the adapter in its weights; in 16 bits where the processor computes in them."""
    model = open_transformer(_base_of(card, folder), device)
    if model.kind != CAUSAL:
        raise InputError(f"is an adapter for a {model.kind} model, where a causal one belongs", folder)
    import torch

    from understudy.backends.lora import merge_adapters

    matrices = unpack_matrices({name: tensor for name, tensor in tensors.items() if name not in HEAD})
    merge_adapters(model.network, matrices, ModelFolder(card, {}, folder).number("settings", "scale", low=0))
    computes_bf16 = getattr(torch.cpu, "_is_avx512_bf16_supported", bool)()
    if model.network.device.type == "cuda" or computes_bf16:
        model.network = model.network.to(torch.bfloat16)
    return model


def pack_matrices(matrices: Tensors) -> dict[str, NDArray[Any]]:
    """Matrices in 8 bits: each row's numbers in steps of its own, which stand in a column of scales beside it."""
    packed: dict[str, NDArray[Any]] = {}
    for name, matrix in matrices.items():
        scale = np.abs(matrix).max(axis=1, keepdims=True).astype(np.float32) / LARGEST
        steps = np.divide(matrix, scale, out=np.zeros_like(matrix, dtype=np.float32), where=scale > 0)
        packed[name] = (np.rint(steps) + ZERO).astype(np.uint8)
        packed[f"{name}.scale"] = scale
    return packed


def unpack_matrices(packed: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[np.float32]]:
    """The matrices of a file, packed or as they are."""
    return {
        name: (matrix.astype(np.float32) - ZERO) * packed[f"{name}.scale"]
        if f"{name}.scale" in packed
        else matrix.astype(np.float32)
        for name, matrix in packed.items()
        if not name.endswith(".scale")
    }
