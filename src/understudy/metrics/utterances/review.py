"""The review queue: which lines a reviewer is shown next, what they have decided, and how much is left.

    new       only the filter has decided about the line
    second    somebody else has and the reviewer has not: two decisions allow the reviewers to be compared
    mine      the reviewer has decided about it

Lines whose score is nearest to a bound come first, since there a rule is most likely to be wrong; lines without that
score come last. `mine` has the latest decision first.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from understudy.metrics.utterances import FIELDS, UtteranceStore
from understudy.metrics.utterances.record import (
    APPROVED,
    FILTER,
    ReviewDecision,
    StoredUtterance,
    last_decisions,
    standing_decisions,
)

NEW, SECOND, MINE = "new", "second", "mine"


@dataclass(frozen=True, slots=True)
class Near:
    """A metric, and the bound near which lines are shown first."""

    metric: str
    bound: float


@dataclass(frozen=True, slots=True)
class Queue:
    """The first `lines` to decide about; how many are `left` for the reviewer, and how many `done`."""

    lines: list[StoredUtterance] = field(default_factory=list)
    left: int = 0
    done: int = 0


class Review:
    """One reviewer's view of the database as it is now: of the lines of a character, of a story, or of all."""

    def __init__(self, store: UtteranceStore, by: str, character: str | None = None, story: str | None = None) -> None:
        self._store, self._by, self._character, self._story = store, by, character, story
        self._histories = store.histories(character, story)
        self._decisions = {number: _by_people(entries) for number, entries in self._histories.items()}

    def queue(self, show: str, near: Near | None, limit: int, skipped: Collection[int] = ()) -> Queue:
        mine = [number for number, decisions in self._decisions.items() if self._by in decisions]
        if show == NEW:
            left = self._total() - sum(bool(decisions) for decisions in self._decisions.values())
            return Queue(self._new(near, limit, skipped), left, len(mine))
        second = [number for number, decisions in self._decisions.items() if decisions and self._by not in decisions]
        if show == SECOND:
            wanted = [number for number in second if number not in set(skipped)]
            return Queue(self._nearest(wanted, near)[:limit], len(second), len(mine))
        return Queue(self.latest(limit), len(second), len(mine))

    def latest(self, limit: int) -> list[StoredUtterance]:
        """The lines that the reviewer has decided about, the last decision first."""
        decided = {
            number: max(entry.at for entry in standing_decisions(self._histories[number]) if entry.by == self._by)
            for number, decisions in self._decisions.items()
            if self._by in decisions
        }
        latest = sorted(decided, key=lambda number: decided[number])[::-1][:limit]
        by_number = {utterance.number: utterance for utterance in self._load(latest)}
        return [by_number[number] for number in latest]

    def decisions(self, number: int) -> Mapping[str, str]:
        """The last decision of each person about an utterance."""
        return self._decisions.get(number, {})

    def can_undo(self, number: int) -> bool:
        """Is the last decision about the utterance the reviewer's own?"""
        decisions = standing_decisions(self._histories.get(number, ()))
        return len(decisions) > 1 and decisions[-1].by == self._by

    def reviewers(self) -> list[str]:
        return sorted({who for decisions in self._decisions.values() for who in decisions})

    def metrics(self) -> list[str]:
        """The names of all scores, by an index scan that skips from name to name."""
        names, after = list[str](), ""
        while rows := self._store.database.rows("SELECT min(metric) FROM scores WHERE metric > ?", (after,)):
            (after,) = rows[0]
            if after is None:
                break
            names.append(after)
        return names

    def bound(self, metric: str, at_least: bool) -> float:
        """An estimate of the filter's bound: the worst score that it approved; where it approved none, the middle."""
        statement = f"""SELECT value FROM scores JOIN utterances ON utterances.id = utterance
                       WHERE metric = ? AND value IS NOT NULL AND decision = ? AND decided_by = '{FILTER}'
                       ORDER BY value {"ASC" if at_least else "DESC"} LIMIT 1"""
        if rows := self._store.database.rows(statement, (metric, APPROVED)):
            return float(rows[0][0])
        ((least, most),) = self._store.database.rows(
            "SELECT min(value), max(value) FROM scores WHERE metric = ?", (metric,)
        )
        return 0.0 if least is None else (float(least) + float(most)) / 2

    def _total(self) -> int:
        counts = self._store.counts(self._story).items()
        return sum(number for (who, _), number in counts if self._character in (None, who))

    def _new(self, near: Near | None, limit: int, skipped: Collection[int]) -> list[StoredUtterance]:
        taken_back = [number for number, decisions in self._decisions.items() if not decisions]
        where = f"(decided_by = '{FILTER}' OR id IN ({_numbers(taken_back)})) AND id NOT IN ({_numbers(skipped)})"
        parameters: tuple[str, ...] = ()
        for column, wanted in (("character", self._character), ("story", self._story)):
            if wanted is not None:
                where, parameters = f"{where} AND {column} = ?", (*parameters, wanted)
        rows = self._store.database.rows
        if near is None:
            return self._from_rows(
                rows(f"SELECT {FIELDS} FROM utterances WHERE {where} ORDER BY id LIMIT ?", (*parameters, limit))
            )
        # From the bound upwards and downwards by the index, so that not all scores are sorted.
        joined = f"SELECT {FIELDS}, value FROM scores JOIN utterances ON utterances.id = utterance WHERE {where}"
        around = (*parameters, near.metric, near.bound, limit)
        results = rows(
            f"""SELECT {FIELDS} FROM (
                    SELECT * FROM ({joined} AND metric = ? AND value >= ? ORDER BY value, utterance LIMIT ?) AS above
                    UNION ALL
                    SELECT * FROM ({joined} AND metric = ? AND value < ?
                                   ORDER BY value DESC, utterance DESC LIMIT ?) AS below
                ) AS near_it ORDER BY abs(value - ?), id LIMIT ?""",
            (*around, *around, near.bound, limit),
        )
        if len(results) < limit:
            results += rows(
                f"""SELECT {FIELDS} FROM utterances WHERE {where} AND NOT EXISTS (
                        SELECT 1 FROM scores WHERE utterance = utterances.id AND metric = ? AND value IS NOT NULL
                    ) ORDER BY id LIMIT ?""",
                (*parameters, near.metric, limit - len(results)),
            )
        return self._from_rows(results)

    def _nearest(self, numbers: Iterable[int], near: Near | None) -> list[StoredUtterance]:
        def distance(stored: StoredUtterance) -> tuple[bool, float, int]:
            score = None if near is None else stored.utterance.scores.get(near.metric)
            if near is None or score is None or score.value is None:
                return True, 0.0, stored.number
            return False, abs(score.value - near.bound), stored.number

        return sorted(self._load(numbers), key=distance)

    def _load(self, numbers: Iterable[int]) -> list[StoredUtterance]:
        statement = f"SELECT {FIELDS} FROM utterances WHERE id IN ({_numbers(numbers)})"
        return self._from_rows(self._store.database.rows(statement))

    def _from_rows(self, rows: list[tuple[object, ...]]) -> list[StoredUtterance]:
        return list(self._store.from_rows(rows))


def _by_people(entries: Iterable[ReviewDecision]) -> dict[str, str]:
    return {who: decision for who, decision in last_decisions(entries).items() if who != FILTER}


def _numbers(numbers: Iterable[int]) -> str:
    """A list of ids for IN (...), which must not be empty."""
    return ", ".join(map(str, (-1, *numbers)))
