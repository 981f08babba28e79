"""The paper's tables agree with each other, so they were copied rightly."""

from __future__ import annotations

import pytest

from understudy.bench.published_guess import paper_accuracy, paper_character, paper_overall, paper_scene

SCENES = {
    "FRIENDS": (115, 52, 20, 8, 15),
    "The_Big_Bang_Theory": (61, 25, 32, 4, 8),
}  # with 2 .. 6 speakers, in its dev set
SPEAKERS = {"sheldon": 77, "leonard": 77, "penny": 66, "raj": 61, "amy": 57, "howard": 55}
POOLING = "scene-pooling"


@pytest.mark.parametrize("show", SCENES)
def test_scenes_by_number_of_speakers_add_up_to_both_accuracies(show: str) -> None:
    figures = [
        (scenes, crowd, paper_scene(POOLING, show, crowd) or 0.0) for crowd, scenes in enumerate(SCENES[show], 2)
    ]
    total, people = sum(scenes for scenes, _, _ in figures), sum(scenes * crowd for scenes, crowd, _ in figures)
    assert sum(scenes * share for scenes, _, share in figures) / total == pytest.approx(
        paper_scene(POOLING, show), abs=1e-3
    )
    by_speaker = sum(scenes * crowd * share for scenes, crowd, share in figures) / people
    assert by_speaker == pytest.approx(paper_accuracy(POOLING, show), abs=1e-3)


def test_characters_add_up_to_the_show() -> None:
    show = "The Big Bang Theory"
    right = sum(count * (paper_character(POOLING, show, who) or 0.0) for who, count in SPEAKERS.items())
    assert right / sum(SPEAKERS.values()) == pytest.approx(paper_accuracy(POOLING, show), abs=1e-3)


def test_the_whole_is_of_the_shows_at_hand_alone() -> None:
    at_hand = {"FRIENDS": 596, "The_Big_Bang_Theory": 393, "Frasier": 403, "Gilmore_Girls": 3, "The_Office": 447}
    assert paper_overall(POOLING, at_hand) == pytest.approx(0.759, abs=5e-4)
    assert paper_overall("random", at_hand) == pytest.approx(0.369, abs=5e-4)
    assert paper_overall(POOLING, {"FRIENDS": 10, "Mine": 1}) is None
    assert paper_overall("people", at_hand) is None
    assert paper_overall("ours", at_hand) is None


def test_what_the_paper_does_not_tell_is_none() -> None:
    assert paper_accuracy("people", "Frasier") is None
    assert paper_accuracy("joint", "FRIENDS") is None
    assert paper_scene("multi-row", "FRIENDS") is None
    assert paper_scene(POOLING, "FRIENDS", 7) is None
    assert paper_character(POOLING, "FRIENDS", "Gunther") is None
    assert paper_character(POOLING, "friends", "Rachel Green") == 0.883
