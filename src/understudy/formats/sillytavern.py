"""SillyTavern's chats: a line of metadata, then a message a line; group chats may have no metadata.

    {"user_name": "Tom", "character_name": "Odile", "create_date": "...", "chat_metadata": {"scenario": "..."}}
    {"name": "Odile", "is_user": false, "is_system": false, "send_date": "June 19, 2023 2:20pm", "mes": "...",
     "swipes": ["...", "..."], "extra": {}}

A scene is a session: the next one begins where nobody wrote for `SESSION_GAP_S`. Its setting is the scenario of the
chat, where it has one. Actions (`*She looks up.*`) stay in the text; of several tries (swipes) the chosen one is read.
Both of a talk between two are there throughout. A narrator's message is a description; comments, and what the program
itself says (its help, its welcome), are unread. A message that was only hidden from the prompt was said all the same.

`send_date` has had four forms: as above, `2023-6-19 @14h 20m 12s 123ms`, ISO 8601, and milliseconds since 1970.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import IO, Any

from understudy.formats.conversations import ASSISTANT, USER
from understudy.formats.export import write_rows
from understudy.sources import Description, Event, Heading, Opening, Reader, SceneStart, Speech, Unread, check_names
from understudy.sources.jsonstream import json_lines, shown_json
from understudy.sources.names import DeclaredNames
from understudy.sources.source import SourceFile
from understudy.story.storyfile import Story
from understudy.story.types import Scene, Source
from understudy.story.wording import fill_macros

SESSION_GAP_S = 6 * 3600.0
MARK, SETTING, VERBATIM = "understudy", "setting", "verbatim"
"""The key in `extra` by which an export says that a message is a scene's setting, or has no macros to be filled in."""

UNUSED = "unused"  # what newer group chats have for the two names
PROGRAM = frozenset({"system", "sillytavern system"})
CLOCK = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})\s*@\s*(\d{1,2})h\s*(\d{1,2})m(?:\s*(\d{1,2})s)?(?:\s*\d+ms)?")
WORDED = "%B %d, %Y %I:%M%p"
FIRST_MILLISECONDS = 10**11  # below it a number is seconds, above it milliseconds
LONGEST_SHOWN = 200


def events(source: SourceFile) -> Iterator[Event]:
    """The stream of events of one chat."""
    yield Opening()
    chat = _ChatReading(source)
    for location, row in json_lines(source):
        source.units += 1
        if not isinstance(row, dict):
            raise source.error("is JSON, but no message: every line of a chat is an object", location.line)
        yield from chat.row(source.at(location.line), row)


class _ChatReading:
    """One pass over the messages, with the names and the time of the last one."""

    def __init__(self, source: SourceFile) -> None:
        self.source = source
        self.user = self.character = self.scenario = ""
        self.last: float | None = None
        self.is_open = self.has_begun = False
        self.declared = DeclaredNames()

    def row(self, at: Source, row: Mapping[str, Any]) -> Iterator[Event]:
        if not self.has_begun and _is_metadata(row):
            self.has_begun = True
            yield self._metadata(at, row)
            return
        self.has_begun = True
        extra = row.get("extra")
        extra = extra if isinstance(extra, dict) else {}
        text = _message_text(row)
        if text is None:
            yield Unread(at, shown_json(row), "is no message: it has no 'mes'")
            return
        if extra.get(MARK) == SETTING:
            yield SceneStart(at, text)
            self.is_open, self.last = True, parse_date(row.get("send_date"))
            return
        yield from self._session(at, row)
        yield from self._message(at, row, extra, text)

    def _metadata(self, at: Source, row: Mapping[str, Any]) -> Event:
        names = (_name(row.get(key)) for key in ("user_name", "character_name"))
        self.user, self.character = ("" if name == UNUSED else name for name in names)
        check_names((self.user, self.character), self.source.error, at.line)  # the scenario may repeat them
        metadata = row.get("chat_metadata")
        scenario = metadata.get("scenario") if isinstance(metadata, dict) else None
        if isinstance(scenario, str):
            self.scenario = fill_macros(scenario, self.character, self.user)
        return Heading(at, " and ".join(filter(None, (self.character, self.user))) or "a chat")

    def _session(self, at: Source, row: Mapping[str, Any]) -> Iterator[Event]:
        date = parse_date(row.get("send_date"))
        is_later = date is not None and self.last is not None and date - self.last > SESSION_GAP_S
        if is_later or not self.is_open:
            self.is_open = True
            both = (self.character, self.user) if self.character and self.user else ()
            yield SceneStart(at, self.scenario, both, units=0)
        self.last = self.last if date is None else date

    def _message(self, at: Source, row: Mapping[str, Any], extra: Mapping[str, Any], text: str) -> Iterator[Event]:
        is_user, kind, name = row.get("is_user") is True, extra.get("type"), _name(row.get("name"))
        if not name:
            name = (self.user or USER) if is_user else (self.character or ASSISTANT)
        check_names((name,), self.source.error, at.line)
        if extra.get(MARK) != VERBATIM:
            text = fill_macros(text, self.character if is_user else name, self.user).strip()
        if not text:
            yield Unread(at, shown_json(row), "says nothing")
        elif kind == "narrator":
            yield Description(at, text)
        elif kind == "comment":
            yield Unread(at, text[:LONGEST_SHOWN], "a comment: no character reads it")
        elif row.get("is_system") is True and (kind is not None or name.casefold() in PROGRAM):
            yield Unread(at, text[:LONGEST_SHOWN], "the chat program says it, not a character")
        else:
            yield from self.declared.entries(at, name)
            yield Speech(at, (name,), text)


def parse_date(value: object) -> float | None:
    """When a message was sent, in seconds since 1970; local times are taken as UTC, since only gaps count."""
    if isinstance(value, bool) or value is None:
        return None
    text = str(value).strip()
    try:
        if text.replace(".", "", 1).isdecimal():
            number = float(text)
            return number / 1000 if number >= FIRST_MILLISECONDS else number
        if match := CLOCK.fullmatch(text):
            moment = datetime(*(int(part or 0) for part in match.groups()), tzinfo=UTC)  # type: ignore[arg-type,misc]
        elif text[:1].isdigit():
            moment = datetime.fromisoformat(text)
        else:
            moment = datetime.strptime(text, WORDED)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def _is_metadata(row: Mapping[str, Any]) -> bool:
    return "mes" not in row and ("chat_metadata" in row or ("user_name" in row and "character_name" in row))


def _message_text(row: Mapping[str, Any]) -> str | None:
    text = row.get("mes")
    if isinstance(text, dict):  # as Chub writes it
        text = text.get("message")
    return text.strip() if isinstance(text, str) else None


def _name(value: object) -> str:
    return " ".join(value.split()) if isinstance(value, str) else ""


READER = Reader("sillytavern", events)


# Written, a line is a message under its speaker's name, a description a narrator's message. The dates are made up: a
# minute from message to message and a day from scene to scene, so that each scene is a session. A scene's setting is a
# narrator's message before it that says so in its `extra`. For a character everybody else is the user. Without one,
# where only two speak, the one who says less is; with more it is a group chat, in which nobody is.

BEGINNING = datetime(2000, 1, 1, tzinfo=UTC)
PAUSE, NIGHT = timedelta(minutes=1), timedelta(days=1)
NARRATOR = "System"


def export_sillytavern(story: Story, stream: IO[str], character: str | None = None, ascii_only: bool = False) -> int:
    """Returns how many lines were written."""
    speakers = [member.character.name for member in story.cast() if member.lines]
    chosen = character or (speakers[0] if len(speakers) == 2 else None)
    user = next((name for name in speakers if name != chosen), None) if len(speakers) == 2 else None
    date = BEGINNING
    names = {"user_name": user or UNUSED, "character_name": chosen or UNUSED}
    write_rows([{**names, "create_date": _dated(date), "chat_metadata": {}}], stream, ascii_only)
    for scene in story.scenes():
        write_rows(_messages(scene, chosen, date), stream, ascii_only)
        date += NIGHT + PAUSE * len(scene.lines)
    return story.count()[1]


def _messages(scene: Scene, character: str | None, date: datetime) -> Iterator[dict[str, Any]]:
    if scene.setting or not scene.lines:
        yield _message(NARRATOR, False, date, scene.setting, {"type": "narrator", MARK: SETTING})
    for line in scene.lines:
        extra: dict[str, str] = {}
        if line.speaker is None:
            extra["type"] = "narrator"
        if fill_macros(line.text, "?") != line.text:  # said literally, no placeholder for a name
            extra[MARK] = VERBATIM
        is_user = character is not None and line.speaker not in (None, character)
        yield _message(line.speaker or NARRATOR, is_user, date, line.text, extra)
        date += PAUSE


def _message(name: str, is_user: bool, date: datetime, text: str, extra: dict[str, str]) -> dict[str, Any]:
    return {
        "name": name,
        "is_user": is_user,
        "is_system": False,
        "send_date": _dated(date),
        "mes": text,
        "extra": extra,
    }


def _dated(date: datetime) -> str:
    return date.isoformat(timespec="milliseconds").replace("+00:00", "Z")
