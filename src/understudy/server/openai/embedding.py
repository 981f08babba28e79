"""Texts as vectors, from the encoder that ships."""

from __future__ import annotations

import base64
from functools import cache

import numpy as np

from understudy.encoding import SentenceEncoder
from understudy.server.openai.tokens import tokens_in
from understudy.server.openai.types import Embedding, EmbeddingsAnswer, EmbeddingsRequest, EmbeddingsUsage
from understudy.server.problems import Refused

__all__ = ["MODEL", "embedded"]

MODEL = "encoder"
MOST = 256


@cache
def _encoder() -> SentenceEncoder:
    return SentenceEncoder(cache=False)  # what clients embed is not kept


def embedded(asked: EmbeddingsRequest) -> EmbeddingsAnswer:
    if asked.model != MODEL:
        told = f"'{asked.model[:80]}' makes no embeddings here: use '{MODEL}', the encoder that ships"
        raise Refused(told, 404, param="model", code="model_not_found")
    texts = _texts(asked.input)
    encoder = _encoder()
    if asked.dimensions not in (None, encoder.width):
        told = f"vectors have {encoder.width} dimensions and are not shortened: leave dimensions out"
        raise Refused(told, 400, param="dimensions", code="unsupported_parameter")
    vectors = encoder.encode(texts, keep=False)
    tokens = sum(tokens_in(texts))
    as_bytes = asked.encoding_format == "base64"
    return EmbeddingsAnswer(
        [
            Embedding(place, base64.b64encode(vector.astype(np.float32)).decode() if as_bytes else vector.tolist())
            for place, vector in enumerate(vectors)
        ],
        asked.model,
        EmbeddingsUsage(tokens, tokens),
    )


def _texts(told: object) -> list[str]:
    texts = [told] if isinstance(told, str) else told
    if not isinstance(texts, list) or not texts:
        raise Refused("input must be a text, or a list of texts", 400, param="input")
    if any(isinstance(one, int | list) for one in texts):
        raise Refused("input cannot be tokens, which mean other words to other models: send the text", 400, "input")
    if len(texts) > MOST:
        raise Refused(f"input may hold at most {MOST} texts: send the rest in another request", 400, "input")
    for place, text in enumerate(texts):
        if not isinstance(text, str) or not text:
            raise Refused("a text to embed must be a string, and not empty", 400, param=f"input[{place}]")
    return texts
