"""The nouns as plain documents, for `--json` and for the server. Moments are dotted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from understudy.story.dialogue import Evidence, Reply, Situation
from understudy.story.persona import FoundSentence, Other
from understudy.story.storyfile import CastMember, FileCounts, Story, UnreadSourceLine
from understudy.story.types import Finding, Line, Moment, Relation, Scene
from understudy.story.wording import tie_sentence

Document = dict[str, Any]
COUNTS = ("units", "lines", "descriptions", "headings", "unread")  # of a file


def cast_document(cast: Iterable[CastMember]) -> list[Document]:
    return [
        {
            "name": member.character.name,
            "aliases": list(member.character.aliases),
            "lines": member.lines,
            "first": member.first.dotted if member.first else None,
            "last": member.last.dotted if member.last else None,
        }
        for member in cast
    ]


def reading_document(story: Story, unread: Iterable[UnreadSourceLine]) -> Document:
    """What became of every source line of every file, and the cast; `unread` are the lines to list in full."""
    reasons: dict[str, dict[str, int]] = {}
    for line in story.unread():
        of_file = reasons.setdefault(line.source.file, {})
        of_file[line.reason] = of_file.get(line.reason, 0) + 1
    scenes, _ = story.count()
    files = story.files()
    return {
        "title": story.title,
        "language": story.language,
        "levels": list(story.levels),
        "story": None if story.path is None else str(story.path),
        "scenes": scenes,
        "files": [_file_document(file, reasons.get(file.name, {})) for file in files],
        "parts": {file: moment.dotted for file, moment in file_parts(story).items()},
        "total": {count: sum(getattr(file, count) for file in files) for count in COUNTS},
        "speakers": _speakers_document(story),
        "unread": [
            {"file": line.source.file, "line": line.source.line, "text": line.text, "reason": line.reason}
            for line in unread
        ],
        "cast": cast_document(story.cast()),
    }


def file_parts(story: Story) -> dict[str, Moment]:
    """The files of a story that are its parts, for none says where in the story it stands; each with its moment."""
    headings = zip(story.headings(), story.heading_sources())
    return {
        source.file: moment
        for (moment, title), (_, source) in headings
        if len(moment.numbers) == 1 and source.line == 1 and title == Path(source.file).stem
    }


def _speakers_document(story: Story) -> Document:
    """How many lines have a speaker that the source names, and how surely the others' speakers are known."""
    attributed = story.attributed_lines()
    return {
        "named": story.named_lines(),
        "attributed": attributed.lines,
        "confidence": None if attributed.confidence is None else round(attributed.confidence, 3),
        "doubtful": attributed.doubtful,
    }


def _file_document(file: FileCounts, reasons: dict[str, int]) -> Document:
    counts = {count: getattr(file, count) for count in COUNTS}
    return {"file": file.name, "format": file.format, **counts, "reasons": reasons}


def line_document(line: Line) -> Document:
    return {"moment": line.moment.dotted, "speaker": line.speaker, "text": line.text}


def scene_document(scene: Scene) -> Document:
    return {
        "moment": scene.moment.dotted,
        "setting": scene.setting,
        "present": list(scene.present),
        "lines": [line_document(line) for line in scene.lines],
    }


def finding_document(finding: Finding) -> Document:
    return {"confidence": finding.confidence, "sources": [source.dotted for source in finding.sources]}


def found_sentences(found: Mapping[str, FoundSentence]) -> list[Document]:
    """Which sentences of a profile were found in the text, and where."""
    return [{"sentence": text, "found": finding_document(item.finding)} for text, item in found.items()]


def tie_document(tie: Relation, language: str) -> Document:
    document = {
        "to": tie.to,
        "kind": tie.kind,
        "level": tie.level,
        "since": tie.since.dotted,
        "sentence": tie_sentence(tie, language),
    }
    return document if tie.found is None else {**document, "found": finding_document(tie.found)}


def other_document(other: Other, language: str) -> Document:
    document: Document = {
        "name": other.name,
        "profile": list(other.profile),
        "relations": [tie_document(tie, language) for tie in other.relations],
    }
    return {**document, "found": found_sentences(other.found)} if other.found else document


def persona_document(situation: Situation, last: int | None) -> Document:
    """A character at a moment; `last` keeps the most recent lines and scenes."""
    persona = situation.persona
    document: Document = {
        "character": persona.name,
        "moment": persona.moment.dotted,
        "profile": list(persona.profile),
        "attributes": {attribute: list(values) for attribute, values in persona.attributes.items()},
        "relations": [tie_document(tie, persona.language) for tie in persona.relations],
        "lines": [{"moment": line.moment.dotted, "text": line.text} for line in persona.past.lines(last)],
        "memory": [scene_document(scene) for scene in persona.past.scenes(last)],
    }
    if persona.found:
        document["found"] = found_sentences(persona.found)
    if situation.faced is not None:
        document["facing"] = other_document(situation.faced, persona.language)
    return document


def _evidence_document(item: Evidence) -> Document:
    document = {
        "kind": item.kind,
        "text": item.text,
        "moment": item.moment.dotted if item.moment else None,
        "words": list(item.words),
    }
    return document if item.found is None else {**document, "found": finding_document(item.found)}


def reply_document(reply: Reply) -> Document:
    return {
        "reply": reply.text,
        "evidence": [_evidence_document(item) for item in reply.evidence],
        "candidates": [
            {
                "text": item.text,
                "score": item.score,
                "moment": item.moment.dotted if item.moment else None,
                "source": item.source,
                "rejected": item.rejected,
            }
            for item in reply.candidates
        ],
        "usage": None if reply.usage is None else asdict(reply.usage),
    }
