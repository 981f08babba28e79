"""A draft of a story's people: every finder reads the text, and what they find becomes the story's found.toml.

What a finder has finished is kept until the draft is done, so that a draft that was stopped goes on where it was.
Reading a story looks for facts and ties of a kind at once; in a large one, which may never be talked with, they are
left pending until somebody's persona is asked for (decision 16).
"""

from __future__ import annotations

import hashlib
import shutil
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from understudy.errors import InputError
from understudy.people.found_file import carry_decisions, entries_of, merge_finders, write_found
from understudy.progress import Progress, ignore_progress
from understudy.registry import Imported
from understudy.story.storyfile import Story
from understudy.story.storyfile.found import ACCEPTED, CHANGED, FoundEntry, FoundFile, read_found
from understudy.story.storyfile.overlay import GIVES_WAY, PlacedEntry, place_entries
from understudy.story.storyfile.toml_tables import load_toml, replace_text, toml_value
from understudy.story.types import Fact, Relation
from understudy.story.user_folders import cache_folder

__all__ = [
    "FINDERS",
    "Finder",
    "StoryDraft",
    "apply_to_cast",
    "checkpoint_folder",
    "claim_lines",
    "draft",
    "find_people",
    "is_large",
    "leave_pending",
    "read_draft",
    "story_fingerprint",
]

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
    found, left_out = list[FoundEntry](), 0
    for name, find in running:
        entries, missing = _finished(story, folder / f"{name}.toml", name, find, progress)
        found += entries
        left_out += missing
    found += [entry for entry in old.entries if entry.finder not in names]
    file = carry_decisions(old, path, merge_finders(found))
    write_found(file)
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
    write_found(replace(read_found(path, story.levels, story.schema), is_pending=True))


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
    write_found(file)
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
    people = (name for claim in claims for name in _people(claim))
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


def _people(claim: Fact | Relation) -> tuple[str, ...]:
    return (claim.who,) if isinstance(claim, Fact) else (claim.of, claim.to)


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
