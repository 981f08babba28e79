"""The trainer of `causal`: any causal language model of Hugging Face, fine-tuned on dialogues.

    loss = - 1/n sum over the n learnt tokens w_i of a batch of ln P(w_i | all tokens before it)

Learnt are the tokens of replies and their ends, never those of a prompt. All weights of a network are trained, or
low-rank adapters on them while its own stay as they are (`settings.lora`). What it learns from and how it is shown is
in `causal_corpora`. The card has the perplexity of held-back dialogues before and after:

    perplexity = exp(- sum of the log-probabilities of all replies' tokens / (their words + one end for each))
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from understudy.agents.causal import ADAPTER, NAME, DialogueFormat, TokenizedDialogue, read_window
from understudy.errors import InputError
from understudy.language.backends.catalog import DEFAULT_MODEL, find_model
from understudy.language.backends.causal_lm import base_card, chosen_logits
from understudy.language.backends.lora import Adapters, adapted_layers
from understudy.language.backends.transformer import CAUSAL, Transformer, open_transformer
from understudy.language.model_folder import ModelFolder, Tensors, write_card, write_tensors
from understudy.training.bert import precision
from understudy.training.causal_corpora import (
    CausalSettings,
    DialogueCorpus,
    DialogueDrawer,
    TrainingDialogue,
    in_windows,
    like_lengths,
    read_corpus,
    under_condition,
)
from understudy.training.loop import ALONE, Progress, Workers, launched_workers, no_progress
from understudy.training.pretrained import own_weights, write_network
from understudy.training.run import CHECKPOINT_EVERY, TrainingRun, TrainingTask

if TYPE_CHECKING:
    from torch import Tensor

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


PASS_TOKENS = 1 << 14
LIKE = 0.6  # a sequence shorter than this share of the longest is read in another pass

Draw = Callable[[int, int], TokenizedDialogue]
"""From an epoch and the index of a dialogue to its tokens, as it is shown in that epoch."""


class TrainedPart(Protocol):
    """What of a network is trained."""

    start: Tensors

    def logits(self, parameters: Mapping[str, Tensor], ids: Tensor, rows: Tensor, columns: Tensor) -> Tensor: ...


class LowRank:
    """Adapters on every linear layer of the blocks."""

    def __init__(self, network: Any, rank: int, scale: float, seed: int) -> None:
        self._network = network
        self._adapters = Adapters(network, adapted_layers(network), rank, scale, seed)
        self.start = self._adapters.start

    def logits(self, parameters: Mapping[str, Tensor], ids: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
        self._adapters.bind(parameters)
        return chosen_logits(self._network, rows, columns, input_ids=ids)


class AllWeights:
    """Every parameter of a network."""

    def __init__(self, network: Any) -> None:
        from torch import nn

        class ChosenLogits(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.network = network

            def forward(self, ids: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
                return chosen_logits(self.network, rows, columns, input_ids=ids)

        self._module = ChosenLogits()
        self.start: Tensors = own_weights(network)

    def logits(self, parameters: Mapping[str, Tensor], ids: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
        from torch.func import functional_call

        bound = {f"network.{name}": parameter for name, parameter in parameters.items()}
        logits: Tensor = functional_call(self._module, bound, (ids, rows, columns))
        return logits


class DialogueLoss:
    """The loss of a batch of dialogues, or of this worker's share of it; `batches` has their indices."""

    def __init__(
        self,
        model: Transformer,
        part: TrainedPart,
        draw: Draw,
        batches: Sequence[Sequence[int]],
        workers: Workers = ALONE,
    ) -> None:
        self._model, self._part, self._draw, self._batches = model, part, draw, batches
        self._workers = workers

    def __call__(self, parameters: Mapping[str, Tensor], batch: NDArray[np.int64], step: int) -> Tensor:
        import torch

        epoch = step // len(self._batches)
        indices = [index for number in batch.tolist() for index in self._batches[number]]
        sequences = sorted((self._draw(epoch, index) for index in indices), key=lambda drawn: len(drawn.ids))
        learnt = sum(len(sequence.learnt) for sequence in sequences)
        own = sequences[self._workers.rank :: self._workers.count]
        with precision(self._model.network.device):
            losses = [token_losses(self._model, self._part, parameters, some).sum() for some in passes(own)]
        if not losses:  # fewer sequences than workers: the gradient is 0
            return sum((parameter.sum() * 0 for parameter in parameters.values()), torch.zeros(()))
        return torch.stack(losses).sum() / max(learnt, 1)


def token_losses(
    model: Transformer, part: TrainedPart, parameters: Mapping[str, Tensor], sequences: Sequence[TokenizedDialogue]
) -> Tensor:
    """- ln P of each learnt token, sequence by sequence. Padding stands at the end, where nothing looks at it."""
    import torch
    from torch.nn.functional import cross_entropy

    device = model.network.device
    longest = max(len(sequence.ids) for sequence in sequences)
    ids = torch.full((len(sequences), longest), model.pad)
    rows, columns = list[int](), list[int]()
    for row, sequence in enumerate(sequences):
        ids[row, : len(sequence.ids)] = torch.tensor(sequence.ids)
        rows += [row] * len(sequence.learnt)
        columns += sequence.learnt
    where = torch.tensor(rows), torch.tensor(columns)
    targets = ids[where].to(device)
    logits = part.logits(parameters, ids.to(device), where[0].to(device), where[1].to(device) - 1)
    return cross_entropy(logits, targets, reduction="none")


def passes(sequences: Sequence[TokenizedDialogue]) -> Iterator[list[TokenizedDialogue]]:
    """Sequences of about one length together, longest first, so that little is computed for padding."""
    some: list[TokenizedDialogue] = []
    for sequence in sorted(sequences, key=lambda sequence: -len(sequence.ids)):
        longest = len(some[0].ids) if some else 0
        if some and ((len(some) + 1) * longest > PASS_TOKENS or len(sequence.ids) < LIKE * longest):
            yield some
            some = []
        some.append(sequence)
    if some:
        yield some
