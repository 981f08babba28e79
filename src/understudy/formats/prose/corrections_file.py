"""Writes quotations.toml, whole or not at all (its form is in `corrections`), and lists what is doubtful in it.

What an author decided stays, whatever is listed anew, and so does what a language model proposed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from understudy.formats.prose.corrections import (
    Corrections,
    QuotationEntry,
    SpeakerDecision,
    context_of,
    quotations_file_of,
    read_corrections,
)
from understudy.novels.prose import Attribution, Prose
from understudy.sources.source import Attributed, SourceFile
from understudy.story.storyfile.toml_tables import replace_text, toml_value

__all__ = [
    "DoubtfulQuotations",
    "doubtful_quotations",
    "quotations_document",
    "render_corrections",
    "write_corrections",
    "write_doubtful",
]

HEADER = """\
# Quotations whose speaker is doubtful. Decide with `understudy quotations`, or here:
# speaker = "Name" of somebody in the story or somebody new, or not_speech = true.
# What is decided is applied whenever the source is read; nothing here is overwritten.
"""
ID_LENGTH = 8
LONGEST_PASSAGE = 400
MOST_CANDIDATES = 6
MOST_LISTED = 3_000  # undecided quotations, the least sure: a person decides about fewer, and the file stays readable


class DoubtfulQuotations:
    """Notes who was taken to say what in the sources of a story while it is read; lists what is doubtful afterwards."""

    def __init__(self, bound: float | None = None) -> None:
        """Without a bound, that of the list that lies beside a source, or the default."""
        self._bound = bound
        self._readings: list[tuple[SourceFile, Prose, Sequence[Attribution]]] = []

    def noting(self, source: SourceFile) -> Attributed:
        return lambda prose, attributions: self._readings.append((source, prose, attributions))

    def write(self) -> list[Corrections]:
        """Write the lists, one beside each source or one in its story folder, and return them."""
        lists = dict[Path, Corrections]()
        for source, prose, attributions in self._readings:
            path = quotations_file_of(source.story_folder or source.path)
            lists[path] = write_doubtful(path, prose, attributions, self._bound, source.path.name)
        return list(lists.values())


def write_doubtful(
    path: Path, prose: Prose, attributions: Sequence[Attribution], bound: float | None = None, file: str = ""
) -> Corrections:
    """List the quotations that are less sure than the bound (default: that of the file), and write the file.

    `attributions` are those before any decision. Nothing is written where nothing changes.
    """
    old = read_corrections(path)
    corrections = doubtful_quotations(old, prose, attributions, bound, file)
    if corrections != old:
        write_corrections(corrections)
    return corrections


def doubtful_quotations(
    old: Corrections, prose: Prose, attributions: Sequence[Attribution], bound: float | None = None, file: str = ""
) -> Corrections:
    """What is listed after a reading: what is doubtful now, and every decision there was.

    Another bound is of this listing alone: the next one goes by that of the file again.
    """
    bound = old.bound if bound is None else bound
    matched = old.matched(prose, file)
    earlier = {index: entry for entry in old.entries if (index := matched.get(entry.id)) is not None}
    ids = {entry.id for entry in old.entries}
    wanted = {index for index, entry in earlier.items() if entry.decision.is_made or entry.proposal}
    doubtful = [index for index, attribution in enumerate(attributions) if _listed(attribution.confidence) < bound]
    wanted.update(sorted(doubtful, key=lambda index: attributions[index].confidence)[:MOST_LISTED])
    listed = [_entry(prose, index, attributions[index], file, earlier.get(index), ids) for index in sorted(wanted)]
    others = [entry for entry in old.entries if file and entry.file not in ("", file)]
    gone = [entry for entry in old.of_file(file) if entry.decision.is_made and entry.id not in matched]
    entries = sorted((*listed, *others, *gone), key=lambda entry: (entry.file, entry.context.span))
    kept = {entry.id for entry in entries}
    undo = (tuple(item for item in step if item[0] in kept) for step in old.undo)
    return replace(old, entries=tuple(entries), undo=tuple(step for step in undo if step))


def _entry(
    prose: Prose, index: int, attribution: Attribution, file: str, earlier: QuotationEntry | None, ids: set[str]
) -> QuotationEntry:
    quotation = prose.quotations[index]
    context = context_of(prose, quotation)
    start, end = quotation.span
    passage = " ".join(prose.text[start:end].split())[:LONGEST_PASSAGE] if len(quotation.parts) > 1 else ""
    chapter = prose.paragraphs[quotation.paragraph].chapter
    entry = QuotationEntry(
        earlier.id if earlier is not None else _new_id(file, context.quote, ids),
        context,
        ".".join(map(str, prose.chapters[chapter].numbers)) if chapter >= 0 else "",
        attribution.speaker or "",
        _listed(attribution.confidence),
        tuple((name, round(share, 3)) for name, share in attribution.candidates[:MOST_CANDIDATES]),
        passage,
        file,
    )
    return entry if earlier is None else replace(entry, decision=earlier.decision, proposal=earlier.proposal)


def _listed(confidence: float) -> float:
    """As it stands in the file."""
    return round(confidence, 3)


def _new_id(file: str, quote: str, ids: set[str]) -> str:
    """The first free one for these words, so that the same text is given the same ids."""
    number = 0
    while True:
        text = f"{file}\0{quote}\0{number}"
        new = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:ID_LENGTH]
        if new not in ids:
            ids.add(new)
            return new
        number += 1


def write_corrections(corrections: Corrections) -> None:
    replace_text(corrections.path, render_corrections(corrections))


def render_corrections(corrections: Corrections) -> str:
    lines = [HEADER, f"bound = {corrections.bound:g}"]
    for person in corrections.people:
        lines += ["", "[[person]]", f"name = {toml_value(person.name)}", f"aliases = {toml_value([*person.aliases])}"]
    for step in corrections.undo:
        lines += ["", "[[undo]]", f"entries = [{', '.join(_step(id_, decision) for id_, decision in step)}]"]
    for entry in corrections.entries:
        lines += ["", "[[quotation]]", *_pairs(entry)]
    return "\n".join(lines) + "\n"


def _step(entry_id: str, decision: SpeakerDecision) -> str:
    not_speech = ", not_speech = true" if decision.not_speech else ""
    return f"{{ id = {toml_value(entry_id)}, speaker = {toml_value(decision.speaker)}{not_speech} }}"


def _pairs(entry: QuotationEntry) -> Iterator[str]:
    context, proposal = entry.context, entry.proposal
    pairs: dict[str, object] = {"id": entry.id, "file": entry.file or None, "chapter": entry.chapter or None}
    pairs |= {"span": list(context.span), "quote": context.quote, "passage": entry.passage or None}
    pairs |= {"before": context.before, "after": context.after, "guess": entry.guess, "confidence": entry.confidence}
    pairs |= {"candidates": [list(pair) for pair in entry.candidates], "speaker": entry.decision.speaker}
    pairs |= {"not_speech": entry.decision.not_speech or None}
    if proposal is not None:
        pairs |= {"proposed": proposal.speaker, "proposed_confidence": proposal.confidence, "by": proposal.by}
    for key, value in pairs.items():
        if value is not None:
            yield f"{key} = {toml_value(value)}"


def quotations_document(corrections: Corrections, bound: float | None = None) -> dict[str, Any]:
    """The list as a document, for `--json` and for pages: what is decided, and less sure than a bound."""
    bound = corrections.bound if bound is None else bound
    return {
        "file": str(corrections.path),
        "bound": bound,
        "undecided": len(corrections.undecided(bound)),
        "can_undo": bool(corrections.undo),
        "quotations": [
            _entry_document(number, entry)
            for number, entry in enumerate(corrections.entries, 1)
            if entry.decision.is_made or entry.confidence < bound
        ],
    }


def _entry_document(number: int, entry: QuotationEntry) -> dict[str, Any]:
    proposal = entry.proposal
    return {
        "number": number,
        "id": entry.id,
        "file": entry.file,
        "chapter": entry.chapter,
        "span": list(entry.context.span),
        "quote": entry.quote,
        "passage": entry.passage or entry.quote,
        "before": entry.context.before,
        "after": entry.context.after,
        "guess": entry.guess or None,
        "confidence": entry.confidence,
        "candidates": [{"name": name, "probability": share} for name, share in entry.candidates],
        "speaker": entry.decision.speaker or None,
        "not_speech": entry.decision.not_speech,
        "proposed": None if proposal is None else asdict(proposal),
    }
