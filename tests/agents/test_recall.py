"""What of a past bears on a message."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from people import ListPast, hearing, situation, tie
from understudy.agents.encoder import EncoderAgent
from understudy.agents.passages import bearing_part, plain_line, spread_lines, terms
from understudy.agents.recall import Recall
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
