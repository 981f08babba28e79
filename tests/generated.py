"""Stories made by hypothesis, with what each character may know worked out the slow and obvious way.

Every text, name and value is one of a kind, so that finding it anywhere means that it leaked.
"""

from __future__ import annotations

import sqlite3
import types
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from hypothesis import strategies as st

from stories import found_fact, found_tie, write_claims
from understudy.formats.assembly import Assembly
from understudy.sources import (
    CastEntry,
    Cue,
    Description,
    Event,
    FactEntry,
    Heading,
    Opening,
    RelationEntry,
    SceneStart,
    Speech,
)
from understudy.sources.source import SourceFile
from understudy.story.dialogue import Situation
from understudy.story.storyfile import Story, StoryWriter
from understudy.story.storyfile.past import StoryPast
from understudy.story.types import Character, Fact, Moment, Relation, Source
from understudy.story.wording import fill_macros

LEVELS = ("part", "chapter", "scene", "line")
NAMES = ["Abelard", "Brunhild", "Cosimo", "Dorothea", "Eustace"]
HERE = Source("made.txt", 1)
COMING_AND_GOING: tuple[Literal["enter", "leave"], ...] = ("enter", "leave")


@dataclass
class Plan:
    """A story as it was drawn: events for the assembly, and the oracle's own bookkeeping."""

    events: list[Event] = field(default_factory=list)
    lines: list[tuple[Moment, str | None, str, frozenset[str]]] = field(default_factory=list)
    """(moment, speaker, text, who was there)"""
    scenes: list[tuple[Moment, str]] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    ties: list[Relation] = field(default_factory=list)
    named: list[tuple[Moment, str, frozenset[str]]] = field(default_factory=list)
    """(moment, who was named, who heard it)"""
    found_facts: list[Fact] = field(default_factory=list)
    found_ties: list[Relation] = field(default_factory=list)

    def present_at(self, line: Moment) -> frozenset[str]:
        return next(company for moment, _, _, company in self.lines if moment == line)

    def knows(self, who: str, claim: Fact | Relation, at: Moment) -> bool:
        """Was somebody there for a line, before a moment, that says what was found?"""
        assert claim.found is not None
        return any(source < at and who in self.present_at(source) for source in claim.found.sources)

    def thoughts(self, who: str, at: Moment) -> set[str]:
        """What somebody said by a moment while nobody else was there, in scenes in which somebody had been by then."""
        said = [entry for entry in self.lines if entry[0] < at]
        shared = {moment.numbers[:-1] for moment, _, _, company in said if company - {who}}
        return {
            text
            for moment, speaker, text, company in said
            if speaker == who and company == {who} and moment.numbers[:-1] in shared
        }

    def story(self, folder: Path) -> Story:
        source = folder / "made.txt"
        source.write_text("made up\n")
        opened = SourceFile(source)
        opened.units = sum(event.units for event in self.events if not isinstance(event, Opening))
        with StoryWriter(None) as writer:
            assembly = Assembly(writer)
            assembly.add_file(opened, "made", iter(self.events))
            assembly.finish("Made Up")
            story = Story(writer.address)
            if not (self.found_facts or self.found_ties):
                return story
            write_claims(story, folder / "made.found.toml", [*self.found_facts, *self.found_ties])
            return Story(writer.address, found_file=folder / "made.found.toml")

    def moments(self) -> Iterator[Moment]:
        for moment, _ in self.scenes:
            yield moment
            yield Moment(moment.numbers[:2], LEVELS)
        for moment, *_ in self.lines:
            yield moment
        yield Moment.end(LEVELS)


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    plan = Plan(events=[Opening(LEVELS)])
    cast = NAMES[: draw(st.integers(2, 5))]
    plan.events.extend(CastEntry(HERE, Character(name, (), (f"I am {name} indeed.",))) for name in cast)
    number = 0
    for part in range(1, draw(st.integers(1, 2)) + 1):
        plan.events.append(Heading(HERE, f"part-title-{part}", (part,)))
        for chapter in range(1, draw(st.integers(1, 2)) + 1):
            plan.events.append(Heading(HERE, f"chapter-title-{part}-{chapter}", (part, chapter)))
            for scene in range(1, draw(st.integers(1, 2)) + 1):
                number = _draw_scene(draw, plan, cast, (part, chapter, scene), number)
    _draw_dated(draw, plan, cast)
    return plan


def _draw_scene(draw: st.DrawFn, plan: Plan, cast: list[str], place: tuple[int, ...], number: int) -> int:
    moment = Moment(place, LEVELS)
    setting = f"the setting numbered {'.'.join(map(str, place))}"
    listed = draw(st.lists(st.sampled_from(cast), unique=True))
    plan.events.append(SceneStart(HERE, setting, tuple(listed)))
    plan.scenes.append((moment, setting))
    drawn: list[tuple[str, str | None]] = draw(
        st.lists(
            st.tuples(st.sampled_from(["say", "say", "describe", "enter", "leave"]), st.sampled_from(cast)),
            min_size=1,
            max_size=8,
        )
    )
    steps = [(kind, who) for kind, who in drawn if who is not None]
    named = draw(st.lists(st.sampled_from([None, None, *cast]), min_size=len(steps), max_size=len(steps)))
    there = _who_is_there(steps, listed)
    for place_in_scene, ((kind, who), mention) in enumerate(zip(steps, named), 1):
        number += 1
        text = f"utterance number {number} of all" + (f" about {mention} herself" if mention else "")
        at = Moment((*place, place_in_scene), LEVELS)
        company = there[place_in_scene - 1]
        plan.lines.append((at, who if kind == "say" else None, text, company))
        if mention and kind == "say":  # what a direction calls people is heard by nobody
            plan.named.append((at, mention, company))
        if kind == "say":
            plan.events.append(Speech(HERE, (who,), text))
        else:
            cues = [Cue(told, who) for told in COMING_AND_GOING if told == kind]
            plan.events.append(Description(HERE, text, tuple(cues)))
    return number


def _who_is_there(steps: list[tuple[str, str]], listed: list[str]) -> list[frozenset[str]]:
    """Who is there for each line. Whoever is listed, or is first told of by speaking or leaving, was there at the
    start; who enters or speaks is there from that line; who leaves hears that line still."""
    first_told: dict[str, str] = {}
    for kind, who in steps:
        if kind != "describe":
            first_told.setdefault(who, kind)
    there = {*listed, *(who for who, kind in first_told.items() if kind in ("say", "leave"))}
    company = []
    for kind, who in steps:
        if kind in ("say", "enter"):
            there.add(who)
        company.append(frozenset(there))
        if kind == "leave":
            there.discard(who)
    return company


def _draw_dated(draw: st.DrawFn, plan: Plan, cast: list[str]) -> None:
    moments = st.sampled_from(sorted({moment for moment, _ in plan.scenes}))
    for number in range(draw(st.integers(0, 6))):
        since, until = draw(moments), draw(st.none() | moments)
        fact = Fact(
            draw(st.sampled_from(cast)),
            draw(st.sampled_from(["belongings", "title", "looks"])),
            (f"possession number {number} of all",),
            since,
            until if until is not None and until > since else None,
            draw(st.none() | st.lists(st.sampled_from(cast), unique=True).map(tuple)),
        )
        if not any((fact.who, fact.attribute, fact.since) == (f.who, f.attribute, f.since) for f in plan.facts):
            plan.facts.append(fact)
            plan.events.append(FactEntry(HERE, fact))
    for _ in range(draw(st.integers(0, 6))):
        of, to = draw(st.permutations(cast))[:2]
        tie = Relation(of, to, "affection", draw(st.integers(-10, 10)), draw(moments))
        if not any((tie.of, tie.to, tie.since) == (t.of, t.to, t.since) for t in plan.ties):
            plan.ties.append(tie)
            plan.events.append(RelationEntry(HERE, tie))


@st.composite
def plans_with_found(draw: st.DrawFn) -> Plan:
    """Plans in which facts and ties were found as well, each in one line or several."""
    plan = draw(plans())
    cast = NAMES[: sum(isinstance(event, CastEntry) for event in plan.events)]
    lines = st.lists(st.sampled_from([moment for moment, *_ in plan.lines]), min_size=1, max_size=3, unique=True)
    confidence = st.sampled_from([0.3, 0.6, 0.75, 0.95])
    for number in range(draw(st.integers(1, 5))):
        who, attribute = draw(st.sampled_from(cast)), draw(st.sampled_from(["profile", "hobby", "belongings", "looks"]))
        sources = sorted(draw(lines))
        if not any((fact.who, fact.attribute) == (who, attribute) for fact in plan.found_facts):
            text = f"discovery number {number} of all"
            plan.found_facts.append(found_fact(who, attribute, text, *sources, confidence=draw(confidence)))
    for of in draw(st.lists(st.sampled_from(cast), unique=True)):
        to = draw(st.sampled_from([name for name in cast if name != of]))
        kind, term = draw(st.sampled_from([("spouse", "wife"), ("friend", "")]))
        plan.found_ties.append(found_tie(of, to, kind, *sorted(draw(lines)), confidence=draw(confidence), term=term))
    return plan


# Everything that can be got hold of from a `Situation`: by walking its objects, and by putting its queries.


NOT_WALKED = (type, types.ModuleType, types.BuiltinFunctionType)


def strings_in(root: object) -> Iterator[str]:
    """All texts in an object graph: fields, slots, closures, bound objects, containers."""
    seen: set[int] = set()
    waiting: list[Any] = [root]
    while waiting:
        thing = waiting.pop()
        if id(thing) in seen or isinstance(thing, NOT_WALKED):
            continue
        seen.add(id(thing))
        assert not isinstance(thing, Story), "a Story can be reached from a Situation"
        if isinstance(thing, str):
            yield thing
        elif isinstance(thing, bytes):
            yield thing.decode("latin-1")
        elif isinstance(thing, dict):
            waiting.extend([*thing.keys(), *thing.values()])
        elif isinstance(thing, list | tuple | set | frozenset):
            waiting.extend(thing)
        elif isinstance(thing, types.FunctionType):
            waiting.extend(cell.cell_contents for cell in thing.__closure__ or ())
            waiting.append(thing.__defaults__)
        elif isinstance(thing, types.MethodType):
            waiting.append(thing.__self__)
        else:
            waiting.append(getattr(thing, "__dict__", None))
            for cls in type(thing).__mro__:
                slots = cls.__dict__.get("__slots__", ())
                names = (slots,) if isinstance(slots, str) else slots
                waiting.extend(getattr(thing, name) for name in names if hasattr(thing, name))


def strings_by_query(situation: Situation) -> Iterator[str]:
    """All texts that the persona's views give, asked for everything they have."""
    past = situation.persona.past
    yield from strings_in([*past.lines(), *past.scenes(), *past.exchanges(), *past.thoughts()])


def reachable(situation: Situation) -> set[str]:
    return {*strings_in(situation), *strings_by_query(situation)}


def tables_that_open(past: StoryPast, story: Story) -> list[str]:
    """Tables of the story file that can be read through a persona's own connection: there must be none."""
    opened = []
    tables = [name for (name,) in story._db.rows("SELECT name FROM sqlite_master WHERE type = 'table'")]
    for table in [*tables, "sqlite_master", "known"]:
        try:
            past._db.row(f"SELECT * FROM {table} LIMIT 1")
            opened.append(table)
        except sqlite3.DatabaseError:
            continue
    return opened


def unwitnessed_texts(story: Story, name: str, at: Moment) -> set[str]:
    """Texts that a character has not come across by a moment: said later, or where it was not.

    What its own card says of it has no date, though a card's greetings and scenario are scenes as well.
    """
    card = story.card_texts(name)
    timeless = (fill_macros(text, "", language=story.language) for text in (*card.greetings, card.scenario))
    own = (" ".join(text.split()) for text in timeless)
    known: set[str] = {story.character(name).name, *own}
    unknown: set[str] = set()
    for scene in story.scenes():
        there = [(first, last) for who, first, last in story.presence_intervals(scene.moment) if who == name]
        began = any(first <= len(scene.lines) for first, _ in there) and scene.moment < at
        (known if began else unknown).add(scene.setting)
        for number, line in enumerate(scene.lines, 1):
            witnessed = line.moment < at and any(first <= number <= last for first, last in there)
            (known if witnessed else unknown).add(line.text)
    everything_known = "\n".join(known)  # a short line may stand in a longer one that was heard
    return {text for text in unknown if text not in everything_known}


def assert_nothing_withheld_is_reached(story: Story, situation: Situation) -> None:
    persona = situation.persona
    assert isinstance(persona.past, StoryPast)
    assert tables_that_open(persona.past, story) == []
    reached = reachable(situation)
    for text in unwitnessed_texts(story, persona.name, persona.moment):
        assert not any(text in string for string in reached), f"{persona.name} at {persona.moment} reaches {text!r}"
