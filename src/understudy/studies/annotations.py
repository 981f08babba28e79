"""What annotators write of a chapter: rows of tables, the claims in them, and the claims of several side by side.

    facts    who, attribute, value, from        several values of one row are separated by ';', 'none' ends an attribute
    ties     of, to, kind, level, from          kind is a kind of tie, which has no level ('over' ends it), or affection
                                                or familiarity, which has one
    scenes   first, last, setting, present      lines by their moments; names separated by ';'

A blank 'from' is the beginning of the chapter. Nothing may be dated after the chapter that it was read in.

Whoever integrates the tables of several annotators finds the rows that all of them have filled in. Rows that only some
have are filled in as well, marked with who stated them (annotator A, B, C); the integrator takes such a row by emptying
its mark, or deletes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

from understudy.errors import InputError, UnknownMoment
from understudy.story.types import PROFILE, SECRET, Moment, Schema
from understudy.studies.item import Answer, Block, Problem, ShownLine, StudyItem
from understudy.text import did_you_mean, fold

FACTS, TIES, SCENES = "facts", "ties", "scenes"
COLUMNS: Mapping[str, Mapping[str, str]] = {
    FACTS: {"who": "Who", "attribute": "Attribute", "value": "Value", "from": "From"},
    TIES: {"of": "Of", "to": "To", "kind": "Kind", "level": "Level", "from": "From"},
    SCENES: {"first": "First line", "last": "Last line", "setting": "Setting", "present": "Present"},
}
NONE, OVER = "none", "over"
BY, ALL = "by", "all"
"""Column of an integrator's row that says who stated it, and its value where everybody did."""
BETWEEN = ";"
SHOWN = 12  # names that a message lists

Row = Mapping[str, str]


class AnnotatedFact(NamedTuple):
    who: str
    attribute: str
    value: str
    since: Moment

    @property
    def subject(self) -> str:
        return f"{self.who}, {self.attribute}"

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for claims that say the same."""
        return self.who, self.attribute, fold(self.value), self.since

    def row(self) -> dict[str, str]:
        return {"who": self.who, "attribute": self.attribute, "value": self.value, "from": self.since.dotted}


class AnnotatedTie(NamedTuple):
    of: str
    to: str
    kind: str
    level: str
    since: Moment

    @property
    def subject(self) -> str:
        return f"{self.of} to {self.to}, {self.kind}"

    @property
    def key(self) -> tuple[object, ...]:
        return self.of, self.to, self.kind, self.level, self.since

    def row(self) -> dict[str, str]:
        return {"of": self.of, "to": self.to, "kind": self.kind, "level": self.level, "from": self.since.dotted}


class AnnotatedScene(NamedTuple):
    first: Moment
    last: Moment
    setting: str
    present: tuple[str, ...]

    @property
    def subject(self) -> str:
        return f"{self.first.dotted} to {self.last.dotted}"

    @property
    def key(self) -> tuple[object, ...]:
        return self.first, self.last, fold(self.setting), frozenset(self.present)

    def row(self) -> dict[str, str]:
        there = f"{BETWEEN} ".join(self.present)
        return {"first": self.first.dotted, "last": self.last.dotted, "setting": self.setting, "present": there}


AnnotatedRow = AnnotatedFact | AnnotatedTie | AnnotatedScene


@dataclass(frozen=True, slots=True)
class AnnotatedChapter:
    """What rows about a chapter are checked against."""

    moment: Moment
    names: Mapping[str, Sequence[str]]
    """By how a name is compared (`fold`): whom it may mean."""
    schema: Schema
    lines: Mapping[str, int]
    """By the moment of each scene, how many lines it has."""

    def document(self) -> dict[str, Any]:
        return {
            "moment": self.moment.dotted,
            "levels": list(self.moment.levels),
            "names": {name: list(people) for name, people in self.names.items()},
            "attributes": list(self.schema.attributes),
            "kinds": list(self.schema.kinds),
            "lines": dict(self.lines),
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> AnnotatedChapter:
        levels = tuple(document["levels"])
        schema = Schema().extended(tuple(document["attributes"]), tuple(document["kinds"]))
        return cls(Moment.parse(document["moment"], levels), document["names"], schema, document["lines"])

    @property
    def people(self) -> list[str]:
        return list(dict.fromkeys(name for people in self.names.values() for name in people))

    def person(self, name: str) -> str:
        if not name:
            raise InputError("write a name: this row does not say of whom it is")
        matches = self.names.get(fold(name), ())
        if len(matches) == 1:
            return matches[0]
        if matches:
            raise InputError(f"'{name}' may be {' or '.join(matches)}: write the whole name")
        known = self.people
        meant = did_you_mean(name, known) or f": the story has {', '.join(known[:SHOWN])}"
        raise InputError(f"nobody is called '{name}'{meant}{', ...' if len(known) > SHOWN else ''}")

    def since(self, text: str) -> Moment:
        if not text:
            return self.moment
        moment = self._moment(text)
        if moment > self.moment and not moment.within(self.moment):
            raise InputError(
                f"{text} comes after this chapter, {self.moment.dotted}: date what it tells, as it tells it"
            )
        return moment

    def line(self, text: str) -> Moment:
        moment = self._moment(text)
        scene = Moment(moment.numbers[:-1] or moment.numbers, moment.levels)
        if not 1 <= moment.numbers[-1] <= self.lines.get(scene.dotted, 0):
            raise InputError(f"'{text}' is no line of this chapter: write a number that stands before a line")
        return moment

    def _moment(self, text: str) -> Moment:
        try:
            return Moment.parse(text.strip("[]"), self.moment.levels)
        except UnknownMoment as error:
            raise InputError(str(error)) from error


def _fact_claims(row: Row, chapter: AnnotatedChapter) -> Iterator[AnnotatedFact]:
    who, attribute = chapter.person(row["who"]), row["attribute"].lower()
    _one_of(attribute, chapter.schema.attributes, "attribute")
    since = chapter.since(row["from"])
    values = [value.strip() for value in row["value"].split(BETWEEN) if value.strip()]
    if not values:
        raise InputError(f"write what {who}'s {attribute} is, or '{NONE}' where it is over")
    if NONE in map(fold, values) and (len(values) > 1 or attribute in (SECRET, PROFILE)):
        raise InputError(f"'{NONE}' ends an attribute: it stands alone, and not for a secret or a profile")
    return (AnnotatedFact(who, attribute, NONE if fold(value) == NONE else value, since) for value in values)


def _tie_claims(row: Row, chapter: AnnotatedChapter) -> Iterator[AnnotatedTie]:
    of, to = chapter.person(row["of"]), chapter.person(row["to"])
    if of == to:
        raise InputError(f"this is a tie of {of} to themselves: name somebody else")
    kind, level = row["kind"].lower(), row["level"].lower()
    _one_of(kind, (*(name for name, _, _ in chapter.schema.levels), *chapter.schema.kinds), "kind")
    bounds = chapter.schema.bounds(kind)
    if bounds is None and level not in ("", OVER):
        raise InputError(f"'{kind}' has no level: leave it blank, or write '{OVER}' where it ends")
    if bounds is not None:
        level = _level(level, kind, *bounds)
    return iter((AnnotatedTie(of, to, kind, level, chapter.since(row["from"])),))


def _level(text: str, kind: str, low: int, high: int) -> str:
    try:
        level = int(text)
    except ValueError:
        level = high + 1
    if not low <= level <= high:
        raise InputError(f"{kind} is '{text}': write a whole number from {low} to {high}")
    return str(level)


def _scene_claims(row: Row, chapter: AnnotatedChapter) -> Iterator[AnnotatedScene]:
    first, last = chapter.line(row["first"]), chapter.line(row["last"])
    if last < first:
        raise InputError(f"the last line, {last.dotted}, comes before the first, {first.dotted}")
    present = [chapter.person(name.strip()) for name in row["present"].split(BETWEEN) if name.strip()]
    return iter((AnnotatedScene(first, last, row["setting"], tuple(dict.fromkeys(present))),))


def _one_of(word: str, allowed: Sequence[str], what: str) -> None:
    if not word:
        raise InputError(f"this row has no {what} yet: use {', '.join(allowed)}")
    if word not in allowed:
        meant = did_you_mean(word, allowed) or f": use {', '.join(allowed)}"
        raise InputError(f"'{word}' is no {what}{meant}")


CLAIMS: Mapping[str, Callable[[Row, AnnotatedChapter], Iterator[AnnotatedRow]]] = {
    FACTS: _fact_claims,
    TIES: _tie_claims,
    SCENES: _scene_claims,
}


def claims_in(table: str, row: Mapping[str, str], chapter: AnnotatedChapter) -> list[AnnotatedRow]:
    """What one row states; an `InputError` where it cannot be read. A row that is still blank states nothing."""
    cells = {column: " ".join(row.get(column, "").split()) for column in COLUMNS[table]}
    return list(CLAIMS[table](cells, chapter)) if any(cells.values()) else []


def claims_of(table: str, answer: Mapping[str, Any], chapter: AnnotatedChapter) -> list[AnnotatedRow]:
    """What an accepted answer's table states, each claim once."""
    claims = (claim for row in answer.get(table) or () for claim in claims_in(table, row, chapter))
    return list({claim.key: claim for claim in claims}.values())


class _Sayings:
    """The claims of all annotators about one table of a chapter, and who made each."""

    def __init__(self, table: str, answers: Sequence[Answer], chapter: AnnotatedChapter) -> None:
        self.letters = [chr(ord("A") + number) for number in range(len(answers))]
        self.claims: dict[tuple[object, ...], AnnotatedRow] = {}
        self.by: dict[tuple[object, ...], list[str]] = {}
        for letter, answer in zip(self.letters, answers):
            for claim in claims_of(table, answer, chapter):
                self.claims.setdefault(claim.key, claim)
                self.by.setdefault(claim.key, []).append(letter)

    def in_order(self) -> list[tuple[AnnotatedRow, list[str]]]:
        """Claims about the same subject together."""
        pairs = [(claim, self.by[key]) for key, claim in self.claims.items()]
        return sorted(pairs, key=lambda pair: (pair[0].subject, sorted(pair[0].row().items())))


def integrated_draft(tables: Sequence[str], answers: Sequence[Answer], chapter: AnnotatedChapter) -> dict[str, Any]:
    """The tables as the integrator finds them."""
    draft: dict[str, Any] = {}
    for table in tables:
        said = _Sayings(table, answers, chapter)
        rows = [{**claim.row(), BY: ALL if len(by) == len(answers) else ", ".join(by)} for claim, by in said.in_order()]
        if rows:
            draft[table] = rows
    return draft


def is_undecided(row: Mapping[str, str]) -> bool:
    return row.get(BY, "").strip() not in ("", ALL)


def differences(table: str, answers: Sequence[Answer], chapter: AnnotatedChapter) -> Block | None:
    """A line for each subject on which annotators differ: what each of them says of it."""
    said = _Sayings(table, answers, chapter)
    differing = dict.fromkeys(claim.subject for claim, by in said.in_order() if len(by) < len(answers))
    lines = []
    for subject in differing:
        views = [
            "; ".join(_short(claim) for claim, by in said.in_order() if claim.subject == subject and letter in by)
            for letter in said.letters
        ]
        text = " | ".join(f"{letter}: {view or 'nothing'}" for letter, view in zip(said.letters, views))
        lines.append(ShownLine(None, f"{subject}. {text}"))
    return Block(f"Where the annotators differ: {table}", tuple(lines)) if lines else None


def _short(claim: AnnotatedRow) -> str:
    """A claim without its subject."""
    row = claim.row()
    if "first" in row:
        return ", ".join(filter(None, (row["setting"], row["present"]))) or "a scene"
    return f"{row.get('value') or row.get('level') or 'yes'} from {row['from']}"


def majority(table: str, answers: Sequence[Answer], chapter: AnnotatedChapter) -> list[AnnotatedRow]:
    """What more than half of the annotators say, in the order in which it was first said."""
    said = _Sayings(table, answers, chapter)
    return [claim for key, claim in said.claims.items() if 2 * len(said.by[key]) > len(answers)]


def annotation_problems(item: StudyItem, answer: Answer) -> list[Problem]:
    chapter = AnnotatedChapter.from_document(item.context["chapter"])
    problems: list[Problem] = []
    for question in item.questions:
        stated: list[tuple[int, AnnotatedRow]] = []
        for index, row in enumerate(answer.get(question.name) or ()):
            try:
                stated += [(index, claim) for claim in claims_in(question.name, row, chapter)]
            except InputError as error:
                problems.append(Problem(question.name, str(error), index))
            else:
                if is_undecided(row):
                    message = f"Not everybody says so ({row[BY]} did): empty the mark to take the row, or delete it."
                    problems.append(Problem(question.name, message, index))
        problems += _contradictions(question.name, stated)
    return problems


def _contradictions(table: str, stated: Sequence[tuple[int, AnnotatedRow]]) -> Iterator[Problem]:
    seen: dict[tuple[str, Moment], AnnotatedRow] = {}
    for index, claim in stated:
        if isinstance(claim, AnnotatedTie) and seen.setdefault((claim.subject, claim.since), claim) != claim:
            yield Problem(table, f"{claim.subject} has two levels from {claim.since.dotted}: keep one", index)
    scenes = sorted(
        ((index, claim) for index, claim in stated if isinstance(claim, AnnotatedScene)), key=lambda pair: pair[1].first
    )
    for (_, before), (index, after) in pairwise(scenes):
        if after.first <= before.last:
            yield Problem(table, f"This scene begins before the one from {before.first.dotted} is over.", index)
