"""Guessers by name."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from talkers import personas, scene, scenes, training_scenes
from understudy.errors import AgentError
from understudy.guessing import GUESSERS, UNASSIGNED
from understudy.guessing.assignment import Assigned
from understudy.guessing.baselines import RandomGuesser, Vanilla
from understudy.guessing.joint import Joint
from understudy.papers.tvshowguess.published import ACCURACY, PEOPLE
from understudy.training.guessing.registry import find_guesser

LESSONS = training_scenes(scenes(6))
OWN = """
class Mine:
    def __init__(self, training_scenes):
        self.main = training_scenes.main

    def guess(self, masked, personas):
        return {}

def not_one(training_scenes):
    return training_scenes
"""


def test_every_variant_has_a_name_of_its_own() -> None:
    assert isinstance(GUESSERS["vanilla"](LESSONS), Vanilla)
    assert isinstance(GUESSERS["vanilla+assigned"](LESSONS), Assigned)
    without = GUESSERS["joint without names"](LESSONS)
    assert isinstance(without, Joint) and not without.weights.all()
    assert isinstance(GUESSERS["joint without history+assigned"](LESSONS), Assigned)
    assert {f"{entry.name}+assigned" for entry in UNASSIGNED} == GUESSERS.keys() - {entry.name for entry in UNASSIGNED}


def test_how_much_of_a_scene_is_pooled_is_said_in_tokens() -> None:
    factory = GUESSERS["scene-pooling maxlen 1000"].factory
    assert isinstance(factory, partial)
    assert factory.keywords == {"longest": 750}, "three words are four tokens"


@pytest.mark.parametrize("split", ACCURACY)
def test_every_model_of_the_papers_table_can_be_judged(split: str) -> None:
    assert ACCURACY[split].keys() - {PEOPLE} <= GUESSERS.keys()


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("luck", "choose from random, vanilla"),
        ("", "choose from random"),
        ("+assigned", "choose from random"),
        ("joint without luck", "choose from .*joint without assignment, joint without history"),
        ("joint without word", "did you mean 'joint without words'"),
        ("scene-pooling maxlen 1001", "did you mean 'scene-pooling maxlen 1000'"),
        ("vanilla without history", "there is no guesser"),
        ("nowhere+assigned", "there is no guesser"),
        ("vanilla+assigned+assigned", "there is no guesser"),
        ("nowhere+nobody", "there is no guesser"),
        ("mine:guesser+assigned", "name 'mine:guesser' and add --assigned"),
        ("joint+mine:guesser", "name joint,mine:guesser and add --together"),
        ("mine:guesser+joint", "name mine:guesser,joint and add --together"),
        ("joint+nowhere+assigned", "name joint,nowhere and add --together"),
        ("nowhere_at_all:mine", "cannot import 'nowhere_at_all'"),
        ("json:nothing", "has no function or class 'nothing'"),
    ],
)
def test_a_wrong_name_is_told_what_is_right(spec: str, said: str) -> None:
    with pytest.raises(AgentError, match=said):
        find_guesser(spec)


def test_one_of_your_own_lies_where_one_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_own_guesser.py").write_text(OWN, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", ["", *__import__("sys").path])
    created = find_guesser("my_own_guesser:Mine")(LESSONS)
    assert created.main == LESSONS.main  # type: ignore[attr-defined]
    with pytest.raises(AgentError, match="has no guess"):
        find_guesser("my_own_guesser:not_one")(LESSONS)


def test_chance_names_each_once_and_all_of_them_in_time() -> None:
    named = []
    for number in range(60):
        talk = scene(("P0", "So."), ("P1", "Yes."), ("P2", "No."), at=(1, number))
        results = RandomGuesser().guess(talk, personas(["Ann", "Ben", "Cleo"]))
        first = {mask: max(shares, key=lambda name: shares[name]) for mask, shares in results.items()}
        assert sorted(first.values()) == ["Ann", "Ben", "Cleo"]
        named.append(first["P0"])
        assert max(max(shares.values()) for shares in results.values()) == pytest.approx(1 / 3, abs=1e-5)
    assert min(named.count(who) for who in ("Ann", "Ben", "Cleo")) >= 10
