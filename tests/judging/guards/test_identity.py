from __future__ import annotations

import pytest

from understudy.dialogue import Draft, Situation, Turn
from understudy.judging.guards.identity import made_up_words, speaks_as_another
from understudy.persona import Persona

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
