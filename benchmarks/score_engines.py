"""The same lines scored by one process, by a process pool written by hand, and by `--engine daft`.

    pip install 'understudy[scale]'
    python benchmarks/score_engines.py DATA [--lines 200000] [--ray]

DATA has personachat/. Lines are put together from its utterances, in four .jsonl files, and scored as Zita of the demo
with every usual metric, from the start of the program to its end, by the wall clock, medians of three; the engines take
turns, so that a busy machine is busy for all. The pool is the shortest program that does it: a process for each core
that makes the metrics and scores files or halves of them, and one Parquet file at the end, without provenance, reasons
or a way to go on after a stop. All must give the same values to the last bit.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

from understudy.metrics.line_metric import LineMetric
from understudy.metrics.registry import DEFAULT_METRICS, MetricContext

FILES = 4
PIECE = 4096
metrics: list[LineMetric] = []


def write_lines(data: Path, folder: Path, count: int) -> None:
    texts = []
    for line in (data / "personachat" / "valid_none_original.txt").read_text(encoding="utf-8").splitlines():
        texts.extend(line.partition(" ")[2].split("\t")[:2])
    chance = random.Random(0)
    for number in range(FILES):
        with (folder / f"lines-{number}.jsonl").open("w", encoding="utf-8") as file:
            for _ in range(count // FILES):
                file.write(json.dumps({"text": f"{chance.choice(texts)} {chance.choice(texts)}"}) + "\n")


def make_metrics() -> None:
    from understudy.formats import read
    from understudy.story.dialogue import situation_at

    story = read("demo")
    grounds = MetricContext(story, situation_at(story, "Zita", "end"), author=True)
    metrics.extend(grounds.metric(name) for name in DEFAULT_METRICS)


def score_piece(texts: list[str]) -> pa.Table:
    lines = metrics[0].samples.tokenize(texts)
    values = {metric.name: pa.array(metric.values(lines), from_pandas=True) for metric in metrics}
    return pa.table({"text": texts, **values})


def by_hand(folder: Path, out: Path) -> None:
    texts = [
        json.loads(line)["text"]
        for path in sorted(folder.glob("*.jsonl"))
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    pieces = [texts[first : first + PIECE] for first in range(0, len(texts), PIECE)]
    with get_context("spawn").Pool(cores(), make_metrics) as pool:
        parquet.write_table(pa.concat_tables(pool.imap(score_piece, pieces)), out)


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def program(*arguments: str | Path) -> None:
    """One thread in each process: there is one for each core."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    subprocess.run([sys.executable, *map(str, arguments)], check=True, stdout=subprocess.DEVNULL, env=environment)


def one_process(folder: Path, out: Path) -> None:
    whole = out.with_suffix(".jsonl")
    with whole.open("wb") as file:
        for path in sorted(folder.glob("*.jsonl")):
            file.write(path.read_bytes())
    program("-m", "understudy", "score", whole, "--story", "demo", "--as", "Zita", "-o", out)


def daft(folder: Path, out: Path, *more: str) -> None:
    asked = ("--story", "demo", "--as", "Zita", "--engine", "daft")
    program("-m", "understudy", "score", folder / "*.jsonl", *asked, *more, "-o", out)


def values_of(path: Path) -> list[list[float | None]]:
    if path.suffix == ".json":
        with path.open(encoding="utf-8") as file:
            return [list(json.loads(line)["scores"].values()) for line in file]
    columns = parquet.read_table(path, columns=list(DEFAULT_METRICS))
    return [list(row) for row in zip(*(columns[name].to_pylist() for name in DEFAULT_METRICS))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--lines", type=int, default=200_000)
    parser.add_argument("--ray", action="store_true", help="on a local Ray cluster too, its start included")
    parser.add_argument("--by-hand", nargs=2, type=Path, metavar=("LINES", "OUT"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.by_hand:
        by_hand(*options.by_hand)
        return
    engines: dict[str, Callable[[Path, Path], None]] = {
        "one process": one_process,
        "pool by hand": lambda folder, out: program(__file__, options.data, "--by-hand", folder, out),
        "daft": daft,
    }
    if options.ray:
        engines["daft on Ray"] = lambda folder, out: daft(folder, out, "--cluster", "local")
    taken: dict[str, list[float]] = {name: [] for name in engines}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "lines"
        folder.mkdir()
        write_lines(options.data, folder, options.lines)
        first: list[list[float | None]] = []
        for turn in range(3):
            for name, engine in engines.items():
                out = Path(place) / f"{name}-{turn}.{'json' if engine is one_process else 'parquet'}"
                start = time.perf_counter()
                engine(folder, out)
                taken[name].append(time.perf_counter() - start)
                first = first or values_of(out)
                if values_of(out) != first:
                    raise SystemExit(f"{name} gives other values")
                out.unlink()
    print(f"{len(first):,} lines, {len(DEFAULT_METRICS)} metrics, {cores()} cores, the same values from all\n")
    print(f"{'':14} {'seconds':>8} {'lines a second':>15} {'of the pool':>12}")
    pool = statistics.median(taken["pool by hand"])
    for name, each in taken.items():
        middle = statistics.median(each)
        print(f"{name:14} {middle:8.1f} {len(first) / middle:15,.0f} {middle / pool:12.2f}")


if __name__ == "__main__":
    main()
