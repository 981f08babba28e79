from __future__ import annotations

import json
from pathlib import Path

import pytest

import realdata
from models import tiny_data
from understudy.errors import InputError
from understudy.training.bob_examples import read_nli, read_replies

SESSION = {
    "position": "Book1-chapter2",
    "speakers": ["Ines", "Tomas"],
    "scene": "On the quay.",
    "dialogue": ["Ines: Where is the key?", "Tomas: In my pocket.", "Ines: Give it to me.", "Tomas: No."],
    "attributes": {"Tomas": {"name": "Tomas", "age": "40"}},
    "relations with Tomas": {"Ines": {"name": "Ines", "Tomas's affection to him": -4.0, "friend": 0.0}},
}


def sessions(folder: Path, count: int) -> Path:
    (folder / "train.json").write_text(
        json.dumps({f"Session-{number}": SESSION for number in range(count)}), encoding="utf-8"
    )
    return folder


def test_personachat_is_read_from_both_chairs(tmp_path: Path) -> None:
    split = read_replies(tiny_data(tmp_path, dialogues=12), "original", "self", 0.2, 0)
    assert split.dialogues < 12 and split.held_out
    assert len(split.training) == 4 * split.dialogues
    assert all(len(reply.context.own) == 2 and not reply.context.theirs for reply in split.training)
    assert {len(reply.context.turns) for reply in split.training} == {0, 1, 2, 3}
    both = read_replies(tmp_path, "original", "both", 0.2, 0)
    assert all(reply.context.theirs for reply in both.training)


def test_sessions_of_hpd_are_read_as_their_owner_answers(tmp_path: Path) -> None:
    split = read_replies(sessions(tmp_path, 5), "original", "self", 0.2, 0)
    assert (split.dialogues, len(split.training), len(split.held_out)) == (4, 8, 2)
    first, second = split.training[:2]
    assert (first.text, second.text) == ("In my pocket.", "No.")
    assert second.context.turns == (
        (False, "Where is the key?"),
        (True, "In my pocket."),
        (False, "Give it to me."),
    )
    assert any("Ines" in sentence for sentence in first.context.own[:1])
    assert any("40" in sentence for sentence in first.context.own)


def test_pairs_are_read_in_both_orders_and_tables_in_one(tmp_path: Path) -> None:
    (tmp_path / "nli-train.txt").write_text("a</s>b</s>positive\nc</s>d</s>neutral\ne</s>f</s>negative\n")
    (tmp_path / "some_negative.tsv").write_text("g\th\n")
    pairs = read_nli(tmp_path)
    assert pairs.entailed == [("a", "b"), ("b", "a")]
    assert pairs.contradicted == [("e", "f"), ("f", "e"), ("g", "h")]
    assert set(pairs.files) == {"nli-train.txt", "some_negative.tsv"}
    assert not read_nli(None).entailed


def test_what_cannot_be_learnt_from_says_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has neither nli-train.txt"):
        read_nli(tmp_path)
    with pytest.raises(InputError, match="it needs one of train_both_original"):
        read_replies(tmp_path, "original", "self", 0.0, 0)
    (tmp_path / "some_positive.tsv").write_text("g\th\nnothing else\n")
    with pytest.raises(InputError, match=r"some_positive\.tsv:2.*premise"):
        read_nli(tmp_path)


def test_the_public_data_are_read() -> None:
    split = read_replies(realdata.folder("personachat"), "original", "self", 0.05, 0)
    assert len(split.training) > 15_000 and len(split.held_out) > 300
    pairs = read_nli(realdata.folder("dnli"))
    assert (len(pairs.entailed), len(pairs.contradicted)) == (2 * 2718 + 100, 2 * 2924 + 100)
