"""What a chat completion costs the server besides the reply: processor time a request, beside a bare Starlette route's.

    python benchmarks/serve_overhead.py [--requests 1500] [--rounds 5]

Both routes take the same body and are served by uvicorn, each in a process of its own. The bare one reads JSON and
answers with JSON of the same size; ours is POST /v1/chat/completions with the `scripted` agent, behind all its guards,
counting and logging as `understudy serve` does. Rounds take turns; what is told is the median of the rounds.
"""

from __future__ import annotations

import argparse
import http.client
import json
import logging
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Thread
from typing import Any

ASKED = {"model": "demo/Zita@2.3#Benedek", "messages": [{"role": "user", "content": "Who wrote it?"}]}
GOAL = 3.0
CLIENTS = 8


def bare() -> Any:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import JSONResponse
    from starlette.routing import Route

    answer = {"choices": [{"message": {"content": "Line 1.", "role": "assistant"}}], "padding": "x" * 550}

    async def chat(request: Request) -> JSONResponse:
        await request.json()
        return JSONResponse(answer)

    return Starlette(routes=[Route("/v1/chat/completions", chat, methods=["POST"])])


def ours() -> Any:
    from understudy.agents import agent_named
    from understudy.formats import read
    from understudy.server.app import make_app
    from understudy.server.context import AppContext
    from understudy.server.middleware import RequestLimits
    from understudy.server.story_registry import StoryRegistry
    from understudy.server.telemetry import LOG

    LOG.addHandler(logging.FileHandler("/dev/null"))
    LOG.setLevel(logging.INFO)
    context = AppContext.open(StoryRegistry({"demo": read("demo")}), agent_named("scripted"), Path(tempfile.mkdtemp()))
    return make_app(context, limits=RequestLimits(per_second=1e9, burst=10**9))


def serve(app: Any) -> None:
    """Serve until stdin ends; a line there is answered with the processor time spent so far."""
    import asyncio

    import uvicorn

    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    listening.listen(128)
    config = uvicorn.Config(
        app, log_config=None, access_log=False, server_header=False, ws="none", timeout_keep_alive=600
    )
    server = uvicorn.Server(config)

    def answering() -> None:
        print(listening.getsockname()[1], flush=True)
        for _ in sys.stdin:
            print(time.process_time(), flush=True)
        server.should_exit = True

    Thread(target=answering, daemon=True).start()
    asyncio.run(server.serve([listening]))


class Served:
    def __init__(self, which: str) -> None:
        command = [sys.executable, __file__, "--serve", which]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        port = int(self._line())
        self._connections = [http.client.HTTPConnection("127.0.0.1", port) for _ in range(CLIENTS)]
        for connection in self._connections:
            connection.connect()
            connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()

    def spent(self) -> float:
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return float(self._line())

    def cost(self, asked: dict[str, Any], requests: int) -> float:
        """Microseconds of processor time a request."""
        body, each = json.dumps(asked), requests // CLIENTS

        def asking(connection: http.client.HTTPConnection) -> None:
            for _ in range(each):
                connection.request("POST", "/v1/chat/completions", body, {"Content-Type": "application/json"})
                answer = connection.getresponse()
                told = answer.read()
                assert answer.status == 200, told

        before = self.spent()
        with ThreadPoolExecutor(CLIENTS) as clients:
            list(clients.map(asking, self._connections))
        return 1e6 * (self.spent() - before) / (each * CLIENTS)

    def close(self) -> None:
        assert self._process.stdin is not None
        for connection in self._connections:
            connection.close()
        self._process.stdin.close()
        self._process.wait(20)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=1500)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--serve", choices=["bare", "ours"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(bare() if options.serve == "bare" else ours())
        return
    servers = {"bare": Served("bare"), "ours": Served("ours")}
    rows: dict[str, list[float]] = {"a bare Starlette route": [], "a chat completion": [], "the same, streamed": []}
    for server in servers.values():
        server.cost(ASKED, options.requests // 5)  # everything is loaded and met once before it counts
    for _ in range(options.rounds):
        rows["a bare Starlette route"].append(servers["bare"].cost(ASKED, options.requests))
        rows["a chat completion"].append(servers["ours"].cost(ASKED, options.requests))
        rows["the same, streamed"].append(servers["ours"].cost(ASKED | {"stream": True}, options.requests))
    for server in servers.values():
        server.close()
    print(f"Processor time a request, medians of {options.rounds} rounds of {options.requests:,} requests\n")
    print(f"{'':26} {'µs':>7} {'ratio':>7}   goal {GOAL:.0f}")
    base = rows["a bare Starlette route"]
    for name, taken in rows.items():
        ratio = statistics.median(one / other for one, other in zip(taken, base))
        print(f"{name:26} {statistics.median(taken):7.0f} {ratio:7.2f}")


if __name__ == "__main__":
    main()
