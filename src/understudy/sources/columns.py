"""Which column of a table holds what: by the names that tables usually give them, or as somebody says.

Names are compared without case, spaces and punctuation: `Season No.`, `season_no` and `SeasonNo` are one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields

from understudy.errors import InputError

__all__ = ["LEVELS", "Columns"]

LEVELS = ("book", "part", "season", "episode", "act", "chapter")
"""What rows may be dated by, from the top down."""

USUAL: dict[str, tuple[str, ...]] = {
    "speaker": (
        "speaker", "speakername", "character", "charactername", "name", "who", "player", "person", "role", "saidby",
        "rawcharactertext",
    ),
    "text": (
        "text", "linetext", "line", "lines", "dialogue", "dialog", "utterance", "quote", "quotetext", "quotation",
        "speech", "sentence", "spokenline", "spokenwords", "playerline", "words", "fulltext",
    ),
    "scene": ("scene", "sceneno", "scenenumber", "sceneid", "scenenum"),
    "setting": ("setting", "location", "place", "rawlocationtext"),
    "book": ("booknum", "bookno", "booknumber", "book"),
    "part": ("partno", "partnumber", "part"),
    "season": ("seasonno", "seasonnum", "seasonnumber", "season"),
    "episode": ("episodeno", "episodenum", "episodenumber", "episode", "episodeid"),
    "act": ("actno", "actnumber", "act"),
    "chapter": ("chapternum", "chapterno", "chapternumber", "chapter"),
    "title": ("title", "episodetitle", "episodename", "chaptertitle", "chaptername"),
    "to": ("to", "addressee", "addressees", "listener", "listeners"),
}  # fmt: skip

CERTAIN = ("speaker", "text", "dialogue")  # what they hold is what they say, even where it is a number


@dataclass(frozen=True, slots=True)
class Columns:
    """The column that holds each, by its name in the file; None where there is none."""

    speaker: str | None = None
    text: str | None = None
    scene: str | None = None
    setting: str | None = None
    book: str | None = None
    part: str | None = None
    season: str | None = None
    episode: str | None = None
    act: str | None = None
    chapter: str | None = None
    title: str | None = None
    to: str | None = None

    @classmethod
    def of(cls, named: Mapping[str, str]) -> Columns:
        """As somebody names them: `{"speaker": "Sprecher", "text": "Zeile"}`."""
        known = [field.name for field in fields(cls)]
        for kind, column in named.items():
            if kind not in known:
                raise InputError(f"a table has no column for '{kind}': name columns for {', '.join(known)}")
            if not column.strip():
                raise InputError(f"no column is named for '{kind}': write {kind}=NAME with a name of the first row")
        return cls(**{kind: column.strip() for kind, column in named.items()})

    def completed(self, header: Iterable[str], numeric: frozenset[str] = frozenset()) -> Columns:
        """With the usual names for what is not named; a `line` that is `numeric` holds numbers of lines, no words."""
        by_name: dict[str, str] = {}
        for column in header:
            by_name.setdefault(_plain(column), column)
        taken = {_plain(column) for column in self.named().values()}
        found: dict[str, str | None] = {}
        for kind, usual in USUAL.items():
            if (own := getattr(self, kind)) is not None:
                found[kind] = by_name.get(_plain(own), own)
                continue
            free = [name for name in usual if name in by_name and name not in taken]
            if kind in ("speaker", "text"):
                free = [name for name in free if name in CERTAIN or by_name[name] not in numeric]
            found[kind] = by_name[free[0]] if free else None
        return Columns(**found)

    def named(self) -> dict[str, str]:
        """Kind and column of those that are there."""
        columns = ((field.name, getattr(self, field.name)) for field in fields(self))
        return {kind: column for kind, column in columns if column is not None}


def _plain(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum()) or name
