from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from chats import TRADES, chat, profile, volunteers
from understudy.errors import InputError
from understudy.formats.chat_records import ChatLine, ChatRecord
from understudy.papers.personachat.chat_prediction import chairs_in, direction_of
from understudy.papers.personachat.profiles import bench_profiles


def told(own: str, other: str, name: str, speakers: tuple[str, str], **options: Any) -> ChatRecord:
    """Side 0 talks of what side 1 makes, side 1 of what it makes itself."""
    turns = [
        (0, "hello"),
        (1, f"i make {own} all day"),
        (0, f"where do you sell {own} ?"),
        (1, f"{own} are all i sell"),
    ]
    return ChatRecord(
        name,
        speakers,
        (tuple(profile(other)), tuple(profile(own))),
        tuple(ChatLine(*turn) for turn in turns),
        **options,
    )


def written(path: Path, speakers: tuple[str, str], **options: Any) -> Path:
    records = [
        told(trade, TRADES[(number + 1) % 8], str(number), speakers, **options)
        for number, trade in enumerate(TRADES[:8])
    ]
    path.write_text("".join(json.dumps(record.document()) + "\n" for record in records), encoding="utf-8")
    return path


@pytest.fixture
def data(tmp_path: Path) -> Path:
    lines = []
    for trade, another in zip(TRADES, (*TRADES[1:], TRADES[0])):
        content = [f"your persona: {text}" for text in profile(trade)]
        content += [f"partner's persona: {text}" for text in profile(another)]
        content += [f"hello , do you like {another} ?\ti make {trade} , you know ."]
        lines += [f"{number} {text}" for number, text in enumerate(content, 1)]
    (tmp_path / "valid_both_original.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path


def rows_of(data: Path, *chats: Path) -> dict[tuple[str, str, str], dict[str, Any]]:
    document = bench_profiles(data, scorers=["tfidf"], chats=chats)
    assert json.loads(json.dumps(document)) == document
    return {
        (row["chats"], row["told"], row["metric"]): row
        for row in document["rows"]
        if "chats" in row and (row["unit"], row["length"]) == ("profile", "whole")
    }


def test_directions_of_the_papers_table(tmp_path: Path) -> None:
    human, model = chairs_in(written(tmp_path / "a.jsonl", ("human", "kv")))[:2]
    assert (direction_of(human, "own"), direction_of(human, "partner")) == ("human -> human", "human -> model")
    assert (direction_of(model, "own"), direction_of(model, "partner")) == ("model -> model", "model -> human")
    one, _ = chairs_in(written(tmp_path / "b.jsonl", ("kv", "kv")))[:2]
    assert direction_of(one, "partner") == "model -> other model"


def test_words_tell_of_whom_they_are_about(data: Path, tmp_path: Path) -> None:
    rows = rows_of(data, written(tmp_path / "real.jsonl", ("human", "kv")))
    assert rows["real", "model -> model", "pairwise_error"]["value"] == 0
    assert rows["real", "human -> model", "error_rate"]["value"] == 0
    assert rows["real", "human -> human", "pairwise_error"]["value"] > 0.3
    assert rows["real", "model -> model", "pairwise_error"]["paper"] == 0.011
    assert rows["real", "human -> model", "pairwise_error"]["paper"] == 0.234
    assert rows["real", "model -> human", "error_rate"]["n"] == 8


def test_a_replay_tells_nothing_of_the_model_from_the_person(data: Path, tmp_path: Path) -> None:
    replayed = written(tmp_path / "replay.jsonl", ("human", "kv"), replayed=True, given="none")
    rows = rows_of(data, replayed)
    row = rows["replay", "human -> model", "error_rate"]
    assert (row["value"], row["paper"]) == (None, 0.491) and "somebody else" in row["reason"]
    assert rows["replay", "model -> model", "pairwise_error"]["paper"] == 0.512


def test_chats_of_volunteers_and_of_agents_beside_each_other(data: Path, tmp_path: Path) -> None:
    both = written(tmp_path / "both.jsonl", ("kv", "kv"))
    people = volunteers(tmp_path / "people", [chat(number, turns=4 if number else 1) for number in range(6)])
    rows = rows_of(data, both, people)
    assert rows["both", "model -> other model", "error_rate"]["paper"] is None
    assert rows["convai2_volunteers", "model -> model", "error_rate"]["n"] == 5, "who left at once is left out"
    assert rows["convai2_volunteers", "model -> model", "error_rate"]["value"] == 0


def test_a_file_without_chats_is_refused(tmp_path: Path) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.write_text("\n")
    with pytest.raises(InputError, match="holds no chat"):
        chairs_in(empty)
