"""Text as sparse counts: tokenized corpora and n-grams, tf-idf, logistic regression, an n-gram language model."""

from __future__ import annotations

from understudy.language.lexical.corpus import Corpus, Lines
from understudy.language.lexical.rows import SparseRows
from understudy.language.lexical.tfidf import Floats, TfIdf

__all__ = ["Corpus", "Floats", "Lines", "SparseRows", "TfIdf"]
