"""Tokens as the shipped encoder counts them: for usage, and for cutting a reply off at so many."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from understudy.encoding import shipped_model

__all__ = ["cut_off", "tokens_in"]

TOKENIZER = "tokenizer.json"


@cache
def _tokenizer() -> Any:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(shipped_model() / TOKENIZER))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def tokens_in(texts: Sequence[str]) -> list[int]:
    """How many tokens each text has. One at a time: a batch would wake a pool of threads for a few words."""
    encode = _tokenizer().encode
    return [len(encode(text, add_special_tokens=False)) for text in texts]


def cut_off(text: str, most: int) -> tuple[str, bool]:
    """The text's first tokens, as they are written in it; and whether any had to go."""
    if len(text) <= most:  # a token is at least a character
        return text, False
    offsets = _tokenizer().encode(text, add_special_tokens=False).offsets
    if len(offsets) <= most:
        return text, False
    return text[: offsets[most][0]].rstrip(), True
