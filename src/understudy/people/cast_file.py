"""Writes what an author took into the cast.toml of a story folder: from then on it is annotated, not found.

Entries are appended, so that everything that stands in the file stays as it is, comments too.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

from understudy.errors import InputError
from understudy.people.draft import StoryDraft
from understudy.story.storyfile import Story
from understudy.story.storyfile.found import ACCEPTED, CHANGED
from understudy.story.storyfile.overlay import GIVES_WAY
from understudy.story.storyfile.toml_tables import load_toml, replace_text, toml_value
from understudy.story.types import Fact, Relation

__all__ = ["apply_to_cast", "claim_lines"]


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
