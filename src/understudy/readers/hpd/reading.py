"""HPD, the Harry Potter dialogue set: sessions with their place in the books, and what everybody is and feels there.

    {"Session-1": {"position": "Book1-chapter2", "speakers": [...], "scene": "...", "dialogue": ["Harry: ...", ...],
                   "positive_response": "...", "negative_response": [...],
                   "attributes": {name: {...}}, "relations with Harry": {name: {...}}}, ...}

As a story every session is a scene of its chapter, with the scene's text as its setting. Sessions may stand in any
order: a first pass notes where each stands, a second reads them in the order of the books. Attributes and relations
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
from understudy.readers.aliases import unambiguous
from understudy.readers.events import (
    CastEntry,
    Description,
    Event,
    Heading,
    Opening,
    SceneStart,
    Speech,
    Trait,
    Unread,
)
from understudy.readers.hpd.changes import Ledger, Span
from understudy.readers.hpd.session import Session, session_of
from understudy.readers.hpd.ties import Ties
from understudy.readers.jsonstream import Spot, json_members, reread
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
    spots: list[tuple[tuple[int, int], int, Spot]] = []
    names: dict[str, dict[str, None]] = {}
    first: dict[str, int] = {}
    for number, (spot, member) in enumerate(json_members(source)):
        session = session_of(source, spot, member)
        spots.append((session.place, number, spot))
        source.units += session.texts
        for who, values in session.attributes.items():
            names.setdefault(who, {})[str(values.get("name") or who).strip()] = None
            first.setdefault(who, session.line)
    yield Opening(LEVELS)
    for name, aliases in unambiguous(names).items():
        yield CastEntry(source.at(first[name]), Character(name, aliases))
    states = _States()
    place, scene = (0, 0), 0
    for spot, member in reread(source, [spot for *_, spot in sorted(spots)]):
        session = session_of(source, spot, member)
        if session.place != place:
            place, scene = session.place, 0
            title = f"Book {place[0]}, chapter {place[1]}"
            yield Heading(source.at(session.line), title, place, takes=0)
        scene += 1
        yield from states.tell(source, session, scene)
        yield from _told(source, session)
    yield from states.rest()


def examples(source: SourceFile) -> Iterator[Example]:
    """A question for every session that has a positive response, in the order of the file."""
    found = False
    for spot, member in json_members(source):
        session = session_of(source, spot, member)
        if session.positive is not None and session.positive.strip():
            found = True
            yield _example(source, session)
    if not found:
        raise source.error('no session has a "positive_response": questions are in HPD\'s test sets only')


def _told(source: SourceFile, session: Session) -> Iterator[Event]:
    at = source.at(session.line)
    setting = session.scene.strip()
    # whoever is asked for the reply stands there too, though he may not have spoken
    present = dict.fromkeys(name.strip() for name in (*session.speakers, session.owner) if name.strip())
    yield SceneStart(at, setting, tuple(present), takes=int(bool(setting)))
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


class _States:
    """Attributes and ties as they change from session to session."""

    def __init__(self) -> None:
        self._facts: Ledger[tuple[str, str], tuple[str, ...]] = Ledger()
        self._ties = Ties()

    def tell(self, source: SourceFile, session: Session, scene: int) -> Iterator[Event]:
        at = source.at(session.line)
        chapter, here = Moment(session.place, LEVELS), Moment((*session.place, scene), LEVELS)
        for who, attribute, values in session.facts():
            if over := self._facts.tell((who, attribute), values or None, chapter, here, at):
                yield _trait(over)
        for said in session.ties(source):
            yield from self._ties.tell(said, chapter, here, at)

    def rest(self) -> Iterator[Event]:
        yield from map(_trait, self._facts.rest())
        yield from self._ties.rest()


def _trait(span: Span[tuple[str, str], tuple[str, ...]]) -> Trait:
    who, attribute = span.key
    return Trait(span.source, Fact(who, attribute, span.value, span.since, span.until))


def _example(source: SourceFile, session: Session) -> Example:
    moment, owner = Moment(session.place, LEVELS), session.owner
    language = guess_language(session.scene + " ".join(session.lines))
    facts = [Fact(who, attribute, values, moment) for who, attribute, values in session.facts() if values]
    own = [fact for fact in facts if fact.who == owner]
    felt = tuple(
        Relation(owner, said.to, said.kind, said.level, moment)
        for said in session.ties(source)
        if said.of == owner and said.holds
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
    gold = frozenset(place for place, reply in enumerate(session.replies) if reply == session.replies[0])
    return Example(situation, history, session.replies, gold, session.key)


READER = Reader("HPD sessions", recognises, events, examples)
