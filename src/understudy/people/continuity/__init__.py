"""Faults of continuity in a story, for its author: who cannot know, have, say or have forgotten that yet?

It looks at the whole story, the future included: no agent and no persona can reach it. See docs/continuity.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from understudy.errors import InputError
from understudy.people.continuity.detectors import AbsenceDetector, BelongingsDetector, DeathDetector, MeetingDetector
from understudy.people.continuity.scenes import (
    KINDS,
    WORD,
    Detector,
    Fault,
    Learning,
    Mention,
    Mentions,
    StoryTerm,
    TermFinder,
    facts_by_person,
    learnings,
    watched_scenes,
)
from understudy.progress import Progress, ignore_progress
from understudy.story.names import GOES_BY
from understudy.story.storyfile import Story
from understudy.story.storyfile.toml_tables import TableParser, TomlTable, replace_text, toml_pairs
from understudy.story.types import SECRET, Fact, Moment, Relation
from understudy.text import fold

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


# Lines in which somebody says what they cannot know yet.
#
#     too soon      the term was brought up before, but never where the speaker was
#     too early     nobody has brought it up; the story does so much later, where the speaker is not
#
# Somebody may know a person or a name from before the story, and may be told between two scenes. So what speaks for
# that lowers the confidence, by a factor each: that it was brought up while the story began, that the speaker came into
# it later, that many know of it, that a name was last heard long ago. What somebody is, owns, feels and is told by a
# fact they may speak of; whom they have met they may name.


CONFIDENCE = {"true name": 0.9, "thing": 0.7, "person": 0.7, "name": 0.7}
LOOSE = 0.75  # each of these factors: see above
BEGINNING, BEGINNING_FACTOR = 0.1, 0.5  # a share of the story's scenes
NEWCOMER_FACTOR = 0.75
MANY, MANY_FACTOR = 6, 0.8
FAR, FAR_FACTOR = 20, 0.6  # scenes since the name was last heard: both may have it from elsewhere
SILENCE, FEWEST_SCENES = 0.1, 3  # 'much later': a share of the scenes, and in how many it then is
EARLY_FACTOR = 0.8


def unknown_faults(story: Story, mentions: Mentions, finder: TermFinder) -> list[Fault]:
    knowledge = _Knowledge(story, mentions, finder)
    return [
        fault
        for term, where in mentions.by_term.items()
        if len(where) > 1 or finder.facts_about(term)
        for fault in (*_too_soon(term, where, knowledge), *_too_early(term, where, knowledge))
    ]


def _too_soon(term: StoryTerm, where: Sequence[Mention], knowledge: _Knowledge) -> Iterator[Fault]:
    first_mentions: dict[str, Mention] = {}
    last = where[0]
    for mention in where:
        who = mention.line.speaker
        if who is not None and who not in first_mentions and first_mentions and mention.scene != last.scene:
            first = next(iter(first_mentions.values()))
            if not knowledge.may_name(who, term, mention):
                confidence = knowledge.confidence(who, term, first, len(first_mentions))
                if term.kind == "name" and mention.scene - last.scene > FAR:
                    confidence = round(confidence * FAR_FACTOR, 2)
                sources = tuple(dict.fromkeys((first.line.moment, last.line.moment)))
                reason = f"{_shown(term)} was brought up where {who} was not"
                yield Fault("unknown", mention.line, term.text, reason, sources, confidence)
        if who is not None or term.kind == "thing":
            last = mention
        for witness in mention.present if who is not None or term.kind in ("thing", "name") else ():
            first_mentions.setdefault(witness, mention)


def _too_early(term: StoryTerm, where: Sequence[Mention], knowledge: _Knowledge) -> Iterator[Fault]:
    early, later = where[0], [mention for mention in where if mention.scene != where[0].scene]
    who = early.line.speaker
    if who is None or term.is_loose or not later:
        return
    if term.kind == "true name":
        if not knowledge.may_name(who, term, early):
            reason = f"{_shown(term)} is not known to {who}"
            yield Fault("unknown", early.line, term.text, reason, (later[0].line.moment,), CONFIDENCE[term.kind])
        return
    silence = later[0].scene - early.scene
    is_own = term.kind == "thing"  # a fact tells of it: no other evidence is needed that it is of the story's own
    if (
        silence >= max(SILENCE * knowledge.scenes, FEWEST_SCENES)
        and (is_own or len({mention.scene for mention in later}) >= FEWEST_SCENES)
        and who not in later[0].present
        and not knowledge.may_name(who, term, early)
    ):
        reason = f"{_shown(term)} is brought up only later, where {who} is not"
        is_beginning = early.scene < BEGINNING * knowledge.scenes
        confidence = CONFIDENCE[term.kind] * EARLY_FACTOR * (BEGINNING_FACTOR if is_beginning else 1)
        yield Fault("unknown", early.line, term.text, reason, (later[0].line.moment,), round(confidence, 2))


def _shown(term: StoryTerm) -> str:
    return f"{term.text}'s true name" if term.kind == "true name" else f"'{term.text}'"


class _Knowledge:
    """What people know besides what they hear."""

    def __init__(self, story: Story, mentions: Mentions, finder: TermFinder) -> None:
        self._finder, self._scenes_of, self.scenes = finder, mentions.scenes_of, mentions.scenes
        self._facts = facts_by_person(story)
        self._ties: dict[str, list[Relation]] = {}
        for tie in story.relations():
            self._ties.setdefault(tie.of, []).append(tie)
        self._profiles = {
            member.character.name: frozenset(
                fold(word) for sentence in member.character.profile for word in WORD.findall(sentence)
            )
            for member in story.cast()
        }
        self._met: dict[str, dict[str, int]] = {}
        self._last_words = {member.character.name: fold(member.character.name.split()[-1]) for member in story.cast()}

    def may_name(self, who: str, term: StoryTerm, mention: Mention) -> bool:
        at = mention.line.moment
        if term.kind == "thing":
            return self._may_name_thing(who, term, at)
        if term.kind == "true name":
            return who == term.text or not self._is_masked(term.text, at) or self._is_confidant(who, term.text, at)
        if term.kind == "person":
            is_kin = self._last_words.get(who) == self._last_words[term.text]
            if who == term.text or is_kin or term.text in mention.present:
                return True
            return self._has_met(who, term.text, mention.scene) or self._is_tied(who, term.text, at)
        words = [fold(word) for word in term.text.split()]
        own = self._profiles.get(who, frozenset())
        return own.issuperset(words) or any(self._tells(fact, words) for fact in self._facts.get(who, ()))

    def confidence(self, who: str, term: StoryTerm, first: Mention, knowers: int) -> float:
        confidence = CONFIDENCE[term.kind]
        if term.kind in ("person", "name"):
            confidence *= BEGINNING_FACTOR if first.scene < BEGINNING * self.scenes else 1
            confidence *= MANY_FACTOR if knowers >= MANY else 1
            confidence *= LOOSE if term.is_loose else 1
            scenes = self._scenes_of.get(who)
            confidence *= NEWCOMER_FACTOR if scenes is None or scenes[0] > first.scene else 1
        return round(confidence, 2)

    def _may_name_thing(self, who: str, term: StoryTerm, at: Moment) -> bool:
        """Its owner may at any time, but for a secret, which one has from its date on; so may those who are told."""
        for fact in self._finder.facts_about(term):
            if fact.who == who and (fact.attribute != SECRET or fact.since <= at):
                return True
            if fact.since <= at and fact.known_to is not None and who in fact.known_to:
                return True
            if fact.found is not None and who in fact.found.witnesses:
                return True
        return False

    def _is_masked(self, who: str, at: Moment) -> bool:
        return any(
            fact.attribute == GOES_BY and fact.since <= at and (fact.until is None or at < fact.until)
            for fact in self._facts.get(who, ())
        )

    def _is_tied(self, who: str, to: str, at: Moment) -> bool:
        """Has somebody a tie to another, other than not knowing them?"""
        return any(tie.to == to and tie.since <= at and tie.level != 0 for tie in self._ties.get(who, ()))

    def _is_confidant(self, who: str, of: str, at: Moment) -> bool:
        return any(tie.to == of and tie.since <= at and tie.kind == "confidant" for tie in self._ties.get(who, ()))

    def _has_met(self, who: str, other: str, scene: int) -> bool:
        if other not in (known := self._met.setdefault(who, {})):
            shared = set(self._scenes_of.get(who, ())).intersection(self._scenes_of.get(other, ()))
            known[other] = min(shared, default=self.scenes)
        return known[other] <= scene

    def _tells(self, fact: Fact, words: Sequence[str]) -> bool:
        return {fold(word) for value in fact.values for word in WORD.findall(value)}.issuperset(words)
