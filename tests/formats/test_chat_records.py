"""Personas in a file: what is written is read, and what is wrong is named with its line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measured import chat, volunteers
from realdata import folder
from understudy.errors import InputError
from understudy.formats.chat_records import (
    BOT_SIDE,
    HUMAN_SIDE,
    ChatLine,
    ChatRecord,
    PersonaRecord,
    read_chats,
    read_judged_chats,
    read_persona_records,
    volunteers_file,
)

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


@pytest.mark.parametrize(("line", "said"), [("{", "is not valid JSON"), ("[]", "no object"), ("\xff", "is not")])
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


def test_a_person_and_a_bot(tmp_path: Path) -> None:
    path = volunteers(tmp_path, [chat(0, score=5, match=1, turns=2), chat(1, score=None, match="")])
    first, second = read_judged_chats(volunteers_file(tmp_path))
    assert volunteers_file(path) == path
    assert (first.score, first.matched, first.person, first.name) == (5, True, "User 00000", "User 00000.1")
    assert (second.score, second.matched) == (None, None)
    assert first.record.said(HUMAN_SIDE)[0] == "hello there"
    assert first.record.said(BOT_SIDE) == ("i like to make clocks number 0", "i like to make clocks number 1")
    assert first.record.profiles[BOT_SIDE][0] == "i make clocks."
    assert first.record.speakers == ("human", "Bot 1")


def test_without_participants_every_chat_is_a_person(tmp_path: Path) -> None:
    anonymous = [{key: value for key, value in chat(n).items() if "participant" not in key} for n in range(2)]
    people = [judged.person for judged in read_judged_chats(volunteers(tmp_path, anonymous))]
    assert len(set(people)) == 2


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"eval_score": 6}, "'eval_score' is 6, and must be 1 to 5"),
        ({"eval_score": "5"}, "'eval_score' is '5'"),
        ({"profile_match": 2}, "'profile_match' is 2"),
        ({"profile_match": "yes"}, "'profile_match'"),
        ({"dialog": {}}, "'dialog' is no list"),
        ({"dialog": [{"sender_class": "Human", "text": "hi"}, {"sender_class": "Dog", "text": "woof"}]}, "message 2"),
        ({"dialog": [{"sender_class": "Human", "text": None}]}, "message 1"),
        (
            {"dialog": [{"sender_class": "Bot", "text": "hi", "evaluation_score": 3}]},
            "message 1 has the evaluation_score 3",
        ),
        ({"bot_profile": []}, "'bot_profile'"),
        ({"user_profile": "i sail."}, "'user_profile'"),
        ({"participant1_id": {"class": "User"}}, "'participant1_id'"),
    ],
)
def test_problems_name_the_file_and_the_record(tmp_path: Path, changed: dict[str, Any], said: str) -> None:
    path = volunteers(tmp_path, [chat(0), chat(1) | changed])
    with pytest.raises(InputError, match=f"convai2_volunteers.json: record 2: .*{said}"):
        read_judged_chats(path)


def test_other_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="volunteers"):
        volunteers_file(tmp_path)
    path = volunteers(tmp_path, [])
    with pytest.raises(InputError, match="not a list of chats"):
        read_judged_chats(path)
    path.write_text("{]")
    with pytest.raises(InputError, match="not JSON"):
        read_judged_chats(path)
    path.write_text(json.dumps([3]))
    with pytest.raises(InputError, match="record 1: is no object"):
        read_judged_chats(path)


def test_the_published_chats() -> None:
    chats = read_judged_chats(volunteers_file(folder("personachat")))
    assert len(chats) == 1111
    assert sum(judged.score is not None for judged in chats) == 593
    assert sum(judged.matched is not None for judged in chats) == 483
    assert sum(mark is not None for judged in chats for mark in judged.liked) == 1375
    silent = [judged.matched for judged in chats if judged.matched is not None and not judged.record.said(BOT_SIDE)]
    assert abs(sum(silent) / len(silent) - 0.5) < 0.05, "whoever heard nothing of the bot can only guess"


SENTENCES = st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip), min_size=1).map(
    lambda texts: tuple(text.strip() for text in texts)
)


@given(st.lists(st.builds(PersonaRecord, SENTENCES, st.just(()) | SENTENCES)))
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, records: list[PersonaRecord]) -> None:
    path = tmp_path_factory.mktemp("personas") / "personas.jsonl"
    lines = (json.dumps(record.document(), ensure_ascii=False) + "\n" for record in records)
    path.write_text("".join(lines), encoding="utf-8", newline="\n")
    assert list(read_persona_records(path)) == records


@pytest.mark.parametrize("line", ["no JSON", "[1]", '{"persona": []}', '{"persona": "i ski."}', "{}"])
def test_what_is_no_persona_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "personas.jsonl"
    path.write_text(f'{{"persona": ["i ski."]}}\n\n{line}\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"personas\.jsonl:3"):
        list(read_persona_records(path))
