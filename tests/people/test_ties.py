"""Ties found in a text begin after the line that says them, hold both ways, and end."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path

import pytest

import realdata
from understudy.formats import read
from understudy.people.tie_evidence import Gathered, TieEvidence, TieKey, beginning, mass_of, weighed
from understudy.people.ties import consistent_ties, ties
from understudy.story.storyfile import Story
from understudy.story.types import Moment, Relation, holding_at

HELLO = "Nora: Morning, Pavel.\n\nPavel: Morning, Nora."
WEDDING = "Nora: This is my husband Pavel.\n\nPavel: I'm Nora's husband.\n\nNora: Pavel is my husband."
DIVORCE = (
    "Pavel: Nora and I got divorced.\n\nIvo: You and Nora are divorced?\n\nPavel: I divorced Nora. She's my ex-wife."
)


def story_of(*episodes: str) -> Story:
    """A show with an episode a text, read into memory; '1x02' is in the file's name."""
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for number, text in enumerate(episodes, 1):
            path = Path(folder) / f"01x{number:02}.txt"
            path.write_text(f"Scene: The kitchen.\n\n{text}\n", encoding="utf-8")
            paths.append(path)
        return read(paths)


def ties_of(*episodes: str) -> list[Relation]:
    return ties(story_of(*episodes))


def kinds_between(found: list[Relation], of: str, to: str) -> set[str]:
    return {tie.kind for tie in found if (tie.of, tie.to) == (of, to)}


def test_a_named_sister_is_found_both_ways_with_the_words_used() -> None:
    found = ties_of("Nora: Meet my brother Pavel.\n\nIvo: Hello.\n\nPavel: Nora is my sister.")
    there = next(tie for tie in found if (tie.of, tie.to) == ("Nora", "Pavel"))
    back = next(tie for tie in found if (tie.of, tie.to) == ("Pavel", "Nora"))
    assert (there.kind, there.term, back.kind, back.term) == ("sibling", "brother", "sibling", "sister")
    assert there.found is not None
    assert there.found.confidence > 0.6
    assert there.found.sources[0] < there.since


def test_a_parent_has_a_child() -> None:
    found = ties_of(
        "Nora: This is my daughter Lida.\n\nIvo: Hello.\n\nLida: Mom, stop it.\n\nNora: You're my daughter."
    )
    assert kinds_between(found, "Lida", "Nora") == {"parent"}
    assert kinds_between(found, "Nora", "Lida") == {"child"}


def test_it_is_not_known_before_the_line_was_said() -> None:
    story = story_of(HELLO, WEDDING)
    found = ties(story)
    said = next(tie for tie in found if tie.kind == "spouse")
    assert said.found is not None
    first = said.found.sources[0]
    assert not [tie for tie in holding_at(found, first) if tie.kind == "spouse"]
    after = Moment((*first.numbers[:-1], first.numbers[-1] + 1), first.levels)
    assert [tie for tie in holding_at(found, after) if tie.kind == "spouse"]


def test_a_marriage_ends_with_the_divorce() -> None:
    found = [tie for tie in ties_of(WEDDING, DIVORCE) if tie.kind == "spouse" and tie.of == "Nora"]
    lovers = [tie for tie in ties_of(WEDDING, DIVORCE) if tie.kind == "lover"]
    assert [tie.to for tie in found] == ["Pavel"]
    assert all(tie.until is not None for tie in (*found, *lovers))


def test_witnesses_are_those_who_were_there_and_the_two_themselves() -> None:
    found = ties_of("Ivo: Meet Nora's brother Pavel.\n\nAda: Hello.", HELLO)
    tie = next(tie for tie in found if tie.kind == "sibling")
    assert tie.found is not None
    assert set(tie.found.witnesses) == {"Ada", "Ivo", "Nora", "Pavel"}


@pytest.mark.parametrize(
    "said",
    [
        "If Pavel is my brother, I am the queen.",
        "Pavel is like my brother.",
        'He said "Pavel is my brother" and left.',
        "My brother Casimir is away.",
    ],
)
def test_what_is_supposed_compared_told_or_about_others_is_no_tie(said: str) -> None:
    assert not ties_of(f"{HELLO}\n\nNora: {said}\n\nIvo: I see.")


def test_siblings_share_their_parents() -> None:
    found = ties_of(
        "Nora: Meet my brother Pavel.\n\nIvo: Hello.\n\nPavel: Nora is my sister.\n\n"
        "Nora: This is my mother, Ada.\n\nIvo: Hello.\n\nAda: I'm Nora's mother. Nora is my daughter."
    )
    assert kinds_between(found, "Pavel", "Ada") == {"parent"}


def test_a_kind_that_the_story_does_not_have_is_not_found() -> None:
    assert not ties_of("Nora: This is my boss Pavel.\n\nIvo: Hello.\n\nPavel: I'm Nora's boss. Nora is my colleague.")


def test_friends_become_lovers_and_lovers_a_couple() -> None:
    friends = "Nora: My friend Pavel is here. Pavel is my friend.\n\nPavel: You're my best friend, Nora."
    lovers = "Nora: I'm dating Pavel. I'm in love with Pavel. Pavel is my boyfriend.\n\nPavel: Nora's my girlfriend."
    found = [tie for tie in ties_of(friends, lovers, WEDDING) if tie.of == "Nora" and tie.to == "Pavel"]
    at = {episode: {tie.kind for tie in holding_at(found, Moment((1, episode, 9)))} for episode in (1, 2, 3)}
    assert at == {1: {"friend"}, 2: {"lover"}, 3: {"spouse"}}


EPISODES = (("0101", "0103"), ("0420", "0505"), ("0601", "0601"), ("0720", "0802"), ("1001", "1003"))


@pytest.mark.parametrize("episodes", [EPISODES, pytest.param((("", "~"),), marks=pytest.mark.thorough)])
def test_in_a_show_of_ten_seasons_friends_marry_when_they_do(episodes: tuple[tuple[str, str], ...]) -> None:
    files = sorted((realdata.folder("tvshowguess") / "transcripts" / "friends").iterdir())
    read_files = [file for file in files if any(first <= file.stem <= last for first, last in episodes)]
    couple = [tie for tie in ties(read(read_files)) if (tie.of, tie.to) == ("Chandler", "Monica")]
    assert not holding_at(couple, Moment((1, 5)))
    assert {tie.kind for tie in holding_at(couple, Moment((6, 1)))} == {"lover"}
    assert {(tie.kind, tie.term) for tie in holding_at(couple, Moment((10, 3)))} == {("spouse", "wife")}


def test_a_new_love_ends_the_one_before() -> None:
    first = "Nora: I'm dating Pavel. I'm in love with Pavel. Pavel is my boyfriend.\n\nPavel: Nora's my girlfriend."
    then = "Nora: I'm dating Ivo. I'm in love with Ivo. Ivo is my boyfriend.\n\nIvo: Nora's my girlfriend."
    found = [tie for tie in ties_of(first, then) if tie.of == "Nora" and tie.kind == "lover"]
    assert [tie.to for tie in holding_at(found, Moment((1, 1, 9)))] == ["Pavel"]
    assert [tie.to for tie in holding_at(found, Moment((1, 2, 9)))] == ["Ivo"]
    assert next(tie.until for tie in found if tie.to == "Pavel") == next(t.since for t in found if t.to == "Ivo")


def test_the_wifes_brother_is_not_called_a_wife() -> None:
    found = ties_of(
        WEDDING, "Nora: Meet my brother Ivo.\n\nAda: Hello.\n\nIvo: Nora is my sister.\n\nPavel: Nora is my wife."
    )
    in_law = [tie for tie in found if {tie.of, tie.to} == {"Pavel", "Ivo"}]
    assert {tie.kind for tie in in_law} == {"in-law"}
    assert all(tie.term not in ("wife", "husband", "sister", "brother") for tie in in_law)


def entry(index: int, pattern: str = "name", share: float = 1.0, term: str = "") -> TieEvidence:
    return TieEvidence(index, Moment((1, index + 1)), pattern, share, term, "", has_ended=False)


def confidences(evidence: dict[TieKey, list[TieEvidence]], exchanges: int = 20) -> dict[TieKey, float]:
    talk = Counter({(of, to): exchanges for of, to, _ in evidence})
    return {tie.key: tie.confidence for tie in consistent_ties(weighed(Gathered(evidence, {}, talk)))}


def test_the_heavier_kind_wins() -> None:
    found = confidences({
        ("Ada", "Ben", "sibling"): [entry(1), entry(2), entry(3, "is")],
        ("Ada", "Ben", "lover"): [entry(4, "dating")],
    })  # fmt: skip
    assert found["Ada", "Ben", "sibling"] > 0.8
    assert found["Ada", "Ben", "lover"] < 0.2


def test_who_talks_more_needs_more_evidence() -> None:
    evidence: dict[TieKey, list[TieEvidence]] = {("Ada", "Ben", "sibling"): [entry(1)]}
    assert confidences(evidence, 5000)["Ada", "Ben", "sibling"] < confidences(evidence, 5)["Ada", "Ben", "sibling"]


def test_children_of_a_parent_are_siblings_and_grandchildren_follow() -> None:
    found = confidences({
        ("Ada", "Cleo", "parent"): [entry(1), entry(2, "is")],
        ("Ben", "Cleo", "parent"): [entry(3), entry(4, "is")],
        ("Cleo", "Dora", "parent"): [entry(5), entry(6, "is")],
    })  # fmt: skip
    assert found["Ada", "Ben", "sibling"] > 0.5
    assert found["Ben", "Dora", "grandparent"] > 0.5


def test_a_spouses_mother_is_an_in_law() -> None:
    found = confidences({
        ("Ada", "Ben", "spouse"): [entry(1), entry(2, "is")],
        ("Ben", "Dora", "parent"): [entry(3), entry(4, "is")],
    })  # fmt: skip
    assert found["Ada", "Dora", "in-law"] > 0.5


def test_of_two_mothers_the_less_founded_is_doubted() -> None:
    found = confidences({
        ("Ada", "Cleo", "parent"): [entry(number, "vocative", term="mom") for number in range(20)],
        ("Ada", "Dora", "parent"): [entry(30, "vocative", term="mom")],
    })  # fmt: skip
    assert found["Ada", "Dora", "parent"] < 0.2 < 0.7 < found["Ada", "Cleo", "parent"]


def test_a_man_is_nobodys_mother() -> None:
    evidence: dict[TieKey, list[TieEvidence]] = {("Ada", "Mr. Dorn", "parent"): [entry(1, "vocative", term="mom")]}
    assert not confidences(evidence)


def test_repetition_counts_ever_less() -> None:
    once, twice, often = (mass_of([entry(number) for number in range(count)]) for count in (1, 2, 20))
    assert once < twice < often < 10 * once


def test_an_early_joke_does_not_date_a_tie() -> None:
    assert beginning([entry(10, "love"), entry(50_000, "dating"), entry(50_010, "dating")]) == 1
