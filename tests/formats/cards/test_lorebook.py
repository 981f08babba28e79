"""Which entries a chat brings up: a table of SillyTavern's rules, and what holds for any lorebook."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.formats.cards.lorebook import POSITIONS, active_entries, lore_for, unsupported_patterns
from understudy.story.dialogue import Turn
from understudy.story.types import LoreEntry


def words(text: str) -> int:
    return len(text.split())


def entry(name: str, *keys: str, **fields: Any) -> LoreEntry:
    return LoreEntry(fields.pop("content", "Much known."), keys, name=name, **fields)


def chat(*texts: str) -> list[Turn]:
    return [Turn("Tom" if number % 2 == 0 else "Mira", text) for number, text in enumerate(texts)]


def names(entries: list[LoreEntry], *texts: str, **settings: Any) -> list[str]:
    return [active.name for active in active_entries(entries, chat(*texts), words, **settings)]


@pytest.mark.parametrize(
    ("fields", "text", "expected"),
    [
        ({"keys": ("key",)}, "Where is the KEY?", True),
        ({"keys": ("king",)}, "Not to my liking.", False),
        ({"keys": ("king",), "matches_whole_words": False}, "Not to my liking.", True),
        ({"keys": ("brass key",)}, "a brass keyhole", True),  # only single words must be whole
        ({"keys": ("Rose",), "is_case_sensitive": True}, "a rose", False),
        ({"keys": ("Rose",), "is_case_sensitive": True}, "dear Rose", True),
        ({"keys": ("鍵",)}, "その鍵はどこ", True),
        ({"keys": ("/k[ae]y+/i",)}, "the KAYYY", True),
        ({"keys": (r"/a\/b/",)}, "a/b", True),
        ({"keys": ("/(a/",)}, "see /(a/ there", True),  # no pattern: a text
        ({"keys": ("/{{user}}: [^\x01]*key/",)}, "the key", True),
        ({"keys": ("{{user}}",)}, "hello", True),  # names stand before what they say
        ({"keys": ("", "  ")}, "anything", False),
        ({"keys": ()}, "anything", False),
        ({"keys": ("key",), "is_enabled": False}, "key", False),
        ({"is_constant": True}, "anything", True),
        ({"is_constant": True, "is_enabled": False}, "anything", False),
        ({"keys": ("key",), "secondary_keys": ("brass", "iron"), "logic": "and any"}, "a key of iron", True),
        ({"keys": ("key",), "secondary_keys": ("brass", "iron"), "logic": "and any"}, "a key", False),
        ({"keys": ("key",), "secondary_keys": ("brass", "iron"), "logic": "and all"}, "a key of iron", False),
        ({"keys": ("key",), "secondary_keys": ("brass", "iron"), "logic": "and all"}, "iron, brass, key", True),
        ({"keys": ("key",), "secondary_keys": ("brass", "iron"), "logic": "not any"}, "a key of iron", False),
        ({"keys": ("key",), "secondary_keys": ("brass", "iron"), "logic": "not any"}, "a key", True),
        ({"keys": ("key",), "secondary_keys": ("brass", "iron"), "logic": "not all"}, "a key of iron", True),
        ({"keys": ("key",), "secondary_keys": ("brass", "iron"), "logic": "not all"}, "iron brass key", False),
        ({"keys": ("door",), "secondary_keys": ("key",)}, "a key", False),
        ({"keys": ("key",), "probability": 0.0}, "key", False),
        ({"keys": ("key",), "delay": 2}, "key", False),
        ({"keys": ("key",), "delay": 1}, "key", True),
        ({"keys": ("key",), "scan_depth": 0}, "key", False),
        ({"keys": ("key",), "recursion_level": 1}, "key", False),
    ],
)  # fmt: skip
def test_what_brings_an_entry_up(fields: dict[str, Any], text: str, expected: bool) -> None:
    assert bool(lore_for([LoreEntry("It is brass.", **fields)], [Turn("Tom", text)], words, user="Tom")) is expected


def test_only_the_last_turns_are_scanned() -> None:
    lore = [entry("key", "key"), entry("far", "key", scan_depth=9), entry("near", "key", scan_depth=1)]
    assert names(lore, "the key", "hm") == ["key", "far"]
    assert names(lore, "the key", "hm", "well") == ["far"]
    assert names(lore, "the key", "hm", "well", scan_depth=3) == ["key", "far"]


def test_what_is_found_brings_up_more_unless_it_may_not() -> None:
    cow, dog = entry("cow", "Bessie", content="Bessie is Rufus's friend."), entry("dog", "Rufus")
    assert names([cow, dog], "Bessie?") == ["cow", "dog"]
    assert names([cow, dog], "Bessie?", is_recursive=False) == ["cow"]
    assert names([cow, replace(dog, excludes_recursion=True)], "Bessie?") == ["cow"]
    assert names([replace(cow, prevents_recursion=True), dog], "Bessie?") == ["cow"]
    assert names([cow, replace(dog, recursion_level=1)], "Bessie?") == ["cow", "dog"]
    assert names([cow, replace(dog, recursion_level=1)], "Rufus?") == []
    assert names([cow, replace(dog, recursion_level=1, keys=("Tom",)), entry("late", "Rufus", recursion_level=2)],
                 "Bessie?") == ["cow", "dog", "late"]  # fmt: skip


def test_entries_that_bring_each_other_up_come_to_an_end() -> None:
    assert names([entry("a", "a", content="b"), entry("b", "b", content="a")], "a") == ["a", "b"]


def test_position_then_order_is_the_order_of_the_prompt() -> None:
    lore = [
        entry("after", "x", position="after", order=1), entry("late", "x", order=200), entry("early", "x", order=5)
    ]  # fmt: skip
    assert names(lore, "x") == ["early", "late", "after"]


def test_the_budget_goes_to_constant_ones_and_then_to_the_highest_order() -> None:
    lore = [entry("low", "x", order=1), entry("high", "x", order=9), entry("always", is_constant=True, order=0)]
    assert names(lore, "x", budget=6) == ["always", "low", "high"]
    assert names(lore, "x", budget=5) == ["always", "high"]
    assert names(lore, "x", budget=2) == ["always"]
    assert names(lore, "x", budget=0) == []
    assert names([*lore, entry("free", "x", ignores_budget=True)], "x", budget=2) == ["always", "free"]
    small = [entry("one", "x", book="b", book_budget=2), entry("two", "x", book="b", book_budget=2)]
    assert names([*small, entry("other", "x")], "x") == ["one", "other"]


def test_of_a_group_one_remains() -> None:
    lore = [entry(name, "x", group="weather") for name in ("rain", "sun", "snow")]
    drawn = {tuple(names(lore, "x", seed=seed)) for seed in range(50)}
    assert drawn == {("rain",), ("sun",), ("snow",)}
    assert names([*lore[:2], replace(lore[2], is_group_winner=True)], "x") == ["snow"]
    assert {tuple(names([lore[0], replace(lore[1], group_weight=0)], "x", seed=seed)) for seed in range(20)} == {
        ("rain",)
    }


def test_chance_is_drawn_from_the_seed() -> None:
    lore = [entry("god", "x", probability=50.0)]
    drawn = [names(lore, "x", seed=seed) for seed in range(200)]
    assert drawn == [names(lore, "x", seed=seed) for seed in range(200)]
    assert 60 < sum(map(bool, drawn)) < 140


def test_macros_are_filled_in_when_it_is_said() -> None:
    lore = [LoreEntry("<USER> owes {{Char}} {{random::a crown, a ring}}.{{// not yet}}", ("{{char}}",))]
    assert lore_for(lore, chat("Mira?"), words, char="Mira", user="Tom") == ("Tom owes Mira a crown.",)


def test_hostile_patterns_cost_little_together() -> None:
    lore = [entry(str(number), "/(a|a)*(a|aa)*(.*)(.*)(.*)b$/") for number in range(200)]
    assert names([entry("plain", "a"), *lore], "a" * 50_000 + " a") == ["plain"]


def test_lookarounds_nested_in_repetitions_cost_nothing() -> None:
    pattern = "a"
    for _ in range(4):
        pattern = f"(?:(?={pattern})b){{60}}"
    assert names([entry("hostile", f"/{pattern}/"), entry("plain", "b")], "b") == ["plain"]


# Each of these would take hours if entries, keys and texts were not counted: they need only come to an end.


def test_a_chain_of_long_entries_comes_to_an_end() -> None:
    lore = [entry(str(number), f"k{number}", content=f"k{number + 1} " + "b" * 20_000) for number in range(3_000)]
    found = names(lore, "k0")
    assert found[:3] == ["0", "1", "2"] and len(found) < 1_000


def test_a_key_that_is_everywhere_in_a_long_text_comes_to_an_end() -> None:
    names([entry(str(number), "a") for number in range(3_000)], "a" * 1_000_000)


def test_many_levels_groups_and_constant_entries_come_to_an_end() -> None:
    levels = [entry(str(number), "x", recursion_level=number) for number in range(60_000)]
    assert len(names(levels, "a")) == 0
    groups = [entry(str(number), "a", group=f"{number},all") for number in range(60_000)]
    assert len(names(groups, "a")) == 1
    assert len(names([entry(str(number), is_constant=True) for number in range(60_000)], "a")) == 1_000


def test_a_scan_that_has_taken_its_steps_finds_no_more_by_what_is_missing() -> None:
    hungry = [entry(str(number), "a", "b") for number in range(3_000)]
    late = entry("late", "a", secondary_keys=("nowhere",), logic="not any")
    assert "late" not in names([*hungry, late], "a" * 1_000_000)


def test_patterns_that_are_taken_as_texts_are_told_with_the_reason() -> None:
    behind = entry("cats", "/(?<!tom)cat/", "cat", "/c[ae]t/i")
    again = entry("again", "mouse", secondary_keys=(r"/(a)\1/",))
    assert [(item.name, key, reason) for item, key, reason in unsupported_patterns([behind, again])] == [
        ("cats", "/(?<!tom)cat/", "looking ahead or behind is not supported"),
        ("again", r"/(a)\1/", "references to groups are not supported"),
    ]


keys = st.lists(st.sampled_from(["a", "b", "/a|c/i", "c d", "{{user}}", "ß", "/(/", ""]), max_size=3).map(tuple)
entries = st.builds(
    LoreEntry,
    st.sampled_from(["a", "b c d", "{{char}}", " "]),
    keys,
    keys,
    logic=st.sampled_from(["and any", "and all", "not any", "not all"]),
    is_enabled=st.booleans(),
    is_constant=st.booleans(),
    order=st.integers(-5, 5),
    position=st.sampled_from(POSITIONS),
    scan_depth=st.none() | st.integers(-1, 4),
    probability=st.floats(0, 100),
    excludes_recursion=st.booleans(),
    prevents_recursion=st.booleans(),
    recursion_level=st.integers(0, 3),
    group=st.sampled_from(["", "g", "g, h"]),
    ignores_budget=st.booleans(),
)


@given(st.lists(entries, max_size=8), st.lists(st.text("abcd ", max_size=6), max_size=4), st.integers(0, 20))
def test_whatever_the_book_the_rules_hold(lore: list[LoreEntry], texts: list[str], budget: int) -> None:
    active = active_entries(lore, chat(*texts), words, user="Tom", char="Mira", budget=budget)
    assert active == active_entries(lore, chat(*texts), words, user="Tom", char="Mira", budget=budget)
    assert len({id(item) for item in active}) == len(active)
    assert all(item.is_enabled for item in active)
    assert sum(words(item.content) for item in active if not item.ignores_budget) <= budget
    ranks = [(POSITIONS.index(item.position), item.order) for item in active]
    assert ranks == sorted(ranks)
    for group in ("g", "h"):
        assert sum(group in item.group.replace(",", " ").split() for item in active) <= 1
