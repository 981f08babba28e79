"""What of a past bears on a message."""

from __future__ import annotations

import importlib.util
import json
import math
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from people import ListPast, hearing, situation, tie
from understudy.agents.encoder import EncoderAgent
from understudy.agents.prompt import build_prompt
from understudy.agents.prompt_contents import PastExchange, PastLine, Recalled
from understudy.agents.recall import BIAS, THRESHOLD, WEIGHTS, Recall, RelevanceFeatures, TermRarity, relevance
from understudy.agents.word_tokens import bearing_part, plain_line, spread_lines, terms
from understudy.formats import read
from understudy.story.dialogue import Situation, Turn, situation_at
from understudy.story.persona import Other, Told
from understudy.story.storyfile import Story


@cache
def recall() -> Recall:
    return Recall(EncoderAgent(cache=False))


@cache
def demo() -> Story:
    return read("demo")


def heard_by(who: str, at: str, facing: str, message: str) -> tuple[Situation, list[Turn]]:
    context = situation_at(demo(), who, at, facing)
    assert context.faced is not None
    return context, [Turn(context.faced.name, message)]


def test_somebody_is_meant_by_any_of_their_names() -> None:
    recalled = recall().recall(*heard_by("Zita", "3.4.4", "Haake", "Do you trust the Prior?"))
    assert "I love Casimir Ould with all my heart." in recalled.facts
    assert any("I trust the Prior" in exchange.said for exchange in recalled.own)
    assert not any("I do not trust the Prior" in exchange.said for exchange in recalled.own), "she has changed her mind"


def test_nothing_is_recalled_from_later() -> None:
    context, history = heard_by("Zita", "2.3", "Benedek", "What is your real name? Are you Danilo Reuss?")
    recalled = recall().recall(context, history)
    moments = [exchange.moment for exchange in recalled.own] + [line.moment for line in recalled.others]
    assert moments
    assert all(moment is not None and moment < context.persona.moment for moment in moments)


def test_what_is_kept_from_the_one_faced_is_no_fact_to_answer_with() -> None:
    context = replace(
        situation(profile=("I have the brass key.", "I am a pilot."), faced="Ines"), secrets=("I have the brass key.",)
    )
    assert "I have the brass key." not in recall().recall(context, hearing("Do you have the brass key?")).facts


def test_the_tie_to_the_one_who_asks() -> None:
    context = situation(relations=(tie("Ines", "affection", 8), tie("Vera", "affection", -8)), faced="Ines")
    assert recall().recall(context, hearing("Do you trust me?")).facts[0] == "I would trust Ines with my life."


def test_own_exchanges_with_what_they_answered() -> None:
    context = situation(
        ("Ines", "Where is the key?", "In my coat pocket, where it always was."),
        ("Ines", "How is the weather?", "Fog, and more fog coming from the north."),
        ("Ines", "Yes.", "No."),
    )
    own = recall().recall(context, hearing("Where did you put the key?")).own
    assert own[0].said == "In my coat pocket, where it always was."
    assert (own[0].speaker, own[0].heard) == ("Ines", "Where is the key?")
    assert "No." not in [exchange.said for exchange in own], "it says nothing"


def test_the_same_voice_for_every_message() -> None:
    context, _ = heard_by("Haake", "2.3", "Zita", "")
    first = recall().recall(context, hearing("Who are you?")).voice
    assert len(first) == 8
    assert recall().recall(context, hearing("Where is your ship?")).voice == first


def test_what_others_said() -> None:
    recalled = recall().recall(*heard_by("Zita", "2.3", "Benedek", "What did the Captain say about the Good Wife?"))
    assert any("Good Wife" in line.text for line in recalled.others)
    assert not any(line.speaker == "Zita Karst" for line in recalled.others)


def test_what_was_said_while_the_one_faced_was_away_is_private() -> None:
    recalled = recall().recall(*heard_by("Benedek", "2.3", "Zita", "Did you write my father's confession?"))
    (confessed,) = [exchange for exchange in recalled.own if "I wrote his confession" in exchange.said]
    assert confessed.is_private
    assert not all(exchange.is_private for exchange in recalled.own), "she was there for the rest"


@pytest.mark.parametrize("language", ["ja", "zh"])
def test_a_language_without_an_encoder_is_searched_by_its_characters(language: str) -> None:
    past = {
        "ja": (("Ines", "鍵はどこ？", "鍵はポケットの中だ。"), ("Ines", "天気は？", "霧ばかりだ。")),
        "zh": (("Ines", "钥匙在哪里？", "钥匙在我口袋里。"), ("Ines", "天气呢？", "又是大雾。")),
    }[language]
    context = situation(*past, language=language)
    by_words = recall()
    own = by_words.recall(context, hearing(past[0][1])).own
    assert own[0].said == past[0][2]


def test_a_card_and_a_stranger() -> None:
    nobody = situation()
    assert recall().recall(nobody, hearing("Hello?")) == recall().recall(nobody, [])
    only_profile = situation(profile=("I breed llamas.", "I have two sisters."))
    assert recall().recall(only_profile, hearing("Any brothers or sisters?")).facts[0] == "I have two sisters."


def test_the_past_is_read_once_for_many_messages() -> None:
    context = situation(("Ines", "Where is the key?", "In my coat pocket."))
    past = context.persona.past
    assert isinstance(past, ListPast)
    fresh = Recall(EncoderAgent(cache=False))
    for message in ("Where is the key?", "Who are you?", "What now?"):
        fresh.recall(context, hearing(message))
    assert past.readings <= 1


def test_acquaintances_by_alias_without_a_story() -> None:
    context = replace(
        situation(relations=(tie("Casimir Ould", "affection", -7), tie("Vera", "affection", 7))),
        acquaintances=(Other("Casimir Ould", aliases=("the Prior", "Prior")), Other("Vera")),
    )
    facts = recall().recall(context, hearing("What do you think of the Prior?")).facts
    assert facts[0] == "I despise Casimir Ould."


def test_what_was_told_in_earlier_chats_that_bears_on_the_message_first() -> None:
    told = (Told("I have two dogs"), Told("I work at the harbour"), Told("I like chess"))
    here = replace(situation(), faced=Other("Tom", told=told))
    asked = recall().recall(here, [Turn("Tom", "Guess what my dogs did.")]).told
    assert asked[0] == told[0] and set(asked) == set(told)
    assert recall().recall(situation(), [Turn("Tom", "Hello.")]).told == ()


def test_lines_as_they_are_shown() -> None:
    assert plain_line("[aside] Fog  (to Ines) again.") == "Fog again."
    long = "I was born here. " * 5 + "The key lies in the boat. " + "Nobody asked me. " * 10
    part = bearing_part(long, terms("Where is the key?", "en"), 12, "en")
    assert "The key lies in the boat." in part
    assert len(part.split()) <= 22
    lines = [f"This is the line of number {number}." for number in range(40)]
    assert len(spread_lines([*lines, "No."], 4, "en")) == 4
    assert spread_lines(["A first line of six words.", "No."], 4, "en") == ("A first line of six words.",)


# What of a past bears on a message, and what is left out of a prompt because it does not.


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
