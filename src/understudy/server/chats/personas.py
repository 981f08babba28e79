"""Personas that users make up to speak as: stored as JSON with chats and messages, and in a table for reuse."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

from understudy.server.problems import Refused

__all__ = ["OwnPersona", "decoded", "delete", "encoded", "keep", "list_all"]


@dataclass(frozen=True, slots=True)
class OwnPersona:
    """Somebody whom a user has made up to speak as."""

    name: str
    description: str


def encoded(persona: OwnPersona | None) -> str | None:
    return None if persona is None else json.dumps(asdict(persona), ensure_ascii=False)


def decoded(text: str | None) -> OwnPersona | None:
    return None if text is None else OwnPersona(**json.loads(text))


def keep(db: sqlite3.Connection, persona: OwnPersona | None) -> None:
    if persona is not None:
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        db.execute("INSERT OR REPLACE INTO personas VALUES (?, ?, ?)", (persona.name, persona.description, now))


def list_all(db: sqlite3.Connection) -> list[OwnPersona]:
    """All stored personas, by name."""
    return [OwnPersona(*row) for row in db.execute("SELECT name, description FROM personas ORDER BY name")]


def delete(db: sqlite3.Connection, name: str) -> None:
    """Delete a stored persona; chats that use it are not changed."""
    if not db.execute("DELETE FROM personas WHERE name = ?", (name,)).rowcount:
        raise Refused("nobody of that name is kept: look at the list", 404, "name")
