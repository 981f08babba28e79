"""Names of files: whatever is sent, what is kept is harmless."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.server.uploads.limits import MAX_BYTES, distinct, safe_name, slug


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("S01E02 The Quarrel.html", "S01E02 The Quarrel.html"),
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\me\\act-1.txt", "act-1.txt"),
        ("/absolute/act.txt", "act.txt"),
        (".cast.toml", "cast.toml"),
        ("con.txt", "_con.txt"),
        ("LPT1", "_LPT1"),
        ("com¹.txt", "_com1.txt"),
        ("a\x00b\x1b[31m.txt", "ab[31m.txt"),
        ("invoice\u202etxt.exe", "invoicetxt.exe"),
        ("．．／．．／act.txt", "act.txt"),
        ('a<b>:"|?*.txt', "a-b------.txt"),
        ("trailing. . .", "trailing"),
        ("幕間.txt", "幕間.txt"),
        ("...", "unnamed"),
        ("", "unnamed"),
        ("a/", "unnamed"),
    ],
)
def test_a_name_keeps_its_meaning_and_loses_the_rest(path: str, name: str) -> None:
    assert safe_name(path) == name


@given(st.text(max_size=400))
def test_whatever_is_sent_is_harmless(path: str) -> None:
    name = safe_name(path)
    assert name
    assert len(name.encode()) <= MAX_BYTES + 1
    assert not set(name) & set('/\\<>:"|?*\0')
    assert not name.startswith((".", "~", "-", " "))
    assert not name.endswith((".", " "))
    assert not any(unicodedata.category(mark) in ("Cc", "Cf", "Cs", "Zl", "Zp") for mark in name)
    assert name.partition(".")[0].lower() not in ("con", "nul", "aux", "prn", "com1", "lpt9")
    assert safe_name(name) == name


@given(st.text("é漢a.", min_size=100, max_size=300))
def test_a_long_name_keeps_its_ending(stem: str) -> None:
    assert safe_name(f"x{stem}y.html").endswith(".html")


@given(st.lists(st.sampled_from(["a.txt", "A.txt", "a (2).txt", "b", "B"]), max_size=8))
def test_names_of_one_upload_differ_whatever_their_case(names: list[str]) -> None:
    result = distinct(names)
    assert len({name.casefold() for name in result}) == len(names)
    assert all(new.casefold().startswith(name[0].casefold()) for name, new in zip(names, result))


@given(st.text(max_size=200))
def test_an_address_holds_letters_digits_and_hyphens(title: str) -> None:
    name = slug(title)
    assert name
    assert all(mark == "-" or mark.isalnum() or unicodedata.category(mark).startswith("M") for mark in name)


def test_addresses_are_in_the_titles_own_script() -> None:
    assert slug("The Brass Key!") == "the-brass-key"
    assert slug("真鍮の鍵") == "真鍮の鍵"
    assert slug("?!") == "story"
