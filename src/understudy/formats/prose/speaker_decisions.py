"""What an author decides about listed quotations: who says them, that nobody does, and taking that back."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from understudy.errors import InputError
from understudy.formats.prose.corrections import Corrections, QuotationEntry, SpeakerDecision, SpeakerProposal
from understudy.story.dialogue import ChatMessage, Sampling, Usage
from understudy.story.types import Character
from understudy.text import did_you_mean, fold

if TYPE_CHECKING:
    from understudy.language.backends import Backend

__all__ = [
    "SpeakerAsker",
    "entry_named",
    "merge_people",
    "set_not_speech",
    "set_speaker",
    "speaker_prompt",
    "split_people",
    "undo",
]

UNDO_STEPS = 50
LONGEST_NAME = 100


def set_speaker(corrections: Corrections, name: str, speaker: str) -> Corrections:
    """Decide who says the quotation that `name` names: somebody of the cast, or somebody new."""
    speaker = " ".join(speaker.split())
    if not speaker or len(speaker) > LONGEST_NAME or not speaker.isprintable():
        raise InputError(f"a speaker is a name of 1 to {LONGEST_NAME} characters")
    return _decided(corrections, entry_named(corrections, name), SpeakerDecision(speaker))


def set_not_speech(corrections: Corrections, name: str) -> Corrections:
    return _decided(corrections, entry_named(corrections, name), SpeakerDecision(not_speech=True))


def undo(corrections: Corrections) -> Corrections:
    """The list before the last decision."""
    if not corrections.undo:
        raise InputError("there is no decision to take back", corrections.path)
    before = dict(corrections.undo[-1])
    entries = (replace(entry, decision=before.get(entry.id, entry.decision)) for entry in corrections.entries)
    return replace(corrections, entries=tuple(entries), undo=corrections.undo[:-1])


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
    kept = Character(who, tuple(name for name in own.aliases if name != alias))
    others = [person for person in corrections.people if person.name not in (who, alias)]
    return replace(corrections, people=(*others, kept, _person(corrections, alias)))


def _person(corrections: Corrections, name: str) -> Character:
    return next((person for person in corrections.people if person.name == name), Character(name))


def entry_named(corrections: Corrections, name: str) -> QuotationEntry:
    """The entry of an id, or of its number in the list, counted from 1."""
    entries: Sequence[QuotationEntry] = corrections.entries
    by_id = next((entry for entry in entries if entry.id == name), None)
    if by_id is not None:
        return by_id
    if name.isascii() and name.isdigit() and len(name) < 9 and 1 <= int(name) <= len(entries):
        return entries[int(name) - 1]
    meant = did_you_mean(name, (entry.id for entry in entries))
    raise InputError(f"lists no quotation '{name}'{meant}: give a number from 1 to {len(entries)}", corrections.path)


def _decided(corrections: Corrections, entry: QuotationEntry, decision: SpeakerDecision) -> Corrections:
    entries = (replace(item, decision=decision) if item is entry else item for item in corrections.entries)
    step = ((entry.id, entry.decision),)
    return replace(corrections, entries=tuple(entries), undo=(*corrections.undo, step)[-UNDO_STEPS:])


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
        answers = _answers(answer)
        if answers is None:
            self.dropped["the answer is not JSON"] += 1
            return
        for item in answers[: 2 * len(batch)]:
            number, speaker = (item.get("number"), item.get("speaker")) if isinstance(item, dict) else (None, None)
            if type(number) is not int or not 1 <= number <= len(batch):
                self.dropped["it is about no passage that was asked"] += 1
            elif not isinstance(speaker, str) or fold(speaker) not in names:
                self.dropped["it names somebody who is not of the cast"] += 1
            else:
                yield number - 1, SpeakerProposal(names[fold(speaker)], _confidence(item), BY)


def speaker_prompt(entries: Sequence[QuotationEntry], names: Sequence[str]) -> tuple[ChatMessage, ChatMessage]:
    listed = dict.fromkeys((*(name for entry in entries for name, _ in entry.candidates), *names))
    passages = [
        f"{number}. {entry.context.before} [[{entry.passage or entry.quote}]] {entry.context.after}"
        for number, entry in enumerate(entries, 1)
    ]
    task = TASK.format(names="; ".join(list(listed)[:LISTED_NAMES]))
    return ChatMessage("system", task), ChatMessage("user", "\n\n".join(passages))


def _answers(answer: str) -> list[Any] | None:
    """The list in the first JSON object of an answer, whatever stands around it."""
    start = answer.find("{")
    try:
        document, _ = json.JSONDecoder().raw_decode(answer[start:]) if start >= 0 else (None, 0)
    except (ValueError, RecursionError):
        return None
    answers = document.get("answers") if isinstance(document, dict) else None
    return answers if isinstance(answers, list) else None


def _confidence(item: Mapping[str, Any]) -> float:
    value = item.get("confidence", DEFAULT_CONFIDENCE)
    is_share = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
    return min(float(value), MAX_CONFIDENCE) if is_share else DEFAULT_CONFIDENCE
