from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.errors import BackendError
from understudy.language.backends.gguf import GGUFModel


def text(value: str) -> bytes:
    return struct.pack("<Q", len(value.encode())) + value.encode()


def field(key: str, value: Any) -> bytes:
    if isinstance(value, str):
        return text(key) + struct.pack("<I", 8) + text(value)
    if isinstance(value, int):
        return text(key) + struct.pack("<II", 4, value)
    if value and isinstance(value[0], int):
        return text(key) + struct.pack(f"<IIQ{len(value)}i", 9, 5, len(value), *value)
    return text(key) + struct.pack("<IIQ", 9, 8, len(value)) + b"".join(map(text, value))


def gguf(**fields: Any) -> bytes:
    written = b"".join(field(key.replace("__", "."), value) for key, value in fields.items())
    return b"GGUF" + struct.pack("<IQQ", 3, 0, len(fields)) + written


SMALL = gguf(
    general__architecture="llama",
    llama__context_length=2048,
    tokenizer__ggml__model="gpt2",
    tokenizer__ggml__tokens=["a", "b", "ab", "Ġ", "<|end|>"],
    tokenizer__ggml__token_type=[1, 1, 1, 1, 3],
    tokenizer__ggml__merges=["a b"],
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "small.gguf"


def test_fields_and_tokens(path: Path) -> None:
    path.write_bytes(SMALL + b"weights")
    model = GGUFModel(path)
    assert model.context_length == 2048
    assert model.control_tokens == ("<|end|>",)
    assert model.count_tokens("abab a<|end|>") == 5  # ab ab, a space, a, the mark


def test_marks_among_the_tokens_of_the_user_are_control_tokens_and_whitespace_is_not(path: Path) -> None:
    tokens, types = ["<|user|>", "\n\n", "<b", "</s>"], [4, 4, 4, 3]
    path.write_bytes(gguf(tokenizer__ggml__tokens=tokens, tokenizer__ggml__token_type=types))
    assert GGUFModel(path).control_tokens == ("<|user|>", "</s>")


def test_a_vocabulary_of_another_kind_is_estimated(path: Path) -> None:
    path.write_bytes(gguf(general__architecture="gemma2", tokenizer__ggml__model="llama"))
    model = GGUFModel(path)
    assert model.context_length is None
    assert model.count_tokens("Good evening to you.") == 7


def test_merges_of_tokens_that_are_not_there_are_no_tokenizer(path: Path) -> None:
    path.write_bytes(
        gguf(tokenizer__ggml__model="gpt2", tokenizer__ggml__tokens=["a"], tokenizer__ggml__merges=["x y"])
    )
    assert GGUFModel(path).count_tokens("aaaa") == 2


@given(st.integers(0, len(SMALL) - 1), st.binary(min_size=1, max_size=8))
def test_whatever_is_damaged_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, at: int, damage: bytes
) -> None:
    path = tmp_path_factory.mktemp("damaged") / "model.gguf"
    path.write_bytes(SMALL[:at] + damage + SMALL[at + len(damage) :])
    try:
        model = GGUFModel(path)
        assert model.context_length is None or model.context_length > 0
        assert model.count_tokens("abab") >= 0
        assert isinstance(model.control_tokens, tuple)
    except BackendError as error:
        assert "fetch it again" in str(error)


@given(st.integers(0, len(SMALL) - 1))
def test_broken_off_anywhere_it_is_refused(tmp_path_factory: pytest.TempPathFactory, at: int) -> None:
    path = tmp_path_factory.mktemp("short") / "model.gguf"
    path.write_bytes(SMALL[:at])
    with pytest.raises(BackendError, match="fetch it again"):
        GGUFModel(path).fields  # noqa: B018
