"""`understudy guess`, `voices` and `bench guess`."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from cliruns import Document, Run
from talkers import PEOPLE, scenes, script_of, shows_folder
from understudy.story.types import Scene


def said(story_scenes: list[Scene]) -> list[list[tuple[str, str]]]:
    return [[(str(line.speaker), line.text) for line in item.lines] for item in story_scenes]


@pytest.fixture
def harbour(tmp_path: Path) -> Path:
    acts = [said(scenes(5, seed=number, called=0.4)) for number in range(1, 4)]
    return script_of(tmp_path / "harbour", [*acts, [[("Ann", "so it is"), ("Ann", "so it was")]]])


@pytest.fixture
def shows(tmp_path: Path) -> Path:
    return shows_folder(tmp_path / "shows")


def test_a_scene_is_shown_with_guesses_and_why(run: Run, harbour: Path) -> None:
    shown = run("guess", harbour, "--scene", "3.2").stdout
    assert "harbour: 3.2" in shown and "The quay" in shown
    assert "Who is who? 3 of 3 right, learned from 11 scenes" in shown
    assert len(re.findall(r"^P\d: (?:Ann|Ben|Cleo) [01]\.\d\d right$", shown, re.MULTILINE)) == 3
    assert "not " in shown
    assert re.search(r"^ +(?:phrase|called|memory): ", shown, re.MULTILINE)
    assert max(map(len, shown.splitlines())) <= 80


def test_a_wrong_guess_says_who_it_is(run: Run, harbour: Path) -> None:
    shown = run("guess", harbour, "--scene", "3.2", "--model", "random", "--seed", "1").stdout
    right = int(re.findall(r"Who is who\? (\d) of 3 right", shown)[0])
    assert shown.count("it is ") == 3 - right


def test_the_document_of_a_scene(document: Document, harbour: Path) -> None:
    output = document("guess", harbour, "--scene", "act 3, scene 2", "--names", "swap", "--main", "3")
    assert set(output) == {
        "story", "scene", "setting", "model", "names", "learned_from", "lines", "guesses",
    }  # fmt: skip
    assert (output["story"], output["scene"], output["model"], output["names"]) == ("harbour", "3.2", "joint", "swap")
    assert all(set(line) == {"speaker", "text"} for line in output["lines"])
    for item in output["guesses"]:
        assert set(item) == {"mask", "guess", "truth", "probabilities", "evidence"}
        assert set(item["probabilities"]) == set(PEOPLE)
        assert list(item["probabilities"].values()) == sorted(item["probabilities"].values(), reverse=True)
        assert all(set(reason) == {"kind", "text", "weight"} for reason in item["evidence"])


def test_later_scenes_are_told_in_figures(run: Run, document: Document, harbour: Path) -> None:
    shown = run("guess", harbour, "--from", "3.1", "--model", "vanilla").stdout
    assert "Learned from 10 scenes before 3.1." in shown
    assert "Accuracy by show" in shown
    output = document("guess", harbour, "--from", "3.1", "--model", "vanilla")
    assert (output["learned_from"], output["since"]) == (10, "3.1")
    (row,) = [row for row in output["rows"] if (row["metric"], row.get("show")) == ("accuracy", "all")]
    assert row["n"] == 15 and row["value"] > 0.8
    assert set(output) == {"rows", "comparisons", "confusions", "flows", "learned_from", "since"}


def test_it_says_what_is_wrong(run: Run, harbour: Path, tmp_path: Path) -> None:
    assert "give one of them" in run("guess", harbour, "--scene", "3.2", "--from", "3.1", status=2).stderr
    assert "--main" in run("guess", harbour, "--main", "1", status=2).stderr
    assert "after the story's last line" in run("guess", harbour, "--scene", "9.9", status=1).stderr
    assert "not a moment" in run("guess", harbour, "--scene", "soon", status=1).stderr
    assert "no scene is at 3.8" in run("guess", harbour, "--scene", "3.8", status=1).stderr
    assert "two or more" in run("guess", harbour, "--scene", "4.1", status=1).stderr
    assert "choose from random" in run("guess", harbour, "--scene", "3.2", "--model", "luck", status=1).stderr
    assert "nothing to learn from" in run("guess", harbour, "--scene", "1.1", status=1).stderr
    alone = script_of(tmp_path / "alone", [[[("Ann", "So it is.")], [("Ann", "Yes.")], [("Ann", "No.")]]])
    for command in (("guess", alone), ("guess", alone, "--scene", "1.2"), ("voices", alone)):
        assert "only Ann speaks in 'alone': guessing takes two speakers" in run(*command, status=1).stderr


OWN = """
from understudy.guessing.baselines import Vanilla

def guesser(training_scenes):
    return Vanilla(training_scenes)
"""


def test_a_guesser_of_ones_own_with_one_person_behind_each_mask(
    run: Run, document: Document, harbour: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my_vanilla.py").write_text(OWN, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    command = ("guess", harbour, "--scene", "3.2", "--model")
    own = document(*command, "my_vanilla:guesser", "--assigned")
    assert own["model"] == "my_vanilla:guesser+assigned"
    assert own["guesses"] == document(*command, "vanilla+assigned")["guesses"]
    assert (
        "name 'my_vanilla:guesser' and add --assigned" in run(*command, "my_vanilla:guesser+assigned", status=1).stderr
    )
    assert "such as 'vanilla+assigned'" in run(*command, "vanilla", "--assigned", status=1).stderr


def test_models_weighted_together(run: Run, document: Document, harbour: Path) -> None:
    command = ("guess", harbour, "--scene", "3.2")
    commas = document(*command, "--together", "--model", "vanilla,random")
    assert commas["model"] == "vanilla+random"
    assert commas == document(*command, "--together", "--model", "vanilla", "--model", "random")
    assert "name two or more" in run(*command, "--together", status=1).stderr
    assert "weight several with --together" in run(*command, "--model", "vanilla,random", status=2).stderr
    assert "leave --assigned out" in run(*command, "--together", "--assigned", status=2).stderr
    assert "name vanilla,random and add --together" in run(*command, "--model", "vanilla+random", status=1).stderr


def test_names_inside_other_names_are_left_alone(document: Document, tmp_path: Path) -> None:
    acts = [[[("Ann", "the tide, Anna"), ("Anna", "the oven, Ann, Annabel"), ("Ann", "Annex")]] * 3] * 2
    output = document("guess", script_of(tmp_path / "names", acts), "--scene", "2.1", "--names", "mask")
    assert [line["text"] for line in output["lines"]] == ["the tide, [name]", "the oven, [name], Annabel", "Annex"]


def test_a_cast_of_two_hundred_and_a_scene_of_three_hundred_lines(document: Document, tmp_path: Path) -> None:
    people = [f"Guest{number}" for number in range(200)]
    party = [[(who, f"word{who} so it is") for who in people] for _ in range(2)]
    party[1] += [(who, "so it was there") for who in people[:100]]
    story = script_of(tmp_path / "party", [party])
    output = document("guess", story, "--scene", "1.2", "--main", "200", "--model", "vanilla")
    assert len(output["lines"]) == 300
    assert len(output["guesses"]) == 200
    few = document("guess", story, "--scene", "1.2")
    assert len(few["guesses"]) == 6


def test_voices_are_shown_and_told(run: Run, document: Document, harbour: Path) -> None:
    shown = run("voices", harbour, "--pairs", "2").stdout
    assert "harbour: who can be told apart" in shown
    assert "told right by all clues" in shown and "told right by their words alone" in shown
    output = document("voices", harbour)
    assert [len(pair["pair"]) for pair in output["pairs"]] == [2, 2, 2]
    first, second, third = (", ".join(pair["pair"]) for pair in output["pairs"])
    assert first in shown and second in shown and third not in shown
    assert set(output["pairs"][0]) == {"pair", "alike", "told_apart", "n", "lines", "terms"}
    run("voices", harbour, "--pairs", "0", status=2)


@pytest.mark.parametrize("command", ["guess", "voices"])
def test_a_story_named_like_a_show_of_the_paper_has_figures_of_its_own(
    run: Run, document: Document, tmp_path: Path, command: str
) -> None:
    acts = [said(scenes(5, seed=number, called=0.4)) for number in range(1, 4)]
    story = script_of(tmp_path / "friends", acts)
    assert run(command, story).stdout
    rows = document(command, story)["rows"]
    assert all(row["paper"] is None and row["value"] is not None for row in rows)


def test_what_has_no_figure_is_shown_with_its_reason(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from understudy.cli.guess import print_voices

    monkeypatch.setenv("COLUMNS", "100")
    row = {"model": "joint", "show": "quay", "metric": "accuracy", "value": None, "low": None, "high": None, "n": 0}
    pair: dict[str, Any] = {"pair": ["Ann", "Ben"], "alike": None, "told_apart": None, "n": 0, "lines": [], "terms": {}}
    pair["reason"] = "neither Ann nor Ben was heard"
    print_voices({"story": "quay", "rows": [{**row, "reason": "nobody spoke"}], "pairs": [pair]}, 5)
    shown = capsys.readouterr().out
    assert "no figure for all clues: nobody spoke" in shown
    assert "Ann, Ben: neither Ann nor Ben was heard" in shown


def test_shows_as_tables_a_document_a_report_and_items(run: Run, shows: Path) -> None:
    command = ("bench", "guess", "--data", shows, "--models", "random,joint")
    shown = run(*command, "-o", "out.json", "--report", "out.html", "--items", "joint.json").stdout
    assert "Accuracy by show" in shown and "joint" in shown
    assert "The document is in out.json." in shown
    saved = json.loads(Path("out.json").read_text(encoding="utf-8"))
    assert {row["model"] for row in saved["rows"] if row["metric"] == "accuracy"} == {"random", "joint"}
    page = Path("out.html").read_text(encoding="utf-8")
    assert "Who is speaking?" in page and "<svg" in page
    run(*command, "--names", "mask", "--items", "masked.json")
    compared = run("compare", "joint.json", "masked.json").stdout
    assert "hits@1" in compared and "24" in compared
    content = json.loads(run("compare", "joint.json", "masked.json", "--agents", "random,joint", "--json").stdout)
    assert {row["agent"] for row in content["rows"]} == {"random -> joint"}
    assert {row["n"] for row in content["rows"]} == {24}


def test_a_file_of_ones_own_a_limit_and_models_one_by_one(document: Document, shows: Path) -> None:
    first = (shows / "dev.jsonl").read_text(encoding="utf-8").splitlines()[:4]
    Path("mine.jsonl").write_text("\n".join(first) + "\n", encoding="utf-8")
    output = document("bench", "guess", "--data", shows, "--judge", "mine.jsonl", "--limit", "2",
                    "--model", "random", "--model", "vanilla+assigned")  # fmt: skip
    rows = [row for row in output["rows"] if (row["metric"], row.get("show")) == ("accuracy", "all")]
    assert [(row["model"], row["n"]) for row in rows] == [("random", 6), ("vanilla+assigned", 6)]
    assert list(output["manifest"]["data"]) == ["mine.jsonl"]


def test_a_bench_says_what_is_missing(run: Run, shows: Path, tmp_path: Path) -> None:
    assert "choose from random" in run("bench", "guess", "--data", shows, "--models", "luck", status=1).stderr
    assert "did you mean 'joint'" in run("bench", "guess", "--data", shows, "--models", "jont", status=1).stderr
    assert "--models" in run("bench", "guess", "--data", shows, "--together", status=2).stderr
    assert "such as 'vanilla+assigned'" in run("bench", "guess", "--data", shows, "--assigned", status=1).stderr
    assert "holds no dev.jsonl" in run("bench", "guess", "--data", tmp_path, status=1).stderr
    assert "no such folder" in run("bench", "guess", "--data", shows, "-o", "nowhere/out.json", status=1).stderr
    run("bench", "guess", "--data", "nowhere", status=2)
    run("bench", "guess", "--data", shows, "--judge", "nowhere.jsonl", status=2)
    (shows / "transcripts" / "the_harbour").rename(shows / "transcripts" / "other")
    said = run("bench", "guess", "--data", shows, status=1).stderr
    assert "no transcripts of The_Harbour" in said and "a folder or file named for it" in said
