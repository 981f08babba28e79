"""Chats and their messages in the database: plain functions on a connection, each a part of one transaction.

Two things always hold: a parent is a message of the same chat, and the tip is a leaf (or nothing, in an empty chat).
"""

from __future__ import annotations

import json
import secrets
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from understudy.server.problems import Refused

__all__ = [
    "Chat", "Said", "answered", "append", "as_of", "branch", "change", "chat", "choose", "create", "cut", "delete",
    "message", "newest", "path", "remove", "siblings", "texts",
]  # fmt: skip

TITLE = 60
CHAT_COLUMNS = "id, story, characters, speaker, moment, title, tip, version, created, changed"
SAID_COLUMNS = "id, chat, parent, answers, author, shown, text, moment, faced, why, state, created, present, unanswered"
BELOW = """WITH RECURSIVE below (id) AS (
    SELECT ?1 UNION ALL SELECT messages.id FROM messages JOIN below ON messages.parent = below.id)"""


@dataclass(frozen=True, slots=True)
class Chat:
    id: str
    story: str
    characters: tuple[str, ...]
    speaker: str | None
    moment: str
    title: str
    tip: int | None
    version: int
    created: str
    changed: str


@dataclass(frozen=True, slots=True)
class Said:
    """A message. Before it is kept, its number, chat, parent and time mean nothing."""

    answers: bool
    author: str | None
    shown: str
    text: str
    moment: str
    faced: str | None = None
    why: str = "{}"
    state: str = "whole"
    id: int = 0
    chat: str = ""
    parent: int | None = None
    created: str = ""
    present: tuple[str, ...] | None = None
    unanswered: bool = False


def create(
    db: sqlite3.Connection, story: str, characters: Sequence[str], speaker: str | None, moment: str, title: str = ""
) -> Chat:
    now, number = _now(), secrets.token_urlsafe(9)
    db.execute(
        f"INSERT INTO chats ({CHAT_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, NULL, 1, ?, ?)",
        (number, story, json.dumps(list(characters), ensure_ascii=False), speaker, moment, title, now, now),
    )
    return chat(db, number)


def chat(db: sqlite3.Connection, number: str) -> Chat:
    row = db.execute(f"SELECT {CHAT_COLUMNS} FROM chats WHERE id = ?", (number,)).fetchone()
    if row is None:
        raise Refused("there is no such chat: it may have been deleted; choose another, or begin a new one", 404)
    return _chat(row)


def newest(db: sqlite3.Connection, most: int) -> list[Chat]:
    """Chats, the last changed first."""
    rows = db.execute(f"SELECT {CHAT_COLUMNS} FROM chats ORDER BY changed DESC, rowid DESC LIMIT ?", (most,))
    return [_chat(row) for row in rows]


def change(db: sqlite3.Connection, number: str, **columns: Any) -> Chat:
    """Set some of `characters`, `speaker`, `moment`, `title` and `tip`."""
    if "characters" in columns:
        columns["characters"] = json.dumps(list(columns["characters"]), ensure_ascii=False)
    settings = "".join(f"{column} = :{column}, " for column in columns)
    db.execute(
        f"UPDATE chats SET {settings} version = version + 1, changed = :now WHERE id = :id",
        {**columns, "now": _now(), "id": number},
    )
    return chat(db, number)


def delete(db: sqlite3.Connection, number: str) -> None:
    chat(db, number)
    db.execute("DELETE FROM chats WHERE id = ?", (number,))


def append(db: sqlite3.Connection, number: str, parent: int | None, said: Said) -> Said:
    """Keep a message after another (None: as the first), and show the branch it ends."""
    kept = chat(db, number)
    if parent is not None:
        message(db, number, parent)
    cursor = db.execute(
        """INSERT INTO messages (chat, parent, answers, author, shown, text, moment, faced, why, state, created,
                                 present, unanswered)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
        (number, parent, said.answers, said.author, said.shown, said.text, said.moment, said.faced, said.why,
         said.state, _now(), None if said.present is None else json.dumps(said.present, ensure_ascii=False),
         said.unanswered),
    )  # fmt: skip
    title = kept.title or ("" if said.answers else _opening(said.text))
    assert cursor.lastrowid is not None
    change(db, number, tip=cursor.lastrowid, title=title)
    return message(db, number, cursor.lastrowid)


def message(db: sqlite3.Connection, number: str, wanted: int) -> Said:
    row = db.execute(f"SELECT {SAID_COLUMNS} FROM messages WHERE id = ? AND chat = ?", (wanted, number)).fetchone()
    if row is None:
        raise Refused("there is no such message in this chat: it may have been deleted; reload the chat", 404)
    return _said(row)


def path(db: sqlite3.Connection, tip: int | None) -> list[Said]:
    """What was said up to a message, from the first on."""
    rows = db.execute(
        f"""WITH RECURSIVE above (number, up, steps) AS (
                SELECT id, parent, 0 FROM messages WHERE id = ?
                UNION ALL SELECT messages.id, messages.parent, steps + 1 FROM messages JOIN above ON messages.id = up)
            SELECT {SAID_COLUMNS} FROM above JOIN messages ON id = number ORDER BY steps DESC""",
        (tip,),
    )
    return [_said(row) for row in rows]


def siblings(db: sqlite3.Connection, number: str) -> dict[int | None, list[int]]:
    """The messages that follow each message of a chat, in the order they came."""
    following: dict[int | None, list[int]] = {}
    for parent, one in db.execute("SELECT parent, id FROM messages WHERE chat = ? ORDER BY id", (number,)):
        following.setdefault(parent, []).append(one)
    return following


def texts(db: sqlite3.Connection, number: str) -> dict[int, str]:
    """What every message of a chat says, on whatever branch."""
    return dict(db.execute("SELECT id, text FROM messages WHERE chat = ?", (number,)).fetchall())


def choose(db: sqlite3.Connection, number: str, wanted: int) -> Chat:
    """Show the branch a message lies on, down to its newest end."""
    message(db, number, wanted)
    return change(db, number, tip=_newest_leaf(db, wanted))


def cut(db: sqlite3.Connection, number: str, wanted: int, seen: str) -> Chat:
    """Keep of a reply what was seen (nothing: the reply goes), and none of the replies after it that were not."""
    said = message(db, number, wanted)
    below = db.execute(f"{BELOW} SELECT id, answers FROM messages JOIN below USING (id)", (wanted,)).fetchall()
    if any(not answers for one, answers in below if one != wanted):
        return chat(db, number)  # the talk has gone on since
    if not seen:
        return remove(db, number, wanted)
    db.execute(f"{BELOW} DELETE FROM messages WHERE id IN below AND id <> ?1", (wanted,))
    if len(seen) < len(said.text):
        db.execute("UPDATE messages SET text = ?, state = 'cut' WHERE id = ?", (seen, wanted))
    return change(db, number, tip=wanted)


def remove(db: sqlite3.Connection, number: str, wanted: int) -> Chat:
    """Take away a message and all that followed it. What is shown then is the newest that is left beside it."""
    said, kept = message(db, number, wanted), chat(db, number)
    shown = any(one.id == wanted for one in path(db, kept.tip))
    db.execute(f"{BELOW} DELETE FROM messages WHERE id IN below", (wanted,))
    if not shown:
        return change(db, number)
    left = db.execute("SELECT max(id) FROM messages WHERE chat = ? AND parent IS ?", (number, said.parent)).fetchone()[
        0
    ]
    return change(db, number, tip=said.parent if left is None else _newest_leaf(db, left))


def answered(db: sqlite3.Connection, number: str, wanted: int, yes: bool = True) -> None:
    """Say that a message has all the replies it gets, or that one is owed."""
    changed = db.execute(
        "UPDATE messages SET unanswered = ? WHERE id = ? AND chat = ? AND unanswered = ?",
        (not yes, wanted, number, yes),
    )
    if changed.rowcount:
        change(db, number)


def as_of(now: Chat, said: Sequence[Said]) -> Chat:
    """A chat as it stood when the last of some messages was said: its moment, who was there, who was spoken as.

    Of a message that does not tell who was there: who had answered at its moment, and who is there now.
    """
    last = said[-1]
    speaker = next((one.author for one in reversed(said) if not one.answers), now.speaker)
    there = last.present
    if there is None:
        spoke = (one.author for one in said if one.answers and one.moment == last.moment)
        there = tuple(dict.fromkeys((*(name for name in spoke if name is not None), *now.characters)))
    characters = tuple(name for name in there if name != speaker)
    return replace(now, moment=last.moment, characters=characters, speaker=speaker)


def branch(db: sqlite3.Connection, number: str, wanted: int, then: Chat | None = None) -> Chat:
    """A new chat that begins as this one did, up to a message, and stands where it stood then."""
    message(db, number, wanted)
    said = path(db, wanted)
    then = then or as_of(chat(db, number), said)
    new = create(db, then.story, then.characters, then.speaker, then.moment, f"{then.title} (branch)")
    parent: int | None = None
    for one in said:
        parent = append(db, new.id, parent, one).id
    return chat(db, new.id)


def _newest_leaf(db: sqlite3.Connection, wanted: int) -> int:
    """The end of the branch that is followed by going to the newest message each time."""
    while True:
        (below,) = db.execute("SELECT max(id) FROM messages WHERE parent = ?", (wanted,)).fetchone()
        if below is None:
            return wanted
        wanted = below


def _opening(text: str) -> str:
    """The first words of a message, as a title."""
    line = " ".join(text.split())
    return line if len(line) <= TITLE else line[: TITLE - 1].rsplit(" ", 1)[0] + "…"


def _chat(row: Sequence[Any]) -> Chat:
    number, story, characters, *others = row
    return Chat(number, story, tuple(json.loads(characters)), *others)


def _said(row: Sequence[Any]) -> Said:
    number, of, parent, answers, author, shown, text, moment, faced, why, state, created, present, unanswered = row
    there = None if present is None else tuple(json.loads(present))
    said = Said(bool(answers), author, shown, text, moment, faced, why, state, number, of, parent, created, there)
    return replace(said, unanswered=True) if unanswered else said


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
