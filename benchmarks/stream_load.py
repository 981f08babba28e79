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
import statistics
import sys
import time
from collections.abc import Generator, Sequence
from pathlib import Path

import httpx

from understudy.cancellation import Cancellation
from understudy.dialogue import DEFAULT_SAMPLING, Reply, Sampling, Situation, Turn, Usage

GOAL_MS = 50.0
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


async def delays_of(client: httpx.AsyncClient, path: str, body: object) -> list[float]:
    """Of each token, the milliseconds between its writing and its arrival."""
    delays: list[float] = []
    async with client.stream("POST", path, json=body) as response:
        response.raise_for_status()
        async for line in response.aiter_lines():
            now = time.monotonic()
            if not line.startswith("data: {"):
                continue
            data = json.loads(line[6:])
            choices = data.get("choices")
            text = (choices[0]["delta"].get("content") if choices else None) if "object" in data else data.get("text")
            if text and (choices or set(data) == {"message", "text"}):
                delays.append(1000 * (now - float(text)))
    return delays


async def completions(client: httpx.AsyncClient, number: int) -> list[float]:
    message = {"role": "user", "content": "Well?"}
    body = {"model": f"demo/{WHO[number % len(WHO)]}@2.2", "messages": [message], "stream": True}
    return await delays_of(client, "/v1/chat/completions", body)


async def chat(client: httpx.AsyncClient, number: int) -> list[float]:
    new = {"story": "demo", "characters": [WHO[number % len(WHO)]], "at": "2.2"}
    made = (await client.post("/api/chats", json=new)).json()
    return await delays_of(client, f"/api/chats/{made['id']}/messages", {"text": "Well?"})


def row(name: str, delays: list[list[float]], tokens: int) -> None:
    first = sorted(of_stream[0] for of_stream in delays)
    later = sorted(delay for of_stream in delays for delay in of_stream[1:])
    whole = sum(len(of_stream) == tokens for of_stream in delays)
    print(
        f"{name:12} {len(delays):8} {whole:8} {statistics.median(first):10.1f} {first[-1]:10.1f} "
        f"{statistics.median(later):10.1f} {later[int(0.99 * len(later))]:10.1f} {later[-1]:10.1f}"
    )


async def measured(url: str, options: argparse.Namespace) -> None:
    limits = httpx.Limits(max_connections=options.streams)
    async with httpx.AsyncClient(base_url=url, timeout=60, limits=limits) as client:
        for name, one in (("completions", completions), ("chats", chat)):
            await one(client, 0)  # the story's characters are looked up once
            delays = await asyncio.gather(*(one(client, number) for number in range(options.streams)))
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
    from serve_load import served

    print(f"{options.streams} streams of {options.tokens} tokens at {options.rate:g} tokens/s; goal {GOAL_MS:.0f} ms")
    print("milliseconds from a token's writing to its arrival\n")
    print(
        f"{'':12} {'streams':>8} {'whole':>8} {'first p50':>10} {'first max':>10} {'later p50':>10} {'later p99':>10} "
        f"{'later max':>10}"
    )
    with served("stream_load:SlowWriter") as server:
        asyncio.run(measured(f"http://127.0.0.1:{server.port}", options))
    with served("stream_load:SlowCaller") as server:
        asyncio.run(calls(f"http://127.0.0.1:{server.port}"))


if __name__ == "__main__":
    main()
