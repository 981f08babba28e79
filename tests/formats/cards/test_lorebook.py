from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.formats.cards.lorebook import (
    POSITIONS,
    Unsupported,
    active_entries,
    compile_regex,
    lore_for,
    pattern_of,
    unsupported_patterns,
)
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


def test_what_is_found_brings_up_more_unless_it_may_not() -> None:
    cow, dog = entry("cow", "Bessie", content="Bessie is Rufus's friend."), entry("dog", "Rufus")
    assert names([cow, dog], "Bessie?") == ["cow", "dog"]
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


def matches(pattern: str, text: str, flags: str = "") -> bool:
    return compile_regex(pattern, flags).is_in(text.encode())


@pytest.mark.parametrize(
    ("pattern", "flags", "text", "expected"),
    [
        ("key", "", "the brass key", True),
        ("KEY", "", "the brass key", False),
        ("KEY", "i", "the brass key", True),
        (r"\bking\b", "", "long live the king", True),
        (r"\bking\b", "", "not to my liking", False),
        (r"\Bing\b", "", "liking", True),
        ("colou?r", "", "color", True),
        ("(?:rainy|heavy) (?:wind|weather)", "i", "Heavy weather today", True),
        ("^Ines:", "", "Ruy: hi\nInes: hello", False),
        ("^Ines:", "m", "Ruy: hi\nInes: hello", True),
        ("end$", "", "the end", True),
        ("a.b", "", "a\nb", False),
        ("a.b", "s", "a\nb", True),
        ("a[^]b", "", "a\nb", True),
        ("[a-cx]+z", "", "--bcaxz", True),
        ("[^a]", "i", "AaA", False),
        ("x{2,3}y", "", "xy", False),
        ("x{2,3}y", "", "xxxxy", True),
        ("x{2}$", "", "ax", False),
        ("{x}", "", "a {x} b", True),
        (r"\d{4}", "", "in 1912", True),
        (r"\u0041\x42", "", "AB", True),
        (r"\u{1F511}", "u", "a 🔑", True),
        (r"(?<year>\d+)", "", "1912", True),
        (r"\p{L}+ \d", "u", "Ñandú 7", True),
        ("\x01Tom:[^\x01]*?hello", "i", "\x01Ines: hello\n\x01Tom: oh, Hello", True),
        ("鍵", "", "鍵はどこ", True),
        ("", "", "", True),
        ("(|a)*b", "", "aab", True),
        ("(){100}x", "", "x", True),
    ],
)
def test_patterns_as_lorebooks_write_them(pattern: str, flags: str, text: str, expected: bool) -> None:
    assert matches(pattern, text, flags) is expected


def nested(depth: int) -> str:
    return "a" if depth == 0 else f"(?:(?={nested(depth - 1)})b){{60}}"


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("(a", "missing"), ("a)", "unexpected"), ("[a", "missing"), ("*a", "no argument"), ("a{3,2}", "repetition"),
        ("x" * 501, "500 characters"), ("(a{200}){200}", "repetition"), ("(?:.{0,30}){0,30}a", "too large"),
        (r"a\\"[:2], "trailing"), ("[z-a]", "range"), (r"\u{zz}", "escape"), ("(?>a)", ""), ("\ud800", "surrogates"),
        (r"(a)\1", "references"), (r"\k<n>", "references"), (r"\p{Whatever}", "range"),
        ("(?=a*)b", "looking ahead or behind"), ("(?<!tom)cat", "looking ahead or behind"),
        (nested(4), "looking ahead or behind"),
    ],
)  # fmt: skip
def test_what_is_no_pattern_or_needs_backtracking_is_refused_with_the_reason(pattern: str, reason: str) -> None:
    with pytest.raises(Unsupported, match=f"(?s).*{reason}"):
        compile_regex(pattern)


def test_flags_that_are_none_are_refused() -> None:
    for flags in ("x", "ii", "I"):
        with pytest.raises(Unsupported):
            compile_regex("a", flags)


def test_a_key_between_slashes_is_a_pattern() -> None:
    assert pattern_of(r" /a\/b|c/im ") == ("a/b|c", "im")
    assert pattern_of("a/b") is pattern_of("/a") is pattern_of("//") is None


@pytest.mark.parametrize(
    "pattern", ["(a+)+b", "(a|a)*b", "(a*)*(a*)*(a*)*b", "(a|aa)+$", "(.*)(.*)(.*)(.*)(.*)b", "(a?){100}a{100}b"]
)
def test_a_pattern_that_would_backtrack_for_years_is_matched(pattern: str) -> None:
    assert not matches(pattern, "a" * 8_000 + "c")


def test_no_pattern_is_larger_than_its_memory() -> None:
    sizes = [compile_regex(pattern).size for pattern in ("(((a?){9}){9}){9}", r"\p{L}\p{L}", "(a{0,30}){0,30}b")]
    assert max(sizes) < 3_000


PIECES = r"a b ab . [ab] [^a] \w \b a? b* a+ (a|b) (ab|a) (?:b|) a{1,2} ^ |".split()
pieces = st.sampled_from(PIECES)


@given(st.lists(pieces, max_size=6).map("".join), st.text("ab c", max_size=8), st.sampled_from(["", "i", "m", "s"]))
def test_it_finds_what_the_engine_that_backtracks_finds(pattern: str, text: str, flags: str) -> None:
    expected = re.compile(pattern, sum((re.RegexFlag[flag.upper()] for flag in flags), re.RegexFlag.ASCII))
    assert matches(pattern, text, flags) == (expected.search(text) is not None)


@given(st.text("ab()[]{}|*+?\\^$.-,1<>=!:uPQE\ud800", max_size=30))
def test_no_pattern_breaks_it(pattern: str) -> None:
    try:
        regex = compile_regex(pattern)
    except Unsupported:
        return
    regex.is_in(b"ab" * 50)
