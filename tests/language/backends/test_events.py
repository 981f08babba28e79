"""However a stream is cut and written, its documents are the same."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.language.backends.chat_endpoint import DONE, NotEvents, event_documents, looks_like_events

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
documents = st.lists(st.dictionaries(texts, texts | st.integers() | st.booleans(), max_size=3), max_size=5)


@given(
    documents,
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["data:", "data: "]),
    st.sampled_from([": ping", "event: x", "id: 1", ""]),
    st.integers(1, 9),
    st.booleans(),
)
def test_documents_come_out_as_they_went_in(
    expected: list[object], line_end: str, data: str, between: str, size: int, has_end: bool
) -> None:
    lines = list[str]()
    for document in expected:
        lines += [data + json.dumps(document, ensure_ascii=False), *([] if not between else ["", between]), ""]
    sent = line_end.join([*lines, f"{data}[DONE]", *(["", ""] if has_end else [])]).encode()
    pieces = [sent[start : start + size] for start in range(0, len(sent), size)]
    assert list(event_documents(pieces)) == [*expected, DONE]
    assert looks_like_events(sent)


def test_a_document_does_not_wait_for_what_follows() -> None:
    def pieces() -> object:
        yield b'data: {"a": 1}\n'
        pytest.fail("it was whole")

    assert next(iter(event_documents(pieces()))) == {"a": 1}  # type: ignore[arg-type]


def test_a_document_may_have_several_lines() -> None:
    assert list(event_documents([b'data: {"a":\ndata: 1}\n\n'])) == [{"a": 1}]


def test_what_is_cut_off_is_left_out() -> None:
    assert list(event_documents([b'data: {"a": 1}\n\ndata: {"b'])) == [{"a": 1}]


@pytest.mark.parametrize("sent", [b"data: oops\n\n", b"<html>\n", b"oops: 1\n", b"data: " + b"[" * 100_000 + b"\n\n"])
def test_what_is_no_event_is_told(sent: bytes) -> None:
    with pytest.raises(NotEvents):
        list(event_documents([sent]))


def test_a_line_without_end_is_not_kept_for_ever() -> None:
    with pytest.raises(NotEvents):
        list(event_documents(b"data: " + b"x" * 1_000_000 for _ in range(10)))


@pytest.mark.parametrize("sent", [b'{"a": 1}', b"<html>", b"", b"database: 1"])
def test_other_bodies_are_no_events(sent: bytes) -> None:
    assert not looks_like_events(sent)
