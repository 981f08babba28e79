from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from models import dialogue_base, trades
from understudy.agents.causal import DialogueFormat
from understudy.training.causal_corpora import (
    CausalSettings,
    DialogueDrawer,
    like_lengths,
    read_corpus,
    under_condition,
)

pytest.importorskip("transformers", reason="a transformer needs the extra 'train'")


def test_profiles_are_shown_as_often_as_asked_in_any_order_and_the_same_again(tmp_path: Path) -> None:
    from transformers import PreTrainedTokenizerFast

    data = trades(tmp_path / "data", 2)
    tokenizer = PreTrainedTokenizerFast.from_pretrained(dialogue_base(tmp_path / "base", data, more=["another"]))
    dialogues = read_corpus(data, 0, 0).training[:1]
    own = dialogues[0].situation.persona.profile
    reworded = {own[0]: ["another", dialogues[0].turns[0].text]}
    settings = CausalSettings(none=0.3, both=0.2, paraphrase=0.5)
    drawer = DialogueDrawer(dialogues, reworded, settings, DialogueFormat(tokenizer, 128), seed=3)
    texts = [tokenizer.decode(drawer(epoch, 0).ids) for epoch in range(300)]
    assert texts[:20] == [tokenizer.decode(drawer(epoch, 0).ids) for epoch in range(20)]
    shown = Counter(("B" if "About B:" in text else "") + ("A" if "About A:" in text else "") for text in texts)
    assert shown[""] == pytest.approx(90, abs=25) and shown["BA"] + shown["AB"] == pytest.approx(60, abs=22)
    assert shown["A"] == pytest.approx(150, abs=30) and shown["B"] == 0, "the one who answers is A here"
    with_profile = [text for text in texts if "About A:" in text]
    assert sum(text.startswith(f"About A: {own[1]}") for text in with_profile) == pytest.approx(105, abs=30)
    assert sum("another" in text for text in with_profile) == pytest.approx(105, abs=30)
    assert all(text.count(dialogues[0].turns[0].text) == 1 for text in texts), "never what is to be said"


def test_a_condition_hides_profiles_and_nothing_else(tmp_path: Path) -> None:
    told = read_corpus(trades(tmp_path, 1), 0, 0).training[0].situation
    none, self, both = (under_condition(told, condition) for condition in ("none", "self", "both"))
    assert both == told and self.persona == told.persona and none.persona.profile == ()
    assert self.faced is not None and none.faced is not None and told.faced is not None
    assert self.faced.profile == none.faced.profile == () and self.faced.name == told.faced.name


def test_dialogues_of_one_length_are_a_batch(tmp_path: Path) -> None:
    from transformers import PreTrainedTokenizerFast

    data = trades(tmp_path / "data", 12)
    form = DialogueFormat(PreTrainedTokenizerFast.from_pretrained(dialogue_base(tmp_path / "base", data)), 128)
    dialogues = read_corpus(data, 0, 0).training
    dialogues = [replace(one, turns=one.turns[: 2 + number % 3]) for number, one in enumerate(dialogues)]
    batches = like_lengths(dialogues, form, 200)
    assert sorted(index for batch in batches for index in batch) == list(range(len(dialogues)))
    lengths = [len(form.dialogue(one.situation, one.turns, one.learnt).ids) for one in dialogues]
    sizes = [[lengths[index] for index in batch] for batch in batches]
    assert all(max(some) * len(some) <= 200 for some in sizes) and len(batches) < len(dialogues) / 2
    assert [max(some) for some in sizes] == sorted(max(some) for some in sizes)
