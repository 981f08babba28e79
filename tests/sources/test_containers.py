from __future__ import annotations

from pathlib import Path

import pytest

from understudy.errors import InputError
from understudy.sources.containers import End, Start, Text, Token, xml_tokens
from understudy.sources.source import SourceFile


def tokens(folder: Path, content: str | bytes) -> list[Token]:
    path = folder / "file.xml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return list(xml_tokens(SourceFile(path)))


def test_tags_and_text_come_in_order_with_their_lines(tmp_path: Path) -> None:
    found = tokens(tmp_path, '<t:a xmlns:t="x">\n <b n="1">one &amp; two</b>\n</t:a>')
    assert [token for token in found if not isinstance(token, Text) or token.text.strip()] == [
        Start(1, "a", {"xmlns:t": "x"}),
        Start(2, "b", {"n": "1"}),
        Text(2, "one & two"),
        End(2, "b"),
        End(3, "a"),
    ]


def test_encodings_that_are_declared_or_marked_are_read(tmp_path: Path) -> None:
    for encoding in ("utf-16", "latin-1", "windows-1252"):
        content = f'<?xml version="1.0" encoding="{encoding}"?><a>é</a>'.encode(encoding)
        assert Text(1, "é") in tokens(tmp_path, content)


BOMB = '<!DOCTYPE a [<!ENTITY x "ha"><!ENTITY y "&x;&x;&x;&x;">]>\n<a>&y;</a>'


@pytest.mark.parametrize(
    ("content", "line", "word"),
    [
        (BOMB, 1, "declares the entity"),
        ('<!DOCTYPE a [\n<!ENTITY x SYSTEM "/etc/passwd">]>\n<a>&x;</a>', 2, "declares the entity"),
        ('<!DOCTYPE a SYSTEM "other.dtd">\n<a>&nbsp;</a>', 2, "nothing explains"),
        ("<a>\n<b>\n</a>", 3, "not well-formed"),
        ("<a>\n<b>text", 2, "breaks off"),
        ("<a>\n<b te", 2, "breaks off"),
        ("<a>" * 201, 1, "nested"),
        ('<?xml version="1.0" encoding="klingon"?><a/>', 1, "encoding"),
    ],
)
def test_what_is_wrong_or_harmful_is_an_error_with_its_line(tmp_path: Path, content: str, line: int, word: str) -> None:
    with pytest.raises(InputError, match=word) as raised:
        tokens(tmp_path, content)
    assert raised.value.line == line


def test_a_tag_without_end_is_refused_before_it_is_all_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a tag or comment of over"):
        tokens(tmp_path, "<a>\n<!-- " + "x" * (5 * 1024 * 1024))
