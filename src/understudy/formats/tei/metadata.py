"""The first pass over a TEI play: its title, how it is divided, and who is who.

Speeches name people by identifiers (`who="#Feste_TN"`). What to call them is gathered from the list of persons, the
cast list and the labels before speeches, in this order: an entry that only repeats the identifier, or that several
people share in what is as sure or surer, is no name. What else the file says of them (sexes, the cast list, relations)
is kept as `people`.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from understudy.formats.tei.people import SEXES, CastItem, StatedPeople, StatedRelation
from understudy.sources.containers import End, Start, Text, xml_tokens
from understudy.sources.names import display_name, fold, is_group, unambiguous_aliases
from understudy.sources.source import SourceFile
from understudy.story.types import Character
from understudy.text import LANGUAGES

DIVISION = frozenset(("div", *(f"div{number}" for number in range(8))))
PERSONS = frozenset(("person", "personGrp"))
NAMES = frozenset(("persName", "name"))
CAST = frozenset(("castItem", "role"))
GROUP_DESCRIPTIONS = frozenset(("head", "roleDesc"))
NAMING = CAST | PERSONS | {"roleDesc", "speaker", "title"}
PERSON, ROLE, LABEL = range(3)
LONGEST_NAME = 500
AFTER_NAME = re.compile(r"[,;:(]")
BEFORE_CLOSING = re.compile(r"\s+([,.;:!?)])")


@dataclass(slots=True)
class PlayMetadata:
    """What the first pass collects. `acts`: is there a level above scenes? `spaced`: are blanks marked up as <c>?

    `cast` is by identifier; `unlisted` are those who speak, but are in no list of persons.
    """

    title: str | None = None
    language: str | None = None
    acts: bool = False
    spaced: bool = False
    tokenised: bool = False
    speeches: int = 0
    cast: dict[str, Character] = field(default_factory=dict)
    unlisted: tuple[str, ...] = ()
    people: StatedPeople = field(default_factory=StatedPeople)

    def name(self, identifier: str) -> str | None:
        character = self.cast.get(identifier)
        return None if character is None else character.name


def identifiers(attribute: str | None) -> tuple[str, ...]:
    """`who="#a #b"` names a and b."""
    return tuple(dict.fromkeys(part.rpartition("#")[2] for part in (attribute or "").split() if part.strip("#")))


def read_metadata(source: SourceFile) -> PlayMetadata:
    """One light pass over the file."""
    scanner = _MetadataScanner()
    for token in xml_tokens(source):
        if isinstance(token, Start):
            scanner.start(token)
        elif isinstance(token, End):
            scanner.end()
        else:
            scanner.text(token)
    return scanner.result()


class _MetadataScanner:
    def __init__(self) -> None:
        self._metadata = PlayMetadata()
        self._path: list[Start] = []
        self._texts: list[list[str]] = []
        self._persons: dict[str, list[str]] = {}
        self._roles: dict[str, str] = {}
        self._labels: dict[str, Counter[str]] = defaultdict(Counter)
        self._who: tuple[str, ...] = ()
        self._kinds: set[str] = set()
        self._nested: set[str] = set()
        self._stated = self._metadata.people
        self._groups: list[list[str]] = []
        self._refers_to: list[str] = []
        self._role_words = self._description = ""

    def start(self, token: Start) -> None:
        outer = [element for element in self._path if element.name in DIVISION]
        self._path.append(token)
        self._texts.append([])
        name, attributes = token.name, token.attributes
        if name in PERSONS and (identifier := attributes.get("xml:id")):
            self._persons.setdefault(identifier, [])
            self._stated.lines.setdefault(identifier, token.line)
            if name == "person" and (sex := SEXES.get(attributes.get("sex", "").lower())) is not None:
                self._stated.sexes.setdefault(identifier, sex)
        elif name == "relation":
            self._relation(token)
        elif name == "castGroup":
            self._groups.append([])
        elif name == "castItem":
            self._refers_to, self._role_words, self._description = [], "", ""
        elif name == "rs":
            self._refers_to += identifiers(attributes.get("ref"))
        elif name == "language" and self._metadata.language is None:
            self._language(attributes.get("ident", ""))
        elif name in ("TEI", "text") and "xml:lang" in attributes:
            self._language(attributes["xml:lang"])
        elif name in DIVISION and self._inside("body"):
            kind = attributes.get("type", "").lower()
            self._kinds.add(kind)
            if outer:
                self._nested.add(kind)
        elif name == "sp":
            self._metadata.speeches += 1
            self._who = identifiers(attributes.get("who"))
        elif name in ("c", "w", "pc") and self._inside("text"):
            self._metadata.tokenised = True
            self._metadata.spaced = self._metadata.spaced or name == "c"

    def text(self, token: Text) -> None:
        if self._texts:
            self._texts[-1].append(token.text)

    def end(self) -> None:
        token = self._path.pop()
        words = " ".join("".join(self._texts.pop()).split())[:LONGEST_NAME]
        # only names are of interest; a speech's own words need not be carried up
        if self._texts and any(element.name in NAMING for element in self._path):
            self._texts[-1].append(f" {words} ")
        if token.name == "castGroup":
            self._groups.pop()
        if not words:
            return
        if token.name in NAMES and self._path and self._path[-1].name in PERSONS:
            self._persons.setdefault(self._path[-1].attributes.get("xml:id", ""), []).append(words)
        elif token.name == "title" and self._metadata.title is None and self._inside("titleStmt"):
            self._metadata.title = words
        elif token.name in CAST:
            self._role(token, words)
            if token.name == "castItem":
                self._entry(token, words)
            else:
                self._role_words = words
        elif token.name in GROUP_DESCRIPTIONS and self._path and self._path[-1].name == "castGroup":
            self._groups[-1].append(_tidy(words))
        elif token.name == "roleDesc":
            self._description = f"{self._description} {words}".strip()
        elif token.name == "speaker" and len(self._who) == 1:
            self._labels[self._who[0]][words] += 1

    def result(self) -> PlayMetadata:
        kinds = self._kinds
        self._metadata.acts = "act" in kinds or ("scene" in self._nested if "scene" in kinds else bool(self._nested))
        self._metadata.unlisted = tuple(who for who in self._labels if who not in self._persons)
        self._metadata.cast = self._cast()
        for who in (*self._persons, *self._metadata.unlisted):
            character = self._metadata.cast[who]
            if not is_group(character.name):
                self._stated.names[who] = (character.name, *character.aliases)
        return self._metadata

    def _inside(self, name: str) -> bool:
        return any(element.name == name for element in self._path)

    def _language(self, code: str) -> None:
        short = code.lower().partition("-")[0]
        self._metadata.language = short if short in LANGUAGES else None

    def _role(self, token: Start, words: str) -> None:
        elements = [token]
        if token.name == "role" and self._path and self._path[-1].name == "castItem":
            elements.append(self._path[-1])
        for element in elements:
            for identifier in (*identifiers(element.attributes.get("sameAs")), element.attributes.get("xml:id")):
                if identifier:
                    self._roles.setdefault(identifier, words)

    def _entry(self, token: Start, words: str) -> None:
        """An entry of the cast list: a name, up to the first comma where nothing is marked, and a description."""
        name, description = self._role_words, self._description
        if not description:
            name = AFTER_NAME.split(name or words, maxsplit=1)[0]
            description = words.removeprefix(name)
        elif not name:
            name = words.partition(description)[0]
        own = (token.attributes.get("xml:id"), *identifiers(token.attributes.get("sameAs")))
        self._stated.entries.append(
            CastItem(
                token.line,
                _tidy(name),
                _tidy(description),
                tuple(filter(None, own)),
                tuple(self._refers_to),
                tuple(self._groups),
            )
        )

    def _relation(self, token: Start) -> None:
        people = (identifiers(token.attributes.get(part)) for part in ("active", "passive", "mutual"))
        self._stated.relations.append(StatedRelation(token.line, token.attributes.get("name", ""), *people))

    def _cast(self) -> dict[str, Character]:
        speaking = list(dict.fromkeys((*self._persons, *self._labels)))
        owners: dict[tuple[str, int], set[str]] = defaultdict(set)
        for identifier in speaking:
            for rank, candidate in self._candidates(identifier):
                for as_sure in range(rank, LABEL + 1):
                    owners[fold(candidate), as_sure].add(identifier)
        names: dict[str, str] = {}
        used: set[str] = set()
        for identifier in (*speaking, *(role for role in self._roles if role not in speaking)):
            own = (name for rank, name in self._candidates(identifier) if len(owners[fold(name), rank]) <= 1)
            name = next((name for name in own if fold(name) not in used), None)
            names[identifier] = name or self._numbered(identifier, used)
            used.add(fold(names[identifier]))
        aliases = unambiguous_aliases({names[who]: [name for _, name in self._candidates(who)] for who in speaking})
        return {who: Character(name, aliases.get(name, ())) for who, name in names.items()}

    def _candidates(self, identifier: str) -> Iterator[tuple[int, str]]:
        """Names of a person with how sure each is; a name that is surer for another person is left out."""
        for name in self._persons.get(identifier, []):
            if name != identifier:
                yield PERSON, name
        if identifier in self._roles:
            yield ROLE, self._roles[identifier]
        for label, _ in self._labels[identifier].most_common() if identifier in self._labels else ():
            yield LABEL, display_name(label)

    def _numbered(self, identifier: str, used: set[str]) -> str:
        """Two messengers who are both only 'Messenger' are 'Messenger 1' and 'Messenger 2'; 'All' are just all."""
        labels = self._labels.get(identifier)
        if labels is None:
            return identifier
        label = display_name(labels.most_common(1)[0][0]).rstrip(".")
        if is_group(label):
            return label
        number = 1
        while fold(f"{label} {number}") in used:
            number += 1
        return f"{label} {number}"


def _tidy(words: str) -> str:
    return BEFORE_CLOSING.sub(r"\1", words).strip(" .,;:")
