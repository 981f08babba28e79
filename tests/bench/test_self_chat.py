from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from models import tiny_data, tiny_model
from understudy.agents import agent_named
from understudy.bench.self_chat import (
    Pairing,
    Speakers,
    halved,
    hold_chat,
    hold_chats,
    manifest_path,
    personachat_exchanges,
    personachat_pairings,
    story_pairings,
)
from understudy.errors import AgentError, InputError, StoryError, UnknownCharacter
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
def pairings(file: Path) -> list[Pairing]:
    return personachat_pairings(file, 6)


def test_sides_take_turns_and_hear_everything(pairings: list[Pairing]) -> None:
    first, second = Parrot(), Parrot()
    record = hold_chat((("one", first), ("two", second)), pairings[0], 5, "self")
    assert [turn.side for turn in record.turns] == [0, 1, 0, 1, 0]
    own, other = (profile[0] for profile in pairings[0].profiles)
    assert record.turns[:2] == (ChatLine(0, f"{own} 0"), ChatLine(1, f"{other} 1"))
    _, history = second.asked[1]
    assert history == tuple(Turn(f"Person 1{'AB'[line.side]}", line.text) for line in record.turns[:3])
    assert (record.speakers, record.given, record.replayed) == (("one", "two"), "self", False)


def test_a_replayed_person_says_what_was_said(pairings: list[Pairing]) -> None:
    record = hold_chat((("human", None), ("two", Parrot())), pairings[0], 10, "self")
    assert record.said(0) == pairings[0].said[0] and record.replayed
    assert len(record.turns) == 4, "it ends where the person has nothing more to say"


def test_the_other_is_known_by_the_name_that_is_known() -> None:
    early = story_pairings(read("demo"), ("Zita", "Benedek"), ("1.3",), 1)[0]
    zita = Parrot()
    record = hold_chat((("z", zita), ("b", Parrot())), early, 4, "self")
    assert zita.asked[1][1][1].speaker == "Aurel Benedek"
    assert (record.names, record.moment) == (("Zita Karst", "Aurel Benedek"), "1.3")


def test_a_stopped_run_goes_on_to_the_same_chats(pairings: list[Pairing], file: Path, tmp_path: Path) -> None:
    def held(out: Path, stop_at: int = 99) -> None:
        speakers: Speakers = (("one", Parrot(stop_at)), ("two", Parrot()))
        hold_chats(speakers, pairings, out, turns=4, given="self", files=[file], seed=3)

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


def test_a_run_with_other_settings_is_refused(pairings: list[Pairing], tmp_path: Path) -> None:
    out = tmp_path / "chats.jsonl"
    speakers: Speakers = (("one", Parrot()), ("two", Parrot()))
    assert hold_chats(speakers, pairings, out, turns=2, given="self")["new"] == 6
    assert hold_chats(speakers, pairings, out, turns=2, given="self")["new"] == 0
    with pytest.raises(InputError, match="belongs to another run"):
        hold_chats(speakers, pairings, out, turns=4, given="self")
    assert hold_chats(speakers, pairings, out, turns=4, given="self", fresh=True)["new"] == 6
    manifest_path(out).unlink()
    with pytest.raises(InputError, match="without the manifest"):
        hold_chats(speakers, pairings, out, turns=4, given="self")


def test_an_agent_that_fails_is_named(pairings: list[Pairing]) -> None:
    class Broken:
        def reply(self, situation: Situation, history: Sequence[Turn]) -> Reply:
            raise AgentError("no words today")

    with pytest.raises(AgentError, match="'bad' failed in chat 1, turn 2: no words today"):
        hold_chat((("one", Parrot()), ("bad", Broken())), pairings[0], 4, "self")


@pytest.mark.parametrize("name", ["kv-memory", "starspace", "tfidf", "encoder"])
def test_ranking_agents_talk_with_a_files_replies(
    file: Path, pairings: list[Pairing], tmp_path: Path, name: str
) -> None:
    exchanges = personachat_exchanges(file)
    spec = name if name in ("tfidf", "encoder") else str(tiny_model(name, tmp_path / "model"))
    agent = agent_named(spec, lambda _: exchanges)
    record = hold_chat((("human", None), (name, agent)), pairings[0], 4, "self")
    assert set(record.said(1)) <= {exchange.said.text for exchange in exchanges}
    assert len(record.said(1)) == 2


def test_an_agent_that_writes_talks_in_its_own_words(pairings: list[Pairing], tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="an LSTM needs the extra 'train'")
    agent = agent_named(str(tiny_model("seq2seq", tmp_path / "model")), lambda _: ())
    record = hold_chat((("lstm", agent), ("lstm", agent)), pairings[0], 4, "self")
    assert len(record.turns) == 4
    assert record == hold_chat((("lstm", agent), ("lstm", agent)), pairings[0], 4, "self")


@pytest.fixture
def long_file(tmp_path: Path) -> Path:
    return tiny_data(tmp_path, 12) / "train_both_original_no_cands.txt"


def test_a_dialogue_gives_two_profiles_and_what_was_said(long_file: Path) -> None:
    pairings = personachat_pairings(long_file, 100)
    assert len(pairings) == 12
    first, second = pairings[0].situations
    assert (first.persona.name, second.persona.name) == ("Person 1A", "Person 1B")
    assert first.persona.profile == pairings[0].profiles[0] and second.persona.profile == pairings[0].profiles[1]
    assert first.faced is not None and first.faced.name == "Person 1B" and first.faced.profile == ()
    assert pairings[0].said[0][0].startswith("hello ,") and len(pairings[0].said[1]) == 2


def test_what_an_agent_is_shown(long_file: Path) -> None:
    hidden, both = (personachat_pairings(long_file, 1, given)[0] for given in ("none", "both"))
    assert hidden.situations[0].persona.profile == () and len(hidden.profiles[0]) == 2
    assert both.situations[0].faced is not None and both.situations[0].faced.profile == both.profiles[1]


def test_a_sample_is_seeded(long_file: Path) -> None:
    chosen = [[pairing.id for pairing in personachat_pairings(long_file, 4, seed=seed)] for seed in (0, 0, 1)]
    assert chosen[0] == chosen[1] != chosen[2] and len(chosen[0]) == 4
    long_file.write_text("1 hello\thi\n")
    with pytest.raises(InputError, match="both profiles"):
        personachat_pairings(long_file, 4)


def test_two_rankers_have_no_reply_in_common(long_file: Path) -> None:
    exchanges = personachat_exchanges(long_file)
    assert len(exchanges) == 24 and exchanges[0].heard is not None
    first, second = halved(exchanges)
    assert len(first) + len(second) == 24 and min(len(first), len(second)) > 4
    assert {exchange.said.text for exchange in first}.isdisjoint(exchange.said.text for exchange in second)


def test_characters_sit_down_at_moments_and_know_nothing_later() -> None:
    story = read("demo")
    drawn = story_pairings(story, ("Zita", "Benedek"), (), 4, seed=2)
    assert len(drawn) == 4 and len({pairing.id for pairing in drawn}) == 4
    for pairing in drawn:
        moments = {situation.persona.moment for situation in pairing.situations}
        assert {moment.dotted for moment in moments} == {pairing.moment}
        for situation in pairing.situations:
            assert all(line.moment < situation.persona.moment for line in situation.persona.past.lines())
    early, late = story_pairings(story, ("Zita", "Benedek"), ("1.3", "3.1"), 1)
    assert early.names == ("Zita Karst", "Aurel Benedek") and late.names == ("Zita Karst", "Danilo Reuss")
    assert "Reuss" not in early.situations[0].faced.name  # type: ignore[union-attr]


def test_people_who_cannot_meet_are_refused(tmp_path: Path) -> None:
    for at in (("1.3",), ()):
        with pytest.raises(UnknownCharacter, match="Nobody"):
            story_pairings(read("demo"), ("Zita", "Nobody"), at, 1)
    script = tmp_path / "script.txt"
    script.write_text("# act 1\n## scene 1\nINES: The key is mine.\n# act 2\n## scene 1\nTOBIAS: It is not.\n")
    with pytest.raises(StoryError, match="no moment both alive"):
        story_pairings(read(script), ("Ines", "Tobias"), (), 1)
