from __future__ import annotations

import tomllib

from understudy.story.types import Character, Moment, Schema
from understudy.studies.annotation_results import cast_text, facts_of, ties_of
from understudy.studies.annotations import AnnotatedFact, AnnotatedTie


def at(*numbers: int) -> Moment:
    return Moment(numbers)


def test_what_stays_the_same_is_written_once_and_what_ends_has_an_end() -> None:
    claims = [
        AnnotatedFact("Ines", "belongings", "a key", at(1, 1)),
        AnnotatedFact("Ines", "belongings", "a lamp", at(1, 1)),
        AnnotatedFact("Ines", "belongings", "A Lamp", at(1, 2)),  # the same two, in another order
        AnnotatedFact("Ines", "belongings", "a key", at(1, 2)),
        AnnotatedFact("Ines", "belongings", "a key", at(1, 3)),
        AnnotatedFact("Ines", "belongings", "none", at(1, 4)),
        AnnotatedFact("Ines", "belongings", "a rope", at(1, 5)),
    ]

    spans = [(fact.values, fact.since.dotted, fact.until and fact.until.dotted) for fact in facts_of(claims)]

    assert spans == [(("a key", "a lamp"), "1.1", None), (("a key",), "1.3", "1.4"), (("a rope",), "1.5", None)]


def test_sentences_of_a_profile_stand_beside_each_other() -> None:
    claims = [AnnotatedFact("Ines", "profile", text, at(1)) for text in ("I sail.", "I knit.")]

    assert [fact.values for fact in facts_of(claims)] == [("I sail.",), ("I knit.",)]


def test_levels_change_and_kinds_end() -> None:
    claims = [
        AnnotatedTie("Ines", "Pia", "affection", "3", at(1)),
        AnnotatedTie("Ines", "Pia", "affection", "-4", at(2)),
        AnnotatedTie("Ines", "Pia", "friend", "", at(1)),
        AnnotatedTie("Ines", "Pia", "friend", "over", at(2)),
    ]

    spans = [(tie.kind, tie.level, tie.since.dotted, tie.until and tie.until.dotted) for tie in ties_of(claims)]

    assert spans == [("affection", 3, "1", None), ("affection", -4, "2", None), ("friend", None, "1", "2")]


def test_attributes_of_the_study_are_declared() -> None:
    schema = Schema().extended(("shoe size",), ("rival",))

    text = cast_text('A "tale"', "en", ("scene", "line"), schema, [Character("Ines", ("In",))], [], [])

    document = tomllib.loads(text)
    assert document["title"] == 'A "tale"'
    assert document["schema"] == {"attributes": ["shoe size"], "kinds": ["rival"]}
    assert document["character"] == [{"name": "Ines", "aliases": ["In"]}]
