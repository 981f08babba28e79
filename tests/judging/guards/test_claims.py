from __future__ import annotations

from dataclasses import replace

import pytest

from understudy.formats import read
from understudy.judging.guards.claims import others_deed, unsupported_claim
from understudy.story.dialogue import Draft, Situation, Turn, situation_at
from understudy.story.persona import Other, Persona, Told

PERSON = Situation(Persona("Ann", profile=("I keep bees.", "My brother is a miller.")))


def passes(text: str, *heard: str, source: str = "writer", situation: Situation = PERSON) -> bool:
    return unsupported_claim(situation, [Turn("Bob", text) for text in heard], Draft(text, source)).passed


@pytest.mark.parametrize(
    "text",
    [
        "I'm a psychologist.",
        "I work as a forensic psychologist at a school.",
        "I have a dog and a cat.",
        "My wife says so.",
    ],
)
def test_a_life_that_nobody_told_is_stopped(text: str) -> None:
    assert not passes(text)


@pytest.mark.parametrize(
    "text",
    [
        "I am the brother of a miller.",
        "My brother is well.",
        "I'm a little tired.",
        "I have a question.",
        "You are a nurse, I think.",
        "I have no dog.",
        "I keep bees.",
    ],
)
def test_what_is_known_or_claims_nothing_passes(text: str) -> None:
    assert passes(text)


def test_what_the_other_brought_up_may_be_taken_up() -> None:
    assert passes("I have a dog.", "Have you got a dog?")


def test_what_the_other_told_of_themselves_is_theirs() -> None:
    assert not passes("I have a brown dog.", "I have a brown dog called Rex.", "Do you have a dog?")
    baker = Other("Tom", told=(Told("I am Tom, a one-armed baker"), Told("I have a brown dog called Rex")))
    assert not passes("I have a brown dog, Rex.", "Do you have a dog?", situation=replace(PERSON, faced=baker))
    assert not passes("I am a baker.", situation=replace(PERSON, faced=baker))
    miller = Other("Tom", ("Tom has a brother.",))
    assert passes("My brother is well.", situation=replace(PERSON, faced=miller))  # so has she


def test_own_lines_are_never_asked() -> None:
    assert passes("I'm a psychologist.", source="exchange")


def test_the_past_supports_what_is_said_of_it() -> None:
    situation = situation_at(read("demo"), "Zita", "2.3")
    assert passes("I have a report.", situation=situation)
    assert not passes("I have a helicopter.", situation=situation)


@pytest.fixture(scope="module")
def proof(tmp_path_factory: pytest.TempPathFactory) -> Situation:
    path = tmp_path_factory.mktemp("proof") / "play.txt"
    path.write_text(
        "# scene 1: The mill\nPresent: Ann, Bob, Cora\nBOB: My brother Dan burned the only proof we had.\n"
        "ANN: I sold the boat to the ferryman.\nCORA: I lost my silver ring in the river.\n"
        "ANN: Dan broke the great wheel of the mill.\nBOB: You kept the mill for ten years, Ann.\nANN: Yes.\n"
    )
    return situation_at(read(path), "Ann", "end", "Bob")


@pytest.mark.parametrize(
    ("text", "is_own"),
    [
        ("I burned the only proof.", False),
        ("I've lost my ring in the river.", False),
        ("I broke the wheel of the mill.", False),
        ("I sold the boat.", True),
        ("I walked home in the rain.", True),
        ("Dan burned the only proof.", True),
        ("I heard it.", True),
    ],
)
def test_what_others_did_is_no_own_deed(proof: Situation, text: str, is_own: bool) -> None:
    assert others_deed(proof, [], Draft(text, "writer")).passed == is_own
    assert others_deed(proof, [], Draft(text, "exchange")).passed
    told = [Turn("Bob", "What did you do?"), Turn("Ann", text)]
    assert others_deed(proof, told, Draft(text, "writer")).passed
