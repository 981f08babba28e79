"""A language model server that behaves as badly as it is told to, in a process of its own.

    python tests/llmserver.py [--port 0] [--log requests.jsonl] [--tls certificate-and-key.pem]

prints its base URL and speaks OpenAI's chat completions. The model's name says how it answers, with options after a
question mark: 'echo?rate=20' repeats the last message at twenty tokens (words) a second, 'say?text=Good+evening' says
that, 'dies?after=3&times=1' breaks off after three tokens the first time and then works; llmscenarios.py has them all.
The path may say it too: a base URL of .../SCENARIO/v1 (options in the model's name still count).

Options of all: text, rate (tokens a second; 0 is at once), times (how often a fault happens before the model works;
always unless given), delay (seconds before the first token), key (requests without it get 401).

The log has a JSON object a line: {"event": "request", time, path, headers, body}, {"event": "first_token", time},
{"event": "finished", tokens}, {"event": "disconnected", tokens} where the client went away; `id` ties them together.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import ssl
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from llmscenarios import SCENARIOS, TEXT, Call, say

__all__ = ["SCENARIOS", "TEXT", "Running", "running"]


class FaultyServer:
    def __init__(self, log: Path | None) -> None:
        self._log_file = None if log is None else log.open("a", encoding="utf-8")
        self._ids, self._faults = count(1), Counter[str]()

    def log(self, event: str, call_id: int, **details: Any) -> None:
        if self._log_file is not None:
            self._log_file.write(json.dumps({"event": event, "id": call_id, "time": time.time(), **details}) + "\n")
            self._log_file.flush()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            await self._serve(reader, writer)
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        path = head[0].split(" ")[1]
        pairs = (line.partition(":") for line in head[1:] if line)
        headers = {name.lower(): value.strip() for name, _, value in pairs}
        body = json.loads(await reader.readexactly(int(headers.get("content-length", 0))) or b"{}")
        name, _, query = str(body.get("model", "")).partition("?")
        first = path.strip("/").partition("/")[0]
        scenario = first if first in SCENARIOS else name
        options = {key: values[-1] for key, values in parse_qs(query).items()}
        call = Call(next(self._ids), path, headers, body, options, reader, writer, self.log)
        self.log("request", call.id, path=path, headers=headers, body=body)
        if path.endswith("/models") and scenario != first:
            models = [{"id": scenario, "object": "model"} for scenario in SCENARIOS]
            await call.document({"object": "list", "data": models})
            return
        if "key" in options and headers.get("authorization") != f"Bearer {options['key']}":
            await call.document({"error": {"message": "wrong key"}}, "401 Unauthorized")
            return
        self._faults[path + str(body.get("model"))] += 1
        if scenario not in SCENARIOS:
            await call.document({"error": {"message": f"model '{name}' not found"}}, "404 Not Found")
            return
        is_over = self._faults[path + str(body.get("model"))] > call.number("times", float("inf"))
        await self._until_gone(call, say if is_over else SCENARIOS[scenario])

    async def _until_gone(self, call: Call, behave: Callable[[Call], Awaitable[None]]) -> None:
        """Behaves, until the client goes away."""
        behaving = asyncio.ensure_future(behave(call))
        leaving = asyncio.ensure_future(call.reader.read(1))
        await asyncio.wait({behaving, leaving}, return_when=asyncio.FIRST_COMPLETED)
        is_finished = behaving.done() and behaving.exception() is None
        for task in (behaving, leaving):
            task.cancel()
        with contextlib.suppress(asyncio.CancelledError, ConnectionError):
            await behaving
        self.log("finished" if is_finished else "disconnected", call.id, tokens=call.tokens)


async def main(port: int, log: Path | None, certificate: Path | None) -> None:
    tls = None
    if certificate is not None:
        tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        tls.load_cert_chain(certificate)
    server = await asyncio.start_server(FaultyServer(log).serve, "127.0.0.1", port, backlog=512, ssl=tls)
    print(f"http{'s' if tls else ''}://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    async with server:
        await server.serve_forever()


@dataclass(frozen=True)
class Running:
    """A server that runs; `url` is its base URL."""

    url: str
    log: Path

    def at(self, scenario: str) -> str:
        """A base URL that says the scenario, for clients that choose the model's name themselves."""
        return self.url.removesuffix("/v1") + f"/{scenario}/v1"

    def events(self, event: str = "request", model: str | None = None) -> list[dict[str, Any]]:
        """What was logged; of requests, those for one model where it is given."""
        lines = self.log.read_text(encoding="utf-8").rpartition("\n")[0].splitlines()  # the last may be half written
        entries = [json.loads(line) for line in lines]
        chosen = [entry for entry in entries if entry["event"] == event]
        return chosen if model is None else [entry for entry in chosen if entry["body"].get("model") == model]


@contextlib.contextmanager
def running(log: Path, certificate: Path | None = None) -> Iterator[Running]:
    """Start a server of this kind, and stop it at the end of the block."""
    command = [sys.executable, __file__, "--log", str(log), *(["--tls", str(certificate)] if certificate else [])]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield Running(process.stdout.readline().strip(), log)
        finally:
            process.kill()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--log", type=Path)
    parser.add_argument("--tls", type=Path)
    arguments = parser.parse_args()
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(main(arguments.port, arguments.log, arguments.tls))
