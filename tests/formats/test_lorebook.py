"""A lorebook read as a story is refused with the command that reads it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from samples import CARD, SAMPLES
from understudy.errors import UnknownFormat
from understudy.formats import read, reader_of
from understudy.formats.cards.lore_files import read_lore
from understudy.formats.lorebook import is_lorebook
from understudy.sources.source import SourceFile

ENTRY = {"uid": 0, "key": ["piano"], "keysecondary": [], "comment": "", "content": "The piano was sold.", "order": 100}
BOOKS: dict[str, Any] = {
    "world info": {"entries": {"0": ENTRY, "1": {**ENTRY, "uid": 1}}},
    "named world info": {"name": "Quarrel", "originalData": {"a": 1}, "entries": {"0": ENTRY}},
    "V3 lorebook": {"spec": "lorebook_v3", "data": {"entries": [{"keys": ["piano"], "content": "It was sold."}]}},
    "an empty one": {"entries": {}},
}


@pytest.mark.parametrize("kind", BOOKS)
def test_a_lorebook_alone_says_how_it_is_read(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "world.json"
    path.write_text(json.dumps(BOOKS[kind], indent=2))
    read_lore(path)
    with pytest.raises(UnknownFormat, match=r"understudy read STORY --lore world\.json"):
        read(path)


def test_a_card_with_a_lorebook_is_a_card(tmp_path: Path) -> None:
    path = tmp_path / "odile.json"
    data = {"character_book": {"entries": [{"keys": ["piano"], "content": "It was sold."}]}, **CARD["data"]}  # type: ignore[dict-item]
    path.write_text(json.dumps({**CARD, "data": data}))
    assert reader_of(SourceFile(path)).name == "card"


@pytest.mark.parametrize("form", SAMPLES)
def test_no_story_is_taken_for_a_lorebook(form: str) -> None:
    assert not is_lorebook(SAMPLES[form][1]())
