"""A participant's chat over HTTP: long polls for what is new, messages that are said once, and replies of agents.

An agent's reply is made by whichever process took the message, or, where that was killed, by one that is asked for the
chat later: the database says whose turn it is and who is at it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from time import monotonic
from typing import Any

import msgspec
from anyio import to_thread
from starlette.requests import Request

from understudy.errors import UnderstudyError
from understudy.server.operations import Call, Operation
from understudy.server.studies.context import study_context_of, use_store
from understudy.server.studies.refusals import refusal
from understudy.server.studies.schemas import ChatBody, ChatQuery, StudyChatDocument
from understudy.server.telemetry import LOG
from understudy.story.dialogue import Agent
from understudy.studies.chatting import (
    ChatView,
    agent_leaves,
    chat_view,
    look,
    owed_reply,
    renew_lease,
    reply_as_agent,
    say,
)

__all__ = ["OPERATIONS"]

LONGEST_S = 20.0
LOOK_EVERY_S = 0.4
ANSWER_EVERY_S = 2.0
"""How often somebody who waits for an agent asks whether its reply was left by a process that is gone."""
RENEW_S = 3.0
ATTEMPTS = 3
CHAT = "/api/take/{token}/chat"


async def get_chat(call: Call) -> StudyChatDocument:
    """Answers at once where something is new, else when something is, at the latest after `LONGEST_S`."""
    query: ChatQuery = call.query
    context = study_context_of(call.request)
    view = await use_store(call.request, chat_view, call.path("token"), query.state)
    until, answer_at = monotonic() + LONGEST_S, 0.0
    while not _is_new(view, query) and monotonic() < until and not context.is_stopping.is_set():
        if monotonic() >= answer_at:
            await _answer_for_agent(call)
            answer_at = monotonic() + ANSWER_EVERY_S
        await asyncio.sleep(LOOK_EVERY_S)
        if await call.request.is_disconnected():
            break
        view = await use_store(call.request, look, view)
    return _document(view, query.after)


async def post_message(call: Call) -> Any:
    body: ChatBody = call.body
    result = await use_store(call.request, say, call.path("token"), body.text, body.key)
    if isinstance(result, list):
        return refusal(result)
    await _answer_for_agent(call)
    return _document(result, 0)


def _is_new(view: ChatView, query: ChatQuery) -> bool:
    has_more = any(message.number > query.after for message in view.messages)
    return has_more or view.state != query.state or view.item is None


def _document(view: ChatView, after: int) -> StudyChatDocument:
    return msgspec.convert(view.document(after), StudyChatDocument)


async def _answer_for_agent(call: Call) -> None:
    """Begin an agent's reply where it is owed one that nobody is making."""
    owed = await use_store(call.request, owed_reply, call.path("token"))
    if owed is None:
        return
    context = study_context_of(call.request)
    task = asyncio.create_task(_reply(call.request, context.agents, *owed))
    context.replies.add(task)
    task.add_done_callback(context.replies.discard)


async def _reply(request: Request, agents: Mapping[str, Agent], item: int, agent: str) -> None:
    """Tried several times; an agent that cannot reply leaves the chat. What failed is logged without its text."""
    context = study_context_of(request)
    renewing = asyncio.create_task(_renew_lease(request, item))
    try:
        for attempt in range(ATTEMPTS):
            try:
                work = partial(reply_as_agent, context.store, item, agents[agent])
                await to_thread.run_sync(work, limiter=context.reply_limiter)
                return
            except Exception as error:
                LOG.error("the reply of agent '%s' failed: %s", agent, type(error).__name__)
                await asyncio.sleep(2.0**attempt)
        await use_store(request, agent_leaves, item)
    finally:
        renewing.cancel()


async def _renew_lease(request: Request, item: int) -> None:
    while True:
        await asyncio.sleep(RENEW_S)
        with suppress(UnderstudyError):  # what cannot be renewed runs out
            await use_store(request, renew_lease, item)


OPERATIONS = (
    Operation(
        "GET", CHAT, get_chat, "The chat, once something is new in it", answers=StudyChatDocument, query=ChatQuery,
        tag="participants",
    ),
    Operation(
        "POST", CHAT, post_message, "Say something; the same key again says it once", answers=StudyChatDocument,
        body=ChatBody, refuses=(422,), tag="participants",
    ),
)  # fmt: skip
