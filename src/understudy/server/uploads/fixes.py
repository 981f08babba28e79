"""What a person can put right about the cast of an upload: each fix is an edit of its cast.toml.

So whatever is put right is kept in words that a person can read, is checked like any cast.toml, and is undone by going
back to the one before.
"""

from __future__ import annotations

import json
import tomllib
import unicodedata
from collections.abc import Sequence
from typing import Any, TypeAlias

import msgspec

from understudy.errors import InputError
from understudy.readers.names import fold
from understudy.story import Character
from understudy.text import LANGUAGES

__all__ = ["AddAlias", "Fix", "Merge", "Profile", "Rename", "SetLanguage", "SetTitle", "Split", "WriteCast", "fixed"]

LONGEST = 200
LONGEST_CAST = 1_000_000

Document: TypeAlias = dict[str, Any]


class _Fix(msgspec.Struct, tag_field="kind", forbid_unknown_fields=True):
    pass


class Rename(_Fix, tag="rename"):
    """Call somebody by another name; the old one stays as an alias."""

    who: str
    to: str


class Merge(_Fix, tag="merge"):
    """Two people who are one: the lines of `who` become those of `into`."""

    who: str
    into: str


class AddAlias(_Fix, tag="add-alias"):
    """Another name that somebody is called by."""

    who: str
    alias: str


class Split(_Fix, tag="split"):
    """An alias that is not theirs: taken away from them, or, where the reader worked it out, somebody of its own."""

    who: str
    alias: str


class Profile(_Fix, tag="profile"):
    """What is true of somebody at all times, a sentence a line."""

    who: str
    lines: list[str]


class SetTitle(_Fix, tag="title"):
    title: str


class SetLanguage(_Fix, tag="language"):
    language: str


class WriteCast(_Fix, tag="cast"):
    """The whole cast.toml, written by hand."""

    text: str


Fix: TypeAlias = Rename | Merge | AddAlias | Split | Profile | SetTitle | SetLanguage | WriteCast


def fixed(text: str, fix: Fix, cast: Sequence[Character]) -> tuple[str, str]:
    """A cast.toml with one thing put right, and what that was in words. `cast` is who is in the story before it."""
    if isinstance(fix, WriteCast):
        if len(fix.text) > LONGEST_CAST:
            raise InputError(f"is longer than {LONGEST_CAST:,} characters", "cast.toml")
        return fix.text, "Wrote cast.toml"
    document = tomllib.loads(text)
    what = _applied(document, fix, cast)
    return _written(document), what


def _applied(document: Document, fix: Fix, cast: Sequence[Character]) -> str:
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
            who, to = _person(fix.who, cast), _free(fix.to, cast, beside=fix.who)
            table = _declared(document, who)
            if fold(to) != fold(who.name):
                table["aliases"] = [*_without(table["aliases"], to), who.name]
            table["name"] = to
            return f"Renamed {who.name} to {to}"
        case Merge():
            return _merged(document, _person(fix.who, cast), _person(fix.into, cast))
        case AddAlias():
            who, alias = _person(fix.who, cast), _free(fix.alias, cast, beside=fix.who)
            table = _declared(document, who)
            table["aliases"] = [*_without(table["aliases"], alias), alias]
            return f"{who.name} is also called {alias}"
        case Split():
            return _split(document, _person(fix.who, cast), _clean(fix.alias, "alias"))
        case Profile():
            who = _person(fix.who, cast)
            _declared(document, who)["profile"] = [_clean(line, "profile", 2000) for line in fix.lines if line.strip()]
            return f"Profile of {who.name}"
        case WriteCast():
            raise AssertionError("written as it is, not applied")


def _merged(document: Document, who: Character, into: Character) -> str:
    if who == into:
        raise InputError(f"{who.name} cannot be merged with themselves: choose somebody else")
    table = _declared(document, into)
    gone = _declared(document, who)
    document["character"].remove(gone)
    for name in (who.name, *gone["aliases"]):
        table["aliases"] = [*_without(table["aliases"], name), name]
    if gone.get("profile"):
        table["profile"] = [*table.get("profile", []), *gone["profile"]]
    return f"Merged {who.name} into {into.name}"


def _split(document: Document, who: Character, alias: str) -> str:
    if fold(alias) not in map(fold, who.aliases):
        raise InputError(f"{who.name} is not called '{alias}'")
    before = _said(document, who)
    table = _declared(document, who)
    table["aliases"] = _without(table["aliases"], alias)
    if fold(alias) not in map(fold, before):  # the reader would join them again
        document["character"].append({"name": alias, "aliases": []})
        return f"{alias} is not {who.name}"
    return f"{who.name} is no longer called {alias}"


def _said(document: Document, who: Character) -> list[str]:
    """The aliases that cast.toml itself gives somebody."""
    tables = [table for table in document.get("character", ()) if fold(table["name"]) == fold(who.name)]
    return _listed(tables[0].get("aliases", [])) if tables else []


def _declared(document: Document, who: Character) -> Document:
    """Somebody's table, made where there is none, with every name they have in the story as it stands."""
    tables: list[Document] = document.setdefault("character", [])
    table = next((one for one in tables if fold(one["name"]) == fold(who.name)), None)
    if table is None:
        table = {"name": who.name}
        tables.append(table)
    aliases = _listed(table.get("aliases", []))
    known = {fold(name) for name in (who.name, *aliases)}
    table["aliases"] = [*aliases, *(alias for alias in who.aliases if fold(alias) not in known)]
    if "profile" in table:
        table["profile"] = _listed(table["profile"])
    return table


def _listed(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else list(value)


def _without(names: list[str], name: str) -> list[str]:
    return [one for one in names if fold(one) != fold(name)]


def _person(name: str, cast: Sequence[Character]) -> Character:
    found = next((one for one in cast if one.name == name), None)
    if found is None:
        raise InputError(f"nobody in this story is called '{name[:80]}'")
    return found


def _free(name: str, cast: Sequence[Character], beside: str) -> str:
    wanted = _clean(name, "name")
    for one in cast:
        if one.name != beside and fold(wanted) in map(fold, (one.name, *one.aliases)):
            raise InputError(f"'{wanted}' is a name of {one.name}: merge the two if they are one person")
    return wanted


def _clean(text: str, what: str, longest: int = LONGEST) -> str:
    plain = " ".join("".join(" " if unicodedata.category(mark) in ("Cc", "Cs") else mark for mark in text).split())
    if not plain or len(plain) > longest:
        raise InputError(f"a {what} is a text of 1 to {longest:,} characters")
    return plain


def _written(document: Document) -> str:
    """As TOML: plain entries first, then [schema], then the tables."""
    lines = [f"{key} = {_toml(value)}" for key, value in document.items() if key not in TABLES]
    if schema := document.get("schema"):
        lines += ["", "[schema]", *(f"{key} = {_toml(value)}" for key, value in schema.items())]
    for kind in ("character", "fact", "relation"):
        for table in document.get(kind, ()):
            entries = {key: value for key, value in table.items() if value != []}
            lines += ["", f"[[{kind}]]", *(f"{key} = {_toml(value)}" for key, value in entries.items())]
    return "\n".join(lines).strip() + "\n"


TABLES = ("schema", "character", "fact", "relation")


def _toml(value: object) -> str:
    """JSON's strings, whole numbers and lists are TOML's too, but for one control character."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
