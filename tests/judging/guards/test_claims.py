from __future__ import annotations

from dataclasses import replace

import pytest

from people import ListPast, exchanges
from understudy.formats import read
from understudy.judging.guards import StoryViews
from understudy.judging.guards.claims import (
    made_up_words,
    others_deed,
    poses_as_another,
    speaks_as_another,
    unsupported_claim,
)
from understudy.story.dialogue import Draft, Situation, Turn, situation_at
from understudy.story.persona import Other, Persona, Told
from understudy.story.storyfile import Story

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


NURI = Situation(Persona("Nuri Castellane", profile=("I fly a salvage tug.",), attributes={"nickname": ("Spark",)}))


def stops(text: str, source: str = "writer", heard: str = "Who are you?") -> bool:
    history, draft = [Turn("You", heard)], Draft(text, source)
    return not all(guard(NURI, history, draft).passed for guard in (speaks_as_another, made_up_words))


@pytest.mark.parametrize(
    "text",
    [
        "Hi, my name is Nina.",
        "I am Captain Haake, of the tug.",
        "Eleven months, Nuri.",
        "That is fornagina fever.",
        "There's Nuri Castellane, the pilot.",
        "It was Gusafano!",
    ],
)
def test_another_name_the_own_one_as_a_call_and_made_up_words_are_stopped(text: str) -> None:
    assert stops(text)


@pytest.mark.parametrize(
    "text",
    [
        "My name is Nuri.",
        "I am Nuri Castellane, and I fly a tug.",
        "They call me Spark.",
        "Nuri Castellane. Eleven months out.",
        "I am fine.",
        "I'm not telling.",
        "Beekeeping is honest work.",
    ],
)
def test_the_own_name_and_ordinary_words_pass(text: str) -> None:
    assert not stops(text)


def test_what_the_other_said_is_a_word_and_old_lines_are_not_asked() -> None:
    assert not stops("Fornagina is no fever of mine.", heard="Have you had fornagina?")
    assert not stops("Hi, my name is Nina.", source="exchange")


@pytest.fixture(scope="module")
def demo() -> Story:
    return read("demo")


def poses(story: Story, who: str, at: str, text: str, facing: str = "Casimir Ould") -> bool:
    situation = situation_at(story, who, at, facing)
    return not poses_as_another(StoryViews(lambda _: [story]))(situation, (), Draft(text, "writer")).passed


@pytest.mark.parametrize(
    "text",
    [
        "I am Zita's friend, and nobody else's.",
        "I am not Pia.",
        "You said: 'I am Pia Lenk', and signed it.",
        '"I am Pia," she said, and that was all.',
        "I am Zita Karst. Noted.",
        "I'm Karst, sir.",
        "They think I am Pia in the dark.",
        "This is Pia Lenk, my friend, and I have told you of her.",
        "I am Roman by birth.",
        "Am I Pia, to be laughed at?",
    ],
)
def test_who_speaks_of_others_is_still_oneself(demo: Story, text: str) -> None:
    assert not poses(demo, "Zita Karst", "2.3", text)


@pytest.mark.parametrize(
    "text",
    [
        "I am Pia Lenk, sir, and I have had three figs.",
        "Prior, I'm Pia.",
        "No. I am Doctor Bohm, and blankets are the ruin of us.",
        "This is Pia, and I should hope that you are well.",
        "Captain Haake of the Good Daughter is my name.",
        "Pia speaking! What is it?",
        "Ich bin Pia, und die andere schläft.",
    ],
)
def test_nobody_speaks_as_another_of_the_story(demo: Story, text: str) -> None:
    assert poses(demo, "Zita Karst", "2.3", text)


def test_a_false_name_is_ones_own(demo: Story) -> None:
    assert not poses(demo, "Danilo Reuss", "2.3", "I am Benedek, dear lady, and I sell feathers.", "Zita Karst")


def test_who_has_taken_a_name_before_keeps_it(demo: Story) -> None:
    past = ListPast(exchanges("Ines", (None, "", "Hush. I am Rosalind, and this is my wood.")))
    guard, draft = poses_as_another(StoryViews(lambda _: ())), Draft("I am Rosalind, and I stay.", "writer")
    heard = [Turn("Rosalind", "Who goes there?")]
    assert guard(Situation(Persona("Ines", past=past)), heard, draft).passed
    assert not guard(Situation(Persona("Ines")), heard, draft).passed
