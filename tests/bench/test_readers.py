from __future__ import annotations

import json
from pathlib import Path

import pytest

from realdata import folder
from understudy.bench.readers import Episode, aligned, bench_readers, common_starts, who, words
from understudy.errors import InputError


def said(*lines: tuple[str, str]) -> list[tuple[str, str]]:
    return [(who(speaker), words(text)) for speaker, text in lines]


def test_lines_align_in_order_and_each_only_once() -> None:
    theirs = said(("Ann", "Yes."), ("Bob", "Well, it is raining again."), ("Ann", "Yes."))
    ours = said(("ANN", "Yes."), ("Bob", "(sighs) Well, it’s raining again."), ("Cyril", "Yes."))
    assert aligned(theirs, ours) == {0: 0, 1: 1}
    assert aligned(theirs, ours, same_speaker=False) == {0: 0, 1: 1, 2: 2}
    assert aligned(theirs, []) == {}


def test_joint_labels_are_the_same_however_they_are_joined() -> None:
    assert who("Ann and Bob") == who("BOB & ANN (off)") == who("Bob/Ann together") != who("Ann")


def test_scene_starts_are_compared_by_the_lines_they_stand_at() -> None:
    theirs = Episode(said(("Ann", "First of all."), ("Bob", "Then this."), ("Ann", "And that.")), {0, 1})
    ours = Episode(said(("Ann", "First of all."), ("Bob", "Something else here."), ("Ann", "And that.")), {0, 1, 2, 3})
    assert ours.scene_starts == {0, 1, 2}
    assert common_starts(theirs, ours) == 2


def prepared(tmp_path: Path) -> Path:
    data = tmp_path / "tvshowguess"
    raw = data / "transcripts"
    for show in ("friends", "the_big_bang_theory", "gilmore_girls", "the_office"):
        (raw / show).mkdir(parents=True)
        (raw / show / "0101.txt").write_text(
            "[Scene: Quay]\nAnn: One, I say.\nBob: Two, I say.\n[Scene: Shed]\nAnn: Three.\n"
        )
    (raw / "frasier.jsonl").write_text('{"season": 1, "episode": 1, "character": "Ann", "lines": "One."}\n')
    scenes = [
        {"show": "FRIENDS", "episode_id": "01x01", "lines": [["ann", "Ann: One, I say."], ["background", "(x)"]]},
        {"show": "FRIENDS", "episode_id": "01x01", "lines": [["bob", "Bob: Two, I say."], ["cyril", "Cyril: Three."]]},
        {"show": "FRIENDS", "episode_id": "01x02", "lines": [["ann", "Ann: Four."]]},
    ]
    (data / "dev.jsonl").write_text("".join(json.dumps(scene) + "\n" for scene in scenes))
    return tmp_path


def test_the_folder_of_the_shows_itself_will_do(tmp_path: Path) -> None:
    whole, shows = (bench_readers(data) for data in (prepared(tmp_path), tmp_path / "tvshowguess"))
    assert whole["manifest"]["data"] == shows["manifest"]["data"]
    figures = [
        [(row["metric"], row.get("show"), row.get("file"), row["value"]) for row in rows if row["metric"] != "seconds"]
        for rows in (whole["rows"], shows["rows"])
    ]
    assert figures[0] == figures[1]


def test_rows_say_what_was_judged_and_what_could_not_be(tmp_path: Path) -> None:
    result = bench_readers(prepared(tmp_path))
    rows = [row for row in result["rows"] if row.get("show") == "FRIENDS"]
    figures = {(row["metric"], row.get("episode")): row for row in rows}
    match = figures["line_speaker_match", None]
    assert (match["value"], match["n"], match["paper"]) == (pytest.approx(2 / 3), 3, None)
    assert match["low"] <= match["value"] <= match["high"]
    assert figures["scene_start_f1", None]["value"] == pytest.approx(2 * 1 / (2 + 2))
    assert figures["unread_share", None]["value"] == 0.0
    assert figures["lines_accounted_for", None]["value"] == 1.0
    assert figures["line_speaker_match", "01x02"]["value"] is None
    assert figures["line_speaker_match", "01x02"]["reason"]
    assert result["manifest"]["seed"] == 0
    assert json.loads(json.dumps(result)) == result


def test_without_the_data_it_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="dev.jsonl"):
        bench_readers(tmp_path)


JUDGED = ("friends/09*", "the_big_bang_theory/08*", "gilmore_girls/06*", "the_office/1x*")
OTHERS = ("dev.jsonl", "../shakespeare/the-tempest.xml", "../personachat/train_both*.txt", "../hpd/*")


@pytest.fixture(params=["seasons that are judged", pytest.param("all", marks=pytest.mark.thorough)])
def data(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    shows = folder("tvshowguess")
    if request.param == "all":
        return shows.parent
    for pattern in (*(f"transcripts/{season}" for season in JUDGED), *OTHERS):
        for file in (shows / pattern).parent.glob(Path(pattern).name):
            link = tmp_path / file.resolve().relative_to(shows.parent.resolve())
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(file.resolve())
    (tmp_path / "tvshowguess" / "transcripts" / "frasier.jsonl").write_text(
        '{"season": 1, "episode": 1, "character": "Ann", "lines": "One."}\n'
    )
    return tmp_path


def test_the_readers_keep_what_they_have_reached(data: Path) -> None:
    """The goals for the two shows whose raw transcripts and prepared lines are both there."""
    rows = bench_readers(data)["rows"]
    shows = [row for row in rows if "show" in row and "episode" not in row]
    figures = {(row["show"], row["metric"], row.get("condition")): row["value"] for row in shows}
    alike = "without episodes prepared from another wording"
    assert figures["FRIENDS", "line_speaker_match", alike] >= 0.97
    assert figures["The_Big_Bang_Theory", "line_speaker_match", None] >= 0.993
    assert figures["FRIENDS", "scene_start_f1", None] >= 0.965
    assert figures["The_Big_Bang_Theory", "scene_start_f1", None] >= 0.94  # 08x01 is one scene there
    assert figures["The_Big_Bang_Theory", "scene_start_f1", "without episodes prepared as one scene"] >= 0.99
    assert all(value == 1.0 for (_, metric, _), value in figures.items() if metric == "lines_accounted_for")
    assert all(value < 0.005 for (_, metric, _), value in figures.items() if metric == "unread_share")
    files = [row for row in rows if "file" in row]
    assert {row["reader"] for row in files} >= {"TEI drama", "PersonaChat dialogues", "HPD sessions"}
    assert all(row["value"] == 1.0 for row in files if row["metric"] == "lines_accounted_for")
