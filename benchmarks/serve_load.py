"""The server under load, with the shipped encoder: many streams, a burst, many requests, and a stop in between.

    python benchmarks/serve_load.py [--streams 200] [--requests 10000] [--agent encoder]

`understudy serve demo` runs as a process of its own; clients are here. First each question is asked alone: that is what
its reply must be. Then how many replies a second the server can give is measured with everybody asking at once (the
best of three times), and

    steady    streams arrive at random (Poisson) at 60% of that; every reply must be the one to its own question
    burst     all streams at once; each is answered, in the order they came
    memory    many requests one after another (`scripted`): resident memory before and after
    stop      Ctrl-C while streams wait and run: all of them are finished, and the server ends with 0

A stream's time to first token runs from before its connection is opened to its first word.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

SHARE = 0.6
TAKEN = 95  # requests a second, of the 100 that one client may make
GOAL = 1.0  # seconds to the first token, of 99 in 100
WHO = ("Zita@2.3#Benedek", "Zita@1.3", "Pia@2.2", "Casimir@3.1", "Haake@2.1", "Benedek@2.2#Zita")
ABOUT = (
    *("the letter", "your father", "the quarantine", "the mail boat", "coffee", "the doctor", "the registry", "ink"),
    *("the harbour", "a forger", "the consul", "Pia", "the fever", "Ismar", "the night", "money", "the bill of health"),
)
ASKING = ("What do you know of {}?", "Tell me about {}.", "Were you afraid of {}?", "Who told you of {}?")


@dataclass(frozen=True, slots=True)
class Told:
    """What became of one stream."""

    question: int
    first: float
    """Seconds to the first token."""
    whole: float
    text: str
    finished: bool


class Served:
    """A server in a process of its own."""

    def __init__(self, agent: str, data: Path) -> None:
        command = [sys.executable, "-m", "understudy", "serve", "demo", "--port", "0", "--agent", agent]
        self._log = (data / "log").open("w")
        self.process = subprocess.Popen(
            [*command, "--data", str(data)],
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if found := re.search(r"http://127\.0\.0\.1:(\d+)", line):
                self.port = int(found[1])
                return
        raise RuntimeError("the server did not start")

    def memory(self) -> float:
        """Resident, in MiB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.findall(r"VmRSS:\s+(\d+)", status)[0]) / 1024

    def stop(self) -> int:
        self.process.send_signal(signal.SIGINT)
        self.process.communicate(timeout=120)
        self._log.close()
        return self.process.returncode


@contextmanager
def served(agent: str) -> Iterator[Served]:
    with tempfile.TemporaryDirectory() as folder:
        server = Served(agent, Path(folder))
        try:
            yield server
        finally:
            if server.process.poll() is None:
                server.stop()


def questions() -> list[tuple[str, str]]:
    return [(who, form.format(about)) for who in WHO for about in ABOUT for form in ASKING]


async def stream(port: int, number: int, who: str, text: str) -> Told:
    """One stream on a connection of its own."""
    body = json.dumps({"model": f"demo/{who}", "messages": [{"role": "user", "content": text}], "stream": True})
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
    started = time.perf_counter()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(f"{head}Content-Length: {len(body.encode())}\r\nConnection: close\r\n\r\n{body}".encode())
        first, words, finished = 0.0, list[str](), False
        while line := await reader.readline():
            if line.startswith(b"data: {"):
                (choice,) = json.loads(line[6:])["choices"]
                if word := choice["delta"].get("content"):
                    first = first or time.perf_counter() - started
                    words.append(word)
            finished = finished or line.startswith(b"data: [DONE]")
        return Told(number, first, time.perf_counter() - started, "".join(words), finished)
    finally:
        writer.close()


async def burst(port: int, asked: list[tuple[int, tuple[str, str]]]) -> list[Told]:
    return await asyncio.gather(*(stream(port, number, *question) for number, question in asked))


async def steadily(port: int, asked: list[tuple[int, tuple[str, str]]], rate: float) -> list[Told]:
    chance, under_way = random.Random(4), list[asyncio.Task[Told]]()
    for number, question in asked:
        under_way.append(asyncio.ensure_future(stream(port, number, *question)))
        await asyncio.sleep(chance.expovariate(rate))
    return list(await asyncio.gather(*under_way))


def wrong(told: list[Told], right: list[str]) -> int:
    return sum(not one.finished or one.text != right[one.question] for one in told)


def row(name: str, told: list[Told], right: list[str], rest: str = "") -> None:
    first = sorted(one.first for one in told)
    p50, p99 = statistics.median(first), first[min(int(0.99 * len(first)), len(first) - 1)]
    lost = sum(not one.finished for one in told)
    print(
        f"{name:10} {len(told):8,} {lost:5} {wrong(told, right) - lost:9} {1000 * p50:9.0f} {1000 * p99:9.0f}   {rest}"
    )


def order_kept(told: list[Told]) -> float:
    """Of all pairs of a burst, the share of which the one who came first was answered first."""
    firsts = [one.first for one in told]
    pairs = [(a, b) for place, a in enumerate(firsts) for b in firsts[place + 1 :]]
    return sum(a <= b for a, b in pairs) / len(pairs)


def replies_a_second(port: int, asked: list[tuple[int, tuple[str, str]]]) -> float:
    started = time.perf_counter()
    asyncio.run(burst(port, asked))
    return len(asked) / (time.perf_counter() - started)


def with_the_agent(options: argparse.Namespace) -> None:
    everything = list(enumerate(questions()))
    chance = random.Random(7)
    with served(options.agent) as server:
        right = [asyncio.run(stream(server.port, number, *question)).text for number, question in everything]
        asked = [chance.choice(everything) for _ in range(options.streams)]
        capacity = max(replies_a_second(server.port, asked) for _ in range(3))
        rate = SHARE * capacity
        print(f"{len(everything)} questions to {len(WHO)} characters; at most {capacity:.1f} replies/s are given\n")
        print(f"{'':10} {'streams':>8} {'lost':>5} {'mixed up':>9} {'p50 ms':>9} {'p99 ms':>9}   to the first token")
        steady = [chance.choice(everything) for _ in range(options.steady)]
        told = asyncio.run(steadily(server.port, steady, rate))
        row("steady", told, right, f"{rate:.1f} arrivals/s; goal {1000 * GOAL:.0f} ms")
        told = asyncio.run(burst(server.port, asked))
        row("burst", told, right, f"{order_kept(told):.3f} of pairs answered in the order they came")
        told, status = asyncio.run(stopping(server, asked))
        row("stop", told, right, f"Ctrl-C after the first reply; the server ended with {status}")


async def stopping(server: Served, asked: list[tuple[int, tuple[str, str]]]) -> tuple[list[Told], int]:
    under_way = [asyncio.ensure_future(stream(server.port, number, *question)) for number, question in asked]
    await asyncio.wait(under_way, return_when=asyncio.FIRST_COMPLETED)
    stopped = asyncio.create_task(asyncio.to_thread(server.stop))
    return list(await asyncio.gather(*under_way)), await stopped


async def one_after_another(port: int, requests: int, lanes: int = 4) -> None:
    """As many a second as the server takes from one client."""
    left, started = iter(range(requests)), time.perf_counter()

    async def lane() -> None:
        for number in left:
            await asyncio.sleep(number / TAKEN - (time.perf_counter() - started))
            told = await stream(port, 0, WHO[0], ASKING[0])
            assert told.finished, told

    await asyncio.gather(*(lane() for _ in range(lanes)))


def memory(options: argparse.Namespace) -> None:
    with served("scripted") as server:
        asyncio.run(one_after_another(server.port, options.requests // 10))
        before = server.memory()
        started = time.perf_counter()
        asyncio.run(one_after_another(server.port, options.requests))
        taken = time.perf_counter() - started
        after = server.memory()
    print(
        f"\nmemory     {options.requests:,} streams with `scripted` in {taken:.0f} s: "
        f"{before:.1f} MiB before, {after:.1f} MiB after"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--streams", type=int, default=200, help="in a burst; 0 leaves all but memory out")
    parser.add_argument("--steady", type=int, default=1000, help="streams that arrive at random")
    parser.add_argument("--requests", type=int, default=10_000, help="for the look at memory; 0 leaves it out")
    parser.add_argument("--agent", default="encoder")
    options = parser.parse_args()
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    print(f"`understudy serve demo --agent {options.agent}`, {os.cpu_count()} cores, load before {load}")
    if options.streams:
        with_the_agent(options)
    if options.requests:
        memory(options)


if __name__ == "__main__":
    main()
