"""Personas that users make up to speak as: stored as JSON with chats and messages, and in a table for reuse."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

from understudy.database import Database
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


def keep(db: Database, persona: OwnPersona | None) -> None:
    if persona is not None:
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        db.rows(
            """INSERT INTO personas VALUES (?, ?, ?)
               ON CONFLICT (name) DO UPDATE SET description = excluded.description, changed = excluded.changed""",
            (persona.name, persona.description, now),
        )


def list_all(db: Database) -> list[OwnPersona]:
    """All stored personas, by name."""
    return sorted(
        (OwnPersona(*row) for row in db.rows("SELECT name, description FROM personas")),
        key=lambda persona: persona.name,
    )


def delete(db: Database, name: str) -> None:
    """Delete a stored persona; chats that use it are not changed."""
    if not db.rows("DELETE FROM personas WHERE name = ? RETURNING name", (name,)):
        raise Refused("nobody of that name is kept: look at the list", 404, "name")
