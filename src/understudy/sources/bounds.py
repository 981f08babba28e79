"""How long names, titles and values may be, whatever the format.

They stand on every page and in every prompt, and a file may come from anybody. A name that is too long is an error,
since the beginning of it could be anybody's; what is too long of titles, settings and values is cut off and said to be
unread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from understudy.errors import InputError
from understudy.sources.events import (
    CardSource,
    CastEntry,
    Description,
    Event,
    FactEntry,
    Heading,
    Lore,
    Movement,
    Opening,
    RelationEntry,
    SceneStart,
    Speech,
    Unread,
)
from understudy.story.types import PROFILE, Character, Fact, Relation, Source

__all__ = ["MAX_NAME", "BoundedEvents", "check_names"]

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
