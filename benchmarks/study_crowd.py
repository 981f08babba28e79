"""A crowd that answers a study at once, beside the obvious way to write such a server: answers a second and latency.

    python benchmarks/study_crowd.py [--people 100] [--items 1000] [--each 10]

Everybody asks for an item, answers it, is given the next one with the response, and so on without a pause. Ours is
`understudy study serve` with its guards and its log. The obvious server is a Starlette route on SQLite, where every
answer is on the disk before it is acknowledged, too: in one transaction it stores the answer, reads all items and all
answers, and gives out the item that fewest people have.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx

STUDY = """\
kind = "likely"
title = "Would Zita say this?"
people_per_item = 1000
items_per_person = {each}

[material]
story = "demo"
character = "Zita"
lines = "lines.txt"
"""
CPU_FIELDS = 11, 12


def obvious(folder: Path, items: int, each: int) -> Any:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import JSONResponse
    from starlette.routing import Route

    path = folder / "answers.db"
    with sqlite3.connect(path) as made:
        made.execute("PRAGMA journal_mode = WAL")
        made.execute("CREATE TABLE items (id INTEGER PRIMARY KEY, document TEXT)")
        made.execute("CREATE TABLE answers (id INTEGER PRIMARY KEY, person TEXT, item INTEGER, answer TEXT)")
        text = json.dumps({"blocks": ["I count what I burn. " * 40], "questions": ["likely"]})
        made.executemany("INSERT INTO items (document) VALUES (?)", [(text,) for _ in range(items)])

    def step(person: str, body: dict[str, Any] | None) -> dict[str, Any]:
        connection = sqlite3.connect(path, isolation_level=None, timeout=60)
        connection.execute("BEGIN IMMEDIATE")
        if body:
            connection.execute(
                "UPDATE answers SET answer = ? WHERE id = ?", (json.dumps(body["answer"]), body["assignment"])
            )
        documents = {item: json.loads(text) for item, text in connection.execute("SELECT id, document FROM items")}
        rows = connection.execute("SELECT id, person, item, answer FROM answers").fetchall()
        given, own = Counter(item for _, _, item, _ in rows), {item for _, who, item, _ in rows if who == person}
        if len(own) >= each:
            connection.execute("COMMIT")
            connection.close()
            return {"state": "done"}
        item = min((item for item in documents if item not in own), key=lambda item: given[item])
        number = connection.execute("INSERT INTO answers (person, item) VALUES (?, ?)", (person, item)).lastrowid
        connection.execute("COMMIT")
        connection.close()
        return {"state": "item", "assignment": number, "item": documents[item]}

    async def take(request: Request) -> JSONResponse:
        body = await request.json() if request.method == "POST" else None
        return JSONResponse(await asyncio.to_thread(step, request.path_params["token"], body))

    routes = [Route("/api/take/{token}/consent", take), Route("/api/take/{token}/answers", take, methods=["POST"])]
    return Starlette(routes=routes)


def serve_obvious(folder: Path, items: int, each: int) -> None:
    import socket

    import uvicorn

    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    listening.listen(1024)
    print(f"http://127.0.0.1:{listening.getsockname()[1]}/\nCtrl-C stops.", flush=True)
    uvicorn.Server(uvicorn.Config(obvious(folder, items, each), log_level="warning")).run(sockets=[listening])


@contextmanager
def served(command: list[str], folder: Path) -> Iterator[tuple[subprocess.Popen[str], str, list[str]]]:
    """The process, its address and the tokens it printed."""
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, cwd=folder)
    try:
        assert process.stdout is not None
        printed = ""
        for line in process.stdout:
            printed += line
            if line.startswith("Ctrl-C"):
                break
        yield process, re.findall(r"http://[^/]+", printed)[0], re.findall(r"/take/(\S+)", printed)
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)


async def answer_all(client: httpx.AsyncClient, take: str, times: list[float], first: dict[str, Any]) -> None:
    response = await client.request(url=f"{take}/consent", **first)
    while (view := response.json())["state"] == "item":
        started = time.perf_counter()
        body = {"assignment": view["assignment"], "answer": {"likely": "likely"}}
        response = await client.post(f"{take}/answers", json=body)
        times.append(time.perf_counter() - started)


async def crowd(url: str, tokens: list[str], first: dict[str, Any]) -> list[float]:
    times: list[float] = []
    async with AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(httpx.AsyncClient(verify=False, timeout=300)) for _ in tokens]
        await asyncio.gather(
            *(answer_all(client, f"{url}/api/take/{token}", times, first) for client, token in zip(clients, tokens))
        )
    return times


def measure(name: str, command: list[str], folder: Path, people: int, first: dict[str, Any]) -> float:
    with served(command, folder) as (process, url, tokens):
        tokens = tokens or [f"person{number}" for number in range(people)]
        started, cpu = time.perf_counter(), cpu_s(process.pid)
        times = asyncio.run(crowd(url, tokens, first))
        took, cpu = time.perf_counter() - started, cpu_s(process.pid) - cpu
    times.sort()
    rate, p50, p95 = len(times) / took, statistics.median(times), times[int(0.95 * len(times))]
    print(f"{name:22} {len(times):8,} {rate:10.0f} {1000 * p50:9.0f} {1000 * p95:9.0f} {1000 * cpu / len(times):10.2f}")
    return rate


def cpu_s(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return sum(int(fields[field]) for field in CPU_FIELDS) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=100)
    parser.add_argument("--items", type=int, default=1_000)
    parser.add_argument("--each", type=int, default=10, help="answers of one person")
    parser.add_argument("--serve-obvious", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve_obvious:
        serve_obvious(options.serve_obvious, options.items, options.each)
        return
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    print(f"{options.people} people at once, {options.items:,} items, {os.cpu_count()} cores, load before {load}\n")
    print(f"{'':22} {'answers':>8} {'answers/s':>10} {'p50 ms':>9} {'p95 ms':>9} {'cpu ms':>10}")
    sizes = ["--items", str(options.items), "--each", str(options.each)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "lines.txt").write_text("".join(f"I burn {number} letters.\n" for number in range(options.items)))
        (folder / "zita.toml").write_text(STUDY.format(each=options.each))
        ours = [sys.executable, "-m", "understudy", "study", "serve", "zita.toml", "--port", "0"]
        first = {"method": "POST", "json": {"asked": {}}}
        rate = measure("understudy study serve", [*ours, "--links", str(options.people)], folder, options.people, first)
        obviously = [sys.executable, str(Path(__file__).absolute()), "--serve-obvious", name, *sizes]
        other = measure("the obvious way", obviously, folder, options.people, {"method": "GET"})
    print(f"\n{rate / other:.1f} times as many answers a second")


if __name__ == "__main__":
    main()
