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
times those with the same text around them or nearest to where they were; see `match_quotations`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from pathlib import Path
from typing import NamedTuple

from understudy.errors import InputError
from understudy.novels.prose import Attribution, Prose, Quotation, Span
from understudy.sources.source import SourceFile
from understudy.story.storyfile import DOUBTFUL, Story, is_story_file
from understudy.story.storyfile.toml_tables import DecisionFile, DecisionFileParser, TomlTable, quoted
from understudy.story.types import Character
from understudy.text import one_line

QUOTATIONS = "quotations.toml"
HEADER = """\
# Quotations whose speaker is doubtful. Decide with `understudy quotations`, or here:
# speaker = "Name" of somebody in the story or somebody new, or not_speech = true.
# What is decided is applied whenever the source is read; nothing here is overwritten.
"""
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

    def values(self) -> Mapping[str, object]:
        """The entry's table as it is written."""
        context, proposal = self.context, self.proposal
        proposed = (
            {}
            if proposal is None
            else {
                "proposed": proposal.speaker,
                "proposed_confidence": proposal.confidence,
                "by": proposal.by,
            }
        )
        return {
            "id": self.id, "file": self.file or None, "chapter": self.chapter or None, "span": context.span,
            "quote": context.quote, "passage": self.passage or None, "before": context.before, "after": context.after,
            "guess": self.guess, "confidence": self.confidence, "candidates": self.candidates,
            **_decision_values(self.decision), **proposed,
        }  # fmt: skip


def _decision_values(decision: SpeakerDecision) -> Mapping[str, object]:
    return {"speaker": decision.speaker, "not_speech": decision.not_speech or None}


@dataclass(frozen=True, slots=True)
class Corrections(DecisionFile[QuotationEntry, SpeakerDecision]):
    """What a quotations.toml holds."""

    bound: float = DOUBTFUL
    people: tuple[Character, ...] = ()
    """Who is one person, and who is not, as the author says: declared as those of a cast.toml are."""

    def render(self) -> str:
        people = (("person", {"name": person.name, "aliases": person.aliases}) for person in self.people)
        quotations = (("quotation", entry.values()) for entry in self.entries)
        return self.rendered(HEADER, people, quotations, _decision_values)

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
        matches = match_quotations([entry.context for entry in entries], prose)
        return {entries[position].id: index for position, index in matches.items()}

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


class _CorrectionsParser(DecisionFileParser):
    KEYS = KEYS
    REPAIR = REPAIR

    def read(self) -> Corrections:
        self.only_known("", self.document)
        entries = tuple(self._entry(table, line) for line, table in self.tables("quotation"))
        self.unique(entry.id for entry in entries)
        bound = self.share(self.document, "bound", 1, DOUBTFUL)
        people = tuple(self._person(table, line) for line, table in self.tables("person"))
        undo = tuple(self.undo_steps("{ id, speaker, not_speech }", self._decision))
        return Corrections(self.path, bound, entries, undo, people)

    def _person(self, table: TomlTable, line: int) -> Character:
        name = self.optional_text(table, "name", line)
        if not name:
            raise self.error("'name' is missing: say who it is", line)
        return Character(name, self.texts(table, "aliases", line))

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
        speaker, not_speech = one_line(self.optional_text(table, "speaker", line)), table.get("not_speech", False)
        if not isinstance(not_speech, bool):
            raise self.error(f"'not_speech' is {quoted(not_speech)}, not true or false", line)
        if speaker and not_speech:
            raise self.error("has a speaker and is no speech: keep one of the two", line)
        return SpeakerDecision(speaker, not_speech)

    def _span(self, table: TomlTable, line: int) -> Span:
        value = table.get("span", [0, 0])
        if not isinstance(value, list) or len(value) != 2 or not all(type(at) is int and at >= 0 for at in value):
            raise self.error(f"'span' is {quoted(value)}, not two offsets into the text", line)
        return Span(*value)

    def _candidates(self, table: TomlTable, line: int) -> tuple[tuple[str, float], ...]:
        pairs = table.get("candidates", [])
        candidates = []
        for pair in pairs if isinstance(pairs, list) else [None]:
            match pair:
                case [str(name), probability]:
                    candidates.append((name, self.share({"candidates": probability}, "candidates", line, 0.0)))
                case _:
                    raise self.error("'candidates' must be a list of [name, probability]", line)
        return tuple(candidates)


# Finding quotations again in a text that was edited since.
#
#     1  words that stand once in the list and once in the text, and are long enough to be no chance, are matched;
#        each of these pairs tells by how much the text has moved there
#     2  of equal words ("Yes.") those go together that have the same text around them, then those that are nearest to
#        where they would stand if they had moved as their neighbours did
#     3  what is left may have been edited itself: the most similar quotation near where it would stand
#
# A pair that nothing but short equal words speaks for is no match: a decision is rather lost, and said to be, than
# given to a quotation it was not made about.


LONGEST_QUOTE = 200
AROUND = 200  # characters of context that are kept
COMPARED = 30  # of them that are compared
TELLING = 25  # characters of a quotation that is not said twice by chance
NEAR = 2_000  # characters
SIMILAR = 0.75


class QuotationContext(NamedTuple):
    """A quotation's words, where it stood, and the text before and after it."""

    quote: str
    span: Span
    before: str = ""
    after: str = ""


def context_of(prose: Prose, quotation: Quotation) -> QuotationContext:
    start, end = quotation.span
    before = " ".join(prose.text[max(0, start - AROUND) : start].split())
    after = " ".join(prose.text[end : end + AROUND].split())
    return QuotationContext(prose.said(quotation)[:LONGEST_QUOTE], quotation.span, before, after)


def match_quotations(entries: Sequence[QuotationContext], prose: Prose) -> dict[int, int]:
    """The position of each entry that is found again -> the index of its quotation."""
    return _Matching(entries, prose).run() if entries else {}


class _Matching:
    def __init__(self, entries: Sequence[QuotationContext], prose: Prose) -> None:
        self.entries, self.prose = entries, prose
        self.contexts: dict[int, QuotationContext] = {}
        self.matched: dict[int, int] = {}
        self.taken: set[int] = set()
        self.starts = [quotation.span.start for quotation in prose.quotations]
        self.moved: list[tuple[int, int]] = []

    def run(self) -> dict[int, int]:
        positions, indexes = defaultdict[str, list[int]](list), defaultdict[str, list[int]](list)
        for position, entry in enumerate(self.entries):
            positions[entry.quote].append(position)
        for index, quotation in enumerate(self.prose.quotations):
            if (quote := self.prose.said(quotation)[:LONGEST_QUOTE]) in positions:
                indexes[quote].append(index)
        for quote, same in positions.items():
            if len(same) == len(indexes[quote]) == 1 and len(quote) >= TELLING:
                self._take(same[0], indexes[quote][0])
        self.moved = sorted((self.entries[p].span.start, self.starts[i]) for p, i in self.matched.items())
        for quote, same in positions.items():
            self._match_equal(same, indexes[quote])
        for position in range(len(self.entries)):
            if position not in self.matched:
                self._match_edited(position)
        return self.matched

    def _match_equal(self, positions: Sequence[int], indexes: Sequence[int]) -> None:
        pairs = []
        for position in positions:
            if position in self.matched:
                continue
            for index in indexes:
                alike, distance = self._same_context(position, index), self._distance(position, index)
                if alike or distance <= NEAR or len(self.entries[position].quote) >= TELLING:
                    pairs.append((-alike, distance, position, index))
        for _, _, position, index in sorted(pairs):
            if position not in self.matched and index not in self.taken:
                self._take(position, index)

    def _match_edited(self, position: int) -> None:
        entry, expected = self.entries[position], self._expected(position)
        best, best_ratio = -1, SIMILAR
        for index in range(bisect_left(self.starts, expected - NEAR), bisect_left(self.starts, expected + NEAR)):
            if index in self.taken:
                continue
            said = self.prose.said(self.prose.quotations[index])[:LONGEST_QUOTE]
            matcher = SequenceMatcher(None, entry.quote, said, autojunk=False)
            if matcher.quick_ratio() > best_ratio and (ratio := matcher.ratio()) > best_ratio:
                best, best_ratio = index, ratio
        if best >= 0:
            self._take(position, best)

    def _take(self, position: int, index: int) -> None:
        self.matched[position] = index
        self.taken.add(index)

    def _same_context(self, position: int, index: int) -> int:
        """How many of the two sides read as they did."""
        entry = self.entries[position]
        if index not in self.contexts:
            self.contexts[index] = context_of(self.prose, self.prose.quotations[index])
        context = self.contexts[index]
        before = bool(entry.before) and entry.before[-COMPARED:] == context.before[-COMPARED:]
        return before + (bool(entry.after) and entry.after[:COMPARED] == context.after[:COMPARED])

    def _distance(self, position: int, index: int) -> int:
        return abs(self.starts[index] - self._expected(position))

    def _expected(self, position: int) -> int:
        """Where an entry would stand now if it had moved as the nearest one that is surely found."""
        start = self.entries[position].span.start
        at = bisect_left(self.moved, (start, 0))
        near = self.moved[max(0, at - 1) : at + 1]
        if not near:
            return start
        old, new = min(near, key=lambda pair: abs(pair[0] - start))
        return start + new - old
