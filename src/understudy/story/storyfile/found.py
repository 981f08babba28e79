"""`found.toml`: what was found in a story's text, with what its author decided about it.

    bound = 0.6                                 [[relation]]
    [[fact]]                                    id = "91c0d2a7"
    id = "5be21f03"                             of = "Ines Vale"
    who = "Ines Vale"                           to = "Tobias Rook"
    attribute = "profile"                       kind = "spouse"
    value = ["I keep the keys"]                 term = "husband"
    from = "1.1.4"                              from = "1.2.8"
    confidence = 0.83                           confidence = 0.97
    sources = ["1.1.3"]                         sources = ["1.2.7", "2.1.1"]
    quotes = ["Ines Vale: I keep the keys."]    quotes = ["Ines Vale: My husband ...", "Tobias Rook: ..."]
    finder = "statements"                       finder = "ties"
    decision = "accepted"                       decision = "changed"
                                                changed = ["sibling"]

It lies beside the story: DIR/found.toml, X.found.toml for X.story or a script. With `pending = true` the text is still
to be looked through. An entry is used where its author
accepted or changed it, or where nobody rejected it and its confidence is not below the bound. `quotes` are the
texts of the source lines: by them an entry finds its lines again when the story is read anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from understudy.errors import UnknownMoment
from understudy.story.storyfile.toml_tables import DecisionFile, DecisionFileParser, TomlTable, quoted
from understudy.story.types import KIN, PROFILE, SECRET, Fact, Finding, Line, Moment, Relation, Schema

if TYPE_CHECKING:
    from understudy.story.storyfile.story import Story


FOUND = "found.toml"
BOUND = 0.6
UNDECIDED, ACCEPTED, REJECTED, CHANGED = "", "accepted", "rejected", "changed"
DECISIONS = (ACCEPTED, REJECTED, CHANGED)
NEVER_FOUND = frozenset({SECRET, "born", "died", "goes by", "confidant"})
"""What decides who can be met, by which name, and who may know what is for an author to say."""
LONGEST_QUOTE = 400
SHARED_KEYS = {
    "id", "from", "until", "confidence", "sources", "quotes", "finder", "decision", "changed",
}  # fmt: skip
KEYS = {
    "": {"bound", "pending", "fact", "relation", "undo"},
    "fact": {"who", "attribute", "value", *SHARED_KEYS},
    "relation": {"of", "to", "kind", "level", "term", *SHARED_KEYS},
    "undo": {"entries"},
}
HEADER = """\
# What `understudy draft` found in the text. Decide with `understudy draft review`, or here:
# decision = "accepted", "rejected", or "changed" with changed = ["what it should be"].
# What is neither accepted nor rejected is used from the bound on.
"""
REPAIR = "mend the line, or delete the file and run `understudy draft` again"


@dataclass(frozen=True, slots=True)
class FoundDecision:
    """What an author decided about an entry; with CHANGED, `values` take the place of what was found."""

    verdict: str = UNDECIDED
    values: tuple[str, ...] = ()


def _decision_values(decision: FoundDecision) -> Mapping[str, object]:
    return {"decision": decision.verdict or None, "changed": decision.values or None}


@dataclass(frozen=True, slots=True)
class FoundEntry:
    """A fact or tie as it was found, the text of its source lines, and the author's decision."""

    id: str
    claim: Fact | Relation
    quotes: tuple[str, ...]
    finder: str = ""
    decision: FoundDecision = FoundDecision()

    @property
    def finding(self) -> Finding:
        assert self.claim.found is not None
        return self.claim.found

    @property
    def kind(self) -> str:
        """What entries are grouped by: the attribute of a fact, the kind of a tie."""
        return self.claim.attribute if isinstance(self.claim, Fact) else self.claim.kind

    @property
    def table(self) -> str:
        return "fact" if isinstance(self.claim, Fact) else "relation"

    def values(self) -> Mapping[str, object]:
        """The entry's table as it is written."""
        claim, finding = self.claim, self.finding
        said: dict[str, object]
        if isinstance(claim, Fact):
            said = {"who": claim.who, "attribute": claim.attribute, "value": claim.values}
        else:
            said = {
                "of": claim.of,
                "to": claim.to,
                "kind": claim.kind,
                "level": claim.level,
                "term": claim.term or None,
            }
        return {
            "id": self.id, **said, "from": claim.since.dotted, "until": claim.until.dotted if claim.until else None,
            "confidence": round(finding.confidence, 3), "sources": [source.dotted for source in finding.sources],
            "quotes": self.quotes, "finder": self.finder or None, **_decision_values(self.decision),
        }  # fmt: skip

    def is_used(self, bound: float) -> bool:
        verdict = self.decision.verdict
        return verdict in (ACCEPTED, CHANGED) or (verdict == UNDECIDED and self.finding.confidence >= bound)

    def decided(self) -> Fact | Relation:
        """The claim as the author left it: what was accepted is certain."""
        verdict, values = self.decision.verdict, self.decision.values
        if verdict not in (ACCEPTED, CHANGED):
            return self.claim
        claim = replace(self.claim, found=replace(self.finding, confidence=1.0))
        if verdict == ACCEPTED:
            return claim
        if isinstance(claim, Fact):
            return replace(claim, values=values)
        if claim.level is not None:
            return replace(claim, level=int(values[0]))
        return replace(claim, kind=values[0], term="")


@dataclass(frozen=True, slots=True)
class FoundFile(DecisionFile[FoundEntry, FoundDecision]):
    """What a found.toml holds."""

    bound: float = BOUND
    is_pending: bool = False
    """Is the text still to be looked through, before somebody's people are asked for?"""

    def render(self) -> str:
        facts_first = sorted(self.entries, key=lambda entry: isinstance(entry.claim, Relation))
        tables = ((entry.table, entry.values()) for entry in facts_first)
        return self.rendered(HEADER, (), tables, _decision_values, {"pending": self.is_pending or None})


def found_file_of(path: Path) -> Path:
    """Where what was found in a story lies: in its folder, or beside its file."""
    return path / FOUND if path.is_dir() else path.with_suffix(f".{FOUND}")


def quote_of(line: Line) -> str:
    """A line as an entry quotes it: 'Ines Vale: I keep the keys.'"""
    text = line.text if line.speaker is None else f"{line.speaker}: {line.text}"
    return text[:LONGEST_QUOTE]


def line_after(moment: Moment) -> Moment:
    """The first moment at which a line is known."""
    return Moment((*moment.numbers[:-1], moment.numbers[-1] + 1), moment.levels)


def read_found(path: Path, levels: tuple[str, ...], schema: Schema) -> FoundFile:
    """Read and check a found.toml for a story that counts time by `levels`; one that is not there holds nothing."""
    return _FoundParser(path, levels, schema).read() if path.exists() else FoundFile(path)


class _FoundParser(DecisionFileParser):
    KEYS = KEYS
    REPAIR = REPAIR

    def __init__(self, path: Path, levels: tuple[str, ...], schema: Schema) -> None:
        super().__init__(path)
        self.levels, self.schema = levels, schema

    def read(self) -> FoundFile:
        self.only_known("", self.document)
        entries = (*self._entries("fact"), *self._entries("relation"))
        self.unique(entry.id for entry in entries)
        bound, pending = self.share(self.document, "bound", 1, BOUND), self.document.get("pending", False)
        if not isinstance(pending, bool):
            raise self.error(f"pending is {quoted(pending)}, not true or false", 1)
        undo = self.undo_steps("{ id, decision, changed }", self._undone_decision)
        return FoundFile(self.path, bound, entries, tuple(undo), pending)

    def _entries(self, kind: str) -> Iterator[FoundEntry]:
        for line, table in self.tables(kind):
            since, sources = self._moment(table, "from", line), self._sources(table, line)
            if since <= sources[0]:
                raise self.error(f"holds from {since.dotted}, before its line {sources[0].dotted} was said", line)
            until = self._moment(table, "until", line) if "until" in table else None
            finding = Finding(self.share(table, "confidence", line), sources)
            make = self._fact if kind == "fact" else self._relation
            claim = replace(make(table, since, line), until=until, found=finding)
            quotes = self.texts(table, "quotes", line)
            if len(quotes) != len(sources):
                raise self.error(f"has {len(quotes)} quotes for {len(sources)} sources", line)
            decision = self._decision(table, claim, line)
            yield FoundEntry(
                self.required_text(table, "id", line), claim, quotes, str(table.get("finder", "")), decision
            )

    def _fact(self, table: TomlTable, since: Moment, line: int) -> Fact:
        attribute, values = self.required_text(table, "attribute", line), self.texts(table, "value", line)
        if attribute in NEVER_FOUND:
            raise self.error(f"'{attribute}' cannot be found: write it into cast.toml", line)
        if not values or (attribute == PROFILE and len(values) != 1):
            raise self.error("'value' must be a list of texts, for a profile of one", line)
        return Fact(self.required_text(table, "who", line), attribute, values, since)

    def _relation(self, table: TomlTable, since: Moment, line: int) -> Relation:
        kind, level = self.required_text(table, "kind", line), table.get("level")
        if kind in NEVER_FOUND:
            raise self.error(f"'{kind}' cannot be found: write it into cast.toml", line)
        if (self.schema.bounds(kind) is not None or level is not None) and not self._is_level(kind, level):
            raise self.error(f"level {quoted(level)} is none of {kind}", line)
        of, to = self.required_text(table, "of", line), self.required_text(table, "to", line)
        if of == to:
            raise self.error(f"{of} has a tie to themselves", line)
        return Relation(of, to, kind, level, since, term=str(table.get("term", "")))

    def _is_level(self, kind: str, level: object) -> bool:
        bounds = self.schema.bounds(kind)
        return bounds is not None and type(level) is int and bounds[0] <= level <= bounds[1]

    def _decision(self, table: TomlTable, claim: Fact | Relation, line: int) -> FoundDecision:
        verdict, values = table.get("decision", UNDECIDED), self.texts(table, "changed", line)
        if verdict not in (UNDECIDED, *DECISIONS):
            raise self.error(f"decision is {quoted(verdict)}, not one of {', '.join(DECISIONS)}", line)
        if verdict == CHANGED and (problem := self._change_problem(claim, values)):
            raise self.error(problem, line)
        return FoundDecision(verdict, values if verdict == CHANGED else ())

    def _change_problem(self, claim: Fact | Relation, values: tuple[str, ...]) -> str:
        if not values:
            return "'changed' does not say into what"
        if isinstance(claim, Relation) and claim.level is not None:
            level = int(values[0]) if values[0].lstrip("-").isascii() and values[0].lstrip("-").isdigit() else None
            return "" if self._is_level(claim.kind, level) else f"'changed' is no level of {claim.kind}"
        if isinstance(claim, Relation) and values[0] in NEVER_FOUND:
            return f"'{values[0]}' cannot be found: write it into cast.toml"
        return ""

    def _undone_decision(self, table: TomlTable, line: int) -> FoundDecision:
        return FoundDecision(str(table.get("decision", UNDECIDED)), self.texts(table, "changed", line))

    def _sources(self, table: TomlTable, line: int) -> tuple[Moment, ...]:
        texts = self.texts(table, "sources", line)
        sources = tuple(self._parsed(text, "sources", line) for text in texts)
        if not sources or list(sources) != sorted(sources):
            raise self.error("'sources' must be the moments of lines, in story order", line)
        return sources

    def _moment(self, table: TomlTable, key: str, line: int) -> Moment:
        return self._parsed(self.required_text(table, key, line), key, line)

    def _parsed(self, text: str, key: str, line: int) -> Moment:
        try:
            return Moment.parse(text, self.levels)
        except UnknownMoment as error:
            raise self.error(f"'{key}': {error}", line) from error


# What was found, laid over what an author wrote: as it can be used in one story.
#
#     used   iff  its people and lines are in the story, its attribute or kind in the schema,
#                 it is accepted or not below the bound, and the author wrote nothing of the same key at any time
#
# A line is found again by its text where the story has changed since. Who was there for it is asked of the story,
# whatever the file may say.


GIVES_WAY = "the story's author wrote of it"
FAMILY = frozenset({*KIN, "family", "immediate family"})


class PlacedEntry(NamedTuple):
    """An entry in a story: the claim with its lines where they stand there, and why it is not used, if it is not."""

    entry: FoundEntry
    claim: Fact | Relation
    problem: str = ""


@dataclass(frozen=True, slots=True)
class FoundClaims:
    """The facts and ties of a found.toml that a story uses."""

    facts: tuple[Fact, ...] = ()
    relations: tuple[Relation, ...] = ()
    is_pending: bool = False
    """Is the text still to be looked through?"""


class FoundOverlay:
    """The claims of a file that may change while the story is open; it is then read again."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read: tuple[tuple[int, int, int] | None, FoundClaims] = (None, FoundClaims())

    def claims(self, story: Story) -> FoundClaims:
        """The claims as they are used in the story that the overlay belongs to."""
        read_at, claims = self._read
        stamp = _stamp(self._path)
        if stamp == read_at:
            return claims
        file = read_found(self._path, story.levels, story.schema)
        used = [placed.claim for placed in place_entries(story, file) if not placed.problem]
        claims = FoundClaims(
            tuple(claim for claim in used if isinstance(claim, Fact)),
            tuple(claim for claim in used if isinstance(claim, Relation)),
            file.is_pending,
        )
        self._read = stamp, claims
        return claims


def coarse_kind(kind: str) -> str:
    """Kinds that say the same of two people, one of them in less detail: every kind of family is one."""
    return "family" if kind in FAMILY else kind


def place_entries(story: Story, file: FoundFile) -> list[PlacedEntry]:
    """Every entry of a file as it stands in a story."""
    moved = _moved_lines(story, file.entries)
    profiles = {member.character.name: member.character.profile for member in story.cast()}
    written = _written_keys(story, profiles)
    placed = []
    for entry in file.entries:
        claim = entry.decided()
        lines = (moved[line] for line in zip(entry.finding.sources, entry.quotes))
        sources = tuple(sorted(line for line in lines if line is not None))
        absent = [name for name in claim.people if name not in profiles]
        if absent:
            placed.append(PlacedEntry(entry, claim, f"nobody in the story is called {absent[0]}"))
        elif not sources:
            placed.append(PlacedEntry(entry, claim, "its lines are no longer in the story"))
        else:
            claim = _placed(story, claim, sources)
            placed.append(PlacedEntry(entry, claim, _why_unused(story, file.bound, entry, claim, written)))
    return placed


def _placed(story: Story, claim: Fact | Relation, sources: tuple[Moment, ...]) -> Fact | Relation:
    """The claim with its lines where they stand now, and who was there for them."""
    assert claim.found is not None
    witnesses = frozenset[str]().union(*(story.present_at(source) for source in sources))
    has_moved = sources != claim.found.sources
    claim = replace(claim, found=replace(claim.found, sources=sources, witnesses=tuple(sorted(witnesses))))
    if not has_moved:
        return claim
    since = line_after(sources[0])
    return replace(claim, since=since, until=claim.until if claim.until is not None and claim.until > since else None)


def _why_unused(
    story: Story, bound: float, entry: FoundEntry, claim: Fact | Relation, written: frozenset[tuple[str, ...]]
) -> str:
    if entry.decision.verdict == REJECTED:
        return "rejected"
    levels = (kind for kind, _, _ in story.schema.levels)
    known = story.schema.attributes if isinstance(claim, Fact) else (*story.schema.kinds, *levels)
    if (named := claim.attribute if isinstance(claim, Fact) else claim.kind) not in known:
        return f"the story has no '{named}': add it under [schema] of its cast.toml"
    if _key(claim) in written:
        return GIVES_WAY
    return "" if entry.is_used(bound) else f"below the bound of {bound:g}"


def _key(claim: Fact | Relation) -> tuple[str, ...]:
    """What an author's own word stands for, whenever it holds."""
    if isinstance(claim, Fact):
        return (
            "fact",
            claim.who,
            claim.attribute,
            *(_bare(value) for value in claim.values if claim.attribute == PROFILE),
        )
    return ("relation", claim.of, claim.to, coarse_kind(claim.kind))


def _bare(sentence: str) -> str:
    return sentence.strip().rstrip(".。").casefold()


def _written_keys(story: Story, people: Mapping[str, Iterable[str]]) -> frozenset[tuple[str, ...]]:
    written = {_key(fact) for fact in story.annotated_facts()} | {_key(tie) for tie in story.annotated_relations()}
    written |= {("fact", name, PROFILE, _bare(text)) for name, profile in people.items() for text in profile}
    return frozenset(written)


def _moved_lines(story: Story, entries: Iterable[FoundEntry]) -> dict[tuple[Moment, str], Moment | None]:
    """Where the lines of the entries stand now; None for those that are gone."""
    lines: dict[tuple[Moment, str], Moment | None] = {}
    for entry in entries:
        for source, quote in zip(entry.finding.sources, entry.quotes):
            if (source, quote) not in lines:
                line = story.line(source)
                lines[source, quote] = source if line is not None and quote_of(line) == quote else None
    lost = {quote for (_, quote), now in lines.items() if now is None}
    if lost:
        elsewhere = _lines_quoted(story, lambda quote: quote in lost)
        for (source, quote), now in list(lines.items()):
            if now is None and (moments := elsewhere.get(quote)):
                lines[source, quote] = min(moments, key=lambda moment: _distance(moment, source))
    return lines


def _lines_quoted(story: Story, wanted: Callable[[str], bool]) -> dict[str, list[Moment]]:
    moments: dict[str, list[Moment]] = {}
    for line in story.lines_with(bool, Moment.end()):
        if wanted(quote := quote_of(line)):
            moments.setdefault(quote, []).append(line.moment)
    return moments


def _distance(moment: Moment, source: Moment) -> tuple[int, ...]:
    return tuple(abs(a - b) for a, b in zip(moment.numbers, source.numbers))


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_ino, stat.st_size, stat.st_mtime_ns
