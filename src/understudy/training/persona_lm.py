"""Trainers of a persona's language model: a causal or masked transformer, fine-tuned on a character's lines.

    causal    loss = - mean over tokens w_i of ln P(w_i | w_1 .. w_i-1)          the end of a line is a token too
    masked    loss = - mean over masked tokens w_i of ln P(w_i | the tokens that are not masked)

A seventh of a masked model's tokens is masked, drawn anew each time, at least one, always by the mask token: that is
how the model is asked afterwards. Lines are those a character of a story has said before a moment, or any others. Some
are held back. The epoch with the lowest perplexity on those is kept, and training stops when it has not improved for a
while (early stopping). The model folder is in Hugging Face's layout, with our card beside: `understudy score --metrics
uppl --model` opens it, and so does anything else that opens such folders.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from understudy.errors import InputError
from understudy.language.backends.transformer import CAUSAL, MASKED, Transformer, open_transformer
from understudy.language.lexical.rows import Reals
from understudy.language.model_folder import CARD, ModelFolder, write_card
from understudy.metrics.uppl import perplexity
from understudy.story.persona import persona_at
from understudy.story.storyfile import Story
from understudy.text import guess_language
from understudy.training.loop import Loss, Optimization, Progress, no_progress
from understudy.training.pretrained import own_weights, put_weights, write_network
from understudy.training.run import EarlyStopping, TrainingRun, TrainingTask, check_positive, check_shares

if TYPE_CHECKING:
    from torch import Tensor


FEWEST = 20  # lines
MASKED_SHARE = 7  # one of so many tokens is masked


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
        check_positive(self, "epochs", "batch", "rate", "patience", "window")
        check_shares(self, "held_back")

    @property
    def optimization(self) -> Optimization:
        return Optimization(self.epochs, self.batch, self.rate, (0.9, 0.999), warmup=0.1, decay=0.01, max_grad_norm=1.0)


@dataclass(frozen=True, slots=True)
class SpokenLines:
    """Lines to learn, and whose they are; `moment` is the one they were said before, blank where there is none."""

    name: str
    texts: Sequence[str]
    language: str
    source: str
    moment: str = ""

    @classmethod
    def of_story(cls, story: Story, name: str, at: str) -> SpokenLines:
        """What a character has said before a moment; nothing that comes later is used."""
        persona = persona_at(story, name, at)
        texts = [line.text for line in persona.past.lines()]
        return cls(persona.name, texts, persona.language, story.title, persona.moment.dotted)


Task = TrainingTask[SpokenLines, LineSettings]


def train_causal(task: Task, progress: Progress = no_progress) -> ModelFolder:
    """Fine-tune a causal language model, and write its folder."""
    return _train(CAUSAL, task, progress)


def train_masked(task: Task, progress: Progress = no_progress) -> ModelFolder:
    """Fine-tune a masked language model, and write its folder."""
    return _train(MASKED, task, progress)


def _train(kind: str, task: Task, progress: Progress) -> ModelFolder:
    run = TrainingRun(task, progress)
    lines, base = task.data, str(task.base)
    training, held_out = _split(task)
    model = open_transformer(base, run.device.type)
    if model.kind != kind:
        raise InputError(f"is a {model.kind} model: train it with 'understudy train {model.kind}'", base)
    start = own_weights(model.network)
    plan: dict[str, Any] = {
        "agent": kind,
        "what": f"How {lines.name} talks: a {kind} language model for uppl",
        "base": {"name": Path(base).name, "sha256": weights_digest(start)},
        "story": lines.source,
        "character": lines.name,
        "moment": lines.moment,
        "language": lines.language,
        "data": {"lines": len(training), "held_back": len(held_out), "sha256": _lines_digest(training, held_out)},
    }
    run.begin(plan)
    best = run.early_stopping(lambda parameters: _held_back_loss(model, held_out, parameters), task.settings.patience)
    window, seed = task.settings.window, task.seed
    loss = masked_loss(model, training, window, seed) if kind == MASKED else causal_loss(model, training, window)
    model.network.train()
    learnt = run.fit(start, loss, len(training), task.settings.optimization, best=best if held_out else None)
    card = run.card(figures=_figures(best))
    with run.output() as folder:
        write_network(folder, model.network, model.tokenizer, learnt)
        write_card(folder, card)
    return ModelFolder(card, {}, task.out)


def _figures(best: EarlyStopping) -> dict[str, Any]:
    """Perplexity of the held-back lines before and after; empty where none were held back."""
    if not best.losses:
        return {}
    perplexities = {
        "before": round(perplexity(-best.losses[0]), 3),
        "after": round(perplexity(-min(best.losses)), 3),
    }
    return {"of": "lines held back", "perplexity": perplexities, "epochs": best.best_epoch}


def _held_back_loss(model: Transformer, held_out: Sequence[str], parameters: Mapping[str, Tensor]) -> float:
    """The mean loss of a token over the held-back lines."""
    network = model.network
    was_training = network.training
    network.eval()
    put_weights(network, parameters)
    log_probs = [value for values in model.many(held_out) for value in values]
    network.train(was_training)
    return -float(np.mean(log_probs))


def _split(task: Task) -> tuple[list[str], list[str]]:
    """Lines to learn from, and those held back; the same line is never on both sides."""
    lines = list(dict.fromkeys(text.strip() for text in task.data.texts if text.strip()))
    if len(lines) < FEWEST:
        when, instead = (" before this moment", "a later moment, or ") if task.data.moment else ("", "")
        raise InputError(
            f"{task.data.name} has {len(lines)} different lines{when}, and at least {FEWEST} are needed: choose "
            f"{instead}somebody who says more"
        )
    order = np.random.default_rng(task.seed).permutation(len(lines)).tolist()
    share = task.settings.held_back
    held_out = set(order[: max(round(share * len(lines)), 1)] if share else ())
    return (
        [line for index, line in enumerate(lines) if index not in held_out],
        [line for index, line in enumerate(lines) if index in held_out],
    )


def weights_digest(tensors: Mapping[str, NDArray[np.float32]]) -> str:
    digest = hashlib.sha256()
    for name in sorted(tensors):
        digest.update(name.encode() + np.ascontiguousarray(tensors[name]).tobytes())
    return digest.hexdigest()


def _lines_digest(*parts: Sequence[str]) -> str:
    return hashlib.sha256("\0".join(line for part in parts for line in (*part, "")).encode()).hexdigest()


def causal_loss(model: Transformer, texts: Sequence[str], window: int) -> Loss:
    sequences = [model.sequence(text, window)[0] for text in texts]

    def loss(parameters: Mapping[str, Tensor], batch: NDArray[np.int64], _step: int) -> Tensor:
        from torch.func import functional_call
        from torch.nn.functional import cross_entropy

        inputs = model.batch([sequences[number] for number in batch.tolist()])
        logits = functional_call(model.network, dict(parameters), (), inputs).logits[:, :-1]
        real = inputs["attention_mask"][:, 1:] == 1
        return cross_entropy(logits[real], inputs["input_ids"][:, 1:][real])

    return loss


def masked_loss(model: Transformer, texts: Sequence[str], window: int, seed: int) -> Loss:
    encoded = [model.sequence(text, window) for text in texts]

    def loss(parameters: Mapping[str, Tensor], batch: NDArray[np.int64], step: int) -> Tensor:
        import torch
        from torch.func import functional_call
        from torch.nn.functional import cross_entropy

        rng = np.random.default_rng((seed, step))
        chosen = [encoded[number] for number in batch.tolist()]
        inputs = model.batch([ids for ids, _ in chosen])
        masked = torch.zeros_like(inputs["input_ids"], dtype=torch.bool)
        for row, (_, positions) in enumerate(chosen):
            masked[row, rng.choice(positions, max(len(positions) // MASKED_SHARE, 1), replace=False)] = True
        hidden = inputs["input_ids"][masked]
        inputs["input_ids"] = inputs["input_ids"].masked_fill(masked, model.tokenizer.mask_token_id)
        logits = functional_call(model.network, dict(parameters), (), inputs).logits
        return cross_entropy(logits[masked], hidden)

    return loss


# uPPL by a transformer fine-tuned on each judged character's lines, as the paper has it.
#
#     uPPL(u, p) = exp(- mean over tokens w of u of ln P_p(w | ...))
#
# P_p is a masked language model (each token covered in turn: pseudo-perplexity) or a causal one, fine-tuned on the
# lines of p that are not held back. It needs tokens of its own only: no words are cut, and no other character's lines
# are used.

TRAINERS = {CAUSAL: train_causal, MASKED: train_masked}


@dataclass(frozen=True, slots=True)
class PersonaTuning:
    """From which language model, how, and in which folder its fine-tuned copies are kept for another run."""

    base: str
    models: Path
    settings: LineSettings
    seed: int = 0
    device: str = "auto"


def fine_tuned_scorer(tuning: PersonaTuning) -> str:
    """The name of the scorer that a base gives: uppl-masked or uppl-causal."""
    return f"uppl-{open_transformer(tuning.base, 'cpu').kind}"


def fine_tune(
    tuning: PersonaTuning, name: str, texts: Sequence[str], source: str, progress: Progress = no_progress
) -> Transformer:
    """The model of one character; one that is in the folder already is opened and not trained again."""
    base = open_transformer(tuning.base, "cpu")
    plan = [weights_digest(own_weights(base.network)), asdict(tuning.settings), tuning.seed, list(texts)]
    key = hashlib.sha256(json.dumps(plan).encode()).hexdigest()[:16]
    folder = tuning.models / f"{base.kind}-{key}"
    if not (folder / CARD).is_file():
        lines = SpokenLines(name, texts, guess_language(" ".join(texts)), source)
        task = TrainingTask(lines, folder, tuning.settings, tuning.base, seed=tuning.seed, device=tuning.device)
        TRAINERS[base.kind](task, progress)
    return open_transformer(folder, tuning.device)


def line_perplexities(model: Transformer, texts: Sequence[str]) -> Reals:
    """Of each line; NaN where it has no token."""
    log_probs = model.many(texts)
    return np.array([perplexity(float(np.mean(values))) if values else np.nan for values in log_probs])
