"""What was found lies over the story, gives way to its author, and finds its lines again."""

from __future__ import annotations

from pathlib import Path

import pytest

from found import found_fact, found_tie, write_claims
from understudy.formats import read
from understudy.story.storyfile import Story
from understudy.story.storyfile.found import FoundDecision, FoundFile, read_found
from understudy.story.storyfile.overlay import place_entries
from understudy.story.types import Fact, Moment, Relation

HOOKS = Moment((1, 1, 3))  # TOBIAS: Was it? I never look at hooks.
THIEF = Moment((1, 2, 2))  # MARA: Then you are a thief, and a cheap one.


def with_found(folder: Path, *claims: Fact | Relation) -> Story:
    write_claims(read(folder), folder / "found.toml", claims)
    return read(folder)


def test_found_ones_stand_among_the_annotated(story: Path) -> None:
    opened = with_found(
        story,
        found_fact("Tobias Rook", "hobby", "hooks", HOOKS),
        found_tie("Tobias Rook", "Mara Quill", "friend", THIEF),
    )
    (fact,) = opened.facts("Tobias")
    assert fact.found is not None and fact.since == Moment((1, 1, 4))
    assert set(fact.found.witnesses) == {"Ines Vale", "Tobias Rook"}
    assert [tie.kind for tie in opened.relations(of="Tobias", to="Mara")] == ["friend"]
    assert [fact.since for fact in opened.facts()] == sorted(fact.since for fact in opened.facts())
    annotated = read(story, annotated=True)
    assert not annotated.facts("Tobias")
    assert not annotated.relations(of="Tobias", to="Mara")


def test_it_lies_beside_a_story_file_too(story: Path, tmp_path: Path) -> None:
    made = read(story, into=tmp_path / "key.story")
    write_claims(made, tmp_path / "key.found.toml", [found_fact("Tobias Rook", "hobby", "hooks", HOOKS)])
    assert [fact.values for fact in Story.open(tmp_path / "key.story").facts("Tobias")] == [("hooks",)]
    assert Story.open(tmp_path / "key.story", annotated=True).facts("Tobias") == ()


@pytest.mark.parametrize(
    "claim",
    [
        found_fact("Ines Vale", "belongings", "a lamp", THIEF),
        found_fact("Ines Vale", "profile", "I keep the keys of the harbour", HOOKS),
        found_tie("Ines Vale", "Tobias Rook", "affection", THIEF, level=2),
    ],
)
def test_what_an_author_wrote_wins_whenever_it_holds(story: Path, claim: Fact | Relation) -> None:
    opened = with_found(story, claim)
    assert not any(fact.found for fact in opened.facts())
    assert not any(tie.found for tie in opened.relations())


def test_family_is_one_kind_to_an_author(story: Path) -> None:
    with (story / "cast.toml").open("a") as cast:
        cast.write('\n[[relation]]\nof = "Tobias Rook"\nto = "Mara Quill"\nkind = "family"\nfrom = "2.1"\n')
    opened = with_found(
        story,
        found_tie("Tobias Rook", "Mara Quill", "sibling", THIEF),
        found_tie("Mara Quill", "Tobias Rook", "sibling", THIEF),
    )
    assert [(tie.of, tie.kind) for tie in opened.relations() if tie.found] == [("Mara Quill", "sibling")]


def test_the_bound_and_decisions_say_what_is_used(story: Path) -> None:
    file = story / "found.toml"
    with_found(
        story,
        found_fact("Tobias Rook", "hobby", "hooks", HOOKS, confidence=0.5),
        found_fact("Tobias Rook", "title", "thief", THIEF, confidence=0.9),
    )
    opened = read(story)
    assert [fact.attribute for fact in opened.facts("Tobias")] == ["title"]
    text = file.read_text()
    file.write_text(
        text.replace("confidence = 0.5", 'confidence = 0.5\ndecision = "accepted"').replace(
            "confidence = 0.9", 'confidence = 0.9\ndecision = "rejected"'
        )
    )
    assert [fact.attribute for fact in opened.facts("Tobias")] == ["hobby"], "read again, since it changed"
    file.unlink()
    assert opened.facts("Tobias") == ()


def test_lines_are_found_again_by_their_text(story: Path) -> None:
    with_found(story, found_fact("Tobias Rook", "title", "thief", THIEF))
    script = (story / "act-1.txt").read_text()
    shifted = script.replace("TOBIAS: I sold", "[A bell.]\nTOBIAS: I sold")
    (story / "act-1.txt").write_text(shifted)
    (fact,) = read(story).facts("Tobias")
    assert fact.found is not None
    assert fact.found.sources == (Moment((1, 2, 3)),) and fact.since == Moment((1, 2, 4))
    (story / "act-1.txt").write_text(script.replace("a cheap one", "a dear one"))
    opened = read(story)
    assert opened.facts("Tobias") == ()
    (placed,) = place_entries(opened, read_found(story / "found.toml", opened.levels, opened.schema))
    assert placed.problem == "its lines are no longer in the story"


def test_why_an_entry_is_not_used(story: Path) -> None:
    opened = read(story)
    file = write_claims(
        opened,
        story / "found.toml",
        [
            found_fact("Ines Vale", "belongings", "a lamp", THIEF),
            found_fact("Ines Vale", "shoe size", "40", THIEF),
            found_fact("Nobody", "hobby", "chess", THIEF),
            found_fact("Mara Quill", "hobby", "chess", THIEF, confidence=0.2),
        ],
    )
    assert [placed.problem for placed in place_entries(opened, file)] == [
        "the story's author wrote of it",
        "the story has no 'shoe size': add it under [schema] of its cast.toml",
        "nobody in the story is called Nobody",
        "below the bound of 0.6",
    ]
    entry = file.entries[3]
    rejected = FoundFile(
        file.path, 0.1, (type(entry)(entry.id, entry.claim, entry.quotes, "", FoundDecision("rejected")),)
    )
    assert [placed.problem for placed in place_entries(opened, rejected)] == ["rejected"]
