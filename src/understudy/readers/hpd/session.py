"""A session of HPD: one member of the file, checked once, so that what reads it can trust it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from understudy.readers.hpd.ties import LocatedErrors, TieStatement, statements
from understudy.readers.jsonstream import RecordLocation
from understudy.readers.source import SourceFile

__all__ = ["Session", "session_of"]

LINE = re.compile(r"\s*([^:：]{1,80}?)\s*[:：]\s*(.*)", re.DOTALL)
POSITION = re.compile(r"\s*book\s*(\d{1,4})\W*chapter\s*(\d{1,4})\s*", re.IGNORECASE)
RELATIONS = re.compile(r"relations with (.+)")
ITEM = re.compile(r"[,;，、\n]+(?:\s*-)?")
LISTS = frozenset(("affiliation", "belongings", "looks", "nickname", "spells", "talents", "title"))
"""Attributes whose values are lists; the others are said in a sentence, commas and all."""


class Session(NamedTuple):
    """A member of the file that has been checked."""

    key: str
    line: int
    chapter: tuple[int, int]
    speakers: tuple[str, ...]
    scene: str
    lines: tuple[str, ...]
    positive: str | None
    negatives: tuple[str, ...]
    attributes: Mapping[str, Mapping[str, Any]]
    owner: str
    relations: Mapping[str, Mapping[str, Any]]

    def ties(self, source: SourceFile) -> Iterator[TieStatement]:
        """Every tie between the owner of the relations and the others."""
        for other, cells in self.relations.items():
            yield from statements(self.owner, other, cells, LocatedErrors(source, f'"{self.key[:60]}"', self.line))

    def facts(self) -> Iterator[tuple[str, str, tuple[str, ...]]]:
        """(who, attribute, values) for everybody; no values where the attribute is absent."""
        for who, attributes in self.attributes.items():
            for attribute, value in attributes.items():
                if attribute != "name":
                    yield who, attribute, _values(attribute, value)

    @property
    def turns(self) -> Iterator[tuple[str | None, str, str]]:
        """(speaker, what is said, the whole line) of each line that is not blank; nobody, where it has no label."""
        for line in self.lines:
            if match := LINE.fullmatch(line):
                yield match[1], match[2].strip(), line.strip()
            elif line.strip():
                yield None, line.strip(), line.strip()

    @property
    def replies(self) -> tuple[str, ...]:
        """The replies to choose from, the right one first."""
        options = (*([] if self.positive is None else [self.positive]), *self.negatives)
        return tuple(reply.strip() for reply in options if reply.strip())

    @property
    def texts(self) -> int:
        """How many units of text the session has."""
        return sum(bool(text.strip()) for text in (self.scene, *self.lines)) + len(self.replies)


def session_of(source: SourceFile, location: RecordLocation, member: Any) -> Session:
    """Check a member of the file, and make it a session."""

    def part(key: str, kind: type[Any], default: Any = None) -> Any:
        value = member.get(key, default) if isinstance(member, dict) else None
        if not isinstance(value, kind):
            what = "a text" if kind is str else "a list" if kind is list else "an object"
            raise source.error(f'"{location.key[:60]}" is no HPD session: its "{key}" should be {what}', location.line)
        return value

    def texts(key: str, default: Any = None) -> tuple[str, ...]:
        values = part(key, list, default)
        if not all(isinstance(value, str) for value in values):
            raise source.error(f'"{location.key[:60]}": every item of "{key}" should be a text', location.line)
        return tuple(values)

    def tables(key: str) -> dict[str, Mapping[str, Any]]:
        values = part(key, dict, {})
        if not all(isinstance(value, dict) for value in values.values()):
            raise source.error(f'"{location.key[:60]}": everybody in "{key}" should have an object', location.line)
        return {name.strip(): value for name, value in values.items() if name.strip()}

    match = POSITION.fullmatch(part("position", str))
    if match is None:
        message = f'"{location.key[:60]}": its "position" should look like "Book1-chapter2"'
        raise source.error(message, location.line)
    owners = [key for key in member if RELATIONS.fullmatch(key)]
    return Session(
        key=location.key,
        line=location.line,
        chapter=(int(match[1]), int(match[2])),
        speakers=texts("speakers", []),
        scene=part("scene", str, ""),
        lines=texts("dialogue"),
        positive=part("positive_response", str) if "positive_response" in member else None,
        negatives=texts("negative_response", []),
        attributes=tables("attributes"),
        owner=owners[0].removeprefix("relations with ").strip() if owners else "Harry",
        relations=tables(owners[0]) if owners else {},
    )


def _values(attribute: str, value: Any) -> tuple[str, ...]:
    text = "" if value is None else str(value).strip()
    parts = ITEM.split(text) if attribute in LISTS else [text]
    return tuple(part.strip() for part in parts if part.strip() and part.strip().lower() != "none")
