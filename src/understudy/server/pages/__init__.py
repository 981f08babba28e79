"""The HTML pages, rendered from templates with autoescaping.

Scripts of a page use the same HTTP operations as any other client. The content security policy forbids inline scripts
and styles, so a template passes data in `data-` attributes and classes.
"""

from __future__ import annotations

from functools import cache
from typing import Any
from urllib.parse import quote, urlencode

import msgspec
from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from starlette.requests import Request
from starlette.responses import HTMLResponse

from understudy.errors import UnderstudyError
from understudy.server.context import context_of
from understudy.server.problems import ProblemDocument, problem_response, status_of

__all__ = ["address", "bare_page", "form_fields", "page", "portrait_address", "problem_page"]


@cache
def _templates() -> Environment:
    templates = Environment(
        loader=PackageLoader("understudy.server"),
        autoescape=select_autoescape(default=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.globals |= {"address": address, "portrait_address": portrait_address}
    return templates


def page(
    request: Request,
    template: str,
    view: str,
    status: int = 200,
    story: str | None = None,
    at: str | None = None,
    who: str | None = None,
    **values: Any,
) -> HTMLResponse:
    """A page of one of the views (talk, character, story, stories, people, review); `story`, `at` and `who` make the
    header link to the same story, moment and character in the other views."""
    context = context_of(request)
    common = {
        "request": request, "view": view, "story": story, "at": at, "who": who,
        "stories": context.stories.labels(),
        "reviewing": context.utterances is not None,
    }  # fmt: skip
    return HTMLResponse(_templates().get_template(template).render(**common, **values), status)


def problem_page(request: Request, view: str, error: UnderstudyError) -> HTMLResponse:
    """An error as a page, with links to go on from there."""
    message = msgspec.json.decode(problem_response(error).body, type=ProblemDocument).error.message
    return page(request, "problem.html", view, status_of(error), message=message)


def bare_page(template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """A page without the site's header, which names the stories: for people who have not logged in."""
    return HTMLResponse(_templates().get_template(template).render(**values), status)


def address(view: str, story: str | None = None, at: str | None = None, who: str | None = None) -> str:
    """The URL of a view."""
    if view == "stories" or story is None:
        return "/" if view == "talk" else "/stories"
    parameters = {"at": at} if at else {}
    if view == "talk":
        return "/?" + urlencode({"story": story, **({"who": who} if who else {}), **parameters}, quote_via=quote)
    path = f"/{view}/{quote(story, safe='')}"
    if view == "character" and who:
        path += f"/{quote(who, safe='')}"
    return path + (f"?{urlencode(parameters)}" if parameters else "")


def portrait_address(story: str, name: str, tone: int | None = None) -> str:
    """The URL of somebody's portrait, in the colour of their place in the cast (`names.tones`)."""
    path = f"/api/stories/{quote(story, safe='')}/characters/{quote(name.replace('/', ' '), safe='')}/portrait.svg"
    return path if tone is None else f"{path}?tone={tone}"


async def form_fields(request: Request) -> dict[str, str]:
    """The texts of a small form, without zero bytes; files are refused."""
    async with request.form(max_files=0, max_fields=8, max_part_size=4096) as form:
        return {key: value.replace("\0", "") for key, value in form.items() if isinstance(value, str)}
