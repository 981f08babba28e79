"""The tf-idf index against the obvious way: scikit-learn's vectors, cosine with all, sort. One core, same top ten.

    pip install -r benchmarks/requirements.txt
    python benchmarks/tfidf_vs_sklearn.py DATA [--candidates 131000] [--queries 200]

DATA has personachat/. The candidates are its utterances; short of the number wanted, sentences are put together from
two of them. scikit-learn is given our words and our weights (smoothed idf, length 1), so that both must find the same.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from understudy.language.lexical import TfIdf
from understudy.text import words

Found = list[tuple[int, float]]


def utterances(data: Path, count: int) -> list[str]:
    found: dict[str, None] = {}
    for file in sorted((data / "personachat").glob("*.txt")):
        for line in file.read_text(encoding="utf-8").splitlines():
            said = line.partition(" ")[2].split("\t")
            if len(said) > 1:
                found.update(dict.fromkeys(said[:2]))
    texts, chance = list(found), random.Random(0)
    chance.shuffle(texts)
    whole = len(texts)
    while len(texts) < count:
        texts.append(f"{texts[chance.randrange(whole)]} {texts[chance.randrange(whole)]}")
    return texts[:count]


def timed(search: Callable[[str], Found], queries: list[str]) -> tuple[float, list[Found]]:
    """Median seconds a query, and what was found."""
    taken, found = [], []
    for query in queries:
        start = time.perf_counter()
        found.append(search(query))
        taken.append(time.perf_counter() - start)
    return statistics.median(taken), found


def same(one: Found, other: Found) -> bool:
    """The same ten; those with equal scores may stand in another order, and the last of them be another."""
    scores = np.allclose([score for _, score in one], [score for _, score in other], atol=1e-5)
    last = one[-1][1] if one else 0.0
    above = [{place for place, score in found if score > last + 1e-5} for found in (one, other)]
    return bool(scores) and above[0] == above[1]


def main() -> None:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.metrics.pairwise import cosine_similarity

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--candidates", type=int, default=131_000)
    parser.add_argument("--queries", type=int, default=200)
    options = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    texts = utterances(options.data, options.candidates + options.queries)
    queries, candidates = texts[: options.queries], texts[options.queries :]
    ours = TfIdf(candidates)
    vectorizer = TfidfVectorizer(analyzer=words, dtype=np.float32)
    matrix = vectorizer.fit_transform(candidates)

    def obvious(query: str) -> Found:
        scores = cosine_similarity(vectorizer.transform([query]), matrix)[0]
        order = np.argsort(-scores)[:10]
        return [(int(place), float(scores[place])) for place in order if scores[place] > 0]

    few = queries[: max(options.queries // 4, 1)]
    their_time, theirs = timed(obvious, few)
    our_time, found = timed(lambda query: ours.top(query, 10), queries)
    agreeing = sum(same(one, other) for one, other in zip(theirs, found))
    print(f"{len(candidates):,} candidates, one core, medians\n")
    print(f"{'':26} {'ms a query':>11} {'queries a second':>17}")
    print(f"{'scikit-learn and argsort':26} {1000 * their_time:11.2f} {1 / their_time:17,.0f}")
    print(f"{'understudy.language.lexical':26} {1000 * our_time:11.3f} {1 / our_time:17,.0f}")
    print(f"\n{their_time / our_time:.0f} times as many; the same top ten for {agreeing} of {len(few)} queries")


if __name__ == "__main__":
    main()
