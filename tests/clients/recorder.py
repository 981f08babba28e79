"""A proxy that keeps what a client sent, and passes on what the server answers as it comes."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

__all__ = ["Recorder", "SentRequest"]

HOP_BY_HOP = frozenset({"connection", "transfer-encoding", "keep-alive", "host", "accept-encoding", "content-length"})


@dataclass(frozen=True, slots=True)
class SentRequest:
    """What a client sent, and what it got."""

    path: str
    body: Any
    status: int
    answer: bytes

    @property
    def text(self) -> str:
        """The reply in a chat completion, streamed or whole."""
        if not self.answer.startswith(b"data:"):
            choices = json.loads(self.answer).get("choices", [])
            return "".join(choice["message"]["content"] for choice in choices)
        pieces = []
        for line in self.answer.decode().splitlines():
            if line.startswith("data: {"):
                choices = json.loads(line.removeprefix("data: ")).get("choices", [])
                pieces += [choice.get("delta", {}).get("content") or "" for choice in choices]
        return "".join(pieces)


@dataclass
class Recorder:
    """Listens on a port of its own until it is closed; `sent` grows with each request that was answered."""

    upstream_port: int
    sent: list[SentRequest] = field(default_factory=list)
    broken_off: int = 0
    """Answers that the client did not wait for."""

    def __post_init__(self) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_of(self))
        self._server.daemon_threads = True
        self.port: int = self._server.server_address[1]
        Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def chats(self) -> list[SentRequest]:
        return [sent for sent in self.sent if sent.path.endswith("/chat/completions")]


def _handler_of(recorder: Recorder) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._pass_on(b"")

        def do_POST(self) -> None:
            self._pass_on(self.rfile.read(int(self.headers.get("content-length", 0))))

        def _pass_on(self, body: bytes) -> None:
            upstream = HTTPConnection("127.0.0.1", recorder.upstream_port, timeout=300)
            headers = {name: value for name, value in self.headers.items() if name.lower() not in HOP_BY_HOP}
            upstream.request(self.command, self.path, body or None, headers)
            answer = upstream.getresponse()
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in HOP_BY_HOP:
                    self.send_header(name, value)
            self.send_header("connection", "close")
            self.end_headers()
            passed_on = bytearray()
            try:
                while piece := answer.read1(65536):
                    passed_on += piece
                    self.wfile.write(piece)
                    self.wfile.flush()
            except OSError:  # the client has heard enough
                recorder.broken_off += 1
            finally:
                upstream.close()
                sent = json.loads(body) if body else None
                recorder.sent.append(SentRequest(self.path, sent, answer.status, bytes(passed_on)))

        def log_message(self, *arguments: object) -> None:
            pass

    return Handler
