"""What every format is read with: an opened source, its events, names and directions, archives and JSON in bounds.

A reader makes of a file a stream of events, each with the source it was read from, and only says what it sees.
Numbering lines, merging names, working out who was present and writing the story are done once for all formats, in
`assembly`.

`units` is how many non-blank source lines (or, in a format that is not made of lines, units of text) an event
accounts for. A speech wrapped over three lines has 3; the second of two speeches glued onto one line has 0.
The sum over a file's events must equal what `SourceFile.units` counted: a reader loses nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, TypeAlias

from understudy.errors import InputError
from understudy.sources.columns import Columns
from understudy.sources.source import SourceFile
from understudy.story.dialogue import Example
from understudy.story.storyfile import CardRecord, Spans
from understudy.story.types import PROFILE, Character, Fact, LoreEntry, Relation, Source

__all__ = [
    "BoundedEvents",
    "CardSource",
    "CastEntry",
    "Cue",
    "Description",
    "Event",
    "FactEntry",
    "Heading",
    "Lore",
    "Movement",
    "Opening",
    "Reader",
    "RelationEntry",
    "SceneStart",
    "Speech",
    "Unread",
    "check_names",
]


@dataclass(frozen=True, slots=True)
class Opening:
    """First event of a file: what kind of time it has. `levels` ends with the two every story has: scene, line."""

    levels: tuple[str, ...] = ("scene", "line")
    title: str | None = None
    language: str | None = None


@dataclass(frozen=True, slots=True)
class Heading:
    """A part, chapter, episode begins: `numbers` is its whole position (season 3, episode 5 = (3, 5)).

    Without numbers it is a heading that does not move time: a title, credits, a commercial break.
    """

    source: Source
    title: str
    numbers: tuple[int, ...] | None = None
    units: int = 1


@dataclass(frozen=True, slots=True)
class SceneStart:
    """A scene begins. Without a number it is the next one of its chapter."""

    source: Source
    setting: str
    present: tuple[str, ...] = ()
    number: int | None = None
    units: int = 1


@dataclass(frozen=True, slots=True)
class Speech:
    """Somebody, or several at once, says something. Speakers are labels as found in the source.

    In running text it has `spans`, and who says it was worked out with some `confidence`.
    """

    source: Source
    speakers: tuple[str, ...]
    text: str
    units: int = 1
    spans: Spans = ()
    confidence: float | None = None


class Cue(NamedTuple):
    """Somebody comes or goes; the name is as written."""

    kind: Literal["enter", "leave"]
    name: str


@dataclass(frozen=True, slots=True)
class Description:
    """A stage direction or background. Those named in `cues` come and go with it, one after the other."""

    source: Source
    text: str
    cues: tuple[Cue, ...] = ()
    units: int = 1
    spans: Spans = ()

    @property
    def enter(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(cue.name for cue in self.cues if cue.kind == "enter"))

    @property
    def leave(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(cue.name for cue in self.cues if cue.kind == "leave"))


@dataclass(frozen=True, slots=True)
class Movement:
    """Who is there from the next line on, and who was there up to the last one, where a source notes it apart."""

    source: Source
    enter: tuple[str, ...] = ()
    leave: tuple[str, ...] = ()
    units: int = 1


@dataclass(frozen=True, slots=True)
class Unread:
    """Source text that became none of the above, and why."""

    source: Source
    text: str
    reason: str
    units: int = 1


@dataclass(frozen=True, slots=True)
class CastEntry:
    """Somebody the source declares by name (a cast list, a cast.toml, a card).

    Declared names and aliases win over what frequency and inclusion would merge.
    """

    source: Source
    character: Character
    units: int = 0


@dataclass(frozen=True, slots=True)
class FactEntry:
    """A dated fact; its `who` is a label, resolved like a speaker's."""

    source: Source
    fact: Fact
    units: int = 0


@dataclass(frozen=True, slots=True)
class RelationEntry:
    """A dated relation; `of` and `to` are labels, resolved like a speaker's."""

    source: Source
    relation: Relation
    units: int = 0


@dataclass(frozen=True, slots=True)
class CardSource:
    """The card that a character was read from, kept whole."""

    source: Source
    who: str
    card: CardRecord
    units: int = 0


@dataclass(frozen=True, slots=True)
class Lore:
    """Entries of a lorebook: of one character, or (None) of everybody in the story."""

    source: Source
    who: str | None
    entries: tuple[LoreEntry, ...]
    units: int = 0


Event: TypeAlias = (
    Opening
    | Heading
    | SceneStart
    | Speech
    | Description
    | Movement
    | Unread
    | CastEntry
    | FactEntry
    | RelationEntry
    | CardSource
    | Lore
)


@dataclass(frozen=True, slots=True)
class Reader:
    """What reads the files of a format: its name, and how a file becomes events.

    `events(source)` streams; it raises `source.error(message, line)` on what it cannot read.
    `examples(source)` is there where a format puts questions with right answers.
    `together(sources)` is called before several files of the format are read into one story, where they depend on each
    other. `annotates` names the format whose files this one's are notes on: read with one of them, they add to it.
    `with_columns(columns)` is there where a file has columns that may be named.
    """

    name: str
    events: Callable[[SourceFile], Iterator[Event]]
    examples: Callable[[SourceFile], Iterator[Example]] | None = None
    together: Callable[[Sequence[SourceFile]], None] | None = None
    annotates: str | None = None
    with_columns: Callable[[Columns], Reader] | None = None


# How long names, titles and values may be, whatever the format.
#
# They stand on every page and in every prompt, and a file may come from anybody. A name that is too long is an error,
# since the beginning of it could be anybody's; what is too long of titles, settings and values is cut off and said to
# be unread.

MAX_NAME = 200  # characters
MAX_ALIASES = 200
MAX_TITLE = 500
MAX_VALUE = 5_000  # of a setting, an attribute's value, or a sentence of a profile
MAX_SENTENCES = 5_000  # of a profile
SHOWN = 60

Fail = Callable[[str, int], InputError]


def check_names(names: Iterable[str], fail: Fail, line: int) -> None:
    for name in names:
        if len(name) > MAX_NAME:
            raise fail(
                f"a name of {len(name):,} characters ('{name[:SHOWN]}...'): a name has at most {MAX_NAME}, "
                "so shorten it, or see whether something else is taken for a name",
                line,
            )


class BoundedEvents:
    """Bounds the events of one file; what is cut off collects in `cuts`."""

    def __init__(self, file: str, fail: Fail) -> None:
        self.cuts = list[Unread]()
        self._file, self._fail = file, fail

    def bounded(self, event: Event) -> Event:
        if isinstance(event, Speech):
            self._check(event.speakers, event.source)
        elif isinstance(event, Description):
            if event.cues:
                self._check([cue.name for cue in event.cues], event.source)
        elif isinstance(event, SceneStart):
            self._check(event.present, event.source)
            return replace(event, setting=self._cut(event.setting, MAX_VALUE, "setting", event.source))
        elif isinstance(event, Heading):
            return replace(event, title=self._cut(event.title, MAX_TITLE, "title", event.source))
        elif isinstance(event, Movement):
            self._check((*event.enter, *event.leave), event.source)
        elif isinstance(event, CastEntry):
            return replace(event, character=self.character(event.character, event.source))
        elif isinstance(event, FactEntry):
            return replace(event, fact=self.fact(event.fact, event.source))
        elif isinstance(event, RelationEntry):
            return replace(event, relation=self.relation(event.relation, event.source))
        elif isinstance(event, CardSource | Lore):
            self._check([event.who] if event.who else [], event.source)
        elif isinstance(event, Opening) and event.title:
            return replace(event, title=self.title(event.title))
        return event

    def title(self, title: str) -> str:
        return self._cut(title, MAX_TITLE, "title", Source(self._file, 1))

    def character(self, character: Character, source: Source) -> Character:
        self._check((character.name, *character.aliases), source)
        if len(character.aliases) > MAX_ALIASES:
            raise self._fail(f"{len(character.aliases):,} aliases of one person: at most {MAX_ALIASES}", source.line)
        profile = character.profile
        if len(profile) > MAX_SENTENCES:
            reason = f"a profile of {len(profile):,} sentences: those after the first {MAX_SENTENCES:,} are left out"
            self.cuts.append(Unread(source, profile[MAX_SENTENCES][:SHOWN], reason, units=0))
        sentences = [self._cut(text, MAX_VALUE, "sentence of a profile", source) for text in profile[:MAX_SENTENCES]]
        return replace(character, profile=tuple(sentences))

    def fact(self, fact: Fact, source: Source) -> Fact:
        self._check((fact.who, fact.attribute, *(fact.known_to or ())), source)
        what = "sentence of a profile" if fact.attribute == PROFILE else "value"
        values = [self._cut(value, MAX_VALUE, what, source) for value in fact.values[:MAX_SENTENCES]]
        return replace(fact, values=tuple(values))

    def relation(self, relation: Relation, source: Source) -> Relation:
        self._check((relation.of, relation.to, relation.kind, relation.term), source)
        return relation

    def _check(self, names: Iterable[str], source: Source) -> None:
        check_names(names, self._fail, source.line)

    def _cut(self, text: str, limit: int, what: str, source: Source) -> str:
        if len(text) <= limit:
            return text
        reason = f"a {what} of {len(text):,} characters: what comes after the first {limit:,} is left out"
        self.cuts.append(Unread(source, f"{text[limit : limit + SHOWN]}...", reason, units=0))
        return text[: limit - 1] + "…"
