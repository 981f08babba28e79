"""The API and pages of studies: what a participant does with a token, and what the organiser sees and does.

A token opens what its person may see and nothing else: every function of `participation` starts from the person whose
token it is.

In a chat, requests for news are long polls and a message is said once. An agent's reply is made by whichever process
took the message, or, where that was killed, by one that is asked for the chat later: the database says whose turn it is
and who is at it. The participant's page is filled by its script; the organiser's has a chart of the pace.

`make_study_app` makes the application of `understudy study serve`: studies alone, behind the same guard as stories.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from time import monotonic
from typing import Annotated, Any, Literal

import msgspec
from anyio import to_thread
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from understudy.errors import InputError, UnderstudyError
from understudy.server import application
from understudy.server.access import AccessPolicy, Sessions
from understudy.server.api import get_health
from understudy.server.drawing.charts import pace_chart
from understudy.server.middleware import GuardMiddleware, RequestLimits
from understudy.server.operations import Call, Operations
from understudy.server.pages import bare_page
from understudy.server.problems import ProblemDetail, Refused
from understudy.server.studies import AgreementCache, LoginDatabase, StudyContext, study_context_of, use_store
from understudy.server.telemetry import LOG, METRICS_TYPE
from understudy.story.dialogue import Agent
from understudy.studies import chatting, participation
from understudy.studies.assignment import PersonProgress
from understudy.studies.item import Block, Problem, Question
from understudy.studies.participation import AnswerRefused, View
from understudy.studies.status import StudyCounts, StudyStatus, status_of
from understudy.studies.store import MOST_LINKS, StoredStudy, StudyStore

TOKEN_PREFIXES = ("/take/", "/api/take/")
ABOUT = "Here studies are run: people answer questions about stories and their characters."
SUMMARY = "Studies: what participants do with a token of theirs, and what the organiser sees."
LONGEST_POLL_S = 20.0
LOOK_EVERY_S = 0.4
HOUR_S, DAY_HOURS = 3600, 24
ANSWER_EVERY_S = 2.0
"""How often somebody who waits for an agent asks whether its reply was left by a process that is gone."""
RENEW_S = 3.0
ATTEMPTS = 3
MOST_ASKED = 20

AssignmentId = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
"""As databases have it: 64 bits."""

TAKE = "/api/take/{token}"
STUDY = "/api/studies/{study}"
OPERATIONS = Operations("participants")


class EmptyBody(msgspec.Struct):
    pass


class ConsentBody(msgspec.Struct):
    asked: Annotated[dict[str, str], msgspec.Meta(max_length=MOST_ASKED)] = {}
    """What the study asks of a person themselves, by question."""


class CheckBody(msgspec.Struct):
    assignment: AssignmentId
    answer: dict[str, Any]


class AnswerBody(CheckBody):
    comment: str = ""
    seconds: float = 0.0
    """How long the item was on the screen."""


class AnswerProblems(msgspec.Struct):
    problems: list[Problem]


class AnswerRefusal(AnswerProblems, kw_only=True):
    """Why an answer was not accepted."""

    error: ProblemDetail


class StudyTexts(msgspec.Struct):
    kind: str
    title: str
    instructions: str
    example: str
    consent: str
    ask: list[str]
    comments: bool


class ShownItem(msgspec.Struct):
    blocks: list[Block]
    questions: list[Question]


class ParticipantView(msgspec.Struct):
    """What a participant sees now."""

    study: StudyTexts
    state: Literal["consent", "item", "waiting", "chat", "done", "closed"]
    assignment: int | None
    item: ShownItem | None
    draft: dict[str, Any] | None
    """The answer that was taken back."""
    comment: str
    """The comment that stood with it."""
    progress: PersonProgress
    can_undo: bool


class WithdrawalDocument(msgspec.Struct):
    withdrawn: bool


@dataclass(frozen=True, slots=True)
class StudySummary(StudyCounts):
    people: int


class StudyList(msgspec.Struct):
    studies: list[StudySummary]


@dataclass(frozen=True, slots=True)
class StudyDashboard(StudyStatus):
    """How far a study is. Comments come without the code of who wrote them."""

    agreement: list[dict[str, Any]] = field(default_factory=list)
    """Rows {question, metric, value, low, high, n}."""
    agreement_answers: int = 0
    """How many answers the agreement was worked out from."""


class LinkCount(msgspec.Struct):
    count: Annotated[int, msgspec.Meta(ge=1, le=MOST_LINKS)] = 1


class LinkList(msgspec.Struct):
    links: list[str]
    """Each can be shown this once: the database has only hashes of the tokens."""


class ChatQuery(msgspec.Struct):
    after: Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)] = 0
    """The number of the last message that was seen."""
    state: str = ""
    """The state that was seen: the answer comes once there is another one, or a message."""


class ChatBody(msgspec.Struct):
    text: Annotated[str, msgspec.Meta(max_length=2_000)]
    key: Annotated[str, msgspec.Meta(min_length=1, max_length=100)]
    """Drawn for each message: the same one sent again is said once."""


class SaidMessage(msgspec.Struct):
    number: int
    mine: bool
    text: str


class StudyChatDocument(msgspec.Struct):
    """A chat as one of its two sees it: state is 'waiting', 'talking' or 'over'."""

    state: str
    messages: list[SaidMessage]
    turn: str | None
    """'mine' or 'theirs'."""
    turns_left: int
    persona: list[str]
    most_words: int
    reason: str


def _refusal(problems: Sequence[Problem]) -> Response:
    """An answer or a message that is not accepted: everything that is wrong with it."""
    message = "; ".join(problem.message for problem in problems)
    detail = ProblemDetail(message, "invalid_request_error", code="answer_refused")
    return Response(
        msgspec.json.encode(AnswerRefusal(list(problems), error=detail)), 422, media_type="application/json"
    )


def _document(view: View) -> ParticipantView:
    return msgspec.convert(view.document(), ParticipantView)


@OPERATIONS("GET", TAKE, "What a participant sees now")
async def get_view(call: Call) -> ParticipantView:
    return _document(await use_store(call.request, participation.view, call.path("token")))


@OPERATIONS("POST", f"{TAKE}/consent", "Agree to take part", ParticipantView, refuses=(422,))
async def post_consent(call: Call, body: ConsentBody) -> Any:
    try:
        arguments = call.path("token"), body.asked
        return _document(await use_store(call.request, participation.give_consent, *arguments))
    except AnswerRefused as refused:
        return _refusal(refused.problems)


@OPERATIONS("POST", f"{TAKE}/check", "What is wrong with an answer so far")
async def post_check(call: Call, body: CheckBody) -> AnswerProblems:
    arguments = call.path("token"), body.assignment, body.answer
    return AnswerProblems(await use_store(call.request, participation.check_answer, *arguments))


@OPERATIONS(
    "POST", f"{TAKE}/answers", "Answer an item; the same answer sent again counts once", ParticipantView,
    refuses=(422, 507),
)  # fmt: skip
async def post_answer(call: Call, body: AnswerBody) -> Any:
    try:
        arguments = call.path("token"), body.assignment, body.answer, body.comment, body.seconds
        return _document(await use_store(call.request, participation.give_answer, *arguments))
    except AnswerRefused as refused:
        return _refusal(refused.problems)


@OPERATIONS("POST", f"{TAKE}/undo", "Take the last answer back")
async def post_undo(call: Call, body: EmptyBody) -> ParticipantView:  # noqa: ARG001
    return _document(await use_store(call.request, participation.take_back, call.path("token")))


@OPERATIONS("POST", f"{TAKE}/withdraw", "Delete a participant and everything they gave")
async def post_withdraw(call: Call, body: EmptyBody) -> WithdrawalDocument:  # noqa: ARG001
    await use_store(call.request, participation.withdraw, call.path("token"))
    return WithdrawalDocument(True)


def _summaries(store: StudyStore) -> StudyList:
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


def _dashboard_of(store: StudyStore, name: str, cache: AgreementCache) -> StudyDashboard:
    stored = _find_study(store, name)
    status = status_of(store, stored)
    agreement = cache.rows_of(store, stored, status.answers)
    return StudyDashboard(**status.document(), agreement=agreement.rows, agreement_answers=agreement.answers)


@OPERATIONS("GET", "/api/studies", "The studies of this server", tag="organisers")
async def list_studies(call: Call) -> StudyList:
    return await use_store(call.request, _summaries)


@OPERATIONS("GET", STUDY, "How far a study is", tag="organisers")
async def get_study(call: Call) -> StudyDashboard:
    return await use_store(call.request, _dashboard_of, call.path("study"), study_context_of(call.request).agreement)


def _invite(store: StudyStore, name: str, count: int) -> list[str]:
    return store.invite(_find_study(store, name).name, count)


@OPERATIONS("POST", f"{STUDY}/tokens", "Make links for participants", tag="organisers")
async def post_tokens(call: Call, body: LinkCount) -> LinkList:
    tokens = await use_store(call.request, _invite, call.path("study"), body.count)
    base = str(call.request.base_url)
    return LinkList([f"{base}take/{token}" for token in tokens])


def _end(store: StudyStore, name: str, code: str) -> None:
    try:
        store.end(_find_study(store, name).name, code)
    except InputError as error:
        raise Refused(str(error), 404) from error


@OPERATIONS(
    "DELETE", f"{STUDY}/people/{{code}}", "End a participant's link; what they answered stays", status=204,
    tag="organisers",
)  # fmt: skip
async def end_person(call: Call) -> Response:
    await use_store(call.request, _end, call.path("study"), call.path("code"))
    return Response(status_code=204)


OPERATIONS("GET", "/health", "Whether the server is up", tag="server")(get_health)


@OPERATIONS("GET", "/metrics", "Figures for Prometheus", media="text/plain", tag="server")
async def get_metrics(call: Call) -> Response:
    exposition = study_context_of(call.request).telemetry.exposition()
    return Response(exposition, headers={"Content-Type": METRICS_TYPE})


@OPERATIONS("GET", f"{TAKE}/chat", "The chat, once something is new in it")
async def get_chat(call: Call, query: ChatQuery) -> StudyChatDocument:
    """Answers at once where something is new, else when something is, at the latest after `LONGEST_POLL_S`."""
    context = study_context_of(call.request)
    view = await use_store(call.request, chatting.chat_view, call.path("token"), query.state)
    until, answer_at = monotonic() + LONGEST_POLL_S, 0.0
    while not _has_news(view, query) and monotonic() < until and not context.is_stopping.is_set():
        if monotonic() >= answer_at:
            await _answer_for_agent(call)
            answer_at = monotonic() + ANSWER_EVERY_S
        await asyncio.sleep(LOOK_EVERY_S)
        if await call.request.is_disconnected():
            break
        view = await use_store(call.request, chatting.look, view)
    return _chat_document(view, query.after)


@OPERATIONS("POST", f"{TAKE}/chat", "Say something; the same key again says it once", StudyChatDocument, refuses=(422,))
async def post_message(call: Call, body: ChatBody) -> Any:
    result = await use_store(call.request, chatting.say, call.path("token"), body.text, body.key)
    if isinstance(result, list):
        return _refusal(result)
    await _answer_for_agent(call)
    return _chat_document(result, 0)


def _has_news(view: chatting.ChatView, query: ChatQuery) -> bool:
    has_more = any(message.number > query.after for message in view.messages)
    return has_more or view.state != query.state or view.item is None


def _chat_document(view: chatting.ChatView, after: int) -> StudyChatDocument:
    return msgspec.convert(view.document(after), StudyChatDocument)


async def _answer_for_agent(call: Call) -> None:
    """Begin an agent's reply where it is owed one that nobody is making."""
    owed = await use_store(call.request, chatting.owed_reply, call.path("token"))
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
                work = partial(chatting.reply_as_agent, context.store, item, agents[agent])
                await to_thread.run_sync(work, limiter=context.reply_limiter)
                return
            except Exception as error:
                LOG.error("the reply of agent '%s' failed: %s", agent, type(error).__name__)
                await asyncio.sleep(2.0**attempt)
        await use_store(request, chatting.agent_leaves, item)
    finally:
        renewing.cancel()


async def _renew_lease(request: Request, item: int) -> None:
    while True:
        await asyncio.sleep(RENEW_S)
        with suppress(UnderstudyError):  # what cannot be renewed runs out
            await use_store(request, chatting.renew_lease, item)


async def take(request: Request) -> Response:
    token = str(request.path_params["token"])
    try:
        view = await use_store(request, participation.view, token)
    except Refused as refused:
        return bare_page("take_unknown.html", refused.status, message=str(refused))
    return bare_page("take.html", title=view.stored.study.title, token=token)


async def studies(request: Request) -> Response:
    listed = await use_store(request, _summaries)
    return bare_page("studies.html", studies=listed.studies, request=request)


async def study(request: Request) -> Response:
    name = str(request.path_params["study"])
    try:
        dashboard = await use_store(request, _dashboard_of, name, study_context_of(request).agreement)
    except Refused as refused:
        return bare_page("study_unknown.html", refused.status, message=str(refused), request=request)
    pace, now = pace_chart(dashboard.pace), datetime.now(UTC)
    return bare_page("study.html", study=dashboard, pace=pace, since=since, request=request, now=now)


async def front(_: Request) -> Response:
    return RedirectResponse("/studies", 303)


def since(hour: str | None, now: datetime) -> str:
    """How long ago an hour was, in a few words."""
    if hour is None:
        return "never"
    hours = int((now - datetime.fromisoformat(hour)).total_seconds() // HOUR_S)
    if hours < 1:
        return "this hour"
    if hours < DAY_HOURS:
        return f"{hours} hour{'' if hours == 1 else 's'} ago"
    days = hours // DAY_HOURS
    return f"{days} day{'' if days == 1 else 's'} ago"


ROUTES = [Route("/", front), Route("/take/{token}", take), Route("/studies", studies), Route("/studies/{study}", study)]


def make_study_app(
    context: StudyContext, policy: AccessPolicy | None = None, limits: RequestLimits | None = None
) -> GuardMiddleware:
    """Participants need no key, only the token of their link; everything else is the organiser's.

    The default `policy` serves this machine only, without a key.
    """
    sessions = Sessions(LoginDatabase(context.store), policy or AccessPolicy())
    return application.make_application(
        context, (*OPERATIONS, *application.OPERATIONS), ROUTES, sessions, limits,
        about=ABOUT, summary=SUMMARY, token_prefixes=TOKEN_PREFIXES,
    )  # fmt: skip
