"""Faults of continuity in a story, for its author: who cannot know, have, say or have forgotten that yet?

It looks at the whole story, the future included: no agent and no persona can reach it. See docs/continuity.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from understudy.errors import InputError
from understudy.people.continuity.detectors import AbsenceDetector, BelongingsDetector, DeathDetector, MeetingDetector
from understudy.people.continuity.scenes import (
    KINDS,
    Detector,
    Fault,
    Learning,
    Mentions,
    TermFinder,
    learnings,
    watched_scenes,
)
from understudy.people.continuity.unknown import unknown_faults
from understudy.progress import Progress, ignore_progress
from understudy.story.storyfile import Story
from understudy.story.storyfile.toml_tables import TableParser, TomlTable, replace_text, toml_pairs

__all__ = ["FILE", "KINDS", "Continuity", "Dismissals", "Fault", "check_continuity", "dismissals_path"]


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
        self.path = path
        tables = [table for _, table in _DismissalParser(path).tables("dismissed")] if path.exists() else []
        entries = ({key: str(value) for key, value in table.items()} for table in tables)
        self._entries = {entry.get("id", ""): entry for entry in entries}
        if not all(map(ID.fullmatch, self._entries)):
            raise InputError("each [[dismissed]] has an id of eight hexadecimal digits, as the command lists it", path)

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
        restored = set(ids)
        if unknown := sorted(restored - self._entries.keys()):
            raise InputError(f"'{unknown[0][:40]}' was not dismissed: --all lists what was", self.path)
        self._entries = {id_: entry for id_, entry in self._entries.items() if id_ not in restored}
        self._write()

    def _write(self) -> None:
        tables = ("".join(f"{line}\n" for line in toml_pairs(entry)) for entry in self._entries.values())
        try:
            replace_text(self.path, HEADER + "".join(f"\n[[dismissed]]\n{table}" for table in tables))
        except InputError as error:
            raise InputError(f"{error.message}: copy the story to a folder of yours", self.path) from error


class _DismissalParser(TableParser):
    REPAIR = "mend it, or delete it to list every line again"

    def only_known(self, kind: str, table: TomlTable, line: int = 1) -> None:
        """What people add to an entry stays in it."""
