"""What the tests of every reader need: the events of some text, and whether a reader stands damage."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from hypothesis import strategies as st

from understudy.errors import InputError
from understudy.formats import format_named
from understudy.formats.evidence import measure
from understudy.sources.events import Description, Event, Opening, Reader, Speech
from understudy.sources.source import SourceFile

__all__ = ["damage", "events_of", "of_kind", "read_bytes", "recognises", "speaker_texts", "stands"]

Kind = TypeVar("Kind")


def recognises(reader: Reader, head: bytes, path: Path) -> bool:
    """Does what the head of a file shows tell the format of a reader, whether or not another is asked first?"""
    return format_named(reader.name).recognises(measure(head, path))


def events_of(reader: Reader, path: Path) -> list[Event]:
    """All events of a file. They must account for every unit, and begin with the opening."""
    source = SourceFile(path)
    events = list(reader.events(source))
    assert isinstance(events[0], Opening)
    assert sum(1 for event in events if isinstance(event, Opening)) == 1
    assert sum(event.units for event in events if not isinstance(event, Opening)) == source.units
    return events


def read_bytes(reader: Reader, content: bytes, name: str = "file") -> list[Event]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        return events_of(reader, path)


def of_kind(events: Sequence[Event], kind: type[Kind]) -> list[Kind]:
    return [event for event in events if isinstance(event, kind)]


def speaker_texts(events: Sequence[Event]) -> list[tuple[str, str]]:
    """(who, what) of every line; nobody's are descriptions."""
    return [
        (" & ".join(one.speakers) if isinstance(one, Speech) else "", one.text)
        for one in events
        if isinstance(one, Speech | Description)
    ]


def stands(reader: Reader, content: bytes, name: str = "file") -> None:
    """Whatever is in a file, it can be read, or it is an `InputError`; anything else comes through."""
    with contextlib.suppress(InputError):
        read_bytes(reader, content, name)


@st.composite
def damage(draw: st.DrawFn, whole: bytes) -> bytes:
    """The file cut off anywhere, with some bytes changed, or both."""
    content = bytearray(whole)
    places = st.integers(0, len(whole) - 1)
    for place in draw(st.lists(places, max_size=4)):
        content[place] = draw(st.integers(0, 255))
    return bytes(content[: draw(st.one_of(st.just(len(whole)), places))])
