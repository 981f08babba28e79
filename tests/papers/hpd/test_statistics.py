from __future__ import annotations

from pathlib import Path

import pytest

from realdata import folder
from stories import big_cast
from timing import cpu_seconds
from understudy.errors import MissingExtra
from understudy.formats import read
from understudy.papers.hpd import statistics
from understudy.papers.hpd.statistics import corpus_statistics


def test_talk_is_counted_scene_by_scene(story: Path) -> None:
    counted = corpus_statistics(read(story)).document()
    assert (counted["scenes"], counted["dialogues"]) == (4, 4)
    assert counted["turns"] == {"mean": 2.5, "min": 2, "max": 3}
    assert counted["speakers"] == counted["present"] == {"mean": 2.0, "min": 2, "max": 2}
    assert (counted["characters"], counted["speaking_characters"], counted["utterances"]) == (3, 3, 10)


def test_words_are_counted_by_hand(tmp_path: Path) -> None:
    script = tmp_path / "short.txt"
    script.write_text(
        "# scene 1: Here\nANN: The boat, the boat!\nBEN: No.\n[The boat leaves them.]\n", encoding="utf-8"
    )
    counted = corpus_statistics(read(script)).document()
    assert counted["words"] == {"mean": 2.5, "min": 1, "max": 4}
    assert counted["distinct_words"] == 3, "descriptions are no talk"


def test_what_is_annotated_is_counted_with_its_changes(story: Path) -> None:
    counted = corpus_statistics(read(story)).document()
    assert counted["attributes"] == {"belongings": {"entries": 1, "people": 1, "changes": 0}}
    # 7 to -6 to 3 within the two acts: at their ends 7 and 3
    assert counted["relations"] == {"affection": {"entries": 4, "people": 2, "changes": 1}}
    assert [
        (each["chapter"], each["dialogues"], each["relations"], each["relation_changes"])
        for each in counted["chapters"]
    ] == [
        ("1", 2, 2, 0),
        ("2", 2, 2, 1),
    ]
    assert [each["attributes"] for each in counted["chapters"]] == [0, 0], "the key was lost within the first act"


def test_words_that_cannot_be_counted_say_why(story: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(_language: str) -> None:
        raise MissingExtra("Japanese", "ja")

    monkeypatch.setattr(statistics, "tokenizer", missing)
    counted = corpus_statistics(read(story)).document()
    assert counted["distinct_words"] is None
    assert counted["words"]["mean"] is None
    assert ".[ja]" in counted["words"]["reason"]


def test_the_time_is_in_proportion_to_the_lines(tmp_path: Path) -> None:
    small, large = (
        read(big_cast(tmp_path / str(scenes), number=40, parts=2, chapters=5, scenes=scenes, lines=50))
        for scenes in (5, 40)
    )
    assert large.count()[1] >= 20_000 and corpus_statistics(large).turns.total == 18_000
    assert cpu_seconds(lambda: corpus_statistics(large), 2) < 30 * cpu_seconds(lambda: corpus_statistics(small))


def test_hpds_own_files() -> None:
    sessions = corpus_statistics(read(folder("hpd") / "en_test_set.part1.json")).document()
    assert (sessions["dialogues"], sessions["present"]["min"], sessions["present"]["max"]) == (75, 2, 6)
    assert sessions["turns"]["mean"] == 6.41
    relations = corpus_statistics(read(folder("hpd") / "book-1_character_relations_new.xlsx")).document()
    assert (relations["dialogues"], relations["turns"]["mean"], relations["characters"]) == (0, None, 33)
    assert relations["relations"]["affection"]["changes"] == 112
    assert relations["chapters"][0]["chapter"] == "1.1"
