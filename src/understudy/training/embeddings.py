"""Word vectors to begin with, from a text file as GloVe and word2vec write them: a word, then its numbers.

The file is read line by line, and only the words of the training texts are kept, each at length 1.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from understudy.errors import InputError
from understudy.lexical import Floats
from understudy.text import words

__all__ = ["read_embeddings"]

LONGEST_LINE = 1 << 20
WIDEST = 4096


def read_embeddings(path: Path, texts: Iterable[str]) -> dict[str, Floats]:
    """The vectors of the texts' words that the file has."""
    wanted = {word.encode() for text in texts for word in words(text)}
    found: dict[str, Floats] = {}
    width = 0
    if not path.is_file():
        raise InputError("there is no such file of word vectors", path)
    with path.open("rb", buffering=1 << 20) as file:
        number = 0
        while raw := file.readline(LONGEST_LINE):
            number += 1
            word, _, rest = raw.rstrip(b"\r\n").partition(b" ")
            if number == 1 and word.isdigit() and rest.strip().isdigit():
                continue  # word2vec says first how many words there are, and how wide they are
            if not width:
                width = len(rest.split())
                if not 0 < width <= WIDEST:
                    raise InputError("a word and its numbers, with blanks between, belong in a line", path, number)
            if word in wanted:
                found[word.decode()] = _vector(rest, width, path, number)
    if not found:
        raise InputError("has none of the words of the training texts: is it for this language?", path)
    return found


def _vector(rest: bytes, width: int, path: Path, line: int) -> Floats:
    try:
        vector = np.array(rest.split(), dtype=np.float32)
    except ValueError as error:
        raise InputError("holds something that is not a number", path, line) from error
    if len(vector) != width:
        raise InputError(f"has {len(vector)} numbers, where the first line has {width}", path, line)
    length = float(np.linalg.norm(vector))
    if not np.isfinite(length):
        raise InputError("holds a number that is not finite", path, line)
    return vector / np.float32(length) if length > 0 else vector
