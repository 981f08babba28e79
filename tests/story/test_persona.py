"""The rules of time, one by one, on a small story where each has something to say."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from generated import assert_nothing_withheld_is_reached, reachable
from understudy.errors import Dead, StoryError, Unborn, UnknownCharacter, UnknownMoment
from understudy.formats import read
from understudy.story.dialogue import situation_at
from understudy.story.persona import felt_towards, persona_at
from understudy.story.storyfile import Story

CAST = """
title = "The Short Straw"
language = "en"
[[character]]
name = "Ann Archer"
aliases = ["Ann"]
profile = ["I mend nets."]
[[character]]
name = "Bob Baker"
aliases = ["Bob"]
[[character]]
name = "Casper Quill"
aliases = ["Casper", "Mr Gray"]
[[character]]
name = "Dot"
[[character]]
name = "Old Ezra"
aliases = ["Ezra"]
[[fact]]
who = "Ann"
attribute = "belongings"
value = "a brass key"
from = "1.2"
until = "2.1"
[[fact]]
who = "Ann"
attribute = "age"
value = "16"
from = "1"
[[fact]]
who = "Ann"
attribute = "age"
value = "17"
from = "2"
[[fact]]
who = "Bob"
attribute = "looks"
value = "a broken nose"
from = "1"
[[fact]]
who = "Bob"
attribute = "title"
value = "deserter"
from = "1"
known_to = ["Dot"]
[[fact]]
who = "Casper Quill"
attribute = "goes by"
value = "Mr Gray"
from = "1"
until = "2.2"
[[fact]]
who = "Dot"
attribute = "born"
from = "1.2"
[[fact]]
who = "Old Ezra"
attribute = "died"
value = "of the cold"
from = "2.1"
[[relation]]
of = "Ann"
to = "Bob"
affection = 5
from = "1"
[[relation]]
of = "Ann"
to = "Bob"
affection = -7
from = "2"
[[relation]]
of = "Bob"
to = "Ann"
affection = -3
from = "1"
[[relation]]
of = "Ann"
to = "Casper Quill"
familiarity = 2
from = "1"
[[relation]]
of = "Ann"
to = "Old Ezra"
familiarity = 1
from = "1"
[[relation]]
of = "Bob"
to = "Casper Quill"
kind = "confidant"
from = "1.2"
[[relation]]
of = "Ann"
to = "Bob"
kind = "friend"
from = "1"
until = "2"
"""
PART_ONE = """
# part 1: One
## scene 1: The quay
Present: Ann Archer, Bob Baker
ANN: The tide is out.
BOB: So is my patience.
[Mr Gray enters.]
MR GRAY: Call me Gray.
[Ann leaves.]
BOB: Now she is gone: the boat sails at nine.
## scene 2: The loft
Present: Bob Baker, Casper Quill
BOB: You are no Gray.
CASPER: Casper Quill, at your service.
"""
PART_TWO = """
# part 2: Two
## scene 1: The net shed
Present: Ann Archer, Dot
DOT: Old Ezra is frozen stiff.
ANN: I never met him.
## scene 2: The court
Present: Ann Archer, Casper Quill, Bob Baker
CASPER: My name is Casper Quill.
ANN: So that is your name.
"""


@pytest.fixture
def story(tmp_path: Path) -> Story:
    (tmp_path / "cast.toml").write_text(CAST)
    (tmp_path / "part-1.txt").write_text(PART_ONE)
    (tmp_path / "part-2.txt").write_text(PART_TWO)
    return read(tmp_path)


def texts(story: Story, name: str, at: str) -> list[str]:
    return [line.text for scene in persona_at(story, name, at).past.scenes() for line in scene.lines]


def test_a_line_is_known_only_after_it(story: Story) -> None:
    assert texts(story, "Ann", "1.1") == []
    assert texts(story, "Ann", "1.1.2") == ["The tide is out."]
    assert [line.text for line in persona_at(story, "Ann", "2.1").past.lines()] == ["The tide is out."]


def test_what_is_said_when_one_has_left_is_not_remembered(story: Story) -> None:
    assert texts(story, "Ann", "end")[:5] == [
        "The tide is out.",
        "So is my patience.",
        "Mr Gray enters.",
        "Call me Gray.",
        "Ann leaves.",
    ]
    assert not any("nine" in text or "no Gray" in text for text in texts(story, "Ann", "end"))
    assert any("nine" in text for text in texts(story, "Bob", "1.2"))


def test_a_fact_holds_from_its_date_and_a_newer_takes_its_place(story: Story) -> None:
    assert persona_at(story, "Ann", "1.1.9").attributes == {"age": ("16",)}
    assert persona_at(story, "Ann", "1.2").attributes == {"age": ("16",), "belongings": ("a brass key",)}
    assert persona_at(story, "Ann", "2").attributes == {"age": ("17",), "belongings": ("a brass key",)}
    assert persona_at(story, "Ann", "2.1").attributes == {"age": ("17",)}
    assert any("a brass key" in sentence for sentence in persona_at(story, "Ann", "1.2").profile)


def test_a_feeling_turns_and_a_kind_ends(story: Story) -> None:
    def towards_bob(at: str) -> set[tuple[str, int | None]]:
        return {(tie.kind, tie.level) for tie in persona_at(story, "Ann", at).relations if tie.to == "Bob Baker"}

    assert towards_bob("1.2") == {("affection", 5), ("friend", None)}
    assert towards_bob("2.1") == {("affection", -7)}


def test_when_something_will_end_is_not_told(story: Story) -> None:
    persona = persona_at(story, "Ann", "1.2")
    assert all(tie.until is None for tie in persona.relations)
    assert "2.1" not in {str(string) for string in reachable(situation_at(story, "Ann", "1.2"))}


def test_a_tie_to_somebody_unheard_of_is_withheld_unless_one_stands_before_them(story: Story) -> None:
    def known(at: str, facing: str | None = None) -> set[str]:
        return {tie.to for tie in situation_at(story, "Ann", at, facing).persona.relations}

    assert known("1.1") == set()
    assert known("1.1.2") == {"Bob Baker"}
    assert known("1.1", "Ezra") == {"Old Ezra"}
    assert known("2.1.1") == {"Bob Baker", "Mr Gray"}
    assert known("2.1.2") == {"Bob Baker", "Mr Gray", "Old Ezra"}  # Dot has named him


def test_a_false_name_is_all_one_knows_until_let_in_on_it(story: Story) -> None:
    fooled = situation_at(story, "Ann", "2.1", "Casper Quill")
    assert fooled.faced is not None
    assert fooled.faced.name == "Mr Gray"
    assert not any("Casper" in string or "Quill" in string for string in reachable(fooled))
    speakers = {line.speaker for scene in fooled.persona.past.scenes() for line in scene.lines}
    assert speakers == {None, "Ann Archer", "Bob Baker", "Mr Gray"}

    told = situation_at(story, "Bob", "1.2", "Casper Quill")
    assert told.faced is not None
    assert told.faced.name == "Casper Quill"
    unmasked = situation_at(story, "Ann", "end", "Casper Quill")
    assert unmasked.faced is not None
    assert unmasked.faced.name == "Casper Quill"
    assert persona_at(story, "Casper Quill", "1.2").name == "Casper Quill"


def test_one_sees_what_is_plain_to_see_and_knows_the_secrets_one_was_told(story: Story) -> None:
    seen_by_ann = situation_at(story, "Ann", "2.1", "Bob").faced
    seen_by_dot = situation_at(story, "Dot", "2.1", "Bob").faced
    assert seen_by_ann is not None
    assert seen_by_dot is not None
    assert any("a broken nose" in sentence for sentence in seen_by_ann.profile)
    assert not any("deserter" in sentence for sentence in seen_by_ann.profile)
    assert any("deserter" in sentence for sentence in seen_by_dot.profile)


def test_what_others_feel_is_kept_apart(story: Story) -> None:
    persona = persona_at(story, "Ann", "1.2")
    assert all(tie.of == "Ann Archer" for tie in persona.relations)
    (felt,) = felt_towards(story, "Ann", persona.moment)
    assert (felt.of, felt.level) == ("Bob Baker", -3)


def test_the_unborn_and_the_dead_are_named_errors(story: Story) -> None:
    with pytest.raises(Unborn, match=r"Dot is not born before 1\.2"):
        persona_at(story, "Dot", "1.1")
    assert persona_at(story, "Dot", "1.2").name == "Dot"
    with pytest.raises(Dead, match=r"Old Ezra is dead at 2\.1"):
        persona_at(story, "Ezra", "2.1")
    assert "of the cold" not in str(persona_at(story, "Ezra", "2"))


def test_who_was_dead_until_a_moment_lives_again(tmp_path: Path) -> None:
    cast = CAST.replace('value = "of the cold"\nfrom = "2.1"', 'value = "of the cold"\nfrom = "1.2"\nuntil = "2.1"')
    (tmp_path / "cast.toml").write_text(cast)
    (tmp_path / "part-1.txt").write_text(PART_ONE)
    (tmp_path / "part-2.txt").write_text(PART_TWO)
    story = read(tmp_path)
    with pytest.raises(Dead, match=r"Old Ezra is dead at 2 \(since 1\.2\)"):
        persona_at(story, "Ezra", "2")
    with pytest.raises(Dead):
        situation_at(story, "Ann", "1.2", facing="Ezra")
    assert persona_at(story, "Ezra", "2.1").name == "Old Ezra"
    assert situation_at(story, "Ann", "2.2", facing="Ezra").faced is not None


def test_a_name_is_heard_from_who_says_it_not_from_a_direction(tmp_path: Path) -> None:
    (tmp_path / "cast.toml").write_text(CAST)
    narrated = PART_ONE.replace("ANN: The tide is out.", "[Ann thinks of Old Ezra.]\nANN: The tide is out.")
    (tmp_path / "part-1.txt").write_text(narrated)
    spoken = PART_TWO.replace("ANN: I never met him.", "ANN: I never met him.\n[Bob Baker is far away.]")
    (tmp_path / "part-2.txt").write_text(spoken)
    story = read(tmp_path)
    assert "Old Ezra" not in story.acquaintances("Ann Archer", story.moment("2.1.1"))[1]
    assert "Old Ezra" in story.acquaintances("Ann Archer", story.moment("2.1.2"))[1]  # Dot has named him
    assert "Bob Baker" not in story.acquaintances("Dot", story.moment("2.2"))[1]
    met, _ = story.acquaintances("Ann Archer", story.moment("1.1.5"))
    assert "Casper Quill" in met, "who is brought in by a direction has been met"


def test_an_error_at_a_moment_names_only_those_seen_by_then(story: Story) -> None:
    with pytest.raises(UnknownCharacter) as unknown:
        persona_at(story, "Zed", "1.1")
    assert str(unknown.value) == (
        "nobody in 'The Short Straw' is called 'Zed' by 1.1; so far it has Ann Archer, Bob Baker"
    )
    with pytest.raises(UnknownCharacter) as facing:
        situation_at(story, "Ann", "1.2", facing="Caspar Quil")
    assert "Mr Gray" in str(facing.value)
    assert "Casper" not in str(facing.value) and "Dot" not in str(facing.value)


def test_an_author_may_use_every_name_at_every_moment(story: Story) -> None:
    for name in ("Casper Quill", "Casper", "Quill", "Mr Gray"):
        assert persona_at(story, name, "1.1").name == "Casper Quill"


def test_a_misspelt_name_is_recognised(story: Story) -> None:
    with pytest.raises(UnknownCharacter, match=r"called 'Anne Archr' by 1\.1 \(did you mean 'Ann Archer'\?\)"):
        persona_at(story, "Anne Archr", "1.1")
    with pytest.raises(UnknownCharacter, match=r"\(did you mean 'Old Ezra'\?\)"):
        persona_at(story, "Old Esra", "end")


def test_nobody_stands_before_themselves(story: Story) -> None:
    with pytest.raises(StoryError, match="Ann Archer cannot stand before themselves"):
        situation_at(story, "Ann", "1.1", facing="Ann Archer")


def test_nobody_stands_before_the_unborn_or_the_dead(story: Story) -> None:
    with pytest.raises(Unborn, match="Dot is not born"):
        situation_at(story, "Ann", "1.1", facing="Dot")
    with pytest.raises(Dead, match="Old Ezra is dead"):
        situation_at(story, "Ann", "2.1", facing="Ezra")


def test_in_a_scene_one_stands_where_it_plays_and_before_who_is_there(story: Story) -> None:
    inside = situation_at(story, "Ann", "1.1.4")
    assert inside.setting == "The quay"
    assert [other.name for other in inside.present] == ["Bob Baker", "Mr Gray"]
    at_its_start = situation_at(story, "Ann", "1.1")
    assert (at_its_start.setting, at_its_start.present) == ("", ())


def test_questions_a_story_cannot_answer_say_so(story: Story) -> None:
    with pytest.raises(UnknownCharacter, match="is called 'Zed'; it has Ann Archer, .*Dot"):
        persona_at(story, "Zed", "end")
    with pytest.raises(UnknownMoment, match="after the story's last line, 2.2.2"):
        persona_at(story, "Ann", "3.1")


@pytest.mark.parametrize("name", ["demo", "demo-ja", "demo-zh"])
def test_no_embedded_story_leaks(name: str) -> None:
    story = read(name)
    people = [member.character.name for member in story.cast()[:8]]
    for scene in list(story.scenes())[::5]:
        for who, facing in pairwise(people):
            try:
                situation = situation_at(story, who, scene.moment, facing)
            except (Dead, Unborn):
                continue
            assert_nothing_withheld_is_reached(story, situation)


def test_what_the_one_faced_does_not_know_is_a_secret(tmp_path: Path) -> None:
    (tmp_path / "one.txt").write_text(
        "Chapter One\n\nScene: A quay.\n\nANN: Hello.\nBOB: Hello.\nCAL: Hello.\n", encoding="utf-8"
    )
    strangers = ["DEE", "EVE", "FAY", "GUS"]
    people = "".join(f'[[character]]\nname = "{name}"\n' for name in ("ANN", "BOB", "CAL", *strangers))
    (tmp_path / "cast.toml").write_text(
        f"{people}"
        '[[fact]]\nwho = "ANN"\nattribute = "belongings"\nvalue = "the brass key"\nfrom = "1"\nknown_to = ["BOB"]\n'
        '[[fact]]\nwho = "ANN"\nattribute = "age"\nvalue = "forty"\nfrom = "1"\n'
        '[[fact]]\nwho = "ANN"\nattribute = "lineage"\nvalue = "the only child of Hob"\nfrom = "1"\n'
        f"known_to = {['BOB', *strangers]}\n",
        encoding="utf-8",
    )
    story = read(tmp_path)
    assert situation_at(story, "ANN", "end", "CAL").secrets == ("I have the brass key.",)
    assert situation_at(story, "ANN", "end").secrets == ("I have the brass key.",)
    assert situation_at(story, "ANN", "end", "BOB").secrets == ()


def test_where_some_facts_are_called_secrets_others_are_none() -> None:
    zita = situation_at(read("demo"), "Zita", "2.3")
    assert not any("unopened letters" in text for text in zita.secrets), "who has not seen them may be told of them"
    pia = situation_at(read("demo"), "Pia Lenk", "1.3", "Magda Lenk")
    assert len(pia.secrets) == 1 and "touched Tovey Marl" in pia.secrets[0], "and not whose granddaughter she is"
    danilo = situation_at(read("demo"), "Danilo Reuss", "3.4", "Osk Brandt")
    assert any("Matthias Karst in Ismar" in text for text in danilo.secrets), "a secret is one however many share it"


def test_a_false_name_is_what_those_without_the_secret_know_one_by() -> None:
    story = read("demo")
    assert situation_at(story, "Danilo Reuss", "2.3", "Zita").known_as == "Aurel Benedek"
    assert situation_at(story, "Danilo Reuss", "2.3").known_as == "Aurel Benedek"
    assert situation_at(story, "Danilo Reuss", "2.3", "Gudrun Haake").known_as == ""
    assert situation_at(story, "Zita", "2.3", "Danilo Reuss").known_as == ""


def test_acquaintances_are_those_met_or_heard_named_under_the_names_they_are_known_by() -> None:
    story = read("demo")
    known = {other.name: other.aliases for other in situation_at(story, "Zita", "2.3").acquaintances}
    assert "the Prior" in known["Casimir Ould"] and known["Aurel Benedek"] == ()
    assert {"Danilo Reuss", "Zita Karst"}.isdisjoint(known)
    early = {other.name for other in situation_at(story, "Zita", "1.1").acquaintances}
    assert early < set(known)


def test_a_later_word_on_a_death_does_not_move_it() -> None:
    """At first few know of it, later everybody: that is one death."""
    with pytest.raises(Dead, match=r"since 3\.2\.3"):
        situation_at(read("demo"), "Ignace Bohm", "end")


def test_who_comes_while_one_is_away_is_no_company_before_one_has_come_back(tmp_path: Path) -> None:
    path = tmp_path / "quay.txt"
    path.write_text(
        "[Scene: A deck.]\nAnn: Bob!\nBob: Ann.\n[Scene: A quay.]\nAnn: Good night, Cal.\nCal: Good night.\n"
        "(Exit Ann.)\n(Enter Bob.)\nBob: Is she gone?\nCal: She is gone.\n"
        "(Enter Ann.)\nAnn: Bob! You here?\nBob: Ann.\n",
        encoding="utf-8",
    )
    story = read(path)
    companies = [[scene.present for scene in persona_at(story, "Ann", at).past.scenes()] for at in ("2.6", "end")]
    assert companies == [[("Ann", "Bob"), ("Ann", "Cal")], [("Ann", "Bob"), ("Ann", "Bob", "Cal")]]
