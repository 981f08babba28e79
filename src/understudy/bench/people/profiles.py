"""Profile sentences found in what people say of themselves, against the profiles they were given.

    precision   the share of sentences found that are like one of the speaker's profile
    recall      the share of the profile's sentences that one found is like

Two sentences are alike where the cosine of the shipped encoder (role 'own', that of profile sentences) is at least .6.
What is found counts from a confidence of BOUND on, where F1 is largest on PersonaChat's training dialogues
(cross-validated). Intervals are over dialogues.

    profile-sentences   PersonaChat's validation dialogues, both speakers' own turns
    memory              chats over several sessions: what one says in a session against what people wrote down of it
                        after the session (its sentences that were not there before, for recall)

Is it of any use to remember them? `memory-ranking` ranks replies in the second to fifth session of such chats:

    hits@1              the right reply stands first among 20: itself and 19 of other dialogues, ties against the agent
    hits@1 difference   the same of each question with what is remembered, less that without: mean, paired p value

A question is a reply of the second speaker; remembered is what the first one told of themselves in earlier sessions:
`told`, the sentences that the corpus' annotators wrote down of them, or `found`, what `profile_sentences` finds in
their own turns of the earlier sessions that are there (from session 3). The second speaker's own profile is always
known, as a character's is. `needed` are the questions whose right reply has a content word from what is remembered that
nobody has said in the session so far: nothing else could have brought it up.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy.agents.dialogue_context import light_words
from understudy.agents.encoder import EncoderAgent
from understudy.bench.run import Row, figure_row, sampled
from understudy.errors import InputError
from understudy.language.encoding.encoder import SentenceEncoder
from understudy.metrics.ranking import gold_ranks
from understudy.metrics.statistics import interval, paired_p
from understudy.people.claims import SceneSpeech
from understudy.people.own_words import profile_sentences
from understudy.people.statements import SAME, encoded, statements_in_talk
from understudy.progress import Progress, ignore_progress
from understudy.sources.jsonstream import load_json
from understudy.story.dialogue import Situation, Turn
from understudy.story.persona import Other, Persona, Told
from understudy.text import words
from understudy.training.dialogues import ProfiledTalk, talks_of

BOUND = 0.25
VALID = Path("personachat") / "valid_both_original.txt"
PROFILE_FILES, SESSION_FILES = (VALID.as_posix(),), ("msc/session-*-valid.json",)
SESSIONS = range(2, 5)  # those after which the next session's file says what is known
SENTENCE = re.compile(r"[^.!?]+[.!?]*")
SEED = 0

Session = tuple[ProfiledTalk, dict[str, tuple[str, ...]]]
"""A talk with everything that is known of its people after it, and of each what was not known before."""


def rows(data: Path, limit: int | None = None) -> list[Row]:
    """The figures of `profile-sentences`."""
    talks = sampled(talks_of(data / VALID), limit, SEED)
    return _rows("profile-sentences", [(talk, talk.profiles) for talk in talks])


def memory_rows(data: Path, limit: int | None = None) -> list[Row]:
    """The figures of `memory`."""
    return _rows("memory", sampled(list(sessions_of(data / "msc")), limit, SEED))


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
            yield ProfiledTalk(speeches, known), new


def _chats(path: Path) -> list[Any]:
    chats: list[Any] = load_json(path, ": the sessions of multi-session chats belong here")
    return chats


def _sentences(texts: Sequence[str]) -> tuple[str, ...]:
    parts = (match.strip(" ,") for text in texts for match in SENTENCE.findall(text))
    return tuple(dict.fromkeys(part for part in parts if any(map(str.isalpha, part))))


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
    keys = {"task": task, "agent": "patterns", "bound": BOUND}
    if not judged:
        return figure_row(keys, metric, "nothing to judge")
    groups, values = zip(*judged)
    return figure_row(keys, metric, (interval([float(value) for value in values], groups, SEED), len(values)))


# Is a person remembered over several chats to any use? Reply ranking on multi-session chats (MSC), sessions 2 to 5.


Reals = NDArray[np.float64]

RANKED_SESSIONS = (2, 3, 4, 5)
CANDIDATES = 20
AT_ONCE = 500  # questions that are scored together
SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
SECOND, FIRST = "Second", "First"
CONDITIONS = ("nothing", "told", "found")


@dataclass(frozen=True, slots=True)
class RecallQuestion:
    """A reply to be found again, and what is known of whoever it is said to, by condition."""

    session: int
    dialogue: str
    own: tuple[str, ...]
    remembered: Mapping[str, tuple[str, ...]]
    history: tuple[Turn, ...]
    candidates: tuple[str, ...]
    """The right one first."""

    def situation(self, condition: str) -> Situation:
        told = tuple(map(Told, self.remembered.get(condition, ())))
        return Situation(Persona(SECOND, profile=self.own), faced=Other(FIRST, told=told))

    def needs(self, condition: str) -> bool:
        """Does the right reply take a word from what is remembered that was not said in this session?"""
        said = _meant(turn.text for turn in self.history)
        return bool((_meant(self.candidates[:1]) & _meant(self.remembered[condition])) - said)


def ranking_rows(
    data: Path, limit: int | None = None, seed: int = 0, progress: Progress = ignore_progress
) -> list[Row]:
    """hits@1 of the shipped encoder in each condition, and its differences from remembering nothing."""
    questions = sampled(questions_of(data, seed), limit, seed)
    agent = EncoderAgent()
    hits = {condition: _hits(agent, questions, condition, progress) for condition in CONDITIONS}
    return [row for condition in CONDITIONS[1:] for row in _rows_of(questions, hits, condition, seed)]


def _rows_of(
    questions: Sequence[RecallQuestion], hits: Mapping[str, Reals], condition: str, seed: int
) -> Iterator[Row]:
    """The rows of a condition: of all questions, of those that need what is remembered, and of the others."""
    known = np.array([condition in question.remembered for question in questions])
    needed = np.array([condition in question.remembered and question.needs(condition) for question in questions])
    sessions = np.array([question.session for question in questions])
    for name, subset in (("all", known), ("needed", needed), ("not needed", known & ~needed)):
        for session in ("all", *RANKED_SESSIONS):
            chosen = subset if session == "all" else subset & (sessions == session)
            if chosen.any():
                yield from _compared(questions, hits, condition, chosen, {"questions": name, "session": session}, seed)


def questions_of(data: Path, seed: int = 0) -> list[RecallQuestion]:
    """The questions of all sessions; candidates are drawn with the seed from the same session's other dialogues."""
    sessions = {session: _dialogues(data / "msc" / f"session-{session}-valid.json") for session in RANKED_SESSIONS}
    rng = random.Random(seed)  # noqa: S311
    questions = []
    earlier: dict[str, list[str]] = {}
    for session, dialogues in sessions.items():
        replies = [(name, second) for name, (_, pairs) in dialogues.items() for _, second in pairs]
        for name, (profiles, pairs) in dialogues.items():
            remembered = {"told": _split(profiles["user"])}
            if name in earlier:
                remembered["found"] = tuple(dict.fromkeys(profile_sentences(earlier[name])))
            turns: list[Turn] = []
            for first, second in pairs:
                turns.append(Turn(FIRST, first))
                candidates = _candidates(name, second, replies, rng)
                own = _split(profiles["assistant"])
                questions.append(RecallQuestion(session, name, own, remembered, tuple(turns), candidates))
                turns.append(Turn(SECOND, second))
            earlier.setdefault(name, []).extend(first for first, _ in pairs)
    return questions


def _candidates(dialogue: str, right: str, replies: Sequence[tuple[str, str]], rng: random.Random) -> tuple[str, ...]:
    others = list(dict.fromkeys(reply for name, reply in replies if name != dialogue and reply != right))
    return (right, *rng.sample(others, min(CANDIDATES - 1, len(others))))


def _dialogues(path: Path) -> dict[str, tuple[dict[str, list[str]], list[tuple[str, str]]]]:
    """Dialogue -> what was written down of its two speakers in earlier sessions, and the pairs of their turns."""
    try:
        return {chat["id"]: (chat["meta"], [(a, b) for a, b in chat["dialogue"]]) for chat in _chats(path)}
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"cannot be read as sessions of MSC ({error}): see docs/datasets.md", path) from error


def _split(entries: Iterable[str]) -> tuple[str, ...]:
    return tuple(sentence for entry in entries for sentence in SENTENCE_END.split(entry.strip()) if sentence)


def _hits(agent: EncoderAgent, questions: Sequence[RecallQuestion], condition: str, progress: Progress) -> Reals:
    """1 where the right reply stands first, else 0."""
    hits: list[float] = []
    for first in range(0, len(questions), AT_ONCE):
        batch = questions[first : first + AT_ONCE]
        asked = [(question.situation(condition), question.history, question.candidates) for question in batch]
        hits += [float(gold_ranks(scores, {0})[0] == 1) for scores in agent.score_many(asked)]
        progress(f"ranking, remembering {condition}", len(hits), len(questions))
    return np.array(hits)


def _compared(
    questions: Sequence[RecallQuestion], hits: Mapping[str, Reals], condition: str, chosen: NDArray[np.bool_],
    judged: Mapping[str, Any], seed: int,
) -> list[Row]:  # fmt: skip
    """Without, with, and the difference, of some of the questions."""
    groups = [question.dialogue for question, is_chosen in zip(questions, chosen) if is_chosen]
    without, with_it = hits["nothing"][chosen], hits[condition][chosen]
    what = {"task": "memory", "agent": "encoder", "remembered": condition, **judged}
    difference = figure_row(what, "hits@1 difference", (interval(with_it - without, groups, seed), len(groups)))
    return [
        figure_row(what | {"given": "nothing"}, "hits@1", (interval(without, groups, seed), len(groups))),
        figure_row(what | {"given": condition}, "hits@1", (interval(with_it, groups, seed), len(groups))),
        difference | {"p": paired_p(with_it, without, groups, seed)},
    ]


def _meant(texts: Iterable[str]) -> frozenset[str]:
    light = light_words("en")
    return frozenset(word for text in texts for word in words(text) if word not in light)
