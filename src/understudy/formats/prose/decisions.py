"""Decisions about listed quotations (`corrections`): listing what is doubtful, and deciding.

quotations.toml is written whole or not at all. What an author decided stays, whatever is listed anew, and so does what
a language model proposed.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from understudy.errors import InputError
from understudy.formats.prose.corrections import (
    Corrections,
    QuotationEntry,
    SpeakerDecision,
    SpeakerProposal,
    context_of,
    quotations_file_of,
    read_corrections,
)
from understudy.novels.prose import Attribution, Prose
from understudy.sources.source import Attributed, SourceFile
from understudy.story.dialogue import ChatMessage, Sampling, Usage
from understudy.story.types import Character
from understudy.text import did_you_mean, fold

if TYPE_CHECKING:
    from understudy.language.backends import Backend


ID_LENGTH = 8
LONGEST_PASSAGE = 400
MOST_CANDIDATES = 6
MOST_LISTED = 3_000  # undecided quotations, the least sure: a person decides about fewer, and the file stays readable


class DoubtfulQuotations:
    """Notes who was taken to say what in the sources of a story while it is read; lists what is doubtful afterwards."""

    def __init__(self, bound: float | None = None) -> None:
        """Without a bound, that of the list that lies beside a source, or the default."""
        self._bound = bound
        self._readings: list[tuple[SourceFile, Prose, Sequence[Attribution]]] = []

    def noting(self, source: SourceFile) -> Attributed:
        return lambda prose, attributions: self._readings.append((source, prose, attributions))

    def write(self) -> list[Corrections]:
        """Write the lists, one beside each source or one in its story folder, and return them."""
        lists = dict[Path, Corrections]()
        for source, prose, attributions in self._readings:
            path = quotations_file_of(source.story_folder or source.path)
            lists[path] = write_doubtful(path, prose, attributions, self._bound, source.path.name)
        return list(lists.values())


def write_doubtful(
    path: Path, prose: Prose, attributions: Sequence[Attribution], bound: float | None = None, file: str = ""
) -> Corrections:
    """List the quotations that are less sure than the bound (default: that of the file), and write the file.

    `attributions` are those before any decision. Nothing is written where nothing changes.
    """
    old = read_corrections(path)
    corrections = doubtful_quotations(old, prose, attributions, bound, file)
    if corrections != old:
        corrections.write()
    return corrections


def doubtful_quotations(
    old: Corrections, prose: Prose, attributions: Sequence[Attribution], bound: float | None = None, file: str = ""
) -> Corrections:
    """What is listed after a reading: what is doubtful now, and every decision there was.

    Another bound is of this listing alone: the next one goes by that of the file again.
    """
    bound = old.bound if bound is None else bound
    matched = old.matched(prose, file)
    earlier = {index: entry for entry in old.entries if (index := matched.get(entry.id)) is not None}
    ids = {entry.id for entry in old.entries}
    wanted = {index for index, entry in earlier.items() if entry.decision.is_made or entry.proposal}
    doubtful = [index for index, attribution in enumerate(attributions) if _listed(attribution.confidence) < bound]
    wanted.update(sorted(doubtful, key=lambda index: attributions[index].confidence)[:MOST_LISTED])
    listed = [_entry(prose, index, attributions[index], file, earlier.get(index), ids) for index in sorted(wanted)]
    others = [entry for entry in old.entries if file and entry.file not in ("", file)]
    gone = [entry for entry in old.of_file(file) if entry.decision.is_made and entry.id not in matched]
    entries = sorted((*listed, *others, *gone), key=lambda entry: (entry.file, entry.context.span))
    return old.with_entries(entries)


def _entry(
    prose: Prose, index: int, attribution: Attribution, file: str, earlier: QuotationEntry | None, ids: set[str]
) -> QuotationEntry:
    quotation = prose.quotations[index]
    context = context_of(prose, quotation)
    start, end = quotation.span
    passage = " ".join(prose.text[start:end].split())[:LONGEST_PASSAGE] if len(quotation.parts) > 1 else ""
    chapter = prose.paragraphs[quotation.paragraph].chapter
    entry = QuotationEntry(
        earlier.id if earlier is not None else _new_id(file, context.quote, ids),
        context,
        ".".join(map(str, prose.chapters[chapter].numbers)) if chapter >= 0 else "",
        attribution.speaker or "",
        _listed(attribution.confidence),
        tuple((name, round(share, 3)) for name, share in attribution.candidates[:MOST_CANDIDATES]),
        passage,
        file,
    )
    return entry if earlier is None else replace(entry, decision=earlier.decision, proposal=earlier.proposal)


def _listed(confidence: float) -> float:
    """As it stands in the file."""
    return round(confidence, 3)


def _new_id(file: str, quote: str, ids: set[str]) -> str:
    """The first free one for these words, so that the same text is given the same ids."""
    number = 0
    while True:
        text = f"{file}\0{quote}\0{number}"
        new = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:ID_LENGTH]
        if new not in ids:
            ids.add(new)
            return new
        number += 1


def quotations_document(corrections: Corrections, bound: float | None = None) -> dict[str, Any]:
    """The list as a document, for `--json` and for pages: what is decided, and less sure than a bound."""
    bound = corrections.bound if bound is None else bound
    return {
        "file": str(corrections.path),
        "bound": bound,
        "undecided": len(corrections.undecided(bound)),
        "can_undo": bool(corrections.undo),
        "quotations": [
            _entry_document(number, entry)
            for number, entry in enumerate(corrections.entries, 1)
            if entry.decision.is_made or entry.confidence < bound
        ],
    }


def _entry_document(number: int, entry: QuotationEntry) -> dict[str, Any]:
    proposal = entry.proposal
    return {
        "number": number,
        "id": entry.id,
        "file": entry.file,
        "chapter": entry.chapter,
        "span": list(entry.context.span),
        "quote": entry.quote,
        "passage": entry.passage or entry.quote,
        "before": entry.context.before,
        "after": entry.context.after,
        "guess": entry.guess or None,
        "confidence": entry.confidence,
        "candidates": [{"name": name, "probability": share} for name, share in entry.candidates],
        "speaker": entry.decision.speaker or None,
        "not_speech": entry.decision.not_speech,
        "proposed": None if proposal is None else asdict(proposal),
    }


# What an author decides: who says a quotation, that nobody does, who is one person and who are two.

LONGEST_NAME = 100


def set_speaker(corrections: Corrections, name: str, speaker: str) -> Corrections:
    """Decide who says the quotation that `name` names: somebody of the cast, or somebody new."""
    speaker = " ".join(speaker.split())
    if not speaker or len(speaker) > LONGEST_NAME or not speaker.isprintable():
        raise InputError(f"a speaker is a name of 1 to {LONGEST_NAME} characters")
    return corrections.decided([entry_named(corrections, name).id], SpeakerDecision(speaker))


def set_not_speech(corrections: Corrections, name: str) -> Corrections:
    return corrections.decided([entry_named(corrections, name).id], SpeakerDecision(not_speech=True))


def merge_people(corrections: Corrections, who: str, into: str) -> Corrections:
    """Two names of one person: from the next reading on all that `who` says is said by `into`."""
    if who == into:
        raise InputError(f"'{who}' is one person already: name two")
    own = _person(corrections, into)
    aliases = dict.fromkeys((*own.aliases, who, *_person(corrections, who).aliases))
    others = [person for person in corrections.people if person.name not in (who, into)]
    return replace(corrections, people=(*others, Character(into, tuple(name for name in aliases if name != into))))


def split_people(corrections: Corrections, who: str, alias: str) -> Corrections:
    """A name that is not `who`'s: from the next reading on it is somebody of its own."""
    own = _person(corrections, who)
    remaining = Character(who, tuple(name for name in own.aliases if name != alias))
    others = [person for person in corrections.people if person.name not in (who, alias)]
    return replace(corrections, people=(*others, remaining, _person(corrections, alias)))


def _person(corrections: Corrections, name: str) -> Character:
    return next((person for person in corrections.people if person.name == name), Character(name))


def entry_named(corrections: Corrections, name: str) -> QuotationEntry:
    """The entry of an id, or of its number in the list, counted from 1."""
    entries: Sequence[QuotationEntry] = corrections.entries
    if (by_id := corrections.entry(name)) is not None:
        return by_id
    if name.isascii() and name.isdigit() and len(name) < 9 and 1 <= int(name) <= len(entries):
        return entries[int(name) - 1]
    meant = did_you_mean(name, (entry.id for entry in entries))
    raise InputError(f"lists no quotation '{name}'{meant}: give a number from 1 to {len(entries)}", corrections.path)


# A language model is asked who says the quotations that nobody has decided about.
#
# Its answers are proposals: each needs somebody of the cast, has the confidence the model gives, at most 0.85, is
# marked `by = "llm"`, and gives way to whatever the author decides. What is no answer is counted with the reason.

BY = "llm"
BATCH = 8  # quotations of one question
DEFAULT_CONFIDENCE, MAX_CONFIDENCE = 0.7, 0.85  # a model's word is never certain
SAMPLING = Sampling(temperature=0.0, max_tokens=800, seed=0)
LISTED_NAMES = 60

TASK = """\
You read passages of a novel. In each, one quotation stands between [[ and ]]. Say who speaks it, by the passage \
alone; use nothing that you know of the novel from elsewhere.

NAME is one of these people, written exactly so: {names}.

Answer with one JSON object and nothing else:
{{"answers": [{{"number": 1, "speaker": NAME, "confidence": 0..1}}]}}
Where a passage does not tell, leave its number out."""


@dataclass
class SpeakerAsker:
    """Asks a back end. `usage` is what it has cost, `dropped` why answers were not taken."""

    backend: Backend
    usage: Usage = field(default_factory=Usage)
    dropped: Counter[str] = field(default_factory=Counter)

    def ask(self, corrections: Corrections, names: Mapping[str, str], listed: Sequence[str]) -> Iterator[Corrections]:
        """The list after each answer. `names` are all names of the cast, folded -> whose; `listed` the main ones."""
        waiting = [entry for entry in corrections.entries if not entry.decision.is_made and entry.proposal is None]
        for start in range(0, len(waiting), BATCH):
            batch = waiting[start : start + BATCH]
            (completion,) = self.backend.complete(speaker_prompt(batch, listed), SAMPLING)
            self.usage += completion.usage
            proposals = {
                batch[number].id: proposal for number, proposal in self._proposals(completion.text, names, batch)
            }
            entries = (replace(item, proposal=proposals.get(item.id, item.proposal)) for item in corrections.entries)
            corrections = replace(corrections, entries=tuple(entries))
            yield corrections

    def _proposals(
        self, answer: str, names: Mapping[str, str], batch: Sequence[QuotationEntry]
    ) -> Iterator[tuple[int, SpeakerProposal]]:
        answers = (answer_document(answer) or {}).get("answers")
        if not isinstance(answers, list):
            self.dropped["the answer is not JSON"] += 1
            return
        for item in answers[: 2 * len(batch)]:
            number, speaker = (item.get("number"), item.get("speaker")) if isinstance(item, dict) else (None, None)
            if type(number) is not int or not 1 <= number <= len(batch):
                self.dropped["it is about no passage that was asked"] += 1
            elif not isinstance(speaker, str) or fold(speaker) not in names:
                self.dropped["it names somebody who is not of the cast"] += 1
            else:
                yield number - 1, SpeakerProposal(names[fold(speaker)], claimed_confidence(item), BY)


def speaker_prompt(entries: Sequence[QuotationEntry], names: Sequence[str]) -> tuple[ChatMessage, ChatMessage]:
    listed = dict.fromkeys((*(name for entry in entries for name, _ in entry.candidates), *names))
    passages = [
        f"{number}. {entry.context.before} [[{entry.passage or entry.quote}]] {entry.context.after}"
        for number, entry in enumerate(entries, 1)
    ]
    task = TASK.format(names="; ".join(list(listed)[:LISTED_NAMES]))
    return ChatMessage("system", task), ChatMessage("user", "\n\n".join(passages))


def answer_document(answer: str) -> dict[str, Any] | None:
    """The first JSON object in a language model's answer, whatever stands around it."""
    start = answer.find("{")
    try:
        document, _ = json.JSONDecoder().raw_decode(answer[start:]) if start >= 0 else (None, 0)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


def claimed_confidence(item: Mapping[str, Any]) -> float:
    """How sure a language model says it is, as far as that is believed."""
    value = item.get("confidence", DEFAULT_CONFIDENCE)
    is_share = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
    return min(float(value), MAX_CONFIDENCE) if is_share else DEFAULT_CONFIDENCE
