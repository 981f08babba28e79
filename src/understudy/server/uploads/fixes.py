"""Corrections to an upload; each fix is an edit of its cast.toml, or of its quotations.toml (see `quotations`).

So the result can be read by people, is checked like any such file, and is undone by going back to the version before.
"""

from __future__ import annotations

import tomllib
import unicodedata
from collections.abc import Sequence
from typing import Any, TypeAlias

import msgspec

from understudy.errors import InputError
from understudy.sources.names import fold
from understudy.story.storyfile import CastMember
from understudy.story.storyfile.toml_tables import toml_value
from understudy.story.types import Character
from understudy.text import LANGUAGES

MAX_TEXT = 200  # characters
MAX_CAST = 1_000_000

Document: TypeAlias = dict[str, Any]
TABLE_KEYS = ("schema", "character", "fact", "relation")


class _Fix(msgspec.Struct, tag_field="kind", forbid_unknown_fields=True):
    pass


class Rename(_Fix, tag="rename"):
    """Give a character another name; the old name becomes an alias."""

    who: str
    to: str


class Merge(_Fix, tag="merge"):
    """Two names of one person: the lines of `who` become those of `into`."""

    who: str
    into: str


class AddAlias(_Fix, tag="add-alias"):
    """Another name of a character."""

    who: str
    alias: str


class SplitAlias(_Fix, tag="split"):
    """A wrong alias: removed, or, where the reader inferred it, made a character of its own."""

    who: str
    alias: str


class Profile(_Fix, tag="profile"):
    """What is always true of a character, a sentence a line."""

    who: str
    lines: list[str]


class SetTitle(_Fix, tag="title"):
    title: str


class SetLanguage(_Fix, tag="language"):
    language: str


class WriteCast(_Fix, tag="cast"):
    """The whole cast.toml, as edited by hand."""

    text: str


class SetSpeaker(_Fix, tag="speaker"):
    """Somebody else says a quotation: somebody of the cast, or somebody new."""

    quotation: str
    to: str


class NotSpeech(_Fix, tag="not-speech"):
    """What stands in quotation marks is said by nobody: a title, a word that is meant as one."""

    quotation: str


CastFix: TypeAlias = Rename | Merge | AddAlias | SplitAlias | Profile | SetTitle | SetLanguage | WriteCast
QuotationFix: TypeAlias = SetSpeaker | NotSpeech
Fix: TypeAlias = CastFix | QuotationFix


class CastChange(msgspec.Struct):
    """How a fix changed the cast."""

    what: str
    gone: list[str]
    new: list[str]
    lines: dict[str, tuple[int, int]]
    """Number of lines before and after, by name, where they differ."""


def apply_fix(text: str, fix: CastFix, cast: Sequence[Character], is_prose: bool = False) -> tuple[str, str]:
    """The corrected cast.toml, and in words what was changed. `cast` is the story's cast before the fix.

    In prose, names are inferred anew at every reading: an alias is taken away by making it somebody's own name.
    """
    if isinstance(fix, WriteCast):
        if len(fix.text) > MAX_CAST:
            raise InputError(f"is longer than {MAX_CAST:,} characters", "cast.toml")
        return fix.text, "Wrote cast.toml"
    document = tomllib.loads(text)
    what = _edit(document, fix, cast, is_prose)
    return _to_toml(document), what


def _edit(document: Document, fix: CastFix, cast: Sequence[Character], is_prose: bool) -> str:
    match fix:
        case SetTitle():
            document["title"] = _clean(fix.title, "title")
            return f"Title: {document['title']}"
        case SetLanguage():
            if fix.language not in LANGUAGES:
                raise InputError(f"language is '{fix.language[:20]}', not one of {', '.join(LANGUAGES)}")
            document["language"] = fix.language
            return f"Language: {fix.language}"
        case Rename():
            who, to = _person(fix.who, cast), _unused_name(fix.to, cast, excluding=fix.who)
            table = _table_of(document, who)
            if fold(to) != fold(who.name):
                table["aliases"] = [*_without(table["aliases"], to), who.name]
            table["name"] = to
            return f"Renamed {who.name} to {to}"
        case Merge():
            return _merge(document, _person(fix.who, cast), _person(fix.into, cast))
        case AddAlias():
            who, alias = _person(fix.who, cast), _unused_name(fix.alias, cast, excluding=fix.who)
            table = _table_of(document, who)
            table["aliases"] = [*_without(table["aliases"], alias), alias]
            return f"{who.name} is also called {alias}"
        case SplitAlias():
            return _split(document, _person(fix.who, cast), _clean(fix.alias, "alias"), is_prose)
        case Profile():
            who = _person(fix.who, cast)
            _table_of(document, who)["profile"] = [_clean(line, "profile", 2000) for line in fix.lines if line.strip()]
            return f"Profile of {who.name}"
        case WriteCast():
            raise AssertionError("handled by apply_fix")


def _merge(document: Document, who: Character, into: Character) -> str:
    if who == into:
        raise InputError(f"{who.name} cannot be merged with themselves: choose somebody else")
    table = _table_of(document, into)
    merged = _table_of(document, who)
    document["character"].remove(merged)
    for name in (who.name, *merged["aliases"]):
        table["aliases"] = [*_without(table["aliases"], name), name]
    if merged.get("profile"):
        table["profile"] = [*table.get("profile", []), *merged["profile"]]
    return f"Merged {who.name} into {into.name}"


def _split(document: Document, who: Character, alias: str, is_prose: bool) -> str:
    if fold(alias) not in map(fold, who.aliases):
        raise InputError(f"{who.name} is not called '{alias}'")
    declared = _declared_aliases(document, who)
    table = _table_of(document, who)
    table["aliases"] = _without(table["aliases"], alias)
    if is_prose or fold(alias) not in map(fold, declared):  # else the reader would infer it again
        document["character"].append({"name": alias, "aliases": []})
        return f"{alias} is not {who.name}"
    return f"{who.name} is no longer called {alias}"


def _declared_aliases(document: Document, who: Character) -> list[str]:
    """The aliases that cast.toml itself states, without those the reader inferred."""
    tables = [table for table in document.get("character", ()) if fold(table["name"]) == fold(who.name)]
    return _as_list(tables[0].get("aliases", [])) if tables else []


def _table_of(document: Document, who: Character) -> Document:
    """The character's table, created if missing, with all aliases they have in the story, inferred ones included."""
    tables: list[Document] = document.setdefault("character", [])
    table = next((entry for entry in tables if fold(entry["name"]) == fold(who.name)), None)
    if table is None:
        table = {"name": who.name}
        tables.append(table)
    aliases = _as_list(table.get("aliases", []))
    known = {fold(name) for name in (who.name, *aliases)}
    table["aliases"] = [*aliases, *(alias for alias in who.aliases if fold(alias) not in known)]
    if "profile" in table:
        table["profile"] = _as_list(table["profile"])
    return table


def _as_list(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else list(value)


def _without(names: list[str], name: str) -> list[str]:
    return [item for item in names if fold(item) != fold(name)]


def _person(name: str, cast: Sequence[Character]) -> Character:
    person = next((character for character in cast if character.name == name), None)
    if person is None:
        raise InputError(f"nobody in this story is called '{name[:80]}'")
    return person


def _unused_name(name: str, cast: Sequence[Character], excluding: str) -> str:
    """The cleaned name, if nobody but `excluding` has it."""
    cleaned = _clean(name, "name")
    for person in cast:
        if person.name != excluding and fold(cleaned) in map(fold, (person.name, *person.aliases)):
            raise InputError(f"'{cleaned}' is a name of {person.name}: merge the two if they are one person")
    return cleaned


def _clean(text: str, what: str, max_length: int = MAX_TEXT) -> str:
    plain = " ".join("".join(" " if unicodedata.category(char) in ("Cc", "Cs") else char for char in text).split())
    if not plain or len(plain) > max_length:
        raise InputError(f"a {what} is a text of 1 to {max_length:,} characters")
    return plain


def _to_toml(document: Document) -> str:
    """Plain entries first, then [schema], then the tables."""
    lines = [f"{key} = {toml_value(value)}" for key, value in document.items() if key not in TABLE_KEYS]
    if schema := document.get("schema"):
        lines += ["", "[schema]", *(f"{key} = {toml_value(value)}" for key, value in schema.items())]
    for kind in ("character", "fact", "relation"):
        for table in document.get(kind, ()):
            entries = {key: value for key, value in table.items() if value != []}
            lines += ["", f"[[{kind}]]", *(f"{key} = {toml_value(value)}" for key, value in entries.items())]
    return "\n".join(lines).strip() + "\n"


def cast_change(what: str, before: tuple[CastMember, ...], after: tuple[CastMember, ...]) -> CastChange:
    lines_before = {member.character.name: member.lines for member in before}
    lines_after = {member.character.name: member.lines for member in after}
    return CastChange(
        what,
        gone=[name for name in lines_before if name not in lines_after],
        new=[name for name in lines_after if name not in lines_before],
        lines={
            name: (lines_before[name], count)
            for name, count in lines_after.items()
            if lines_before.get(name, count) != count
        },
    )
