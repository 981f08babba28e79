"""No way for the future to leak, nor what happened elsewhere: the promise everything else is built on."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generated import NAMES, Plan, plans, plans_with_found, reachable, tables_that_open
from understudy.formats import read
from understudy.story.dialogue import situation_at
from understudy.story.storyfile.past import StoryPast
from understudy.story.types import Moment

protected = settings(max_examples=3 * settings().max_examples)  # the one promise that is tried harder


def standing(draw: st.DataObject, plan: Plan) -> tuple[str, Moment, str | None]:
    cast = NAMES[: sum(type(event).__name__ == "CastEntry" for event in plan.events)]
    who = draw.draw(st.sampled_from(cast))
    facing = draw.draw(st.sampled_from([None, *(name for name in cast if name != who)]))
    return who, draw.draw(st.sampled_from(list(plan.moments()))), facing


@protected
@given(plan=plans() | plans_with_found(), data=st.data())
def test_what_the_rules_withhold_cannot_be_reached(tmp_path: Path, plan: Plan, data: st.DataObject) -> None:
    story = plan.story(tmp_path)
    who, at, facing = standing(data, plan)
    situation = situation_at(story, who, at, facing)
    reached = reachable(situation)

    witnessed = {text for moment, _, text, company in plan.lines if moment < at and who in company}
    company = {name for moment, _, _, there in plan.lines if moment < at and who in there for name in there}
    heard_of = company | {name for moment, name, heard in plan.named if moment < at and who in heard}
    before = {facing} if facing else set()
    before |= {other.name for other in situation.present}

    assert {string for string in reached if string.startswith("utterance")} == witnessed
    attended = {
        setting
        for scene, setting in plan.scenes
        if any(m.within(scene) and m < at and who in there for m, _, _, there in plan.lines)
    }
    assert {string for string in reached if string.startswith("the setting")} == attended
    assert not any("title-" in string for string in reached), "headings are the author's"

    for name in set(NAMES) - {who} - heard_of - before:
        narrated = {text for _, speaker, text, _ in plan.lines if speaker is None}
        texts = [string for string in reached if name in string and string not in narrated]
        assert not texts, f"{who} has never heard of {name}, but reaches {texts}"

    for fact in plan.facts:
        holds = fact.since <= at and (fact.until is None or at < fact.until)
        newer = any(
            (other.who, other.attribute) == (fact.who, fact.attribute)
            and fact.since < other.since <= at
            and (other.until is None or at < other.until)
            for other in plan.facts
        )
        mine = fact.who == who
        told = fact.known_to is not None and who in fact.known_to
        seen = fact.who in before and (told or (fact.known_to is None and fact.attribute in ("title", "looks")))
        assert any(fact.values[0] in string for string in reached) == (holds and not newer and (mine or seen))

    shown = {(tie.to, tie.level) for tie in situation.persona.relations if tie.found is None}
    expected = {}
    for tie in sorted((tie for tie in plan.ties if tie.of == who and tie.since <= at), key=lambda tie: tie.since):
        if tie.to in heard_of | before:
            expected[tie.to] = tie.level
    assert shown == set(expected.items())
    assert all(tie.of == who and tie.since <= at and tie.until is None for tie in situation.persona.relations)


@protected
@given(plan=plans_with_found(), data=st.data())
def test_what_was_found_is_known_after_its_line_and_to_those_who_were_there(
    tmp_path: Path, plan: Plan, data: st.DataObject
) -> None:
    story = plan.story(tmp_path)
    who, at, facing = standing(data, plan)
    situation = situation_at(story, who, at, facing)
    reached = reachable(situation)
    company = {name for moment, _, _, there in plan.lines if moment < at and who in there for name in there}
    heard_of = company | {name for moment, name, heard in plan.named if moment < at and who in heard}
    before = ({facing} if facing else set()) | {other.name for other in situation.present}
    written = {(fact.who, fact.attribute) for fact in plan.facts}
    for fact in plan.found_facts:
        assert fact.found is not None
        is_used = fact.found.confidence >= 0.6 and (fact.who, fact.attribute) not in written
        is_about = fact.who == who or fact.who in before
        shown = [text for text in reached if fact.values[0] in text]
        assert bool(shown) == (is_used and is_about and plan.knows(who, fact, at))
    found = {(tie.to, tie.kind): tie for tie in situation.persona.relations if tie.found is not None}
    assert set(found) == {
        (tie.to, tie.kind)
        for tie in plan.found_ties
        if tie.found is not None and tie.found.confidence >= 0.6
        if tie.of == who and tie.to in heard_of | before and plan.knows(who, tie, at)
    }
    findings = [tie.found for tie in found.values() if tie.found is not None]
    findings += [sentence.finding for sentence in situation.persona.found.values()]
    assert all(source < at for finding in findings for source in finding.sources)
    assert not any(fact.values[0] in secret for fact in plan.found_facts for secret in situation.secrets)


@protected
@given(plan=plans() | plans_with_found(), data=st.data())
def test_secrets_and_acquaintances_hold_nothing_of_the_future(tmp_path: Path, plan: Plan, data: st.DataObject) -> None:
    story = plan.story(tmp_path)
    who, at, facing = standing(data, plan)
    situation = situation_at(story, who, at, facing)
    secrets = {
        fact.values[0]
        for fact in plan.facts
        if fact.who == who and fact.known_to is not None and facing not in fact.known_to and fact.since <= at
    }
    assert all(any(value in sentence for value in secrets) for sentence in situation.secrets)
    company = {name for moment, _, _, there in plan.lines if moment < at and who in there for name in there}
    named = {name for moment, name, heard in plan.named if moment < at and who in heard}
    assert {other.name for other in situation.acquaintances} <= (company | named) - {who}
    assert all(not other.relations for other in situation.acquaintances)


def test_of_a_death_only_those_who_know_it_are_told() -> None:
    story = read("demo")

    def told(name: str, moment: str) -> tuple[str, ...]:
        acquaintances = situation_at(story, name, moment).acquaintances
        return next(other.profile for other in acquaintances if other.name == "Ignace Bohm")

    assert told("Zita Karst", "3.2") == told("Danilo Reuss", "3.3") == ()
    assert "thirtieth of October" in told("Zita Karst", "3.3")[0]
    assert "thirtieth of October" in told("Danilo Reuss", "3.4")[0]


@protected
@given(plan=plans(), data=st.data())
def test_what_has_just_happened_is_what_was_witnessed_last(tmp_path: Path, plan: Plan, data: st.DataObject) -> None:
    story = plan.story(tmp_path)
    who, at, facing = standing(data, plan)
    situation = situation_at(story, who, at, facing)
    witnessed = [(moment, text) for moment, _, text, company in plan.lines if moment < at and who in company]
    if not witnessed:
        assert (situation.scene, situation.is_in_scene) == (None, False)
        return
    last, _ = witnessed[-1]
    scene = situation.scene
    assert scene is not None
    assert [(line.moment, line.text) for line in scene.lines] == [
        (moment, text) for moment, text in witnessed if moment.within(scene.moment)
    ]
    assert last.within(scene.moment)
    earlier = [(moment, company) for moment, _, _, company in plan.lines if moment < at]
    moment, company = earlier[-1]
    assert situation.is_in_scene == (
        at.within(scene.moment) and at != scene.moment and who in company and moment == last
    )


@protected
@given(plan=plans(), data=st.data())
def test_memory_never_holds_a_scene_the_character_was_absent_from(
    tmp_path: Path, plan: Plan, data: st.DataObject
) -> None:
    story = plan.story(tmp_path)
    who, _, _ = standing(data, plan)
    for at in set(plan.moments()):
        past = situation_at(story, who, at).persona.past
        memory = list(past.scenes())
        there = {moment: company for moment, _, _, company in plan.lines if moment < at and who in company}
        assert {line.moment for scene in memory for line in scene.lines} == set(there)
        for scene in memory:
            witnessed = [company for moment, company in there.items() if moment.within(scene.moment)]
            assert witnessed, "a scene the character was not in"
            assert set(scene.present) == set().union(*witnessed)
        own = [text for moment, speaker, text, _ in plan.lines if speaker == who and moment < at]
        assert [line.text for line in past.lines()] == own
        thoughts = plan.thoughts(who, at)
        assert {line.text for line in past.thoughts()} == thoughts
        assert [exchange.said.text for exchange in past.exchanges()] == [text for text in own if text not in thoughts]
        assert len(past) == len(own)
        for moment, *_ in plan.lines:
            assert past.company(moment) == there.get(moment, {who}) - {who}
        assert [line.text for line in past.lines(last=2)] == own[-2:]
        assert list(past.scenes(last=1)) == memory[-1:]


def test_the_database_itself_refuses_every_other_door() -> None:
    story = read("demo-zh")
    past = situation_at(story, "葛长顺", "1.2").persona.past
    assert isinstance(past, StoryPast)
    assert tables_that_open(past, story) == []
    with pytest.raises(sqlite3.DatabaseError, match="prohibited|not authorized"):
        past._db.rows("SELECT text FROM main.lines")
