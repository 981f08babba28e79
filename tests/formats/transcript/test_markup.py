from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.formats.evidence import measure
from understudy.formats.transcript.line_parser import BBCODE
from understudy.formats.transcript.reading import page_lines


def lines_of(page: str) -> list[tuple[int, str]]:
    return [(line.number, line.text) for line in page_lines(enumerate(page.split("\n"), 1))]


def test_blocks_break_lines_and_line_ends_do_not() -> None:
    assert lines_of("<p>one\ntwo<br>three</p><div>four</div>\n<b>fi</b>ve") == [
        (1, "one two"),
        (2, "three"),
        (2, "four"),
        (3, "five"),
    ]


def test_a_tag_may_go_on_in_the_next_line() -> None:
    assert lines_of('<font\ncolor="red">one</font\n> two') == [(2, "one two")]


def test_preformatted_text_keeps_its_lines() -> None:
    assert lines_of("<pre>one\ntwo\n</pre>three\nfour") == [(1, "one"), (2, "two"), (3, "three four")]


def test_scripts_styles_and_comments_are_no_text() -> None:
    assert lines_of("<style>\np {}\n</style>a<script>x < y</script><!-- b\n <p>c --> d") == [(3, "a"), (4, "d")] or (
        lines_of("<style>\np {}\n</style>a<script>x < y</script><!-- b\n <p>c --> d") == [(3, "a d")]
    )


@pytest.mark.parametrize("text", ["<Ann looks up>", "3 < 4 and 5 > 4", "<a man enters>", "a <b"])
def test_what_only_looks_like_a_tag_is_text(text: str) -> None:
    assert lines_of(f"<p>{text}</p>") == [(1, text)]


def test_what_never_ends_is_an_error_with_its_line() -> None:
    with pytest.raises(ValueError, match="never ends") as caught:
        lines_of("one\n<!-- two")
    assert caught.value.args[1] == 2


def test_only_formatting_bbcode_goes() -> None:
    assert BBCODE.sub("", "[b]Ann[/b]: [i]Oh[/i] [sighs] [url=x]here[/url] [B]!") == "Ann: Oh [sighs] here !"


def test_html_is_told_by_its_tags() -> None:
    def is_html(text: str) -> bool:
        return measure(text.encode(), Path("page.txt")).is_html

    assert is_html("  <!DOCTYPE html>\n<p>")
    assert is_html("Ann: one<br>Bob: two<br>Ann: three<br>")
    assert not is_html("Ann: <sighs> one <p> two")


@given(st.text(alphabet="ab <>/!-p\n&;", max_size=80))
def test_any_text_is_lines_or_an_error(page: str) -> None:
    try:
        found = lines_of(page)
    except ValueError:
        return
    assert all(text.strip() for _, text in found)
    assert [number for number, _ in found] == sorted(number for number, _ in found)
