"""Sentences as vectors: the encoder, the cache of what it has encoded, and search among vectors."""

from understudy.language.encoding.cache import BACKGROUND, EncodingCache, TextVectors, encoding_at_once
from understudy.language.encoding.encoder import SentenceEncoder, shared_encoder, shipped_model
from understudy.language.encoding.index import ExactIndex, GraphIndex, Index, build_index, search_exactly
from understudy.language.encoding.multilingual import MultilingualEncoder
from understudy.language.encoding.sequences import Context, Encoder, Floats

__all__ = [
    "BACKGROUND",
    "Context",
    "Encoder",
    "EncodingCache",
    "ExactIndex",
    "Floats",
    "GraphIndex",
    "Index",
    "MultilingualEncoder",
    "SentenceEncoder",
    "TextVectors",
    "build_index",
    "encoding_at_once",
    "search_exactly",
    "shared_encoder",
    "shipped_model",
]
