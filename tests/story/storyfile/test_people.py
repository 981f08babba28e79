from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.formats.cards.lorebook import POSITIONS
from understudy.story.storyfile.people import POSITIONS as KEPT_POSITIONS
from understudy.story.storyfile.people import pack_entry, unpack_entry
from understudy.story.types import LoreEntry

texts = st.text(st.characters(codec="utf-8"), max_size=5)
entries = st.builds(
    LoreEntry, texts, st.lists(texts, max_size=2).map(tuple), position=st.sampled_from(POSITIONS),
    scan_depth=st.none() | st.integers(), is_case_sensitive=st.none() | st.booleans(), probability=st.floats(0, 100),
)  # fmt: skip


@given(entries)
def test_an_entry_comes_back_as_it_was(entry: LoreEntry) -> None:
    assert unpack_entry(pack_entry(entry)) == entry


@pytest.mark.parametrize(
    ("field", "value"),
    [("keys", "a"), ("keys", [1]), ("order", "1"), ("order", True), ("is_enabled", 1), ("logic", "or"),
     ("position", "below"), ("content", None), ("scan_depth", 1.5), ("unknown", 1)],
)  # fmt: skip
def test_what_is_no_entry_is_refused(field: str, value: object) -> None:
    document = json.loads(pack_entry(LoreEntry("A text.")))
    with pytest.raises(ValueError, match="."):
        unpack_entry(json.dumps({**document, field: value}))


def test_positions_are_those_of_the_lorebook() -> None:
    assert set(POSITIONS) == KEPT_POSITIONS
