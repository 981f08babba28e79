"""The trainer of `reranker`: a low-rank adapter of a causal language model, and a head that scores replies.

It learns from PersonaChat's dialogues (a share of their turns) and from PDNC's novels to tell what is said next from
what is said elsewhere. The card has its hits@1 and mrr among eight replies, on the novels that are held back.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))  # the checkout, so that it runs from anywhere

from recipes.command import adapted_option, novels_option, recipe
from recipes.reranker.novels import novels_of
from recipes.reranker.questions import ChatQuestions, QuestionSource
from recipes.writer.corpora import readable_dialogues
from understudy.agents.reranker import ADAPTER, NAME, RerankerFormat, pack_matrices
from understudy.errors import InputError
from understudy.language.backends.causal_lm import base_card
from understudy.language.backends.transformer import CAUSAL, Transformer, open_transformer
from understudy.language.model_folder import ModelFolder, Tensors, write_card, write_tensors
from understudy.metrics.ranking import gold_ranks
from understudy.training.causal import base_of
from understudy.training.loop import Optimization, Progress, no_progress
from understudy.training.run import TrainingRun, TrainingTask, check_positive

if TYPE_CHECKING:
    from understudy.language.backends.lora import Adapters

__all__ = ["RerankerSettings", "train"]

LAYERS = (
    "self_attn.q_proj", "self_attn.v_proj", "self_attn.o_proj", "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj",
)  # fmt: skip
HEAD = ("head.weight", "head.bias")
JUDGED = 400  # questions of the figures


@dataclass(frozen=True, slots=True)
class RerankerSettings:
    """How it is trained: `rank` and `scale` (alpha / rank) are the adapter's.

    `chats` is the share of the turns of PersonaChat that are asked for, `wording` what the language model's own loss
    counts.
    """

    epochs: int = 1
    batch: int = 24
    rate: float = 5e-4
    rank: int = 16
    scale: float = 2.0
    chats: float = 0.33
    wording: float = 0.25

    def __post_init__(self) -> None:
        check_positive(self, "epochs", "batch", "rate", "rank", "scale")
        if not 0 <= self.chats <= 1 or self.wording < 0:
            raise InputError("chats is a share from 0 to 1, and wording at least 0")


def train(task: TrainingTask[tuple[Path, Path], RerankerSettings], progress: Progress = no_progress) -> ModelFolder:
    """Train from `task.base`, SmolLM2 if none, on a folder of chats and one of novels."""
    run = TrainingRun(task, progress)
    from recipes.reranker.loss import RerankerLoss
    from understudy.language.backends.lora import Adapters

    settings, base = task.settings, base_of(task.base)
    dialogues = readable_dialogues(task.data[0])
    chats = ChatQuestions(dialogues)
    kept = Random(f"{task.seed} chats").sample(range(len(chats)), round(settings.chats * len(chats)))  # noqa: S311
    novels, held = novels_of(task.data[1], held_back=False), novels_of(task.data[1], held_back=True)
    plan: dict[str, Any] = {
        "agent": NAME,
        "what": "A reranker: a low-rank adapter for a causal language model, and a head that scores replies",
        "base": base_card(base),
        "data": {"dialogues": len(dialogues), "novels": len(novels), "chat_questions": len(kept),
                 "novel_questions": sum(map(len, novels))},
    }  # fmt: skip
    run.begin(plan)
    model = open_transformer(base, run.device.type)
    if model.kind != CAUSAL:
        raise InputError(f"is a {model.kind} model: choose a causal one", base)
    form = RerankerFormat(model.tokenizer, model.window)
    adapters = Adapters(model.network, _layers(model.network), settings.rank, settings.scale, task.seed)
    width = int(model.network.config.hidden_size)
    start: Tensors = {
        **adapters.start, HEAD[0]: np.zeros((1, width), np.float32), HEAD[1]: np.zeros(1, np.float32),
    }  # fmt: skip
    sources: list[QuestionSource] = [*novels, _Some(chats, kept)]
    loss = RerankerLoss(model, adapters, form, sources, settings.wording, task.seed)
    rates = Optimization(settings.epochs, settings.batch, settings.rate, (0.9, 0.98), 0.04, 0.01, 1.0, ("head",))
    learnt = run.fit(start, loss, len(loss), rates)
    figures = _figures(model, adapters, form, learnt, held, settings.batch)
    card = run.card(figures=figures)
    matrices = {name: array for name, array in learnt.items() if name not in HEAD}
    with run.output() as folder:
        write_tensors(folder / ADAPTER, {**pack_matrices(matrices), **{name: learnt[name] for name in HEAD}})
        write_card(folder, card)
    return ModelFolder(card, {}, task.out)


def _layers(network: Any) -> dict[str, str]:
    """The linear layers that are adapted, by their own paths."""
    paths = [path for path, _ in network.named_modules() if path.endswith(LAYERS)]
    if not paths:
        raise InputError("the base model is no Llama: choose another with --base")
    return {path: path for path in paths}


class _Some:
    """Some of the questions of a source."""

    def __init__(self, source: QuestionSource, indices: Sequence[int]) -> None:
        self._source, self._indices = source, indices

    def __len__(self) -> int:
        return len(self._indices)

    def draw(self, index: int, rng: Random) -> Any:
        return self._source.draw(self._indices[index], rng)


def _figures(
    model: Transformer,
    adapters: Adapters,
    form: RerankerFormat,
    learnt: Tensors,
    held: Sequence[QuestionSource],
    batch: int,
) -> dict[str, Any]:
    """Of questions of the held-back novels, drawn once and for all."""
    import torch

    from recipes.reranker.loss import reply_scores

    places = [(source, index) for source in held for index in range(len(source))]
    places = [places[number] for number in sorted(Random(0).sample(range(len(places)), min(JUDGED, len(places))))]  # noqa: S311
    questions = [source.draw(index, Random(number)) for number, (source, index) in enumerate(places)]  # noqa: S311
    parameters = {name: torch.from_numpy(np.array(array)).to(model.network.device) for name, array in learnt.items()}
    ranks: list[int] = []
    for first in range(0, len(questions), batch):
        some = questions[first : first + batch]
        for question, row in zip(some, reply_scores(model, adapters, form, parameters, some)):
            left = [float(score) for score, same in zip(row, question.repeated) if not same]
            ranks.append(gold_ranks(left, {0})[0])
    if not ranks:
        return {}
    return {
        "held_back_novels": {
            "questions": len(ranks),
            "hits@1": round(float(np.mean([rank == 1 for rank in ranks])), 4),
            "mrr": round(float(np.mean([1 / rank for rank in ranks])), 4),
        }
    }


main = novels_option(adapted_option(recipe("reranker", train, RerankerSettings, "epochs", "batch")))

if __name__ == "__main__":
    main()
