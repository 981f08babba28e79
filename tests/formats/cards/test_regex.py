"""Patterns as lorebooks write them: what is matched, what is refused and why, and what no pattern can cost."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.formats.cards.regex import Unsupported, compile_regex, pattern_of


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
