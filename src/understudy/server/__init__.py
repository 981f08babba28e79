"""The HTTP server: characters for any chat client, and web pages to read and to talk.

    with AppContext.open(StoryRegistry({"demo": story}), agent, Path("data")) as context:
        uvicorn.run(make_app(context))

One process, one event loop. Agents run in a thread pool; chats, uploads and settings live in one SQLite database. No
response shows what lies after the moment of its request: everything comes from `spoiler_free` or a persona.
"""

from __future__ import annotations
