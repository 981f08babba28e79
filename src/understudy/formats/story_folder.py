"""A story folder: the way an author keeps a story in git.

    my-story/
        cast.toml        who is who, and what is so from when on
        probes.toml      what a character must and must not know
        found.toml       what was found in the text (see storyfile.found)
        part-1.txt       scripts, in any form a reader knows, read in the order of their names
        part-2.txt

Files that are notes to people (README, NOTES, LICENSE, anything beginning with a dot) are not scripts.

The cast is written by a person and checked like a person's work: what is out of range, unknown or contradictory is a
`CastError` with file and line.

    title = "Slack Water"                   [[fact]]                           [[relation]]
    language = "en"                         who = "Ines Vale"                  of = "Ines Vale"
    [schema]                                attribute = "belongings"           to = "Tobias Rook"
    attributes = ["shoe size"]              value = ["the brass key"]          affection = 7
    kinds = ["rival"]                       from = "1.1"                       from = "1.1"
    [[character]]                           until = "2.3"
    name = "Ines Vale"                      known_to = ["Tobias Rook"]
    aliases = ["Ines"]
    profile = ["I keep the keys."]
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from understudy.errors import InputError, StoryError, UnknownMoment
from understudy.sources import check_names
from understudy.story.storyfile import Story
from understudy.story.storyfile.toml_tables import TableParser, TomlTable, quoted
from understudy.story.types import Character, Fact, Moment, Relation, Schema, Source
from understudy.text import LANGUAGES, did_you_mean, fold

CAST, PROBES = "cast.toml", "probes.toml"
NOTES = re.compile(r"(readme|notes|licen[sc]e|changelog|copying)\b", re.IGNORECASE)
DIGITS = re.compile(r"(\d+)")


def scripts_in(folder: Path) -> list[Path]:
    """The scripts of a story folder, in order; an error where there is none."""
    scripts = [
        path
        for path in folder.iterdir()
        if path.is_file() and path.suffix != ".toml" and not path.name.startswith(".") and not NOTES.match(path.name)
    ]
    if not scripts:
        raise InputError("this folder holds no scripts: put script files beside its cast.toml", folder)
    return in_order(scripts)


def in_order(paths: list[Path]) -> list[Path]:
    """By name, numbers by their value: part-2 before part-10."""

    def by_value(path: Path) -> list[tuple[int, str]]:
        return [(int(part), "") if part.isdecimal() else (0, part.lower()) for part in DIGITS.split(path.name)]

    return sorted(paths, key=by_value)


KEYS = {
    "": {"title", "language", "levels", "schema", "character", "fact", "relation"},
    "schema": {"attributes", "kinds"},
    "character": {"name", "aliases", "profile"},
    "fact": {"who", "attribute", "value", "from", "until", "known_to"},
    "relation": {"of", "to", "kind", "term", "affection", "familiarity", "from", "until"},
}


@dataclass(frozen=True, slots=True)
class CastFile:
    """What a cast.toml says. Facts and ties carry the line they stand on."""

    path: Path
    units: int
    """How many of its lines are not blank."""
    title: str | None = None
    language: str | None = None
    levels: tuple[str, ...] | None = None
    schema: Schema = field(default_factory=Schema)
    characters: tuple[tuple[Source, Character], ...] = ()
    facts: tuple[tuple[Source, Fact], ...] = ()
    relations: tuple[tuple[Source, Relation], ...] = ()


def read_cast(path: Path, levels: tuple[str, ...]) -> CastFile:
    """Read and check a cast.toml for a story that counts time by `levels`."""
    return _CastParser(path, levels).read()


def read_characters(path: Path) -> list[Character]:
    """The people that a cast.toml declares, whatever its dates are."""
    return [character for _, character in _CastParser(path, ()).characters()]


class _CastParser(TableParser):
    KEYS = KEYS

    def __init__(self, path: Path, levels: tuple[str, ...]) -> None:
        super().__init__(path)
        self.levels = levels

    def read(self) -> CastFile:
        self.only_known("", self.document)
        schema = self._schema()
        if (language := self.document.get("language")) is not None and language not in LANGUAGES:
            raise self.error(f"language is {quoted(language)}, not one of {', '.join(LANGUAGES)}", 1)
        title, levels = self.document.get("title"), self._words(self.document, "levels")
        if title is not None and not isinstance(title, str):
            raise self.error(f"title is {quoted(title)}, not a text in quotes", 1)
        characters = tuple(self.characters())
        self.names = self._lookup(characters)
        return CastFile(
            path=self.path,
            units=sum(bool(line.strip()) for line in self.text.split("\n")),
            title=title,
            language=language,
            levels=levels or None,
            schema=schema,
            characters=characters,
            facts=tuple(self._facts(schema)),
            relations=tuple(self._relations(schema)),
        )

    def _schema(self) -> Schema:
        table = self.document.get("schema", {})
        if not isinstance(table, dict):
            raise self.error(f"schema is {quoted(table)}, not a table: write [schema]", None)
        self.only_known("schema", table, 1)
        return Schema().extended(self._words(table, "attributes"), self._words(table, "kinds"))

    def _words(self, table: TomlTable, key: str) -> tuple[str, ...]:
        words = table.get(key, [])
        if not isinstance(words, list) or not all(isinstance(word, str) and word.strip() for word in words):
            raise self.error(f"'{key}' is {quoted(words)}, not a list of texts in quotes", 1)
        check_names(words, self.error, 1)
        return tuple(words)

    def characters(self) -> Iterator[tuple[Source, Character]]:
        seen: dict[str, int] = {}
        for line, table in self.tables("character"):
            name = self._text(table, "name", line)
            if earlier := seen.get(fold(name)):
                raise self.error(f"'{name}' is declared twice (first on line {earlier})", line)
            seen[fold(name)] = line
            profile = self._texts(table, "profile", line)
            yield Source(self.path.name, line), Character(name, self._texts(table, "aliases", line), profile)

    def _lookup(self, characters: tuple[tuple[Source, Character], ...]) -> dict[str, set[str]]:
        names: dict[str, set[str]] = {}
        for _, character in characters:
            for name in (character.name, *character.aliases):
                names.setdefault(fold(name), set()).add(character.name)
        for _, character in characters:
            names[fold(character.name)] = {character.name}  # a full name is never ambiguous
        return names

    def _facts(self, schema: Schema) -> Iterator[tuple[Source, Fact]]:
        seen: dict[tuple[Moment | str, ...], int] = {}
        for line, table in self.tables("fact"):
            who = self._person(table, "who", line)
            attribute = self._text(table, "attribute", line)
            if attribute not in schema.attributes:
                raise self.error(
                    f"attribute '{attribute}' is unknown{did_you_mean(attribute, schema.attributes)}: "
                    f"use one of {', '.join(schema.attributes)}, or add it under [schema] attributes",
                    line,
                )
            since, until = self._span(table, line)
            known_to = table.get("known_to")
            knowing = (
                None
                if known_to is None
                else tuple(self._resolved(name, "known_to", line) for name in self._texts(table, "known_to", line))
            )
            values = self._texts(table, "value", line) or ("",)
            fact = Fact(who, attribute, values, since, until, knowing)
            self._once(seen, (*fact.key, since), f"{who}'s {attribute} from {since.dotted}", line)
            yield Source(self.path.name, line), fact

    def _relations(self, schema: Schema) -> Iterator[tuple[Source, Relation]]:
        seen: dict[tuple[str, str, str, Moment], int] = {}
        for line, table in self.tables("relation"):
            of, to = self._person(table, "of", line), self._person(table, "to", line)
            if of == to:
                raise self.error(f"{of} has a tie to themselves", line)
            kind, level = self._kind(table, schema, line)
            since, until = self._span(table, line)
            self._once(seen, (of, to, kind, since), f"{of}'s {kind} towards {to} from {since.dotted}", line)
            source = Source(self.path.name, line)
            term = self._text(table, "term", line) if "term" in table else ""
            if term and level is not None:
                raise self.error(f"'term' is a word for a kind of tie, not for {kind}", line)
            yield source, Relation(of, to, kind, level, since, until, source, term)

    def _kind(self, table: TomlTable, schema: Schema, line: int) -> tuple[str, int | None]:
        level_keys = [key for key in ("kind", *(name for name, _, _ in schema.levels)) if key in table]
        if len(level_keys) != 1:
            raise self.error("a relation has exactly one of kind, affection, familiarity", line)
        if level_keys[0] == "kind":
            kind = self._text(table, "kind", line)
            if kind not in schema.kinds:
                raise self.error(
                    f"kind '{kind}' is unknown{did_you_mean(kind, schema.kinds)}: "
                    f"use one of {', '.join(schema.kinds)}, or add it under [schema] kinds",
                    line,
                )
            return kind, None
        level, bounds = table[level_keys[0]], schema.bounds(level_keys[0])
        assert bounds is not None
        if not isinstance(level, int) or isinstance(level, bool) or not bounds[0] <= level <= bounds[1]:
            raise self.error(f"{level_keys[0]} is {quoted(level)}, not a whole number {bounds[0]}..{bounds[1]}", line)
        return level_keys[0], level

    def _span(self, table: TomlTable, line: int) -> tuple[Moment, Moment | None]:
        since = self._moment(table, "from", line)
        until = self._moment(table, "until", line) if "until" in table else None
        if until is not None and until <= since:
            raise self.error(f"ends ({until.dotted}) before it begins ({since.dotted})", line)
        return since, until

    def _moment(self, table: TomlTable, key: str, line: int) -> Moment:
        value = table.get(key)
        if isinstance(value, int) and not isinstance(value, bool):
            value = quoted(value)
        if not isinstance(value, str):
            hint = f', so write "{value}" in quotes' if isinstance(value, float) else ""
            raise self.error(f"'{key}' must be a moment such as \"2.3\"{hint}", line)
        try:
            return Moment.parse(value, self.levels)
        except UnknownMoment as error:
            raise self.error(f"'{key}': {error}", line) from error

    def _once(self, seen: dict[Any, int], key: Any, what: str, line: int) -> None:
        if earlier := seen.get(key):
            raise self.error(f"{what} is given twice (first on line {earlier})", line)
        seen[key] = line

    def _person(self, table: TomlTable, key: str, line: int) -> str:
        return self._resolved(self._text(table, key, line), key, line)

    def _resolved(self, name: str, key: str, line: int) -> str:
        check_names((name,), self.error, line)
        matches = self.names.get(fold(name), set())
        if len(matches) == 1:
            return next(iter(matches))
        if matches:
            raise self.error(f"'{key}': '{name}' may be {' or '.join(sorted(matches))}", line)
        meant = did_you_mean(name, (owner for owners in self.names.values() for owner in sorted(owners)))
        raise self.error(f"'{key}': no [[character]] is called '{name}'{meant}", line)

    def _text(self, table: TomlTable, key: str, line: int) -> str:
        text = self.required_text(table, key, line).strip()
        check_names((text,), self.error, line)
        return text

    def _texts(self, table: TomlTable, key: str, line: int) -> tuple[str, ...]:
        value = table.get(key, [])
        values = [value] if isinstance(value, str) else value
        if not isinstance(values, list) or not all(isinstance(item, str) for item in values):
            raise self.error(f"'{key}' must be a text or a list of texts", line)
        return tuple(item.strip() for item in values if item.strip())


# `probes.toml`: what a named character must, and must not, say at a moment.
#
#     [[probe]]
#     who = "Ines Vale"
#     at = "2.3"
#     facing = "Tobias Rook"
#     ask = "Where is the brass key?"
#     must = ["hook", "drawer"]          one of these is said
#     must_not = ["lighthouse"]          none of these is said
#     kind = "object"
#
# `ask` may be a list of messages that are put in turn, in one conversation. A violation is a `must_not` term in any of
# the answers; the last one must say one of the `must` terms.

PROBE_KEYS = {"probe": {"who", "at", "facing", "ask", "must", "must_not", "kind"}}


@dataclass(frozen=True, slots=True)
class Probe:
    """One question, what is said before it, and the terms by which the answers are judged."""

    who: str
    at: Moment
    ask: str
    facing: str | None = None
    must: tuple[str, ...] = ()
    must_not: tuple[str, ...] = ()
    kind: str = ""
    before: tuple[str, ...] = ()
    """Messages put before `ask` in the same conversation, in turn."""

    def violation(self, answer: str, earlier: Sequence[str] = ()) -> str | None:
        """The forbidden term that an answer, or an earlier one of the conversation, says; None if none does."""
        for text in (*earlier, answer):
            for term in self.must_not:
                if is_said(term, text):
                    return f"says '{term}'"
        return None

    def fault(self, answer: str, earlier: Sequence[str] = ()) -> str | None:
        """A violation, or that no required term is said; None where the answer is as it must be."""
        if violation := self.violation(answer, earlier):
            return violation
        if self.must and not self.says_required(answer):
            return f"says none of {', '.join(repr(term) for term in self.must)}"
        return None

    def says_required(self, answer: str) -> bool:
        """Is one of the `must` terms in the answer?"""
        return any(is_said(term, answer) for term in self.must)


def is_said(term: str, text: str) -> bool:
    """Does a text contain a term, as whole words, whatever the case and the form of the apostrophe?"""
    term, text = (written.replace("\u2019", "'") for written in (term, text))
    if term.isascii():
        return re.search(rf"(?<!\w){re.escape(term)}(?!\w)", text, re.IGNORECASE) is not None
    return term in text


def read_probes(path: Path, story: Story) -> tuple[Probe, ...]:
    """The probes of a story, each checked against its cast and its time."""
    parser = _ProbeParser(path)
    return tuple(parser.probe(table, story, line) for line, table in parser.tables("probe"))


class _ProbeParser(TableParser):
    KEYS = PROBE_KEYS

    def probe(self, table: TomlTable, story: Story, line: int) -> Probe:
        messages = table.get("ask")
        if isinstance(messages, list):
            if not messages or not all(isinstance(message, str) and message.strip() for message in messages):
                raise self.error("'ask' must be a text in quotes, or a list of texts that are put in turn", line)
            table = table | {"ask": messages[-1]}
        who, at, ask = (self.required_text(table, key, line) for key in ("who", "at", "ask"))
        facing, kind = self.optional_text(table, "facing", line), self.optional_text(table, "kind", line)
        must, must_not = self._terms(table, "must", line), self._terms(table, "must_not", line)
        if not must and not must_not:
            raise self.error("a probe needs 'must' or 'must_not', or it could never fail", line)
        try:
            return Probe(
                who=story.character(who).name,
                at=story.moment(at),
                ask=ask,
                facing=story.character(facing).name if "facing" in table else None,
                must=must,
                must_not=must_not,
                kind=kind,
                before=tuple(messages[:-1]) if isinstance(messages, list) else (),
            )
        except StoryError as error:
            raise self.error(str(error), line) from error

    def _terms(self, table: TomlTable, key: str, line: int) -> tuple[str, ...]:
        terms = table.get(key, [])
        if not isinstance(terms, list) or not all(isinstance(term, str) and term.strip() for term in terms):
            raise self.error(f"'{key}' must be a list of terms", line)
        return tuple(terms)
