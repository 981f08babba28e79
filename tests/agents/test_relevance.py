"""What of a past bears on a message, and what is left out of a prompt because it does not."""

from __future__ import annotations

import importlib.util
import json
import math
from dataclasses import asdict, replace
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from understudy.agents.prompting import PastExchange, PastLine, Recalled, build_prompt
from understudy.agents.recall import Recall
from understudy.agents.relevance import BIAS, THRESHOLD, WEIGHTS, RelevanceFeatures, TermRarity, relevance
from understudy.formats import read
from understudy.story.dialogue import Turn, situation_at

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
NOTHING_ALIKE = RelevanceFeatures(*[0.0] * 6)


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    spec = importlib.util.spec_from_file_location("recall_benchmark", BENCHMARKS / "recall.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_rare_word_weighs_more_than_one_that_everybody_says() -> None:
    texts = [frozenset({"okay"}) for _ in range(20)] + [frozenset({"lamp", "okay"}), frozenset({"zita", "okay"})]
    rarity = TermRarity(texts, frozenset({"zita"}))
    assert rarity.of({"lamp"}) == pytest.approx(math.log(201 / 1.5))
    assert rarity.of({"lamp"}) > 2 * rarity.of({"okay"})
    shared, coverage, is_named = rarity.shared(frozenset({"lamp", "okay"}), frozenset({"okay"}))
    assert shared == pytest.approx(rarity.of({"okay"}))
    assert coverage < 0.4
    assert is_named == 0.0


def test_a_name_is_no_shared_word() -> None:
    rarity = TermRarity([frozenset({"zita", "lamp"})] * 3, frozenset({"zita"}))
    shared, coverage, is_named = rarity.shared(frozenset({"zita"}), frozenset({"zita", "lamp"}))
    assert (shared, coverage, is_named) == (0.0, 1.0, 1.0)


def test_what_has_nothing_in_common_does_not_bear() -> None:
    assert relevance(NOTHING_ALIKE) == pytest.approx(1 / (1 + math.exp(-BIAS)))
    assert relevance(NOTHING_ALIKE) < THRESHOLD
    alike = replace(NOTHING_ALIKE, said_similarity=0.6, fit=0.5, shared_rarity=8.0, is_named=1.0)
    assert relevance(alike) > 0.7


def test_the_weights_are_those_that_the_marks_give(benchmark: ModuleType) -> None:
    marks = [json.loads(line) for line in (BENCHMARKS / "recall_marks.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(marks) >= 600
    first = [mark for mark in marks if mark["half"] == "first"]
    features = np.array([[mark["features"][name] for name in benchmark.NAMES] for mark in first])
    weights, bias = benchmark.fit(features, np.array([float(mark["bears"]) for mark in first]))
    assert dict(zip(benchmark.NAMES, weights)) == pytest.approx(asdict(WEIGHTS), abs=0.02)
    assert bias == pytest.approx(BIAS, abs=0.02)


def test_of_roles_that_were_held_back_seven_in_ten_that_are_shown_bear() -> None:
    marks = [json.loads(line) for line in (BENCHMARKS / "recall_marks.jsonl").read_text(encoding="utf-8").splitlines()]
    held_back = [mark for mark in marks if mark["half"] == "second"]
    shown = [mark["bears"] for mark in held_back if relevance(RelevanceFeatures(**mark["features"])) >= THRESHOLD]
    assert sum(shown) / len(shown) >= 0.7
    assert sum(mark["bears"] for mark in held_back) / len(held_back) < 0.25


def test_small_talk_recalls_nothing_for_a_prompt() -> None:
    situation = situation_at(read("demo"), "Zita", "2.3", "Benedek")
    history = [Turn("Aurel Benedek", "What did you have for breakfast?")]
    recalled = Recall().recall(situation, history)
    assert recalled.own, "the nearest there is is still found: the small writer learns its voice from it"
    assert not any(item.is_relevant for item in recalled.own)
    assert not any(item.is_relevant for item in recalled.others)
    assert not {"own", "others"} & {section.name for section in build_prompt(situation, history, recalled).sections}


def test_a_prompt_has_what_bears_and_leaves_out_what_does_not() -> None:
    situation = situation_at(read("demo"), "Zita", "2.3", "Benedek")
    recalled = Recalled(
        own=(PastExchange("", "", "The lamp is mine."), PastExchange("", "", "I like soup.", is_relevant=False)),
        others=(PastLine("Pia Lenk", "The lamp is hers."), PastLine("Pia Lenk", "Fog again.", is_relevant=False)),
    )
    prompt = build_prompt(situation, [Turn("Aurel Benedek", "Whose is the lamp?")], recalled)
    text = "\n".join(message.content for message in prompt.messages)
    assert "The lamp is mine." in text
    assert "The lamp is hers." in text
    assert "I like soup." not in text
    assert "Fog again." not in text
