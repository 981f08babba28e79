"""Looks through a story once and puts together what the detectors of every kind of fault find."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from understudy.errors import InputError
from understudy.people.continuity.absence import AbsenceDetector, DeathDetector, MeetingDetector
from understudy.people.continuity.belongings import BelongingsDetector
from understudy.people.continuity.scenes import KINDS, Detector, Fault, Learning, Mentions, learnings, watched_scenes
from understudy.people.continuity.terms import TermFinder
from understudy.people.continuity.unknown import unknown_faults
from understudy.progress import Progress, ignore_progress
from understudy.story.storyfile import Story

__all__ = ["FILE", "Continuity", "Dismissals", "check_continuity", "dismissals_path"]


@dataclass(frozen=True, slots=True)
class Continuity:
    """What was found in a story."""

    faults: tuple[Fault, ...]
    """In story order."""
    learnings: Mapping[str, Learning]
    """Who hears of what first when, by its name; what is most worth a look first."""
    lines: int
    """How many lines somebody says."""


def check_continuity(story: Story, progress: Progress = ignore_progress) -> Continuity:
    finder = TermFinder(story)
    mentions = Mentions(finder)
    detectors: tuple[Detector, ...] = (
        BelongingsDetector(story, finder),
        DeathDetector(story, finder),
        AbsenceDetector(finder),
        MeetingDetector(story, finder),
    )
    lines = 0
    for scene in watched_scenes(story, progress):
        lines += sum(line.speaker is not None for line in scene.scene.lines)
        mentions.add(scene)
        for detector in detectors:
            detector.watch(scene)
    faults = [fault for detector in detectors for fault in detector.faults()]
    faults += unknown_faults(story, mentions, finder)
    order = {kind: number for number, kind in enumerate(KINDS)}
    faults.sort(key=lambda fault: (fault.line.moment, order[fault.kind], fault.about))
    return Continuity(tuple(faults), learnings(mentions), lines)


# False alarms that the author dismissed for good, in a file beside the story.
#
#     my-story/continuity.toml        of a story folder
#     friends.continuity.toml         of friends.story, or of a script friends.txt
#
#     [[dismissed]]
#     id = "3fa2b81c"
#     who = "Osk Brandt"
#     about = "Scarra"
#     text = "I can't speak against her, miss..."
#
# The id is made of what is said (see `Fault.id`), so it survives reading the story again; the rest is for people.


FILE = "continuity.toml"
LARGEST_FILE = 4 << 20  # bytes
ID = re.compile(r"[0-9a-f]{8}")
HEADER = (
    "# Lines that `understudy continuity` no longer lists. Take one back: understudy continuity STORY --restore ID\n"
)


def dismissals_path(story: Path) -> Path:
    """Where the dismissals of a story folder, a story file or a script lie."""
    return story / FILE if story.is_dir() else story.with_suffix(f".{FILE}")


class Dismissals:
    """The dismissals of one story; written whole at every change."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._entries = _read(path)

    @property
    def path(self) -> Path:
        return self._path

    def __contains__(self, fault: Fault) -> bool:
        return fault.id in self._entries

    def __len__(self) -> int:
        return len(self._entries)

    def dismiss(self, faults: Iterable[Fault]) -> None:
        for fault in faults:
            self._entries[fault.id] = {
                "id": fault.id, "kind": fault.kind, "who": fault.who, "about": fault.about, "text": fault.line.text,
            }  # fmt: skip
        self._write()

    def restore(self, ids: Iterable[str]) -> None:
        """List these again; an id that was not dismissed is an error, and then nothing is changed."""
        wanted = list(ids)
        if unknown := [id_ for id_ in wanted if id_ not in self._entries]:
            raise InputError(f"'{unknown[0][:40]}' was not dismissed: --all lists what was", self._path)
        for id_ in wanted:
            self._entries.pop(id_, None)
        self._write()

    def _write(self) -> None:
        entries = "".join(
            "\n[[dismissed]]\n" + "".join(f"{key} = {_quoted(str(value))}\n" for key, value in entry.items())
            for entry in self._entries.values()
        )
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            unfinished = self._path.with_name(f".{self._path.name}.new")
            unfinished.write_text(HEADER + entries, encoding="utf-8", newline="\n")
            unfinished.replace(self._path)
        except OSError as error:
            message = f"cannot be written ({error.strerror}): copy the story to a folder of yours"
            raise InputError(message, self._path) from error


def _read(path: Path) -> dict[str, dict[str, Any]]:
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise InputError(f"is over {LARGEST_FILE:,} bytes: this is no list of dismissed lines", path)
        document = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path) from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"is not TOML ({error}): mend it, or delete it to list every line again", path) from error
    entries = document.get("dismissed", [])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise InputError("'dismissed' is a list of tables: write [[dismissed]] before each", path)
    for entry in entries:
        if not ID.fullmatch(str(entry.get("id", ""))):
            raise InputError("each [[dismissed]] has an id of eight hexadecimal digits, as the command lists it", path)
    return {str(entry["id"]): entry for entry in entries}


def _quoted(text: str) -> str:
    """A text as a TOML string; JSON's escapes are TOML's, but for DEL and lone surrogates."""
    clean = text.encode("utf-8", "replace").decode("utf-8")
    return json.dumps(clean, ensure_ascii=False).replace("\x7f", "\\u007f")
