from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.cards.regex import MatchBudget, Unsupported, compile_regex

STEPS = 1_000_000


def matches(pattern: str, text: str, flags: str = "") -> bool:
    return compile_regex(pattern, flags).search(text, MatchBudget(STEPS))


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
        (r"cat(?!ch)", "", "catch", False),
        (r"cat(?!ch)", "", "cats", True),
        (r"cat(?=s)", "", "cats", True),
        (r"(?<!tom)cat", "", "tomcat", False),
        (r"(?<=tom)cat", "", "tomcat", True),
        (r"(?<![a-z])cat(?![a-z])", "i", "a Cat!", True),
        ("\x01Tom:[^\x01]*?hello", "i", "\x01Ines: hello\n\x01Tom: oh, Hello", True),
        ("鍵", "", "鍵はどこ", True),
        ("", "", "", True),
        ("(|a)*b", "", "aab", True),
        ("(){100}x", "", "x", True),
    ],
)
def test_patterns_as_lorebooks_write_them(pattern: str, flags: str, text: str, expected: bool) -> None:
    assert matches(pattern, text, flags) is expected


@pytest.mark.parametrize(
    "pattern",
    [
        "(a", "a)", "[a", "a**", "*a", r"(a)\1", r"\k<n>", r"\p{L}", "a{3,2}", "x" * 501, "(a{200}){200}", r"a\\"[:2],
        "(?=a*)b", "(?>a)", "(" * 30 + "a" + ")" * 30, "[z-a]", r"\u{zz}", "a{999}",
    ],
)  # fmt: skip
def test_what_cannot_be_bounded_or_is_no_pattern_is_refused(pattern: str) -> None:
    with pytest.raises(Unsupported):
        compile_regex(pattern)


def test_flags_that_are_none_are_refused() -> None:
    for flags in ("x", "ii", "I"):
        with pytest.raises(Unsupported):
            compile_regex("a", flags)


@pytest.mark.parametrize(
    "pattern", ["(a+)+b", "(a|a)*b", "(a*)*(a*)*(a*)*b", "(a|aa)+$", "(.*)(.*)(.*)(.*)(.*)b", "(a?){100}a{100}b"]
)
def test_a_hostile_pattern_costs_no_more_than_its_budget(pattern: str) -> None:
    budget = MatchBudget(STEPS)
    assert not compile_regex(pattern).search("a" * 3_000 + "c", budget)
    assert budget.left > -2_000


def test_with_its_budget_spent_nothing_is_found() -> None:
    assert not compile_regex("(?!b)a").search("a" * 100 + "b", MatchBudget(0))


PIECES = r"a b ab . [ab] [^a] \w \b a? b* a+ (a|b) (ab|a) (?:b|) a{1,2} ^ $ (?=a) (?!b) (?<=a) (?<!b) |".split()
pieces = st.sampled_from(PIECES)


@given(st.lists(pieces, max_size=6).map("".join), st.text("ab c", max_size=8), st.sampled_from(["", "i", "m", "s"]))
def test_it_finds_what_the_engine_that_backtracks_finds(pattern: str, text: str, flags: str) -> None:
    expected = re.compile(pattern, sum((re.RegexFlag[flag.upper()] for flag in flags), re.RegexFlag.ASCII))
    assert matches(pattern, text, flags) == (expected.search(text) is not None)


@given(st.text("ab()[]{}|*+?\\^$.-,1<>=!:", max_size=30))
def test_no_pattern_breaks_it(pattern: str) -> None:
    try:
        regex = compile_regex(pattern)
    except Unsupported:
        return
    regex.search("ab" * 50, MatchBudget(10_000))
