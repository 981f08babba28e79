from __future__ import annotations

from pathlib import Path

import pytest

from novel_texts import write_novels
from understudy.bench import novels
from understudy.bench.novels import NovelBench, bench_novels
from understudy.novels.attribution import shipped_quotation_model
from understudy.training.boosting import BoostingSettings
from understudy.training.quotations import LearnedNovel, QuotationSettings, predict_unseen

SMALL = BoostingSettings(trees=20, depth=3, rate=0.4, l2=1, least=0.1, rows=1, columns=1, bins=16)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(novels, "LEFT_OUT", QuotationSettings(2, SMALL, SMALL, SMALL))


@pytest.mark.usefixtures("quick")
def test_each_novel_is_judged_by_a_model_of_the_others(tmp_path: Path) -> None:
    document = bench_novels(NovelBench(write_novels(tmp_path / "pdnc")))
    rows = {(row["metric"], row["kind"], row["cast"], row["novel"]): row for row in document["rows"]}
    for kind, count in (("explicit", 16), ("anaphoric", 8), ("implicit", 8), ("all", 32)):
        assert rows["accuracy", kind, "given", "Quay"]["n"] == count  # the voice that nobody knows is left out
        assert rows["accuracy", kind, "given", "all"]["value"] > 0.9
    assert rows["accuracy", "all", "found", "all"]["value"] > 0.9
    assert rows["recall", "quotations", "found", "all"]["value"] == 1
    assert rows["recall", "cast", "found", "all"]["value"] == 1
    assert document["manifest"]["data"].keys() == {
        f"{name}/quotation_info.csv" for name in ("Quay", "Harbour", "Orchard")
    }


@pytest.mark.usefixtures("quick")
def test_one_novel_alone_has_no_interval_over_novels(tmp_path: Path) -> None:
    rows = bench_novels(NovelBench(write_novels(tmp_path / "pdnc"), limit=1))["rows"]
    over_novels = [row for row in rows if row["novel"] == "all" and row["value"] is not None]
    assert over_novels
    assert all(row["low"] is None and row["high"] is None for row in over_novels)


@pytest.mark.usefixtures("quick")
def test_predictions_are_shared_by_models_that_leave_out_what_they_have_not_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(novels, "LEAST_SHARED", 3)
    monkeypatch.setattr(novels, "SHARED_FOLDS", 3)
    unseen = list[tuple[int, ...]]()

    def recorded(novels: list[LearnedNovel], left_out: list[int], settings: QuotationSettings, seed: int):  # type: ignore[no-untyped-def]
        unseen.append(tuple(left_out))
        return predict_unseen(novels, left_out, settings, seed)

    monkeypatch.setattr(novels, "predict_unseen", recorded)
    names = ("Quay", "Harbour", "Orchard", "Pier")
    document = bench_novels(NovelBench(write_novels(tmp_path / "pdnc", names), limit=1))
    judged = {row["novel"] for row in document["rows"]} - {"all"}
    index = sorted(names).index(judged.pop())
    # one forest for the fold of the judged novel, and one for it with each other: all have not seen the novel
    assert len(unseen) == 3 and all(index in left_out for left_out in unseen)
    assert {other for left_out in unseen for other in left_out} == set(range(4))
    accuracy = [row["value"] for row in document["rows"] if row["metric"] == "accuracy" and row["kind"] == "all"]
    assert min(accuracy) > 0.9


@pytest.mark.usefixtures("quick")
def test_other_novels_are_judged_by_a_model_of_all_the_data(tmp_path: Path) -> None:
    data = write_novels(tmp_path / "pdnc", ("Quay", "Harbour", "Orchard"))
    document = bench_novels(NovelBench(data, write_novels(tmp_path / "more", ("Orchard",))))
    assert {row["novel"] for row in document["rows"]} == {"Orchard", "all"}
    accuracy = [row["value"] for row in document["rows"] if row["metric"] == "accuracy" and row["kind"] == "all"]
    assert min(accuracy) > 0.9


def test_what_the_shipped_model_has_learned_from_is_not_learned_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(novels, "shipped_training_files", lambda: {"A/quotation_info.csv": "hash"})
    assert novels.model_of([], {"A/quotation_info.csv": "hash"}, 0) is shipped_quotation_model()


def test_other_novels_are_judged_by_the_model_that_ships(tmp_path: Path) -> None:
    folder = write_novels(tmp_path / "pdnc", ("Quay", "Orchard"))
    document = bench_novels(NovelBench(folder, folder, shipped=True, limit=1))
    judged = {row["novel"] for row in document["rows"]}
    assert len(judged) == 2 and "all" in judged
    explicit = [row for row in document["rows"] if row["kind"] == "explicit" and row["cast"] == "given"]
    assert all(row["value"] == 1 for row in explicit)
