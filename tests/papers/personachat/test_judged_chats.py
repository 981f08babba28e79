from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from measured import chat, volunteers
from models import tiny_language_model, tiny_model
from realdata import folder
from understudy.bench.run import compare_runs
from understudy.errors import AgentError, InputError
from understudy.formats.chat_records import ChatLine, ChatRecord
from understudy.papers.personachat.chat_measures import chat_measures
from understudy.papers.personachat.judged_chats import bench_judged_chats, open_language_model
from understudy.story.dialogue import Situation, Turn
from understudy.story.persona import Other, Persona


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """People like the chats the more, the longer they were; one person had two chats."""
    chats = [
        chat(n, score=1 + n % 5, match=n % 2, turns=1 + n % 5, person="User X" if n < 2 else None) for n in range(40)
    ]
    volunteers(tmp_path, [*chats, chat(40, score=None, match="")])
    return tmp_path


def test_a_measure_that_people_go_by_agrees_with_them(data: Path, tmp_path: Path) -> None:
    document = bench_judged_chats(data, ["words"], save_items=tmp_path / "items.json")
    rows = {(row["measure"], row["of"], row["chats"]): row for row in document["rows"] if "measure" in row}
    turns = rows["turns", "bot", "all"]
    assert turns["value"] == pytest.approx(1) and turns["n"] == 40
    assert turns["p"] <= turns["p_adjusted"] < 0.001
    assert rows["turns", "bot", "both talk"]["n"] == 16
    assert rows["combination", "both", "all"]["value"] > 0.9
    assert rows["greeting", "human", "all"]["value"] is None
    assert rows["greeting", "human", "all"]["reason"] == "all items have the same value"
    assert {row["scorer"] for row in document["rows"] if "scorer" in row} == {"people", "words"}
    assert document["manifest"]["settings"]["rated"] == 40
    assert json.loads(json.dumps(document)) == document
    paired = compare_runs(tmp_path / "items.json", tmp_path / "items.json")
    assert all(row["value"] == 0 for row in paired["rows"])


def test_p_values_are_adjusted_within_the_same_chats(data: Path) -> None:
    rows = bench_judged_chats(data, ["words"])["rows"]
    for which in ("all", "both talk"):
        tested = [row for row in rows if row.get("chats") == which and "p" in row]
        smallest = min(tested, key=lambda row: row["p"])
        assert smallest["p_adjusted"] == pytest.approx(min(1, smallest["p"] * len(tested)))


def test_a_sample_and_nothing_to_judge(data: Path) -> None:
    assert max(row["n"] for row in bench_judged_chats(data, ["words"], limit=12)["rows"]) == 12
    volunteers(data, [chat(0, score=None, match="")])
    with pytest.raises(InputError, match="no chat that somebody scored"):
        bench_judged_chats(data)


def test_perplexity_by_a_generative_agent_or_by_a_model_alone(tmp_path: Path) -> None:
    pytest.importorskip("transformers", reason="language models need the extra 'train'")
    record = ChatRecord(
        "1", ("human", "bot"), (("i sail.",), ("i knit.",)), (ChatLine(0, "the key"), ChatLine(1, "my boat"))
    )
    alone = open_language_model(str(tiny_language_model(tmp_path / "bert", "masked", ["the", "key", "my", "boat"])))
    agent = open_language_model(str(tiny_model("seq2seq", tmp_path / "lstm")))
    for model in (alone, agent):
        measures = chat_measures([record], model=model)
        assert measures["perplexity", "bot"][0] > 1 and measures["perplexity", "human"][0] > 1
    faced = Other("the person")
    situation = Situation(Persona("the bot", profile=("i knit.",)), faced=faced, present=(faced,))
    said = agent.log_probs(situation, [Turn("the person", "the key")], "my boat")
    value = chat_measures([record], model=agent)["perplexity", "bot"][0]
    assert value == pytest.approx(np.exp(-np.mean(said)), rel=1e-3)
    with pytest.raises(AgentError, match="no log-probabilities"):
        open_language_model(str(tiny_model("starspace", tmp_path / "ranker")))


def test_the_published_chats_keep_what_was_reached() -> None:
    rows = bench_judged_chats(folder("personachat"), ["words"], limit=30)["rows"]
    length = next(row for row in rows if (row.get("measure"), row.get("of"), row["chats"]) == ("words", "bot", "all"))
    assert length["value"] > 0
    told = next(row for row in rows if (row.get("scorer"), row.get("told_from")) == ("words", "bot"))
    assert told["low"] > 0.5
