"""The form by which a person shows the key once; after that a cookie with a random session stands for it."""

from __future__ import annotations

from html import escape

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from understudy.server.guard.door import Door
from understudy.server.guard.middleware import COOKIE, session_of

__all__ = ["login_routes"]

PAGE = """<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>Log in - Understudy</title>
  <link rel="stylesheet" href="/static/site.css">
  <script src="/static/theme.js"></script>
</head>
<body data-view="login">
  <main id="view">
    <h1>Understudy</h1>
    <form method="post" action="/login">
      {wrong}
      <input type="hidden" name="next" value="{after}">
      <p><label for="key">The server's key</label></p>
      <p><input id="key" name="key" type="password" autocomplete="current-password" required autofocus></p>
      <p><button type="submit">Log in</button></p>
    </form>
  </main>
</body>
</html>
"""
WRONG = '<p role="alert">That is not the key.</p>'


def login_routes(door: Door) -> list[Route]:
    async def form(request: Request) -> Response:
        if door.key is None:
            return RedirectResponse("/", 303)
        return _page(_own_path(request.query_params.get("next", "/")))

    async def login(request: Request) -> Response:
        told = await request.form(max_files=0, max_fields=4, max_part_size=4096)
        after = _own_path(str(told.get("next", "/")))
        if not door.opens_to(str(told.get("key", ""))):
            return _page(after, wrong=True)
        response = RedirectResponse(after, 303)
        secure = request.url.scheme == "https"
        response.set_cookie(COOKIE, door.sessions.open(), httponly=True, samesite="strict", secure=secure)
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
    return HTMLResponse(PAGE.format(after=escape(after), wrong=WRONG if wrong else ""), 401 if wrong else 200)


def _own_path(told: str) -> str:
    """A path of this server, and nothing that a browser would take for another's."""
    return told if told.startswith("/") and not told.startswith(("//", "/\\")) else "/"
