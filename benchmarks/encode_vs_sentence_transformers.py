"""Encoding in batches: our int8 model against sentence-transformers, the same network, one thread, one core.

    pip install -r benchmarks/requirements.txt
    python benchmarks/encode_vs_sentence_transformers.py DATA MINILM [--texts 2000]

DATA has personachat/. MINILM is a folder of all-MiniLM-L6-v2 as sentence-transformers loads it: the network our encoder
is, with other weights. Both get the same texts, take turns in rounds, and sort them by length themselves.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ["TOKENIZERS_PARALLELISM"] = "false"

from understudy.language.encoding.encoder import SentenceEncoder

ROUNDS = 5


def utterances(data: Path, count: int) -> list[str]:
    found: dict[str, None] = {}
    with (data / "personachat" / "train_both_original_no_cands.txt").open(encoding="utf-8") as lines:
        for line in lines:
            said = line.rstrip("\n").partition(" ")[2].split("\t")
            if len(said) > 1:
                found.update(dict.fromkeys(said[:2]))
            if len(found) >= count:
                break
    return list(found)[:count]


def main() -> None:
    import torch
    from sentence_transformers import SentenceTransformer

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("minilm", type=Path)
    parser.add_argument("--texts", type=int, default=2_000)
    parser.add_argument("--model", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(1)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    texts = utterances(options.data, options.texts)
    theirs = SentenceTransformer(str(options.minilm), device="cpu")
    ours = SentenceEncoder(options.model, threads=1, cache=False)
    ways: dict[str, Callable[[list[str]], object]] = {
        "sentence-transformers, 32 a batch": lambda some: theirs.encode(some, batch_size=32, show_progress_bar=False),
        "sentence-transformers, 128 a batch": lambda some: theirs.encode(some, batch_size=128, show_progress_bar=False),
        "understudy.language.encoding, int8": lambda some: ours.encode(some),
    }
    wall: dict[str, list[float]] = {name: [] for name in ways}
    busy: dict[str, list[float]] = {name: [] for name in ways}
    part = len(texts) // (ROUNDS + 1)
    for way in ways.values():
        way(texts[:part])
    for number in range(1, ROUNDS + 1):
        some = texts[number * part : (number + 1) * part]
        for name, way in ways.items():
            start, spent = time.perf_counter(), time.process_time()
            way(some)
            wall[name].append(part / (time.perf_counter() - start))
            busy[name].append(part / (time.process_time() - spent))
    print(f"{part * ROUNDS:,} utterances, one thread, one core, medians of {ROUNDS} rounds\n")
    print(f"{'':36} {'texts/s':>8} {'texts/s of processor time':>27}")
    for name in ways:
        print(f"{name:36} {statistics.median(wall[name]):8.0f} {statistics.median(busy[name]):27.0f}")
    *others, own = ways
    times, times_busy = (
        statistics.median(rates[own]) / max(statistics.median(rates[name]) for name in others) for rates in (wall, busy)
    )
    print(f"\n{times:.2f} times the better of the two ({times_busy:.2f} by processor time)")


if __name__ == "__main__":
    main()
