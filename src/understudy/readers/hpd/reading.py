"""HPD, the Harry Potter dialogue set: sessions with their position in the books, and what everybody is and feels there.

    {"Session-1": {"position": "Book1-chapter2", "speakers": [...], "scene": "...", "dialogue": ["Harry: ...", ...],
                   "positive_response": "...", "negative_response": [...],
                   "attributes": {name: {...}}, "relations with Harry": {name: {...}}}, ...}

As a story every session is a scene of its chapter, with the scene's text as its setting. Sessions may stand in any
order: a first pass notes the location of each, a second reads them in the order of the books. Attributes and relations
become facts and ties where they change; 'None' and blank are absent. As a benchmark every session with a positive
response is a question put to Harry.

A unit is a scene's text, a line of dialogue, or a reply to choose from; the last are questions, not story, and are
listed as unread, once a session.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from understudy.dialogue import Example, Situation, Turn
from understudy.persona import Other, Persona
from understudy.readers.events import (
    CastEntry,
    Description,
    Event,
    FactEntry,
    Heading,
    Opening,
    SceneStart,
    Speech,
    Unread,
)
from understudy.readers.hpd.changes import ChangeLog, DatedSpan
from understudy.readers.hpd.session import Session, session_of
from understudy.readers.hpd.ties import TieHistory
from understudy.readers.jsonstream import RecordLocation, json_members, read_records_at
from understudy.readers.names import unambiguous_aliases
from understudy.readers.reader import Reader
from understudy.readers.source import SourceFile
from understudy.story import Character, Fact, Moment, Relation
from understudy.text import guess_language
from understudy.wording import about_other, fact_sentence

__all__ = ["READER", "events", "examples", "recognises"]

LEVELS = ("book", "chapter", "scene", "line")
TELLING = (b'"position"', b'"dialogue"', b'"speakers"')


def recognises(head: bytes, _path: Path) -> bool:
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    return start.startswith(b"{") and all(key in head for key in TELLING)


def events(source: SourceFile) -> Iterator[Event]:
    """The stream of events of one file."""
    locations: list[tuple[tuple[int, int], int, RecordLocation]] = []
    names: dict[str, dict[str, None]] = {}
    first: dict[str, int] = {}
    for number, (location, member) in enumerate(json_members(source)):
        session = session_of(source, location, member)
        locations.append((session.chapter, number, location))
        source.units += session.texts
        for who, values in session.attributes.items():
            names.setdefault(who, {})[str(values.get("name") or who).strip()] = None
            first.setdefault(who, session.line)
    yield Opening(LEVELS)
    for name, aliases in unambiguous_aliases(names).items():
        yield CastEntry(source.at(first[name]), Character(name, aliases))
    states = _StateHistory()
    position, scene = (0, 0), 0
    for location, member in read_records_at(source, [location for *_, location in sorted(locations)]):
        session = session_of(source, location, member)
        if session.chapter != position:
            position, scene = session.chapter, 0
            title = f"Book {position[0]}, chapter {position[1]}"
            yield Heading(source.at(session.line), title, position, units=0)
        scene += 1
        yield from states.record(source, session, scene)
        yield from _scene_events(source, session)
    yield from states.open_spans()


def examples(source: SourceFile) -> Iterator[Example]:
    """A question for every session that has a positive response, in the order of the file."""
    has_questions = False
    for location, member in json_members(source):
        session = session_of(source, location, member)
        if session.positive is not None and session.positive.strip():
            has_questions = True
            yield _example(source, session)
    if not has_questions:
        raise source.error('no session has a "positive_response": questions are in HPD\'s test sets only')


def _scene_events(source: SourceFile, session: Session) -> Iterator[Event]:
    at = source.at(session.line)
    setting = session.scene.strip()
    # whoever is asked for the reply stands there too, though he may not have spoken
    present = dict.fromkeys(name.strip() for name in (*session.speakers, session.owner) if name.strip())
    yield SceneStart(at, setting, tuple(present), units=int(bool(setting)))
    for speaker, text, line in session.turns:
        if speaker is None:
            yield Description(at, text)
        elif text:
            yield Speech(at, (speaker,), text)
        else:
            yield Unread(at, line, "a label with nothing said")
    if session.replies:
        reason = "replies to choose from: a question, not the story"
        yield Unread(at, " | ".join(session.replies), reason, len(session.replies))


class _StateHistory:
    """Attributes and ties as they change from session to session."""

    def __init__(self) -> None:
        self._facts: ChangeLog[tuple[str, str], tuple[str, ...]] = ChangeLog()
        self._ties = TieHistory()

    def record(self, source: SourceFile, session: Session, scene: int) -> Iterator[Event]:
        at = source.at(session.line)
        chapter, here = Moment(session.chapter, LEVELS), Moment((*session.chapter, scene), LEVELS)
        for who, attribute, values in session.facts():
            if ended := self._facts.record((who, attribute), values or None, chapter, here, at):
                yield _fact_entry(ended)
        for statement in session.ties(source):
            yield from self._ties.record(statement, chapter, here, at)

    def open_spans(self) -> Iterator[Event]:
        yield from map(_fact_entry, self._facts.open_spans())
        yield from self._ties.open_spans()


def _fact_entry(span: DatedSpan[tuple[str, str], tuple[str, ...]]) -> FactEntry:
    who, attribute = span.key
    return FactEntry(span.source, Fact(who, attribute, span.value, span.since, span.until))


def _example(source: SourceFile, session: Session) -> Example:
    moment, owner = Moment(session.chapter, LEVELS), session.owner
    language = guess_language(session.scene + " ".join(session.lines))
    facts = [Fact(who, attribute, values, moment) for who, attribute, values in session.facts() if values]
    own = [fact for fact in facts if fact.who == owner]
    felt = tuple(
        Relation(owner, statement.to, statement.kind, statement.level, moment)
        for statement in session.ties(source)
        if statement.of == owner and statement.holds
    )
    history = tuple(Turn(speaker, text) for speaker, text, _ in session.turns if speaker and text)
    spoke = dict.fromkeys(turn.speaker for turn in reversed(history) if turn.speaker != owner)
    others = {
        name: Other(
            name,
            tuple(about_other(fact, name, language) for fact in facts if fact.who == name),
            tuple(tie for tie in felt if tie.to == name),
        )
        for name in dict.fromkeys((*spoke, *session.relations))
    }
    persona = Persona(
        name=owner,
        moment=moment,
        profile=tuple(fact_sentence(fact, language) for fact in own),
        attributes={fact.attribute: fact.values for fact in own},
        relations=felt,
        language=language,
    )
    faced = others[next(iter(spoke))] if spoke else None
    situation = Situation(persona, session.scene.strip(), faced, tuple(others.values()))
    gold = frozenset(index for index, reply in enumerate(session.replies) if reply == session.replies[0])
    return Example(situation, history, session.replies, gold, session.key)


READER = Reader("HPD sessions", recognises, events, examples)
