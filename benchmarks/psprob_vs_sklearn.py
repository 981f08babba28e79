"""PSProb and PTSal for ten personas, beside the obvious scikit-learn pipeline. One core, CPU time, medians of three.

    pip install -r benchmarks/requirements.txt
    python benchmarks/psprob_vs_sklearn.py DATA [--samples 1000] [--lines 10000]

DATA has tvshowguess/transcripts. The personas are the ten who talk most in four shows, with the same number of lines
each; the lines scored are others of theirs. Everything is timed: cutting into words and marks, learning, scoring all
lines for all ten. The pipeline cuts into the same tokens, by one regular expression: TfidfVectorizer and
LogisticRegression for PSProb; for PTSal a binary CountVectorizer of pairs, whose columns are summed and weighted. Each
vectorizer cuts the text anew; ours is cut once. scikit-learn stops earlier than we do: the last column shows how far
each is from scikit-learn's answer at a tolerance of 1e-8.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from numpy.typing import NDArray

from understudy.formats import read
from understudy.metrics import Samples, Speakers, psprob, ptsal
from understudy.text import words

TOKEN = re.compile(r"[^\W_]+(?:['’][^\W_]+)*|([^\w\s()\[\]{}\"'‘’“”«»]|_)\1*")
PERSONAS = 10
SHOWS = ("friends", "the_big_bang_theory", "the_office", "gilmore_girls")
Reals = NDArray[np.float64]
Scores = tuple[Reals, Reals]
Said = dict[str, list[str]]


def personas(data: Path, samples: int, lines: int) -> tuple[Said, list[str]]:
    said: Said = {}
    for show in SHOWS:
        for scene in read(data / "tvshowguess" / "transcripts" / show).scenes():
            for line in scene.lines:
                if line.speaker is not None and len(words(line.text)) > 1:
                    said.setdefault(f"{line.speaker} ({show})", []).append(line.text)
    most = sorted(said, key=lambda name: -len(said[name]))[:PERSONAS]
    each = lines // PERSONAS
    later = [line for name in most for line in said[name][samples : samples + each]]
    return {name: said[name][:samples] for name in most}, later


def tokens(line: str) -> list[str]:
    return [found.group().replace("’", "'") for found in TOKEN.finditer(line.lower())]


def ours(said: Said, lines: list[str]) -> Scores:
    samples = Samples(said)
    cut = samples.tokenize(lines)
    speakers = Speakers.drawn(samples)
    probable = speakers.probabilities(cut)
    salient = np.stack([ptsal(samples, name).values(cut) for name in said], axis=1)
    return probable, salient


def pipeline(said: Said, lines: list[str], tolerance: float = 1e-4) -> Scores:
    from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    texts = [text for own in said.values() for text in own]
    labels = np.repeat(np.arange(len(said)), [len(own) for own in said.values()])
    model = make_pipeline(TfidfVectorizer(analyzer=tokens), LogisticRegression(max_iter=5000, tol=tolerance))
    probable = model.fit(texts, labels).predict_proba(lines)
    settings = {"tokenizer": tokens, "token_pattern": None, "lowercase": False, "ngram_range": (2, 2)}
    has = CountVectorizer(**settings, binary=True)
    pairs = has.fit_transform(texts)
    uses = np.stack([np.asarray(pairs[labels == k].sum(axis=0))[0] for k in range(len(said))])
    rarity = np.log(len(said) / np.count_nonzero(uses, axis=0))
    salience = uses / np.bincount(labels)[:, None] * rarity
    counts = CountVectorizer(**settings, vocabulary=has.vocabulary_).transform(lines)
    lengths = np.array([len(tokens(line)) - 1 for line in lines])
    with np.errstate(invalid="ignore"):  # a line of one word has no pair
        return probable, np.asarray(counts @ salience.T) / lengths[:, None]


def timed(work: Callable[[], Scores]) -> tuple[float, Scores]:
    taken, found = [], None
    for _ in range(3):
        start = time.process_time()
        found = work()
        taken.append(time.process_time() - start)
    assert found is not None
    return statistics.median(taken), found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--samples", type=int, default=1_000)
    parser.add_argument("--lines", type=int, default=10_000)
    options = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    said, lines = personas(options.data, options.samples, options.lines)
    print(f"{len(said)} personas, {options.samples:,} sample lines each, {len(lines):,} lines scored, one core\n")
    exact, salience = pipeline(said, lines, tolerance=1e-8)
    print(f"{'':24} {'seconds':>8} {'ratio':>6}   largest difference: PSProb, PTSal")
    their_time, theirs = timed(lambda: pipeline(said, lines))
    print(f"{'scikit-learn':24} {their_time:8.3f} {1:6}   {np.abs(theirs[0] - exact).max():.1e}")
    our_time, found = timed(lambda: ours(said, lines))
    print(f"{'understudy':24} {our_time:8.3f} {their_time / our_time:6.1f}", end="")
    print(f"   {np.abs(found[0] - exact).max():.1e}, {np.nanmax(np.abs(found[1] - salience)):.1e}")
    name = next(iter(said))
    assert psprob(Samples(said), name)(lines[:1])[0].value is not None


if __name__ == "__main__":
    main()
