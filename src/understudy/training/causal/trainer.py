"""The trainer of `causal`: any causal language model of Hugging Face, fine-tuned on dialogues.

All of its weights are trained, or low-rank adapters on them (`settings.lora`). What it learns from is in `corpora`, how
it is shown in `showing`, the loss in `loss`. The card has the perplexity of held-back dialogues before and after:

    perplexity = exp(- sum of the log-probabilities of all replies' tokens / (their words + one end for each))
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from understudy.agents.causal import ADAPTER, NAME, DialogueFormat, read_window
from understudy.errors import InputError
from understudy.language.backends.catalog import DEFAULT_MODEL, find_model
from understudy.language.backends.causal_lm import base_card
from understudy.language.backends.transformer import CAUSAL, Transformer, open_transformer
from understudy.language.model_folder import ModelFolder, Tensors, atomic_folder, write_card, write_tensors
from understudy.training.causal.corpora import (
    CausalSettings,
    DialogueCorpus,
    DialogueDrawer,
    TrainingDialogue,
    in_windows,
    like_lengths,
    read_corpus,
    under_condition,
)
from understudy.training.loop import Progress, fit, no_progress, select_device
from understudy.training.task import (
    CHECKPOINT_EVERY,
    Checkpoint,
    TrainingTask,
    check_output,
    checkpoint_folder,
    provenance,
)
from understudy.training.workers import launched_workers

if TYPE_CHECKING:
    from torch import Tensor

    from understudy.training.causal.loss import TrainedPart

__all__ = ["CausalSettings", "DialogueTask", "base_of", "train"]

CONDITIONS = ("none", "self")
LARGEST = 100.0  # exp of more is of no interest
UNSAVED = 20  # times as many steps between checkpoints where all weights are trained: each is large


@dataclass(frozen=True, slots=True)
class DialogueTask:
    """What to learn from, from which base, and where to; `merged` writes an adapter's sum with its base."""

    data: tuple[Path, ...]
    base: str | None
    out: Path
    settings: CausalSettings
    personas: str = "original"
    seed: int = 0
    device: str = "auto"
    tokenizer: Path | None = None
    merged: bool = False
    fresh: bool = False
    every: int = CHECKPOINT_EVERY


def base_of(requested: str | Path | None) -> str:
    """The model to start from; by default SmolLM2 where it is on this machine."""
    return str(find_model(DEFAULT_MODEL)) if requested is None else str(requested)


def train(asked: DialogueTask | TrainingTask[CausalSettings], progress: Progress = no_progress) -> ModelFolder:
    """Train, and write the model folder; of several processes, the first one does."""
    task = asked if isinstance(asked, DialogueTask) else _dialogue_task(asked)
    check_output(task.out, task.fresh)
    settings, base = task.settings, base_of(task.base)
    workers = launched_workers(task.device)
    on = select_device(task.device) if workers is None else _device(workers.device)
    from understudy.training.causal.loss import AllWeights, DialogueLoss, LowRank

    begun = time.perf_counter()
    corpus = _corpus(task)
    model = open_transformer(base, str(on), task.tokenizer)
    if model.kind != CAUSAL:
        raise InputError(f"is a {model.kind} model: choose a causal one", base)
    form = DialogueFormat(model.tokenizer, min(settings.window, read_window(model)))
    plan: dict[str, Any] = {
        "agent": NAME,
        "what": "A causal language model that answers in a dialogue",
        "speakers": "names",
        "base": base_card(base),
        "trained_on": task.personas,
        "data": {
            "folders": [path.name for path in task.data],
            "dialogues": len(corpus.training),
            "held_back": len(corpus.held),
            "sha256": corpus.sha256(),
        },
        "settings": asdict(settings),
        "seed": task.seed,
    }
    checkpoint = Checkpoint(checkpoint_folder(task.out), plan)
    if workers is not None:
        workers.wait()  # all have looked at what is there before the first one changes it
    if task.fresh and (workers is None or workers.is_first):
        checkpoint.clear()
    if workers is not None:
        workers.wait()
    part: TrainedPart = (
        LowRank(model.network, settings.lora, settings.scale, task.seed) if settings.lora else AllWeights(model.network)
    )
    training, held = list(in_windows(corpus.training, form)), list(in_windows(corpus.held, form))
    before = _figures(model, part, part.start, held, form)
    model.network.train()
    batches = like_lengths(training, form, settings.tokens)
    drawer = DialogueDrawer(training, corpus.paraphrases, settings, form, task.seed)
    every = task.every if settings.lora else task.every * UNSAVED
    learnt = fit(
        part.start, DialogueLoss(model, part, drawer, batches, workers), len(batches), settings.optimization,
        task.seed, on, checkpoint, progress, every, workers=workers,
    )  # fmt: skip
    model.network.eval()
    after = _figures(model, part, learnt, held, form)
    figures = {name: {"before": before[name], "after": after[name]} for name in after}
    card = {**plan, "device": on.type, "figures": figures, **provenance(time.perf_counter() - begun)}
    if workers is None or workers.is_first:
        _write(task, model, learnt, card)
        checkpoint.clear()
    if workers is not None:
        workers.wait()
    return ModelFolder(card, {}, task.out)


def _dialogue_task(task: TrainingTask[CausalSettings]) -> DialogueTask:
    """A task as the other trainers of dialogues have them; novels are more data."""
    return DialogueTask(
        (task.data, *(() if task.novels is None else (task.novels,))),
        None if task.base is None else str(task.base),
        task.out,
        task.settings,
        task.personas,
        task.seed,
        task.device,
        fresh=task.fresh,
        every=task.every,
    )


def _corpus(task: DialogueTask) -> DialogueCorpus:
    parts = [
        read_corpus(path, task.settings.held_back, task.seed, task.personas, task.settings.monologues)
        for path in task.data
    ]
    # Where there are profiles, dialogues with profiles are what it is judged by.
    judged = [part for part in parts if any(dialogue.has_profile for dialogue in part.held)] or parts
    return DialogueCorpus(
        [dialogue for part in parts for dialogue in part.training],
        [dialogue for part in judged for dialogue in part.held],
        {sentence: said for part in parts for sentence, said in part.paraphrases.items()},
    )


def _figures(
    model: Transformer, part: TrainedPart, parameters: Tensors, held: Sequence[TrainingDialogue], form: DialogueFormat
) -> dict[str, dict[str, float]]:
    """Perplexity of the held-back replies, per word and per token, with and without profiles."""
    import torch

    from understudy.training.causal.loss import passes, token_losses

    network = model.network.eval()
    on = {name: torch.from_numpy(np.array(array)).to(network.device) for name, array in parameters.items()}
    conditions = CONDITIONS if any(dialogue.has_profile for dialogue in held) else ("both",)
    figures: dict[str, dict[str, float]] = {}
    for condition in conditions if held else ():
        sequences = [
            form.dialogue(under_condition(dialogue.situation, condition), dialogue.turns, dialogue.learnt)
            for dialogue in held
        ]
        tokens = sum(len(sequence.learnt) for sequence in sequences)
        words = sum(len(dialogue.turns[index].text.split()) + 1 for dialogue in held for index in dialogue.learnt)
        with torch.no_grad():
            total = sum(float(token_losses(model, part, on, some).sum()) for some in passes(sequences))
        figures[condition] = {
            "perplexity": round(math.exp(min(total / max(words, 1), LARGEST)), 3),
            "perplexity_per_token": round(math.exp(min(total / max(tokens, 1), LARGEST)), 3),
        }
    return figures


def _write(task: DialogueTask, model: Transformer, learnt: Tensors, card: Mapping[str, Any]) -> None:
    settings = task.settings
    with atomic_folder(task.out) as folder:
        if settings.lora and not task.merged:
            write_tensors(folder / ADAPTER, learnt)
        else:
            _whole(task, model, learnt).save_pretrained(folder)
        model.tokenizer.save_pretrained(folder)
        write_card(folder, card)


def _whole(task: DialogueTask, model: Transformer, learnt: Tensors) -> Any:
    """The network with what was learnt in its own weights."""
    import torch

    from understudy.language.backends.lora import merge_adapters

    if task.settings.lora:  # its layers are wrapped now: the base is opened again
        network = open_transformer(base_of(task.base), "cpu", task.tokenizer).network
        merge_adapters(network, learnt, task.settings.scale)
        return network
    own: dict[str, Tensor] = dict(model.network.named_parameters())
    with torch.no_grad():
        for name, values in learnt.items():
            own[name].copy_(torch.from_numpy(np.array(values, np.float32)))
    return model.network


def _device(name: str) -> Any:
    import torch

    return torch.device(name)
