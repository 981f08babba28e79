"""A walk over every route of the server at one moment of a story: everything that can be asked for there, asked for."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlencode

import httpx
from starlette.types import ASGIApp, Message

from understudy.agents import agent_named
from understudy.errors import StoryError
from understudy.formats.cards import json_of
from understudy.formats.cards.export import card_at
from understudy.formats.cards.file import parse_card
from understudy.server.app import OPERATIONS, PAGES, make_app
from understudy.server.context import AppContext
from understudy.server.middleware import RequestLimits
from understudy.server.story_registry import StoryRegistry
from understudy.story.dialogue import situation_at
from understudy.story.storyfile import Story
from understudy.story.types import Moment
from understudy.story.wording import fill_macros

__all__ = ["ANY_NUMBER", "Answer", "Page", "Walk", "every_template", "walk"]


ANY_NUMBER = RequestLimits(per_second=1e9, burst=10**9)
CHATS = "/api/chats"
STORY = "walked"


@dataclass(frozen=True, slots=True)
class Answer:
    """One request by its route's template and in full, and what came back."""

    template: str
    asked: str
    status: int
    headers: dict[str, str]
    text: str
    """As a person would see it: without references of HTML, and of a picture what is packed in it."""
    body: bytes

    def json(self) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self.body)
        return document


class Walk:
    """What was asked for, and all that was sent back: body, headers, and what lies packed in a picture."""

    def __init__(self, app: ASGIApp, story: str, at: str, cards: Mapping[str, Sequence[str]]) -> None:
        """`cards` are the texts of characters' cards as of the end, which a chat program sends along."""
        self.app, self.story, self.at, self.cards = app, story, at, cards
        self.told: list[tuple[str, str]] = []
        self.answers: list[Answer] = []
        self.walked: set[str] = set()

    async def ask(self, template: str, query: dict[str, str] | None = None, **parts: Any) -> Answer:
        """Ask by a route's template; `json` or `data` makes the body."""
        method, _, path = template.partition(" ")
        self.walked.add(template)
        body: dict[str, Any] = {kind: parts.pop(kind) for kind in ("json", "data") if kind in parts}
        for name, value in parts.items():
            path = re.sub(rf"\{{{name}(:path)?\}}", quote(value, safe=""), path)
        status, headers, content = await _answered(self.app, method, path, query or {}, body)
        is_picture = headers.get("content-type") == "image/png"
        shown = json_of(parse_card(content)).decode() if is_picture else unescape(content.decode("utf-8", "replace"))
        asked = f"{method} {path} {query or ''} {body or ''}"
        self.told.append((asked, f"{headers}\n{shown}"))
        self.answers.append(Answer(template, asked, status, headers, shown, content))
        return self.answers[-1]

    async def everywhere(self, people: Sequence[str]) -> None:
        here = {"at": self.at}
        await self._stories(here)
        for who in people:
            others = [None, *(other for other in people if other != who)]
            for facing in others:
                await self._one(who, facing, here)
            await self._chat(who)
            for other in others[1:]:
                await self._chat(who, other)
        await self._the_rest(here)

    async def _stories(self, here: dict[str, str]) -> None:
        await self.ask("GET /api/stories")
        await self.ask("GET /v1/models", {"story": self.story, **here})
        for what in ("cast", "timeline", "scenes"):
            await self.ask(f"GET /api/stories/{{story}}/{what}", here, story=self.story)
        await self.ask("GET /api/stories/{story}/scenes", {**here, "limit": "1"}, story=self.story)
        await self.ask("GET /api/stories/{story}/scenes", {**here, "since": "2"}, story=self.story)
        for word in ("harbour", "utterance", "number"):
            await self.ask("GET /api/stories/{story}/search", {**here, "q": word}, story=self.story)
            await self.ask("GET /story/{story}", {**here, "q": word}, story=self.story)
        await self.ask("GET /story/{story}", here, story=self.story)
        await self.ask("GET /character/{story}", here, story=self.story)

    async def _one(self, who: str, facing: str | None, here: dict[str, str]) -> None:
        asked = {**here, **({"facing": facing} if facing else {})}
        model = f"{self.story}/{who}@{self.at}" + (f"#{facing}" if facing else "")
        one = "GET /api/stories/{story}/characters/{name}"
        for what in ("", "/card.json", "/card.png", "/portrait.svg", "/portrait.png", "/relations.svg", "/course.svg"):
            query = None if what.startswith("/portrait") else asked
            await self.ask(one + what, query, story=self.story, name=who)
        if facing:
            await self.ask(f"{one}/course.svg", {**here, "to": facing}, story=self.story, name=who)
        await self.ask("GET /v1/models/{model:path}", model=model)
        await self.ask("GET /character/{story}/{name:path}", {**asked, "scenes": "all"}, story=self.story, name=who)
        await self.ask("GET /", {"story": self.story, "who": who, **here, **({"as": facing} if facing else {})})
        messages = [{"role": "user", "content": "What do you know of the harbour, and what comes next?"}]
        for stream in (False, True):
            body = {"model": model, "messages": messages, "stream": stream, "n": 5}
            await self.ask("POST /v1/chat/completions", json=body)
        if facing:
            named = [{**message, "name": facing} for message in messages]
            body = {"model": model.partition("#")[0], "messages": named}
            await self.ask("POST /v1/chat/completions", json=body)
            await self._as_chat_programs_ask(who, facing, model.partition("#")[0], messages)
        text = f"{facing or 'User'}: What comes next?\n{who}:"
        await self.ask("POST /v1/completions", json={"model": model, "prompt": text})
        question = {"story": self.story, "character": who, "at": self.at, "message": "What happens in the harbour?"}
        await self.ask("POST /api/replies", json={**question, **({"facing": facing} if facing else {})})
        if facing:
            history = [{"speaker": facing, "text": "It is a fine harbour for a stranger."}]
            await self.ask("POST /api/replies", json={**question, "history": history})

    async def _as_chat_programs_ask(self, who: str, other: str, model: str, messages: Sequence[dict[str, str]]) -> None:
        """In a group, for the other's next line, and for what its user might ask."""
        main = f"Write {who}'s next reply in a fictional chat between {who} and {other}."
        group = f"[Start a new group chat. Group members: {who}, {other}]"
        said = {"role": "assistant", "content": f"{who}: It is late."}
        view = f"[Write your next reply from the point of view of {other}.]"
        task = '### Task:\nWhat next?\n### Output:\n{ "follow_ups": ["One?"] }\n### Chat History:\nUSER: Hello.'
        card = list(self.cards.get(who, ()))
        for before, after in (
            ([main, *card], []),
            ([*card], ["What has just happened?"]),
            ([main, group], [f"[Write the next reply only as {other}.]"]),
            ([main], [view]),
            ([main, group], ["[Continue your last message without repeating its original content.]"]),
        ):
            told = [[{"role": "system", "content": text} for text in texts] for texts in (before, after)]
            body = {"model": model, "messages": [*told[0], *messages, said, *told[1]]}
            await self.ask("POST /v1/chat/completions", json=body)
        body = {"model": model, "messages": [{"role": "user", "content": task}]}
        await self.ask("POST /v1/chat/completions", json=body)

    async def _chat(self, who: str, speaker: str | None = None) -> None:
        new = {"story": self.story, "characters": [who], "speaker": speaker, "at": self.at}
        made = await self.ask(f"POST {CHATS}", json=new)
        chat = made.json().get("id", "nobody")
        one, message = f"{CHATS}/{{chat}}", f"{CHATS}/{{chat}}/messages/{{message}}"
        await self.ask(f"POST {one}/messages", json={"text": "What of the harbour?"}, chat=chat)
        read = await self.ask(f"GET {one}", chat=chat)
        numbers = [str(said["id"]) for said in read.json().get("messages", [])] or ["1"]
        await self.ask(f"POST {message}/retry", chat=chat, message=numbers[-1])
        await self.ask(f"POST {message}/edit", json={"text": "And the harbour?"}, chat=chat, message=numbers[0])
        await self.ask(f"POST {one}/turns", json={}, chat=chat)
        await self.ask(f"POST {message}/continue", chat=chat, message=numbers[-1])
        await self.ask(f"POST {one}/stop", json={}, chat=chat)
        await self.ask(f"POST {message}/branch", chat=chat, message=numbers[0])
        for written in ("jsonl", "sillytavern", "markdown"):
            await self.ask(f"GET {one}/export", {"format": written}, chat=chat)
        await self.ask("GET /chats/{chat}", chat=chat)
        await self.ask(f"PATCH {one}", json={"title": "Renamed"}, chat=chat)
        tom = {"name": "Tom", "description": "A sailor, 40."}
        await self.ask(f"PATCH {one}", json={"speaker": tom}, chat=chat)
        await self.ask(f"POST {one}/messages", json={"text": "What of the harbour?"}, chat=chat)
        await self.ask("GET /chats/{chat}", chat=chat)
        await self._remembered(f"{one}/memory", f"{one}/messages", chat)
        await self.ask(f"DELETE {message}", chat=chat, message=numbers[-1])
        await self.ask(f"POST {message}/restore", chat=chat, message=numbers[-1])
        await self.ask(f"GET {CHATS}")
        await self.ask(f"DELETE {one}", chat=chat)
        await self.ask(f"GET {CHATS}", {"deleted": "true"})
        await self.ask("GET /", {"story": self.story, "at": self.at})
        await self.ask(f"POST {one}/restore", chat=chat)
        await self.ask(f"DELETE {one}", chat=chat)

    async def _remembered(self, memory: str, messages: str, chat: str) -> None:
        """What the user tells of themselves, and everything that can be done to it."""
        await self.ask(f"PATCH {memory}", json={"name": "Tom"}, chat=chat)
        await self.ask(f"POST {messages}", json={"text": "I work at the harbour."}, chat=chat)
        answer = await self.ask(f"GET {memory}", chat=chat)
        number = next((str(item["number"]) for item in answer.json().get("remembered", ())), "1")
        await self.ask("GET /chats/{chat}", chat=chat)
        edited = {"text": "I keep the harbour"}
        await self.ask(f"PATCH {memory}/{{number}}", json=edited, chat=chat, number=number)
        await self.ask(f"DELETE {memory}/{{number}}", chat=chat, number=number)
        await self.ask(f"POST {memory}/undo", json={}, chat=chat)
        await self.ask(f"DELETE {memory}", chat=chat)

    async def _the_rest(self, here: dict[str, str]) -> None:
        """Routes that tell nothing of a story; and errors."""
        for plain in ("/health", "/metrics", "/openapi.json", "/docs", "/stories", "/api/uploads"):
            await self.ask(f"GET {plain}")
        await self.ask("POST /v1/embeddings", json={"model": "encoder", "input": "harbour"})
        await self.ask("GET /stories/{upload}", upload="none")
        for change in ("fix", "undo", "delete", "retry", "restore"):
            await self.ask(f"POST /stories/{{upload}}/{change}", upload="none")
        await self.ask("POST /api/uploads/form")
        await self.ask("POST /api/uploads")
        one = "/api/uploads/{upload}"
        for asked in ("GET", "DELETE"):
            await self.ask(f"{asked} {one}", upload="none")
        await self.ask(f"PATCH {one}", json={}, upload="none")
        for asked in ("GET {}/progress", "GET {}/quotations", "GET {}/story"):
            await self.ask(asked.format(one), upload="none")
        for change in ("undo", "restore", "retry"):
            await self.ask(f"POST {one}/{change}", upload="none")
        await self.ask(f"GET {one}/files/{{number}}", upload="none", number="1")
        await self.ask("GET /api/agents")
        await self.ask("GET /api/personas")
        await self.ask("DELETE /api/personas/{name}", name="Tom")
        await self._review()
        await self._people()
        await self._continuity()
        for who in ("Nobody", "a", ""):
            await self.ask("GET /v1/models/{model:path}", model=f"{self.story}/{who}@{self.at}")
        await self.ask("GET /api/stories/{story}/cast", {"at": "99.99"}, story=self.story)
        await self.ask("GET /api/stories/{story}/cast", here, story="another")

    async def _review(self) -> None:
        """An author's routes, of a server without an utterance database: there they tell nothing."""
        for path in ("/review", "/api/utterances", "/api/utterances/agreement"):
            assert (await self.ask(f"GET {path}", {"first": "a", "second": "b"})).status == 404
        for what in ("name", "decide", "undo"):
            await self.ask(f"POST /review/{what}", data={"name": "Mara", "number": "1"})
        for what, body in (("decision", {"decision": "approved", "by": "Mara"}), ("undo", {"by": "Mara"})):
            await self.ask(f"POST /api/utterances/{{number}}/{what}", json=body, number="1")

    async def _people(self) -> None:
        """An author's routes, which tell of a whole story: asked of one that is not here, they tell nothing."""
        assert (await self.ask("GET /people/{story}", story="another")).status == 404
        for what in ("find", "decide", "all", "undo"):
            await self.ask(f"POST /people/{{story}}/{what}", data={"entry": "1"}, story="another")

    async def _continuity(self) -> None:
        """An author's routes, which tell the whole story: here of one that is not served."""
        assert (await self.ask("GET /continuity/{story}", story="another")).status == 404
        for what in ("dismiss", "restore"):
            await self.ask(f"POST /continuity/{{story}}/{what}", data={"id": "x"}, story="another")


async def _answered(
    app: ASGIApp, method: str, path: str, query: Mapping[str, str], body: Mapping[str, Any]
) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and content of one request, without a client: half of a walk's time would be the client's own."""
    headers, content = [(b"host", b"127.0.0.1"), (b"accept", b"*/*"), (b"user-agent", b"walking")], b""
    if "json" in body:
        content = json.dumps(body["json"], ensure_ascii=False).encode()
        headers.append((b"content-type", b"application/json"))
    elif "data" in body:
        content = urlencode(body["data"]).encode()
        headers.append((b"content-type", b"application/x-www-form-urlencoded"))
    if content or method not in {"GET", "DELETE"}:
        headers.append((b"content-length", str(len(content)).encode()))
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http",
        "path": unquote(path), "raw_path": path.encode(), "query_string": urlencode(query).encode(), "root_path": "",
        "headers": headers, "server": ("127.0.0.1", None), "client": ("127.0.0.1", 123),
    }  # fmt: skip
    is_sent, is_answered, messages = False, asyncio.Event(), list[Message]()

    async def receive() -> Message:
        nonlocal is_sent
        if is_sent:
            await is_answered.wait()
            return {"type": "http.disconnect"}
        is_sent = True
        return {"type": "http.request", "body": content, "more_body": False}

    async def send(message: Message) -> None:
        messages.append(message)
        if message["type"] == "http.response.body" and not message.get("more_body", False):
            is_answered.set()

    async with asyncio.timeout(60):
        await app(scope, receive, send)
    assert is_answered.is_set()
    start, *pieces = messages
    told = dict(httpx.Headers(start["headers"]).items())
    return start["status"], told, b"".join(piece.get("body", b"") for piece in pieces)


def every_template() -> set[str]:
    templates = {f"{one.method} {one.path}" for one in OPERATIONS}
    for page in PAGES:
        templates |= {f"{method} {page.path}" for method in (page.methods or set()) - {"HEAD"}}
    return templates


def _card_texts(story: Story, who: str) -> list[str]:
    """Profile, scene and lorebook of the card that somebody has at the end; none of whoever is not there by then."""
    try:
        card = card_at(situation_at(story, who, Moment.end()), story.title, version=2)
    except StoryError:
        return []
    texts = [card.text(field) for field in ("description", "personality", "scenario")]
    texts += [str(entry["content"]) for entry in card.book]
    return [fill_macros(text, card.name, "Tom", story.language) for text in texts if text]


def walk(story: Story, at: str, people: Sequence[str], folder: Path) -> Walk:
    """Ask a server of this story, which keeps its data in the folder, for everything there is at a moment."""

    async def walk_everywhere(context: AppContext) -> Walk:
        app = make_app(context, limits=ANY_NUMBER)
        walking = Walk(app, STORY, at, {who: _card_texts(story, who) for who in people})
        await walking.everywhere(people)
        return walking

    with AppContext.open(StoryRegistry({STORY: story}), agent_named("tfidf"), folder) as context:
        context.chats.pace_s = 0
        return asyncio.run(walk_everywhere(context))


# What a test wants to know of an HTML page.


class Page(HTMLParser):
    """The ids, links and text of a page; the people on its graph and the moments of the marks on its chart."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.around: list[str] = []
        self.marks: list[str] = []
        self.text = ""
        self.feed(markup)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = dict(attrs)
        for name, kept in (("id", self.ids), ("data-who", self.around), ("data-moment", self.marks)):
            if told.get(name):
                kept.append(str(told[name]))
        if tag == "a" and told.get("href"):
            self.links.append(str(told["href"]))

    def handle_data(self, data: str) -> None:
        self.text += data
