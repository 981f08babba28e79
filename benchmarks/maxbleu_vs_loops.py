"""MaxBLEU-3 of 1,000 lines against 10,000, beside the obvious loops over nltk and sacrebleu. One core.

    pip install -r benchmarks/requirements.txt
    python benchmarks/maxbleu_vs_loops.py DATA [--lines 1000] [--samples 10000] [--pairs 20000]

DATA has personachat/. Ours is timed whole: cutting all lines into words, building the index, scoring; the median of
three. The loops are given the words. They would take hours, so they run over some of the pairs, drawn with a seed, and
their time for all is worked out from that. The values of those pairs' lines must be the same to 1e-12.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import time
import warnings
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from understudy.language.lexical import Corpus
from understudy.metrics import Samples, maxbleu

ORDER = 3
Bleu = Callable[[list[str], list[str]], float]


def utterances(data: Path) -> list[str]:
    found: dict[str, None] = {}
    for file in sorted((data / "personachat").glob("*.txt")):
        for line in file.read_text(encoding="utf-8").splitlines():
            said = line.partition(" ")[2].split("\t")
            if len(said) > 1:
                found.update(dict.fromkeys(said[:2]))
    texts = list(found)
    random.Random(0).shuffle(texts)
    return texts


def ours(lines: list[str], samples: list[str]) -> list[float]:
    said = Samples({"somebody": samples})
    values: list[float] = maxbleu(said, "somebody").values(said.tokenize(lines)).tolist()
    return values


def nltk_bleu() -> Bleu:
    from nltk.translate.bleu_score import sentence_bleu

    warnings.simplefilter("ignore")  # it warns of every pair that has no trigram in common
    weights = (1 / ORDER,) * ORDER

    def bleu(line: list[str], sample: list[str]) -> float:
        found = float(sentence_bleu([sample], line, weights))
        return found if found > 1e-100 else 0.0  # it writes nothing in common as the least number there is

    return bleu


def sacre_bleu() -> Bleu:
    import logging

    from sacrebleu.metrics import BLEU

    logging.getLogger("sacrebleu").setLevel(logging.ERROR)  # it warns of every pair
    metric = BLEU(max_ngram_order=ORDER, smooth_method="none", tokenize="none", effective_order=False)
    return lambda line, sample: float(metric.sentence_score(" ".join(line), [" ".join(sample)]).score) / 100


def looped(bleu: Bleu, lines: list[list[str]], samples: list[list[str]]) -> tuple[float, list[float]]:
    """Seconds a pair, and the best of each line."""
    start = time.process_time()
    best = [max(bleu(line, sample) for sample in samples) for line in lines]
    return (time.process_time() - start) / (len(lines) * len(samples)), best


def cut(texts: list[str]) -> list[list[str]]:
    lines = Corpus(texts, marks=True).lines
    return [lines.words(place) for place in range(len(texts))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--lines", type=int, default=1_000)
    parser.add_argument("--samples", type=int, default=10_000)
    parser.add_argument("--pairs", type=int, default=20_000)
    options = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    texts = utterances(options.data)[: options.lines + options.samples]
    lines, samples = texts[: options.lines], texts[options.lines :]
    taken, values = [], []
    for _ in range(3):
        start = time.process_time()
        values = ours(lines, samples)
        taken.append(time.process_time() - start)
    our_time = statistics.median(taken)
    pairs = len(lines) * len(samples)
    print(f"MaxBLEU-{ORDER} of {len(lines):,} lines against {len(samples):,}: {pairs:,} pairs, one core\n")
    print(f"{'':22} {'seconds':>10} {'ns a pair':>10} {'ratio':>8}")
    print(f"{'understudy, all in all':22} {our_time:10.3f} {1e9 * our_time / pairs:10.1f} {1:8}")
    few = random.Random(0).sample(range(len(samples)), min(options.pairs // 20, len(samples)))
    some = [samples[place] for place in few]
    theirs_cut, lines_cut = cut(some), cut(lines[:20])
    expected = ours(lines[:20], some)
    for name, bleu in (("nltk, looped", nltk_bleu()), ("sacrebleu, looped", sacre_bleu())):
        runs = [looped(bleu, lines_cut, theirs_cut) for _ in range(3)]
        each, best = statistics.median(run[0] for run in runs), runs[0][1]
        furthest = float(np.max(np.abs(np.array(best) - np.array(expected))))
        print(f"{name:22} {each * pairs:10,.0f} {1e9 * each:10,.0f} {each * pairs / our_time:8,.0f}", end="")
        print(f"   for all, worked out from {len(some) * 20:,} pairs; values differ by at most {furthest:.0e}")
    print(f"\nmean {np.nanmean(values):.4f}")


if __name__ == "__main__":
    main()
