"""Whom do these lines suit best? With rankers that are told here."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from people import ListPast, exchanges
from talkers import scene
from understudy.guessing.baselines import RankerGuesser
from understudy.story.dialogue import Situation, Turn
from understudy.story.persona import Persona


class Sharing:
    """Scores a reply by the words it shares with the profile, and notes what it was asked."""

    def __init__(self, scale: float = 1.0) -> None:
        self._scale = scale
        self.asked: list[tuple[Situation, tuple[Turn, ...], list[str]]] = []

    def score(self, situation: Situation, history: Sequence[Turn], candidates: Sequence[str]) -> list[float]:
        self.asked.append((situation, tuple(history), list(candidates)))
        known = set(" ".join(situation.persona.profile).split())
        return [self._scale * len(known & set(text.split())) for text in candidates]


ANN = Persona("Ann", profile=("i row the boat",))
BEN = Persona("Ben", profile=("i bake the bread",))
TALK = scene(("P0", "bread now"), ("Vicar", "boat"), ("P1", "my boat"), setting="The quay")


def test_lines_go_to_whom_they_suit() -> None:
    results = RankerGuesser(Sharing()).guess(TALK, [ANN, BEN])
    # each suits its own by 1: less the mean +-0.5, which is also the spread
    sure = np.e / (np.e + 1 / np.e)
    assert results["P0"] == pytest.approx({"Ann": 1 - sure, "Ben": sure})
    assert results["P1"] == pytest.approx({"Ann": sure, "Ben": 1 - sure})


def test_the_scale_of_a_ranker_does_not_matter() -> None:
    small, large = (RankerGuesser(Sharing(scale)).guess(TALK, [ANN, BEN]) for scale in (0.001, 1000.0))
    for mask, shares in small.items():
        assert large[mask] == pytest.approx(shares)


def test_a_ranker_without_an_opinion_makes_all_as_likely() -> None:
    assert RankerGuesser(Sharing(0.0)).guess(TALK, [ANN, BEN])["P0"] == {"Ann": 0.5, "Ben": 0.5}


def test_it_asks_about_the_longest_lines_in_the_setting_with_no_history() -> None:
    ranker = Sharing()
    lines = [("P0", "word " * length) for length in range(1, 12)]
    RankerGuesser(ranker).guess(scene(*lines, setting="The quay"), [ANN])
    ((situation, history, request),) = ranker.asked
    assert (situation.setting, history) == ("The quay", ())
    assert [len(text.split()) for text in request] == [11, 10, 9, 8, 7, 6, 5, 4]


def test_past_lines_that_are_alike_stand_beside_the_profile() -> None:
    past = ListPast(exchanges("Ann", (None, "", "the lantern is out"), (None, "", "good morning vicar")))
    ranker = Sharing()
    guesser = RankerGuesser(ranker)
    remembering = Persona("Ann", profile=("i row the boat",), past=past)
    results = guesser.guess(scene(("P0", "where is the lantern"), ("P1", "so")), [remembering, BEN])
    profiles = {situation.persona.profile for situation, _, said in ranker.asked if "lantern" in said[0]}
    assert profiles == {("i row the boat", "the lantern is out"), BEN.profile}
    assert results["P0"]["Ann"] > results["P0"]["Ben"]


def test_a_past_that_has_grown_is_read_again() -> None:
    ranker = Sharing()
    guesser = RankerGuesser(ranker)
    lantern = scene(("P0", "where is the lantern"))
    guesser.guess(lantern, [Persona("Ann", past=ListPast(exchanges("Ann", (None, "", "good morning"))))])
    grown = ListPast(exchanges("Ann", (None, "", "good morning"), (None, "", "the lantern is out")))
    guesser.guess(lantern, [Persona("Ann", past=grown)])
    assert [situation.persona.profile for situation, _, _ in ranker.asked] == [(), ("the lantern is out",)]


def test_nobody_masked_is_nothing_to_guess() -> None:
    assert RankerGuesser(Sharing()).guess(scene(("Vicar", "Amen.")), [ANN, BEN]) == {}
    assert RankerGuesser(Sharing()).guess(scene(), []) == {}
