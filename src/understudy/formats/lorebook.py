"""Lorebooks among the files to be read: not a story, but what its people may bring up.

SillyTavern's world info and V3 lorebooks hold no scenes and nobody who speaks. Whoever reads one as a story is told how
to give it to one; `formats.cards.lore_files` reads them.
"""

from __future__ import annotations

import json
import re

from understudy.errors import UnknownFormat
from understudy.sources.source import SourceFile

__all__ = ["is_lorebook", "lorebook_refused"]

STANDALONE = re.compile(r'"spec"\s*:\s*"lorebook_v3"|\A\{\s*"entries"\s*:\s*(?:\{\s*\}|\[\s*\])\s*[,}]')
ENTRIES = re.compile(r'"entries"\s*:\s*[\[{]')
KEYS = re.compile(r'"keys?"\s*:\s*\[')
CONTENT = re.compile(r'"content"\s*:\s*"')


def is_lorebook(head: bytes) -> bool:
    """Whether JSON has a lorebook's entries, with keys and contents. Cards have them too, and are asked for first."""
    text = head.decode(json.detect_encoding(head), "ignore").lstrip("\ufeff \t\r\n")
    if not text.startswith("{"):
        return False
    return STANDALONE.search(text) is not None or all(mark.search(text) for mark in (ENTRIES, KEYS, CONTENT))


def lorebook_refused(source: SourceFile) -> UnknownFormat:
    name = source.path.name
    return UnknownFormat(
        "is a lorebook, which tells no story by itself: read it together with one "
        f"(`understudy read STORY --lore {name}`), or talk with it (`understudy chat STORY NAME --lore {name}`)",
        source.path,
    )
