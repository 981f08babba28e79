"""The Stories view: a card for each story that is served, the upload form, and for each upload its report and fixes.

A card shows a story as of its first chapter, like the other views do by default. The page of an upload covers the whole
story, and says so: it is for its author. Of a novel it lists the quotations whose speakers are doubtful. Every form
works without scripts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import msgspec
from anyio import to_thread
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from understudy.errors import UnderstudyError
from understudy.formats import FORMATS
from understudy.server.context import context_of
from understudy.server.pages import page, redirected, requested_moment, with_query
from understudy.server.problems import Refused
from understudy.server.story_registry import speakers_before, tones
from understudy.server.uploads import routes as api
from understudy.server.uploads.fixes import Fix
from understudy.server.uploads.quotations import QuotationFilter
from understudy.server.uploads.reader_process import MIB
from understudy.server.uploads.routes import FileReport, PersonReport, Total, Upload
from understudy.server.uploads.service import UploadService
from understudy.story.storyfile import Story
from understudy.story.types import Moment

FACES = 6
PEOPLE = 50  # shown with their forms, unless everybody is requested
LANGUAGES = {"en": "English", "ja": "Japanese", "zh": "Chinese"}
FATES = (
    ("lines", "line of dialogue", "lines of dialogue"),
    ("descriptions", "description", "descriptions"),
    ("headings", "heading or note", "headings and notes"),
    ("unread", "not read", "not read"),
)
"""What can become of a source line, in the order of a bar's pieces."""


@dataclass(frozen=True, slots=True)
class StoryCard:
    """A story as of the end of its first chapter."""

    name: str
    title: str
    language: str
    scenes: int
    lines: int
    at: str
    faces: tuple[tuple[str, int], ...]
    """Who is met first, with the tones of their portraits."""
    more: int
    upload: Upload | None


def _card(name: str, story: Story, label: str, uploads: Mapping[str, Upload]) -> StoryCard:
    scenes, lines = story.count()
    moment = requested_moment(story, None)
    in_order = tones(story, moment)
    met = [(shown, in_order[shown]) for shown, _ in speakers_before(story, moment)]
    language, more = LANGUAGES.get(story.language, story.language), max(len(met) - FACES, 0)
    faces = tuple(met[:FACES])
    return StoryCard(name, label, language, scenes, lines, moment.dotted, faces, more, uploads.get(name))


def bar(counts: Any) -> list[tuple[str, float, float]]:
    """The pieces of a bar: class, start and width, both in percent."""
    pieces, start = list[tuple[str, float, float]](), 0.0
    for fate, *_ in FATES:
        width = 100 * getattr(counts, fate) / max(counts.units, 1)
        if width:
            pieces.append((fate, round(start, 3), round(width, 3)))
        start += width
    return pieces


async def stories(request: Request, problem: UnderstudyError | None = None) -> Response:
    context = context_of(request)
    uploads = await api.all_uploads(context.uploads)
    by_story = {upload.story: upload for upload in uploads if upload.story is not None}
    labels = context.stories.labels()
    cards = [
        await to_thread.run_sync(_card, name, story, labels.get(name, story.title), by_story)
        for name, story in context.stories
    ]
    reading, failed, deleted = (
        [each for each in uploads if each.state == state] for state in ("reading", "failed", "deleted")
    )
    formats = [known.name for known in reversed(FORMATS)]  # those that take most texts first
    return page(
        request, "stories.html", "stories", problem=problem, cards=cards, reading=reading, failed=failed,
        deleted=deleted, megabytes=context.uploads.limits.upload_bytes // MIB, formats=formats,
    )  # fmt: skip


async def upload(request: Request, problem: UnderstudyError | None = None) -> Response:
    try:
        report = await api.upload_report(context_of(request).uploads, request.path_params["upload"])
    except Refused as refused:
        return await stories(request, refused)
    total, cast, files = Total(0, 0, 0, 0, 0), list[PersonReport](), list[FileReport]()
    if report.report is not None:
        total, cast, files = report.report.total, report.report.cast, report.report.files
    wanted = _filter(request)
    quotations = None
    if report.report is not None and report.fixable and report.state == "ready":
        quotations = await api.quotations_of(context_of(request).uploads, report.id, wanted)
    shown = cast if "all" in request.query_params else cast[:PEOPLE]
    reasons = sum((Counter(file.reasons) for file in files), Counter[str]()).most_common()
    return page(
        request, "stories-upload.html", "stories", story=report.story, problem=problem, upload=report,
        report=report.report, total=total, shown=shown, tones=_tones(cast), reasons=reasons, bar=bar, fates=FATES,
        languages=LANGUAGES, quotations=quotations, wanted=wanted, filtered=partial(_filtered, report.id, wanted),
    )  # fmt: skip


def _tones(cast: list[PersonReport]) -> dict[str, int]:
    """Those of the portraits of the whole cast, as on the pages of the story (`names.tones`)."""
    speakers = sorted((Moment.parse(person.first), person.name) for person in cast if person.first)
    return {name: place for place, (_, name) in enumerate(speakers)}


def _filter(request: Request) -> QuotationFilter:
    """Which quotations are shown; what makes no sense in an address is left out."""
    parameters = request.query_params
    offset = parameters.get("offset", "")
    return QuotationFilter(
        decided="decided" in parameters,
        chapter=parameters.get("chapter", ""),
        speaker=parameters.get("speaker", ""),
        offset=int(offset) if offset.isascii() and offset.isdecimal() and len(offset) < 7 else 0,
    )


def _filtered(upload: str, wanted: QuotationFilter, action: str = "", **changed: Any) -> str:
    """The address of an upload's page, or of one of its forms, with quotations that are filtered so."""
    wanted = wanted._replace(**changed)
    shown = {"decided": "1" if wanted.decided else "", "chapter": wanted.chapter, "speaker": wanted.speaker}
    path = f"/stories/{upload}" + (f"/{action}" if action else "")
    return with_query(path, {**shown, "offset": wanted.offset})


async def send(request: Request) -> Response:
    """The upload form without scripts: waits until the files are read and redirects to the report."""
    uploads = context_of(request).uploads
    try:
        sent, _ = await uploads.receive(request.headers.get("content-type", ""), request.stream())
        await uploads.jobs.wait(sent)
    except UnderstudyError as error:
        return await stories(request, error)
    return RedirectResponse(f"/stories/{sent}", 303)


async def fix(request: Request) -> Response:
    async with request.form() as form:
        values: dict[str, Any] = {key: value for key, value in form.items() if isinstance(value, str)}

    async def apply(uploads: UploadService, name: str) -> None:
        await uploads.fix(name, _parsed_fix(values))

    return await _change(request, apply, _back_to(request, "quotation" in values))


def _parsed_fix(values: dict[str, Any]) -> Fix:
    if "lines" in values:
        values["lines"] = values["lines"].splitlines()
    try:
        return msgspec.convert(values, Fix)  # type: ignore[no-any-return]
    except msgspec.ValidationError as error:
        raise Refused(f"the form is not as expected: {error}", 400) from error


async def undo(request: Request) -> Response:
    return await _change(request, lambda uploads, name: uploads.undo(name), _back_to(request))


def _back_to(request: Request, is_of_quotation: bool = False) -> str:
    """The page that a form is on, at its quotations if it is about one or they are filtered."""
    address = _filtered(request.path_params["upload"], _filter(request))
    return f"{address}#doubtful" if is_of_quotation or "?" in address else address


async def delete(request: Request) -> Response:
    return await _change(request, lambda uploads, name: uploads.delete(name), "/stories#put-away")


async def retry(request: Request) -> Response:
    """Read a failed upload again, as the format of a form; waits until it is read and redirects to the report."""
    uploads, name = context_of(request).uploads, request.path_params["upload"]
    async with request.form() as form:
        chosen = str(form.get("form", ""))

    async def read() -> None:
        await uploads.retry(name, chosen)
        await uploads.jobs.wait(name)

    return await redirected(read(), f"/stories/{name}", partial(stories, request))


async def restore(request: Request) -> Response:
    return await _change(request, lambda uploads, name: uploads.restore(name))


async def _change(request: Request, work: Any, target: str | None = None) -> Response:
    name = request.path_params["upload"]
    done = work(context_of(request).uploads, name)
    return await redirected(done, target or f"/stories/{name}", partial(upload, request))


ROUTES = [
    Route("/stories", stories),
    Route("/stories/{upload}", upload),
    Route("/api/uploads/form", send, methods=["POST"]),
    Route("/stories/{upload}/fix", fix, methods=["POST"]),
    Route("/stories/{upload}/undo", undo, methods=["POST"]),
    Route("/stories/{upload}/delete", delete, methods=["POST"]),
    Route("/stories/{upload}/retry", retry, methods=["POST"]),
    Route("/stories/{upload}/restore", restore, methods=["POST"]),
]
