"""Who speaks, put right by the author: decisions about doubtful quotations, applied whenever the source is read.

    bound = 0.6                                   quotations less sure than this are listed
    [[person]]                                    somebody of the cast, with names that were merged into this one
    name = "Mrs. John Knightley"
    aliases = ["Isabella"]
    [[quotation]]
    id = "5be21f03"
    file = "emma.txt"
    chapter = "2.3"
    span = [10234, 10260]                         offsets into the text
    quote = "You are very kind."                  its first 200 characters
    before = "... Emma smiled."                   the text around it
    after = "Harriet could not answer."
    guess = "Harriet"                             who was proposed, how surely, and who else it may be
    confidence = 0.41
    candidates = [["Harriet", 0.41], ["Emma", 0.38]]
    speaker = ""                                  for the author: who says it, of the cast or somebody new
    not_speech = true                             or: nobody says it, it is a title, a word in quotes
    proposed = "Emma"                             what a language model answered, used until somebody decides
    proposed_confidence = 0.7
    by = "llm"

The file lies beside the source: DIR/quotations.toml for a story folder, NAME.quotations.toml for NAME.txt or NAME.epub;
a story file that lies in the same folder is known by the names of its sources.
An entry belongs to its quotation's words, not to a position: the words are looked for again, where they stand several
times those with the same text around them or nearest to where they were; see `quotation_matching`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from understudy.errors import InputError
from understudy.formats.prose.quotation_matching import QuotationContext, match_quotations
from understudy.novels.prose import Attribution, Prose, Span
from understudy.sources.source import SourceFile
from understudy.story.storyfile import DOUBTFUL, Story, is_story_file
from understudy.story.storyfile.toml_tables import TableParser, TomlTable, quoted
from understudy.story.types import Character

__all__ = [
    "QUOTATIONS",
    "Corrections",
    "QuotationEntry",
    "SpeakerDecision",
    "SpeakerProposal",
    "corrected",
    "parse_corrections",
    "quotations_file_of",
    "read_corrections",
]

QUOTATIONS = "quotations.toml"
REPAIR = "mend the line; a copy of the file keeps your decisions safe"
ENTRY_KEYS = {
    "id", "file", "chapter", "span", "quote", "passage", "before", "after", "guess", "confidence", "candidates",
    "speaker", "not_speech", "proposed", "proposed_confidence", "by",
}  # fmt: skip
KEYS = {
    "": {"bound", "person", "quotation", "undo"},
    "person": {"name", "aliases"},
    "quotation": ENTRY_KEYS,
    "undo": {"entries"},
}


@dataclass(frozen=True, slots=True)
class SpeakerDecision:
    """What an author says of a quotation: its speaker, or that it is no speech; neither, where it is undecided."""

    speaker: str = ""
    not_speech: bool = False

    @property
    def is_made(self) -> bool:
        return bool(self.speaker) or self.not_speech


@dataclass(frozen=True, slots=True)
class SpeakerProposal:
    """What somebody other than the author answered, and how surely. `by` says who: 'llm'."""

    speaker: str
    confidence: float
    by: str


@dataclass(frozen=True, slots=True)
class QuotationEntry:
    """A quotation in the list, as it was when the source was read last."""

    id: str
    context: QuotationContext
    chapter: str
    guess: str
    confidence: float
    candidates: tuple[tuple[str, float], ...] = ()
    passage: str = ""
    file: str = ""
    decision: SpeakerDecision = SpeakerDecision()
    proposal: SpeakerProposal | None = None

    @property
    def quote(self) -> str:
        return self.context.quote


@dataclass(frozen=True, slots=True)
class Corrections:
    """What a quotations.toml holds. `undo` are the decisions before each step, the latest last."""

    path: Path
    bound: float = DOUBTFUL
    entries: tuple[QuotationEntry, ...] = ()
    undo: tuple[tuple[tuple[str, SpeakerDecision], ...], ...] = ()
    people: tuple[Character, ...] = ()
    """Who is one person, and who is not, as the author says: declared as those of a cast.toml are."""

    def undecided(self, bound: float | None = None) -> tuple[QuotationEntry, ...]:
        """What is to be decided: the entries that are less sure than a bound, by default that of the file."""
        bound = self.bound if bound is None else bound
        return tuple(entry for entry in self.entries if not entry.decision.is_made and entry.confidence < bound)

    def of_file(self, file: str) -> tuple[QuotationEntry, ...]:
        """The entries of one source; one that names no file is of any."""
        return tuple(entry for entry in self.entries if not file or entry.file in ("", file))

    def matched(self, prose: Prose, file: str = "") -> dict[str, int]:
        """The id of each entry whose quotation is still in the text -> the index of the quotation."""
        entries = self.of_file(file)
        found = match_quotations([entry.context for entry in entries], prose)
        return {entries[position].id: index for position, index in found.items()}

    def applied(
        self, prose: Prose, attributions: Sequence[Attribution], file: str = ""
    ) -> tuple[list[Attribution], list[QuotationEntry]]:
        """(the attributions as they are decided, with confidence 1; decisions whose quotation is in the text no more).

        What is no speech has no speaker, and confidence 1. A proposal takes the place of a less sure attribution.
        """
        result, gone = list(attributions), list[QuotationEntry]()
        matched = self.matched(prose, file)
        for entry in self.of_file(file):
            if (index := matched.get(entry.id)) is not None:
                result[index] = _decided(entry, result[index])
            elif entry.decision.is_made:
                gone.append(entry)
        return result, gone


def _decided(entry: QuotationEntry, attribution: Attribution) -> Attribution:
    decision, proposal = entry.decision, entry.proposal
    if decision.not_speech:
        return Attribution(None, 1.0, (), attribution.candidates)
    if decision.speaker:
        return _said_by(attribution, decision.speaker, 1.0)
    if proposal is not None and proposal.confidence > attribution.confidence:
        return _said_by(attribution, proposal.speaker, proposal.confidence)
    return attribution


def _said_by(attribution: Attribution, speaker: str, confidence: float) -> Attribution:
    addressees = tuple(name for name in attribution.addressees if name != speaker)
    return replace(attribution, speaker=speaker, confidence=confidence, addressees=addressees)


def quotations_file_of(path: Path) -> Path:
    """Where decisions about the quotations of a source, a story folder or a story file lie.

    Those of a story file are those of the source it was read from, where that lies beside it.
    """
    if path.is_dir():
        return path / QUOTATIONS
    if not path.is_file() or not is_story_file(path):
        return path.with_suffix(f".{QUOTATIONS}")
    lists = [path.with_name(file.name).with_suffix(f".{QUOTATIONS}") for file in Story.open(path).files()]
    lists.append(path.with_name(QUOTATIONS))
    if (existing := next((item for item in lists if item.is_file()), None)) is not None:
        return existing
    raise InputError(
        f"has no list of doubtful quotations beside it ({lists[0].name}): name the source it was read from", path
    )


def corrected(
    source: SourceFile, prose: Prose, attributions: Sequence[Attribution]
) -> tuple[list[Attribution], list[QuotationEntry]]:
    """The attributions with what the author of a source decided, and the decisions that nothing answers to any more."""
    if source.attributed is not None:
        source.attributed(prose, attributions)
    corrections = read_corrections(quotations_file_of(source.story_folder or source.path))
    return corrections.applied(prose, attributions, source.path.name)


def read_corrections(path: Path) -> Corrections:
    """Read and check a quotations.toml; one that is not there holds nothing."""
    return _CorrectionsParser(path).read() if path.is_file() else Corrections(path)


def parse_corrections(text: str, path: Path) -> Corrections:
    """What a quotations.toml of this text holds; `path` is where errors say that it lies."""
    return _CorrectionsParser(path, text).read()


class _CorrectionsParser(TableParser):
    KEYS = KEYS
    REPAIR = REPAIR

    def read(self) -> Corrections:
        self.only_known("", self.document)
        entries = tuple(self._entry(table, line) for line, table in self.tables("quotation"))
        self.unique(entry.id for entry in entries)
        bound = self.share(self.document, "bound", 1, DOUBTFUL)
        people = tuple(self._person(table, line) for line, table in self.tables("person"))
        return Corrections(self.path, bound, entries, tuple(self._undo()), people)

    def _person(self, table: TomlTable, line: int) -> Character:
        name, aliases = self.optional_text(table, "name", line), table.get("aliases", [])
        if not name:
            raise self.error("'name' is missing: say who it is", line)
        if not isinstance(aliases, list) or not all(isinstance(alias, str) for alias in aliases):
            raise self.error(f"'aliases' is {quoted(aliases)}, not a list of names", line)
        return Character(name, tuple(aliases))

    def _entry(self, table: TomlTable, line: int) -> QuotationEntry:
        quote = self.optional_text(table, "quote", line)
        if not quote:
            raise self.error("'quote' is missing: without it the quotation cannot be found again", line)
        before, after = self.optional_text(table, "before", line), self.optional_text(table, "after", line)
        context = QuotationContext(quote, self._span(table, line), before, after)
        proposed = self.optional_text(table, "proposed", line)
        sure = self.share(table, "proposed_confidence", line, 0.0)
        return QuotationEntry(
            self.optional_text(table, "id", line) or quote[:40],
            context,
            self.optional_text(table, "chapter", line),
            self.optional_text(table, "guess", line),
            self.share(table, "confidence", line, 0.0),
            self._candidates(table, line),
            self.optional_text(table, "passage", line),
            self.optional_text(table, "file", line),
            self._decision(table, line),
            SpeakerProposal(proposed, sure, self.optional_text(table, "by", line)) if proposed else None,
        )

    def _decision(self, table: TomlTable, line: int) -> SpeakerDecision:
        speaker, not_speech = (
            " ".join(self.optional_text(table, "speaker", line).split()),
            table.get("not_speech", False),
        )
        if not isinstance(not_speech, bool):
            raise self.error(f"'not_speech' is {quoted(not_speech)}, not true or false", line)
        if speaker and not_speech:
            raise self.error("has a speaker and is no speech: keep one of the two", line)
        return SpeakerDecision(speaker, not_speech)

    def _undo(self) -> Iterator[tuple[tuple[str, SpeakerDecision], ...]]:
        for line, steps in self.steps("{ id, speaker, not_speech }"):
            yield tuple((self.optional_text(step, "id", line), self._decision(step, line)) for step in steps)

    def _span(self, table: TomlTable, line: int) -> Span:
        value = table.get("span", [0, 0])
        if not isinstance(value, list) or len(value) != 2 or not all(type(at) is int and at >= 0 for at in value):
            raise self.error(f"'span' is {quoted(value)}, not two offsets into the text", line)
        return Span(*value)

    def _candidates(self, table: TomlTable, line: int) -> tuple[tuple[str, float], ...]:
        pairs = table.get("candidates", [])
        if not isinstance(pairs, list):
            raise self.error("'candidates' must be a list of [name, probability]", line)
        candidates = []
        for pair in pairs:
            if not isinstance(pair, list) or len(pair) != 2 or not isinstance(pair[0], str):
                raise self.error("'candidates' must be a list of [name, probability]", line)
            candidates.append((pair[0], self.share({"candidates": pair[1]}, "candidates", line, 0.0)))
        return tuple(candidates)
