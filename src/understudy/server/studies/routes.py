"""The API of studies: what a participant does with a token, and what the organiser sees and does.

A token opens what its person may see and nothing else: every function of `participation` starts from the person whose
token it is.

In a chat, requests for news are long polls and a message is said once. An agent's reply is made by whichever process
took the message, or, where that was killed, by one that is asked for the chat later: the database says whose turn it is
and who is at it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from time import monotonic
from typing import Any

import msgspec
from anyio import to_thread
from starlette.requests import Request
from starlette.responses import Response

from understudy.errors import InputError, UnderstudyError
from understudy.server.api import Health, get_health
from understudy.server.operations import Call, Operation
from understudy.server.problems import ProblemDetail, Refused
from understudy.server.studies.context import AgreementCache, study_context_of, use_store
from understudy.server.studies.schemas import (
    AnswerBody,
    AnswerProblems,
    AnswerRefusal,
    ChatBody,
    ChatQuery,
    CheckBody,
    ConsentBody,
    EmptyBody,
    LinkCount,
    LinkList,
    ParticipantView,
    StudyChatDocument,
    StudyDashboard,
    StudyList,
    StudySummary,
    WithdrawalDocument,
)
from understudy.server.telemetry import LOG, METRICS_TYPE
from understudy.story.dialogue import Agent
from understudy.studies import participation
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
from understudy.studies.item import Problem
from understudy.studies.participation import AnswerRefused, View
from understudy.studies.status import StudyStatus, status_of
from understudy.studies.store import StoredStudy, StudyStore

__all__ = ["OPERATIONS", "dashboard_of", "summaries"]

LONGEST_POLL_S = 20.0
LOOK_EVERY_S = 0.4
ANSWER_EVERY_S = 2.0
"""How often somebody who waits for an agent asks whether its reply was left by a process that is gone."""
RENEW_S = 3.0
ATTEMPTS = 3


def _refusal(problems: Sequence[Problem]) -> Response:
    """An answer or a message that is not accepted: everything that is wrong with it."""
    message = "; ".join(problem.message for problem in problems)
    detail = ProblemDetail(message, "invalid_request_error", code="answer_refused")
    return Response(msgspec.json.encode(AnswerRefusal(detail, list(problems))), 422, media_type="application/json")


def _document(view: View) -> ParticipantView:
    return msgspec.convert(view.document(), ParticipantView)


async def get_view(call: Call) -> ParticipantView:
    return _document(await use_store(call.request, participation.view, call.path("token")))


async def post_consent(call: Call) -> Any:
    try:
        arguments = call.path("token"), call.body.asked
        return _document(await use_store(call.request, participation.give_consent, *arguments))
    except AnswerRefused as refused:
        return _refusal(refused.problems)


async def post_check(call: Call) -> AnswerProblems:
    arguments = call.path("token"), call.body.assignment, call.body.answer
    return AnswerProblems(await use_store(call.request, participation.check_answer, *arguments))


async def post_answer(call: Call) -> Any:
    body: AnswerBody = call.body
    try:
        arguments = call.path("token"), body.assignment, body.answer, body.comment, body.seconds
        return _document(await use_store(call.request, participation.give_answer, *arguments))
    except AnswerRefused as refused:
        return _refusal(refused.problems)


async def post_undo(call: Call) -> ParticipantView:
    return _document(await use_store(call.request, participation.take_back, call.path("token")))


async def post_withdraw(call: Call) -> WithdrawalDocument:
    await use_store(call.request, participation.withdraw, call.path("token"))
    return WithdrawalDocument(True)


def summaries(store: StudyStore) -> StudyList:
    return StudyList([_summary(status_of(store, stored)) for stored in store.studies()])


def _summary(status: StudyStatus) -> StudySummary:
    return StudySummary(
        status.name, status.title, status.kind, status.closed, status.items, status.complete, status.answers,
        status.wanted, len(status.people),
    )  # fmt: skip


def _find_study(store: StudyStore, name: str) -> StoredStudy:
    try:
        return store.study(name)
    except InputError as error:
        raise Refused(str(error), 404) from error


def dashboard_of(store: StudyStore, name: str, cache: AgreementCache) -> StudyDashboard:
    stored = _find_study(store, name)
    status = status_of(store, stored)
    agreement = cache.rows_of(store, stored, status.answers)
    figures = {"agreement": agreement.rows, "agreement_answers": agreement.answers}
    return msgspec.convert({**status.document(), **figures}, StudyDashboard)


async def list_studies(call: Call) -> StudyList:
    return await use_store(call.request, summaries)


async def get_study(call: Call) -> StudyDashboard:
    return await use_store(call.request, dashboard_of, call.path("study"), study_context_of(call.request).agreement)


def _invite(store: StudyStore, name: str, count: int) -> list[str]:
    return store.invite(_find_study(store, name).name, count)


async def post_tokens(call: Call) -> LinkList:
    tokens = await use_store(call.request, _invite, call.path("study"), call.body.count)
    base = str(call.request.base_url)
    return LinkList([f"{base}take/{token}" for token in tokens])


def _end(store: StudyStore, name: str, code: str) -> None:
    try:
        store.end(_find_study(store, name).name, code)
    except InputError as error:
        raise Refused(str(error), 404) from error


async def end_person(call: Call) -> Response:
    await use_store(call.request, _end, call.path("study"), call.path("code"))
    return Response(status_code=204)


async def get_metrics(call: Call) -> Response:
    exposition = study_context_of(call.request).telemetry.exposition()
    return Response(exposition, headers={"Content-Type": METRICS_TYPE})


async def get_chat(call: Call) -> StudyChatDocument:
    """Answers at once where something is new, else when something is, at the latest after `LONGEST_POLL_S`."""
    query: ChatQuery = call.query
    context = study_context_of(call.request)
    view = await use_store(call.request, chat_view, call.path("token"), query.state)
    until, answer_at = monotonic() + LONGEST_POLL_S, 0.0
    while not _has_news(view, query) and monotonic() < until and not context.is_stopping.is_set():
        if monotonic() >= answer_at:
            await _answer_for_agent(call)
            answer_at = monotonic() + ANSWER_EVERY_S
        await asyncio.sleep(LOOK_EVERY_S)
        if await call.request.is_disconnected():
            break
        view = await use_store(call.request, look, view)
    return _chat_document(view, query.after)


async def post_message(call: Call) -> Any:
    body: ChatBody = call.body
    result = await use_store(call.request, say, call.path("token"), body.text, body.key)
    if isinstance(result, list):
        return _refusal(result)
    await _answer_for_agent(call)
    return _chat_document(result, 0)


def _has_news(view: ChatView, query: ChatQuery) -> bool:
    has_more = any(message.number > query.after for message in view.messages)
    return has_more or view.state != query.state or view.item is None


def _chat_document(view: ChatView, after: int) -> StudyChatDocument:
    return msgspec.convert(view.document(after), StudyChatDocument)


async def _answer_for_agent(call: Call) -> None:
    """Begin an agent's reply where it is owed one that nobody is making."""
    owed = await use_store(call.request, owed_reply, call.path("token"))
    if owed is None:
        return
    context = study_context_of(call.request)
    task = asyncio.create_task(_reply_for_agent(call.request, context.agents, *owed))
    context.replies.add(task)
    task.add_done_callback(context.replies.discard)


async def _reply_for_agent(request: Request, agents: Mapping[str, Agent], item: int, agent: str) -> None:
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


TAKE = "/api/take/{token}"
STUDY = "/api/studies/{study}"
OPERATIONS = (
    Operation("GET", TAKE, get_view, "What a participant sees now", answers=ParticipantView, tag="participants"),
    Operation(
        "POST", f"{TAKE}/consent", post_consent, "Agree to take part", answers=ParticipantView, body=ConsentBody,
        refuses=(422,), tag="participants",
    ),
    Operation(
        "POST", f"{TAKE}/check", post_check, "What is wrong with an answer so far", answers=AnswerProblems,
        body=CheckBody, tag="participants",
    ),
    Operation(
        "POST", f"{TAKE}/answers", post_answer, "Answer an item; the same answer sent again counts once",
        answers=ParticipantView, body=AnswerBody, refuses=(422, 507), tag="participants",
    ),
    Operation(
        "POST", f"{TAKE}/undo", post_undo, "Take the last answer back", answers=ParticipantView, body=EmptyBody,
        tag="participants",
    ),
    Operation(
        "POST", f"{TAKE}/withdraw", post_withdraw, "Delete a participant and everything they gave",
        answers=WithdrawalDocument, body=EmptyBody, tag="participants",
    ),
    Operation(
        "GET", f"{TAKE}/chat", get_chat, "The chat, once something is new in it", answers=StudyChatDocument,
        query=ChatQuery, tag="participants",
    ),
    Operation(
        "POST", f"{TAKE}/chat", post_message, "Say something; the same key again says it once",
        answers=StudyChatDocument, body=ChatBody, refuses=(422,), tag="participants",
    ),
    Operation("GET", "/api/studies", list_studies, "The studies of this server", answers=StudyList, tag="organisers"),
    Operation("GET", STUDY, get_study, "How far a study is", answers=StudyDashboard, tag="organisers"),
    Operation(
        "POST", f"{STUDY}/tokens", post_tokens, "Make links for participants", answers=LinkList, body=LinkCount,
        tag="organisers",
    ),
    Operation(
        "DELETE", f"{STUDY}/people/{{code}}", end_person, "End a participant's link; what they answered stays",
        status=204, tag="organisers",
    ),
    Operation("GET", "/health", get_health, "Whether the server is up", answers=Health, tag="server"),
    Operation("GET", "/metrics", get_metrics, "Figures for Prometheus", media="text/plain", tag="server"),
)  # fmt: skip
