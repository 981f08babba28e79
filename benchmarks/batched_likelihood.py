"""How probable are 20 candidates? Many questions at once (`log_probs_many`) beside one text at a time (`log_probs`).

    python benchmarks/batched_likelihood.py DATA [--model FOLDER] [--questions 8] [--times 3]

DATA has personachat/. Without --model it is asked of a tiny causal model of random weights and, where it is on this
machine, of SmolLM2; FOLDER is any model whose agent gives log-probabilities (seq2seq, generative-memory, causal, bob).
Both ways answer the same questions in turns on one core; CPU time, medians. Goal: at least 4 times as fast, and no
value further apart than 1e-4.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from understudy.agents import agent_named
from understudy.errors import UnderstudyError
from understudy.language.backends.catalog import find_model
from understudy.language.model_folder import FORMAT, write_card
from understudy.papers.personachat.bench import questions_in
from understudy.story.dialogue import BatchLanguageModel, Example

CONDITION = "self_original"
GOAL, FURTHEST = 4, 1e-4
CARD = {"agent": "causal", "format": FORMAT, "speakers": "names", "seed": 0}
TINY = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4}


def models(given: Sequence[Path], questions: Sequence[Example], folder: Path) -> Iterator[tuple[str, Path]]:
    if given:
        yield from ((path.name, path) for path in given)
        return
    yield "tiny, random weights", tiny_model(folder / "tiny", questions)
    try:
        yield "SmolLM2", saved_model(folder / "smollm2", find_model("smollm2"))
    except UnderstudyError as error:
        print(f"SmolLM2 is left out: {error}")


def tiny_model(folder: Path, questions: Sequence[Example]) -> Path:
    """A Llama of random weights that knows the words of the questions."""
    import torch
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import WhitespaceSplit
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    texts = [text for example in questions for text in example.candidates]
    texts += [turn.text for example in questions for turn in example.history]
    words = dict.fromkeys(["[PAD]", "[UNK]", "<s>", "</s>", *" ".join(texts).split()])
    tokenizer = Tokenizer(WordLevel({word: number for number, word in enumerate(words)}, "[UNK]"))
    tokenizer.pre_tokenizer = WhitespaceSplit()
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]", bos_token="<s>", eos_token="</s>",
        model_max_length=512,
    )  # fmt: skip
    torch.manual_seed(0)
    network: Any = LlamaForCausalLM(LlamaConfig(**TINY, vocab_size=len(words), max_position_embeddings=512))
    network.save_pretrained(folder)
    fast.save_pretrained(folder)
    write_card(folder, CARD)
    return folder


def saved_model(folder: Path, source: Path) -> Path:
    from understudy.language.backends.transformer import open_transformer

    model = open_transformer(source)
    model.network.save_pretrained(folder)
    model.tokenizer.save_pretrained(folder)
    write_card(folder, CARD)
    return folder


def one_by_one(agent: BatchLanguageModel, questions: Sequence[Example]) -> list[float]:
    return [
        value
        for each in questions
        for text in each.candidates
        for value in agent.log_probs(each.situation, each.history, text)
    ]


def together(agent: BatchLanguageModel, questions: Sequence[Example]) -> list[float]:
    asked = [(each.situation, each.history, each.candidates) for each in questions]
    return [value for texts in agent.log_probs_many(asked) for values in texts for value in values]


def timed(call: Callable[[], list[float]]) -> tuple[float, list[float]]:
    start = time.process_time()
    values = call()
    return time.process_time() - start, values


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--model", type=Path, action="append", default=[])
    parser.add_argument("--questions", type=int, default=8)
    parser.add_argument("--times", type=int, default=3)
    options = parser.parse_args()
    path = options.data / "personachat" / f"valid_{CONDITION}.txt"
    questions = questions_in(path, CONDITION, options.questions).examples
    texts = sum(len(example.candidates) for example in questions)
    print(f"{len(questions)} questions with {texts} candidates; goal: {GOAL} times, values within {FURTHEST:g}\n")
    print(f"{'':24} {'one by one':>12} {'together':>12} {'ratio':>7} {'furthest':>10}")
    with tempfile.TemporaryDirectory() as folder:
        for name, model in models(options.model, questions, Path(folder)):
            agent = agent_named(str(model))
            if not isinstance(agent, BatchLanguageModel):
                print(f"{name:24} gives no log-probabilities of many texts")
                continue
            together(agent, questions[:1])  # what is loaded at the first call is no part of either
            runs = [
                (timed(lambda: one_by_one(agent, questions)), timed(lambda: together(agent, questions)))  # noqa: B023
                for _ in range(options.times)
            ]
            slow, fast = (statistics.median(run[side][0] for run in runs) for side in (0, 1))
            apart = float(np.max(np.abs(np.subtract(runs[0][0][1], runs[0][1][1]))))
            verdict = "" if slow / fast >= GOAL and apart <= FURTHEST else "  misses the goal"
            print(f"{name:24} {slow:10.2f} s {fast:10.2f} s {slow / fast:7.1f} {apart:10.0e}{verdict}", flush=True)


if __name__ == "__main__":
    main()
