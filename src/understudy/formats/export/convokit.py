"""A story as a ConvoKit corpus: a folder that ConvoKit loads, and that the `convokit` reader reads back.

A scene is a conversation, named as ConvoKit does by its first utterance; a line is an utterance whose id is its moment,
and replies to the line before it. Speakers have their names for ids. The timestamps count lines. Setting and moment of
a scene are in its `meta`. A description is an utterance too, marked in its `meta`. A scene without lines has nothing by
which a conversation could be known, and is left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from understudy.errors import InputError
from understudy.formats.export.folders import new_folder
from understudy.story.storyfile import Story

__all__ = ["export_convokit"]

NOBODY = "[description]"
MARK, DESCRIPTION = "understudy", "description"
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
    count = 0
    with new_folder(folder) as partial:
        with (partial / "utterances.jsonl").open("w", encoding="utf-8", newline="\n") as stream:
            for utterance in _utterances(story, conversations):
                speakers.setdefault(utterance["speaker"], {"meta": {}, "vectors": []})
                stream.write(json.dumps({**utterance, "timestamp": count, "vectors": []}, ensure_ascii=False) + "\n")
                count += 1
        files = {
            "speakers.json": speakers,
            "conversations.json": conversations,
            "corpus.json": {"title": story.title, "language": story.language},
            "index.json": INDEX,
        }
        for name, document in files.items():
            (partial / name).write_text(json.dumps(document, ensure_ascii=False) + "\n", encoding="utf-8")
    return count


def _utterances(story: Story, conversations: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for scene in story.scenes():
        previous = None
        for line in scene.lines:
            root = scene.lines[0].moment.dotted
            meta = {"setting": scene.setting, "moment": scene.moment.dotted}
            conversations.setdefault(root, {"meta": meta, "vectors": []})
            yield {
                "id": line.moment.dotted,
                "conversation_id": root,
                "text": line.text,
                "speaker": NOBODY if line.speaker is None else line.speaker,
                "meta": {MARK: DESCRIPTION} if line.speaker is None else {},
                "reply-to": previous,
            }
            previous = line.moment.dotted
