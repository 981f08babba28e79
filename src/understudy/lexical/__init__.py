"""Words and runs of words, counted and weighted, in plain numpy: tf-idf, n-grams, regression, a language model."""

from __future__ import annotations

from understudy.lexical.corpus import Corpus, Lines
from understudy.lexical.rows import Rows
from understudy.lexical.tfidf import Floats, Query, TfIdf

__all__ = ["Corpus", "Floats", "Lines", "Query", "Rows", "TfIdf"]
