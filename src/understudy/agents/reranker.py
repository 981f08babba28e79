"""The reranker: a causal language model that reads a situation, what was said, and a reply, and says how it goes on.

    score(c) = v . h(c) + b        h(c) is the last hidden state behind the prompt and c, at the line end that closes it
    reply:     the encoder's 20 best, by their scores

The language model is SmolLM2 with a low-rank adapter; it and the head (v, b) were trained to tell what is said next in
novels and chats from what is said elsewhere in them (recipes/reranker). It reads a scene, which the encoder
does not, and weighs reply against context word by word. It reads English; for other languages the encoder decides.

    my-reranker/
        model.json               the card: the base model by its SHA-256, settings, figures
        adapter.safetensors      the adapter's matrices (8 bits, a scale for each row) and the head
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy.agents.dialogue_context import ties_to_faced
from understudy.agents.encoder import READ, EncoderAgent, ReplyOption
from understudy.agents.pools import Candidates, own_past
from understudy.errors import InputError, MissingExtra
from understudy.language.backends.causal_lm import PromptedReplies, find_base, reply_states
from understudy.language.backends.transformer import CAUSAL, Transformer, open_transformer
from understudy.language.model_folder import ModelFolder, Tensors, read_card, read_tensors, shipped_folder
from understudy.story.dialogue import Question, Situation, Turn
from understudy.story.wording import tie_sentence

NAME = "reranker"
ADAPTER = "adapter.safetensors"
HEAD = ("head.weight", "head.bias")
RERANKED = 20
ZERO = 128  # what stands for 0 in a packed matrix
LARGEST = 127


class Reranker(EncoderAgent):
    """Answers as the encoder does, with its best options re-ranked; ranks replies."""

    considered = RERANKED

    def __init__(self, model: Path | None = None, candidates: Candidates = own_past) -> None:
        """`model` is a model folder, by default the shipped one."""
        self._reranker = model or shipped_folder(NAME)
        self.card = read_card(self._reranker, NAME)
        super().__init__(None, candidates)
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
        return _loaded(self._reranker, (self._reranker / ADAPTER).stat().st_mtime_ns)

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

    def _rescored(self, question: Question, options: Sequence[ReplyOption]) -> list[float]:  # noqa: ARG002
        return self._scorer.scores([question])[0]


class ReplyScorer:
    """The language model with its adapter, and the head."""

    def __init__(self, folder: Path, card: dict[str, Any]) -> None:
        tensors = read_tensors(folder / ADAPTER)[0]
        self._model = _adapted(folder, card, tensors)
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
def _loaded(folder: Path, _changed: int) -> ReplyScorer:
    """One model for all agents of a folder, as long as its file does not change."""
    return ReplyScorer(folder, read_card(folder, NAME))


def _base_of(card: Mapping[str, Any], folder: Path) -> str:
    base = card.get("base")
    return find_base(base if isinstance(base, dict) else {}, folder)


def _adapted(folder: Path, card: dict[str, Any], tensors: Tensors) -> Transformer:
    """The base model with the adapter in its weights; in 16 bits where the processor computes in them."""
    model = open_transformer(_base_of(card, folder), "auto")
    if model.kind != CAUSAL:
        raise InputError(f"is an adapter for a {model.kind} model, where a causal one belongs", folder)
    import torch

    from understudy.language.backends.lora import merge_adapters

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


# What the reranker reads, token by token: the one format for training and for running.
#
#   Harry: Vernon is family. I am not fond of Vernon. I am 11.     ties to the one faced and the own profile
#   The Dursleys are at breakfast.                                 the setting
#
#   Vernon: Where is the post?                                     the turns
#   Harry:                                                         here the reply begins: a space, its text, a line end
#
# Of ties and profile the first 64 tokens are read, of a turn the last 128, of a reply the first 48. Turns come first:
# the newest that fit, with 96 tokens left for a setting if there is one; then the setting has what room is left.

PROMPT_TOKENS = 288
ABOUT_TOKENS, TURN_TOKENS, REPLY_TOKENS = 64, 128, 48
SETTING_TOKENS = 96  # that turns leave to a setting
FEWEST = 16  # tokens of a setting, and half as many of the newest turn, whatever there is room for
CACHED = 1 << 16  # texts whose tokens are remembered

Ids = list[int]


def about_persona(situation: Situation) -> str:
    """Ties to the one faced and the profile, in one line."""
    persona = situation.persona
    ties = (tie_sentence(tie, persona.language) for tie in ties_to_faced(situation))
    return " ".join((*ties, *persona.profile))


class RerankerFormat:
    """Prompts and replies as the token ids of one tokenizer."""

    def __init__(self, tokenizer: Any, window: int | None = None) -> None:
        """`window` is how many tokens the model reads at once; prompts and replies are shorter in a small one."""
        share = 1.0 if window is None else min(1.0, window / (PROMPT_TOKENS + REPLY_TOKENS + 2))
        self._prompt_tokens, self._reply_tokens = int(PROMPT_TOKENS * share), max(int(REPLY_TOKENS * share), 1)
        self._ids = lru_cache(CACHED)(
            lambda text: tuple(tokenizer(text, add_special_tokens=False)["input_ids"])  # of texts as they come
        )
        ends = [*self._ids("\n"), tokenizer.eos_token_id]
        first = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.eos_token_id
        if first is None or ends[0] is None:
            raise InputError("the model's tokenizer has no token for the beginning or the end: choose another model")
        self._first, self._line_end = int(first), int(ends[0])

    def prompt(self, situation: Situation, history: Sequence[Turn]) -> Ids:
        name = " ".join(situation.persona.name.split())
        turns = [(" ".join(turn.speaker.split()), turn.text) for turn in history]
        return self.put_together(name, about_persona(situation), situation.setting, turns)

    def put_together(self, name: str, about: str, setting: str, turns: Sequence[tuple[str, str]]) -> Ids:
        """The prompt of whoever answers; turns are pairs of speaker and text."""
        label = self._ids(f"{name}:")
        room = max(self._prompt_tokens - len(label) - 2, FEWEST // 2)
        said: list[Ids] = []
        for speaker, text in reversed(turns):
            turn = [*self._ids(f"{speaker}: "), *self._ids(text)[-TURN_TOKENS:], self._line_end]
            if said and len(turn) > room - (SETTING_TOKENS if setting else 0):
                break
            said.insert(0, turn[-max(room, FEWEST // 2) :])
            room -= len(said[0])
        before: Ids = []
        if about:
            before += [*self._ids(f"{name}: {about}")[:ABOUT_TOKENS], self._line_end]
        if setting:
            before += [*self._ids(setting)[: max(room, FEWEST)], self._line_end]
        if before:
            before = [*before, self._line_end][: max(room, 0)]
        return [self._first, *before, *(token for turn in said for token in turn), *label]

    def reply(self, text: str) -> Ids:
        return [*self._ids(f" {text}")[: self._reply_tokens], self._line_end]
