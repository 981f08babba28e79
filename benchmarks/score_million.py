"""Scoring at size: a million lines with every metric, how soon it starts, and Japanese beside its tokeniser alone.

    python benchmarks/score_million.py DATA [--lines 1000000]

DATA has personachat/ and personaclr/. The million lines are put together from PersonaChat's utterances and scored as
Zita of the demo by `understudy score -o` in a process of its own, whose memory is measured; the run is killed half way
and started again, and the file must be the one that a run in one go writes. Start is the time of the whole program for
one line. The Japanese lines are those of a novel's speakers, scored for the one who talks most, metrics ready made, by
CPU time and the median of three, as is the tokeniser.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from understudy.metrics import Samples
from understudy.metrics.registry import DEFAULT_METRICS, METRICS
from understudy.story.dialogue import Situation
from understudy.story.persona import Persona
from understudy.text import tokenizer

PROFILE = ("私は本が大好き。", "私は小さな町で家族と暮らしている。")


def write_lines(data: Path, path: Path, count: int) -> None:
    texts = []
    for line in (data / "personachat" / "valid_none_original.txt").read_text(encoding="utf-8").splitlines():
        texts.extend(line.partition(" ")[2].split("\t")[:2])
    chance = random.Random(0)
    with path.open("w", encoding="utf-8") as file:
        for number in range(count):
            file.write(
                f"{chance.choice(texts)} {chance.choice(texts)} {number}\n"
                if number % 3
                else chance.choice(texts) + "\n"
            )


def scoring(lines: Path, out: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "understudy", "score", str(lines), "--story", "demo", "--as", "Zita"]
    return subprocess.Popen([*command, "-o", str(out)], stdout=subprocess.DEVNULL)


def in_one_go(lines: Path, out: Path) -> float:
    start = time.perf_counter()
    if scoring(lines, out).wait():
        raise SystemExit("the run failed")
    return time.perf_counter() - start


def killed_half_way(lines: Path, out: Path, bytes_whole: int) -> int:
    run = scoring(lines, out)
    while not out.exists() or out.stat().st_size < bytes_whole / 2:
        time.sleep(0.05)
    run.send_signal(signal.SIGKILL)
    run.wait()
    written = out.stat().st_size
    in_one_go(lines, out)
    return written


def million(data: Path, count: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        lines, one, out, again = (Path(folder) / name for name in ("lines.txt", "one.txt", "out.jsonl", "again.jsonl"))
        one.write_text("The tide is out.\n", encoding="utf-8")
        write_lines(data, lines, count)
        in_one_go(one, Path(folder) / "warm.jsonl")
        starts = [in_one_go(one, Path(folder) / f"one-{number}.jsonl") for number in range(3)]
        print(f"one line, from start to end {statistics.median(starts):8.2f} s")
        taken = in_one_go(lines, out)
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        print(
            f"{count:,} lines, {len(DEFAULT_METRICS)} metrics {taken:8.1f} s   {count / taken:,.0f} lines a second",
            end="",
        )
        print(f", peak {peak:,.0f} MB")
        written = killed_half_way(lines, again, out.stat().st_size)
        same = again.read_bytes() == out.read_bytes()
        print(f"killed at {written / out.stat().st_size:.0%}, gone on: {'the same file' if same else 'ANOTHER FILE'}")


def seconds(work: Callable[[], object]) -> float:
    taken = []
    for _ in range(3):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return statistics.median(taken)


def japanese(data: Path) -> None:
    novels = [
        json.loads(path.read_text(encoding="utf-8")) for path in sorted((data / "personaclr/NaroU/test").glob("*.json"))
    ]
    novel = max(novels, key=lambda said: sum(map(len, said.values())))
    lines = [line for said in novel.values() for line in said]
    samples = Samples(novel, "ja")
    name = max(samples.names, key=samples.count)
    persona = Persona(name, profile=PROFILE, language="ja")
    context = SimpleNamespace(samples=samples, situation=Situation(persona))  # all that these metrics need
    metrics = [METRICS[metric](context) for metric in DEFAULT_METRICS]
    cut = tokenizer("ja")

    def whole() -> None:
        said = samples.tokenize(lines)
        for metric in metrics:
            metric.values(said)

    alone = seconds(lambda: [cut(line) for line in lines])
    scored = seconds(whole)
    print(
        f"\nJapanese, {len(lines):,} lines, {samples.count(name):,} sample lines of the persona, "
        f"{len(DEFAULT_METRICS)} metrics"
    )
    print(f"tokeniser alone {1e6 * alone / len(lines):8.1f} us a line")
    print(f"whole scoring   {1e6 * scored / len(lines):8.1f} us a line   {scored / alone:.2f} times the tokeniser")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--lines", type=int, default=1_000_000)
    options = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    million(options.data, options.lines)
    japanese(options.data)


if __name__ == "__main__":
    main()
