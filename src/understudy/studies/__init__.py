"""A study as its file describes it, one readable study.toml, and the stories and personas that its material names.

    kind = "likely"
    title = "Would Zita say this?"
    instructions = "..."         what a person is told before the first item
    example = "..."              an item answered, to show how (optional)
    consent = "..."              what a person agrees to before they begin; blank asks nothing
    people_per_item = 5
    items_per_person = 20        at most
    checks = 1                   attention checks for each person
    hours = 24                   how long an item that was given out and not answered stays with its person
    seed = 0
    ask = ["age"]                what is asked of a person themselves; nothing unless it stands here
    comments = true              whether a person may leave a comment with an answer

    [material]                   what the kind makes its items of

Paths in the material are relative to the file.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from understudy.errors import InputError
from understudy.formats import read
from understudy.formats.chat_records import read_persona_records
from understudy.story.storyfile import Story
from understudy.story.storyfile.toml_tables import load_toml, quoted

TEXTS = ("kind", "title", "instructions", "example", "consent")
NUMBERS = {"people_per_item": 1, "items_per_person": 1, "checks": 0, "hours": 1, "seed": 0}
LARGEST = 1_000_000
MOST_ASKED = 10
Entry = TypeVar("Entry")
KEYS = frozenset({*TEXTS, *NUMBERS, "ask", "comments", "material"})


@dataclass(frozen=True, slots=True)
class Study:
    kind: str
    title: str
    instructions: str = ""
    example: str = ""
    consent: str = ""
    people_per_item: int = 3
    items_per_person: int = 20
    checks: int = 0
    hours: int = 24
    seed: int = 0
    ask: tuple[str, ...] = ()
    comments: bool = True
    material: Mapping[str, Any] = field(default_factory=dict)
    folder: Path = field(default=Path(), compare=False)
    """Where the file lies; paths of the material start there."""

    @property
    def digest(self) -> str:
        """Changes with everything that decides which items there are."""
        decisive = {"kind": self.kind, "seed": self.seed, "checks": self.checks, "material": self.material}
        return hashlib.sha256(json.dumps(decisive, sort_keys=True).encode()).hexdigest()

    def document(self) -> dict[str, Any]:
        return {**asdict(self), "folder": str(self.folder)}

    def text(self, key: str, default: str | None = None) -> str:
        """A text of the material."""
        value = self.material.get(key, default)
        if not isinstance(value, str) or not value:
            raise self._wrong(key, "a text", value)
        return value

    def texts(self, key: str, default: tuple[str, ...] | None = None) -> tuple[str, ...]:
        """A list of texts of the material; one text counts as a list of one."""
        value = self.material.get(key, default)
        values = [value] if isinstance(value, str) else value
        if not isinstance(values, list | tuple) or not values or not all(isinstance(each, str) for each in values):
            raise self._wrong(key, "a list of texts", value)
        return tuple(values)

    def listed(self, key: str) -> tuple[str, ...]:
        """A list of texts that may be left out, or empty."""
        return self.texts(key) if self.material.get(key) else ()

    def sample(self, entries: Sequence[Entry], limit: int | None = None) -> list[Entry]:
        """At most as many as the material's `limit` says, drawn, in their order; without one all, or `limit`."""
        size = min(self.number("limit", limit or max(len(entries), 1)), len(entries))
        chosen = random.Random(self.seed).sample(range(len(entries)), size)  # noqa: S311
        return [entries[index] for index in sorted(chosen)]

    def number(self, key: str, default: int | None = None, least: int = 1) -> int:
        value = self.material.get(key, default)
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= LARGEST:
            raise self._wrong(key, f"a whole number of at least {least}", value)
        return value

    def flag(self, key: str) -> bool:
        value = self.material.get(key, False)
        if not isinstance(value, bool):
            raise self._wrong(key, "true or false", value)
        return value

    def choice(self, key: str, options: tuple[str, ...]) -> str:
        """One of several words, the first by default."""
        value = self.text(key, options[0])
        if value not in options:
            raise self._wrong(key, f"one of {', '.join(options)}", value)
        return value

    def path(self, key: str) -> Path:
        """A file or folder of the material, which must be there."""
        path = self.folder / Path(self.text(key)).expanduser()
        if not path.exists():
            raise InputError(f"is not there: set `{key}` under [material] to a path from the study's file", path)
        return path

    def only(self, *keys: str) -> None:
        """Refuse material of other names: a misspelt key would be left out in silence."""
        for key in self.material:
            if key not in keys:
                raise InputError(
                    f"[material] of a `{self.kind}` study has no key {quoted(key)}: it may have {', '.join(keys)}"
                )

    def _wrong(self, key: str, wanted: str, value: object) -> InputError:
        shown = "is missing" if value is None else f"is {quoted(value)}"
        return InputError(f"`{key}` under [material] {shown}: a `{self.kind}` study needs {wanted} there")


def load_study(path: Path) -> Study:
    document, _ = load_toml(path)
    for key in document:
        if key not in KEYS:
            raise InputError(f"has a key {quoted(key)} that no study has: use {', '.join(sorted(KEYS))}", path)
    for key in ("kind", "title"):
        if not document.get(key):
            raise InputError(f"has no `{key}`: begin with `understudy study new KIND -o {path.name}`", path)
    for key in TEXTS:
        if not isinstance(document.get(key, ""), str):
            raise InputError(f"`{key}` is {quoted(document[key])}: write a text in quotes", path)
    for key, least in NUMBERS.items():
        value = document.get(key, least)
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= LARGEST:
            raise InputError(f"`{key}` is {quoted(value)}: write a whole number of at least {least}", path)
    ask = document.get("ask", [])
    if not isinstance(ask, list) or len(ask) > MOST_ASKED or not all(isinstance(each, str) and each for each in ask):
        raise InputError(f"`ask` is {quoted(ask)}: write a list of at most {MOST_ASKED} short questions", path)
    if not isinstance(document.get("comments", True), bool):
        raise InputError(f"`comments` is {quoted(document['comments'])}: write true or false", path)
    if not isinstance(document.get("material", {}), dict):
        raise InputError("`material` is no table: write [material] and what the items are made of below it", path)
    return study_from_document({**document, "folder": path.parent})


def study_from_document(document: Mapping[str, Any]) -> Study:
    """The inverse of `Study.document`."""
    return Study(**{**document, "ask": tuple(document.get("ask", ())), "folder": Path(document["folder"])})


def open_story(study: Study, key: str = "story") -> Story:
    """The story that the material names: one that comes with the program, or a path from the study's file."""
    name = study.text(key)
    path = study.folder / Path(name).expanduser()
    return read(path if path.exists() else name)


def personas_of(study: Study) -> list[tuple[str, ...]]:
    """The personas that the material names, each once, whatever the order of its sentences.

    They are those of a file, or the profiles of a story's cast.
    """
    if ("story" in study.material) == ("personas" in study.material):
        raise InputError(
            f"a `{study.kind}` study takes either `story` or `personas` under [material]: name one of them"
        )
    if "personas" in study.material:
        path = study.path("personas")
        personas = [record.sentences for record in read_persona_records(path)]
        if not personas:
            raise InputError("holds no persona: write one on each line", path)
    else:
        story = open_story(study)
        personas = [member.character.profile for member in story.cast() if member.character.profile]
        if not personas:
            raise InputError(f"nobody in '{story.title}' has a profile: name a story with profiles in its cast")
    different: dict[frozenset[str], tuple[str, ...]] = {}
    for sentences in personas:
        different.setdefault(frozenset(sentences), sentences)
    return list(different.values())
