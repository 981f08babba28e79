"""The shipped sentence encoder behind the API: embeddings, and tokens for usage and `max_tokens`."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Sequence
from functools import cache
from typing import Any, Literal

import numpy as np

from understudy.language.encoding import SentenceEncoder, shipped_model
from understudy.server.openai.schemas import Embedding, EmbeddingList, EmbeddingsRequest, EmbeddingsUsage
from understudy.server.problems import Refused
from understudy.story.dialogue import Sampling

__all__ = ["TokenLimit", "cut", "embed", "total_tokens"]

MODEL = "encoder"
MAX_TEXTS = 256
SHORT = 8_000  # characters whose tokens are counted fast enough for the event loop
TOKENIZER = "tokenizer.json"


@cache
def _encoder() -> SentenceEncoder:
    return SentenceEncoder(cache=False)  # clients' texts are not stored


@cache
def _tokenizer() -> Any:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(shipped_model() / TOKENIZER))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def count_tokens(texts: Sequence[str]) -> list[int]:
    """The number of tokens of each text. Not as a batch, which would start a thread pool for a few words."""
    encode = _tokenizer().encode
    return [len(encode(text, add_special_tokens=False)) for text in texts]


async def total_tokens(texts: Sequence[str]) -> int:
    """The tokens of texts together; many are counted off the event loop."""
    is_short = sum(map(len, texts)) < SHORT
    return sum(count_tokens(texts) if is_short else await asyncio.to_thread(count_tokens, texts))


def cut(text: str, sampling: Sampling) -> tuple[str, Literal["stop", "length"]]:
    """A text that was not written for this request, as far as the request lets it go."""
    ends = [index for index in map(text.find, sampling.stop) if index >= 0]
    text = text[: min(ends)] if ends else text
    if sampling.max_tokens is None:
        return text, "stop"
    text, is_truncated = truncate(text, sampling.max_tokens)
    return text, "length" if is_truncated else "stop"


def truncate(text: str, max_tokens: int) -> tuple[str, bool]:
    """The first tokens of a text, as they are written in it; and whether any were cut off."""
    if len(text) <= max_tokens:  # a token is at least a character
        return text, False
    offsets = _tokenizer().encode(text, add_special_tokens=False).offsets
    if len(offsets) <= max_tokens:
        return text, False
    return text[: offsets[max_tokens][0]].rstrip(), True


class TokenLimit:
    """Ends a text that is being written after so many tokens, whatever its writer makes of the limit."""

    def __init__(self, max_tokens: int | None) -> None:
        self._max_tokens, self._text = max_tokens, ""
        self.is_reached = False

    def feed(self, piece: str) -> str:
        """What may be sent of a piece."""
        if self.is_reached:
            return ""
        sent, self._text = len(self._text), self._text + piece
        if self._max_tokens is not None:
            self._text, self.is_reached = truncate(self._text, self._max_tokens)
        return self._text[sent:]


def embed(request: EmbeddingsRequest) -> EmbeddingList:
    if request.model != MODEL:
        problem = f"'{request.model[:80]}' makes no embeddings here: use '{MODEL}', the encoder that ships"
        raise Refused(problem, 404, param="model", code="model_not_found")
    texts = _validated(request.input)
    encoder = _encoder()
    if request.dimensions not in (None, encoder.width):
        problem = f"vectors have {encoder.width} dimensions and are not shortened: leave dimensions out"
        raise Refused(problem, 400, param="dimensions", code="unsupported_parameter")
    vectors = encoder.encode(texts, keep=False)
    tokens = sum(count_tokens(texts))
    as_base64 = request.encoding_format == "base64"
    return EmbeddingList(
        [
            Embedding(index, base64.b64encode(vector.astype(np.float32)).decode() if as_base64 else vector.tolist())
            for index, vector in enumerate(vectors)
        ],
        request.model,
        EmbeddingsUsage(tokens, tokens),
    )


def _validated(value: object) -> list[str]:
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not texts:
        raise Refused("input must be a text, or a list of texts", 400, param="input")
    if any(isinstance(text, int | list) for text in texts):
        raise Refused("input cannot be tokens, which mean other words to other models: send the text", 400, "input")
    if len(texts) > MAX_TEXTS:
        raise Refused(f"input may hold at most {MAX_TEXTS} texts: send the rest in another request", 400, "input")
    for index, text in enumerate(texts):
        if not isinstance(text, str) or not text:
            raise Refused("a text to embed must be a string, and not empty", 400, param=f"input[{index}]")
    return texts
