from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from understudy.errors import InputError
from understudy.training.bag_rankers import read_embeddings

WORDS = ("the", "key", "boat", "a", "lamp")


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "vectors.txt"
    path.write_text(text, encoding="utf-8")
    return path


def test_only_the_words_wanted_are_kept_at_length_1(tmp_path: Path) -> None:
    vectors = read_embeddings(written(tmp_path, "key 3 4\nzebra 1 1\nboat 0 0\n"), WORDS)
    assert set(vectors) == {"key", "boat"}
    np.testing.assert_allclose(vectors["key"], [0.6, 0.8])
    np.testing.assert_allclose(vectors["boat"], [0, 0])


def test_word2vec_says_its_size_first(tmp_path: Path) -> None:
    assert set(read_embeddings(written(tmp_path, "2 3\nkey 1 2 3\nlamp 1 0 0\n"), WORDS)) == {"key", "lamp"}


@pytest.mark.parametrize(
    ("text", "line", "word"),
    [
        ("key 1 2\nlamp 1\n", 2, "has 1 numbers, where the first line has 2"),
        ("key 1 x\n", 1, "not a number"),
        ("key 1 nan\n", 1, "not finite"),
        ("key\n", 1, "belong in a line"),
        ("zebra 1 2\n", None, "none of the words"),
        ("", None, "none of the words"),
    ],
)
def test_files_that_cannot_be_used(tmp_path: Path, text: str, line: int | None, word: str) -> None:
    with pytest.raises(InputError, match=word) as raised:
        read_embeddings(written(tmp_path, text), WORDS)
    assert raised.value.line == line


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read_embeddings(tmp_path / "nowhere.txt", WORDS)
