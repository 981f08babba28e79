"""Writes `found.toml`, whole or not at all (its form is in `storyfile.found`), and carries decisions from an older one.

A decision belongs to what an entry says and to the text it was said in, never to a position: an entry of a new draft
takes over the decision of an older one that makes the same claim and shares one of its source texts.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from understudy.errors import InputError
from understudy.story.storyfile import Story
from understudy.story.storyfile.found import (
    ACCEPTED,
    BOUND,
    CHANGED,
    NEVER_FOUND,
    REJECTED,
    UNDECIDED,
    Decision,
    FoundEntry,
    FoundFile,
    quote_of,
)
from understudy.story.storyfile.toml_tables import replace_text, toml_value
from understudy.story.types import Fact, Finding, Moment, Relation, Schema
from understudy.text import did_you_mean

__all__ = [
    "accept",
    "carry_decisions",
    "change",
    "entries_of",
    "entry_of",
    "merge_finders",
    "reject",
    "render_found",
    "undecided_of_kind",
    "undo",
    "write_found",
]

HEADER = """\
# What `understudy draft` found in the text. Decide with `understudy draft review`, or here:
# decision = "accepted", "rejected", or "changed" with changed = ["what it should be"].
# What is neither accepted nor rejected is used from the bound on.
"""
ID_LENGTH = 8


def write_found(file: FoundFile) -> None:
    replace_text(file.path, render_found(file))


def render_found(file: FoundFile) -> str:
    facts = [entry for entry in file.entries if isinstance(entry.claim, Fact)]
    relations = [entry for entry in file.entries if isinstance(entry.claim, Relation)]
    lines = [HEADER, f"bound = {file.bound:g}", *(["pending = true"] if file.is_pending else [])]
    for step in file.undo:
        lines += ["", "[[undo]]", f"entries = [{', '.join(_step(id_, decision) for id_, decision in step)}]"]
    for entry in (*facts, *relations):
        lines += ["", *_table(entry)]
    return "\n".join(lines) + "\n"


def _step(entry_id: str, decision: Decision) -> str:
    pairs = [f"id = {toml_value(entry_id)}"]
    if decision.verdict:
        pairs.append(f"decision = {toml_value(decision.verdict)}")
    if decision.values:
        pairs.append(f"changed = {toml_value(decision.values)}")
    return "{ " + ", ".join(pairs) + " }"


def _table(entry: FoundEntry) -> Iterator[str]:
    claim, finding = entry.claim, entry.finding
    yield "[[fact]]" if isinstance(claim, Fact) else "[[relation]]"
    pairs: dict[str, object] = {"id": entry.id}
    if isinstance(claim, Fact):
        pairs |= {"who": claim.who, "attribute": claim.attribute, "value": claim.values}
    else:
        pairs |= {"of": claim.of, "to": claim.to, "kind": claim.kind, "level": claim.level, "term": claim.term or None}
    pairs |= {"from": claim.since, "until": claim.until, "confidence": round(finding.confidence, 3)}
    pairs |= {"sources": tuple(source.dotted for source in finding.sources), "quotes": entry.quotes}
    pairs |= {"finder": entry.finder or None, "decision": entry.decision.verdict or None}
    pairs |= {"changed": entry.decision.values or None}
    for key, value in pairs.items():
        if value is not None:
            yield f"{key} = {toml_value(value.dotted if isinstance(value, Moment) else value)}"


def entries_of(story: Story, finder: str, claims: Iterable[Fact | Relation]) -> list[FoundEntry]:
    """Claims of a finder as entries, each with the text of its lines.

    A claim is left out whose lines are not in the story, that would hold before the first of them was said, or that
    is for an author alone to make.
    """
    entries = []
    for claim in claims:
        sources = sorted(set(claim.found.sources)) if claim.found is not None else []
        lines = [line for source in sources if (line := story.line(source)) is not None]
        kind = claim.attribute if isinstance(claim, Fact) else claim.kind
        if claim.found is None or not lines or claim.since <= lines[0].moment or kind in NEVER_FOUND:
            continue
        finding = Finding(round(claim.found.confidence, 3), tuple(line.moment for line in lines))
        quotes = tuple(map(quote_of, lines))
        entries.append(FoundEntry(_id(claim, quotes), replace(claim, found=finding), quotes, finder))
    return entries


def _id(claim: Fact | Relation, quotes: Sequence[str]) -> str:
    text = json.dumps([*_content(claim), quotes[0]], ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:ID_LENGTH]


def _content(claim: Fact | Relation) -> tuple[str, ...]:
    """What a claim says, whenever and wherever it was said."""
    if isinstance(claim, Fact):
        return ("fact", claim.who, claim.attribute, *claim.values)
    return ("relation", claim.of, claim.to, claim.kind, "" if claim.level is None else str(claim.level))


def merge_finders(entries: Iterable[FoundEntry]) -> list[FoundEntry]:
    """What several finders claim as one entry with the lines of all; levels change, so each of theirs is its own."""
    merged: list[FoundEntry] = []
    places: dict[tuple[str, ...], int] = {}
    for entry in entries:
        key = _content(entry.claim)
        place = places.get(key)
        is_level = isinstance(entry.claim, Relation) and entry.claim.level is not None
        if place is None or is_level or merged[place].finder == entry.finder:
            places.setdefault(key, len(merged))
            merged.append(entry)
        else:
            merged[place] = _united(merged[place], entry)
    return merged


def _united(first: FoundEntry, second: FoundEntry) -> FoundEntry:
    """One entry of two that say the same; the earlier line dates it, the surer finder says how sure it is."""
    quotes = dict(zip(second.finding.sources, second.quotes)) | dict(zip(first.finding.sources, first.quotes))
    sources = tuple(sorted(quotes))
    finding = Finding(max(first.finding.confidence, second.finding.confidence), sources)
    claim = replace(first.claim, since=min(first.claim.since, second.claim.since), found=finding)
    return replace(first, claim=claim, quotes=tuple(quotes[source] for source in sources))


def carry_decisions(old: FoundFile | None, path: Path, entries: Iterable[FoundEntry]) -> FoundFile:
    """A file of new entries that have the decisions of the old ones.

    What somebody decided about stays even if it is not found again.
    """
    old = old or FoundFile(path, BOUND)
    decided: dict[tuple[str, ...], list[FoundEntry]] = {}
    for entry in old.entries:
        if entry.decision.verdict != UNDECIDED:
            decided.setdefault(_content(entry.claim), []).append(entry)
    taken, carried, ids = set[str](), list[FoundEntry](), dict[str, int]()
    for entry in entries:
        for earlier in decided.get(_content(entry.claim), ()):
            if earlier.id not in taken and set(earlier.quotes) & set(entry.quotes):
                taken.add(earlier.id)
                entry = replace(entry, decision=earlier.decision)
                break
        carried.append(entry)
    carried += [entry for same in decided.values() for entry in same if entry.id not in taken]
    unique = []
    for entry in carried:
        ids[entry.id] = ids.get(entry.id, 0) + 1
        unique.append(entry if ids[entry.id] == 1 else replace(entry, id=f"{entry.id}-{ids[entry.id]}"))
    kept = {entry.id for entry in unique}
    undo = (tuple(item for item in step if item[0] in kept) for step in old.undo)
    return FoundFile(path, old.bound, tuple(unique), tuple(step for step in undo if step))


# What an author decides about entries of a found.toml: take, reject, change, and take back.

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
