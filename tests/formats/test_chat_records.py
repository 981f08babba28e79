from __future__ import annotations

import json
from pathlib import Path

import pytest

from understudy.errors import InputError
from understudy.formats.chat_records import ChatLine, ChatRecord, read_chats

CHAT = ChatRecord(
    "7",
    ("kv", "human"),
    (("i sail.",), ("i knit.", "i sing.")),
    (ChatLine(0, "hello"), ChatLine(1, " "), ChatLine(1, "hi")),
)


def test_a_chat_comes_back_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "chats.jsonl"
    in_a_story = ChatRecord("8", ("a", "a"), ((), ()), (), "none", True, ("Ines", "Tobias"), "2.3")
    lines = [json.dumps(record.document()) for record in (CHAT, in_a_story)]
    path.write_text("\n\n".join(lines) + "\n", encoding="utf-8")
    assert list(read_chats(path)) == [CHAT, in_a_story]
    assert CHAT.said(1) == ("hi",), "a turn without words is none"


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"speakers": ["kv"]}, "two names"),
        ({"profiles": [["i sail."]]}, "two lists"),
        ({"profiles": [["i sail."], "i knit."]}, "two lists"),
        ({"turns": [{"speaker": 2, "text": "hello"}]}, "0 or 1"),
        ({"turns": [{"speaker": True, "text": "hello"}]}, "0 or 1"),
        ({"turns": [{"speaker": 0}]}, "0 or 1"),
        ({"turns": "hello"}, "0 or 1"),
        ({"given": "theirs"}, "self, both, none"),
        ({"names": ["Ines"]}, "'names'"),
    ],
)
def test_a_damaged_chat_says_where_and_why(tmp_path: Path, changed: dict[str, object], said: str) -> None:
    path = tmp_path / "chats.jsonl"
    path.write_text(json.dumps(CHAT.document()) + "\n" + json.dumps(CHAT.document() | {"id": "8"} | changed) + "\n")
    with pytest.raises(InputError, match=rf"chats.jsonl:2: .*{said}"):
        list(read_chats(path))


@pytest.mark.parametrize(("line", "said"), [("{", "is not JSON"), ("[]", "no object"), ("\xff", "is not")])
def test_what_is_no_chat_is_refused(tmp_path: Path, line: str, said: str) -> None:
    path = tmp_path / "chats.jsonl"
    path.write_text(line, encoding="latin-1")
    with pytest.raises(InputError, match=said):
        list(read_chats(path))


def test_a_chat_stands_in_a_file_once(tmp_path: Path) -> None:
    path = tmp_path / "chats.jsonl"
    path.write_text((json.dumps(CHAT.document()) + "\n") * 2)
    with pytest.raises(InputError, match="chats.jsonl:2: has the chat '7' a second time"):
        list(read_chats(path))
