"""Direct preference optimisation: the writer learns which of two of its own drafts a reader preferred.

    margin = beta ((ln p(c) - ln p0(c)) - (ln p(r) - ln p0(r)))       c the chosen draft, r the rejected one
    loss   = - ln sigmoid(margin) - imitation ln p(c) / |c|

p0 is the writer as it was before. Without the second term, and with a small beta, drafts lose their grammar while their
margin grows. The pairs come with the recipe: drafts for invented people (`seeds`), of which about half were marked by
readers; the others were chosen by a reward model that learnt from those marks.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from recipes.writer.examples import end_token
from recipes.writer.settings import WriterSettings
from understudy.language.model_folder import Tensors
from understudy.training.loop import Optimization
from understudy.training.run import TrainingRun

if TYPE_CHECKING:
    from torch import Tensor

    from understudy.language.backends.lora import Adapters

__all__ = ["Preference", "learn_preferences", "read_preferences"]

FILE = "preferences.jsonl.gz"
MEASURED = 32  # pairs of a batch whose reference probabilities are computed together


class Preference(NamedTuple):
    """A prompt with two drafts, the chosen one and the rejected one: text, or token ids."""

    prompt: Any
    chosen: Any
    rejected: Any


def read_preferences() -> list[Preference]:
    """The pairs that come with the recipe, as text."""
    packed = (Path(__file__).with_name("seeds") / FILE).read_bytes()
    rows = (json.loads(line) for line in gzip.decompress(packed).decode().splitlines())
    return [Preference(row["prompt"], row["chosen"], row["rejected"]) for row in rows]


def learn_preferences(
    model: Any,
    adapters: Adapters,
    learnt: Tensors,
    pairs: Sequence[Preference],
    run: TrainingRun,
) -> Tensors:
    """The adapters after the pairs; those that are too long for the model are left out."""
    settings: WriterSettings = run.task.settings
    tokenized = _tokenized(model.tokenizer, pairs, settings.longest)
    loss = _PreferenceLoss(model, adapters, learnt, tokenized, settings)
    optimization = Optimization(
        settings.preference_epochs, settings.pairs, settings.preference_rate, (0.9, 0.98), warmup=0.1, max_grad_norm=1.0
    )
    return run.fit(learnt, loss, len(tokenized), optimization, checkpoint=run.checkpoint.part("preferences"))


def _tokenized(tokenizer: Any, pairs: Sequence[Preference], longest: int) -> list[Preference]:
    def ids(text: str) -> list[int]:
        tokens: list[int] = tokenizer(text, add_special_tokens=False)["input_ids"]
        return tokens

    end = end_token(tokenizer)
    tokenized = [Preference(ids(pair.prompt), [*ids(pair.chosen), end], [*ids(pair.rejected), end]) for pair in pairs]
    return [pair for pair in tokenized if len(pair.prompt) + max(len(pair.chosen), len(pair.rejected)) <= longest]


class _PreferenceLoss:
    def __init__(
        self,
        model: Any,
        adapters: Adapters,
        learnt: Tensors,
        pairs: Sequence[Preference],
        settings: WriterSettings,
    ) -> None:
        import torch

        self._model, self._adapters, self._pairs, self._settings = model, adapters, pairs, settings
        adapters.bind({name: torch.from_numpy(values).to(model.network.device) for name, values in learnt.items()})
        self._reference: list[Tensor] = []
        with torch.no_grad():
            for first in range(0, len(pairs), MEASURED):
                self._reference += self._log_probs(pairs[first : first + MEASURED]).unbind()

    def __call__(self, parameters: Mapping[str, Tensor], batch: NDArray[np.int64], _step: int) -> Tensor:
        import torch

        self._adapters.bind(parameters)
        pairs = [self._pairs[index] for index in batch.tolist()]
        log_probs = self._log_probs(pairs)
        gain = log_probs - torch.stack([self._reference[index] for index in batch.tolist()])
        margin = self._settings.beta * (gain[:, 0] - gain[:, 1])
        lengths = torch.tensor([len(pair.chosen) for pair in pairs], device=log_probs.device)
        imitated = (log_probs[:, 0] / lengths).mean()
        return -torch.nn.functional.logsigmoid(margin).mean() - self._settings.imitation * imitated

    def _log_probs(self, pairs: Sequence[Preference]) -> Tensor:
        """ln P of each pair's chosen and rejected draft, side by side."""
        import torch

        from recipes.writer.adapter import reply_losses

        columns = []
        for replies in ([pair.chosen for pair in pairs], [pair.rejected for pair in pairs]):
            prompts = [pair.prompt for pair in pairs]
            losses = reply_losses(self._model.network, prompts, replies, self._model.pad)
            parts = losses.split([len(reply) for reply in replies])  # type: ignore[no-untyped-call]
            columns.append(torch.stack([-part.sum() for part in parts]))
        return torch.stack(columns, dim=1)
