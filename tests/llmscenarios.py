"""How the server of llmserver.py answers a request, by the name of a scenario."""

from __future__ import annotations

import asyncio
import base64
import json
import re
import socket
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["SCENARIOS", "TEXT", "Call", "say"]

TEXT = "The tide was out, and nobody came to the lamp room that night."
HOUR = 3600


@dataclass
class Call:
    """One request, its options, and the connection that waits for the answer."""

    id: int
    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    options: dict[str, str]
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    log: Callable[..., None]
    tokens: int = 0
    line_end: str = "\n"
    data: str = "data: "

    @property
    def wants_stream(self) -> bool:
        return bool(self.body.get("stream"))

    @property
    def text(self) -> str:
        messages = self.body.get("messages") or [{}]
        return str(messages[-1].get("content", "")) if self.options.get("echo") else self.options.get("text", TEXT)

    def number(self, name: str, default: float) -> float:
        return float(self.options.get(name, default))

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def head(self, status: str = "200 OK", content_type: str = "text/event-stream", **headers: str) -> None:
        lines = [f"HTTP/1.1 {status}", f"Content-Type: {content_type}", "Connection: close"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        await self.send("\r\n".join([*lines, "", ""]).encode())

    async def document(self, document: Any, status: str = "200 OK", **headers: str) -> None:
        body = json.dumps(document).encode()
        await self.head(status, "application/json", Content_Length=str(len(body)), **headers)
        await self.send(body)

    async def event(self, document: Any) -> None:
        text = document if isinstance(document, str) else json.dumps(document, ensure_ascii=False)
        await self.send(f"{self.data}{text}{self.line_end}{self.line_end}".encode())

    async def chunk(self, delta: dict[str, Any], index: int = 0, finish_reason: str | None = None) -> None:
        choice: dict[str, Any] = {"index": index, "delta": delta, "finish_reason": finish_reason}
        if self.body.get("logprobs") and delta.get("content"):
            choice["logprobs"] = {"content": [{"token": delta["content"], "logprob": -0.5, "top_logprobs": []}]}
        await self.event({"object": "chat.completion.chunk", "sent_at": time.time(), "choices": [choice]})

    async def words(self, text: str | None = None, indexes: int = 1, most: int | None = None) -> None:
        """The text's tokens, for each choice in turn, at the rate asked for."""
        rate = self.number("rate", 0)
        start = time.monotonic() + self.number("delay", 0)
        for position, token in enumerate(tokens(self.text if text is None else text)[:most]):
            await asyncio.sleep(max(0.0, start + (position / rate if rate else 0) - time.monotonic()))
            if position == 0:
                self.log("first_token", self.id)
            for index in range(indexes):
                await self.chunk({"content": token if index == 0 else token.upper()}, index)
            self.tokens += 1

    async def finish(self, indexes: int = 1, reason: str = "stop") -> None:
        for index in range(indexes):
            await self.chunk({}, index, reason)
        if (self.body.get("stream_options") or {}).get("include_usage"):
            usage = {"prompt_tokens": 11, "completion_tokens": self.tokens * indexes, "total_tokens": 0}
            await self.event({"choices": [], "usage": usage})
        await self.event("[DONE]")

    async def answer(self, text: str | None = None, n: int = 1) -> None:
        """A sound answer, streamed where the request wants it so."""
        text = self.text if text is None else text
        limit = self.body.get("max_tokens")
        if not self.wants_stream:
            await asyncio.sleep(self.number("delay", 0))
            await self.document(whole(text, n))
            return
        await self.head()
        await self.chunk({"role": "assistant", "content": ""})
        await self.words(text, n, limit)
        await self.finish(n, "length" if limit and len(tokens(text)) > limit else "stop")


def tokens(text: str) -> list[str]:
    return re.findall(r"\s*\S+", text)


def whole(text: Any, n: int = 1) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    choices = [{"index": index, "message": message, "finish_reason": "stop"} for index in range(n)]
    return {"object": "chat.completion", "choices": choices, "usage": {"prompt_tokens": 11, "completion_tokens": 7}}


async def say(call: Call) -> None:
    await call.answer(n=int(call.body.get("n") or 1))


async def echo(call: Call) -> None:
    call.options["echo"] = "1"
    await say(call)


async def ignores_n(call: Call) -> None:
    await call.answer()


async def ignores_stream(call: Call) -> None:
    await call.document(whole(call.text, int(call.body.get("n") or 1)))


async def no_headers(call: Call) -> None:
    await asyncio.sleep(HOUR)


async def no_token(call: Call) -> None:
    await call.head()
    await asyncio.sleep(HOUR)


async def half_head(call: Call) -> None:
    """Drips its headers, a byte at a time, without end."""
    await call.send(b"HTTP/1.1 200 OK\r\nX-Waiting: ")
    while True:
        await asyncio.sleep(0.05)
        await call.send(b".")


async def comments(call: Call) -> None:
    """Keeps the connection open with comments, and says nothing."""
    await call.head()
    while True:
        await call.send(b": still processing\n\n")
        await asyncio.sleep(0.05)


async def stalls(call: Call) -> None:
    await call.head()
    await call.words(most=int(call.number("after", 3)))
    await asyncio.sleep(HOUR)


async def dies(call: Call) -> None:
    """Closes the connection in mid-sentence; with `reset=1` rudely."""
    await call.head()
    await call.words(most=int(call.number("after", 3)))
    if call.options.get("reset"):
        sock: socket.socket = call.writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        call.writer.transport.abort()


async def dies_chunked(call: Call) -> None:
    await call.head(Transfer_Encoding="chunked")
    event = b'data: {"choices": [{"index": 0, "delta": {"content": "The tide"}}]}\n\n'
    await call.send(b"%x\r\n%s\r\n40\r\ndata: {" % (len(event), event))


async def fails_inside(call: Call) -> None:
    """Reports an error in the stream, after some tokens."""
    await call.head()
    await call.words(most=int(call.number("after", 3)))
    await call.event({"error": {"message": "the model was unloaded", "code": 500}})


async def nothing(call: Call) -> None:
    """Closes without a byte."""


async def not_http(call: Call) -> None:
    await call.send(b"\x00\x01\x02SSH-2.0-OpenSSH_9.9\r\n" * 3)


async def status(call: Call) -> None:
    """Answers with the status `code`; with `retry_after` in its header, and `message` as its error."""
    code = int(call.number("code", 500))
    headers = {"Retry_After": call.options["retry_after"]} if "retry_after" in call.options else {}
    message = call.options.get("message", "try again later")
    await call.document({"error": {"message": message, "code": call.options.get("error")}}, f"{code} No", **headers)


async def tells_key(call: Call) -> None:
    """Sends the key back in every way it can."""
    key = call.headers.get("authorization", "").removeprefix("Bearer ")
    key = {
        "upper": key.upper(),
        "reversed": key[::-1],
        "percent": "".join(f"%{ord(letter):02x}" for letter in key),
        "base64": base64.b64encode(f"Bearer {key}".encode()).decode(),
        "hex": key.encode().hex(),
        "short": f"{key[:9]}***{key[-4:]}",
    }.get(call.options.get("as", ""), f"Bearer {key}")
    code = int(call.number("code", 401))
    if call.options.get("inside"):
        await call.document({"nonsense": f"key {key}"})
    elif call.options.get("location"):
        await call.head("302 Found", Location=f"http://127.0.0.1/?key={key}")
    elif call.options.get("page"):
        await call.head(content_type="text/html")
        await call.send(f"<html><title>Not for {key}</title>{key}</html>".encode())
    else:
        await call.document({"error": {"message": f"Incorrect API key provided: {key}."}}, f"{code} No")


async def garbage(call: Call) -> None:
    await call.head(content_type="application/json")
    await call.send(b"\x1b[31m\x00\x07 oops \xff\xfe" + b"x" * 900)


async def garbage_event(call: Call) -> None:
    await call.head()
    await call.send(b"data: oops, no JSON\n\ndata: {\n\n")


async def html(call: Call) -> None:
    await call.head(content_type="text/html")
    await call.send(b"<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body>Please sign in</body></html>")


async def redirect(call: Call) -> None:
    await call.head("307 Temporary Redirect", Location="https://elsewhere.example/v1/chat/completions")


async def empty(call: Call) -> None:
    await call.head()
    await call.chunk({"role": "assistant", "content": ""})
    await call.chunk({"content": " \n"})
    await call.finish()


async def empty_body(call: Call) -> None:
    await call.head(content_type="application/json", Content_Length="0")


async def no_choices(call: Call) -> None:
    await call.document({"id": "x", "object": "chat.completion"})


async def no_choices_stream(call: Call) -> None:
    await call.head()
    await call.event({"object": "something else"})
    await call.event("[DONE]")


async def wrong_types(call: Call) -> None:
    wrong: list[Any] = [
        whole(7),
        whole(["a", "b"]),
        {"choices": {}},
        {"choices": [3]},
        {"choices": [{"index": "a"}]},
        [1],
    ]
    await call.document(wrong[int(call.number("which", 0))])


async def odd_events(call: Call) -> None:
    """Valid, but not as OpenAI writes it: CRLF, no blank after the colon, comments, other fields, cut anywhere."""
    await call.head(content_type="text/plain")
    events = [": hello", "event: message\r\nid: 7\r\nretry: 9"]
    for token in tokens(call.text):
        choice = {"index": 0, "delta": {"content": token}}
        events += ["data:" + json.dumps({"choices": [choice]}, ensure_ascii=False), ": ping"]
    events += ['data:{"choices":[{"index":0,"delta":null,"finish_reason":"stop"}]}', "data:[DONE]"]
    data = "\r\n\r\n".join([*events, ""]).encode()
    for start in range(0, len(data), 7):
        await call.send(data[start : start + 7])
        await asyncio.sleep(0)


async def no_blank_lines(call: Call) -> None:
    await call.head()
    call.line_end = ""
    for token in tokens(call.text):
        await call.chunk({"content": token})
        await call.send(b"\n")
    await call.chunk({}, finish_reason="stop")


async def never_closes(call: Call) -> None:
    """Says that it is through, but neither [DONE] nor goodbye."""
    await call.head()
    await call.words()
    await call.chunk({}, finish_reason="stop")
    await asyncio.sleep(HOUR)


async def thinks(call: Call) -> None:
    """Thinks aloud first; with `only=1` says nothing then, with `apart=1` in a field of its own."""
    await call.head()
    for thought in ("<thi", "nk>They ask", " about the</th", "ink>\n\n"):
        await call.chunk({"reasoning_content": thought} if call.options.get("apart") else {"content": thought})
    if not call.options.get("only"):
        await call.words()
    await call.finish(reason="length" if call.options.get("only") else "stop")


async def floods(call: Call) -> None:
    """Sends without end and without a pause; with `field` in another one than the content, with `start` before it."""
    await call.head()
    field, piece = call.options.get("field", "content"), call.options.get("piece", "never stop ") * 25
    await call.chunk({field: call.options.get("start", "") + piece})
    while True:
        await call.chunk({field: piece})


async def boasts(call: Call) -> None:
    """Says how many tokens it wrote, whatever that was."""
    await call.head()
    await call.words()
    await call.event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    tokens = 10 ** int(call.number("digits", 30))
    await call.event({"choices": [], "usage": {"prompt_tokens": tokens, "completion_tokens": tokens}})
    await call.event("[DONE]")


async def bounds_n(call: Call) -> None:
    """As llama.cpp, which gives no more at once than it has slots."""
    if int(call.body.get("n") or 1) <= 2:
        await say(call)
        return
    message = "Field 'n': Value must be between 1 <= value <= 2, but got 3"
    await call.document({"error": {"message": message, "code": 400, "type": "invalid_request_error"}}, "400 No")


async def refuses_field(call: Call) -> None:
    """400 for a field it does not know."""
    name = call.options["field"]
    if name not in call.body:
        await say(call)
        return
    message = f"Unsupported parameter: '{name}' is not supported with this model."
    error = {"message": message, "param": name, "code": "unsupported_parameter"}
    await call.document({"error": error}, "400 Bad Request")


SCENARIOS: dict[str, Callable[[Call], Awaitable[None]]] = {
    "say": say,
    "echo": echo,
    "ignores-n": ignores_n,
    "ignores-stream": ignores_stream,
    "no-headers": no_headers,
    "half-head": half_head,
    "no-token": no_token,
    "comments": comments,
    "stalls": stalls,
    "dies": dies,
    "dies-chunked": dies_chunked,
    "fails-inside": fails_inside,
    "nothing": nothing,
    "not-http": not_http,
    "status": status,
    "tells-key": tells_key,
    "garbage": garbage,
    "garbage-event": garbage_event,
    "html": html,
    "redirect": redirect,
    "empty": empty,
    "empty-body": empty_body,
    "no-choices": no_choices,
    "no-choices-stream": no_choices_stream,
    "wrong-types": wrong_types,
    "odd-events": odd_events,
    "no-blank-lines": no_blank_lines,
    "never-closes": never_closes,
    "thinks": thinks,
    "floods": floods,
    "boasts": boasts,
    "bounds-n": bounds_n,
    "refuses-field": refuses_field,
}
