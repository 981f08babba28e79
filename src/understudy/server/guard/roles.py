"""Who may do what. An author may do everything; a reader talks and reads, and may do what is listed here alone.

Chats belong to nobody: whoever has a chat's address, which cannot be guessed, may go on with it, save it and delete it.
So a reader may use a chat, but not have all of them listed.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from starlette.routing import BaseRoute, Match, Route
from starlette.types import Scope

__all__ = ["READER_MAY", "Role", "allowed"]


class Role(StrEnum):
    AUTHOR = "author"
    READER = "reader"


_STORY = "/api/stories/{story}"
_CHARACTER = _STORY + "/characters/{name}"
_CHAT = "/api/chats/{chat}"
_MESSAGE = _CHAT + "/messages/{message}"

READER_MAY = frozenset(
    {
        ("POST", "/v1/chat/completions"),
        ("GET", "/v1/models"),
        ("GET", "/v1/models/{model:path}"),
        ("GET", "/api/stories"),
        ("GET", _STORY + "/cast"),
        ("GET", _STORY + "/timeline"),
        ("GET", _STORY + "/scenes"),
        ("GET", _STORY + "/search"),
        ("GET", _CHARACTER),
        ("GET", _CHARACTER + "/card.json"),
        ("GET", _CHARACTER + "/card.png"),
        ("GET", _CHARACTER + "/portrait.svg"),
        ("GET", _CHARACTER + "/relations.svg"),
        ("GET", _CHARACTER + "/course.svg"),
        ("POST", "/api/replies"),
        ("POST", "/api/chats"),
        ("GET", _CHAT),
        ("PATCH", _CHAT),
        ("DELETE", _CHAT),
        ("GET", _CHAT + "/export"),
        ("POST", _CHAT + "/messages"),
        ("POST", _CHAT + "/stop"),
        ("DELETE", _MESSAGE),
        ("POST", _MESSAGE + "/retry"),
        ("POST", _MESSAGE + "/edit"),
        ("POST", _MESSAGE + "/branch"),
        ("GET", "/health"),
        ("GET", "/openapi.json"),
        # pages
        ("GET", "/"),
        ("GET", "/chats/{chat}"),
        ("GET", "/character/{story}"),
        ("GET", "/character/{story}/{name:path}"),
        ("GET", "/story/{story}"),
        ("GET", "/stories"),
        ("GET", "/docs"),
        ("GET", "/login"),
        ("POST", "/login"),
        ("POST", "/logout"),
    }
)
"""Method and path as routes write it. What is not listed is refused, routes that are added later included."""


def allowed(role: Role, routes: Sequence[BaseRoute], scope: Scope) -> bool:
    """May this be asked? What leads to no route may: it is answered as not found."""
    if role is Role.AUTHOR:
        return True
    for route in routes:
        match, _ = route.matches(scope)
        if match is Match.FULL:
            method = "GET" if scope["method"] == "HEAD" else scope["method"]
            return not isinstance(route, Route) or (method, route.path) in READER_MAY
    return True
