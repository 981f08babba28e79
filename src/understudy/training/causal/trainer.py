"""The trainer of `causal`: any causal language model of Hugging Face, fine-tuned on dialogues.

All of its weights are trained, or low-rank adapters on them (`settings.lora`). What it learns from and how
it is shown is in `corpora`, the loss in `loss`. The card has the perplexity of held-back dialogues before and after:

    perplexity = exp(- sum of the log-probabilities of all replies' tokens / (their words + one end for each))
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from understudy.agents.causal import ADAPTER, NAME, DialogueFormat, read_window
from understudy.errors import InputError
from understudy.language.backends.catalog import DEFAULT_MODEL, find_model
from understudy.language.backends.causal_lm import base_card
from understudy.language.backends.transformer import CAUSAL, Transformer, open_transformer
from understudy.language.model_folder import ModelFolder, Tensors, write_card, write_tensors
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
from understudy.training.loop import Progress, launched_workers, no_progress
from understudy.training.pretrained import write_network
from understudy.training.run import CHECKPOINT_EVERY, TrainingRun, TrainingTask

if TYPE_CHECKING:
    from understudy.training.causal.loss import TrainedPart

__all__ = ["CausalSettings", "base_of", "train"]

CONDITIONS = ("none", "self")
LARGEST = 100.0  # exp of more is of no interest
EVERY = 1000  # steps between checkpoints where all weights are trained: each is large


Task = TrainingTask[tuple[Path, ...], CausalSettings]
"""Folders and files of dialogues to learn from, of any form that `corpora` reads."""


def base_of(requested: str | Path | None) -> str:
    """The model to start from; by default SmolLM2 where it is on this machine."""
    return str(find_model(DEFAULT_MODEL)) if requested is None else str(requested)


def train(task: Task, progress: Progress = no_progress) -> ModelFolder:
    """Train, and write the model folder; of several processes, the first one does."""
    run = TrainingRun(task, progress, workers=launched_workers(task.device))
    from understudy.training.causal.loss import AllWeights, DialogueLoss, LowRank

    settings, base = task.settings, base_of(task.base)
    corpus = _corpus(task)
    model = open_transformer(base, str(run.device), task.tokenizer)
    if model.kind != CAUSAL:
        raise InputError(f"is a {model.kind} model: choose a causal one", base)
    form = DialogueFormat(model.tokenizer, min(settings.window, read_window(model)))
    run.begin(
        {
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
        }
    )
    part: TrainedPart = (
        LowRank(model.network, settings.lora, settings.scale, task.seed) if settings.lora else AllWeights(model.network)
    )
    training, held = list(in_windows(corpus.training, form)), list(in_windows(corpus.held, form))
    before = _figures(model, part, part.start, held, form)
    model.network.train()
    batches = like_lengths(training, form, settings.tokens)
    drawer = DialogueDrawer(training, corpus.paraphrases, settings, form, task.seed)
    loss = DialogueLoss(model, part, drawer, batches, run.workers)
    every = CHECKPOINT_EVERY if settings.lora else EVERY
    learnt = run.fit(part.start, loss, len(batches), settings.optimization, every=every)
    model.network.eval()
    after = _figures(model, part, learnt, held, form)
    card = run.card(figures={name: {"before": before[name], "after": after[name]} for name in after})
    if run.workers.is_first:
        with run.output() as folder:
            _write(folder, task, model, learnt)
            write_card(folder, card)
    run.workers.wait()
    return ModelFolder(card, {}, task.out)


def _corpus(task: Task) -> DialogueCorpus:
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


def _write(folder: Path, task: Task, model: Transformer, learnt: Tensors) -> None:
    if task.settings.lora and not task.merged:
        write_tensors(folder / ADAPTER, learnt)
        model.tokenizer.save_pretrained(folder)
    elif task.settings.lora:  # the network's layers are wrapped now: the base is opened again
        from understudy.language.backends.lora import merge_adapters

        network = open_transformer(base_of(task.base), "cpu", task.tokenizer).network
        merge_adapters(network, learnt, task.settings.scale)
        write_network(folder, network, model.tokenizer, {})
    else:
        write_network(folder, model.network, model.tokenizer, learnt)
