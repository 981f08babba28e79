"""The API of studies: what a participant does with a token, and what the organiser sees and does.

A token opens what its person may see and nothing else: every function of `participation` starts from the person whose
token it is.
"""

from __future__ import annotations

from typing import Any

import msgspec
from starlette.responses import Response

from understudy.errors import InputError
from understudy.server.api import Health, get_health
from understudy.server.operations import Call, Operation
from understudy.server.problems import Refused
from understudy.server.studies.context import AgreementCache, study_context_of, use_store
from understudy.server.studies.refusals import refusal
from understudy.server.studies.schemas import (
    AnswerBody,
    AnswerProblems,
    CheckBody,
    ConsentBody,
    EmptyBody,
    LinkCount,
    LinkList,
    ParticipantView,
    StudyDashboard,
    StudyList,
    StudySummary,
    WithdrawalDocument,
)
from understudy.server.telemetry import METRICS_TYPE
from understudy.studies import participation
from understudy.studies.participation import AnswerRefused, View
from understudy.studies.status import StudyStatus, status_of
from understudy.studies.store import StoredStudy, StudyStore

__all__ = ["OPERATIONS", "dashboard_of", "summaries"]


def _document(view: View) -> ParticipantView:
    return msgspec.convert(view.document(), ParticipantView)


async def get_view(call: Call) -> ParticipantView:
    return _document(await use_store(call.request, participation.view, call.path("token")))


async def post_consent(call: Call) -> Any:
    try:
        arguments = call.path("token"), call.body.asked
        return _document(await use_store(call.request, participation.give_consent, *arguments))
    except AnswerRefused as refused:
        return refusal(refused.problems)


async def post_check(call: Call) -> AnswerProblems:
    arguments = call.path("token"), call.body.assignment, call.body.answer
    return AnswerProblems(await use_store(call.request, participation.check_answer, *arguments))


async def post_answer(call: Call) -> Any:
    body: AnswerBody = call.body
    try:
        arguments = call.path("token"), body.assignment, body.answer, body.comment, body.seconds
        return _document(await use_store(call.request, participation.give_answer, *arguments))
    except AnswerRefused as refused:
        return refusal(refused.problems)


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
