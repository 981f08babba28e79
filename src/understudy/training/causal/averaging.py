"""The mean of several causal models that were trained from one base, as one model.

    W = 1/n sum over the n models k of W_k          an adapter is added to its base first: W_k = W_0 + s B_k A_k

Models of one base that were trained in different ways (other settings, other orders of the data) err differently, and
their mean often finds held-back replies more probable than the best of them does. It costs no more to run than one.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from understudy.agents.causal import NAME, load_transformer
from understudy.errors import InputError
from understudy.language.model_folder import ModelFolder, atomic_folder, read_card, write_card
from understudy.training.task import check_output

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["average_models"]

FEWEST = 2


def average_models(folders: Sequence[Path], out: Path, fresh: bool = False) -> ModelFolder:
    """Write the mean of models that `train causal` made of dialogues; it has all weights, whatever they have."""
    check_output(out, fresh)
    if len(folders) < FEWEST:
        raise InputError("a mean is of two models or more: name another folder")
    cards = [read_card(folder, NAME) for folder in folders]
    for folder, card in zip(folders, cards):
        if "speakers" not in card:
            raise InputError("has learnt a character's lines, not dialogues: such models have no mean here", folder)
        if _base(card) != _base(cards[0]):
            raise InputError(
                f"was trained from another base than {folders[0].name}: only models of one base have a mean", folder
            )
    total: dict[str, Tensor] = {}
    for folder, card in zip(folders, cards):
        model = load_transformer(folder, card, "cpu")
        own = dict(model.network.named_parameters())
        if total and {name: value.shape for name, value in own.items()} != {n: t.shape for n, t in total.items()}:
            raise InputError(f"has other weights than {folders[0].name}: only models of one base have a mean", folder)
        total = {name: value.detach() + total[name] if total else value.detach() for name, value in own.items()}
    for name, value in own.items():
        value.data.copy_(total[name] / len(folders))
    card = {**cards[0], "what": "The mean of causal language models that answer in a dialogue", "figures": {}}
    card["mean_of"] = [{"folder": folder.name, "settings": one["settings"]} for folder, one in zip(folders, cards)]
    with atomic_folder(out) as partial:
        model.network.save_pretrained(partial)
        model.tokenizer.save_pretrained(partial)
        write_card(partial, card)
    return ModelFolder(card, {}, out)


def _base(card: dict[str, Any]) -> object:
    base = card.get("base")
    return base.get("sha256") if isinstance(base, dict) else None
