"""What holds for every guesser, by whatever name it is asked for."""

from __future__ import annotations

import pytest

from talkers import WORDS, personas, scene, scenes, training_scenes
from understudy.guessing import GUESSERS, UNASSIGNED
from understudy.guessing.scenes import Masked, Masking, TrainingScenes
from understudy.people.names import CharacterNames
from understudy.story.dialogue import Guesser
from understudy.story.persona import Persona
from understudy.story.types import Scene

SIX = ("Ann", "Ben", "Cleo", "Dora", "Emil", "Fritz")
NAMES = CharacterNames({who: (who,) for who in SIX})
MASKING = Masking(SIX, NAMES)
OWN = {**WORDS, "Dora": ["rose", "seed"], "Emil": ["sheep", "wool"], "Fritz": ["clock", "spring"]}


def talk(*company: str, at: tuple[int, ...]) -> Scene:
    permuted = [*company[at[-1] % len(company) :], *company[: at[-1] % len(company)]]
    return scene(*((who, f"so {OWN[who][(at[-1] + index) % 2]} it is") for index in (0, 1) for who in permuted), at=at)


COMPANIES = [SIX if number % 3 else SIX[number % 5 : number % 5 + 2] for number in range(1, 13)]
LESSONS = TrainingScenes([talk(*company, at=(1, number)) for number, company in enumerate(COMPANIES, 1)], SIX, NAMES)
NAMES_TRIED = [*(entry.name for entry in UNASSIGNED), "vanilla+assigned", "scene-pooling+assigned"]


@pytest.fixture(scope="module", params=NAMES_TRIED)
def guesser(request: pytest.FixtureRequest) -> Guesser:
    return GUESSERS[request.param](LESSONS)


def asked(guesser: Guesser, masked: Masked, known: list[Persona] | None = None) -> dict[str, dict[str, float]]:
    results = guesser.guess(masked.scene, known or personas(masked.candidates))
    return {mask: dict(shares) for mask, shares in results.items()}


@pytest.mark.parametrize("company", [SIX[:2], SIX[1:4], SIX])
def test_probabilities_of_all_candidates_for_every_mask(guesser: Guesser, company: tuple[str, ...]) -> None:
    masked = MASKING.masked(talk(*company, at=(2, 1)))
    results = asked(guesser, masked)
    assert set(results) == set(masked.answers)
    for shares in results.values():
        assert set(shares) == set(company)
        assert min(shares.values()) >= 0
        assert sum(shares.values()) == pytest.approx(1, abs=1e-9)


def test_asked_again_it_says_the_same_whatever_the_order_of_candidates(guesser: Guesser) -> None:
    masked = MASKING.masked(talk(*SIX, at=(2, 2)))
    results = asked(guesser, masked)
    asked(guesser, MASKING.masked(talk(*SIX[:3], at=(2, 3))))
    assert asked(guesser, masked) == results
    for mask, shares in asked(guesser, masked, personas(masked.candidates[::-1])).items():
        assert shares == pytest.approx(results[mask], abs=1e-6)


def test_answers_are_never_read(guesser: Guesser) -> None:
    """The same words behind the same masks are told the same, whoever said them."""
    item, another = talk(*SIX[:3], at=(2, 4)), talk(*SIX[:3], at=(2, 4))
    permuted = {"Ann": "Ben", "Ben": "Cleo", "Cleo": "Ann"}
    lines = tuple((permuted[str(line.speaker)], line.text) for line in another.lines)
    first, second = MASKING.masked(item), MASKING.masked(scene(*lines, at=(2, 4)))
    assert first.answers != second.answers
    assert first.candidates == second.candidates
    assert asked(guesser, first) == asked(guesser, second)


def test_a_scene_without_masks_gives_nothing(guesser: Guesser) -> None:
    for empty in (scene(), scene((None, "Rain.")), scene(("Vicar", "Amen."))):
        assert guesser.guess(empty, []) == {}
        assert guesser.guess(empty, personas(SIX)) == {}


def test_a_strange_language_and_silence_are_borne(guesser: Guesser) -> None:
    for text in ("…", "?!", "zzyx qwrt", "雨が降る", "word " * 3000):
        results = guesser.guess(scene(("P0", text), ("P1", text)), personas(["Ann", "Ben"]))
        assert sum(results["P0"].values()) == pytest.approx(1)


def test_lessons_are_not_changed() -> None:
    story_scenes = scenes(5)
    before = list(story_scenes)
    GUESSERS["joint"](training_scenes(story_scenes))
    assert story_scenes == before
