"""HPD's training sessions as dialogues to learn from: Harry in one chair, everybody else in the other.

    given   'dialogue+scene+attributes+relations', any part but the dialogue left out at will

The scene is a sentence of both profiles, before all others. Harry's profile has, where given, what he feels about those
who speak, then his attributes. Test sets (those with a positive_response) are never learnt from. As Harry is in all
sessions, it is sessions that are held back, not people.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

from understudy.errors import InputError
from understudy.formats.evidence import measure
from understudy.formats.hpd import Session, sessions
from understudy.formats.recognition import is_hpd
from understudy.sources.source import SourceFile
from understudy.story.types import Fact, Moment, Relation
from understudy.story.wording import fact_sentence, tie_sentence
from understudy.text import did_you_mean, guess_language
from understudy.training.dialogues import DialogueSplit, Profile, ProfiledDialogue

__all__ = ["ALL_PARTS", "held_back_sessions", "hpd_dialogues", "hpd_training_file", "parse_given"]

PARTS = ("scene", "attributes", "relations")
ALL_PARTS = "+".join(("dialogue", *PARTS))
FEWEST = 2  # turns


def parse_given(given: str) -> frozenset[str]:
    """The parts of a session that are shown beside its dialogue."""
    first, *parts = given.split("+")
    unknown = [part for part in parts if part not in PARTS]
    if first != "dialogue" or unknown:
        wrong = unknown[0] if first == "dialogue" else first
        meant = did_you_mean(wrong, ("dialogue", *PARTS))
        raise InputError(f"'{wrong}' cannot be given{meant}: write {ALL_PARTS}, or leave parts out")
    return frozenset(parts)


def hpd_training_file(folder: Path) -> Path | None:
    """The English file of HPD in a folder that has no right replies; None where the folder has no file of HPD."""
    files = [path for path in sorted(folder.glob("*.json")) if is_hpd(measure(SourceFile(path).head(), path))]
    training = (path for path in files if all(_is_learnt_from(session) for session in sessions(SourceFile(path))))
    if (path := next(training, None)) is not None or not files:
        return path
    raise InputError(
        "holds only test sets of HPD (sessions with a positive_response) or other languages: training needs English "
        "sessions without, such as en_train_set.json",
        folder,
    )


def _is_learnt_from(session: Session) -> bool:
    return not session.positives and guess_language(" ".join(session.lines)) == "en"


def hpd_dialogues(path: Path, parts: frozenset[str]) -> list[ProfiledDialogue]:
    """The sessions of a file in which somebody answers somebody."""
    source = SourceFile(path)
    dialogues = [_dialogue(source, session, parts) for session in sessions(source)]
    return [dialogue for dialogue in dialogues if len(dialogue.turns) >= FEWEST]


def held_back_sessions(dialogues: Sequence[ProfiledDialogue], share: float, seed: int) -> DialogueSplit:
    """Hold back a share of the dialogues, and ask everybody in them."""
    count = round(len(dialogues) * share)
    if count >= len(dialogues):
        raise InputError(f"{len(dialogues)} sessions are too few to hold any back: give more, or hold back none")
    chosen = frozenset(random.Random(seed).sample(range(len(dialogues)), count))  # noqa: S311 - not for secrets
    held = [dialogue for index, dialogue in enumerate(dialogues) if index in chosen]
    training = [dialogue for index, dialogue in enumerate(dialogues) if index not in chosen]
    return DialogueSplit(training, held, frozenset(profile for dialogue in held for profile in dialogue.profiles))


def _dialogue(source: SourceFile, session: Session, parts: frozenset[str]) -> ProfiledDialogue:
    turns = tuple((int(speaker == session.owner), text) for speaker, text, _ in session.turns if speaker and text)
    scene: Profile = (session.scene.strip(),) if "scene" in parts and session.scene.strip() else ()
    return ProfiledDialogue((scene, (*scene, *_own_sentences(source, session, parts))), turns)


def _own_sentences(source: SourceFile, session: Session, parts: frozenset[str]) -> Iterator[str]:
    """What Harry feels about those who speak, and what he is."""
    language = guess_language(session.scene + " ".join(session.lines))
    moment, owner = Moment(session.chapter), session.owner
    speaking = {speaker for speaker, _, _ in session.turns}
    if "relations" in parts:
        for tie in session.ties(source):
            if tie.of == owner and tie.to in speaking and tie.holds:
                yield tie_sentence(Relation(owner, tie.to, tie.kind, tie.level, moment), language)
    if "attributes" in parts:
        for who, attribute, values in session.facts():
            if who == owner and values:
                yield fact_sentence(Fact(owner, attribute, values, moment), language)
