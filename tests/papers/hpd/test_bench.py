from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import hpdsessions
from judged import Clock
from realdata import folder as real_data
from understudy.agents import agent_named
from understudy.agents.recall import Recall
from understudy.agents.reply_lines import characters_asked, reply_lines, sampled
from understudy.agents.writer import llm_agent
from understudy.bench.answers import JudgedAgent
from understudy.bench.run import compare_runs
from understudy.errors import InputError, MissingExtra
from understudy.formats import read
from understudy.language.backends import ScriptedBackend
from understudy.papers.hpd import bench as hpd_bench
from understudy.papers.hpd.bench import bench_hpd
from understudy.papers.hpd.features import SHARED_WORDS, Feature, TextFeatures
from understudy.papers.hpd.own_text import OWN_TEXT
from understudy.papers.hpd.questions import write_questions
from understudy.papers.hpd.sessions import GIVEN

METRICS = ("map", "mrr", "p@1", "r10@1", "r10@5")


@pytest.fixture(autouse=True)
def light(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the encoder's features, whose own tests are elsewhere."""
    monkeypatch.setattr(hpd_bench, "feature_groups", lambda: [OWN_TEXT, SHARED_WORDS])
    monkeypatch.setattr(hpd_bench, "open_reranked", lambda _cache: "no reranker in this test")


def value(document: dict[str, Any], **what: Any) -> Any:
    (row,) = [
        row
        for row in document["rows"]
        if "adds" not in row and all(row.get(key) == value for key, value in what.items())
    ]
    return row["value"]


def test_every_file_agent_and_given_has_its_rows(tmp_path: Path) -> None:
    data = hpdsessions.folder(tmp_path / "hpd")
    document = bench_hpd(data, ["tfidf", "fitted"], ["dialogue", "dialogue+scene"])
    judged = {
        (row["file"], row["language"], row["agent"], row["given"])
        for row in document["rows"]
        if row.get("file") and "adds" not in row
    }
    for file, language in (("en_test_set.json", "en"), ("zh_test_set.json", "zh")):
        assert {(file, language, agent, given) for agent in ("tfidf", "fitted") for given in GIVEN[:2]} <= judged
        assert (file, language, "fitted", "candidates") in judged
    for row in document["rows"]:
        assert (
            row["paper"] == {"map": 0.468, "mrr": 0.468, "p@1": 0.259, "r10@1": 0.259, "r10@5": 0.788}[row["metric"]]
            or "adds" in row
        )
    assert {row["metric"] for row in document["rows"]} == set(METRICS)
    assert [row["paper"] for row in document["rows"] if row["agent"] == "BERT-FP" and row["metric"] == "mrr"] == [0.468]


def test_what_is_asked_for_is_told_from_the_context_alone(tmp_path: Path) -> None:
    """All right replies are wrong elsewhere, so the candidates alone tell nothing; with the dialogue all is clear."""
    data = hpdsessions.folder(tmp_path / "hpd")
    document = bench_hpd(data, ["fitted"], ["dialogue"])
    for file in ("en_test_set.json", "zh_test_set.json"):
        assert value(document, file=file, agent="fitted", given="candidates", metric="mrr") < 0.4
        assert value(document, file=file, agent="fitted", given="dialogue", metric="mrr") == 1.0
        (added,) = [
            row for row in document["rows"] if row.get("file") == file and "adds" in row and row["metric"] == "mrr"
        ]
        assert (added["adds"], added["to"]) == ("dialogue", "candidates")
        assert added["low"] > 0
        assert added["p_adjusted"] < 0.01


def test_the_same_seed_gives_the_same_document(tmp_path: Path) -> None:
    path = tmp_path / "hpd"
    path.mkdir()
    hpdsessions.write(path / "test.json", hpdsessions.sessions())
    once, again = (bench_hpd(path, ["fitted+repeats"], ["dialogue"], seed=4)["rows"] for _ in range(2))
    assert once == again


def test_rankers_are_fitted_on_another_file_where_one_is_named(tmp_path: Path) -> None:
    data = hpdsessions.folder(tmp_path / "hpd")
    (data / "zh_test_set.json").unlink()
    document = bench_hpd(data, ["fitted"], ["dialogue"], train=data / "en_train_set.json")
    assert value(document, agent="fitted", given="dialogue", metric="mrr") == 1.0
    row = next(row for row in document["rows"] if row["agent"] == "fitted")
    assert row["judged_by"] == "fitted on en_train_set.json"
    assert "en_train_set.json" in document["manifest"]["data"]


def test_nobody_is_judged_who_was_not_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def not_asked(*_: object) -> Any:
        raise AssertionError("nothing is to be fitted")

    monkeypatch.setattr(hpd_bench, "open_reranked", not_asked)
    monkeypatch.setattr(hpd_bench, "feature_groups", not_asked)
    path = tmp_path / "hpd"
    path.mkdir()
    hpdsessions.write(path / "test.json", hpdsessions.sessions())
    document = bench_hpd(path, ["judged:clock"], ["dialogue"])
    given = {(row["agent"], row["given"]) for row in document["rows"] if row.get("file") and "adds" not in row}
    assert given == {("judged:clock", "dialogue")}


def test_where_nobody_is_named_the_reranker_has_its_rows(tmp_path: Path) -> None:
    path = tmp_path / "hpd"
    path.mkdir()
    hpdsessions.write(path / "test.json", hpdsessions.sessions())
    document = bench_hpd(path, given=["dialogue"])
    given = {(row["agent"], row["given"]) for row in document["rows"] if row.get("file") and "adds" not in row}
    assert {("fitted", "candidates"), ("fitted+repeats", "candidates"), ("reranker", "dialogue")} <= given
    assert ("tfidf", "candidates") not in given


def test_an_agent_that_lacks_an_extra_has_rows_that_say_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "hpd"
    path.mkdir()
    hpdsessions.write(path / "test.json", hpdsessions.sessions())

    def missing() -> Any:
        raise MissingExtra("a transformer", "train")

    monkeypatch.setattr("judged.clock", missing)
    document = bench_hpd(path, ["judged:clock", "fitted"], ["dialogue"])
    rows = [row for row in document["rows"] if row["agent"] == "judged:clock"]
    assert len(rows) == len(METRICS)
    assert all(row["value"] is None and "train" in row["reason"] for row in rows)
    assert value(document, agent="fitted", given="dialogue", metric="mrr") == 1.0


def test_too_few_sessions_to_learn_from_are_a_reason_not_an_end(tmp_path: Path) -> None:
    path = tmp_path / "hpd"
    path.mkdir()
    hpdsessions.write(path / "test.json", hpdsessions.sessions(1))
    rows = bench_hpd(path, ["tfidf", "fitted"], ["dialogue"])["rows"]
    fitted = [row for row in rows if row["agent"] == "fitted"]
    assert fitted
    assert all(row["value"] is None and "--train" in row["reason"] for row in fitted)
    assert all(row["value"] is not None for row in rows if row["agent"] == "tfidf")


def test_items_can_be_compared(tmp_path: Path) -> None:
    path = tmp_path / "hpd"
    path.mkdir()
    hpdsessions.write(path / "test.json", hpdsessions.sessions())
    for name, agent in (("a.json", "tfidf"), ("b.json", "fitted")):
        bench_hpd(path, [agent], ["dialogue"], save_items=tmp_path / name)
    saved = json.loads((tmp_path / "b.json").read_text())
    assert {"file": "test.json", "agent": "fitted", "given": "dialogue"} in [one["judged"] for one in saved["items"]]
    rows = compare_runs(tmp_path / "a.json", tmp_path / "b.json", ("tfidf", "fitted"))["rows"]
    assert {row["metric"] for row in rows} == set(METRICS)


def test_the_worst_sessions_are_shown(tmp_path: Path) -> None:
    path = tmp_path / "hpd"
    path.mkdir()
    hpdsessions.write(path / "test.json", hpdsessions.sessions())
    mistakes = bench_hpd(path, ["judged:clock"], ["dialogue"])["mistakes"]
    clock = [row for row in mistakes if row["agent"] == "judged:clock"]
    scores = Clock().score(None, (), [clock[0]["gold"], clock[0]["chosen"]])  # type: ignore[arg-type]
    assert scores == [clock[0]["gold_score"], clock[0]["chosen_score"]]
    assert clock[0]["gold_rank"] == max(row["gold_rank"] for row in clock) > 1


def test_generation_is_judged_where_it_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "hpd"
    path.mkdir()
    hpdsessions.write(path / "test.json", hpdsessions.sessions())
    document = bench_hpd(path, ["judged:Chimes"], ["dialogue"], generation=True)
    assert value(document, agent="judged:Chimes", given="dialogue", metric="perplexity") > 1
    assert value(document, agent="judged:Chimes", given="dialogue", metric="mrr") is not None
    assert any(row["agent"] == "GPT-2" for row in document["rows"])
    (both,) = [item for item in document["items"] if item["judged"]["agent"] == "judged:Chimes"]
    assert {"mrr", "f1", "log_prob_per_word"} <= set(both["marks"]), "a run has one entry for `compare` to find"


def test_the_manifest_keeps_the_prompt_of_an_agent_that_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "hpd"
    path.mkdir()
    hpdsessions.write(path / "test.json", hpdsessions.sessions(3))
    writing = JudgedAgent("llm", llm_agent(backend=ScriptedBackend(["Over there, Moss."]), recall=Recall()), "llm")
    monkeypatch.setattr(hpd_bench, "judged_agent", lambda _spec: writing)
    document = bench_hpd(path, ["llm"], ["dialogue", "dialogue+scene"], generation=True)
    messages = document["manifest"]["agents"]["llm"]["prompt"]
    assert any("Have you seen my compass?" in message["content"] for message in messages)
    assert {row["reply"] for row in document["reply_samples"]} == {"Over there, Moss."}
    (likely,) = [
        row for row in document["rows"] if (row["agent"], row["given"], row["metric"]) == ("llm", "dialogue", "delta-p")
    ]
    assert likely["value"] is None and "log-probabilities" in likely["reason"]


def test_a_set_of_any_story_is_judged(tmp_path: Path) -> None:
    story = read("demo")
    lines = sampled(list(reply_lines(story, characters_asked(story), 2)), 6, 0)
    (tmp_path / "sets").mkdir()
    write_questions(story, lines, {"tfidf": agent_named("tfidf")}, tmp_path / "sets" / "demo.json")
    document = bench_hpd(tmp_path / "sets", ["judged:clock"], ["dialogue", "dialogue+scene+attributes+relations"])
    row = value(document, agent="judged:clock", given="dialogue", metric="mrr")
    assert 0 < row <= 1
    assert {row["file"] for row in document["rows"] if "file" in row} == {"demo.json"}


def test_nobody_to_judge_and_an_empty_folder_are_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="at least one agent"):
        bench_hpd(tmp_path, [])
    with pytest.raises(InputError, match="no test set"):
        bench_hpd(tmp_path, ["tfidf"])


def test_the_text_of_hpds_replies_alone_tells_much_of_which_is_right(monkeypatch: pytest.MonkeyPatch) -> None:
    data = real_data("hpd")
    blank = TextFeatures([Feature("nothing")], lambda _example: lambda _text: [0.0])
    monkeypatch.setattr(hpd_bench, "feature_groups", lambda: [OWN_TEXT, SHARED_WORDS, blank])
    document = bench_hpd(data, ["fitted"], ["dialogue+scene"])
    candidates = value(document, agent="fitted", given="candidates", metric="mrr")
    assert 0.55 < candidates < 0.75  # more than the paper's .468
    assert value(document, agent="fitted", given="dialogue+scene", metric="mrr") > candidates
