"""Numbers of a card are believed within bounds only, before anything is made by them."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.encoding import SentenceEncoder, shipped_model
from understudy.encoding.card import CARD, TOKENIZER, WEIGHTS, form_of, read_card
from understudy.errors import InputError

ABSURD: list[Any] = [
    -1, 10**9, 10**18, 10**400, -(10**18), 1e300, -1e300, float("nan"), float("inf"), float("-inf"),
    True, None, "384", [384], {"width": 384},
]  # fmt: skip
PLACES = [
    ("width",),
    ("sequences", "first"),
    ("sequences", "last"),
    ("sequences", "markers", "reply"),
    ("sequences", "longest", "query"),
    ("sequences", "longest", "reply"),
    ("weights", "query"),
    ("words", "own"),
    ("sharpness",),
    ("commonness",),
]


def changed(place: tuple[str, ...], value: Any) -> dict[str, Any]:
    card = deepcopy(read_card(shipped_model()))
    told = card
    for name in place[:-1]:
        told = told[name]
    told[place[-1]] = value
    return card


@pytest.mark.parametrize("place", PLACES, ids=".".join)
@pytest.mark.parametrize("value", ABSURD, ids=lambda value: repr(value)[:12])
def test_an_absurd_number_is_an_error(place: tuple[str, ...], value: Any) -> None:
    if value == -1 and place[0] in ("weights", "words", "commonness"):
        assert form_of(changed(place, value), shipped_model())
        return
    with pytest.raises(InputError, match="the card lacks what the encoder needs"):
        form_of(changed(place, value), shipped_model())


@pytest.mark.parametrize("value", [0, 1, 7, 0.5, 4_097])
def test_a_sequence_has_room_for_its_markers_and_fits_in_memory(value: float) -> None:
    with pytest.raises(InputError, match="longest.query is"):
        form_of(changed(("sequences", "longest", "query"), value), shipped_model())


@given(
    place=st.sampled_from([("sequences",), ("weights",), ("words",), *PLACES]),
    value=st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
        max_leaves=5,
    ),
)
def test_whatever_stands_in_a_card_is_taken_or_is_our_error(place: tuple[str, ...], value: Any) -> None:
    try:
        form = form_of(changed(place, value), shipped_model())
    except InputError:
        return
    assert all(8 <= most <= 4_096 for most in form.longest.values())


def linked(folder: Path, card: str) -> Path:
    folder.mkdir()
    for name in (WEIGHTS, TOKENIZER):
        (folder / name).symlink_to(shipped_model() / name)
    (folder / CARD).write_text(card, encoding="utf-8")
    return folder


def test_a_width_that_is_not_the_models_is_told_of(tmp_path: Path) -> None:
    folder = linked(tmp_path / "wide", json.dumps(changed(("width",), 60_000)))
    with pytest.raises(InputError, match="60000 wide, and the model makes them 384 wide"):
        SentenceEncoder(folder, cache=False)


def test_a_token_that_the_model_does_not_know_is_told_of(tmp_path: Path) -> None:
    folder = linked(tmp_path / "token", json.dumps(changed(("sequences", "first"), 9_000_000)))
    with pytest.raises(InputError, match="the model does not fit its card"):
        SentenceEncoder(folder, cache=False).encode(["Good evening."])


@pytest.mark.parametrize("card", ["[" * 100_000, '{"format": ' + "9" * 5_000 + "}", " " * 10_000_001], ids=len)
def test_a_card_that_is_no_card_is_told_of(tmp_path: Path, card: str) -> None:
    with pytest.raises(InputError, match=r"cannot be read|too large"):
        read_card(linked(tmp_path / "odd", card))
