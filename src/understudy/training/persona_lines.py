"""A language model of one persona: a transformer, fine-tuned on what a character has said before a moment.

Some of the lines are held back. After each epoch, and before the first, the model is asked how much they surprise it;
what is kept is the model they surprised least, and training ends when they have not been less surprising for a while.
The folder it gives is laid out as Hugging Face does it, with our card beside: `understudy score --metrics uppl --model`
opens it, and so does anything else that opens such folders.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from understudy.errors import InputError
from understudy.metrics.neural import MASKED, Transformer, open_transformer, perplexity
from understudy.model_folder import ModelFolder, Tensors, atomic_folder, write_card
from understudy.persona import persona_at
from understudy.storyfile import Story
from understudy.training.causal import causal_loss
from understudy.training.checkpoint import Checkpoint, place_of
from understudy.training.course import about, must_be_free
from understudy.training.loop import CHECKPOINT_EVERY, Descent, Progress, device_named, fit, unwatched
from understudy.training.masked import masked_loss

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["LineSettings", "LineTask", "train_lines"]

FEWEST = 20  # lines
VALUES = "held_back_surprise"  # how surprising held-back lines were, epoch by epoch


@dataclass(frozen=True, slots=True)
class LineSettings:
    """What decides a training besides lines, base and seed; `patience` is for how many epochs it may get no better."""

    epochs: int = 20
    batch: int = 16
    rate: float = 5e-5
    patience: int = 2
    held_back: float = 0.1
    window: int = 128

    def __post_init__(self) -> None:
        for name in ("epochs", "batch", "rate", "patience", "window"):
            if not getattr(self, name) > 0:
                raise InputError(f"{name} must be above 0, not {getattr(self, name)}")
        if not 0 <= self.held_back < 1:
            raise InputError(f"held_back is a share from 0 to below 1, not {self.held_back}")

    @property
    def descent(self) -> Descent:
        return Descent(self.epochs, self.batch, self.rate, (0.9, 0.999), warmup=0.1, decay=0.01, longest=1.0)


@dataclass(frozen=True, slots=True)
class LineTask:
    """Whose lines to learn, before which moment, from which base (a folder, a .gguf file, a name), and where to."""

    story: Story
    name: str
    at: str
    base: str
    out: Path
    settings: LineSettings
    seed: int = 0
    device: str = "auto"
    fresh: bool = False
    every: int = CHECKPOINT_EVERY


def train_lines(kind: str, task: LineTask, progress: Progress = unwatched) -> ModelFolder:
    """Fine-tune a `causal` or `masked` model, and write its folder."""
    must_be_free(task.out, task.fresh)
    on = device_named(task.device)
    begun = time.perf_counter()
    persona = persona_at(task.story, task.name, task.at)
    learnt_from, held = _parted([line.text for line in persona.past.lines()], task, persona.name)
    model = open_transformer(task.base, on.type)
    if model.kind != kind:
        raise InputError(f"is a {model.kind} model: train it with 'understudy train {model.kind}'", task.base)
    start = {name: tensor.detach().cpu().numpy().copy() for name, tensor in model.network.named_parameters()}
    plan: dict[str, Any] = {
        "agent": kind,
        "what": f"How {persona.name} talks: a {kind} language model for uppl",
        "base": {"name": Path(task.base).name, "sha256": _digest(start)},
        "story": task.story.title,
        "character": persona.name,
        "moment": persona.moment.dotted,
        "language": persona.language,
        "data": {"lines": len(learnt_from), "held_back": len(held), "sha256": _lines_digest(learnt_from, held)},
        "settings": asdict(task.settings),
        "seed": task.seed,
    }
    checkpoint = Checkpoint(place_of(task.out), plan)  # not bound to a device: it may be finished on another machine
    if task.fresh:
        checkpoint.clear()
    best = Best(model, held, Checkpoint(checkpoint.folder / "best", plan), task.settings.patience)
    if held and not best.values:
        best(dict(model.network.named_parameters()), 0)
    window, seed = task.settings.window, task.seed
    loss = masked_loss(model, learnt_from, window, seed) if kind == MASKED else causal_loss(model, learnt_from, window)
    learnt: Tensors = best.parameters
    if not best.over:
        model.network.train()
        last = fit(
            start, loss, len(learnt_from), task.settings.descent, seed, on, checkpoint, progress, task.every,
            best if held else None,
        )  # fmt: skip
        learnt = best.parameters if held else last
    card = {**plan, "device": on.type, "figures": best.figures(), **about(time.perf_counter() - begun)}
    _write(task.out, model, learnt, card)
    checkpoint.clear()
    return ModelFolder(card, {}, task.out)


class Best:
    """The parameters by which held-back lines were least surprising so far, and after how many epochs.

    Both are kept beside the checkpoint. A training that goes on after a stop may come by an epoch a second time, which
    changes nothing: it finds the same.
    """

    def __init__(self, model: Transformer, held: Sequence[str], checkpoint: Checkpoint, patience: int) -> None:
        self._model, self._held, self._checkpoint, self._patience = model, held, checkpoint, patience
        _, state = checkpoint.load() or (0, {})
        self.values: list[float] = [float(value) for value in state.get(VALUES, ())]
        self.parameters: Tensors = {name: np.array(tensor) for name, tensor in state.items() if name != VALUES}

    def __call__(self, parameters: Mapping[str, Tensor], epoch: int) -> bool:
        """Judge what was learnt by an epoch; is it enough?"""
        self.values = [*self.values[:epoch], self._surprise(parameters)]
        if self.values[-1] == min(self.values):
            self.parameters = {name: tensor.detach().cpu().numpy().copy() for name, tensor in parameters.items()}
        self._checkpoint.save(epoch, {**self.parameters, VALUES: np.array(self.values)})
        return self.over

    @property
    def over(self) -> bool:
        return bool(self.values) and len(self.values) - 1 - int(np.argmin(self.values)) >= self._patience

    def figures(self) -> dict[str, Any]:
        """Perplexity of the held-back lines before and after; empty where none were held back."""
        if not self.values:
            return {}
        told = {"before": round(perplexity(-self.values[0]), 3), "after": round(perplexity(-min(self.values)), 3)}
        return {"of": "lines held back", "perplexity": told, "epochs": int(np.argmin(self.values))}

    def _surprise(self, parameters: Mapping[str, Tensor]) -> float:
        network = self._model.network
        was_training = network.training
        network.eval()
        _put(network, {name: tensor.detach() for name, tensor in parameters.items()})
        found = [value for values in self._model.many(self._held) for value in values]
        network.train(was_training)
        mean = -float(np.mean(found))
        return mean if np.isfinite(mean) else np.inf  # numbers that have run away surprise beyond measure


def _parted(texts: Sequence[str], task: LineTask, name: str) -> tuple[list[str], list[str]]:
    """Lines to learn from, and those held back; the same line is never on both sides."""
    lines = list(dict.fromkeys(text.strip() for text in texts if text.strip()))
    if len(lines) < FEWEST:
        raise InputError(
            f"{name} has {len(lines)} different lines before this moment, and at least {FEWEST} are needed: choose a "
            "later moment, or somebody who says more"
        )
    order = np.random.default_rng(task.seed).permutation(len(lines)).tolist()
    share = task.settings.held_back
    held = set(order[: max(round(share * len(lines)), 1)] if share else ())
    return (
        [line for place, line in enumerate(lines) if place not in held],
        [line for place, line in enumerate(lines) if place in held],
    )


def _put(network: Any, parameters: Mapping[str, Tensor]) -> None:
    """Give a network other numbers."""
    import torch

    own = dict(network.named_parameters())
    with torch.no_grad():
        for name, tensor in parameters.items():
            own[name].copy_(tensor)


def _write(out: Path, model: Transformer, learnt: Tensors, card: Mapping[str, Any]) -> None:
    import torch

    _put(model.network, {name: torch.from_numpy(np.array(tensor, np.float32)) for name, tensor in learnt.items()})
    with atomic_folder(out) as folder:
        model.network.eval().save_pretrained(folder)
        model.tokenizer.save_pretrained(folder)
        write_card(folder, card)


def _digest(tensors: Mapping[str, NDArray[np.float32]]) -> str:
    digest = hashlib.sha256()
    for name in sorted(tensors):
        digest.update(name.encode() + np.ascontiguousarray(tensors[name]).tobytes())
    return digest.hexdigest()


def _lines_digest(*parts: Sequence[str]) -> str:
    return hashlib.sha256("\0".join(line for part in parts for line in (*part, "")).encode()).hexdigest()
