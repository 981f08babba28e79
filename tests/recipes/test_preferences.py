"""Learning which of two drafts was preferred."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from recipes.writer.adapter import WriterAdapters, reply_losses
from recipes.writer.preferences import Preference, learn_preferences, read_preferences
from recipes.writer.seeds import read_seeds
from recipes.writer.settings import WriterSettings
from speakers import tiny_reader
from understudy.language.backends.transformer import open_transformer
from understudy.training.run import TrainingRun, TrainingTask

SMALL = WriterSettings(rank=32, preference_epochs=8, preference_rate=3e-3, pairs=2, longest=400)
PAIRS = [
    Preference("Who are you?", "I keep the ferry.", "I am a fish."),
    Preference("What is it?", "It is a boat.", "I am a fish."),
    Preference("Where to? " * 200, "A boat.", "A fish."),  # too long: left out
]


def test_the_pairs_that_ship_are_prompts_with_two_different_drafts() -> None:
    pairs = read_preferences()
    assert len(pairs) > 4_000
    assert all(pair.prompt.endswith("<|im_start|>assistant\n") for pair in pairs)
    assert all(pair.chosen.strip() and pair.chosen != pair.rejected for pair in pairs)
    assert len(read_seeds()) == 244


@pytest.mark.thorough
def test_what_was_chosen_becomes_likelier_than_what_was_rejected(tmp_path: Path) -> None:
    model = open_transformer(tiny_reader(tmp_path / "base", "causal", longest=2_048), "cpu")
    adapters = WriterAdapters(model.network, SMALL.rank, SMALL.scale, 0)
    steps = list[int]()
    task = TrainingTask(tmp_path, tmp_path / "writer", SMALL, device="cpu")
    run = TrainingRun(task, lambda done, _total, _loss: steps.append(done))
    run.begin({})
    learnt = learn_preferences(model, adapters, adapters.start, PAIRS, run)
    assert len(steps) == SMALL.preference_epochs, "two pairs that are short enough make one step an epoch"

    def margin(pair: Preference) -> float:
        ids = [model.tokenizer(text, add_special_tokens=False)["input_ids"] for text in pair]
        with torch.no_grad():
            losses = [reply_losses(model.network, [ids[0]], [reply], model.pad).sum() for reply in ids[1:]]
        return float(losses[1] - losses[0])

    adapters.unbind()
    before = [margin(pair) for pair in PAIRS[:2]]
    adapters.bind({name: torch.from_numpy(values) for name, values in learnt.items()})
    assert all(margin(pair) > was for pair, was in zip(PAIRS, before))
