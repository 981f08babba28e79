"""Teaching a masked language model a persona's lines: tokens that were covered are to be told from the others.

    loss = - mean over covered tokens w_i of ln P(w_i | the tokens that are not covered)

Of each line a seventh of the tokens is covered anew each time it is shown, at least one. All of them by the mask: that
is how the model is asked afterwards.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from understudy.metrics.transformer_lm import Transformer
from understudy.training.loop import Loss

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["masked_loss"]

COVERED = 7  # one of so many


def masked_loss(model: Transformer, texts: Sequence[str], window: int, seed: int) -> Loss:
    asked = [model.sequence(text, window) for text in texts]

    def loss(parameters: Mapping[str, Tensor], batch: NDArray[np.int64], step: int) -> Tensor:
        import torch
        from torch.func import functional_call
        from torch.nn.functional import cross_entropy

        chance = np.random.default_rng((seed, step))
        chosen = [asked[number] for number in batch.tolist()]
        given = model.batch([ids for ids, _ in chosen])
        covered = torch.zeros_like(given["input_ids"], dtype=torch.bool)
        for row, (_, places) in enumerate(chosen):
            covered[row, chance.choice(places, max(len(places) // COVERED, 1), replace=False)] = True
        hidden = given["input_ids"][covered]
        given["input_ids"] = given["input_ids"].masked_fill(covered, model.tokenizer.mask_token_id)
        logits = functional_call(model.network, dict(parameters), (), given).logits
        return cross_entropy(logits[covered], hidden)

    return loss
