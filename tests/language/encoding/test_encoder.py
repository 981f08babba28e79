from __future__ import annotations

import json
import random
import shutil
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.errors import InputError
from understudy.language.encoding import Context, parse_sequence_format
from understudy.language.encoding.encoder import (
    CARD,
    TOKENIZER,
    WEIGHTS,
    SentenceEncoder,
    read_encoder_card,
    shipped_model,
)

TEXTS = [
    "Where is the key?",
    "",
    "Fog again.",
    "🙂",
    "In my pocket. " * 40,
    "I can't say.",
    "鍵はどこ？",
    "Where's the key?",
]


@pytest.fixture(scope="module")
def encoder() -> SentenceEncoder:
    return SentenceEncoder(cache=False)


def test_vectors_have_length_one_and_know_meaning(encoder: SentenceEncoder) -> None:
    vectors = encoder.encode(TEXTS)
    assert vectors.shape == (len(TEXTS), encoder.width)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(len(TEXTS)), abs=2e-3)
    assert vectors[0] @ vectors[7] > 0.9 > vectors[0] @ vectors[2]


def test_a_vector_does_not_depend_on_what_it_is_encoded_with(encoder: SentenceEncoder) -> None:
    rng = random.Random(0)
    words = "the key is in a boat that Ines left by the harbour before fog came".split()
    texts = [*TEXTS, *(" ".join(rng.choices(words, k=rng.randint(1, 40))) for _ in range(60))]
    together = encoder.encode(texts)
    for start, size in ((0, 1), (1, 1), (4, 1), (3, 2), (10, 7), (20, 33)):
        assert np.abs(encoder.encode(texts[start : start + size]) - together[start : start + size]).max() < 1e-4
    contexts = [Context((text,), (), ((False, text),)) for text in texts[:20]]
    together = encoder.encode_contexts(contexts)
    assert np.abs(encoder.encode_contexts(contexts[4:5]) - together[4:5]).max() < 1e-4


def test_equal_texts_have_equal_vectors_and_no_texts_no_vectors(encoder: SentenceEncoder) -> None:
    first, second, _ = encoder.encode(["Fog.", "Fog.", "Sun."])
    assert (first == second).all()
    assert encoder.encode([]).shape == (0, encoder.width)
    assert encoder.encode_contexts([]).shape == (0, encoder.width)


def test_roles_differ_and_unknown_ones_are_refused(encoder: SentenceEncoder) -> None:
    assert encoder.encode(["Fog."], "own")[0] @ encoder.encode(["Fog."])[0] < 0.999
    with pytest.raises(ValueError, match="'thought' is not one of reply, own, heard"):
        encoder.encode(["Fog."], "thought")


def test_cached_vectors_equal_encoded_ones(tmp_path: Path, encoder: SentenceEncoder) -> None:
    vectors = encoder.encode(TEXTS)
    progress: list[tuple[int, int]] = []
    first = SentenceEncoder(cache=tmp_path, progress=lambda done, total: progress.append((done, total)))
    assert (first.encode(TEXTS) == vectors).all()
    assert progress == [(len(TEXTS), len(TEXTS))]
    second = SentenceEncoder(cache=tmp_path, progress=lambda done, total: progress.append((done, total)))
    assert (second.encode(TEXTS) == vectors).all()
    assert len(progress) == 1
    second.encode(["unseen"], keep=False)
    assert len(list(tmp_path.glob("*.sqlite"))) == 1
    context = [Context((), (), ((False, "Fog?"),))]
    assert (second.encode_contexts(context, keep=True) == second.encode_contexts(context, keep=True)).all()


def copied(folder: Path, **changes: object) -> Path:
    shutil.copytree(shipped_model(), folder)
    card = json.loads((folder / "model.json").read_text(encoding="utf-8"))
    (folder / "model.json").write_text(json.dumps(card | changes), encoding="utf-8")
    return folder


def test_another_processing_has_another_fingerprint(monkeypatch: pytest.MonkeyPatch, encoder: SentenceEncoder) -> None:
    before = SentenceEncoder(cache=False).fingerprint
    assert before == encoder.fingerprint
    monkeypatch.setattr("understudy.language.encoding.encoder.PROCESSING", 1_000)
    assert SentenceEncoder(cache=False).fingerprint != before


def test_a_folder_that_cannot_be_used_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no encoder's model folder: it has no model.json"):
        SentenceEncoder(tmp_path)
    with pytest.raises(InputError, match="of format 99, .* this version reads format 1"):
        SentenceEncoder(copied(tmp_path / "newer", format=99))
    with pytest.raises(InputError, match="a model for 'starspace', not for 'encoder'"):
        SentenceEncoder(copied(tmp_path / "other", agent="starspace"))
    with pytest.raises(InputError, match="has no number for sequences.first"):
        SentenceEncoder(copied(tmp_path / "bare", sequences={}))
    damaged = copied(tmp_path / "damaged")
    (damaged / "encoder.int8.onnx").write_bytes(b"not a model")
    with pytest.raises(InputError, match="cannot be loaded"):
        SentenceEncoder(damaged)
    (damaged / "model.json").write_text("{")
    with pytest.raises(InputError, match="is not JSON"):
        SentenceEncoder(damaged)


def test_what_ships_is_small_and_says_what_it_is() -> None:
    folder = shipped_model()
    assert sum(file.stat().st_size for file in folder.iterdir()) <= 25_000_000
    card = json.loads((folder / "model.json").read_text(encoding="utf-8"))
    assert {"what", "data", "figures", "licence"} <= card.keys()


ABSURD: list[Any] = [
    -1, 10**9, 10**18, 10**400, -(10**18), 1e300, -1e300, float("nan"), float("inf"), float("-inf"),
    True, None, "384", [384], {"width": 384},
]  # fmt: skip
CARD_NUMBERS = [
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


def changed(names: tuple[str, ...], value: Any) -> dict[str, Any]:
    card = deepcopy(read_encoder_card(shipped_model()))
    section = card
    for name in names[:-1]:
        section = section[name]
    section[names[-1]] = value
    return card


@pytest.mark.parametrize("names", CARD_NUMBERS, ids=".".join)
@pytest.mark.parametrize("value", ABSURD, ids=lambda value: repr(value)[:12])
def test_an_absurd_number_is_an_error(names: tuple[str, ...], value: Any) -> None:
    if value == -1 and names[0] in ("weights", "words", "commonness"):
        assert parse_sequence_format(changed(names, value), shipped_model())
        return
    with pytest.raises(InputError, match=r"model\.json has "):
        parse_sequence_format(changed(names, value), shipped_model())


@pytest.mark.parametrize("value", [0, 1, 7, 0.5, 4_097])
def test_a_sequence_has_room_for_its_markers_and_fits_in_memory(value: float) -> None:
    with pytest.raises(InputError, match="for sequences.longest.query"):
        parse_sequence_format(changed(("sequences", "longest", "query"), value), shipped_model())


@given(
    names=st.sampled_from([("sequences",), ("weights",), ("words",), *CARD_NUMBERS]),
    value=st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
        max_leaves=5,
    ),
)
def test_any_value_in_a_card_is_accepted_or_an_input_error(names: tuple[str, ...], value: Any) -> None:
    try:
        sequence_format = parse_sequence_format(changed(names, value), shipped_model())
    except InputError:
        return
    assert all(8 <= length <= 4_096 for length in sequence_format.longest.values())


def linked(folder: Path, card: str) -> Path:
    folder.mkdir()
    for name in (WEIGHTS, TOKENIZER):
        (folder / name).symlink_to(shipped_model() / name)
    (folder / CARD).write_text(card, encoding="utf-8")
    return folder


def test_a_width_that_is_not_the_models_is_an_error(tmp_path: Path) -> None:
    folder = linked(tmp_path / "wide", json.dumps(changed(("width",), 60_000)))
    with pytest.raises(InputError, match="60000 wide, and the model makes them 384 wide"):
        SentenceEncoder(folder, cache=False)


def test_a_token_that_the_model_does_not_have_is_an_error(tmp_path: Path) -> None:
    folder = linked(tmp_path / "token", json.dumps(changed(("sequences", "first"), 9_000_000)))
    with pytest.raises(InputError, match="the model does not fit its card"):
        SentenceEncoder(folder, cache=False).encode(["Good evening."])


@pytest.mark.parametrize("card", ["[" * 100_000, '{"format": ' + "9" * 5_000 + "}", " " * 10_000_001], ids=len)
def test_a_card_that_cannot_be_parsed_is_an_error(tmp_path: Path, card: str) -> None:
    with pytest.raises(InputError, match=r"is not JSON|too large"):
        read_encoder_card(linked(tmp_path / "odd", card))
