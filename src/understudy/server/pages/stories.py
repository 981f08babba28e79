"""Stories: what is on stage, a place to drop more, and for each upload its reader's report and its cast to put right.

The cards tell of a story what the other views tell at first: its first chapter. The page of an upload tells all of it,
and says so: it is for the one who sent it. Every form works without scripts; scripts make them quicker.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
from anyio import to_thread
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from understudy.errors import UnderstudyError
from understudy.server.context import context_of
from understudy.server.pages import page
from understudy.server.pages.timeline import moment_asked
from understudy.server.problems import Refused, status_of
from understudy.server.standing import heard_so_far
from understudy.server.uploads.fixes import Fix
from understudy.server.uploads.limits import MIB
from understudy.server.uploads.routes import all_uploads, upload_report
from understudy.server.uploads.schemas import Total, Upload, UploadReport
from understudy.storyfile import Story

__all__ = ["ROUTES"]

FACES = 6
PEOPLE = 50  # whose forms a page carries before one asks for everybody
LANGUAGES = {"en": "English", "ja": "Japanese", "zh": "Chinese"}
FATES = (
    ("lines", "line of dialogue", "lines of dialogue"),
    ("descriptions", "description", "descriptions"),
    ("headings", "heading or note", "headings and notes"),
    ("unread", "not read", "not read"),
)
"""What becomes of a source line, in the order bars show it."""


@dataclass(frozen=True, slots=True)
class Card:
    """A story on stage as its first chapter shows it."""

    name: str
    title: str
    language: str
    scenes: int
    lines: int
    at: str
    faces: tuple[str, ...]
    more: int
    upload: Upload | None


def _card(name: str, story: Story, uploads: Mapping[str, Upload]) -> Card:
    scenes, lines = story.count()
    moment = moment_asked(story, None)
    met = [shown for shown, _ in heard_so_far(story, moment)]
    return Card(
        name,
        story.title,
        LANGUAGES.get(story.language, story.language),
        scenes,
        lines,
        moment.dotted,
        tuple(met[:FACES]),
        max(len(met) - FACES, 0),
        uploads.get(name),
    )


def bar(counts: Any) -> list[tuple[str, float, float]]:
    """The pieces of a bar, as (class, from, width) in hundredths of it."""
    pieces, place = list[tuple[str, float, float]](), 0.0
    for fate, *_ in FATES:
        width = 100 * getattr(counts, fate) / max(counts.units, 1)
        if width:
            pieces.append((fate, round(place, 3), round(width, 3)))
        place += width
    return pieces


def _reasons(report: UploadReport) -> list[tuple[str, int]]:
    found: dict[str, int] = {}
    for file in report.report.files if report.report else ():
        for reason, number in file.reasons.items():
            found[reason] = found.get(reason, 0) + number
    return sorted(found.items(), key=lambda one: -one[1])


async def stories(request: Request, problem: UnderstudyError | None = None) -> Response:
    context = context_of(request)
    uploads = await all_uploads(context.uploads)
    by_story = {one.story: one for one in uploads if one.story is not None}
    cards = [await to_thread.run_sync(_card, name, story, by_story) for name, story in context.stories]
    return page(
        request,
        "stories.html",
        "stories",
        200 if problem is None else status_of(problem),
        cards=cards,
        reading=[one for one in uploads if one.state == "reading"],
        failed=[one for one in uploads if one.state == "failed"],
        deleted=[one for one in uploads if one.state == "deleted"],
        problem=problem,
        megabytes=context.uploads.limits.upload_bytes // MIB,
    )


async def upload(request: Request, problem: UnderstudyError | None = None) -> Response:
    try:
        found = await upload_report(context_of(request).uploads, request.path_params["upload"])
    except Refused as refused:
        return await stories(request, refused)
    total = found.report.total if found.report else Total(0, 0, 0, 0, 0)
    return page(
        request,
        "stories-upload.html",
        "stories",
        200 if problem is None else status_of(problem),
        story=found.story,
        upload=found,
        report=found.report,
        total=total,
        shown=(found.report.cast if found.report else [])[: None if "all" in request.query_params else PEOPLE],
        reasons=_reasons(found),
        bar=bar,
        fates=FATES,
        languages=LANGUAGES,
        problem=problem,
    )


async def send(request: Request) -> Response:
    """The form without scripts: sent, read, and on to its report."""
    uploads = context_of(request).uploads
    try:
        sent, _ = await uploads.receive(request.headers.get("content-type", ""), request.stream())
        await uploads.jobs.wait(sent)
    except UnderstudyError as error:
        return await stories(request, error)
    return RedirectResponse(f"/stories/{sent}", 303)


async def fix(request: Request) -> Response:
    async with request.form() as form:
        asked = _fix_asked(form)
    return await _done(request, lambda uploads, name: uploads.fix(name, asked()))


def _fix_asked(form: FormData) -> Any:
    told: dict[str, Any] = {key: value for key, value in form.items() if isinstance(value, str)}
    if "lines" in told:
        told["lines"] = told["lines"].splitlines()

    def asked() -> Fix:
        try:
            return msgspec.convert(told, Fix)  # type: ignore[no-any-return]
        except msgspec.ValidationError as error:
            raise Refused(f"the form is not as expected: {error}", 400) from error

    return asked


async def undo(request: Request) -> Response:
    return await _done(request, lambda uploads, name: uploads.undo(name))


async def delete(request: Request) -> Response:
    return await _done(request, lambda uploads, name: uploads.delete(name), "/stories#put-away")


async def restore(request: Request) -> Response:
    return await _done(request, lambda uploads, name: uploads.restore(name))


async def _done(request: Request, work: Any, after: str | None = None) -> Response:
    name = request.path_params["upload"]
    try:
        await work(context_of(request).uploads, name)
    except UnderstudyError as error:
        return await upload(request, error)
    return RedirectResponse(after or f"/stories/{name}", 303)


ROUTES = [
    Route("/stories", stories),
    Route("/stories/{upload}", upload),
    Route("/api/uploads/form", send, methods=["POST"]),
    Route("/stories/{upload}/fix", fix, methods=["POST"]),
    Route("/stories/{upload}/undo", undo, methods=["POST"]),
    Route("/stories/{upload}/delete", delete, methods=["POST"]),
    Route("/stories/{upload}/restore", restore, methods=["POST"]),
]
