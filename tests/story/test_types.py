from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.errors import UnknownMoment
from understudy.story.storyfile.database import pack, unpack
from understudy.story.types import Fact, Moment, Schema, holding_at

numbers = st.lists(st.integers(0, 2**32 - 2), min_size=1, max_size=5).map(tuple)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("S03E05", (3, 5)),
        ("s3e5", (3, 5)),
        ("3x05", (3, 5)),
        ("3x05.2", (3, 5, 2)),
        ("book 3, chapter 5", (3, 5)),
        ("Book3-chapter5", (3, 5)),
        ("3.5", (3, 5)),
        ("3.5.1.20", (3, 5, 1, 20)),
        ("act 2 scene 1", (2, 1)),
        ("Act II, scene iv", (2, 4)),
        (" 7 ", (7,)),
    ],
)
def test_every_way_of_writing_a_moment_is_read(text: str, expected: tuple[int, ...]) -> None:
    assert Moment.parse(text).numbers == expected


@pytest.mark.parametrize(
    "text", ["", "soon", "3.", "3..5", "chapter", "-1", "3.5 or so", "S03E", "1e5", "book", "9" * 5000]
)
def test_what_is_no_moment_is_refused_with_how_to_write_one(text: str) -> None:
    with pytest.raises(UnknownMoment, match="write 3.5"):
        Moment.parse(text)


def test_a_storys_own_levels_are_kept_to() -> None:
    levels = ("book", "chapter", "scene", "line")
    assert str(Moment.parse("3.5", levels)) == "book 3, chapter 5"
    with pytest.raises(UnknownMoment, match="counts by book, chapter"):
        Moment.parse("act 3, scene 5", levels)
    with pytest.raises(UnknownMoment, match="from the largest down"):
        Moment.parse("chapter 5", levels)
    with pytest.raises(UnknownMoment, match="5 numbers"):
        Moment.parse("1.2.3.4.5", levels)


def test_a_coarse_moment_is_the_start_of_its_chapter() -> None:
    chapter = Moment.parse("2.3")
    assert Moment.parse("2.2.9.99") < chapter < Moment.parse("2.3.1.1")
    assert Moment.parse("2.3.1.1").within(chapter)
    assert not Moment.parse("2.4").within(chapter)
    assert Moment.parse("start") < Moment.parse("1") < Moment.parse("end")


@given(numbers, numbers)
def test_moments_compare_as_tuples_in_memory_and_on_file(one: tuple[int, ...], other: tuple[int, ...]) -> None:
    first, second = Moment(one), Moment(other)
    assert (first < second) == (one < other)
    assert (first == second) == (one == other)
    assert (pack(first) < pack(second)) == (one < other)
    assert first < Moment.end()
    assert pack(first) < pack(Moment.end())


@given(numbers)
def test_a_printed_moment_reads_back(written: tuple[int, ...]) -> None:
    moment = Moment(written, ("part", "chapter", "scene", "line", "word"))
    assert Moment.parse(moment.dotted) == moment
    assert Moment.parse(str(moment), moment.levels) == moment
    assert unpack(pack(moment), moment.levels) == moment


@given(st.text(max_size=40))
def test_any_text_is_a_moment_or_a_named_error(text: str) -> None:
    try:
        moment = Moment.parse(text)
    except UnknownMoment:
        return
    assert moment.numbers


def test_the_default_schema_is_hpds() -> None:
    schema = Schema()
    inborn_and_nurture = (
        "gender age lineage talents looks achievement title belongings export hobby character spells nickname".split()
    )
    assert list(schema.attributes[:13]) == inborn_and_nurture
    assert schema.kinds[:8] == (
        "friend", "classmate", "teacher", "family", "lover", "opponent", "teammate", "enemy",
    )  # fmt: skip
    assert schema.bounds("affection") == (-10, 10)
    assert schema.bounds("familiarity") == (0, 10)
    assert schema.bounds("friend") is None
    assert "rival" in schema.extended(kinds=("rival", "friend")).kinds


@st.composite
def facts(draw: st.DrawFn) -> list[Fact]:
    moments = st.lists(st.integers(1, 3), min_size=1, max_size=3).map(lambda numbers: Moment(tuple(numbers)))
    drawn = st.tuples(st.sampled_from(["age", "title"]), moments, st.none() | moments)
    return [
        Fact("Ann", attribute, (str(number),), since, until)
        for number, (attribute, since, until) in enumerate(draw(st.lists(drawn, max_size=8)))
    ]


@given(dated=facts(), numbers=st.lists(st.integers(1, 4), min_size=1, max_size=3))
def test_of_each_key_the_newest_that_began_and_has_not_ended_holds(dated: list[Fact], numbers: list[int]) -> None:
    at = Moment(tuple(numbers))
    running = [fact for fact in dated if fact.since <= at and not (fact.until is not None and fact.until <= at)]
    for key in {fact.key for fact in dated}:
        held = [fact for fact in holding_at(dated, at) if fact.key == key]
        rivals = [fact for fact in running if fact.key == key]
        assert len(held) == bool(rivals)
        if held:
            latest = max(fact.since for fact in rivals)
            assert held == [[fact for fact in rivals if fact.since == latest][-1]]


@given(dated=facts(), numbers=st.lists(st.integers(1, 4), min_size=1, max_size=3))
def test_what_is_dated_later_changes_nothing_now(dated: list[Fact], numbers: list[int]) -> None:
    at = Moment(tuple(numbers))
    assert holding_at(dated, at) == holding_at([fact for fact in dated if fact.since <= at], at)
    distinct = list({(fact.key, fact.since): fact for fact in dated}.values())
    assert set(holding_at(distinct, at)) == set(holding_at(reversed(distinct), at))


def test_a_number_of_thousands_of_digits_is_no_moment() -> None:
    with pytest.raises(UnknownMoment, match=r"not 1\.\.\.\."):
        Moment((1, 10**5000))


def test_one_can_have_many_secrets_and_each_is_learnt_in_its_time() -> None:
    def secret(value: str, since: int, *known_to: str) -> Fact:
        return Fact("Ines", "secret", (value,), Moment((since,)), known_to=known_to)

    facts = [secret("the key", 1), secret("the lamp", 1, "Mara"), secret("the key", 2, "Tobias")]
    assert {fact.values[0]: fact.known_to for fact in holding_at(facts, Moment((1, 1)))} == {
        "the key": (),
        "the lamp": ("Mara",),
    }
    assert {fact.values[0]: fact.known_to for fact in holding_at(facts, Moment((2,)))} == {
        "the key": ("Tobias",),
        "the lamp": ("Mara",),
    }
