from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.errors import InputError
from understudy.sources.jsonstream import json_lines, json_members, json_records, read_records_at
from understudy.sources.source import SourceFile

SMALL_CHUNKS = 7


class InSmallChunks(SourceFile):
    """So that every token is sometimes cut in two."""

    def chunks(self, size: int = SMALL_CHUNKS) -> Any:
        return super().chunks(SMALL_CHUNKS)


def members(path: Path, **options: int) -> list[tuple[str, Any]]:
    return [(location.key, value) for location, value in json_members(InSmallChunks(path), **options)]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(
    content=st.dictionaries(st.text(), VALUES, max_size=5), indent=st.sampled_from([None, 1]), ascii_only=st.booleans()
)
def test_members_are_what_json_would_load(
    tmp_path_factory: pytest.TempPathFactory, content: dict[str, Any], indent: int | None, ascii_only: bool
) -> None:
    path = tmp_path_factory.mktemp("json") / "whole.json"
    path.write_text(json.dumps(content, indent=indent, ensure_ascii=ascii_only), encoding="utf-8")
    assert members(path) == list(content.items())


@given(content=st.dictionaries(st.text(), VALUES, min_size=1, max_size=3), data=st.data())
def test_a_cut_off_object_is_an_error_with_its_line(
    tmp_path_factory: pytest.TempPathFactory, content: dict[str, Any], data: st.DataObject
) -> None:
    whole = json.dumps(content, indent=1).encode()
    path = tmp_path_factory.mktemp("json") / "cut.json"
    path.write_bytes(whole[: data.draw(st.integers(1, len(whole) - 1))])
    with pytest.raises(InputError) as raised:
        members(path)
    assert raised.value.line is not None


def test_a_member_knows_its_line_and_can_be_read_again(tmp_path: Path) -> None:
    path = tmp_path / "three.json"
    path.write_text('\ufeff{\n "a": {"x": "}"},\n "é": [1,\n 2],\n "c": 3\n}\n', encoding="utf-8")
    source = SourceFile(path)
    found = list(json_members(source))
    assert [(location.key, location.line) for location, _ in found] == [("a", 2), ("é", 3), ("c", 5)]
    assert [value for _, value in read_records_at(source, [location for location, _ in reversed(found)])] == [
        3,
        [1, 2],
        {"x": "}"},
    ]


@pytest.mark.parametrize(
    ("text", "line", "word"),
    [
        ("[1]", 1, "begin with '{'"),
        ('{"a": 1} {"b": 2}', 1, "goes on"),
        ('{"a": 1,\n "b" 2}', 2, "colon"),
        ('{"a": "x" "b": 2}', 1, "comma"),
        ("{1: 2}", 1, "name in quotation marks"),
        ('{"a": 1,\n\n "b": [1, oops]}', 3, "not valid JSON"),
        ('{"a": NaN}', 1, "NaN"),
        ('{"a": "\\ud800"}', 1, "half of a character"),
        ('{"a": ' + "9" * 5000 + "}", 1, "not JSON that can be read"),
        ('{"a": ' + "[" * 101 + "]" * 101 + "}", 1, "nested"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path: Path, text: str, line: int, word: str) -> None:
    path = tmp_path / "wrong.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=word) as raised:
        members(path)
    assert raised.value.line == line


def test_a_record_is_bounded(tmp_path: Path) -> None:
    path = tmp_path / "large.json"
    path.write_text('{"a": "' + "x" * 1000 + '"}', encoding="utf-8")
    with pytest.raises(InputError, match="over 500 bytes"):
        members(path, longest=500)
    lines = tmp_path / "large.jsonl"
    lines.write_text('"' + "x" * 1000 + '"\n', encoding="utf-8")
    with pytest.raises(InputError, match="over 500 bytes"):
        list(json_lines(SourceFile(lines), longest=500))


def test_lines_may_be_blank_but_not_broken(tmp_path: Path) -> None:
    path = tmp_path / "some.jsonl"
    path.write_text('{"a": 1}\n\n{"a": 2}\n{"a": \n', encoding="utf-8")
    records = json_lines(SourceFile(path))
    assert [next(records)[1], next(records)[1]] == [{"a": 1}, {"a": 2}]
    with pytest.raises(InputError) as raised:
        next(records)
    assert raised.value.line == 4


@given(
    content=st.lists(
        st.dictionaries(st.text(), VALUES, max_size=3) | st.lists(VALUES, max_size=3), min_size=1, max_size=5
    ),
    indent=st.sampled_from([None, 1]),
    between=st.sampled_from(["", "\n", "\r\n", " \n\n"]),
)
def test_records_are_those_of_a_list_or_of_documents(
    tmp_path_factory: pytest.TempPathFactory, content: list[Any], indent: int | None, between: str
) -> None:
    path = tmp_path_factory.mktemp("json") / "x.json"
    documents = [json.dumps(record, indent=indent) for record in content]
    texts = [json.dumps(content, indent=indent)]
    if isinstance(content[0], dict):  # what begins with a bracket is a list of records
        texts.append(between.join(documents) + between)
    for text in texts:
        path.write_bytes(text.encode())
        found = list(json_records(InSmallChunks(path)))
        assert [record for _, record in found] == content
        again = read_records_at(SourceFile(path), [location for location, _ in found])
        assert [record for _, record in again] == content


@pytest.mark.parametrize(
    "content", ['[{"a": 1}', '[{"a": 1} {"b": 2}]', '[{"a": 1}] x', '{"a": 1} ]', '{"a": 1}, {"b": 2}']
)
def test_records_that_break_off_or_go_on_are_an_error(tmp_path: Path, content: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(content)
    with pytest.raises(InputError, match=r"x\.json:1"):
        list(json_records(SourceFile(path)))


def test_many_small_records_are_read_without_a_copy_of_the_rest_for_each(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps([{"number": number, "text": "word " * 20} for number in range(20_000)]))
    found = list(json_records(SourceFile(path)))
    assert [record["number"] for _, record in found] == list(range(20_000))
    last = found[-1][0]
    assert next(iter(read_records_at(SourceFile(path), [last])))[1]["number"] == 19_999
