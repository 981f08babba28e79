"""What holds for every guesser, by whatever name it is asked for."""

from __future__ import annotations

import pytest

from talkers import WORDS, lessons, personas, scene, scenes
from understudy.dialogue import Guesser
from understudy.guessing import CharacterNames, Masked, Masking, TrainingScenes
from understudy.guessing.registry import GUESSERS, WITHOUT_PARTS, named_guesser
from understudy.persona import Persona
from understudy.story import Scene

SIX = ("Ann", "Ben", "Cleo", "Dora", "Emil", "Fritz")
NAMES = CharacterNames({who: (who,) for who in SIX})
MASKING = Masking(SIX, NAMES)
OWN = {**WORDS, "Dora": ["rose", "seed"], "Emil": ["sheep", "wool"], "Fritz": ["clock", "spring"]}


def talk(*company: str, at: tuple[int, ...]) -> Scene:
    turned = [*company[at[-1] % len(company) :], *company[: at[-1] % len(company)]]
    return scene(*((who, f"so {OWN[who][(at[-1] + place) % 2]} it is") for place in (0, 1) for who in turned), at=at)


COMPANIES = [SIX if number % 3 else SIX[number % 5 : number % 5 + 2] for number in range(1, 13)]
LESSONS = TrainingScenes([talk(*company, at=(1, number)) for number, company in enumerate(COMPANIES, 1)], SIX, NAMES)
ASSIGNED = [f"{name}+assigned" for name in ("vanilla", "scene-pooling")]
WITHOUT = [f"{name} without {part}" for name, parts in WITHOUT_PARTS.items() for part in parts]


@pytest.fixture(scope="module", params=[*GUESSERS, *ASSIGNED, *WITHOUT])
def guesser(request: pytest.FixtureRequest) -> Guesser:
    return named_guesser(request.param)(LESSONS)


def asked(guesser: Guesser, masked: Masked, known: list[Persona] | None = None) -> dict[str, dict[str, float]]:
    found = guesser.guess(masked.scene, known or personas(masked.candidates))
    return {mask: dict(shares) for mask, shares in found.items()}


@pytest.mark.parametrize("company", [SIX[:2], SIX[1:4], SIX])
def test_probabilities_of_all_candidates_for_every_mask(guesser: Guesser, company: tuple[str, ...]) -> None:
    masked = MASKING.masked(talk(*company, at=(2, 1)))
    found = asked(guesser, masked)
    assert set(found) == set(masked.answers)
    for shares in found.values():
        assert set(shares) == set(company)
        assert min(shares.values()) >= 0
        assert sum(shares.values()) == pytest.approx(1, abs=1e-9)


def test_asked_again_it_says_the_same_whatever_the_order_of_candidates(guesser: Guesser) -> None:
    masked = MASKING.masked(talk(*SIX, at=(2, 2)))
    found = asked(guesser, masked)
    asked(guesser, MASKING.masked(talk(*SIX[:3], at=(2, 3))))
    assert asked(guesser, masked) == found
    for mask, shares in asked(guesser, masked, personas(masked.candidates[::-1])).items():
        assert shares == pytest.approx(found[mask], abs=1e-6)


def test_answers_are_never_read(guesser: Guesser) -> None:
    """The same words behind the same masks are told the same, whoever said them."""
    one, other = talk(*SIX[:3], at=(2, 4)), talk(*SIX[:3], at=(2, 4))
    turned = {"Ann": "Ben", "Ben": "Cleo", "Cleo": "Ann"}
    lines = tuple((turned[str(line.speaker)], line.text) for line in other.lines)
    first, second = MASKING.masked(one), MASKING.masked(scene(*lines, at=(2, 4)))
    assert first.answers != second.answers
    assert first.candidates == second.candidates
    assert asked(guesser, first) == asked(guesser, second)


def test_a_scene_without_masks_gives_nothing(guesser: Guesser) -> None:
    for empty in (scene(), scene((None, "Rain.")), scene(("Vicar", "Amen."))):
        assert guesser.guess(empty, []) == {}
        assert guesser.guess(empty, personas(SIX)) == {}


def test_a_strange_language_and_silence_are_borne(guesser: Guesser) -> None:
    for text in ("…", "?!", "zzyx qwrt", "雨が降る", "word " * 3000):
        found = guesser.guess(scene(("P0", text), ("P1", text)), personas(["Ann", "Ben"]))
        assert sum(found["P0"].values()) == pytest.approx(1)


def test_lessons_are_not_changed() -> None:
    told = scenes(5)
    before = list(told)
    named_guesser("joint")(lessons(told))
    assert told == before
