"""Chats and their messages in the database: tables, and functions on a connection that are parts of a transaction.

Messages form a tree: an edit or a retry is a sibling, and no message is overwritten. Two invariants hold: a parent is a
message of the same chat, and a chat's tip is a leaf (or NULL, in an empty chat).
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import msgspec

from understudy.database import Database
from understudy.server.problems import Refused
from understudy.story.dialogue import DEFAULT_SAMPLING, Sampling

MAX_TITLE = 60
MARKS = re.compile(r"[*`]+")
CHAT_COLUMNS = (
    "id, story, characters, speaker, moment, title, tip, version, created, changed, agent, remember, persona, sampling"
)
LAST_SAID = "SELECT text FROM messages WHERE chat = chats.id AND answers = 0 ORDER BY id DESC LIMIT 1"
NEW_COLUMNS = (
    "chat, parent, answers, author, shown, text, moment, faced, why, state, created, present, unanswered, persona, "
    "addressed"
)
MESSAGE_COLUMNS = f"id, {NEW_COLUMNS}"
Value = TypeVar("Value")
SUBTREE = """WITH RECURSIVE below (id) AS (
    SELECT CAST(? AS BIGINT) UNION ALL SELECT messages.id FROM messages JOIN below ON messages.parent = below.id)"""


@dataclass(frozen=True, slots=True)
class OwnPersona:
    """Somebody whom a user has made up to speak as: stored with chats and messages, and in a table for reuse."""

    name: str
    description: str


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
    sampling: Sampling = DEFAULT_SAMPLING
    last_said: str = ""
    """What the user said last on any branch; only of chats that are listed."""


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
    addressed: tuple[str, ...] | None = None
    """Who was asked to answer; None for whoever it calls, else the next in turn."""


class RemovedMessages(msgspec.Struct):
    """A message that was deleted and those after it, as rows of the table; the tip of the chat then."""

    id: int
    tip: int | None
    rows: list[list[Any]]
    told: str


def create(
    db: Database,
    story: str,
    characters: Sequence[str],
    speaker: str | None,
    moment: str,
    title: str = "",
    agent: str | None = None,
    persona: OwnPersona | None = None,
    sampling: Sampling = DEFAULT_SAMPLING,
) -> Chat:
    now, chat_id = _now(), secrets.token_urlsafe(9)
    db.rows(
        f"INSERT INTO chats ({CHAT_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, NULL, 1, ?, ?, ?, NULL, ?, ?)",
        (chat_id, story, _encoded(characters), speaker, moment, title, now, now, agent,
         _encoded(persona), _encoded_sampling(sampling)),
    )  # fmt: skip
    _keep_persona(db, persona)
    return get_chat(db, chat_id)


def get_chat(db: Database, chat_id: str) -> Chat:
    rows = db.rows(f"SELECT {CHAT_COLUMNS} FROM chats WHERE id = ? AND deleted IS NULL", (chat_id,))
    if not rows:
        raise Refused("there is no such chat: it may have been deleted; choose another, or begin a new one", 404)
    return _chat(rows[0])


def list_chats(db: Database, limit: int, deleted: bool = False) -> list[Chat]:
    """Chats, the last changed first; or those that are deleted and can be restored, the last deleted first."""
    order = f"{'deleted' if deleted else 'changed'} DESC, created DESC, coalesce(tip, 0) DESC, id"
    which = "deleted IS NOT NULL" if deleted else "deleted IS NULL"
    query = f"SELECT {CHAT_COLUMNS}, ({LAST_SAID}) FROM chats WHERE {which} ORDER BY {order} LIMIT ?"
    return [replace(_chat(row[:-1]), last_said=row[-1] or "") for row in db.rows(query, (limit,))]


def update(db: Database, chat_id: str, **columns: Any) -> Chat:
    """Set some of `characters`, `speaker`, `persona`, `agent`, `sampling`, `remember`, `moment`, `title` and `tip`."""
    if "persona" in columns:
        _keep_persona(db, columns["persona"])
        columns["persona"] = _encoded(columns["persona"])
    if "characters" in columns:
        columns["characters"] = _encoded(columns["characters"])
    if "sampling" in columns:
        columns["sampling"] = _encoded_sampling(columns["sampling"])
    assignments = "".join(f"{column} = ?, " for column in columns)
    db.rows(
        f"UPDATE chats SET {assignments} version = version + 1, changed = ? WHERE id = ?",
        (*columns.values(), _now(), chat_id),
    )
    return get_chat(db, chat_id)


def delete(db: Database, chat_id: str, told: str = "[]") -> None:
    """Delete a chat so that it can be restored until `purge`; `told` comes back with it."""
    get_chat(db, chat_id)
    db.rows("UPDATE chats SET deleted = ?, told = ? WHERE id = ?", (_now(), told, chat_id))


def restore(db: Database, chat_id: str) -> str:
    """Bring a deleted chat back; returns what it was deleted with."""
    rows = db.rows("SELECT told FROM chats WHERE id = ? AND deleted IS NOT NULL", (chat_id,))
    if not rows:
        raise Refused("there is no such deleted chat: it was restored already, or deleted too long ago", 404)
    db.rows("UPDATE chats SET deleted = NULL, told = NULL, version = version + 1 WHERE id = ?", (chat_id,))
    return rows[0][0] or "[]"


def purge(db: Database, older_than_s: float) -> None:
    """Remove what was deleted so long ago that it cannot be restored any more."""
    for table in ("chats", "removed_messages"):
        db.rows(f"DELETE FROM {table} WHERE deleted < ?", (_now(-older_than_s),))


def append(db: Database, chat_id: str, parent: int | None, message: Message, reserved: int | None = None) -> Message:
    """Store a message after another (None: as the first), and show the branch it ends.

    `reserved` is an id of `reserve_ids`.
    """
    chat = get_chat(db, chat_id)
    if parent is not None:
        get_message(db, chat_id, parent)
    values: tuple[Any, ...] = (
        chat_id, parent, int(message.is_reply), message.author, message.shown_name, message.text, message.moment,
        message.faced, message.why, message.state, _now(), _encoded(message.present), int(message.unanswered),
        _encoded(message.persona), _encoded(message.addressed),
    )  # fmt: skip
    columns, values = (NEW_COLUMNS, values) if reserved is None else (MESSAGE_COLUMNS, (reserved, *values))
    placeholders = ", ".join("?" * len(values))
    ((message_id,),) = db.rows(f"INSERT INTO messages ({columns}) VALUES ({placeholders}) RETURNING id", values)
    title = chat.title or ("" if message.is_reply else title_from(message.text))
    update(db, chat_id, tip=message_id, title=title)
    return get_message(db, chat_id, message_id)


def open_with(db: Database, chat_id: str, greetings: Sequence[Message], shown: int) -> Chat:
    """Store greetings as the alternatives that begin an empty chat, and show one of them by its index."""
    ids = [append(db, chat_id, None, greeting).id for greeting in greetings]
    return update(db, chat_id, tip=ids[shown])


def reserve_ids(db: Database, count: int) -> list[int]:
    """Ids for messages that are stored later: a reply is sent under its id while it is being written."""
    return db.reserve_ids("messages", count)


def rewrite(db: Database, chat_id: str, message_id: int, message: Message) -> None:
    """Set text, state and grounds of a reply that was stored while it was written."""
    db.rows(
        "UPDATE messages SET text = ?, state = ?, why = ? WHERE id = ? AND chat = ?",
        (message.text, message.state, message.why, message_id, chat_id),
    )
    update(db, chat_id)


def get_message(db: Database, chat_id: str, message_id: int) -> Message:
    query = f"SELECT {MESSAGE_COLUMNS} FROM messages WHERE id = ? AND chat = ?"
    rows = db.rows(query, (message_id, chat_id))
    if not rows:
        raise Refused("there is no such message in this chat: it may have been deleted; reload the chat", 404)
    return _message(rows[0])


def path(db: Database, tip: int | None) -> list[Message]:
    """The messages from the first to `tip`."""
    rows = db.rows(
        f"""WITH RECURSIVE above (number, up, steps) AS (
                SELECT id, parent, 0 FROM messages WHERE id = ?
                UNION ALL SELECT up, (SELECT parent FROM messages WHERE id = up), steps + 1 FROM above
                WHERE up IS NOT NULL)
            SELECT {MESSAGE_COLUMNS} FROM above JOIN messages ON id = number ORDER BY steps DESC""",
        (tip,),
    )
    return [_message(row) for row in rows]


def children(db: Database, chat_id: str) -> dict[int | None, list[int]]:
    """Message -> the messages that follow it, in the order they came; None -> the first messages."""
    by_parent: dict[int | None, list[int]] = {}
    for parent, child in db.rows("SELECT parent, id FROM messages WHERE chat = ? ORDER BY id", (chat_id,)):
        by_parent.setdefault(parent, []).append(child)
    return by_parent


def texts(db: Database, chat_id: str) -> dict[int, str]:
    """The text of every message of a chat, on any branch."""
    return dict(db.rows("SELECT id, text FROM messages WHERE chat = ?", (chat_id,)))


def show_branch(db: Database, chat_id: str, message_id: int) -> Chat:
    """Show the branch a message lies on, down to its newest leaf."""
    get_message(db, chat_id, message_id)
    return update(db, chat_id, tip=_newest_leaf(db, message_id))


def truncate(db: Database, chat_id: str, message_id: int, seen: str) -> Chat:
    """Reduce a reply to what was seen (nothing: remove it), and remove the replies after it, which were not.

    Nothing is changed if the user has said something since.
    """
    message = get_message(db, chat_id, message_id)
    subtree = db.rows(f"{SUBTREE} SELECT id, answers FROM messages JOIN below USING (id)", (message_id,))
    if any(not is_reply for child, is_reply in subtree if child != message_id):
        return get_chat(db, chat_id)
    if not seen:
        return _cut(db, message)
    below = "DELETE FROM messages WHERE id IN (SELECT id FROM below)"
    db.rows(f"{SUBTREE} {below} AND id <> ?", (message_id, message_id))
    if len(seen) < len(message.text):
        db.rows("UPDATE messages SET text = ?, state = 'cut' WHERE id = ?", (seen, message_id))
    return update(db, chat_id, tip=message_id)


def remove(db: Database, chat_id: str, message_id: int, told: str = "[]") -> Chat:
    """Delete a message and everything after it. If it was shown, the newest branch beside it is shown instead.

    The last one that was deleted can be put back until `purge`; `told` comes back with it.
    """
    message, tip = get_message(db, chat_id, message_id), get_chat(db, chat_id).tip
    rows = db.rows(f"{SUBTREE} SELECT {MESSAGE_COLUMNS} FROM messages JOIN below USING (id)", (message_id,))
    content = msgspec.json.encode(RemovedMessages(message_id, tip, [list(row) for row in rows], told)).decode()
    db.rows("DELETE FROM removed_messages WHERE chat = ?", (chat_id,))
    db.rows("INSERT INTO removed_messages (chat, deleted, content) VALUES (?, ?, ?)", (chat_id, _now(), content))
    return _cut(db, message)


def put_back(db: Database, chat_id: str, message_id: int) -> str:
    """Undo the last deletion of a message, and show what was shown before it; returns what it was deleted with."""
    chat, rows = get_chat(db, chat_id), db.rows("SELECT content FROM removed_messages WHERE chat = ?", (chat_id,))
    removed = msgspec.json.decode(rows[0][0], type=RemovedMessages) if rows else None
    if removed is None or removed.id != message_id:
        problem = "this message cannot be brought back: only the one that was deleted last can, and for a day"
        raise Refused(problem, 404)
    parents = {number: parent for number, _, parent, *_ in removed.rows}
    if (parent := parents[message_id]) is not None:
        get_message(db, chat_id, parent)
    placeholders = ", ".join("?" * len(removed.rows[0]))
    for row in removed.rows:
        db.rows(f"INSERT INTO messages ({MESSAGE_COLUMNS}) VALUES ({placeholders})", tuple(row))
    db.rows("DELETE FROM removed_messages WHERE chat = ?", (chat_id,))
    shown = removed.tip if removed.tip in parents else chat.tip
    update(db, chat_id, tip=None if shown is None else _newest_leaf(db, shown))
    return removed.told


def _cut(db: Database, message: Message) -> Chat:
    chat = get_chat(db, message.chat)
    is_shown = any(shown.id == message.id for shown in path(db, chat.tip))
    db.rows(f"{SUBTREE} DELETE FROM messages WHERE id IN (SELECT id FROM below)", (message.id,))
    if not is_shown:
        return update(db, chat.id)
    siblings = children(db, chat.id).get(message.parent)
    return update(db, chat.id, tip=_newest_leaf(db, siblings[-1]) if siblings else message.parent)


def set_unanswered(db: Database, chat_id: str, message_id: int, unanswered: bool) -> None:
    """Mark whether a message of the user is owed a reply."""
    changed = db.rows(
        "UPDATE messages SET unanswered = ? WHERE id = ? AND chat = ? AND unanswered = ? RETURNING id",
        (int(unanswered), message_id, chat_id, int(not unanswered)),
    )
    if changed:
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


def branch(db: Database, chat_id: str, message_id: int, then: Chat | None = None) -> Chat:
    """A new chat with a copy of the messages up to one, as the chat stood then."""
    get_message(db, chat_id, message_id)
    messages = path(db, message_id)
    then = then or as_of(get_chat(db, chat_id), messages)
    title = f"{then.title} (branch)"
    new = create(
        db, then.story, then.characters, then.speaker, then.moment, title, then.agent, then.persona, then.sampling
    )
    parent: int | None = None
    for message in messages:
        parent = append(db, new.id, parent, message).id
    return get_chat(db, new.id)


def _newest_leaf(db: Database, message_id: int) -> int:
    """The leaf that is reached by following the newest child each time."""
    while True:
        ((child,),) = db.rows("SELECT max(id) FROM messages WHERE parent = ?", (message_id,))
        if child is None:
            return message_id
        message_id = child


def title_from(text: str, most: int = MAX_TITLE) -> str:
    """The first words of a message, without the marks of Markdown; at `most` so many characters."""
    line = " ".join(MARKS.sub("", text).split()) or " ".join(text.split())
    return line if len(line) <= most else line[: most - 1].rsplit(" ", 1)[0] + "…"


def list_personas(db: Database) -> list[OwnPersona]:
    """Those that users have spoken as, by name."""
    rows = db.rows("SELECT name, description FROM personas")
    return [OwnPersona(*row) for row in sorted(rows)]


def delete_persona(db: Database, name: str) -> None:
    """Delete a stored persona; chats that use it are not changed."""
    if not db.rows("DELETE FROM personas WHERE name = ? RETURNING name", (name,)):
        raise Refused("nobody of that name is kept: look at the list", 404, "name")


def _keep_persona(db: Database, persona: OwnPersona | None) -> None:
    if persona is not None:
        db.rows(
            """INSERT INTO personas VALUES (?, ?, ?)
               ON CONFLICT (name) DO UPDATE SET description = excluded.description, changed = excluded.changed""",
            (persona.name, persona.description, _now()),
        )


def _chat(row: Sequence[Any]) -> Chat:
    chat_id, story, characters, *columns, persona, sampling = row
    return replace(
        Chat(chat_id, story, tuple(msgspec.json.decode(characters)), *columns),
        persona=_decoded(persona, OwnPersona),
        sampling=_decoded(sampling, Sampling) or DEFAULT_SAMPLING,
    )


def _message(row: Sequence[Any]) -> Message:
    message_id, chat_id, parent, is_reply, author, shown, text, moment, faced, why, state, created, *added = row
    present, unanswered, persona, addressed = added
    return Message(
        bool(is_reply), author, shown, text, moment, faced, why, state, message_id, chat_id, parent, created,
        _decoded(present, tuple[str, ...]), bool(unanswered), _decoded(persona, OwnPersona),
        _decoded(addressed, tuple[str, ...]),
    )  # fmt: skip


def _encoded(value: object) -> str | None:
    return None if value is None else msgspec.json.encode(value).decode()


def _encoded_sampling(sampling: Sampling) -> str | None:
    return None if sampling == DEFAULT_SAMPLING else _encoded(sampling)


def _decoded(text: str | None, value_type: type[Value]) -> Value | None:
    return None if text is None else msgspec.json.decode(text, type=value_type)


def _now(after_s: float = 0.0) -> str:
    moment = datetime.now(UTC) + timedelta(seconds=after_s)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
