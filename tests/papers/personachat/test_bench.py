from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

import judged
from realdata import folder
from understudy.agents.recall import Recall
from understudy.agents.writer import WriterAgent
from understudy.bench.answers import BY_REPLY, JudgedAgent, judged_agent, scores_of
from understudy.bench.run import load_items
from understudy.errors import AgentError, BackendError, InputError
from understudy.language.backends import ScriptedBackend
from understudy.papers.personachat.bench import bench_personachat, files_of, questions_in
from understudy.papers.personachat.published import CONDITIONS, personachat_figure
from understudy.story.dialogue import Reply, Situation, Turn


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return judged.personachat(tmp_path / "data")


def figures(document: dict[str, Any], agent: str, condition: str = "self_original") -> dict[str, Any]:
    return {row["metric"]: row for row in document["rows"] if (row["agent"], row["condition"]) == (agent, condition)}


def test_figures_by_hand(data: Path) -> None:
    """The clockmaker finds its own trade, and is led astray by clocks twice."""
    document = bench_personachat(data, agents=["judged:clock"])
    results = figures(document, "judged:clock")
    # Places of the right reply: 1; 3 (the longest); 3; 3 (the longest).
    assert results["hits@1"]["value"] == pytest.approx(1 / 4)
    assert results["hits@5"]["value"] == 1.0
    assert results["mrr"]["value"] == pytest.approx((1 + 1 / 3 + 1 / 3 + 1 / 3) / 4)
    for metric in ("hits@1", "hits@5", "mrr"):
        row = results[metric]
        assert row["low"] <= row["value"] <= row["high"]
        assert (row["n"], row["split"], row["paper"], row["trained_on"]) == (4, "valid", None, None)
    assert {row["condition"] for row in document["rows"]} == {"none", "self_original"}
    assert json.loads(json.dumps(document)) == document


def test_the_manifest_says_what_was_read(data: Path) -> None:
    manifest = bench_personachat(data, agents=["tfidf"], limit=3, seed=5)["manifest"]
    assert (manifest["seed"], manifest["limit"]) == (5, 3)
    assert set(manifest["data"]) == {path.name for path in data.iterdir()}
    assert manifest["settings"]["split"] == "valid"
    assert "test split" in manifest["settings"]["paper"]
    assert manifest["settings"]["conditions"]["none"]["candidates"] == [3]


def test_the_papers_figures_stand_where_it_has_them(data: Path) -> None:
    document = bench_personachat(data, agents=["tfidf"])
    assert figures(document, "tfidf")["hits@1"]["paper"] == 0.410
    assert figures(document, "tfidf", "none")["hits@1"]["paper"] == 0.214
    assert figures(document, "tfidf")["mrr"]["paper"] is None
    assert personachat_figure("profile-memory", "revised", "self_revised", "hits@1") == 0.354
    assert personachat_figure("profile-memory", "revised", "self_revised", "f1") is None
    assert personachat_figure("kv-memory", "original", "none", "hits@1") is None
    assert personachat_figure("encoder", None, "none", "hits@1") is None
    assert personachat_figure("seq2seq", "original", "other_revised", "perplexity") == 41.95
    assert personachat_figure("generative-memory", "revised", "self_original", "hits@1") == 0.125
    assert personachat_figure("generative-memory", None, "both_original", "f1") == 0.171


def test_agents_are_compared_two_by_two(data: Path) -> None:
    document = bench_personachat(data, agents=["judged:clock", "judged:many_clocks", "judged:blind"])
    rows = [row for row in document["comparisons"] if row["metric"] == "mrr" and row["condition"] == "self_original"]
    assert [row["agents"] for row in rows] == [
        ["judged:clock", "judged:many_clocks"],
        ["judged:clock", "judged:blind"],
        ["judged:many_clocks", "judged:blind"],
    ]
    assert (rows[0]["difference"], rows[0]["p_value"], rows[0]["p_adjusted"]) == (0.0, 1.0, 1.0)
    assert rows[1]["difference"] == pytest.approx((1 - 1 / 3) / 4)
    assert rows[1]["low"] <= rows[1]["difference"] <= rows[1]["high"]


def test_scoring_everything_alike_never_finds_the_right_reply(data: Path) -> None:
    results = figures(bench_personachat(data, agents=["judged:blind"]), "judged:blind")
    assert (results["hits@1"]["value"], results["mrr"]["value"]) == (0.0, pytest.approx(1 / 3))


def test_an_agent_that_only_replies_is_judged_by_its_reply(data: Path) -> None:
    document = bench_personachat(data, agents=["judged:baker"])
    results = figures(document, "judged:baker")
    assert results["hits@1"]["judged_by"] == BY_REPLY
    # Only of being up at four the right reply says most; 'i bake bread .' and 'i sail at dawn .' have more of it twice.
    assert results["hits@1"]["value"] == pytest.approx(1 / 4)


def test_a_language_model_ranks_by_likelihood_and_has_perplexity_and_f1(data: Path) -> None:
    document = bench_personachat(data, agents=["judged:many_chimes"], conditions=["self_original"])
    results = figures(document, "judged:many_chimes")
    # in bits: right replies 14, 16, 25, 19 for 6, 6, 9, 7 words and ends; a shorter reply is always more probable
    assert results["perplexity"]["value"] == pytest.approx(2 ** (74 / 28))
    assert results["hits@1"]["value"] == 0
    assert results["mrr"]["value"] == pytest.approx((1 / 3 + 1 / 3 + 1 / 3 + 1 / 3) / 4)
    assert results["hits@1_per_token"]["value"] == 0.25
    assert "judged_by" not in results["hits@1"]
    # 'i mend clocks , 1 of them .' and 'i mend old clocks .': 3 of 6 and of 4 words shared
    f1 = [2 * 3 / 10, 0, 2 * 1 / 13, 0]
    assert results["f1"]["value"] == pytest.approx(sum(f1) / 4)
    assert document["items"][0]["marks"]["f1"] == pytest.approx(f1)
    assert results["mauve"]["value"] is None
    sample = document["reply_samples"][0]
    assert (sample["item"], sample["gold"], sample["reply"]) == (
        "1.1",
        "i mend old clocks .",
        "i mend clocks , 1 of them .",
    )
    assert json.loads(json.dumps(document)) == document


def test_the_papers_figures_of_generative_models(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judged.Chimes, "card", {"agent": "generative-memory", "trained_on": "original"}, raising=False)
    results = figures(bench_personachat(data, agents=["judged:chimes"]), "judged:chimes")
    papers = {metric: row["paper"] for metric, row in results.items() if row["paper"] is not None}
    assert papers == {"perplexity": 34.54, "hits@1": 0.125, "f1": 0.172}


def test_what_a_ranker_cannot_have_is_missing_with_the_reason(data: Path) -> None:
    results = figures(bench_personachat(data, agents=["judged:clock"]), "judged:clock")
    assert (results["perplexity"]["value"], results["perplexity"]["n"]) == (None, 0)
    assert "no log-probabilities" in results["perplexity"]["reason"]
    assert "--replies" in results["f1"]["reason"]
    results = figures(bench_personachat(data, agents=["judged:clock"], replies=2), "judged:clock")
    assert "only ranks" in results["f1"]["reason"]


def test_how_many_replies_are_asked_for(data: Path) -> None:
    agents = ["judged:chimes", "judged:baker", "tfidf"]
    document = bench_personachat(data, agents=agents, conditions=["self_original"], replies=2)
    for agent in agents:
        assert figures(document, agent)["f1"]["n"] == 2
    assert figures(document, "judged:chimes")["hits@1"]["n"] == 4
    assert figures(document, "judged:baker")["hits@1"]["n"] == 2  # it is judged by its replies
    compared = {tuple(row["agents"]): row["n"] for row in document["comparisons"] if row["metric"] == "f1"}
    assert compared == dict.fromkeys(combinations(agents, 2), 2)
    with pytest.raises(InputError, match="judged by its replies"):
        bench_personachat(data, agents=["judged:baker"], replies=0)


def test_generative_agents_are_compared_by_f1_and_log_probability(data: Path) -> None:
    agents = ["judged:chimes", "judged:many_chimes", "judged:clock"]
    rows = bench_personachat(data, agents=agents, conditions=["none"])["comparisons"]
    for metric in ("f1", "log_prob_per_word"):
        (row,) = [row for row in rows if row["metric"] == metric]
        assert row["agents"] == agents[:2]
        assert (row["difference"], row["p_value"], row["n"]) == (0, 1, 4)


def test_failures_are_in_no_figure_but_their_own(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reply = judged.Baker.reply

    def moody(self: judged.Baker, situation: Situation, history: Sequence[Turn]) -> Reply:
        if len(history) == 3:
            raise BackendError("no answer")
        return reply(self, situation, history)

    monkeypatch.setattr(judged.Baker, "reply", moody)
    document = bench_personachat(data, agents=["judged:baker"], conditions=["self_original"])
    results = figures(document, "judged:baker")
    assert (results["errors"]["value"], results["errors"]["n"], results["errors"]["reason"]) == (0.5, 4, "no answer")
    assert results["hits@1"]["n"] == results["f1"]["n"] == 2
    assert document["items"][0]["names"] == ["1.1", "2.1"]
    assert [(row["item"], row["reason"]) for row in document["failures"]] == [
        ("1.2", "no answer"),
        ("2.2", "no answer"),
    ]


def test_the_manifest_keeps_the_prompt_of_an_agent_that_writes(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    agents = {"llm": WriterAgent(ScriptedBackend(["I mend clocks."]), Recall())}
    monkeypatch.setattr("understudy.bench.answers.agent_named", agents.__getitem__)
    document = bench_personachat(data, agents=["llm"], conditions=["self_original"])
    messages = document["manifest"]["agents"]["llm"]["prompt"]
    assert [message["role"] for message in messages] == ["system", "user"]
    assert "mend clocks" in messages[0]["content"]
    assert figures(document, "llm")["f1"]["n"] == 4
    assert figures(document, "llm")["hits@1"]["judged_by"] == BY_REPLY


def test_many_at_once_gives_the_same_scores(data: Path) -> None:
    questions = questions_in(files_of(data, "valid")["none"], "none").examples
    many = judged.ManyClocks()
    assert scores_of(JudgedAgent("many", many, "many"), questions) == scores_of(
        JudgedAgent("one", judged.Clock(), "one"), questions
    )
    assert many.batches == [4]


def test_the_worst_mistakes_tell_the_whole_question(data: Path) -> None:
    mistakes = bench_personachat(data, agents=["judged:clock"])["mistakes"]
    assert {item["item"] for item in mistakes} == {"1.2", "2.1", "2.2"}
    worst = mistakes[0]
    assert worst["gold_rank"] == 3
    assert worst["chosen_score"] >= worst["gold_score"]
    content = next(item for item in mistakes if item["item"] == "2.1")
    assert (content["condition"], content["persona"]) == ("self_original", ["i bake bread."])
    assert (content["gold"], content["chosen"]) == ("i am up at four to bake .", "i mend clocks .")
    assert content["history"] == [["Person 2A", "do you sleep well ?"]]


def test_drawn_replies_are_told_in_the_manifest(tmp_path: Path) -> None:
    lines = [f"1 hello {dialogue}\treply {dialogue}" for dialogue in range(3)]
    (tmp_path / "test_none_original_no_cands.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    document = bench_personachat(tmp_path, "test", agents=["judged:blind"])
    assert document["rows"][0]["split"] == "test"
    assert document["manifest"]["settings"]["conditions"]["none"]["drawn"] is True


def test_items_are_saved_for_comparison(data: Path, tmp_path: Path) -> None:
    path = tmp_path / "items.json"
    document = bench_personachat(data, agents=["judged:clock"], conditions=["self_original"], save_items=path)
    (items,) = load_items(path)
    assert (items.names, items.ranks) == (["1.1", "1.2", "2.1", "2.2"], [1, 3, 3, 3])
    assert document["items"] == [items.document()]


def test_scores_are_kept_and_not_asked_for_again(data: Path, tmp_path: Path) -> None:
    questions = questions_in(files_of(data, "valid")["none"], "none").examples
    agent = judged.ManyClocks()
    first = scores_of(JudgedAgent("many", agent, "many"), questions, cache=tmp_path / "kept")
    second = scores_of(JudgedAgent("many", agent, "many"), questions, cache=tmp_path / "kept")
    assert first == second
    assert agent.batches == [4]
    scores_of(JudgedAgent("many", agent, "many"), questions[:2], cache=tmp_path / "kept")
    assert agent.batches == [4, 2]


def test_what_cannot_be_judged_is_said(data: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="choose from none"):
        bench_personachat(data, conditions=["mine"])
    with pytest.raises(InputError, match="other_revised"):
        bench_personachat(data, conditions=["other_revised"])
    with pytest.raises(InputError, match="valid_none_original"):
        bench_personachat(tmp_path)
    with pytest.raises(InputError, match="at least one agent"):
        bench_personachat(data, agents=[])
    with pytest.raises(AgentError, match="none of reply, score and log_probs"):
        judged_agent("judged:nameless")
    questions = questions_in(files_of(data, "valid")["none"], "none").examples

    class Short(judged.Clock):
        def score(self, *_: object) -> list[float]:
            return [1.0]

    class NotANumber(judged.Clock):
        def score(self, *_: object) -> list[float]:
            return [1.0, float("nan"), 0.0]

    for agent, message in ((Short(), "1 scores for 3"), (NotANumber(), "not a number")):
        with pytest.raises(AgentError, match=message):
            scores_of(JudgedAgent("wrong", agent, "wrong"), questions)


def test_every_condition_of_the_real_data() -> None:
    document = bench_personachat(folder("personachat"), agents=["tfidf"], limit=100)
    results = {row["condition"]: row for row in document["rows"] if row["metric"] == "hits@1"}
    assert list(results) == list(CONDITIONS)
    assert all(row["n"] == 100 and row["paper"] is not None for row in results.values())
    assert results["self_original"]["value"] > results["none"]["value"] > 1 / 20
    assert len(document["mistakes"]) == 10
