from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from measured import chat, volunteers
from understudy.formats.chat_records import JudgedChat, read_judged_chats
from understudy.papers.personachat.judged_chats import COMBINED, match_rows, profile_wins
from understudy.papers.personachat.scorers import Training

TRAINING = Training(["i make things", "hello there", "what do you do ?"], ["i make things."])


@pytest.fixture
def chats(tmp_path: Path) -> list[JudgedChat]:
    """People choose the true profile where the bot talks of its trade, and the other one where it does not."""
    some = [chat(number, talks=number % 3 != 0, match=int(number % 3 != 0)) for number in range(24)]
    return read_judged_chats(volunteers(tmp_path, some))


def test_a_bot_that_says_what_it_is_is_told(chats: list[JudgedChat]) -> None:
    wins = profile_wins(chats, ["tfidf", "words"], TRAINING)
    assert {scorer for scorer, _ in wins} == {"tfidf", "words", COMBINED}
    for scorer in ("tfidf", "words"):
        shares = wins[scorer, "bot"]
        assert np.all(shares[[index for index in range(24) if index % 3]] == 1)
        assert np.all(shares[::3] == 0.5), "of 'ok' nothing follows"
        assert np.abs(wins[scorer, "human"] - 0.5).max() < 0.5


def test_rows_say_what_is_right_and_what_people_chose(chats: list[JudgedChat]) -> None:
    wins = profile_wins(chats, ["words"], TRAINING)
    assert (COMBINED, "bot") not in wins, "of one scorer there is no combination"
    rows = match_rows(chats, wins, "all", range(24))
    by_key = {(row["scorer"], row["told_from"], row["target"], row["metric"]): row for row in rows}
    people = by_key["people", "both", "true profile", "accuracy"]
    assert (people["value"], people["n"], people["paper"]) == (pytest.approx(16 / 24), 24, 0.81)
    right = by_key["words", "bot", "true profile", "accuracy"]
    alike = by_key["words", "bot", "person's choice", "accuracy"]
    assert right["value"] == pytest.approx((16 + 8 * 0.5) / 24) == alike["value"]
    assert right["low"] <= right["value"] <= right["high"] and right["chance"] == 0.5
    assert by_key["words", "bot", "person's choice", "auc"]["value"] == 1


def test_where_everybody_chose_alike_there_is_no_auc(chats: list[JudgedChat]) -> None:
    wins = profile_wins(chats, ["words"], TRAINING)
    kept = [index for index in range(24) if index % 3]
    row = next(row for row in match_rows(chats, wins, "all", kept) if row["metric"] == "auc")
    assert row["value"] is None and row["reason"] == "everybody chose alike"
