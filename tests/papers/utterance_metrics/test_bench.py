from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import measured
from understudy.bench.later_lines import bench_later_lines
from understudy.bench.report import html_report
from understudy.errors import InputError
from understudy.formats import read
from understudy.papers.utterance_metrics.bench import SCORERS, SHUFFLES, bench_voice, judged_in

PAPERS = ("psprob", "ptsal", "uppl", "maxbleu")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two novels of invented characters, and judgements of two of them."""
    folder = tmp_path_factory.mktemp("personaclr")
    (folder / "NaroU" / "test").mkdir(parents=True)
    for number in (1, 2):
        _write(folder / "NaroU" / "test" / f"00{number}.json", measured.novel(number, 40))
    (folder / "evaluation").mkdir()
    _write(folder / "evaluation" / "gonta.json", measured.judged("ゴンタ"))
    _write(folder / "evaluation" / "sayo.json", measured.judged("サヨ"))
    names = {"gonta.json": ["test/001.json", "ゴンタ"], "sayo.json": ["test/002.json", "サヨ"]}
    _write(folder / "evaluation" / "names.json", names)
    return folder


def _write(path: Path, document: Any) -> None:
    path.write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")


@pytest.fixture(scope="module")
def document(data: Path) -> dict[str, Any]:
    return bench_voice(data)


def test_every_scorer_is_judged_on_every_character(document: dict[str, Any]) -> None:
    rows = {(row["scorer"], row["character"], row["metric"]): row for row in document["rows"]}
    for scorer in SCORERS:
        for metric in ("spearman", "aupr"):
            for character in ("ゴンタ", "サヨ", "mean of all"):
                row = rows[scorer, character, metric]
                assert row["low"] - 1e-9 <= row["value"] <= row["high"] + 1e-9
                assert row["n"] == (40 if character != "mean of all" else 80)
                assert (row["paper"] is None) == (character != "mean of all" or scorer not in PAPERS)
    mean = rows["voice", "mean of all", "aupr"]["value"]
    assert rows["psprob", "mean of all", "spearman"]["paper"] == pytest.approx(0.408)
    assert mean == pytest.approx(sum(rows["voice", name, "aupr"]["value"] for name in ("ゴンタ", "サヨ")) / 2)


def test_voice_finds_the_unfit_where_manners_differ_and_length_does_not(document: dict[str, Any]) -> None:
    figures = {
        row["scorer"]: row["value"]
        for row in document["rows"]
        if row["metric"] == "aupr" and row["character"] == "mean of all"
    }
    assert figures["voice"] > 0.95
    assert figures["length"] < figures["voice"]


def test_p_values_are_adjusted_for_all_that_were_looked_at(document: dict[str, Any]) -> None:
    tested = [row for row in document["rows"] if "p" in row]
    assert len(tested) == 2 * len(SCORERS)
    assert all(row["p_adjusted"] >= row["p"] for row in tested)
    assert min(row["p_adjusted"] for row in tested) == pytest.approx(min(row["p"] for row in tested) * len(tested))
    # 12 characters: the largest agreement there can be must reach the paper's three stars, .001 after Holm
    assert 12 * len(SCORERS) / (1 + SHUFFLES) < 0.001
    assert document["manifest"]["settings"]["shuffles"] == SHUFFLES
    compared = {(row["metric"], row["agents"][1]) for row in document["comparisons"]}
    assert compared == {(metric, scorer) for metric in ("spearman", "aupr") for scorer in SCORERS[1:]}


def test_the_classifier_and_the_cross_matrix_are_there(document: dict[str, Any]) -> None:
    rows = document["rows"]
    recalls = {row["character"]: row for row in rows if row["metric"] == "recall"}
    assert recalls["ゴンタ"]["value"] > recalls["ゴンタ"]["chance"] == 0.25
    cross = {(row["character"], row["under"]): row["value"] for row in rows if row["metric"] == "uppl"}
    assert set(cross) == {(a, b) for a in ("ゴンタ", "サヨ") for b in ("ゴンタ", "サヨ")}
    assert cross["ゴンタ", "ゴンタ"] < cross["サヨ", "ゴンタ"]


def test_a_description_tells_of_what_is_said_and_not_how(data: Path, tmp_path: Path) -> None:
    """Everybody talks of the same few things: a description that names them finds them in anybody's lines."""
    described = {"ゴンタ": ["船と灯台が好きだ。", "宝石を探している。"], "サヨ": ["薬草と料理を知っている。"]}
    _write(tmp_path / "described.json", described)
    document = bench_voice(data, scorers=["p_cover", "p_f1"], descriptions=tmp_path / "described.json")
    rows = {(row["scorer"], row["character"]): row for row in document["rows"] if row["metric"] == "spearman"}
    assert {scorer for scorer, _ in rows} == {"p_f1", "p_cover"}
    assert abs(rows["p_f1", "ゴンタ"]["value"]) < 0.4
    assert rows["p_f1", "mean of all"]["paper"] == pytest.approx(0.002)
    _write(tmp_path / "described.json", {"ゴンタ": described["ゴンタ"], "サヨ": []})
    with pytest.raises(InputError, match="no sentences about サヨ"):
        bench_voice(data, scorers=["p_f1"], descriptions=tmp_path / "described.json")


def test_the_report_draws_a_curve_for_every_scorer(document: dict[str, Any]) -> None:
    page = html_report(document, "Voice")
    assert "Precision and recall" in page
    for scorer in SCORERS:
        assert page.count(f"<title>{scorer}</title>") == 2
    assert "<script" not in page


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({}, "names.json: is not there"),
        ({"names.json": {"a.json": "ゴンタ"}}, "novel file, character"),
        ({"names.json": {"a.json": ["test/009.json", "ゴンタ"]}}, "--data"),
        ({"names.json": {"a.json": ["test/001.json", "ゴンタ"]}}, "a.json: is not there"),
        ({"names.json": {"a.json": ["test/001.json", "ゴンタ"]}, "a.json": {"no tab": 3}}, "TAB"),
        ({"names.json": {"a.json": ["test/001.json", "ゴンタ"]}, "a.json": {"q\ta": "5"}}, "TAB"),
        ({"names.json": {}}, "names no file"),
    ],
)
def test_judgements_that_cannot_be_read_say_why(data: Path, tmp_path: Path, files: dict[str, Any], said: str) -> None:
    for name, content in files.items():
        _write(tmp_path / name, content)
    with pytest.raises(InputError, match=said):
        judged_in(tmp_path, data)


def test_later_lines_of_a_story_are_given_to_who_says_them(tmp_path: Path) -> None:
    manners = {"INES": "Aye lad, the {} is yours to keep.", "MARA": "Oh dear me, where did my {} go?"}
    things = ["key", "boat", "lamp", "rope", "coat", "hat", "ring", "map"]
    scenes = []
    for episode in range(1, 9):
        scenes.append(f"Season 1 Episode {episode}\n\n[Scene: the harbour]\n")
        scenes += [f"{who}: {manner.format(thing)}" for thing in things for who, manner in manners.items()]
    script = tmp_path / "harbour.txt"
    script.write_text("\n".join(scenes), encoding="utf-8")
    story = read(script)
    document = bench_later_lines(story, "season 1, episode 1, scene 7", people=2)
    accuracy = {(row["scorer"], row["character"]): row for row in document["rows"] if row["metric"] == "accuracy"}
    assert accuracy["voice", "all"]["value"] == 1
    assert accuracy["voice", "all"]["chance"] == 0.5
    assert accuracy["voice", "all"]["n"] == 2 * 2 * len(things), "the lines of two scenes"
    with pytest.raises(InputError, match="choose another moment"):
        bench_later_lines(story, "end", people=2)


def test_who_has_too_few_lines_for_a_voice_is_not_told_apart(tmp_path: Path) -> None:
    spoken = {"INES": 24, "MARA": 21, "TOM": 9}
    early = [f"{who}: The {who.lower()} thing is number {number}." for who in spoken for number in range(spoken[who])]
    later = [f"{who}: This is the {who.lower()} thing of mine again." for who in spoken for _ in range(3)]
    scene = "[Scene: the harbour]\n"
    script = tmp_path / "harbour.txt"
    script.write_text("\n".join(["Season 1 Episode 1\n", scene, *early, scene, *later]), encoding="utf-8")
    rows = bench_later_lines(read(script), "season 1, episode 1, scene 2", people=3)["rows"]
    accuracy = {(row["scorer"], row["character"]): row for row in rows if row["metric"] == "accuracy"}
    assert {who for _, who in accuracy} == {"all", "Ines", "Mara"}
    for scorer in ("voice", "psprob", "psprob-weighted"):
        assert (accuracy[scorer, "all"]["value"], accuracy[scorer, "all"]["n"]) == (1, 6)


def test_of_later_lines_more_is_found_too_early_than_at_their_own_time() -> None:
    rows = bench_later_lines(read("demo"), "3.1", people=3)["rows"]
    found = {row["metric"]: row for row in rows if row["scorer"] == "anachronism"}
    assert found["found"]["value"] > 0.9 and found["found_pieces"]["value"] > 0.6
    assert found["false_alarms"]["value"] < 0.1
    for row in found.values():
        assert row["n"] > 100 and row["low"] <= row["value"] <= row["high"]
