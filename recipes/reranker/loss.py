"""The loss of the reranker.

    loss = - ln P(right) - share * mean over the right reply's tokens w_i of ln P(w_i | prompt, w_1 .. w_i-1)
    P(c) = exp(score(c)) / sum over the question's replies k of exp(score(k))

The second term keeps the language model one, which is what it knows of replies. Replies to one prompt are read behind
one copy of it; one that says the same as the right one counts neither for nor against it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from random import Random
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from recipes.reranker.questions import NextReply, QuestionSource
from understudy.agents.reranker import RerankerFormat
from understudy.language.backends.causal_lm import PromptedReplies, batch_inputs, pack
from understudy.language.backends.lora import Adapters
from understudy.language.backends.transformer import Transformer

__all__ = ["RerankerLoss", "reply_scores"]

BARRED = -1e4  # the score of a reply that does not count


class RerankerLoss:
    """The mean loss of a batch of questions, drawn anew at each step."""

    def __init__(
        self,
        model: Transformer,
        adapters: Adapters,
        form: RerankerFormat,
        sources: Sequence[QuestionSource],
        share: float,
        seed: int,
    ) -> None:
        self._model, self._adapters, self._form = model, adapters, form
        self._places = [(source, index) for source in sources for index in range(len(source))]
        self._share, self._seed = share, seed

    def __len__(self) -> int:
        return len(self._places)

    def __call__(self, parameters: Mapping[str, Tensor], batch: NDArray[np.int64], step: int) -> Tensor:
        drawn = [
            source.draw(index, Random(f"{self._seed} {step} {number}"))  # noqa: S311 - not for secrets
            for number in batch.tolist()
            for source, index in [self._places[number]]
        ]
        with self._autocast():
            scores, hidden, positions, targets = _read(self._model, self._adapters, self._form, parameters, drawn)
            said = self._model.network.get_output_embeddings()(hidden[positions])
        repeated = torch.tensor([question.repeated for question in drawn], device=scores.device)
        right = torch.zeros(len(drawn), dtype=torch.long, device=scores.device)
        chosen = nn.functional.cross_entropy(scores.masked_fill(repeated, BARRED), right)
        return chosen + self._share * nn.functional.cross_entropy(said.float(), targets)

    def _autocast(self) -> AbstractContextManager[Any]:
        on_cuda = self._model.network.device.type == "cuda"
        return torch.autocast("cuda", torch.bfloat16) if on_cuda else nullcontext()


def reply_scores(
    model: Transformer,
    adapters: Adapters,
    form: RerankerFormat,
    parameters: Mapping[str, Tensor],
    questions: Sequence[NextReply],
) -> NDArray[np.float32]:
    """A row of scores for each question."""
    with torch.no_grad():
        scores: NDArray[np.float32] = _read(model, adapters, form, parameters, questions)[0].cpu().numpy()
        return scores


def _read(
    model: Transformer,
    adapters: Adapters,
    form: RerankerFormat,
    parameters: Mapping[str, Tensor],
    questions: Sequence[NextReply],
) -> tuple[Tensor, Tensor, tuple[Tensor, Tensor], Tensor]:
    """Scores, hidden states, where the right replies' tokens are predicted, and those tokens."""
    adapters.bind(parameters)
    device = model.network.device
    replies = [[form.reply(text) for text in question.replies] for question in questions]
    prompts = [form.put_together(one.name, one.about, one.setting, one.turns) for one in questions]
    # one more token, which nothing reads: the state from which it would be predicted is that of the line end
    packed = [pack(PromptedReplies(prompt, [[*ids, 0] for ids in own])) for prompt, own in zip(prompts, replies)]
    hidden = model.network.base_model(**batch_inputs(model, packed), use_cache=False).last_hidden_state
    ends, rows, columns, targets = list[list[int]](), list[int](), list[int](), list[int]()
    for row, (one, own) in enumerate(zip(packed, replies)):
        last = np.cumsum([len(ids) + 1 for ids in own]) - 1
        ends.append([one.columns[position] for position in last])
        rows += [row] * len(own[0])
        columns += one.columns[: len(own[0])]
        targets += own[0]
    at = torch.arange(len(questions), device=device)[:, None], torch.tensor(ends, device=device)
    scores = hidden[at].float() @ parameters["head.weight"][0] + parameters["head.bias"][0]
    positions = torch.tensor(rows, device=device), torch.tensor(columns, device=device)
    return scores, hidden, positions, torch.tensor(targets, device=device)
