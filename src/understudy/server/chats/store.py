"""Chats and their messages in the database: tables, and functions on a connection that are parts of a transaction.

Messages form a tree: an edit or a retry is a sibling, and no message is overwritten. Two invariants hold: a parent is a
message of the same chat, and a chat's tip is a leaf (or NULL, in an empty chat).
"""

from __future__ import annotations

import json
import re
import secrets
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from understudy.server.chats import personas
from understudy.server.chats.personas import OwnPersona
from understudy.server.problems import Refused

__all__ = [
    "AGENTS_AND_PERSONAS", "CHAT_TABLES", "MESSAGE_COLUMNS_ADDED", "REMEMBERED_NAME", "Chat", "Message", "append",
    "as_of", "branch", "children", "create", "delete", "get_chat", "get_message", "list_chats",
    "open_with", "path", "remove", "reserve_ids", "rewrite", "set_unanswered", "show_branch", "texts",
    "truncate", "update",
]  # fmt: skip

# A chat's title is its first words, unless it was renamed. `tip` is the last message of the branch that is shown, and
# `version` counts changes, so that a page can tell whether it is up to date. A message's `author` is the story's own
# name for them (NULL: the user as themselves), `shown` the name it was shown under, which may be a false one, and
# `faced` the name under which a character knew who spoke to it. `answers` is 1 for a reply. 'cut' means: stopped, and
# only what was seen is stored. Parents are checked at the end of a transaction, so that a branch can be deleted whole.
CHAT_TABLES = """
CREATE TABLE chats (
    id TEXT PRIMARY KEY,
    story TEXT NOT NULL,
    characters TEXT NOT NULL,
    speaker TEXT,
    moment TEXT NOT NULL,
    title TEXT NOT NULL,
    tip INTEGER REFERENCES messages (id) DEFERRABLE INITIALLY DEFERRED,
    version INTEGER NOT NULL,
    created TEXT NOT NULL,
    changed TEXT NOT NULL
);
CREATE INDEX chats_by_change ON chats (changed);
CREATE TABLE messages (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    chat TEXT NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
    parent INTEGER REFERENCES messages (id) DEFERRABLE INITIALLY DEFERRED,
    answers INTEGER NOT NULL,
    author TEXT,
    shown TEXT NOT NULL,
    text TEXT NOT NULL,
    moment TEXT NOT NULL,
    faced TEXT,
    why TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('whole', 'cut')),
    created TEXT NOT NULL
);
CREATE INDEX messages_of_chat ON messages (chat);
CREATE INDEX messages_by_parent ON messages (parent)
"""

# `present` are the characters of the scene a message was said in (NULL: the message is older than this column).
# `unanswered` is set with a message of the user and cleared with the last reply to it: it marks the replies that a
# server which was stopped or killed still owed.
MESSAGE_COLUMNS_ADDED = """
ALTER TABLE messages ADD COLUMN present TEXT;
ALTER TABLE messages ADD COLUMN unanswered INTEGER NOT NULL DEFAULT 0
"""

# A chat's `agent` is the name of the one that speaks in it (NULL: the server's default). `persona` is somebody of the
# user's own whom they speak as, a JSON object: of the chat whom they speak as now, of a message whom they spoke as.
# `personas` keeps them, to be chosen again.
AGENTS_AND_PERSONAS = """
ALTER TABLE chats ADD COLUMN agent TEXT;
ALTER TABLE chats ADD COLUMN persona TEXT;
ALTER TABLE messages ADD COLUMN persona TEXT;
CREATE TABLE personas (name TEXT PRIMARY KEY, description TEXT NOT NULL, changed TEXT NOT NULL)
"""

# `remember` is the name under which what the user tells of themselves is kept (NULL: nothing is kept).
REMEMBERED_NAME = "ALTER TABLE chats ADD COLUMN remember TEXT"

MAX_TITLE = 60
MARKS = re.compile(r"[*`]+")
CHAT_COLUMNS = "id, story, characters, speaker, moment, title, tip, version, created, changed, agent, remember, persona"
MESSAGE_COLUMNS = (
    "id, chat, parent, answers, author, shown, text, moment, faced, why, state, created, present, unanswered, persona"
)
SUBTREE = """WITH RECURSIVE below (id) AS (
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
    agent: str | None = None
    remember: str | None = None
    persona: OwnPersona | None = None


@dataclass(frozen=True, slots=True)
class Message:
    """A message. `id`, `chat`, `parent` and `created` are set once it is stored."""

    is_reply: bool
    author: str | None
    shown_name: str
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
    persona: OwnPersona | None = None


def create(
    db: sqlite3.Connection,
    story: str,
    characters: Sequence[str],
    speaker: str | None,
    moment: str,
    title: str = "",
    agent: str | None = None,
    persona: OwnPersona | None = None,
) -> Chat:
    now, chat_id = _now(), secrets.token_urlsafe(9)
    db.execute(
        f"INSERT INTO chats ({CHAT_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, NULL, 1, ?, ?, ?, NULL, ?)",
        (chat_id, story, json.dumps(list(characters), ensure_ascii=False), speaker, moment, title, now, now, agent,
         personas.encoded(persona)),
    )  # fmt: skip
    personas.keep(db, persona)
    return get_chat(db, chat_id)


def get_chat(db: sqlite3.Connection, chat_id: str) -> Chat:
    row = db.execute(f"SELECT {CHAT_COLUMNS} FROM chats WHERE id = ?", (chat_id,)).fetchone()
    if row is None:
        raise Refused("there is no such chat: it may have been deleted; choose another, or begin a new one", 404)
    return _chat(row)


def list_chats(db: sqlite3.Connection, limit: int) -> list[Chat]:
    """Chats, the last changed first."""
    rows = db.execute(f"SELECT {CHAT_COLUMNS} FROM chats ORDER BY changed DESC, rowid DESC LIMIT ?", (limit,))
    return [_chat(row) for row in rows]


def update(db: sqlite3.Connection, chat_id: str, **columns: Any) -> Chat:
    """Set some of `characters`, `speaker`, `persona`, `agent`, `remember`, `moment`, `title` and `tip`."""
    if "persona" in columns:
        personas.keep(db, columns["persona"])
        columns["persona"] = personas.encoded(columns["persona"])
    if "characters" in columns:
        columns["characters"] = json.dumps(list(columns["characters"]), ensure_ascii=False)
    assignments = "".join(f"{column} = :{column}, " for column in columns)
    db.execute(
        f"UPDATE chats SET {assignments} version = version + 1, changed = :now WHERE id = :id",
        {**columns, "now": _now(), "id": chat_id},
    )
    return get_chat(db, chat_id)


def delete(db: sqlite3.Connection, chat_id: str) -> None:
    get_chat(db, chat_id)
    db.execute("DELETE FROM chats WHERE id = ?", (chat_id,))


def append(
    db: sqlite3.Connection, chat_id: str, parent: int | None, message: Message, reserved: int | None = None
) -> Message:
    """Store a message after another (None: as the first), and show the branch it ends.

    `reserved` is an id of `reserve_ids`.
    """
    chat = get_chat(db, chat_id)
    if parent is not None:
        get_message(db, chat_id, parent)
    cursor = db.execute(
        """INSERT INTO messages (id, chat, parent, answers, author, shown, text, moment, faced, why, state, created,
                                 present, unanswered, persona)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
        (reserved, chat_id, parent, message.is_reply, message.author, message.shown_name, message.text, message.moment,
         message.faced, message.why, message.state, _now(),
         None if message.present is None else json.dumps(message.present, ensure_ascii=False), message.unanswered,
         personas.encoded(message.persona)),
    )  # fmt: skip
    title = chat.title or ("" if message.is_reply else _title_from(message.text))
    assert cursor.lastrowid is not None
    update(db, chat_id, tip=cursor.lastrowid, title=title)
    return get_message(db, chat_id, cursor.lastrowid)


def open_with(db: sqlite3.Connection, chat_id: str, greetings: Sequence[Message], shown: int) -> Chat:
    """Store greetings as the alternatives that begin an empty chat, and show one of them by its index."""
    ids = [append(db, chat_id, None, greeting).id for greeting in greetings]
    return update(db, chat_id, tip=ids[shown])


def reserve_ids(db: sqlite3.Connection, count: int) -> list[int]:
    """Ids for messages that are stored later: a reply is sent under its id while it is being written."""
    (last,) = db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'messages'").fetchone() or (0,)
    db.execute("UPDATE sqlite_sequence SET seq = ? WHERE name = 'messages'", (last + count,))
    return list(range(last + 1, last + count + 1))


def rewrite(db: sqlite3.Connection, chat_id: str, message_id: int, message: Message) -> None:
    """Set text, state and grounds of a reply that was stored while it was written."""
    db.execute(
        "UPDATE messages SET text = ?, state = ?, why = ? WHERE id = ? AND chat = ?",
        (message.text, message.state, message.why, message_id, chat_id),
    )
    update(db, chat_id)


def get_message(db: sqlite3.Connection, chat_id: str, message_id: int) -> Message:
    query = f"SELECT {MESSAGE_COLUMNS} FROM messages WHERE id = ? AND chat = ?"
    row = db.execute(query, (message_id, chat_id)).fetchone()
    if row is None:
        raise Refused("there is no such message in this chat: it may have been deleted; reload the chat", 404)
    return _message(row)


def path(db: sqlite3.Connection, tip: int | None) -> list[Message]:
    """The messages from the first to `tip`."""
    rows = db.execute(
        f"""WITH RECURSIVE above (number, up, steps) AS (
                SELECT id, parent, 0 FROM messages WHERE id = ?
                UNION ALL SELECT messages.id, messages.parent, steps + 1 FROM messages JOIN above ON messages.id = up)
            SELECT {MESSAGE_COLUMNS} FROM above JOIN messages ON id = number ORDER BY steps DESC""",
        (tip,),
    )
    return [_message(row) for row in rows]


def children(db: sqlite3.Connection, chat_id: str) -> dict[int | None, list[int]]:
    """Message -> the messages that follow it, in the order they came; None -> the first messages."""
    by_parent: dict[int | None, list[int]] = {}
    for parent, child in db.execute("SELECT parent, id FROM messages WHERE chat = ? ORDER BY id", (chat_id,)):
        by_parent.setdefault(parent, []).append(child)
    return by_parent


def texts(db: sqlite3.Connection, chat_id: str) -> dict[int, str]:
    """The text of every message of a chat, on any branch."""
    return dict(db.execute("SELECT id, text FROM messages WHERE chat = ?", (chat_id,)).fetchall())


def show_branch(db: sqlite3.Connection, chat_id: str, message_id: int) -> Chat:
    """Show the branch a message lies on, down to its newest leaf."""
    get_message(db, chat_id, message_id)
    return update(db, chat_id, tip=_newest_leaf(db, message_id))


def truncate(db: sqlite3.Connection, chat_id: str, message_id: int, seen: str) -> Chat:
    """Reduce a reply to what was seen (nothing: remove it), and remove the replies after it, which were not.

    Nothing is changed if the user has said something since.
    """
    message = get_message(db, chat_id, message_id)
    subtree = db.execute(f"{SUBTREE} SELECT id, answers FROM messages JOIN below USING (id)", (message_id,)).fetchall()
    if any(not is_reply for child, is_reply in subtree if child != message_id):
        return get_chat(db, chat_id)
    if not seen:
        return remove(db, chat_id, message_id)
    db.execute(f"{SUBTREE} DELETE FROM messages WHERE id IN below AND id <> ?1", (message_id,))
    if len(seen) < len(message.text):
        db.execute("UPDATE messages SET text = ?, state = 'cut' WHERE id = ?", (seen, message_id))
    return update(db, chat_id, tip=message_id)


def remove(db: sqlite3.Connection, chat_id: str, message_id: int) -> Chat:
    """Delete a message and everything after it. If it was shown, the newest branch beside it is shown instead."""
    message, chat = get_message(db, chat_id, message_id), get_chat(db, chat_id)
    is_shown = any(shown.id == message_id for shown in path(db, chat.tip))
    db.execute(f"{SUBTREE} DELETE FROM messages WHERE id IN below", (message_id,))
    if not is_shown:
        return update(db, chat_id)
    query = "SELECT max(id) FROM messages WHERE chat = ? AND parent IS ?"
    (sibling,) = db.execute(query, (chat_id, message.parent)).fetchone()
    return update(db, chat_id, tip=message.parent if sibling is None else _newest_leaf(db, sibling))


def set_unanswered(db: sqlite3.Connection, chat_id: str, message_id: int, unanswered: bool) -> None:
    """Mark whether a message of the user is owed a reply."""
    cursor = db.execute(
        "UPDATE messages SET unanswered = ? WHERE id = ? AND chat = ? AND unanswered = ?",
        (unanswered, message_id, chat_id, not unanswered),
    )
    if cursor.rowcount:
        update(db, chat_id)


def as_of(now: Chat, messages: Sequence[Message]) -> Chat:
    """A chat as it stood when the last of some messages was said: its moment, characters, and whom the user spoke as.

    For a message older than the column `present`, the characters are those who had replied at its moment and those
    of the chat now.
    """
    last = messages[-1]
    said = next((message for message in reversed(messages) if not message.is_reply), None)
    speaker, persona = (now.speaker, now.persona) if said is None else (said.author, said.persona)
    present = last.present
    if present is None:
        replied = (message.author for message in messages if message.is_reply and message.moment == last.moment)
        present = tuple(dict.fromkeys((*(name for name in replied if name is not None), *now.characters)))
    characters = tuple(name for name in present if name != speaker)
    return replace(now, moment=last.moment, characters=characters, speaker=speaker, persona=persona)


def branch(db: sqlite3.Connection, chat_id: str, message_id: int, then: Chat | None = None) -> Chat:
    """A new chat with a copy of the messages up to one, as the chat stood then."""
    get_message(db, chat_id, message_id)
    messages = path(db, message_id)
    then = then or as_of(get_chat(db, chat_id), messages)
    title = f"{then.title} (branch)"
    new = create(db, then.story, then.characters, then.speaker, then.moment, title, then.agent, then.persona)
    parent: int | None = None
    for message in messages:
        parent = append(db, new.id, parent, message).id
    return get_chat(db, new.id)


def _newest_leaf(db: sqlite3.Connection, message_id: int) -> int:
    """The leaf that is reached by following the newest child each time."""
    while True:
        (child,) = db.execute("SELECT max(id) FROM messages WHERE parent = ?", (message_id,)).fetchone()
        if child is None:
            return message_id
        message_id = child


def _title_from(text: str) -> str:
    """The first words of a message, without the marks of Markdown."""
    line = " ".join(MARKS.sub("", text).split()) or " ".join(text.split())
    return line if len(line) <= MAX_TITLE else line[: MAX_TITLE - 1].rsplit(" ", 1)[0] + "…"


def _chat(row: Sequence[Any]) -> Chat:
    chat_id, story, characters, *columns = row
    persona = personas.decoded(columns.pop())
    return replace(Chat(chat_id, story, tuple(json.loads(characters)), *columns), persona=persona)


def _message(row: Sequence[Any]) -> Message:
    message_id, chat_id, parent, is_reply, author, shown, text, moment, faced, why, state, created, *added = row
    present, unanswered, persona = added
    return Message(
        bool(is_reply), author, shown, text, moment, faced, why, state, message_id, chat_id, parent, created,
        None if present is None else tuple(json.loads(present)), bool(unanswered),
        personas.decoded(persona),
    )  # fmt: skip


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
