from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from safetensors import SafetensorError

from models import tiny_model
from understudy.agents import agent_named
from understudy.agents.bag_ranker import Starspace
from understudy.errors import InputError
from understudy.language.model_folder import (
    FORMAT,
    ModelFolder,
    read_agent_name,
    read_model,
    read_tensors,
    texts_as_tensor,
    write_model,
    write_tensors,
)

TENSORS: dict[str, NDArray[Any]] = {
    "rows": np.arange(6, dtype=np.float32).reshape(2, 3),
    "one": np.array(0.5, np.float32),
    "nothing": np.zeros((0, 4), np.float32),
    "whole": np.array([1, 2], np.int64),
    "texts": texts_as_tensor(["one", "two\nlines", "三"]),
}


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return tiny_model("starspace", tmp_path / "model")


def test_a_failed_write_leaves_the_former_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise SafetensorError("no space left")

    path = tmp_path / "a.safetensors"
    write_tensors(path, TENSORS)
    before = path.read_bytes()
    monkeypatch.setattr("understudy.language.model_folder.save_file", fail)
    with pytest.raises(OSError, match="cannot be written: no space left"):
        write_tensors(path, {"one": TENSORS["one"]})
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["a.safetensors"]


def test_weights_do_not_need_torch() -> None:
    script = "import sys, understudy.language.model_folder; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", script], check=True)


def test_an_array_in_any_memory_order_is_written_as_it_is(tmp_path: Path) -> None:
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    write_tensors(tmp_path / "a.safetensors", {"turned": array.T, "part": array[:, ::2]})
    tensors, _ = read_tensors(tmp_path / "a.safetensors")
    np.testing.assert_array_equal(tensors["turned"], array.T)
    np.testing.assert_array_equal(tensors["part"], array[:, ::2])


def test_what_is_written_is_read(tmp_path: Path) -> None:
    write_tensors(tmp_path / "a.safetensors", TENSORS, {"steps": "7"})
    tensors, metadata = read_tensors(tmp_path / "a.safetensors")
    assert metadata == {"steps": "7"}
    assert set(tensors) == set(TENSORS)
    for name, tensor in tensors.items():
        assert tensor.dtype == TENSORS[name].dtype
        np.testing.assert_array_equal(tensor, TENSORS[name])
        assert tensor.shape == TENSORS[name].shape
    assert [path.name for path in tmp_path.iterdir()] == ["a.safetensors"]


def test_texts_keep_to_their_lines() -> None:
    assert ModelFolder({}, TENSORS).texts("texts") == ["one", "two lines", "三"]
    assert ModelFolder({}, {"texts": texts_as_tensor([])}).texts("texts") == []


def test_a_model_says_which_agent_it_is_for(model: Path) -> None:
    assert read_agent_name(model) == "starspace"
    assert read_model(model, "starspace").card["trained_on"] == "original"


def test_writing_replaces_what_was_there(model: Path) -> None:
    write_model(model, {"agent": "starspace", "format": FORMAT}, {"one": TENSORS["one"]})
    assert set(read_model(model, "starspace").tensors) == {"one"}
    assert [path.name for path in model.parent.iterdir()] == ["model"]


def test_folders_that_cannot_be_used(model: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such model folder.*understudy train"):
        read_model(tmp_path / "nowhere", "starspace")
    with pytest.raises(InputError, match="has no model.json"):
        read_model(tmp_path, "starspace")
    with pytest.raises(InputError, match="for 'starspace', not for 'kv-memory'"):
        read_model(model, "kv-memory")
    (model / "weights.safetensors").unlink()
    with pytest.raises(InputError, match="not whole"):
        read_model(model, "starspace")


@pytest.mark.parametrize(
    ("card", "word"),
    [
        ("{", "not JSON"),
        ("[]", "not a JSON object"),
        ("[" * 100_000, "not JSON"),
        ('{"agent": "starspace", "format": 99, "understudy": "9.0"}', "format 99, made by Understudy 9.0"),
        ('{"agent": "starspace"}', "format None"),
    ],
)
def test_cards_that_cannot_be_used(model: Path, card: str, word: str) -> None:
    (model / "model.json").write_text(card, encoding="utf-8")
    with pytest.raises(InputError, match=word):
        read_model(model, "starspace")


def test_tensors_that_are_not_as_they_should_be() -> None:
    folder = ModelFolder({"settings": {"turns": "two"}}, {**TENSORS, "wild": np.array([np.nan], np.float32)})
    assert folder.tensor("rows", 2, None).shape == (2, 3)
    for name, shape, word in (
        ("gone", (2,), "have no 'gone'"),
        ("rows", (3, None), "where float32 3 x any belongs"),
        ("rows", (None,), "where float32 any belongs"),
        ("whole", (2,), "is int64"),
        ("wild", (1,), "not finite"),
    ):
        with pytest.raises(InputError, match=word):
            folder.tensor(name, *shape)
    with pytest.raises(InputError, match="where text belongs"):
        folder.texts("rows")
    with pytest.raises(InputError, match=r"settings\.turns"):
        folder.number("settings", "turns")


def encoded(header: Any, length: int | None = None, numbers: bytes = b"\0" * 8) -> bytes:
    raw = header if isinstance(header, bytes) else json.dumps(header).encode()
    return (len(raw) if length is None else length).to_bytes(8, "little") + raw + numbers


def tensor(dtype: Any = "F32", shape: Any = (2,), offsets: Any = (0, 8)) -> dict[str, Any]:
    return {"a": {"dtype": dtype, "shape": shape, "data_offsets": offsets}}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x01\0",
        encoded({}, length=10**18),
        encoded(b"{nonsense"),
        encoded(b"\xff\xfe"),
        encoded([]),
        encoded({"__metadata__": {"a": 1}}),
        encoded({"a": 3}),
        encoded(tensor(dtype="F8")),
        encoded(tensor(dtype="BF16", shape=[4])),
        encoded(tensor(dtype=["F32"])),
        encoded(tensor(shape=[-1, -2])),
        encoded(tensor(shape="2")),
        encoded(tensor(shape=[True])),
        encoded(tensor(offsets=[0])),
        encoded(tensor(offsets=[0, 16])),
        encoded(tensor(offsets=[8, 0])),
        encoded(tensor(shape=[3])),
        encoded(tensor(shape=[2**40, 2**40])),
    ],
)
def test_weights_whose_header_does_not_fit_are_an_error(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "weights.safetensors"
    path.write_bytes(content)
    with pytest.raises(InputError, match="damaged or cut short: .+; train the model again, or fetch it again"):
        read_tensors(path)


@given(st.data())
def test_any_damage_is_an_error_or_can_be_read(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    path = tmp_path_factory.mktemp("damage") / "weights.safetensors"
    write_tensors(path, TENSORS)
    content = bytearray(path.read_bytes())
    offset = data.draw(st.integers(0, len(content) - 1))
    if data.draw(st.booleans()):
        content[offset] = data.draw(st.integers(0, 255))
    else:
        del content[offset:]
    path.write_bytes(content)
    try:
        read_tensors(path)
    except InputError as error:
        assert "damaged or cut short" in str(error)


ABSURD = [-1, 10**9, 10**30, 10**400, 1e300, float("nan"), float("inf"), True, "3", None, [1], 0.5]


@pytest.mark.parametrize("value", ABSURD, ids=lambda value: repr(value)[:12])
@pytest.mark.parametrize(
    ("agent", "setting"),
    [("starspace", "turns"), ("profile-memory", "hops"), ("kv-memory", "hops"), ("kv-memory", "sharpness")],
)
def test_a_card_with_an_absurd_number_is_an_error(tmp_path: Path, agent: str, setting: str, value: Any) -> None:
    folder = tiny_model(agent, tmp_path / "model")
    card = json.loads((folder / "model.json").read_text(encoding="utf-8"))
    assert setting in card["settings"]
    card["settings"][setting] = value
    (folder / "model.json").write_text(json.dumps(card), encoding="utf-8")
    if setting == "sharpness" and value == 0.5:
        agent_named(str(folder))
        return
    with pytest.raises(InputError, match=rf"settings\.{setting}"):
        agent_named(str(folder))


def test_vectors_of_no_words_cannot_claim_any_width(tmp_path: Path) -> None:
    folder = ModelFolder(
        {"settings": {"turns": 1}},
        {
            "words": np.zeros(0, np.uint8),
            "vectors": np.zeros((0, 2**40), np.float32),
            "balance": np.array(0.5, np.float32),
        },
    )
    with pytest.raises(InputError, match="wide, and must be from 1 to"):
        Starspace(folder)
