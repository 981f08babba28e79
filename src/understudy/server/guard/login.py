"""The form by which a person shows the key once; after that a cookie with a random session stands for it."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from understudy.server.guard.door import Door
from understudy.server.guard.middleware import COOKIE, session_of
from understudy.server.pages import bare_page

__all__ = ["login_routes"]


def login_routes(door: Door) -> list[Route]:
    async def form(request: Request) -> Response:
        if door.key is None:
            return RedirectResponse("/", 303)
        return _page(_own_path(request.query_params.get("next", "/")))

    async def login(request: Request) -> Response:
        told = await request.form(max_files=0, max_fields=4, max_part_size=4096)
        after = _own_path(str(told.get("next", "/")))
        role = door.role_of(str(told.get("key", "")))
        if role is None:
            return _page(after, wrong=True)
        response = RedirectResponse(after, 303)
        secure = request.url.scheme == "https"
        response.set_cookie(COOKIE, door.sessions.open(role), httponly=True, samesite="strict", secure=secure)
        return response

    async def logout(request: Request) -> Response:
        door.sessions.end(session_of(request.headers.get("cookie", "")))
        response = RedirectResponse("/login", 303)
        response.delete_cookie(COOKIE, httponly=True, samesite="strict")
        return response

    return [
        Route("/login", form),
        Route("/login", login, methods=["POST"]),
        Route("/logout", logout, methods=["POST"]),
    ]


def _page(after: str, wrong: bool = False) -> Response:
    """Tells strangers nothing of what is served here."""
    return bare_page("login.html", 401 if wrong else 200, after=after, wrong=wrong)


def _own_path(told: str) -> str:
    """A path of this server, and nothing that a browser would take for another's."""
    return told if told.startswith("/") and not told.startswith(("//", "/\\")) else "/"
