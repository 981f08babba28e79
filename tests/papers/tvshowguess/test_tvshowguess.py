"""Guessers judged on the scenes of shows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from talkers import shows_folder
from understudy.bench.run import compare_runs
from understudy.errors import AgentError, StoryError
from understudy.guessing import GUESSERS
from understudy.guessing.scenes import Guesses, TrainingScenes, masks_of
from understudy.papers.tvshowguess import bench_guess
from understudy.registry import RegistryEntry
from understudy.story.persona import Persona
from understudy.story.types import Scene

Row = dict[str, Any]
SHOW = "The_Harbour"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return shows_folder(tmp_path_factory.mktemp("guess") / "shows")


@pytest.fixture(scope="module")
def document(data: Path) -> Row:
    return bench_guess(data)


def rows(document: Row, metric: str = "accuracy") -> Iterator[Row]:
    return (row for row in document["rows"] if row["metric"] == metric)


def test_rows_have_every_model_on_every_show_and_on_all(document: Row) -> None:
    results = {(row["model"], row["show"]): row for row in rows(document)}
    models = ("random", "vanilla", "vanilla+assigned", "joint", "joint without history")
    assert set(results) == {(model, show) for model in models for show in (SHOW, "all")}
    for row in results.values():
        assert row["n"] == 24 and row["low"] <= row["value"] <= row["high"]
    assert results["joint", "all"]["value"] > 0.9 > 0.6 > results["random", "all"]["value"]
    assert document["manifest"]["settings"] == {"models": list(models), "names": "keep", "left out": {SHOW: 0}}
    assert list(document["manifest"]["data"]) == ["dev.jsonl"]


def test_a_limit_takes_a_seeded_sample_and_the_rest_stays_history(data: Path) -> None:
    results = [bench_guess(data, models=["joint"], limit=3, seed=seed) for seed in (1, 1, 2)]
    assert {row["n"] for item in results for row in rows(item)} == {9}
    assert results[0]["rows"] == results[1]["rows"]
    assert results[0]["confusions"] == results[1]["confusions"]
    assert results[0]["manifest"]["limit"] == 3
    assert {row["n"] for row in rows(bench_guess(data, models=["random"], limit=99))} == {24}


class Diary:
    """Notes what it is told and asked, in order."""

    pages: list[tuple[str, tuple[int, ...]]] = []  # noqa: RUF012

    def __init__(self, training_scenes: TrainingScenes) -> None:
        type(self).pages = [("learned", scene.moment.numbers) for scene in training_scenes.scenes]

    def guess(self, masked: Scene, personas: list[Persona]) -> Guesses:
        self.pages.append(("asked", masked.moment.numbers))
        assert all(item.moment == masked.moment for item in personas)
        return {mask: {item.name: 1 / len(personas) for item in personas} for mask in masks_of(masked)}

    def remember(self, scene: Scene) -> None:
        self.pages.append(("told", scene.moment.numbers))


def test_another_seed_takes_another_sample(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(GUESSERS, "diary", RegistryEntry("diary", Diary))
    samples = set()
    for seed in (1, 1, 2, 3):
        bench_guess(data, models=["diary"], limit=3, seed=seed)
        samples.add(tuple(moment for what, moment in Diary.pages if what == "asked"))
    assert len(samples) == 3


def test_nothing_later_is_told_and_what_is_not_asked_is_told_all_the_same(
    data: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(GUESSERS, "diary", RegistryEntry("diary", Diary))
    bench_guess(data, models=["diary"], limit=3)
    moments = [moment for _, moment in Diary.pages]
    assert moments == sorted(moments)
    assert len([what for what, _ in Diary.pages if what == "asked"]) == 3
    assert [moment for what, moment in Diary.pages if what == "told"] == [
        (1, episode, 100 * episode + number) for episode in (5, 6) for number in (1, 2, 3, 4)
    ]
    for index, (what, moment) in enumerate(Diary.pages):
        if what == "asked":
            assert ("told", moment) not in Diary.pages[:index]


def test_annotations_and_needed_scenes_are_joined(tmp_path: Path) -> None:
    data = shows_folder(tmp_path / "shows")
    (data / "human_annotation").mkdir()
    head = "Episode\tneed history\tFacts abstracted from memory\tCharacter Code\tEvidence-a1\tReasoning Type\n"
    content = [f"01x05 50{scene}\t{need}\tno\tP0\tmemory\tno\n" for scene, need in ((1, "yes"), (2, "yes"), (3, "no"))]
    (data / "human_annotation" / "harbour.tsv").write_text(head + "".join(content), encoding="utf-8")
    needed = [{"episode": "01x05", "scene": 504, "place": 0, "needed": [501, 502, 503]},
              {"episode": "01x06", "scene": 601, "place": 1, "needed": []}]  # fmt: skip
    (data / "human_annotation" / "needed_scenes.jsonl").write_text(
        "".join(json.dumps(item) + "\n" for item in needed), encoding="utf-8"
    )
    results = bench_guess(data, models=["joint", "joint without history"])
    evidence = {(row["model"], row["evidence"]): row["n"] for row in rows(results, "accuracy_by_evidence")
                if row["show"] == "all"}  # fmt: skip
    assert evidence == {("joint", "memory"): 3, ("joint without history", "memory"): 3}
    gain = {row["history"]: row for row in rows(results, "history_gain")}
    assert (gain["needed"]["n"], gain["direct"]["n"], gain["none"]["n"]) == (2, 2, 1)
    assert gain["indirect"]["value"] is None and "annotated" in gain["indirect"]["reason"]
    recalled = {row["model"]: (row["n"], row["value"]) for row in rows(results, "history_recall@1")}
    assert recalled == {"scenes alike in words": (1, 1.0), "scenes alike in meaning": (1, 1.0)}
    assert results["flows"][0]["show"] == SHOW


def test_items_are_compared_in_pairs_whatever_the_models_are_called(data: Path, tmp_path: Path) -> None:
    for model in ("random", "joint"):
        bench_guess(data, models=[model], items=tmp_path / f"{model}.json")
    saved = json.loads((tmp_path / "joint.json").read_text(encoding="utf-8"))["items"]
    assert [item["judged"] for item in saved] == [{"agent": "joint", "show": SHOW}]
    assert saved[0]["names"][:3] == [f"{SHOW}/01x05/501.{index}" for index in range(3)]
    results = compare_runs(tmp_path / "random.json", tmp_path / "joint.json")
    row = next(row for row in results["rows"] if row["metric"] == "hits@1")
    assert row["agent"] == "random -> joint"
    assert (row["n"], row["unpaired"]) == (24, 0)
    assert row["second"] > 0.9 and row["value"] == pytest.approx(row["second"] - row["first"])


def test_a_wrong_guess_ranks_second_or_lower(data: Path, tmp_path: Path) -> None:
    document = bench_guess(data, models=["random"], items=tmp_path / "items.json")
    (content,) = json.loads((tmp_path / "items.json").read_text(encoding="utf-8"))["items"]
    (row,) = [row for row in rows(document) if row["show"] == "all"]
    assert sum(rank == 1 for rank in content["ranks"]) / 24 == pytest.approx(row["value"])
    assert set(content["ranks"]) <= {1, 2, 3}


@pytest.mark.parametrize(("split", "paper"), [("dev", 0.7701), ("test", 0.6991), ("train", None), (None, None)])
def test_the_papers_figure_is_that_of_the_split_that_the_file_names(
    tmp_path: Path, split: str | None, paper: float | None
) -> None:
    data = shows_folder(tmp_path / "shows", show="Friends")
    scenes = [json.loads(line) for line in (data / "dev.jsonl").read_text(encoding="utf-8").splitlines()]
    judge = tmp_path / "judged.jsonl"
    judge.write_text("".join(json.dumps({**item, "tvsg_split": split}) + "\n" for item in scenes), encoding="utf-8")
    guessers = {"scene-pooling": "random"}  # a quick model by the name of the paper's
    with pytest.MonkeyPatch.context() as patch:
        for name, quick in guessers.items():
            patch.setitem(GUESSERS, name, replace(GUESSERS[quick], name=name))
        results = bench_guess(data, judge, models=["scene-pooling"], limit=2)
    assert {row["paper"] for row in rows(results) if row["model"] == "scene-pooling"} == {paper}


def test_two_episodes_in_one_are_judged_as_the_first_of_them(tmp_path: Path) -> None:
    data = shows_folder(tmp_path / "shows")
    judged = (data / "dev.jsonl").read_text(encoding="utf-8").replace('"01x05"', '"01x05/06"')
    (tmp_path / "double.jsonl").write_text(judged.replace('"01x06"', '"01x07"'), encoding="utf-8")
    results = bench_guess(data, tmp_path / "double.jsonl", models=["random"])
    assert {row["n"] for row in rows(results)} == {24}


@pytest.mark.parametrize("names", ["mask", "swap"])
def test_names_may_be_hidden_or_swapped_and_words_still_tell(data: Path, names: str) -> None:
    document = bench_guess(data, models=["joint"], names=names)
    assert next(rows(document))["value"] > 0.9
    assert document["manifest"]["settings"]["names"] == names


def test_ablations_and_a_curve_judge_more_models_made_from_joint(data: Path) -> None:
    document = bench_guess(data, models=["random"], ablations=True, curve=True, limit=2)
    models = {row["model"] for row in rows(document)}
    assert {"joint without assignment", "joint without facts", "joint without words"} <= models
    assert {"joint from an eighth of the lessons", "joint from half of the lessons"} <= models


def test_less_of_the_lessons_is_the_last_of_them_and_never_all(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """With fewer scenes than parts there is one to learn from."""
    from understudy.papers import tvshowguess as guess

    lengths: list[int] = []

    def noting(training_scenes: TrainingScenes) -> Diary:
        lengths.append(len(training_scenes.scenes))
        return Diary(training_scenes)

    monkeypatch.setattr(guess, "Joint", noting)
    bench_guess(shows_folder(tmp_path / "short", episodes=2, judged=1), models=["random"], curve=True)
    assert dict(zip(guess.SHARES, lengths)) == {"an eighth": 1, "a quarter": 1, "half": 2}


def test_a_wrong_name_is_said_before_anything_is_read(tmp_path: Path) -> None:
    with pytest.raises(AgentError, match="there is no guesser 'luck'"):
        bench_guess(tmp_path, models=["luck"])
    with pytest.raises(AgentError, match="no guesser 'joint without luck'"):
        bench_guess(tmp_path, models=["joint without luck"])


def test_a_show_that_begins_with_what_is_judged_has_nothing_to_teach(tmp_path: Path) -> None:
    with pytest.raises(StoryError, match="nothing to learn from"):
        bench_guess(shows_folder(tmp_path / "shows", episodes=2, judged=2), models=["vanilla"])
