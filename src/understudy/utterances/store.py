"""The utterance database: adding, deciding, taking back, finding. The same on SQLite and PostgreSQL."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy.dialogue import Score
from understudy.errors import InputError
from understudy.story import Moment
from understudy.utterances.address import is_address, is_postgres, masked
from understudy.utterances.databases import Database, Sqlite, is_text
from understudy.utterances.postgres import Postgres
from understudy.utterances.record import (
    APPROVED,
    DECISIONS,
    FILTER,
    PENDING,
    UNDONE,
    Decided,
    Kept,
    Sayable,
    Utterance,
    last_words,
    packed,
    standing,
    unpacked,
)
from understudy.utterances.schema import migrate

__all__ = ["FIELDS", "UtteranceStore", "open_store"]

Vector = NDArray[np.float32]
FIELDS = "id, text, character, since, until, file, line, story, decision, decided_by, decided_at"
PAGE = 500


def open_store(place: str | Path) -> UtteranceStore:
    """A file (made if it is not there), or a postgresql:// address."""
    if not str(place):
        raise InputError("no utterance database is named: say --store FILE, or a postgresql:// address")
    if is_postgres(place):
        return UtteranceStore(Postgres(str(place)))
    if is_address(place):
        raise InputError("is no place for an utterance database: say a file, or postgresql://...", masked(place))
    return UtteranceStore(Sqlite(Path(place)))


class UtteranceStore:
    def __init__(self, database: Database) -> None:
        self._db = self.database = database
        try:
            migrate(database)
        except BaseException:
            database.close()
            raise

    def add(
        self, utterances: Sequence[Utterance], decision: str, by: str, vectors: Sequence[Vector | None] = ()
    ) -> int:
        """Put utterances in, all or none; those that are there already stay as they are. Returns how many are new."""
        decisions = [_known(decision)] * len(utterances)
        with self._db.transaction():
            return self._add(utterances, decisions, by, vectors)

    def advance(
        self, run: str, line: int, utterances: Sequence[Utterance], decisions: Sequence[str], by: str,
        vectors: Sequence[Vector | None] = (),
    ) -> int:  # fmt: skip
        """Add what a run found up to a line of its file, and remember in the same breath how far it came."""
        with self._db.transaction():
            new = self._add(utterances, [_known(decision) for decision in decisions], by, vectors)
            self._db.rows("DELETE FROM runs WHERE run = ?", (run,))
            self._db.rows("INSERT INTO runs VALUES (?, ?)", (run, line))
            return new

    def reached(self, run: str) -> int:
        """Up to which line of its file a run came; 0 where it never began."""
        rows = self._db.rows("SELECT line FROM runs WHERE run = ?", (run,))
        return int(rows[0][0]) if rows else 0

    def decide(self, number: int, decision: str, by: str, why: str = "") -> Kept:
        """One more decision about an utterance; the last one counts."""
        with self._db.transaction():
            self._entered(self._one(number).number, _known(decision), by, why)
            return self._one(number)

    def undo(self, number: int, by: str, own: bool = False) -> Kept:
        """Take back the last decision that was not taken back yet: what held before it holds again.

        With `own`, only if it is that person's own.
        """
        with self._db.transaction():
            left = standing(self.history(number))
            if len(left) < 2:
                raise InputError(f"utterance {number} has had no decision that could be taken back")
            if own and left[-1].by != by:
                raise InputError(f"the last decision about utterance {number} is {left[-1].by}'s: decide again instead")
            self._entered(number, left[-2].decision, by, UNDONE)
            return self._one(number)

    def get(self, number: int) -> Kept:
        return self._one(number)

    def history(self, number: int) -> list[Decided]:
        """Every decision about an utterance, the first one first."""
        rows = self._db.rows(
            "SELECT decision, decided_by, decided_at, why FROM decisions WHERE utterance = ? ORDER BY id", (number,)
        )
        return [Decided(*row) for row in rows]

    def histories(self, character: str | None = None, story: str | None = None) -> dict[int, list[Decided]]:
        """The histories of all utterances that people, not only the filter, decided about; the last touched last."""
        where, told = _where(character, None, None, story)
        found: dict[int, list[Decided]] = {}
        for number, *entry in self._db.rows(
            f"""SELECT utterance, decisions.decision, decisions.decided_by, decisions.decided_at, why
                FROM decisions JOIN utterances ON utterances.id = utterance
                WHERE utterance IN (SELECT utterance FROM decisions WHERE decided_by <> '{FILTER}')
                AND {where} ORDER BY decisions.id""",
            told,
        ):
            found[number] = [*found.pop(number, ()), Decided(*entry)]
        return found

    def version(self) -> int:
        """Grows with every decision, whoever makes it, in this program or another."""
        return int(self._db.rows("SELECT coalesce(max(id), 0) FROM decisions")[0][0])

    def sayable(self, character: str, at: Moment, story: str = "") -> list[Sayable]:
        """What a character of a story may say at a moment: approved, within its range, and of no other story."""
        where, told = _where(character, APPROVED, at)
        rows = self._db.rows(
            f"SELECT id, text, since FROM utterances WHERE {where} AND story IN ('', ?) ORDER BY id", (*told, story)
        )
        return [Sayable(number, _text(number, text), unpacked(since)) for number, text, since in rows]

    def find(
        self,
        character: str | None = None,
        decision: str | None = None,
        at: Moment | None = None,
        near: tuple[str, float] | None = None,
        limit: int | None = None,
        story: str | None = None,
    ) -> Iterator[Kept]:
        """Those that fit, in the order they came; `near` (a metric and a bound) puts those close to the bound first."""
        where, told = _where(character, decision, at, story)
        if near is not None:
            rows = self._db.rows(
                f"""SELECT {FIELDS} FROM utterances JOIN scores ON scores.utterance = utterances.id
                    WHERE {where} AND metric = ? AND value IS NOT NULL ORDER BY abs(value - ?), id LIMIT ?""",
                (*told, *near, limit or 2**31),
            )
            yield from self.kept(rows)
            return
        after, left = 0, limit
        while left is None or left > 0:
            rows = self._db.rows(
                f"SELECT {FIELDS} FROM utterances WHERE {where} AND id > ? ORDER BY id LIMIT ?",
                (*told, after, PAGE if left is None else min(PAGE, left)),
            )
            if not rows:
                return
            yield from self.kept(rows)
            after, left = rows[-1][0], None if left is None else left - len(rows)

    def stories(self) -> list[str]:
        """The stories that lines are of; blank where some are of none in particular."""
        return sorted(story for (story,) in self._db.rows("SELECT DISTINCT story FROM utterances"))

    def counts(self, story: str | None = None) -> dict[tuple[str, str], int]:
        """How many there are by (character, decision)."""
        where, told = _where(None, None, None, story)
        rows = self._db.rows(
            f"SELECT character, decision, count(*) FROM utterances WHERE {where} GROUP BY 1, 2 ORDER BY 1, 2", told
        )
        return {(character, decision): int(number) for character, decision, number in rows}

    def nearest(
        self,
        vector: Vector,
        count: int,
        character: str | None = None,
        at: Moment | None = None,
        decision: str = APPROVED,
    ) -> list[Kept]:
        """Those whose vectors are most like one, found inside the database; `likeness` is the cosine."""
        where, told = _where(character, _known(decision), at)
        return [
            replace(self._one(number), likeness=likeness)
            for number, likeness in self._db.nearest(vector, where, told, count)
        ]

    def agreement(self, first: str, second: str) -> tuple[int, float | None, float | None]:
        """Two people's last words on the same utterances: how many, the share they agree on, and Cohen's kappa.

        One of the two may be the filter.
        """
        words = [last_words(entries) for entries in self.histories().values()]
        pairs = [(last[first], last[second]) for last in words if first in last and second in last]
        if not pairs:
            return 0, None, None
        same = sum(a == b for a, b in pairs) / len(pairs)
        ours, theirs = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
        chance = sum(ours[one] * theirs[one] for one in DECISIONS) / len(pairs) ** 2
        return len(pairs), same, None if chance == 1 else (same - chance) / (1 - chance)

    def close(self) -> None:
        self._db.close()

    def _add(
        self, utterances: Sequence[Utterance], decisions: Sequence[str], by: str, vectors: Sequence[Vector | None]
    ) -> int:
        new = 0
        unbound = bool(self._db.rows("SELECT 1 FROM utterances WHERE story = '' LIMIT 1"))
        for place, one in enumerate(utterances):
            given = vectors[place] if len(vectors) else None
            vector = None if given is None else self._db.as_vector(np.asarray(given, np.float32))
            reasons = (part for score in one.scores.values() for part in (score.name, score.reason))
            if not all(map(is_text, (one.text, one.character, one.story, *reasons))):
                raise InputError(
                    "a line with a NUL byte, or with half of a surrogate pair, cannot be kept: clean the file first",
                    one.file or None,
                    one.line,
                )
            file = one.file.encode("utf-8", "backslashreplace").decode()  # a file's name may be no text
            if unbound and one.story:
                self._bind(one)
            rows = self._db.rows(
                f"""INSERT INTO utterances (key, text, character, since, until, file, line, story, vector,
                                            decision, decided_by, decided_at)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, {self._db.given_vector}, ?, '', '')
                    ON CONFLICT (key) DO NOTHING RETURNING id""",
                (one.key, one.text, one.character, packed(one.since), packed(one.until), file, one.line, one.story,
                 vector, PENDING),
            )  # fmt: skip
            if rows:
                new += 1
                self._entered(rows[0][0], PENDING, by, "")
                if decisions[place] != PENDING:
                    self._entered(rows[0][0], decisions[place], by, "")
                for score in one.scores.values():
                    self._db.rows(
                        "INSERT INTO scores VALUES (?, ?, ?, ?)", (rows[0][0], score.name, score.value, score.reason)
                    )
        return new

    def _bind(self, one: Utterance) -> None:
        """A line kept when no story was told is of the first story it comes with again, and keeps its history."""
        self._db.rows(
            """UPDATE utterances SET story = ?, key = ?
               WHERE key = ? AND NOT EXISTS (SELECT 1 FROM utterances WHERE key = ?)""",
            (one.story, one.key, replace(one, story="").key, one.key),
        )

    def _entered(self, number: int, decision: str, by: str, why: str) -> None:
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        self._db.rows(
            "INSERT INTO decisions (utterance, decision, decided_by, decided_at, why) VALUES (?, ?, ?, ?, ?)",
            (number, decision, by, now, why),
        )
        self._db.rows(
            "UPDATE utterances SET decision = ?, decided_by = ?, decided_at = ? WHERE id = ?",
            (decision, by, now, number),
        )

    def _one(self, number: int) -> Kept:
        found = list(self.kept(self._db.rows(f"SELECT {FIELDS} FROM utterances WHERE id = ?", (number,))))
        if not found:
            raise InputError(
                f"there is no utterance {number} in this database: list them with `understudy utterances list`"
            )
        return found[0]

    def kept(self, rows: Sequence[tuple[Any, ...]]) -> Iterator[Kept]:
        """What rows of FIELDS tell of, with their scores."""
        for first in range(0, len(rows), PAGE):
            some = rows[first : first + PAGE]
            scores = self._scores([row[0] for row in some])
            for number, text, character, since, until, file, line, story, decision, by, at in some:
                span = unpacked(since), unpacked(until)
                utterance = Utterance(_text(number, text), character, *span, scores.get(number, {}), file, line, story)
                yield Kept(number, utterance, decision, by, at)

    def _scores(self, numbers: Sequence[int]) -> dict[int, dict[str, Score]]:
        """The scores of a page of utterances, asked for at once."""
        found: dict[int, dict[str, Score]] = {}
        asked = ", ".join("?" * len(numbers))
        for number, metric, value, reason in self._db.rows(
            f"SELECT utterance, metric, value, reason FROM scores WHERE utterance IN ({asked}) ORDER BY metric", numbers
        ):
            found.setdefault(number, {})[metric] = Score(metric, value, reason)
        return found


def _text(number: int, text: Any) -> str:
    """A line's text; in a SQLite file anything may stand in its place."""
    if not isinstance(text, str):
        raise InputError(f"utterance {number} is damaged: its text is none; take a copy that is whole")
    return text


def _known(decision: str) -> str:
    if decision not in DECISIONS:
        raise InputError(f"'{decision}' is no decision: choose from {', '.join(DECISIONS)}")
    return decision


def _where(
    character: str | None, decision: str | None, at: Moment | None, story: str | None = None
) -> tuple[str, list[Any]]:
    parts, told = ["1 = 1"], list[Any]()
    for column, value in (("character", character), ("utterances.decision", decision), ("story", story)):
        if value is not None:
            parts.append(f"{column} = ?")
            told.append(value)
    if at is not None:
        parts.append("since <= ? AND (? < until OR until = ?)")
        told += [packed(at), packed(at), packed(Moment.end())]
    return " AND ".join(parts), told
