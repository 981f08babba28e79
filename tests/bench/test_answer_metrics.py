from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import judged
from understudy.bench.answer_metrics import NO_PROFILE, NO_REPLIES, REPLY_METRICS, reply_items, reply_rows
from understudy.bench.answers import GeneratedReply
from understudy.metrics.contradiction import contradiction
from understudy.metrics.line_metric import Samples
from understudy.papers.personachat.bench import files_of, questions_in
from understudy.story.dialogue import Example
from understudy.story.persona import Persona

SAID = ("I mend clocks!", "i mend old clocks .", "i bake , i bake , i bake , i bake .", None)


@pytest.fixture
def questions(tmp_path: Path) -> tuple[Example, ...]:
    data = judged.personachat(tmp_path / "data")
    return questions_in(files_of(data, "valid")["self_original"], "self_original").examples


def replies(questions: tuple[Example, ...]) -> list[GeneratedReply]:
    return [GeneratedReply(example.name, text, "" if text else "no answer") for example, text in zip(questions, SAID)]


def test_marks_by_hand(questions: tuple[Example, ...]) -> None:
    marks = reply_items(questions, replies(questions))
    # 'i mend old clocks', 'just off square', 'i am up at four to bake'
    assert marks["f1"] == [pytest.approx(2 * 3 / 7), 0.0, pytest.approx(2 * 2 / (8 + 7)), None]
    # 'i bake ,' over and over: 12 words, 9 4-grams, of them 'i bake , i', 'bake , i bake', ', i bake ,', 'bake .'
    assert marks["rep"] == [0.0, 0.0, pytest.approx(1 - 4 / 9), None]
    assert marks["rep_turn"] == [0.0, 1.0, 0.0, None]  # it has just said that
    assert marks["p_f1"][0] == 1.0
    assert marks["p_f1"][3] is None
    persona = questions[0].situation.persona
    against = contradiction(Samples({}), persona)([text for text in SAID[:2] if text])
    assert marks["contradicts"][:2] == [float((score.value or 0) >= 0.9) for score in against]


def test_a_reply_that_contradicts_the_profile(questions: tuple[Example, ...]) -> None:
    persona = Persona("B", profile=("i work as a nurse .",))
    example = replace(questions[0], situation=replace(questions[0].situation, persona=persona))
    said = ["i am a lawyer .", "i have one cat .", "..."]
    marks = reply_items([example] * 3, [GeneratedReply(example.name, text) for text in said])
    assert marks["contradicts"] == [1.0, 0.0, None]


def test_rows_of_all_replies_together(questions: tuple[Example, ...]) -> None:
    rows = {row["metric"]: row for row in reply_rows({"agent": "x"}, questions, replies(questions))}
    assert list(rows) == [*REPLY_METRICS, "errors"]
    assert rows["f1"]["value"] == pytest.approx((6 / 7 + 0 + 4 / 15) / 3)
    assert rows["f1"]["n"] == 3
    # i mend clocks ! old . bake , of 4 + 5 + 12 words and marks
    assert rows["dist-1"]["value"] == pytest.approx(8 / 21)
    assert rows["dist-2"]["value"] == pytest.approx(10 / 18)
    assert rows["bleu"]["value"] == 0.0
    assert (rows["mauve"]["value"], rows["mauve"]["reason"]) == (
        None,
        "fewer than 20 replies: too few for a distribution",
    )
    assert (rows["errors"]["value"], rows["errors"]["reason"], rows["errors"]["n"]) == (0.25, "no answer", 4)
    for row in rows.values():
        assert row["value"] is None or row["low"] <= row["value"] <= row["high"]


def test_without_replies_or_a_profile_there_is_a_reason(questions: tuple[Example, ...]) -> None:
    assert {row["reason"] for row in reply_rows({}, questions, None)} == {NO_REPLIES}
    assert {row["reason"] for row in reply_rows({}, questions, None, reason="none asked")} == {"none asked"}
    bare = tuple(
        replace(each, situation=replace(each.situation, persona=replace(each.situation.persona, profile=())))
        for each in questions
    )
    rows = {row["metric"]: row for row in reply_rows({}, bare, replies(bare))}
    for metric in ("p_f1", "p_cover", "contradicts"):
        assert (rows[metric]["value"], rows[metric]["reason"]) == (None, NO_PROFILE)
    assert rows["f1"]["value"] is not None


def test_saying_just_what_was_right(questions: tuple[Example, ...]) -> None:
    many = [replace(example, name=f"{turn}.{example.name}") for turn in range(6) for example in questions]
    right = [GeneratedReply(example.name, example.candidates[2]) for example in many]

    def letters(texts: object) -> np.ndarray:
        return np.array([[text.count(letter) for letter in "aeiouclk"] for text in texts], dtype=float)  # type: ignore[attr-defined]

    rows = {row["metric"]: row for row in reply_rows({}, many, right, encode=letters)}
    assert rows["f1"]["value"] == rows["bleu"]["value"] == 1.0
    assert rows["mauve"]["value"] == pytest.approx(1)
    assert "errors" not in rows
