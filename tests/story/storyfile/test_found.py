"""found.toml: parsed strictly, and damage is told of with its line and what to do."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stories import found_fact, found_tie, write_claims
from understudy.errors import CastError
from understudy.formats import read
from understudy.story.storyfile import Story
from understudy.story.storyfile.found import (
    BOUND,
    FoundDecision,
    FoundEntry,
    FoundFile,
    found_file_of,
    place_entries,
    read_found,
)
from understudy.story.types import Fact, Moment, Relation, Schema

LEVELS = ("act", "scene", "line")
FACT = """bound = 0.7
[[fact]]
id = "a1"
who = "Ines Vale"
attribute = "hobby"
value = ["chess"]
from = "1.1.3"
confidence = 0.8
sources = ["1.1.2"]
quotes = ["Ines Vale: I play chess."]
"""


def parse(path: Path, text: str) -> FoundFile:
    path.write_text(text, encoding="utf-8")
    return read_found(path, LEVELS, Schema())


def test_a_file_that_is_not_there_holds_nothing(tmp_path: Path) -> None:
    assert read_found(tmp_path / "found.toml", LEVELS, Schema()) == FoundFile(tmp_path / "found.toml", BOUND)


def test_it_lies_in_the_folder_or_beside_the_file(tmp_path: Path) -> None:
    assert found_file_of(tmp_path) == tmp_path / "found.toml"
    assert found_file_of(tmp_path / "x.story") == tmp_path / "x.found.toml"


def test_what_an_entry_says(tmp_path: Path) -> None:
    file = parse(tmp_path / "found.toml", FACT)
    (entry,) = file.entries
    assert file.bound == 0.7 and entry.kind == "hobby" and entry.quotes == ("Ines Vale: I play chess.",)
    assert entry.claim.since == Moment((1, 1, 3)) and entry.finding.sources == (Moment((1, 1, 2)),)
    assert entry.is_used(0.8) and not entry.is_used(0.81)


@pytest.mark.parametrize(
    ("old", "new", "message", "line"),
    [
        ("confidence = 0.8", "confidence = 1.8", "'confidence' is 1.8", 2),
        ('from = "1.1.3"', 'from = "1.1.2"', "before its line 1.1.2 was said", 2),
        ('attribute = "hobby"', 'attribute = "secret"', "cannot be found", 2),
        ('attribute = "hobby"', 'attribute = "died"', "cannot be found", 2),
        ('quotes = ["Ines Vale: I play chess."]', "quotes = []", "0 quotes for 1 sources", 2),
        ('sources = ["1.1.2"]', "sources = []", "'sources'", 2),
        ("[[fact]]", "[fact]", "two brackets", 1),
        ('id = "a1"', "", "'id' is missing", 2),
        ("confidence = 0.8", "confidence = 0.8\nsure = true", "'sure' is unknown", 2),
        ("confidence = 0.8", 'confidence = 0.8\ndecision = "maybe"', "not one of accepted", 2),
        ("confidence = 0.8", 'confidence = 0.8\ndecision = "changed"', "does not say into what", 2),
        ('value = ["chess"]', "value = [", "is not TOML", None),
        ("bound = 0.7", "bound = true", "'bound' is True", 1),
        ("bound = 0.7", 'pending = "no"', "pending is 'no'", 1),
    ],
)
def test_damage_is_told_of_with_its_line_and_what_to_do(
    tmp_path: Path, old: str, new: str, message: str, line: int | None
) -> None:
    with pytest.raises(CastError, match=message) as caught:
        parse(tmp_path / "found.toml", FACT.replace(old, new))
    assert "understudy draft" in str(caught.value)
    assert caught.value.line == line if line is not None else caught.value.line


def test_a_level_is_in_its_range(tmp_path: Path) -> None:
    tie = FACT.replace("[[fact]]", "[[relation]]").replace('who = "Ines Vale"', 'of = "A"\nto = "B"')
    tie = tie.replace('attribute = "hobby"', 'kind = "affection"').replace('value = ["chess"]', "level = 11")
    with pytest.raises(CastError, match="level 11 is none of affection"):
        parse(tmp_path / "found.toml", tie)
    changed = 'level = 3\ndecision = "changed"\nchanged = ["12"]'
    with pytest.raises(CastError, match="no level of affection"):
        parse(tmp_path / "found.toml", tie.replace("level = 11", changed))


def test_a_damaged_file_stops_whoever_opens_the_story(story: Path) -> None:
    (story / "found.toml").write_text("bound = 2\n")
    with pytest.raises(CastError, match=r"found\.toml:1"):
        read(story)
    assert read(story, annotated=True).title == "The Brass Key"


def test_what_was_accepted_is_certain_and_what_was_changed_is_what_it_was_changed_into() -> None:
    source = Moment((1, 1, 2))
    tie = FoundEntry("x", found_tie("A", "B", "spouse", source, confidence=0.4, term="wife"), ("q",))
    assert not tie.is_used(0.6)
    accepted = FoundEntry("x", tie.claim, ("q",), decision=FoundDecision("accepted"))
    found = accepted.decided().found
    assert accepted.is_used(0.6) and found is not None and found.confidence == 1.0
    changed = FoundEntry("x", tie.claim, ("q",), decision=FoundDecision("changed", ("sibling",))).decided()
    assert changed == found_tie("A", "B", "sibling", source)


texts = st.text(st.characters(codec="utf-8"), min_size=1, max_size=30).filter(lambda text: text.strip())
moments = st.tuples(*[st.integers(1, 9)] * 3).map(lambda numbers: Moment(numbers, LEVELS))


@st.composite
def entries(draw: st.DrawFn) -> FoundEntry:
    sources = tuple(sorted(draw(st.lists(moments, min_size=1, max_size=3, unique=True))))
    confidence = draw(st.integers(0, 1000)) / 1000
    decision = draw(st.sampled_from([FoundDecision(), FoundDecision("accepted"), FoundDecision("rejected")]))
    if draw(st.booleans()):
        claim = found_fact(draw(texts), "hobby", draw(texts), *sources, confidence=confidence)
        decision = draw(st.just(decision) | texts.map(lambda text: FoundDecision("changed", (text,))))
        return FoundEntry("", claim, tuple(draw(texts) for _ in sources), "statements", decision)
    term = draw(st.just("") | texts)
    tie = found_tie(draw(texts), "Mara", "spouse", *sources, confidence=confidence, term=term)
    return FoundEntry("", tie, tuple(draw(texts) for _ in sources), "", decision)


@given(drawn=st.lists(entries(), max_size=4), bound=st.integers(0, 100), is_pending=st.booleans())
def test_what_is_written_reads_back(tmp_path: Path, drawn: list[FoundEntry], bound: int, is_pending: bool) -> None:
    numbered = [
        FoundEntry(f"id{number}", entry.claim, entry.quotes, entry.finder, entry.decision)
        for number, entry in enumerate(drawn)
        if getattr(entry.claim, "of", "") != "Mara"
    ]
    ordered = sorted(numbered, key=lambda entry: type(entry.claim).__name__)
    undo = (tuple((entry.id, entry.decision) for entry in ordered),)
    file = FoundFile(tmp_path / "found.toml", bound / 100, tuple(ordered), undo, is_pending)
    back = parse(file.path, file.render())
    assert back == file
    assert [entry.finding for entry in back.entries] == [entry.finding for entry in ordered]


# What was found lies over the story, gives way to its author, and finds its lines again.


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
