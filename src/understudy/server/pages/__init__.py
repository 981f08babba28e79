"""The pages: HTML made here, from templates that escape whatever they are given.

A page works by the same operations as any other client. Scripts and styles come from our own files alone (the content
policy forbids inline ones), so a template carries data in `data-` attributes and classes, not in `style`.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from starlette.requests import Request
from starlette.responses import HTMLResponse

__all__ = ["page"]


@cache
def _templates() -> Environment:
    return Environment(
        loader=PackageLoader("understudy.server"),
        autoescape=select_autoescape(default=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def page(request: Request, template: str, status: int = 200, **told: Any) -> HTMLResponse:
    return HTMLResponse(_templates().get_template(template).render(request=request, **told), status)
