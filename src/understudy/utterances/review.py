"""What a reviewer is shown next, what they have done, and how much is left.

    new       nobody but the filter has decided about it
    second    somebody else has, the reviewer has not: decided twice, two reviewers can be compared
    mine      the reviewer has decided about it

Lines whose score is nearest to a bound come first, since there a rule is most likely to be wrong; those without that
score come last. Of those the reviewer has decided about, the latest come first.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from understudy.utterances.record import APPROVED, FILTER, Decided, Kept, last_words, standing
from understudy.utterances.store import FIELDS, UtteranceStore

__all__ = ["MINE", "NEW", "SECOND", "Near", "Queue", "Review"]

NEW, SECOND, MINE = "new", "second", "mine"


@dataclass(frozen=True, slots=True)
class Near:
    """A metric, and the bound near which one looks first."""

    metric: str
    bound: float


@dataclass(frozen=True, slots=True)
class Queue:
    """`lines` are the first of what is to be decided; `left` and `done` count the reviewer's work."""

    lines: list[Kept] = field(default_factory=list)
    left: int = 0
    done: int = 0


class Review:
    """One reviewer's look at the database, of one character's or story's lines or of all; made anew for each look."""

    def __init__(self, store: UtteranceStore, by: str, character: str | None = None, story: str | None = None) -> None:
        self._store, self._by, self._character, self._story = store, by, character, story
        self._histories = store.histories(character, story)
        self._words = {number: _of_people(entries) for number, entries in self._histories.items()}

    def queue(self, show: str, near: Near | None, limit: int, skipped: Collection[int] = ()) -> Queue:
        mine = [number for number, words in self._words.items() if self._by in words]
        if show == NEW:
            left = self._total() - sum(bool(words) for words in self._words.values())
            return Queue(self._new(near, limit, skipped), left, len(mine))
        second = [number for number, words in self._words.items() if words and self._by not in words]
        if show == SECOND:
            wanted = [number for number in second if number not in set(skipped)]
            return Queue(self._nearest(wanted, near)[:limit], len(second), len(mine))
        return Queue(self.latest(limit), len(second), len(mine))

    def latest(self, limit: int) -> list[Kept]:
        """What the reviewer has decided about, the last decision first."""
        decided = {
            number: max(entry.at for entry in standing(self._histories[number]) if entry.by == self._by)
            for number, words in self._words.items()
            if self._by in words
        }
        latest = sorted(decided, key=lambda number: decided[number])[::-1][:limit]
        found = {kept.number: kept for kept in self._of(latest)}
        return [found[number] for number in latest]

    def words(self, number: int) -> Mapping[str, str]:
        """What people have said of an utterance: who, what."""
        return self._words.get(number, {})

    def can_undo(self, number: int) -> bool:
        """Is the last decision about it the reviewer's own?"""
        left = standing(self._histories.get(number, ()))
        return len(left) > 1 and left[-1].by == self._by

    def reviewers(self) -> list[str]:
        return sorted({who for words in self._words.values() for who in words})

    def metrics(self) -> list[str]:
        """The names of all scores there are, found without reading them all."""
        found, after = list[str](), ""
        while rows := self._store.database.rows("SELECT min(metric) FROM scores WHERE metric > ?", (after,)):
            (after,) = rows[0]
            if after is None:
                break
            found.append(after)
        return found

    def bound(self, metric: str, at_least: bool) -> float:
        """Where the filter's bound must have been: the least fit of what it let through; else the middle of all."""
        question = f"""SELECT value FROM scores JOIN utterances ON utterances.id = utterance
                       WHERE metric = ? AND value IS NOT NULL AND decision = ? AND decided_by = '{FILTER}'
                       ORDER BY value {"ASC" if at_least else "DESC"} LIMIT 1"""
        if rows := self._store.database.rows(question, (metric, APPROVED)):
            return float(rows[0][0])
        ((least, most),) = self._store.database.rows(
            "SELECT min(value), max(value) FROM scores WHERE metric = ?", (metric,)
        )
        return 0.0 if least is None else (float(least) + float(most)) / 2

    def _total(self) -> int:
        counts = self._store.counts(self._story).items()
        return sum(number for (who, _), number in counts if self._character in (None, who))

    def _new(self, near: Near | None, limit: int, skipped: Collection[int]) -> list[Kept]:
        taken_back = [number for number, words in self._words.items() if not words]
        where = f"(decided_by = '{FILTER}' OR id IN ({_numbers(taken_back)})) AND id NOT IN ({_numbers(skipped)})"
        told: tuple[str, ...] = ()
        for column, wanted in (("character", self._character), ("story", self._story)):
            if wanted is not None:
                where, told = f"{where} AND {column} = ?", (*told, wanted)
        rows = self._store.database.rows
        if near is None:
            return self._kept(
                rows(f"SELECT {FIELDS} FROM utterances WHERE {where} ORDER BY id LIMIT ?", (*told, limit))
            )
        # From the bound upwards and downwards, by the index: a million scores are not put in order for twenty.
        joined = f"SELECT {FIELDS}, value FROM scores JOIN utterances ON utterances.id = utterance WHERE {where}"
        found = rows(
            f"""SELECT {FIELDS} FROM (
                    SELECT * FROM ({joined} AND metric = ? AND value >= ? ORDER BY value, utterance LIMIT ?) AS above
                    UNION ALL
                    SELECT * FROM ({joined} AND metric = ? AND value < ?
                                   ORDER BY value DESC, utterance DESC LIMIT ?) AS below
                ) AS near_it ORDER BY abs(value - ?), id LIMIT ?""",
            (*told, near.metric, near.bound, limit, *told, near.metric, near.bound, limit, near.bound, limit),
        )
        if len(found) < limit:
            found += rows(
                f"""SELECT {FIELDS} FROM utterances WHERE {where} AND NOT EXISTS (
                        SELECT 1 FROM scores WHERE utterance = utterances.id AND metric = ? AND value IS NOT NULL
                    ) ORDER BY id LIMIT ?""",
                (*told, near.metric, limit - len(found)),
            )
        return self._kept(found)

    def _nearest(self, numbers: Iterable[int], near: Near | None) -> list[Kept]:
        def distance(kept: Kept) -> tuple[bool, float, int]:
            score = None if near is None else kept.utterance.scores.get(near.metric)
            if near is None or score is None or score.value is None:
                return True, 0.0, kept.number
            return False, abs(score.value - near.bound), kept.number

        return sorted(self._of(numbers), key=distance)

    def _of(self, numbers: Iterable[int]) -> list[Kept]:
        question = f"SELECT {FIELDS} FROM utterances WHERE id IN ({_numbers(numbers)})"
        return self._kept(self._store.database.rows(question))

    def _kept(self, rows: list[tuple[object, ...]]) -> list[Kept]:
        return list(self._store.kept(rows))


def _of_people(entries: Iterable[Decided]) -> dict[str, str]:
    return {who: word for who, word in last_words(entries).items() if who != FILTER}


def _numbers(numbers: Iterable[int]) -> str:
    """For IN (...): our own numbers, and never nothing."""
    return ", ".join(map(str, (-1, *numbers)))
