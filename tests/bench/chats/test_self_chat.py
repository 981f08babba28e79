from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from models import tiny_data, tiny_model
from understudy.agents import agent_named
from understudy.bench.chats.seatings import Seating, personachat_exchanges, personachat_seatings, story_seatings
from understudy.bench.chats.self_chat import Speakers, hold_chat, hold_chats, manifest_path
from understudy.errors import AgentError, InputError
from understudy.formats import read
from understudy.formats.chat_records import ChatLine, read_chats
from understudy.story.dialogue import Reply, Situation, Turn


class Parrot:
    """Says its first profile sentence and how much it has heard; remembers what it was asked with."""

    def __init__(self, stop_at: int = 99) -> None:
        self.asked: list[tuple[Situation, tuple[Turn, ...]]] = []
        self._stop_at = stop_at

    def reply(self, situation: Situation, history: Sequence[Turn]) -> Reply:
        self.asked.append((situation, tuple(history)))
        if len(self.asked) > self._stop_at:
            raise KeyboardInterrupt
        return Reply(f"{(*situation.persona.profile, 'nothing')[0]} {len(history)}")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tiny_data(tmp_path, 6) / "train_both_original_no_cands.txt"


@pytest.fixture
def seatings(file: Path) -> list[Seating]:
    return personachat_seatings(file, 6)


def test_sides_take_turns_and_hear_everything(seatings: list[Seating]) -> None:
    first, second = Parrot(), Parrot()
    record = hold_chat((("one", first), ("two", second)), seatings[0], 5, "self")
    assert [turn.side for turn in record.turns] == [0, 1, 0, 1, 0]
    own, other = (profile[0] for profile in seatings[0].profiles)
    assert record.turns[:2] == (ChatLine(0, f"{own} 0"), ChatLine(1, f"{other} 1"))
    _, history = second.asked[1]
    assert history == tuple(Turn(f"Person 1{'AB'[line.side]}", line.text) for line in record.turns[:3])
    assert (record.speakers, record.given, record.replayed) == (("one", "two"), "self", False)


def test_a_replayed_person_says_what_was_said(seatings: list[Seating]) -> None:
    record = hold_chat((("human", None), ("two", Parrot())), seatings[0], 10, "self")
    assert record.said(0) == seatings[0].said[0] and record.replayed
    assert len(record.turns) == 4, "it ends where the person has nothing more to say"


def test_the_other_is_known_by_the_name_that_is_known() -> None:
    early = story_seatings(read("demo"), ("Zita", "Benedek"), ("1.3",), 1)[0]
    zita = Parrot()
    record = hold_chat((("z", zita), ("b", Parrot())), early, 4, "self")
    assert zita.asked[1][1][1].speaker == "Aurel Benedek"
    assert (record.names, record.moment) == (("Zita Karst", "Aurel Benedek"), "1.3")


def test_a_stopped_run_goes_on_to_the_same_chats(seatings: list[Seating], file: Path, tmp_path: Path) -> None:
    def held(out: Path, stop_at: int = 99) -> None:
        speakers: Speakers = (("one", Parrot(stop_at)), ("two", Parrot()))
        hold_chats(speakers, seatings, out, turns=4, given="self", files=[file], seed=3)

    whole, stopped = tmp_path / "whole.jsonl", tmp_path / "stopped.jsonl"
    held(whole)
    with pytest.raises(KeyboardInterrupt):
        held(stopped, stop_at=5)
    assert len(stopped.read_text().splitlines()) == 2
    with stopped.open("a") as torn:
        torn.write('{"id": "3", "spea')
    held(stopped)
    assert stopped.read_bytes() == whole.read_bytes()
    assert len(list(read_chats(whole))) == 6
    assert json.loads(manifest_path(whole).read_text())["settings"]["speakers"] == ["one", "two"]


def test_a_run_with_other_settings_is_refused(seatings: list[Seating], tmp_path: Path) -> None:
    out = tmp_path / "chats.jsonl"
    speakers: Speakers = (("one", Parrot()), ("two", Parrot()))
    assert hold_chats(speakers, seatings, out, turns=2, given="self")["new"] == 6
    assert hold_chats(speakers, seatings, out, turns=2, given="self")["new"] == 0
    with pytest.raises(InputError, match="belongs to another run"):
        hold_chats(speakers, seatings, out, turns=4, given="self")
    assert hold_chats(speakers, seatings, out, turns=4, given="self", fresh=True)["new"] == 6
    manifest_path(out).unlink()
    with pytest.raises(InputError, match="without the manifest"):
        hold_chats(speakers, seatings, out, turns=4, given="self")


def test_an_agent_that_fails_is_named(seatings: list[Seating]) -> None:
    class Broken:
        def reply(self, situation: Situation, history: Sequence[Turn]) -> Reply:
            raise AgentError("no words today")

    with pytest.raises(AgentError, match="'bad' failed in chat 1, turn 2: no words today"):
        hold_chat((("one", Parrot()), ("bad", Broken())), seatings[0], 4, "self")


@pytest.mark.parametrize("name", ["kv-memory", "starspace", "tfidf", "encoder"])
def test_ranking_agents_talk_with_a_files_replies(
    file: Path, seatings: list[Seating], tmp_path: Path, name: str
) -> None:
    exchanges = personachat_exchanges(file)
    spec = name if name in ("tfidf", "encoder") else str(tiny_model(name, tmp_path / "model"))
    agent = agent_named(spec, lambda _: exchanges)
    record = hold_chat((("human", None), (name, agent)), seatings[0], 4, "self")
    assert set(record.said(1)) <= {exchange.said.text for exchange in exchanges}
    assert len(record.said(1)) == 2


def test_an_agent_that_writes_talks_in_its_own_words(seatings: list[Seating], tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="an LSTM needs the extra 'train'")
    agent = agent_named(str(tiny_model("seq2seq", tmp_path / "model")), lambda _: ())
    record = hold_chat((("lstm", agent), ("lstm", agent)), seatings[0], 4, "self")
    assert len(record.turns) == 4
    assert record == hold_chat((("lstm", agent), ("lstm", agent)), seatings[0], 4, "self")
