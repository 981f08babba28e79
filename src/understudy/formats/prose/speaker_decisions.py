"""What an author decides about listed quotations: who says them, that nobody does, and taking that back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from understudy.errors import InputError
from understudy.formats.prose.corrections import Corrections, QuotationEntry, SpeakerDecision
from understudy.story.types import Character
from understudy.text import did_you_mean

__all__ = ["entry_named", "merge_people", "set_not_speech", "set_speaker", "split_people", "undo"]

UNDO_STEPS = 50
LONGEST_NAME = 100


def set_speaker(corrections: Corrections, name: str, speaker: str) -> Corrections:
    """Decide who says the quotation that `name` names: somebody of the cast, or somebody new."""
    speaker = " ".join(speaker.split())
    if not speaker or len(speaker) > LONGEST_NAME or not speaker.isprintable():
        raise InputError(f"a speaker is a name of 1 to {LONGEST_NAME} characters")
    return _decided(corrections, entry_named(corrections, name), SpeakerDecision(speaker))


def set_not_speech(corrections: Corrections, name: str) -> Corrections:
    return _decided(corrections, entry_named(corrections, name), SpeakerDecision(not_speech=True))


def undo(corrections: Corrections) -> Corrections:
    """The list before the last decision."""
    if not corrections.undo:
        raise InputError("there is no decision to take back", corrections.path)
    before = dict(corrections.undo[-1])
    entries = (replace(entry, decision=before.get(entry.id, entry.decision)) for entry in corrections.entries)
    return replace(corrections, entries=tuple(entries), undo=corrections.undo[:-1])


def merge_people(corrections: Corrections, who: str, into: str) -> Corrections:
    """Two names of one person: from the next reading on all that `who` says is said by `into`."""
    if who == into:
        raise InputError(f"'{who}' is one person already: name two")
    own = _person(corrections, into)
    aliases = dict.fromkeys((*own.aliases, who, *_person(corrections, who).aliases))
    others = [person for person in corrections.people if person.name not in (who, into)]
    return replace(corrections, people=(*others, Character(into, tuple(name for name in aliases if name != into))))


def split_people(corrections: Corrections, who: str, alias: str) -> Corrections:
    """A name that is not `who`'s: from the next reading on it is somebody of its own."""
    own = _person(corrections, who)
    kept = Character(who, tuple(name for name in own.aliases if name != alias))
    others = [person for person in corrections.people if person.name not in (who, alias)]
    return replace(corrections, people=(*others, kept, _person(corrections, alias)))


def _person(corrections: Corrections, name: str) -> Character:
    return next((person for person in corrections.people if person.name == name), Character(name))


def entry_named(corrections: Corrections, name: str) -> QuotationEntry:
    """The entry of an id, or of its number in the list, counted from 1."""
    entries: Sequence[QuotationEntry] = corrections.entries
    by_id = next((entry for entry in entries if entry.id == name), None)
    if by_id is not None:
        return by_id
    if name.isascii() and name.isdigit() and len(name) < 9 and 1 <= int(name) <= len(entries):
        return entries[int(name) - 1]
    meant = did_you_mean(name, (entry.id for entry in entries))
    raise InputError(f"lists no quotation '{name}'{meant}: give a number from 1 to {len(entries)}", corrections.path)


def _decided(corrections: Corrections, entry: QuotationEntry, decision: SpeakerDecision) -> Corrections:
    entries = (replace(item, decision=decision) if item is entry else item for item in corrections.entries)
    step = ((entry.id, entry.decision),)
    return replace(corrections, entries=tuple(entries), undo=(*corrections.undo, step)[-UNDO_STEPS:])
