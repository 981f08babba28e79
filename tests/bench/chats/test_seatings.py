from __future__ import annotations

from pathlib import Path

import pytest

from models import tiny_data
from understudy.bench.chats.seatings import halved, personachat_exchanges, personachat_seatings, story_seatings
from understudy.errors import InputError, StoryError, UnknownCharacter
from understudy.formats import read


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tiny_data(tmp_path, 12) / "train_both_original_no_cands.txt"


def test_a_dialogue_gives_two_profiles_and_what_was_said(file: Path) -> None:
    seatings = personachat_seatings(file, 100)
    assert len(seatings) == 12
    first, second = seatings[0].situations
    assert (first.persona.name, second.persona.name) == ("Person 1A", "Person 1B")
    assert first.persona.profile == seatings[0].profiles[0] and second.persona.profile == seatings[0].profiles[1]
    assert first.faced is not None and first.faced.name == "Person 1B" and first.faced.profile == ()
    assert seatings[0].said[0][0].startswith("hello ,") and len(seatings[0].said[1]) == 2


def test_what_an_agent_is_shown(file: Path) -> None:
    hidden, both = (personachat_seatings(file, 1, given)[0] for given in ("none", "both"))
    assert hidden.situations[0].persona.profile == () and len(hidden.profiles[0]) == 2
    assert both.situations[0].faced is not None and both.situations[0].faced.profile == both.profiles[1]


def test_a_sample_is_seeded(file: Path) -> None:
    chosen = [[seating.id for seating in personachat_seatings(file, 4, seed=seed)] for seed in (0, 0, 1)]
    assert chosen[0] == chosen[1] != chosen[2] and len(chosen[0]) == 4
    file.write_text("1 hello\thi\n")
    with pytest.raises(InputError, match="both profiles"):
        personachat_seatings(file, 4)


def test_two_rankers_have_no_reply_in_common(file: Path) -> None:
    exchanges = personachat_exchanges(file)
    assert len(exchanges) == 24 and exchanges[0].heard is not None
    first, second = halved(exchanges)
    assert len(first) + len(second) == 24 and min(len(first), len(second)) > 4
    assert {exchange.said.text for exchange in first}.isdisjoint(exchange.said.text for exchange in second)


def test_characters_sit_down_at_moments_and_know_nothing_later() -> None:
    story = read("demo")
    drawn = story_seatings(story, ("Zita", "Benedek"), (), 4, seed=2)
    assert len(drawn) == 4 and len({seating.id for seating in drawn}) == 4
    for seating in drawn:
        moments = {situation.persona.moment for situation in seating.situations}
        assert {moment.dotted for moment in moments} == {seating.moment}
        for situation in seating.situations:
            assert all(line.moment < situation.persona.moment for line in situation.persona.past.lines())
    early, late = story_seatings(story, ("Zita", "Benedek"), ("1.3", "3.1"), 1)
    assert early.names == ("Zita Karst", "Aurel Benedek") and late.names == ("Zita Karst", "Danilo Reuss")
    assert "Reuss" not in early.situations[0].faced.name  # type: ignore[union-attr]


def test_people_who_cannot_meet_are_refused(tmp_path: Path) -> None:
    for at in (("1.3",), ()):
        with pytest.raises(UnknownCharacter, match="Nobody"):
            story_seatings(read("demo"), ("Zita", "Nobody"), at, 1)
    script = tmp_path / "script.txt"
    script.write_text("# act 1\n## scene 1\nINES: The key is mine.\n# act 2\n## scene 1\nTOBIAS: It is not.\n")
    with pytest.raises(StoryError, match="no moment both alive"):
        story_seatings(read(script), ("Ines", "Tobias"), (), 1)
