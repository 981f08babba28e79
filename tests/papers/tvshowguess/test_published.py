"""The paper's tables agree with each other, so they were copied rightly."""

from __future__ import annotations

import pytest

from understudy.papers.tvshowguess.published import (
    add_paper,
    paper_accuracy,
    paper_character,
    paper_overall,
    paper_scene,
)

SCENES = {
    "FRIENDS": (115, 52, 20, 8, 15),
    "The_Big_Bang_Theory": (61, 25, 32, 4, 8),
}  # with 2 .. 6 speakers, in its dev set
SPEAKERS = {"sheldon": 77, "leonard": 77, "penny": 66, "raj": 61, "amy": 57, "howard": 55}
POOLING = "scene-pooling"


@pytest.mark.parametrize("show", SCENES)
def test_scenes_by_number_of_speakers_add_up_to_both_accuracies(show: str) -> None:
    figures = [
        (scenes, crowd, paper_scene(POOLING, show, "dev", crowd) or 0.0) for crowd, scenes in enumerate(SCENES[show], 2)
    ]
    total, people = sum(scenes for scenes, _, _ in figures), sum(scenes * crowd for scenes, crowd, _ in figures)
    assert sum(scenes * share for scenes, _, share in figures) / total == pytest.approx(
        paper_scene(POOLING, show, "dev"), abs=1e-3
    )
    by_speaker = sum(scenes * crowd * share for scenes, crowd, share in figures) / people
    assert by_speaker == pytest.approx(paper_accuracy(POOLING, show, "dev"), abs=1e-3)


def test_characters_add_up_to_the_show() -> None:
    show = "The Big Bang Theory"
    right = sum(count * (paper_character(POOLING, show, "dev", who) or 0.0) for who, count in SPEAKERS.items())
    assert right / sum(SPEAKERS.values()) == pytest.approx(paper_accuracy(POOLING, show, "dev"), abs=1e-3)


def test_the_whole_is_of_the_shows_at_hand_alone() -> None:
    at_hand = {"FRIENDS": 596, "The_Big_Bang_Theory": 393, "Frasier": 403, "Gilmore_Girls": 3, "The_Office": 447}
    dev, test = dict.fromkeys(at_hand, "dev"), dict.fromkeys(at_hand, "test")
    assert paper_overall(POOLING, at_hand, dev) == pytest.approx(0.759, abs=5e-4)
    assert paper_overall("random", at_hand, dev) == pytest.approx(0.369, abs=5e-4)
    assert paper_overall(POOLING, at_hand, test) != paper_overall(POOLING, at_hand, dev)
    assert paper_overall(POOLING, {"FRIENDS": 10, "Mine": 1}, {"FRIENDS": "dev", "Mine": "dev"}) is None
    assert paper_overall(POOLING, at_hand, {**dev, "Frasier": None}) is None
    assert paper_overall("people", at_hand, dev) is None
    assert paper_overall("ours", at_hand, dev) is None


@pytest.mark.parametrize(
    ("model", "split", "overall"),
    [("random", "dev", 0.3679), ("random", "test", 0.3659), ("vanilla", "dev", 0.7255), ("vanilla", "test", 0.6972),
     ("multi-row", "dev", 0.7682), ("multi-row", "test", 0.7452), (POOLING, "dev", 0.7695), (POOLING, "test", 0.7497),
     ("multi-row without context", "test", 0.6554), ("scene-pooling maxlen 1000", "test", 0.7274)],
)  # fmt: skip
def test_shows_add_up_to_the_papers_overall_figure(model: str, split: str, overall: float) -> None:
    """Masked speakers of each show: of the dev scenes here, with as many of Gilmore Girls as make up the paper's."""
    speakers = {
        "dev": {"FRIENDS": 596, "The_Big_Bang_Theory": 393, "Frasier": 403, "Gilmore_Girls": 387, "The_Office": 447},
        "test": {"FRIENDS": 668, "The_Big_Bang_Theory": 344, "Frasier": 446, "Gilmore_Girls": 365, "The_Office": 426},
    }[split]
    assert paper_overall(model, speakers, dict.fromkeys(speakers, split)) == pytest.approx(overall, abs=3e-3)


def test_what_the_paper_does_not_tell_is_none() -> None:
    assert paper_accuracy("people", "Frasier", "dev") is None
    assert paper_accuracy("people", "FRIENDS", "test") is None
    assert paper_accuracy("joint", "FRIENDS", "dev") is None
    for split in (None, "train"):
        assert paper_accuracy(POOLING, "FRIENDS", split) is None
        assert paper_scene(POOLING, "FRIENDS", split) is None
    assert paper_scene("multi-row", "FRIENDS", "dev") is None
    assert paper_scene(POOLING, "FRIENDS", "test") is None
    assert paper_scene(POOLING, "FRIENDS", "dev", 7) is None
    assert paper_character(POOLING, "FRIENDS", "test", "Rachel") is None
    assert paper_character(POOLING, "FRIENDS", "dev", "Gunther") is None
    assert paper_character(POOLING, "friends", "dev", "Rachel Green") == 0.883


def test_rows_get_the_figures_of_the_split_that_was_judged() -> None:
    rows = [
        {"model": model, "show": show, "metric": "accuracy", "value": 0.5, "n": n, "paper": None}
        for model in (POOLING, "joint")
        for show, n in (("FRIENDS", 7), ("Frasier", 2), ("all", 9))
    ]
    rows.append({"model": POOLING, "show": "FRIENDS", "speakers": 3, "metric": "accuracy_by_speakers", "paper": None})
    rows.append({"model": POOLING, "show": "FRIENDS", "character": "Joey", "metric": "accuracy_by_character"})
    for split, friends, frasier in (("dev", 0.7701, 0.9032), ("test", 0.6991, 0.8767), ("train", None, None)):
        results = add_paper(rows, {"FRIENDS": split, "Frasier": split})
        paper = {(row["model"], row["show"], row["metric"]): row["paper"] for row in results}
        assert paper[POOLING, "FRIENDS", "accuracy"] == friends
        assert paper[POOLING, "Frasier", "accuracy"] == frasier
        assert paper["joint", "all", "accuracy"] is None
        dev = split == "dev"
        assert paper[POOLING, "FRIENDS", "accuracy_by_speakers"] == (0.808 if dev else None)
        assert paper[POOLING, "FRIENDS", "accuracy_by_character"] == (0.845 if dev else None)
        whole = None if friends is None or frasier is None else pytest.approx((7 * friends + 2 * frasier) / 9, abs=1e-4)
        assert paper[POOLING, "all", "accuracy"] == whole
        people = [row for row in results if row["model"] == "people"]
        assert [(row["show"], row["paper"]) for row in people] == ([("FRIENDS", 0.9868)] if dev else [])
        assert all(row["value"] is None and row["reason"] for row in people)


def test_a_trained_model_stands_beside_the_papers_of_its_kind() -> None:
    row = {"metric": "accuracy", "show": "Frasier", "value": 0.8, "n": 403}
    trained = {**row, "model": "models/who", "kind": "multi-row without reverse"}
    every = [trained, {**trained, "show": "all"}, {**row, "model": "models/who+assigned"}]
    alone, overall, assigned, *_ = add_paper(every, {"Frasier": "dev"})
    assert alone["paper"] == overall["paper"] == 0.7940
    assert assigned["paper"] is None  # the paper guesses each mask by itself
