from __future__ import annotations

import json
from pathlib import Path

import pytest

from measured import TRADES, chat, profile, volunteers
from understudy.errors import InputError
from understudy.papers.utterance_metrics.overlap import bench_overlap


def dialogues(told: dict[str, list[str]]) -> str:
    """Each says what they make, in the words of the original profile, whatever profile is shown."""
    lines = []
    for trade, another in zip(TRADES, (*TRADES[1:], TRADES[0])):
        content = [f"your persona: {text}" for text in told[trade]]
        content += [f"partner's persona: {text}" for text in told[another]]
        content += [f"hello to you\tso many {trade} here", f"and {another} everywhere\tnice weather today"]
        lines += [f"{number} {text}" for number, text in enumerate(content, 1)]
    return "\n".join(lines) + "\n"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    original = {trade: profile(trade) for trade in TRADES}
    revised = {
        trade: [f"my hands know craft {number}.", f"business {number} is mine."] for number, trade in enumerate(TRADES)
    }
    (tmp_path / "valid_both_original.txt").write_text(dialogues(original), encoding="utf-8")
    (tmp_path / "valid_both_revised.txt").write_text(dialogues(revised), encoding="utf-8")
    return tmp_path


def test_words_tell_whose_they_are_until_the_profile_is_reworded(data: Path) -> None:
    document = bench_overlap(data)
    rows = {(row["scorer"], row["wording"], row["reference"], row["metric"]): row for row in document["rows"]}
    own = rows["p_f1", "original", "own profile", "auc"]
    assert own["value"] == pytest.approx(0.75), "half of what is said is of the trade, and then it is told for sure"
    assert own["n"] == 2 * 4 * len(TRADES) and own["chance"] == 0.5
    agreement = rows["p_f1", "original", "own profile", "spearman"]
    assert agreement["value"] > 0.5 and agreement["paper"] == pytest.approx(0.002) and agreement["p_adjusted"] < 0.05
    assert rows["p_cover", "revised", "own profile", "spearman"]["value"] is None
    assert rows["p_cover", "revised", "own profile", "spearman"]["reason"] == "all items have the same value"
    assert rows["p_f1", "original", "p_cover", "spearman"]["value"] > 0.9
    assert json.loads(json.dumps(document)) == document


def test_messages_that_people_liked(data: Path) -> None:
    chats = [chat(number, talks=number % 2 == 0) for number in range(12)]
    for number, one in enumerate(chats):
        for message in one["dialog"]:
            if message["sender_class"] == "Bot":
                message["evaluation_score"] = int(number % 2 == 1)
    volunteers(data, chats)
    rows = {(row["scorer"], row["metric"]): row for row in bench_overlap(data)["rows"] if row["reference"] == "liked"}
    assert rows["p_f1", "spearman"]["value"] == pytest.approx(-1), "people liked what said nothing of the bot"
    assert rows["p_f1", "auc"]["value"] == 0 and rows["p_f1", "auc"]["n"] == 60


def test_a_sample_and_what_is_missing(data: Path, tmp_path: Path) -> None:
    rows = bench_overlap(data, limit=5)["rows"]
    assert {row["n"] for row in rows if row["reference"] == "own profile"} == {40}
    with pytest.raises(InputError, match="test_both_original"):
        bench_overlap(data, "test")
