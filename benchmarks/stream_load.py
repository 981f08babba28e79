"""Many streams at once from a slow back end: is any of them held up on its way through the server?

    python benchmarks/stream_load.py [--streams 50] [--tokens 40] [--rate 20]

`understudy serve demo` runs as a process of its own, with an agent that writes a token every 1/rate seconds, as a
language model behind a network does; each token is the time at which it was written. Clients take the same clock when
it arrives: the difference is what the server adds. It is measured over OpenAI's API and over chats, which also store
what is written. Last, 16 calls of one second each, with an agent that does not declare that it waits.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import statistics
import sys
import time
from collections.abc import Generator, Sequence
from importlib import import_module
from pathlib import Path

import httpx

from understudy.progress import Cancellation
from understudy.story.dialogue import DEFAULT_SAMPLING, Reply, Sampling, Situation, Turn, Usage

GOAL_MS = 50.0
TOKEN = re.compile(rb'"(?:content|text)":"(\d+\.\d+) "')
WHO = ("Zita", "Pia", "Casimir", "Haake", "Benedek")


class SlowWriter:
    """Stands for a back end that streams."""

    waits = True

    def __init__(self) -> None:
        self._tokens, self._rate = int(os.environ["STREAM_TOKENS"]), float(os.environ["STREAM_RATE"])

    def reply(self, situation: Situation, history: Sequence[Turn]) -> Reply:
        return Reply("".join(self.stream(situation, history)))

    def stream(
        self,
        situation: Situation,  # noqa: ARG002
        history: Sequence[Turn],  # noqa: ARG002
        sampling: Sampling = DEFAULT_SAMPLING,  # noqa: ARG002
        cancellation: Cancellation | None = None,
    ) -> Generator[str, None, Reply]:
        pieces: list[str] = []
        while len(pieces) < self._tokens and not (cancellation and cancellation.is_cancelled):
            time.sleep(1 / self._rate)
            pieces.append(f"{time.monotonic():.6f} ")
            yield pieces[-1]
        return Reply("".join(pieces), usage=Usage(1, 100, len(pieces), len(pieces) / self._rate))


class SlowCaller:
    """An agent of somebody's own that asks a network and says nothing of it."""

    def reply(self, situation: Situation, history: Sequence[Turn]) -> Reply:  # noqa: ARG002
        time.sleep(1)
        return Reply("There you are.")


async def delays_of(port: int, path: str, body: object) -> list[float]:
    """Of each token, the milliseconds between its writing and its arrival. A bare socket: no client's own delays."""
    content, delays = json.dumps(body).encode(), list[float]()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\nConnection: close\r\n"
    writer.write(f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content)
    try:
        while line := await reader.readline():
            now = time.monotonic()
            if found := TOKEN.search(line):
                delays.append(1000 * (now - float(found[1])))
    finally:
        writer.close()
    return delays


async def completions(port: int, number: int) -> list[float]:
    message = {"role": "user", "content": "Well?"}
    body = {"model": f"demo/{WHO[number % len(WHO)]}@2.2", "messages": [message], "stream": True}
    return await delays_of(port, "/v1/chat/completions", body)


async def chat(port: int, number: int) -> list[float]:
    new = {"story": "demo", "characters": [WHO[number % len(WHO)]], "at": "2.2"}
    async with httpx.AsyncClient(timeout=60) as client:
        made = (await client.post(f"http://127.0.0.1:{port}/api/chats", json=new)).json()
    return await delays_of(port, f"/api/chats/{made['id']}/messages", {"text": "Well?"})


def row(name: str, delays: list[list[float]], tokens: int) -> None:
    first = sorted(of_stream[0] for of_stream in delays)
    later = sorted(delay for of_stream in delays for delay in of_stream[1:])
    whole = sum(len(of_stream) == tokens for of_stream in delays)
    print(
        f"{name:12} {len(delays):8} {whole:8} {statistics.median(first):10.1f} {first[-1]:10.1f} "
        f"{statistics.median(later):10.1f} {later[int(0.99 * len(later))]:10.1f} {later[-1]:10.1f}"
    )


async def measured(port: int, options: argparse.Namespace) -> None:
    for name, one in (("completions", completions), ("chats", chat)):
        await one(port, 0)  # the story is looked up once
        delays = await asyncio.gather(*(one(port, number) for number in range(options.streams)))
        row(name, list(delays), options.tokens)


async def calls(url: str) -> None:
    body = {"model": "demo/Zita@2.2", "messages": [{"role": "user", "content": "Well?"}]}
    async with httpx.AsyncClient(base_url=url, timeout=60) as client:
        started = time.perf_counter()
        answers = await asyncio.gather(*(client.post("/v1/chat/completions", json=body) for _ in range(16)))
        assert all(answer.status_code == 200 for answer in answers)
        print(f"\n16 calls of one second each took {time.perf_counter() - started:.2f} s")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--streams", type=int, default=50)
    parser.add_argument("--tokens", type=int, default=40)
    parser.add_argument("--rate", type=float, default=20.0)
    options = parser.parse_args()
    os.environ |= {"STREAM_TOKENS": str(options.tokens), "STREAM_RATE": str(options.rate)}
    here = str(Path(__file__).parent)
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (here, os.environ.get("PYTHONPATH"))))
    sys.path.insert(0, here)
    served = import_module("serve_load").served

    print(f"{options.streams} streams of {options.tokens} tokens at {options.rate:g} tokens/s; goal {GOAL_MS:.0f} ms")
    print("milliseconds from a token's writing to its arrival\n")
    print(
        f"{'':12} {'streams':>8} {'whole':>8} {'first p50':>10} {'first max':>10} {'later p50':>10} {'later p99':>10} "
        f"{'later max':>10}"
    )
    with served("stream_load:SlowWriter") as server:
        asyncio.run(measured(server.port, options))
    with served("stream_load:SlowCaller") as server:
        asyncio.run(calls(f"http://127.0.0.1:{server.port}"))


if __name__ == "__main__":
    main()
