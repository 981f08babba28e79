"""A draft of a story's people: every finder reads the text, and what they find becomes the story's found.toml.

What a finder has finished is kept until the draft is done, so that a draft that was stopped goes on where it was.
Reading a story looks for facts and ties of a kind at once; in a large one, which may never be talked with, they are
left pending until somebody's persona is asked for (decision 16).
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tomllib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from understudy.errors import InputError
from understudy.progress import Progress, ignore_progress
from understudy.registry import Imported
from understudy.story.storyfile import Story
from understudy.story.storyfile.found import (
    ACCEPTED,
    BOUND,
    CHANGED,
    GIVES_WAY,
    NEVER_FOUND,
    REJECTED,
    UNDECIDED,
    FoundDecision,
    FoundEntry,
    FoundFile,
    PlacedEntry,
    place_entries,
    quote_of,
    read_found,
)
from understudy.story.storyfile.toml_tables import load_toml, replace_text, toml_value
from understudy.story.types import Fact, Finding, Relation, Schema
from understudy.story.user_folders import cache_folder
from understudy.text import did_you_mean

Finder = Callable[[Story, Progress], Iterable[Fact | Relation]]

FINDERS: tuple[tuple[str, Finder], ...] = (
    ("statements", Imported("understudy.people.statements", "statements")),
    ("ties", Imported("understudy.people.ties", "ties")),
    ("feelings", Imported("understudy.people.feelings", "feelings")),
)
FINDERS_WHILE_READING = FINDERS[:2]  # levels of feeling take as long as both, and few are sure enough to be used
LARGE_LINES, LARGE_CAST = 10_000, 500


@dataclass(frozen=True, slots=True)
class StoryDraft:
    """What was found in a story: the file it is kept in, and every entry as it stands in the story."""

    file: FoundFile
    entries: tuple[PlacedEntry, ...]
    left_out: int = 0
    """Claims whose lines are not in the story, or that are not a text's to make."""

    @property
    def used(self) -> tuple[PlacedEntry, ...]:
        return tuple(placed for placed in self.entries if not placed.problem)


def draft(
    story: Story,
    progress: Progress = ignore_progress,
    finders: Sequence[tuple[str, Finder]] | None = None,
    fresh: bool = False,
) -> StoryDraft:
    """Find facts and ties in a story, and write them beside it with the decisions that were made before.

    What other finders had found stays, as that of a language model where none is asked this time. `fresh` forgets what
    a draft that was stopped had found.
    """
    path = _found_file(story)
    old = read_found(path, story.levels, story.schema)
    folder = checkpoint_folder(story)
    if fresh:
        shutil.rmtree(folder, ignore_errors=True)
    running = FINDERS if finders is None else finders
    names = {name for name, _ in running}
    drafted, left_out = list[FoundEntry](), 0
    for name, find in running:
        entries, missing = _finished(story, folder / f"{name}.toml", name, find, progress)
        drafted += entries
        left_out += missing
    drafted += [entry for entry in old.entries if entry.finder not in names]
    file = carry_decisions(old, path, merge_finders(drafted))
    file.write()
    shutil.rmtree(folder, ignore_errors=True)
    return StoryDraft(file, tuple(place_entries(story, file)), left_out)


def find_people(story: Story, progress: Progress = ignore_progress) -> StoryDraft:
    """What reading a story looks for."""
    return draft(story, progress, FINDERS_WHILE_READING)


def is_large(story: Story) -> bool:
    """Does looking for its people take much longer than reading it, so that it waits until they are wanted?"""
    return story.count()[1] > LARGE_LINES or len(story.cast()) > LARGE_CAST


def leave_pending(story: Story) -> None:
    """Note that the story's people are still to be looked for; what was found and decided before stays."""
    path = _found_file(story)
    replace(read_found(path, story.levels, story.schema), is_pending=True).write()


def read_draft(story: Story) -> StoryDraft:
    """What was found before; an error where nobody has looked."""
    path = _found_file(story)
    if not path.exists():
        raise InputError("is not there: run `understudy draft` on the story first", path)
    file = read_found(path, story.levels, story.schema)
    return StoryDraft(file, tuple(place_entries(story, file)))


def _finished(
    story: Story, checkpoint: Path, name: str, find: Finder, progress: Progress
) -> tuple[Sequence[FoundEntry], int]:
    """What a finder finds, or had found before the draft was stopped; and how many of its claims cannot be kept."""
    if checkpoint.exists():
        return read_found(checkpoint, story.levels, story.schema).entries, 0
    claims = list(find(story, progress))
    entries = entries_of(story, name, claims)
    file = carry_decisions(None, checkpoint, entries)
    file.write()
    return file.entries, len(claims) - len(entries)


def _found_file(story: Story) -> Path:
    if story.found_file is None:
        raise InputError("a story of several files has no place beside it: `understudy read` them -o into one .story")
    return story.found_file


def checkpoint_folder(story: Story) -> Path:
    """Where a draft of exactly this text keeps what is finished."""
    return cache_folder() / "draft" / story_fingerprint(story)


def story_fingerprint(story: Story) -> str:
    """The same for stories with the same people and the same lines."""
    digest = hashlib.sha256()
    for member in story.cast():
        digest.update(repr((member.character.name, member.character.aliases)).encode())
    for scene in story.scenes():
        lines = [(line.moment.numbers, line.speaker, line.text) for line in scene.lines]
        digest.update(repr((scene.present, lines)).encode())
    return digest.hexdigest()[:24]


# Claims as entries of found.toml, which take over the decisions of an older one.
#
# A decision belongs to what an entry says and to the text it was said in, never to a position: an entry of a new draft
# takes over the decision of an older one that makes the same claim and shares one of its source texts.

ID_LENGTH = 8


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
    indexes: dict[tuple[str, ...], int] = {}
    for entry in entries:
        key = _content(entry.claim)
        index = indexes.get(key)
        is_level = isinstance(entry.claim, Relation) and entry.claim.level is not None
        if index is None or is_level or merged[index].finder == entry.finder:
            indexes.setdefault(key, len(merged))
            merged.append(entry)
        else:
            merged[index] = _united(merged[index], entry)
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
    return FoundFile(path, old.bound, undo=old.undo).with_entries(unique)


# What an author decides about entries: take, reject, change.


def accept(file: FoundFile, ids: Collection[str]) -> FoundFile:
    return _decided(file, ids, FoundDecision(ACCEPTED))


def reject(file: FoundFile, ids: Collection[str]) -> FoundFile:
    return _decided(file, ids, FoundDecision(REJECTED))


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
    return _decided(file, [entry_id], FoundDecision(CHANGED, (value,)))


def entry_of(file: FoundFile, entry_id: str) -> FoundEntry:
    if (entry := file.entry(entry_id)) is None:
        meant = did_you_mean(entry_id, (entry.id for entry in file.entries))
        raise InputError(f"has no entry '{entry_id}'{meant}: `understudy draft review` lists them", file.path)
    return entry


def undecided_of_kind(file: FoundFile, kind: str) -> list[str]:
    """The ids of entries of an attribute or kind of tie that nobody has decided about."""
    if kind not in (kinds := {entry.kind for entry in file.entries}):
        raise InputError(f"nothing of the kind '{kind}' was found: there is {', '.join(sorted(kinds)) or 'nothing'}")
    return [entry.id for entry in file.entries if entry.kind == kind and not entry.decision.verdict]


def _decided(file: FoundFile, ids: Collection[str], decision: FoundDecision) -> FoundFile:
    for entry_id in ids:
        entry_of(file, entry_id)
    return file.decided(ids, decision)


# Writes what an author took into the cast.toml of a story folder: from then on it is annotated, not found.
#
# Entries are appended, so that everything that stands in the file stays as it is, comments too.


def apply_to_cast(story: Story, draft: StoryDraft, cast_file: Path) -> tuple[Fact | Relation, ...]:
    """Append what was accepted or changed, and is not written there yet; returns what was appended."""
    written = {(fact.key, fact.since) for fact in story.annotated_facts()}
    written |= {(tie.key, tie.since) for tie in story.annotated_relations()}
    taken = (
        placed.claim
        for placed in draft.entries
        if placed.entry.decision.verdict in (ACCEPTED, CHANGED) and placed.problem in ("", GIVES_WAY)
    )
    claims = tuple(
        {(claim.key, claim.since): claim for claim in taken if (claim.key, claim.since) not in written}.values()
    )
    if not claims:
        return ()
    document, text = load_toml(cast_file) if cast_file.exists() else ({}, "")
    declared = {str(table.get("name")) for table in document.get("character", ()) if isinstance(table, dict)}
    people = (name for claim in claims for name in claim.people)
    missing = dict.fromkeys(name for name in people if name not in declared)
    lines = [*_characters(missing), *(line for claim in claims for line in claim_lines(claim))]
    whole = text.rstrip("\n") + "\n" * bool(text) + "\n".join(lines) + "\n"
    try:
        tomllib.loads(whole)
    except tomllib.TOMLDecodeError as error:
        raise InputError(
            "has a list where [[character]], [[fact]] and [[relation]] stand: write tables", cast_file
        ) from error
    replace_text(cast_file, whole)
    return claims


def _characters(names: Iterable[str]) -> Iterator[str]:
    for name in names:
        yield from ("", "[[character]]", f"name = {toml_value(name)}")


def claim_lines(claim: Fact | Relation) -> Iterator[str]:
    """The lines of a [[fact]] or [[relation]]."""
    if isinstance(claim, Fact):
        yield from ("", "[[fact]]", f"who = {toml_value(claim.who)}", f"attribute = {toml_value(claim.attribute)}")
        yield f"value = {toml_value(claim.values)}"
    else:
        yield from ("", "[[relation]]", f"of = {toml_value(claim.of)}", f"to = {toml_value(claim.to)}")
        yield f"kind = {toml_value(claim.kind)}" if claim.level is None else f"{claim.kind} = {claim.level}"
        if claim.term:
            yield f"term = {toml_value(claim.term)}"
    yield f"from = {toml_value(claim.since.dotted)}"
    if claim.until is not None:
        yield f"until = {toml_value(claim.until.dotted)}"
    if isinstance(claim, Fact) and claim.known_to is not None:
        yield f"known_to = {toml_value(claim.known_to)}"
