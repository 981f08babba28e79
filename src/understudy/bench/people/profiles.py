"""Profile sentences found in what people say of themselves, against the profiles they were given.

    precision   the share of sentences found that are like one of the speaker's profile
    recall      the share of the profile's sentences that one found is like

Two sentences are alike where the cosine of the shipped encoder (role 'own', that of profile sentences) is at least .6.
What is found counts from a confidence of BOUND on, where F1 is largest on PersonaChat's training dialogues
(cross-validated). Intervals are over dialogues.

    profile-sentences   PersonaChat's validation dialogues, both speakers' own turns
    memory              chats over several sessions: what one says in a session against what people wrote down of it
                        after the session (its sentences that were not there before, for recall)
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy.errors import InputError
from understudy.language.encoding import SentenceEncoder
from understudy.metrics.statistics import interval
from understudy.people.claims import SceneSpeech
from understudy.people.statements import SAME, encoded, statements_in_talk
from understudy.training.statements import Talk, talks_of

__all__ = ["BOUND", "PROFILE_FILES", "SESSION_FILES", "memory_rows", "rows", "sessions_of"]

BOUND = 0.25
VALID = Path("personachat") / "valid_both_original.txt"
PROFILE_FILES, SESSION_FILES = (VALID.as_posix(),), ("msc/session-*-valid.json",)
SESSIONS = range(2, 5)  # those after which the next session's file says what is known
SENTENCE = re.compile(r"[^.!?]+[.!?]*")
SEED = 0

Row = dict[str, Any]
Session = tuple[Talk, dict[str, tuple[str, ...]]]
"""A talk with everything that is known of its people after it, and of each what was not known before."""


def rows(data: Path, limit: int | None = None) -> list[Row]:
    """The figures of `profile-sentences`."""
    talks = _sampled(talks_of(data / VALID), limit)
    return _rows("profile-sentences", [(talk, talk.profiles) for talk in talks])


def memory_rows(data: Path, limit: int | None = None) -> list[Row]:
    """The figures of `memory`."""
    return _rows("memory", _sampled(list(sessions_of(data / "msc")), limit))


def sessions_of(folder: Path) -> Iterator[Session]:
    """The validation sessions 2 to 4 of a folder of multi-session chats, dialogue by dialogue."""
    for number in SESSIONS:
        after = {chat["id"]: chat for chat in _chats(folder / f"session-{number + 1}-valid.json")}
        for chat in _chats(folder / f"session-{number}-valid.json"):
            if chat["id"] not in after:
                continue
            turns = [(who, text) for pair in chat["dialogue"] for who, text in zip(("user", "assistant"), pair)]
            speeches = tuple(SceneSpeech(who, text, nth) for nth, (who, text) in enumerate(turns, 1))
            known = {who: _sentences(texts) for who, texts in after[chat["id"]]["meta"].items()}
            before = {who: set(_sentences(texts)) for who, texts in chat["meta"].items()}
            new = {who: tuple(text for text in texts if text not in before[who]) for who, texts in known.items()}
            yield Talk(speeches, known), new


def _chats(path: Path) -> list[Any]:
    try:
        chats: list[Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be read ({error}): the sessions of multi-session chats belong here", path) from error
    return chats


def _sentences(texts: Sequence[str]) -> tuple[str, ...]:
    parts = (match.strip(" ,") for text in texts for match in SENTENCE.findall(text))
    return tuple(dict.fromkeys(part for part in parts if any(map(str.isalpha, part))))


def _sampled(items: list[Any], limit: int | None) -> list[Any]:
    if limit is None or limit >= len(items):
        return items
    chosen = np.random.default_rng(SEED).choice(len(items), limit, replace=False)
    return [items[index] for index in sorted(chosen.tolist())]


def _rows(task: str, sessions: Sequence[Session]) -> list[Row]:
    encoder = SentenceEncoder()
    right, recalled = list[tuple[int, bool]](), list[tuple[int, bool]]()
    for number, (talk, asked) in enumerate(sessions):
        found = statements_in_talk(talk.speeches, encoder)
        for who, profile in talk.profiles.items():
            sentences = [item.sentence for item in found.get(who, ()) if item.confidence >= BOUND]
            right += [(number, bool(is_like)) for is_like in _is_like(sentences, profile, encoder)]
            recalled += [(number, bool(is_like)) for is_like in _is_like(asked[who], sentences, encoder)]
    return [_row(task, "precision", right), _row(task, "recall", recalled)]


def _is_like(sentences: Sequence[str], others: Sequence[str], encoder: SentenceEncoder) -> NDArray[np.bool_]:
    """Of each sentence: is it like any of the others?"""
    if not sentences or not others:
        return np.zeros(len(sentences), np.bool_)
    cosines = encoded(sentences, encoder) @ encoded(others, encoder).T
    is_like: NDArray[np.bool_] = cosines.max(axis=1) >= SAME
    return is_like


def _row(task: str, metric: str, judged: Sequence[tuple[int, bool]]) -> Row:
    keys = {"task": task, "agent": "patterns", "bound": BOUND, "metric": metric}
    if not judged:
        return {**keys, "value": None, "low": None, "high": None, "n": 0, "paper": None, "reason": "nothing to judge"}
    groups, values = zip(*judged)
    figure = interval([float(value) for value in values], groups, SEED)
    return {**keys, **figure._asdict(), "n": len(values), "paper": None}
