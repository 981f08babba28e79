"""The pages: HTML made here, from templates that escape whatever they are given.

A page works by the same operations as any other client. Scripts and styles come from our own files alone (the content
policy forbids inline ones), so a template carries data in `data-` attributes and classes, not in `style`.
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

__all__ = ["address", "bare_page", "page", "problem_page"]


@cache
def _templates() -> Environment:
    templates = Environment(
        loader=PackageLoader("understudy.server"),
        autoescape=select_autoescape(default=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.globals["address"] = address
    return templates


def page(
    request: Request,
    template: str,
    view: str,
    status: int = 200,
    story: str | None = None,
    at: str | None = None,
    who: str | None = None,
    **told: Any,
) -> HTMLResponse:
    """A page of one of the views (talk, character, story, stories, review); `story`, `at` and `who` lead the header's
    links to the same story, moment and character in the other views."""
    context = context_of(request)
    frame = {
        "request": request, "view": view, "story": story, "at": at, "who": who,
        "stories": {name: one.title for name, one in context.stories}, "reviewing": context.utterances is not None,
    }  # fmt: skip
    return HTMLResponse(_templates().get_template(template).render(**frame, **told), status)


def problem_page(request: Request, view: str, error: UnderstudyError) -> HTMLResponse:
    """An error as a page: what is wrong, and where to go from there."""
    message = msgspec.json.decode(problem_response(error).body, type=ProblemDocument).error.message
    return page(request, "problem.html", view, status_of(error), message=message)


def bare_page(template: str, status: int = 200, **told: Any) -> HTMLResponse:
    """A page that tells nothing of the house, for somebody who is not in it yet."""
    return HTMLResponse(_templates().get_template(template).render(**told), status)


def address(view: str, story: str | None = None, at: str | None = None, who: str | None = None) -> str:
    """Where a view of a story, at a moment, is found."""
    if view == "stories" or story is None:
        return "/" if view == "talk" else "/stories"
    asked = {"at": at} if at else {}
    if view == "talk":
        return "/?" + urlencode({"story": story, **({"who": who} if who else {}), **asked}, quote_via=quote)
    path = f"/{view}/{quote(story, safe='')}"
    if view == "character" and who:
        path += f"/{quote(who, safe='')}"
    return path + (f"?{urlencode(asked)}" if asked else "")
