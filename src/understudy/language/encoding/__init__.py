"""Sentences as vectors: the encoder, the cache of what it has encoded, and search among vectors."""

from understudy.language.encoding.cache import BACKGROUND, TextVectors, encoding_at_once
from understudy.language.encoding.encoder import MultilingualEncoder, SentenceEncoder, shared_encoder, shipped_model
from understudy.language.encoding.sequences import Context, Encoder, Floats

__all__ = [
    "BACKGROUND",
    "Context",
    "Encoder",
    "Floats",
    "MultilingualEncoder",
    "SentenceEncoder",
    "TextVectors",
    "encoding_at_once",
    "shared_encoder",
    "shipped_model",
]
