from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

import judged
from cliruns import Run

TALK = "1 hello .\thello , i mend clocks .\n2 and at night ?\ti read by the fire .\n"


@pytest.fixture
def run(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Where the data is, and with room for tables."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    return run


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return judged.personachat(tmp_path / "data")


def document(result: Result) -> Any:
    return json.loads(result.stdout)


def test_personachat_as_a_table_a_document_and_a_report(run: Run, data: Path) -> None:
    command = ("bench", "personachat", "--data", data, "--agents", "tfidf,judged:baker")
    shown = run(*command, "--report", "out.html", "-o", "out.json").stdout
    for told in ("tfidf", "self_original", "0.410", "judged by unigram F1", "test split, full training data", "Holm"):
        assert told in shown, told
    of_tfidf, of_baker = shown.split("\njudged:baker\n")
    assert "paper" in of_tfidf and "paper" not in of_baker.split("Ours:")[0], "the paper has no such agent"
    assert "<svg" in Path("out.html").read_text(encoding="utf-8")
    saved = json.loads(Path("out.json").read_text(encoding="utf-8"))
    assert {row["metric"] for row in saved["rows"] if row["value"] is not None} >= {"hits@1", "hits@5", "mrr", "f1"}
    assert all(row["paper"] is None for row in saved["rows"] if row["agent"] == "judged:baker")
    asked = document(run(*command, "--conditions", "none", "--limit", "2", "--seed", "3", "--json"))
    assert {row["condition"] for row in asked["rows"]} == {"none"}
    assert {row["n"] for row in asked["rows"] if row["value"] is not None} == {2}


def test_generative_agents_have_perplexity_and_f1_in_every_view(run: Run, data: Path) -> None:
    command = ("bench", "personachat", "--data", data, "--agents", "judged:chimes,judged:many_chimes")
    shown = run(*command, "--report", "out.html", "--items", "a.json", "--replies", "3", "--cache", "answers").stdout
    for told in ("perplexity", "per token", "f1", "dist-1", "log_prob_per_word, agents two by two", "f1, agents two"):
        assert told in shown, told
    assert f"{2 ** (74 / 28):.2f}" in shown
    report = Path("out.html").read_text(encoding="utf-8")
    for told in ("perplexity_per_token", "Replies in their own words", "i mend clocks , 1 of them ."):
        assert told in report, told
    compared = document(run("compare", "a.json", "a.json", "--json"))["rows"]
    metrics = {row["metric"]: row for row in compared if row["condition"] == "self_original"}
    assert (metrics["f1"]["value"], metrics["f1"]["n"], metrics["log_prob_per_word"]["n"]) == (0, 3, 4)


def test_runs_are_compared(run: Run, data: Path) -> None:
    bench = ("bench", "personachat", "--data", data, "--conditions", "self_original")
    run(*bench, "--agents", "judged:clock", "--items", "a.json")
    run(*bench, "--agents", "judged:blind", "-o", "b.json")
    shown = run("compare", "a.json", "b.json").stdout
    assert "judged:clock -> judged:blind" in " ".join(shown.split())
    assert "-0.250" in shown
    told = document(run("compare", "a.json", "b.json", "--json"))
    assert told["differ"] == len(told["differ_most"]) == 1
    run("compare", "a.json", "nowhere.json", status=2)
    run("compare", "a.json", "b.json", "--agents", "one", status=2)
    Path("empty.json").write_text("{}", encoding="utf-8")
    assert "--items" in run("compare", "a.json", "empty.json", status=1).stderr


def test_errors_are_said(run: Run, data: Path, tmp_path: Path) -> None:
    bench = ("bench", "personachat", "--data")
    assert "choose from" in run(*bench, data, "--conditions", "mine", status=1).stderr
    assert "valid_none_original" in run(*bench, tmp_path, status=1).stderr
    assert "no such folder" in run(*bench, data, "--report", "nowhere/out.html", status=1).stderr
    run(*bench, "nowhere", status=2)
    run("bench", "personachat", status=2)
    assert "judged:nameless" in run(*bench, data, "--agents", "judged:nameless", status=1).stderr


def test_consistency_and_profiles_as_tables(run: Run, data: Path, tmp_path: Path) -> None:
    question = {
        "persona": ["i mend clocks ."],
        "prefix": ["hello ."],
        "candidates": {"label": ["clocks , yes ."], "neg": ["no clocks ."], "similar": [], "rand": ["rain ."]},
    }
    (tmp_path / "valid_havenot.jsonl").write_text(json.dumps(question), encoding="utf-8")
    shown = run("bench", "consistency", "--data", tmp_path, "--agents", "judged:clock").stdout
    assert "contradict@1" in shown
    assert "havenot" in shown
    (data / "valid_both_original.txt").write_text(judged.SELF, encoding="utf-8")
    shown = run("bench", "profiles", "--data", data, "--scorers", "words").stdout
    assert "whose heard error 95% pairs 95% paper" in " ".join(shown.split())
    assert "0.057" in shown
    told = document(run("bench", "profiles", "--data", data, "--scorers", "words", "--json"))
    assert {row["metric"] for row in told["rows"]} == {"error_rate", "pairwise_error"}


def test_a_profile_is_shown_with_what_gave_it_away(run: Run, data: Path) -> None:
    Path("talk.txt").write_text(TALK, encoding="utf-8")
    Path("sentences.txt").write_text("i repair clocks.\ni sail.\n", encoding="utf-8")
    shown = run("profile", "talk.txt", "Person 1B", "--profiles", "sentences.txt").stdout
    assert "i repair clocks." in shown
    assert "i mend clocks" in shown
    assert "i sail." not in shown
    told = document(run("profile", "talk.txt", "--profiles", "sentences.txt", "--json"))
    assert {one["name"]: len(one["profile"]) for one in told["people"]} == {"Person 1A": 0, "Person 1B": 1}
    assert document(run("profile", "talk.txt", "Person 1B", "--data", data, "--json"))["people"]
    assert "name those" in run("profile", "demo", "--profiles", "sentences.txt", status=1).stderr
    assert "Nemo" in run("profile", "talk.txt", "Nemo", "--profiles", "sentences.txt", status=1).stderr


SELF_TOLD = """[Scene: A shop.]
ANN: (loudly) I mend the clocks of the whole town. What time is it?
BEN: Late.
ANN: Give me the clock, its spring is broken. I will mend it.
BEN: You are tired.
ANN: Every clock in this town has been on my table.
BEN: I have a boat, Ann. My boat is the oldest in the harbour.
ANN: I think you are right.
BEN: The harbour is no place for an old boat.
"""


def test_a_profile_needs_nothing_but_what_was_said(run: Run, tmp_path: Path) -> None:
    (tmp_path / "talk.txt").write_text(SELF_TOLD, encoding="utf-8")
    told = {one["name"]: one["profile"] for one in document(run("profile", "talk.txt", "--json"))["people"]}
    assert [trait["sentence"] for trait in told["Ann"]] == ["I mend the clocks of the whole town."]
    assert "clock" in told["Ann"][0]["said"]
    assert "clock" in told["Ann"][0]["words"]
    assert {trait["sentence"] for trait in told["Ben"]} <= {
        "I have a boat, Ann.",
        "My boat is the oldest in the harbour.",
    }
    shown = run("profile", "talk.txt", "Ann").stdout
    assert "I mend the clocks" in shown
    (tmp_path / "short.txt").write_text("ANN: Yes.\nBEN: No.\n", encoding="utf-8")
    assert "--profiles" in run("profile", "short.txt").stdout
    assert "reads English" in run("profile", "demo-zh", "葛长顺", status=1).stderr


def test_words_in_common_with_a_profile_as_a_table(run: Run, data: Path) -> None:
    (data / "valid_both_original.txt").write_text(judged.SELF, encoding="utf-8")
    shown = " ".join(run("bench", "overlap", "--data", data, "--report", "overlap.html").stdout.split())
    assert "p_cover" in shown and "paper's r_s" in shown
    assert Path("overlap.html").is_file()
