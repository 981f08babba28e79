"""On stage: characters served to any chat client, and a page to meet them.

    with AppContext.open(StoryRegistry({"demo": story}), agent, Path("data")) as context:
        uvicorn.run(make_app(context))

One process, one event loop. Agents speak in threads, so many at once; chats, uploads and settings live in one SQLite
database. Nothing here tells what lies after the moment it was asked for: what is shown comes from `spoiler_free` or
a persona.
"""

from __future__ import annotations

__all__: list[str] = []
