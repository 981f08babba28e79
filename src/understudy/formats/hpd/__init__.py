"""HPD, the Harry Potter dialogue set: sessions with their position in the books, and what everybody is and feels there.

    {"Session-1": {"position": "Book1-chapter2", "speakers": [...], "scene": "...", "dialogue": ["Harry: ...", ...],
                   "positive_response": "...", "negative_response": [...],
                   "attributes": {name: {...}}, "relations with Harry": {name: {...}}}, ...}

As a story every session is a scene of its chapter, with the scene's text as its setting. Sessions may stand in any
order: a first pass notes the location of each, a second reads them in the order of the books. Attributes and relations
become facts and ties where they change; 'None' and blank are absent. As a benchmark every session with a positive
response is a question put to Harry. Beyond HPD, an attribute may be a list of texts, each a value of its own: so are
written what a story has and HPD has not, as secrets and sentences of a profile (`formats.hpd.writing`). A positive
response may be a list too, of all replies that people found right.

A unit is a scene's text, a line of dialogue, or a reply to choose from; the last are questions, not story, and are
listed as unread, once a session.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from understudy.formats.hpd.relations import (
    ChangeLog,
    DatedSpan,
    DatedStatement,
    LocatedErrors,
    TieHistory,
    TieStatement,
    statements,
    statements_beside,
)
from understudy.sources import (
    CastEntry,
    Description,
    Event,
    FactEntry,
    Heading,
    Opening,
    Reader,
    SceneStart,
    Speech,
    Unread,
)
from understudy.sources.jsonstream import RecordLocation, json_members, read_records_at
from understudy.sources.names import unambiguous_aliases
from understudy.sources.source import SourceFile
from understudy.story.dialogue import Example, Situation, Turn
from understudy.story.persona import Other, Persona, attributes_of
from understudy.story.types import PROFILE, SECRET, Character, Fact, Moment, Relation
from understudy.story.wording import about_other, fact_sentence
from understudy.text import guess_language

LINE = re.compile(r"\s*([^:：]{1,80}?)\s*[:：]\s*(.*)", re.DOTALL)
POSITION = re.compile(r"\s*book\s*(\d{1,4})\W*chapter\s*(\d{1,4})\s*", re.IGNORECASE)
RELATIONS = re.compile(r"relations with (.+)")
ITEM = re.compile(r"[,;，、\n]+(?:\s*-)?")
LISTS = frozenset(("affiliation", "belongings", "looks", "nickname", "spells", "talents", "title"))
"""Attributes whose values are lists; the others are said in a sentence, commas and all."""


class Session(NamedTuple):
    """A member of the file that has been checked."""

    key: str
    line: int
    chapter: tuple[int, int]
    speakers: tuple[str, ...]
    scene: str
    lines: tuple[str, ...]
    positives: tuple[str, ...]
    """The replies that are right, one in HPD's own files; none where nothing is asked."""
    negatives: tuple[str, ...]
    attributes: Mapping[str, Mapping[str, Any]]
    owner: str
    relations: Mapping[str, Mapping[str, Any]]

    def ties(self, source: SourceFile) -> Iterator[TieStatement]:
        """Every tie between the owner of the relations and the others."""
        for other, cells in self.relations.items():
            yield from statements(self.owner, other, cells, LocatedErrors(source, f'"{self.key[:60]}"', self.line))

    def facts(self) -> Iterator[tuple[str, str, tuple[str, ...]]]:
        """(who, attribute, values) for everybody; no values where the attribute is absent."""
        for who, attributes in self.attributes.items():
            for attribute, value in attributes.items():
                if attribute != "name":
                    yield who, attribute, _values(attribute, value)

    @property
    def turns(self) -> Iterator[tuple[str | None, str, str]]:
        """(speaker, what is said, the whole line) of each line that is not blank; no speaker where it has no label."""
        for line in self.lines:
            if match := LINE.fullmatch(line):
                yield match[1], match[2].strip(), line.strip()
            elif line.strip():
                yield None, line.strip(), line.strip()

    @property
    def said(self) -> tuple[Turn, ...]:
        """The lines that have a speaker."""
        return tuple(Turn(speaker, text) for speaker, text, _ in self.turns if speaker and text)

    @property
    def right(self) -> tuple[str, ...]:
        """The right replies, without blank ones."""
        return tuple(reply.strip() for reply in self.positives if reply.strip())

    @property
    def replies(self) -> tuple[str, ...]:
        """The replies to choose from, the right ones first."""
        return (*self.right, *(reply.strip() for reply in self.negatives if reply.strip()))

    @property
    def texts(self) -> int:
        """How many units of text the session has."""
        return sum(bool(text.strip()) for text in (self.scene, *self.lines)) + len(self.replies)


def session_of(source: SourceFile, location: RecordLocation, member: Any) -> Session:
    """Check a member of the file, and make it a session."""

    def part(key: str, kind: type[Any], default: Any = None) -> Any:
        value = member.get(key, default) if isinstance(member, dict) else None
        if not isinstance(value, kind):
            what = "a text" if kind is str else "a list" if kind is list else "an object"
            raise source.error(f'"{location.key[:60]}" is no HPD session: its "{key}" should be {what}', location.line)
        return value

    def texts(key: str, default: Any = None) -> tuple[str, ...]:
        values = part(key, list, default)
        if not all(isinstance(value, str) for value in values):
            raise source.error(f'"{location.key[:60]}": every item of "{key}" should be a text', location.line)
        return tuple(values)

    def tables(key: str) -> dict[str, Mapping[str, Any]]:
        values = part(key, dict, {})
        if not all(isinstance(value, dict) for value in values.values()):
            raise source.error(f'"{location.key[:60]}": everybody in "{key}" should have an object', location.line)
        return {name.strip(): value for name, value in values.items() if name.strip()}

    def positives() -> tuple[str, ...]:
        if "positive_response" not in member:
            return ()
        if isinstance(member["positive_response"], list):
            return texts("positive_response")
        return (part("positive_response", str),)

    match = POSITION.fullmatch(part("position", str))
    if match is None:
        message = f'"{location.key[:60]}": its "position" should look like "Book1-chapter2"'
        raise source.error(message, location.line)
    owners = [key for key in member if RELATIONS.fullmatch(key)]
    return Session(
        key=location.key,
        line=location.line,
        chapter=(int(match[1]), int(match[2])),
        speakers=texts("speakers", []),
        scene=part("scene", str, ""),
        lines=texts("dialogue"),
        positives=positives(),
        negatives=texts("negative_response", []),
        attributes=tables("attributes"),
        owner=owners[0].removeprefix("relations with ").strip() if owners else "Harry",
        relations=tables(owners[0]) if owners else {},
    )


def _values(attribute: str, value: Any) -> tuple[str, ...]:
    if isinstance(value, list):
        parts = [str(item) for item in value]
    else:
        text = "" if value is None else str(value).strip()
        parts = ITEM.split(text) if attribute in LISTS else [text]
    return tuple(part.strip() for part in parts if part.strip() and part.strip().lower() != "none")


LEVELS = ("book", "chapter", "scene", "line")


def events(source: SourceFile) -> Iterator[Event]:
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
    states = _StateHistory(statements_beside(source, names))
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


def sessions(source: SourceFile) -> Iterator[Session]:
    """Every session of a file, checked, in the order of the file."""
    for location, member in json_members(source):
        yield session_of(source, location, member)


def examples(source: SourceFile) -> Iterator[Example]:
    """A question for every session that has a positive response, in the order of the file."""
    has_questions = False
    for session in sessions(source):
        if session.right:
            has_questions = True
            yield question_of(source, session)
    if not has_questions:
        raise source.error('no session has a "positive_response": questions are in HPD\'s test sets only')


def dialogue_examples(source: SourceFile) -> Iterator[Example]:
    """A question for every line that the owner of a session's relations answers with: its only candidate."""
    for session in sessions(source):
        for index, turn in enumerate(session.said):
            if index and turn.speaker == session.owner:
                said = (turn.text,)
                yield _example(source, session, session.said[:index], said, said, f"{session.key}.{index}")


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

    def __init__(self, statements: Sequence[DatedStatement] = ()) -> None:
        """`statements` of workbooks come before those of the sessions of their chapter."""
        self._facts: ChangeLog[tuple[str, str], tuple[str, ...]] = ChangeLog()
        self._ties = TieHistory()
        self._ahead = deque(sorted(statements, key=lambda statement: statement.chapter.numbers))

    def record(self, source: SourceFile, session: Session, scene: int) -> Iterator[Event]:
        at = source.at(session.line)
        chapter, here = Moment(session.chapter, LEVELS), Moment((*session.chapter, scene), LEVELS)
        for who, attribute, values in session.facts():
            if ended := self._facts.record((who, attribute), values or None, chapter, here, at):
                yield from _fact_entries(ended)
        yield from self._told_ahead(chapter)
        for statement in session.ties(source):
            yield from self._ties.record(statement, chapter, here, at)

    def _told_ahead(self, chapter: Moment | None) -> Iterator[Event]:
        """What workbooks say up to a chapter, or all that they still say."""
        while self._ahead and (chapter is None or self._ahead[0].chapter.numbers <= chapter.numbers):
            since, source, statement = self._ahead.popleft()
            yield from self._ties.record(statement, since, since, source)

    def open_spans(self) -> Iterator[Event]:
        yield from self._told_ahead(None)
        for span in self._facts.open_spans():
            yield from _fact_entries(span)
        yield from self._ties.open_spans()


def _fact_entries(span: DatedSpan[tuple[str, str], tuple[str, ...]]) -> Iterator[FactEntry]:
    for fact in _facts(*span.key, span.value, span.since, span.until):
        yield FactEntry(span.source, fact)


def _facts(
    who: str, attribute: str, values: tuple[str, ...], since: Moment, until: Moment | None = None
) -> Iterator[Fact]:
    """One fact, or one for each secret and each sentence; the format does not say who knows a secret."""
    if attribute not in (SECRET, PROFILE):
        yield Fact(who, attribute, values, since, until)
        return
    for value in values:
        yield Fact(who, attribute, (value,), since, until, () if attribute == SECRET else None)


def question_of(source: SourceFile, session: Session) -> Example:
    """The question that a session with replies to choose from puts."""
    return _example(source, session, session.said, session.replies, session.right, session.key)


def _example(
    source: SourceFile,
    session: Session,
    history: tuple[Turn, ...],
    replies: tuple[str, ...],
    right: tuple[str, ...],
    name: str,
) -> Example:
    """The question that a session's annotations, what was said and the replies make."""
    gold = frozenset(index for index, reply in enumerate(replies) if reply in right)
    return Example(situation_of(source, session, history), history, replies, gold, name)


def situation_of(source: SourceFile, session: Session, history: tuple[Turn, ...]) -> Situation:
    """The session as the owner of its relations knows it, after so much was said."""
    moment, owner = Moment(session.chapter, LEVELS), session.owner
    language = guess_language(session.scene + " ".join(session.lines))
    facts = [
        fact for who, attribute, values in session.facts() if values for fact in _facts(who, attribute, values, moment)
    ]
    own = [fact for fact in facts if fact.who == owner]
    felt = tuple(
        Relation(owner, statement.to, statement.kind, statement.level, moment)
        for statement in session.ties(source)
        if statement.of == owner and statement.holds
    )
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
        attributes=attributes_of(own),
        relations=felt,
        language=language,
    )
    faced = others[next(iter(spoke))] if spoke else None
    return Situation(persona, session.scene.strip(), faced, tuple(others.values()))


READER = Reader("HPD sessions", events, examples)
