"""ConvoKit's corpora: a folder with an utterance a line, and what is known of speakers and conversations beside it.

    utterances.jsonl      {"id", "conversation_id", "text", "speaker", "reply-to", "timestamp", "meta", "vectors"}
    speakers.json         {id: {"meta": {...}, "vectors": []}}
    conversations.json    {id: {"meta": {...}, "vectors": []}}
    corpus.json, index.json

A conversation is a scene. Its utterances come in the order of their timestamps, and a reply after what it replies to;
conversations come in the order of their first timestamps where all have them, else as they stand in the file. A
speaker is called what its `meta` says, else by its id; two of one name are told apart by their ids. Older corpora say
`user`, `root` and users.json. Binary files (`*-bin.p`, vectors) are never opened.

Utterances of one conversation may lie anywhere in the file: a first pass notes where each is and what it replies to, in
some 50 bytes an utterance, and the second one reads them in order.
"""

from __future__ import annotations

import json
import math
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

from understudy.errors import InputError
from understudy.formats.export import new_folder, write_rows
from understudy.sources import Description, Event, Opening, Reader, SceneStart, Speech, Unread
from understudy.sources.jsonstream import (
    RecordLocation,
    json_lines,
    json_members,
    json_records,
    read_records_at,
    shown_json,
)
from understudy.sources.names import DeclaredNames, display_name, fold
from understudy.sources.source import SourceFile
from understudy.story.storyfile import Story

UTTERANCES = ("utterances.jsonl", "utterances.json")
SPEAKERS, CONVERSATIONS = ("speakers.json", "users.json"), ("conversations.json",)
CORPUS = "corpus.json"
BESIDE = (*SPEAKERS, *CONVERSATIONS, CORPUS, "index.json")
MARK, DESCRIPTION = "understudy", "description"
"""The key in an utterance's meta by which an export marks a description."""

NAMES = ("name", "character_name", "display_name", "full_name", "username")
SETTINGS = ("setting", "title", "topic", "movie_name")
TITLES = ("title", "name")


def utterances_in(folder: Path) -> Path | None:
    """The utterances of a corpus folder; None for a folder that is none."""
    if not any((folder / name).is_file() for name in BESIDE):
        return None
    return next((folder / name for name in UTTERANCES if (folder / name).is_file()), None)


def events(source: SourceFile) -> Iterator[Event]:
    """The stream of events of a corpus, by its utterances."""
    folder = source.path.absolute().parent
    yield Opening(title=_title(folder) if utterances_in(folder) else None)
    index = _UtteranceIndex(source)
    names = _labels(index.speakers, dict(_metadata(folder, SPEAKERS, NAMES, index.speakers)))
    settings = dict(_metadata(folder, CONVERSATIONS, SETTINGS, index.conversations))
    declared = DeclaredNames()
    for conversation, locations in index.ordered():
        yield SceneStart(source.at(locations[0].line), settings.get(conversation, ""), units=0)
        for location, row in read_records_at(source, locations):
            at, speaker = source.at(location.line), _speaker(row) or ""
            text, meta = row.get("text"), row.get("meta")
            if not isinstance(text, str) or not text.strip():
                yield Unread(at, shown_json(row), "says nothing")
            elif not speaker or (isinstance(meta, dict) and meta.get(MARK) == DESCRIPTION):
                yield Description(at, text)
            else:
                yield from declared.entries(at, names[speaker])
                yield Speech(at, (names[speaker],), text)


class _UtteranceIndex:
    """Where each utterance is, in columns; identifiers of utterances are kept as hashes."""

    def __init__(self, source: SourceFile) -> None:
        self.conversations: dict[str, array[int]] = {}
        self.speakers: dict[str, None] = {}
        self._lines, self._lengths, self._offsets = array("L"), array("L"), array("Q")
        self._ids, self._replies, self._times = array("q"), array("q"), array("d")
        for location, row in json_lines(source) if _is_lines(source) else json_records(source):
            conversation = _conversation_id(row) if isinstance(row, dict) else None
            if conversation is None:
                raise source.error("is no utterance: it has no conversation_id", location.line)
            self.conversations.setdefault(conversation, array("L")).append(len(self._lines))
            if speaker := _speaker(row):
                self.speakers.setdefault(speaker)
            self._lines.append(location.line)
            self._lengths.append(location.length)
            self._offsets.append(location.offset)
            self._ids.append(hash(str(row.get("id"))))
            reply = row.get("reply-to", row.get("reply_to"))
            self._replies.append(0 if reply is None else hash(str(reply)))
            self._times.append(_time(row.get("timestamp")))
            source.units += 1

    def ordered(self) -> Iterator[tuple[str, list[RecordLocation]]]:
        """The conversations in order, each with its utterances in order."""
        starts = {key: min(self._times[number] for number in numbers) for key, numbers in self.conversations.items()}
        keys: Iterable[str] = self.conversations
        if not any(math.isnan(time) for time in self._times):
            keys = sorted(starts, key=lambda key: starts[key])
        for key in keys:
            yield key, [self._location(number) for number in self._in_order(self.conversations[key])]

    def _location(self, number: int) -> RecordLocation:
        return RecordLocation("", self._lines[number], self._offsets[number], self._lengths[number])

    def _in_order(self, numbers: Sequence[int]) -> list[int]:
        """Replies after what they reply to, a thread at a time; then by time, where all have one."""
        by_id = {self._ids[number]: number for number in numbers}
        parents = {number: by_id.get(self._replies[number]) for number in numbers}
        children: defaultdict[int | None, list[int]] = defaultdict(list)
        for number, parent in parents.items():
            children[parent if parent != number else None].append(number)
        order: dict[int, None] = {}
        for start in (*children[None], *numbers):  # those of a circle of replies have no beginning: as they stand
            pending = [start]
            while pending:
                number = pending.pop()
                if number not in order:
                    order[number] = None
                    pending.extend(reversed(children.get(number, ())))
        if any(math.isnan(self._times[number]) for number in numbers):
            return list(order)
        times: dict[int, float] = {}
        for number in order:  # no reply is older than what it replies to, whatever its clock said
            parent = parents[number]
            times[number] = max(self._times[number], -math.inf if parent is None else times.get(parent, -math.inf))
        return sorted(order, key=lambda number: times[number])


def _title(folder: Path) -> str:
    """What corpus.json calls the corpus, else the folder's name."""
    path = folder / CORPUS
    members = json_members(SourceFile(path)) if path.is_file() and path.stat().st_size else ()
    titles = {location.key: value for location, value in members if location.key in TITLES and isinstance(value, str)}
    return next((titles[key] for key in TITLES if titles.get(key, "").strip()), folder.name)


def _labels(speakers: Iterable[str], names: Mapping[str, str]) -> dict[str, str]:
    """What each speaker is called, no two the same."""
    called = {speaker: display_name(names[speaker]) if speaker in names else speaker for speaker in speakers}
    shared = Counter(fold(name) for name in called.values())
    labels: dict[str, str] = {}
    taken: set[str] = set()
    for speaker, name in called.items():
        label = name if shared[fold(name)] == 1 or name == speaker else f"{name} {speaker}"
        copies = 1
        while fold(label) in taken:
            copies += 1
            label = f"{name} {copies}"
        taken.add(fold(label))
        labels[speaker] = label
    return labels


def _metadata(
    folder: Path, files: Sequence[str], keys: Sequence[str], wanted: Mapping[str, Any]
) -> Iterator[tuple[str, str]]:
    """(id, the first of some texts) of those in a metadata file whose id is wanted."""
    path = next((folder / name for name in files if (folder / name).is_file()), None)
    if path is None or utterances_in(folder) is None or path.stat().st_size == 0:
        return
    for location, value in json_members(SourceFile(path)):
        if location.key in wanted and isinstance(value, dict):
            meta = value.get("meta", value)
            texts = [meta.get(key) for key in keys] if isinstance(meta, dict) else []
            if text := next((text for text in texts if isinstance(text, str) and text.strip()), None):
                yield location.key, " ".join(text.split())


def _is_lines(source: SourceFile) -> bool:
    return source.head().removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{")


def _conversation_id(row: Mapping[str, Any]) -> str | None:
    key = row.get("conversation_id", row.get("root"))
    return None if key is None else str(key)


def _speaker(row: Mapping[str, Any]) -> str | None:
    """The id of whoever speaks; blank where the utterance has none."""
    if "speaker" not in row and "user" not in row:
        return None
    speaker = row.get("speaker", row.get("user"))
    speaker = speaker.get("id") if isinstance(speaker, dict) else speaker
    return "" if speaker is None else " ".join(str(speaker).split())


def _time(value: object) -> float:
    try:
        return math.nan if isinstance(value, bool) else float(str(value))
    except ValueError:
        return math.nan


READER = Reader("convokit", events)


# Written, a scene is a conversation, named as ConvoKit does by its first utterance; a line is an utterance whose id is
# its moment, and replies to the line before it. Speakers have their names for ids. The timestamps count lines. Setting
# and moment of a scene are in its `meta`. A description is an utterance too, marked in its `meta`. A scene without
# lines has nothing by which a conversation could be known, and is left out.

NOBODY = "[description]"
TEXT = ["<class 'str'>"]
INDEX = {
    "utterances-index": {MARK: TEXT},
    "speakers-index": {},
    "conversations-index": {"setting": TEXT, "moment": TEXT},
    "overall-index": {"title": TEXT, "language": TEXT},
    "version": 1,
    "vectors": [],
}


def export_convokit(story: Story, folder: Path) -> int:
    """Returns how many lines were written."""
    if story.count()[1] == 0:
        raise InputError(f"'{story.title}' has no lines, so there is no corpus to write", folder)
    speakers: dict[str, Any] = {}
    conversations: dict[str, Any] = {}
    with new_folder(folder) as partial:
        with (partial / "utterances.jsonl").open("w", encoding="utf-8", newline="\n") as stream:
            write_rows(_utterances(story, speakers, conversations), stream)
        files = {
            "speakers.json": speakers,
            "conversations.json": conversations,
            "corpus.json": {"title": story.title, "language": story.language},
            "index.json": INDEX,
        }
        for name, document in files.items():
            (partial / name).write_text(json.dumps(document, ensure_ascii=False) + "\n", encoding="utf-8")
    return story.count()[1]


def _utterances(story: Story, speakers: dict[str, Any], conversations: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The utterances; their speakers and conversations are noted on the way."""
    number = count()
    for scene in story.scenes():
        previous = None
        for line in scene.lines:
            root = scene.lines[0].moment.dotted
            meta = {"setting": scene.setting, "moment": scene.moment.dotted}
            conversations.setdefault(root, {"meta": meta, "vectors": []})
            speaker = NOBODY if line.speaker is None else line.speaker
            speakers.setdefault(speaker, {"meta": {}, "vectors": []})
            yield {
                "id": line.moment.dotted,
                "conversation_id": root,
                "text": line.text,
                "speaker": speaker,
                "meta": {MARK: DESCRIPTION} if line.speaker is None else {},
                "reply-to": previous,
                "timestamp": next(number),
                "vectors": [],
            }
            previous = line.moment.dotted
