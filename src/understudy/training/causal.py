"""Teaching a causal language model a persona's lines: each token is to be expected after those before it.

loss = - mean over tokens w_i of ln P(w_i | w_1 .. w_i-1)          the end of a line is a token too
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

__all__ = ["causal_loss"]


def causal_loss(model: Transformer, texts: Sequence[str], window: int) -> Loss:
    sequences = [model.sequence(text, window)[0] for text in texts]

    def loss(parameters: Mapping[str, Tensor], batch: NDArray[np.int64], _step: int) -> Tensor:
        from torch.func import functional_call
        from torch.nn.functional import cross_entropy

        given = model.batch([sequences[number] for number in batch.tolist()])
        logits = functional_call(model.network, dict(parameters), (), given).logits[:, :-1]
        real = given["attention_mask"][:, 1:] == 1
        return cross_entropy(logits[real], given["input_ids"][:, 1:][real])

    return loss
