"""Acts and scenes of a TEI play: which division is which, and what number it has.

A division is opened only when something is said or happens in it, for a dedication is divided like an act but nothing
happens there. What happens in an act before its first scene waits for that scene.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from understudy.sources.events import Description, Event, Heading, SceneStart, Speech
from understudy.sources.source import SourceFile
from understudy.story.types import Source

__all__ = ["Division", "Divisions"]

ROMAN = re.compile(r"(x{0,3})(ix|iv|v?i{0,3})", re.IGNORECASE)
BEFORE_ALL = frozenset(("chorus", "induction", "prelude", "proem", "prolog", "prologue", "vorspiel"))
SCENE_HEAD = re.compile(r"(?:act\s+(?:\d+|[ivxlc]+)\b[\s.,:;–—-]*)?(?:scene\s+(?:\d+|[ivxlc]+)\b[\s.,:;–—-]*)?", re.I)
MAX_WAITING = 1000


@dataclass(slots=True)
class Division:
    """One <div>: an act, a scene, or a part of one."""

    role: str
    kind: str
    n: str
    source: Source
    title: str = ""
    units: int = 0
    opened: bool = False


class Divisions:
    """Where in the play we are. Events go to `out`, with the headings they need before them."""

    def __init__(self, source: SourceFile, acts: bool, out: list[Event]) -> None:
        self._source, self._acts, self._out = source, acts, out
        self._open: list[Division] = []
        self._waiting: list[Description] = []
        self._act: int | None = None
        self._scene: int | None = None
        self._in_act = self._in_scene = False

    def begin(self, kind: str, n: str, line: int) -> Division:
        kind = kind.strip().lower()
        role = "act" if self._acts and not self._inside("act") else "part" if self._inside("scene") else "scene"
        for outer in self._open:
            # a wrapper around the acts was taken for an act itself
            if kind in ("act", "scene") and outer.role == kind and outer.kind != kind and not outer.opened:
                outer.role, role = "part", kind
        self._open.append(Division(role, kind, n, self._source.at(line)))
        return self._open[-1]

    def head(self, title: str, units: int, at: Source) -> None:
        """The title of the innermost division."""
        division = self._open[-1] if self._open else None
        if division is not None and not division.opened:
            division.title = f"{division.title} {title}".strip()
            division.units += units
        elif units:
            self._out.append(Heading(at, title, units=units))

    def end(self, division: Division, line: int) -> None:
        if division.role == "act" and self._waiting:
            self._enter_all(self._source.at(line))
        if not division.opened and division.units:
            self._out.append(Heading(division.source, division.title, units=division.units))
        self._open.remove(division)
        if division.role == "act" and division.opened:
            self._in_act = self._in_scene = False
        elif division.role == "scene" and division.opened:
            self._in_scene = False

    def add_spoken(self, event: Speech | Description) -> None:
        """Something is said, or happens in a speech: it must be in a scene."""
        self._enter_all(event.source)
        self._out.append(event)

    def add_direction(self, event: Description) -> None:
        """Something happens: in the scene, or before the first one of its act."""
        if self._in_scene or self._inside("scene") or len(self._waiting) > MAX_WAITING:
            self.add_spoken(event)
        else:
            self._waiting.append(event)

    def finish(self) -> None:
        if self._waiting:
            self._enter_all(self._waiting[0].source)

    def _inside(self, role: str) -> bool:
        return any(division.role == role for division in self._open)

    def _enter_all(self, at: Source) -> None:
        for division in self._open:
            if not division.opened:
                division.opened = True
                self._enter(division)
        if not self._in_scene:
            self._ensure_act(at)
            self._begin_scene(at, "", "", "", 0)
        self._out.extend(self._waiting)
        self._waiting.clear()

    def _enter(self, division: Division) -> None:
        if division.role == "act":
            self._begin_act(division.source, division.kind, division.n, division.title, division.units)
        elif division.role == "scene":
            self._ensure_act(division.source)
            self._begin_scene(division.source, division.kind, division.n, division.title, division.units)
        elif division.units:
            self._out.append(Heading(division.source, division.title, units=division.units))

    def _ensure_act(self, at: Source) -> None:
        if self._acts and not self._in_act:
            self._begin_act(at, "", "", "", 0)

    def _begin_act(self, at: Source, kind: str, n: str, title: str, units: int) -> None:
        self._act, self._scene = _number(kind, n, self._act), None
        self._in_act, self._in_scene = True, False
        self._out.append(Heading(at, title or f"Act {self._act}", (self._act,), units))

    def _begin_scene(self, at: Source, kind: str, n: str, title: str, units: int) -> None:
        self._scene = _number(kind, n, self._scene)
        self._in_scene = True
        self._out.append(SceneStart(at, _setting(title), number=self._scene, units=units))


def _number(kind: str, n: str, last: int | None) -> int:
    """What the division says its number is, if that goes on from the last one; else the next."""
    stated = _numeral(n.strip())
    if stated is not None and (last is None or stated > last):
        return stated
    if last is None:
        return 0 if kind in BEFORE_ALL else 1
    return last + 1


def _numeral(n: str) -> int | None:
    if n.isascii() and n.isdigit() and len(n) <= 4:
        return int(n)
    match = ROMAN.fullmatch(n)
    if not n or match is None:
        return None
    ones = match[2].lower()
    return 10 * len(match[1]) + {"ix": 9, "iv": 4}.get(ones, 5 * ones.count("v") + ones.count("i"))


def _setting(title: str) -> str:
    """'Scene 2. A street.' is set in a street; 'Scene 2' says nothing of where it is set."""
    match = SCENE_HEAD.match(title)
    return title[match.end() :].strip() if match else title
