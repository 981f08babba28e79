"""Lorebooks as programs write them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.errors import InputError
from understudy.formats.cards import card_of
from understudy.formats.cards.file import png_of
from understudy.formats.cards.lore_files import book_document, book_entries, parse_lore, read_lore
from understudy.formats.cards.lorebook import POSITIONS
from understudy.story.types import LoreEntry

WORLD_INFO: dict[str, Any] = {
    "entries": {
        "0": {
            "uid": 0, "key": ["gate", "/lock s?/i"], "keysecondary": ["oak"], "comment": "The gate",
            "content": "The gate is oak.", "constant": False, "selective": True, "selectiveLogic": 3, "order": 50,
            "position": 4, "depth": 2, "disable": False, "excludeRecursion": True, "preventRecursion": True,
            "delayUntilRecursion": 2, "probability": 40,
                    "useProbability": True, "group": "gates",
            "groupOverride": True, "groupWeight": 7, "scanDepth": 5, "caseSensitive": True, "matchWholeWords": False,
            "delay": 3, "ignoreBudget": True, "sticky": 4, "addMemo": True,
        },
        "1": {"uid": 1, "key": ["fog"], "content": "Fog kills.", "disable": True},
        "2": {"uid": 2, "key": ["nothing"], "content": "  "},
        "3": "no entry",
    }
}  # fmt: skip
GATE = LoreEntry(
    "The gate is oak.", ("gate", "/lock s?/i"), ("oak",), "and all", order=50, position="at depth", depth=2,
    scan_depth=5, is_case_sensitive=True, matches_whole_words=False, probability=40.0, excludes_recursion=True,
    prevents_recursion=True, recursion_level=2, delay=3, group="gates", is_group_winner=True, group_weight=7,
    ignores_budget=True, name="The gate", book="verey",
)  # fmt: skip


def written(tmp_path: Path, document: object) -> Path:
    path = tmp_path / "verey.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def test_world_info(tmp_path: Path) -> None:
    gate, fog = read_lore(written(tmp_path, WORLD_INFO))
    assert gate == GATE
    assert fog == LoreEntry("Fog kills.", ("fog",), is_enabled=False, book="verey")


def test_a_book_in_a_card_has_the_rest_in_its_extensions(tmp_path: Path) -> None:
    book = {
        "name": "verey",
        "entries": [
            {
                "keys": ["gate", "/lock s?/i"], "secondary_keys": ["oak"], "selective": True, "comment": "The gate",
                "content": "The gate is oak.", "insertion_order": 50, "position": "after_char", "enabled": True,
                "extensions": {
                    "position": 4, "depth": 2, "selectiveLogic": 3, "exclude_recursion": True,
                    "prevent_recursion": True, "delay_until_recursion": 2, "probability": 40,
                    "useProbability": True, "group": "gates",
                    "group_override": True, "group_weight": 7, "scan_depth": 5, "case_sensitive": True,
                    "match_whole_words": False, "delay": 3, "ignore_budget": True,
                },
            }
        ],
    }  # fmt: skip
    assert book_entries(book) == (GATE,)
    card = {"spec": "chara_card_v2", "spec_version": "2.0", "data": {"name": "Odile", "character_book": book}}
    assert read_lore(written(tmp_path, card)) == (GATE,)
    (tmp_path / "odile.png").write_bytes(png_of(card_of(card)))
    assert read_lore(tmp_path / "odile.png") == (GATE,)
    assert read_lore(written(tmp_path, {"spec": "lorebook_v3", "data": book})) == (GATE,)


def test_what_the_book_says_of_all_its_entries() -> None:
    book = {
        "scan_depth": 7, "token_budget": 99, "recursive_scanning": False,
        "entries": [
            {"keys": ["a"], "content": "A", "position": "after_char", "secondary_keys": ["x"], "selective": False},
            {"keys": ["b"], "content": "B", "case_sensitive": True, "extensions": {"scan_depth": 1}},
        ],
    }  # fmt: skip
    first, second = book_entries(book, "Odile")
    assert (first.scan_depth, second.scan_depth) == (7, 1)
    assert first.position == "after"
    assert first.secondary_keys == ()
    assert second.is_case_sensitive is True
    assert all(entry.book_budget == 99 and entry.book == "Odile" for entry in (first, second))
    assert all(entry.excludes_recursion and entry.prevents_recursion for entry in (first, second))


def test_decorators_of_v3() -> None:
    on, off, other = book_entries(
        {"entries": [{"content": f"@@{name}\nText."} for name in ("activate", "dont_activate", "depth 4")]}
    )
    assert (on.is_constant, on.content) == (True, "Text.")
    assert not off.is_enabled
    assert other == LoreEntry("Text.")


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"{}", b'{"name": "x"}', b'{"spec": "chara_card_v2", "data": {}}']
)
def test_what_is_no_lorebook_is_refused_with_what_to_give(content: bytes) -> None:
    with pytest.raises(InputError, match="lorebook"):
        parse_lore(content)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be opened"):
        read_lore(tmp_path / "none.json")


texts = st.text("abc/", min_size=1, max_size=4)
entries = st.builds(
    LoreEntry, texts, st.lists(texts, max_size=2).map(tuple), st.lists(texts, min_size=1, max_size=2).map(tuple),
    logic=st.sampled_from(["and any", "and all", "not any", "not all"]), is_enabled=st.booleans(),
    is_constant=st.booleans(), order=st.integers(-9, 200), position=st.sampled_from(POSITIONS), depth=st.integers(0, 9),
    scan_depth=st.none() | st.integers(0, 9), is_case_sensitive=st.none() | st.booleans(),
    matches_whole_words=st.none() | st.booleans(), probability=st.integers(0, 100).map(float),
    excludes_recursion=st.booleans(), prevents_recursion=st.booleans(), recursion_level=st.integers(0, 3),
    delay=st.integers(0, 3), group=st.sampled_from(["", "g"]), is_group_winner=st.booleans(),
    group_weight=st.integers(0, 200), ignores_budget=st.booleans(), name=texts, book=st.just("b"),
)  # fmt: skip


@given(st.lists(entries, max_size=3).map(tuple))
def test_a_book_that_is_written_reads_back_the_same(lore: tuple[LoreEntry, ...]) -> None:
    assert book_entries(json.loads(json.dumps(book_document(lore, "b")))) == lore


names = st.sampled_from([*WORLD_INFO["entries"]["0"], "keys", "extensions"])
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=4),
    max_leaves=8,
)


@given(st.dictionaries(names, json_values))
def test_fields_of_any_type_break_nothing(fields: dict[str, Any]) -> None:
    book_entries({"entries": [{**fields, "content": "Text."}]})
    parse_lore(json.dumps({"entries": [{**fields, "content": "Text."}]}).encode())
