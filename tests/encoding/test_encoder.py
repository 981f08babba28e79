from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

import numpy as np
import pytest

from understudy.encoding import Context, SentenceEncoder, shipped_model
from understudy.errors import InputError

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
    chance = random.Random(0)
    words = "the key is in a boat that Ines left by the harbour before fog came".split()
    texts = [*TEXTS, *(" ".join(chance.choices(words, k=chance.randint(1, 40))) for _ in range(60))]
    together = encoder.encode(texts)
    for start, size in ((0, 1), (1, 1), (4, 1), (3, 2), (10, 7), (20, 33)):
        assert np.abs(encoder.encode(texts[start : start + size]) - together[start : start + size]).max() < 1e-4
    contexts = [Context((text,), (), ((False, text),)) for text in texts[:20]]
    together = encoder.encode_contexts(contexts)
    assert np.abs(encoder.encode_contexts(contexts[4:5]) - together[4:5]).max() < 1e-4


def test_equal_texts_have_equal_vectors_and_nothing_has_none(encoder: SentenceEncoder) -> None:
    first, second, _ = encoder.encode(["Fog.", "Fog.", "Sun."])
    assert (first == second).all()
    assert encoder.encode([]).shape == (0, encoder.width)
    assert encoder.encode_contexts([]).shape == (0, encoder.width)


def test_roles_differ_and_unknown_ones_are_refused(encoder: SentenceEncoder) -> None:
    assert encoder.encode(["Fog."], "own")[0] @ encoder.encode(["Fog."])[0] < 0.999
    with pytest.raises(ValueError, match="'thought' is not one of reply, own, heard"):
        encoder.encode(["Fog."], "thought")


def test_what_is_kept_equals_what_is_made(tmp_path: Path, encoder: SentenceEncoder) -> None:
    made = encoder.encode(TEXTS)
    told: list[tuple[int, int]] = []
    keeping = SentenceEncoder(cache=tmp_path, progress=lambda done, of: told.append((done, of)))
    assert (keeping.encode(TEXTS) == made).all()
    assert told == [(len(TEXTS), len(TEXTS))]
    again = SentenceEncoder(cache=tmp_path, progress=lambda done, of: told.append((done, of)))
    assert (again.encode(TEXTS) == made).all()
    assert len(told) == 1
    again.encode(["unseen"], keep=False)
    assert len(list(tmp_path.glob("*.sqlite"))) == 1
    context = [Context((), (), ((False, "Fog?"),))]
    assert (again.encode_contexts(context, keep=True) == again.encode_contexts(context, keep=True)).all()


def copied(folder: Path, **changes: object) -> Path:
    shutil.copytree(shipped_model(), folder)
    card = json.loads((folder / "model.json").read_text(encoding="utf-8"))
    (folder / "model.json").write_text(json.dumps(card | changes), encoding="utf-8")
    return folder


def test_texts_prepared_otherwise_are_kept_apart(monkeypatch: pytest.MonkeyPatch, encoder: SentenceEncoder) -> None:
    before = SentenceEncoder(cache=False).fingerprint
    assert before == encoder.fingerprint
    monkeypatch.setattr("understudy.encoding.encoder.PROCESSING", 1_000)
    assert SentenceEncoder(cache=False).fingerprint != before


def test_a_folder_that_cannot_be_used_is_told_of(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no encoder's model folder: it has no model.json"):
        SentenceEncoder(tmp_path)
    with pytest.raises(InputError, match="of format 99, this Understudy reads format 1"):
        SentenceEncoder(copied(tmp_path / "newer", format=99))
    with pytest.raises(InputError, match="not an encoder's"):
        SentenceEncoder(copied(tmp_path / "other", agent="starspace"))
    with pytest.raises(InputError, match="lacks what the encoder needs"):
        SentenceEncoder(copied(tmp_path / "bare", sequences={}))
    damaged = copied(tmp_path / "damaged")
    (damaged / "encoder.int8.onnx").write_bytes(b"not a model")
    with pytest.raises(InputError, match="cannot be loaded"):
        SentenceEncoder(damaged)
    (damaged / "model.json").write_text("{")
    with pytest.raises(InputError, match="the card cannot be read"):
        SentenceEncoder(damaged)


def test_what_ships_is_small_and_says_what_it_is() -> None:
    folder = shipped_model()
    assert sum(file.stat().st_size for file in folder.iterdir()) <= 25_000_000
    card = json.loads((folder / "model.json").read_text(encoding="utf-8"))
    assert {"what", "data", "figures", "licence"} <= card.keys()
