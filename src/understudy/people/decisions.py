"""What an author decides about entries of a found.toml: take, reject, change, and take back."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from understudy.errors import InputError
from understudy.story import Fact, Schema
from understudy.storyfile.found import ACCEPTED, CHANGED, NEVER_FOUND, REJECTED, Decision, FoundEntry, FoundFile
from understudy.text import did_you_mean

__all__ = ["accept", "change", "entry_of", "reject", "undecided_of_kind", "undo"]

UNDO_STEPS = 50


def accept(file: FoundFile, ids: Collection[str]) -> FoundFile:
    return _decided(file, ids, Decision(ACCEPTED))


def reject(file: FoundFile, ids: Collection[str]) -> FoundFile:
    return _decided(file, ids, Decision(REJECTED))


def change(file: FoundFile, entry_id: str, value: str, schema: Schema) -> FoundFile:
    """Put a value, a kind of tie or a level in the place of what was found."""
    claim, value = entry_of(file, entry_id).claim, value.strip()
    if not value:
        raise InputError("an empty value says nothing: reject the entry instead")
    if not isinstance(claim, Fact) and claim.level is not None:
        low, high = schema.bounds(claim.kind) or (0, 0)
        if value.lstrip("+-") not in map(str, range(max(abs(low), high) + 1)) or not low <= int(value) <= high:
            raise InputError(f"'{value}' is no level of {claim.kind}: give a whole number from {low} to {high}")
        value = str(int(value))
    elif not isinstance(claim, Fact):
        kinds = [kind for kind in schema.kinds if kind not in NEVER_FOUND]
        if value not in kinds:
            raise InputError(f"'{value}' is no kind of tie{did_you_mean(value, kinds)}: use one of {', '.join(kinds)}")
    return _decided(file, [entry_id], Decision(CHANGED, (value,)))


def undo(file: FoundFile) -> FoundFile:
    """The file before the last decision."""
    if not file.undo:
        raise InputError("there is no decision to take back", file.path)
    before = dict(file.undo[-1])
    entries = (replace(entry, decision=before.get(entry.id, entry.decision)) for entry in file.entries)
    return replace(file, entries=tuple(entries), undo=file.undo[:-1])


def entry_of(file: FoundFile, entry_id: str) -> FoundEntry:
    entry = next((entry for entry in file.entries if entry.id == entry_id), None)
    if entry is None:
        meant = did_you_mean(entry_id, (entry.id for entry in file.entries))
        raise InputError(f"has no entry '{entry_id}'{meant}: `understudy draft review` lists them", file.path)
    return entry


def undecided_of_kind(file: FoundFile, kind: str) -> list[str]:
    """The ids of entries of an attribute or kind of tie that nobody has decided about."""
    if kind not in (kinds := {entry.kind for entry in file.entries}):
        raise InputError(f"nothing of the kind '{kind}' was found: there is {', '.join(sorted(kinds)) or 'nothing'}")
    return [entry.id for entry in file.entries if entry.kind == kind and not entry.decision.verdict]


def _decided(file: FoundFile, ids: Collection[str], decision: Decision) -> FoundFile:
    step = tuple((entry_id, entry_of(file, entry_id).decision) for entry_id in ids)
    if not step:
        return file
    entries = (replace(entry, decision=decision) if entry.id in ids else entry for entry in file.entries)
    return replace(file, entries=tuple(entries), undo=(*file.undo, step)[-UNDO_STEPS:])
