from __future__ import annotations

from pathlib import Path

from understudy.persona import persona_at
from understudy.readers import read
from understudy.server.drawing.bonds import known_since
from understudy.server.pages.knowledge import about_others, acquaintances, dated_attributes, memories
from understudy.story import Moment

SECRETS = """
[[fact]]
who = "Tobias Rook"
attribute = "belongings"
value = ["a ticket to Lisbon"]
known_to = ["Ines Vale"]
from = "1.1"

[[fact]]
who = "Tobias Rook"
attribute = "belongings"
value = ["a coat with a hole"]
known_to = ["Ines Vale"]
from = "2.2"

[[fact]]
who = "Mara Quill"
attribute = "title"
value = "the harbour's spy"
known_to = ["Ines Vale"]
from = "1.1"
"""


def test_attributes_carry_the_moment_since_when(story: Path) -> None:
    told = read(story)
    (held,) = dated_attributes(told, persona_at(told, "Ines", "1.1"))
    assert (held.about, held.words, held.since) == ("belongings", ("the brass key",), Moment((1, 1)))
    assert dated_attributes(told, persona_at(told, "Ines", "1.2")) == []


def test_what_was_confided_is_known_of_those_who_are_known(story: Path) -> None:
    with (story / "cast.toml").open("a") as cast:
        cast.write(SECRETS)
    told = read(story)

    def confided(who: str, at: str) -> list[tuple[str, str, str | None]]:
        persona = persona_at(told, who, at)
        found = about_others(told, persona, known_since(told, persona))
        return [(one.about, one.words[0], one.since.dotted if one.since else None) for one in found]

    assert confided("Ines", "1.1") == [], "nobody is known yet"
    assert confided("Ines", "2.1") == [("Tobias Rook", "Tobias Rook has a ticket to Lisbon.", "1.1")]
    assert confided("Ines", "2.2") == [("Tobias Rook", "Tobias Rook has a coat with a hole.", "2.2")]
    assert confided("Mara", "end") == []


def test_memories_are_the_scenes_one_was_in_latest_first(story: Path) -> None:
    told = read(story)
    persona = persona_at(told, "Ines", "end")
    remembered = memories(persona, None)
    assert [memory.moment.dotted for memory in remembered] == ["2.2", "2.1", "1.1"]
    assert remembered[0].company == ("Tobias Rook",) and remembered[0].lines == 3
    assert [line.text for line in remembered[0].last][-1] == "You must be cold, Tobias."
    assert [memory.moment.dotted for memory in memories(persona, 1)] == ["2.2"]


def test_people_met_are_told_from_people_heard_of() -> None:
    told = read("demo")
    persona = persona_at(told, "Zita", "1.2")
    known = {one.name: one for one in acquaintances(told, persona, known_since(told, persona))}
    assert known["Aurel Benedek"].met and not known["Jory Pell"].met
    assert known["Jory Pell"].since == Moment((1, 1, 1))
