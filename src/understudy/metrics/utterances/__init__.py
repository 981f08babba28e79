"""The utterance database: lines that may be said, by whom, from when to when, and who decided so.

    store = open_store("lines.db")                       SQLite, in one file
    store = open_store("postgresql://me@host/lines")     PostgreSQL with pgvector, for teams

Nothing is ever deleted: a decision is one more entry, and so is taking it back.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from understudy.database import Migration, check_location, is_postgres, is_text, migrate
from understudy.errors import InputError
from understudy.metrics.statistics import cohens_kappa
from understudy.metrics.utterances.record import (
    APPROVED,
    DECISIONS,
    FILTER,
    PENDING,
    UNDONE,
    ReviewDecision,
    Sayable,
    StoredUtterance,
    Utterance,
    last_decisions,
    pack_moment,
    standing_decisions,
    unpack_moment,
)
from understudy.metrics.utterances.vector_indexes import (
    PURPOSE,
    Progress,
    UtteranceDatabase,
    UtterancePostgres,
    UtteranceSqlite,
    Vector,
)
from understudy.story.dialogue import Score
from understudy.story.types import Moment

FIELDS = "id, text, character, since, until, file, line, story, decision, decided_by, decided_at"
PAGE = 500


def open_store(location: str | Path) -> UtteranceStore:
    """Open a file (created if need be), or a postgresql:// address."""
    check_location(location, PURPOSE)
    if is_postgres(location):
        return UtteranceStore(UtterancePostgres(str(location)))
    return UtteranceStore(UtteranceSqlite(Path(location)))


class UtteranceStore:
    def __init__(self, database: UtteranceDatabase) -> None:
        self._db = self.database = database
        try:
            migrate(database, migrations(database))
        except BaseException:
            database.close()
            raise

    def add(
        self, utterances: Sequence[Utterance], decision: str, by: str, vectors: Sequence[Vector | None] = ()
    ) -> int:
        """Add utterances in one transaction; those that exist stay as they are. Returns how many are new."""
        decisions = [_checked_decision(decision)] * len(utterances)
        with self._db.transaction():
            return self._add(utterances, decisions, by, vectors)

    def advance(
        self, run: str, line: int, utterances: Sequence[Utterance], decisions: Sequence[str], by: str,
        vectors: Sequence[Vector | None] = (),
    ) -> int:  # fmt: skip
        """Add what a run has read up to a line of its file, and store in the same transaction how far it came."""
        with self._db.transaction():
            new = self._add(utterances, [_checked_decision(decision) for decision in decisions], by, vectors)
            self._db.rows("DELETE FROM runs WHERE run = ?", (run,))
            self._db.rows("INSERT INTO runs VALUES (?, ?)", (run, line))
            return new

    def reached(self, run: str) -> int:
        """The line of its file that a run has come to; 0 if it has not begun."""
        rows = self._db.rows("SELECT line FROM runs WHERE run = ?", (run,))
        return int(rows[0][0]) if rows else 0

    def decide(self, number: int, decision: str, by: str, why: str = "") -> StoredUtterance:
        """One more decision about an utterance; the last one counts."""
        with self._db.transaction():
            self._record(self.get(number).number, _checked_decision(decision), by, why)
            return self.get(number)

    def undo(self, number: int, by: str, own: bool = False) -> StoredUtterance:
        """Take back the last decision that was not taken back yet: the one before it holds again.

        With `own`, only if the person made it.
        """
        with self._db.transaction():
            decisions = standing_decisions(self.history(number))
            if len(decisions) < 2:
                raise InputError(f"utterance {number} has had no decision that could be taken back")
            if own and decisions[-1].by != by:
                raise InputError(
                    f"the last decision about utterance {number} is {decisions[-1].by}'s: decide again instead"
                )
            self._record(number, decisions[-2].decision, by, UNDONE)
            return self.get(number)

    def get(self, number: int) -> StoredUtterance:
        results = list(self.from_rows(self._db.rows(f"SELECT {FIELDS} FROM utterances WHERE id = ?", (number,))))
        if not results:
            raise InputError(
                f"there is no utterance {number} in this database: list them with `understudy utterances list`"
            )
        return results[0]

    def history(self, number: int) -> list[ReviewDecision]:
        """Every decision about an utterance, the first one first."""
        rows = self._db.rows(
            "SELECT decision, decided_by, decided_at, why FROM decisions WHERE utterance = ? ORDER BY id", (number,)
        )
        return [ReviewDecision(*row) for row in rows]

    def histories(self, character: str | None = None, story: str | None = None) -> dict[int, list[ReviewDecision]]:
        """The histories of all utterances that people, not only the filter, decided about; the latest changed last."""
        where, parameters = _where(character, None, None, story)
        histories: dict[int, list[ReviewDecision]] = {}
        for number, *entry in self._db.rows(
            f"""SELECT utterance, decisions.decision, decisions.decided_by, decisions.decided_at, why
                FROM decisions JOIN utterances ON utterances.id = utterance
                WHERE utterance IN (SELECT utterance FROM decisions WHERE decided_by <> '{FILTER}')
                AND {where} ORDER BY decisions.id""",
            parameters,
        ):
            histories[number] = [*histories.pop(number, ()), ReviewDecision(*entry)]
        return histories

    def version(self) -> int:
        """Grows with every decision, also of other programs."""
        return int(self._db.rows("SELECT coalesce(max(id), 0) FROM decisions")[0][0])

    def sayable(self, character: str, at: Moment, story: str = "") -> list[Sayable]:
        """The approved lines that a character of a story may say at a moment."""
        where, parameters = _where(character, APPROVED, at)
        rows = self._db.rows(
            f"SELECT id, text, since FROM utterances WHERE {where} AND story IN ('', ?) ORDER BY id",
            (*parameters, story),
        )
        return [Sayable(number, _checked_text(number, text), unpack_moment(since)) for number, text, since in rows]

    def find(
        self,
        character: str | None = None,
        decision: str | None = None,
        at: Moment | None = None,
        near: tuple[str, float] | None = None,
        limit: int | None = None,
        story: str | None = None,
    ) -> Iterator[StoredUtterance]:
        """Utterances that match, by id; `near` (a metric and a bound) sorts by the score's distance to the bound."""
        where, parameters = _where(character, decision, at, story)
        if near is not None:
            rows = self._db.rows(
                f"""SELECT {FIELDS} FROM utterances JOIN scores ON scores.utterance = utterances.id
                    WHERE {where} AND metric = ? AND value IS NOT NULL ORDER BY abs(value - ?), id LIMIT ?""",
                (*parameters, *near, limit or 2**31),
            )
            yield from self.from_rows(rows)
            return
        after, remaining = 0, limit
        while remaining is None or remaining > 0:
            rows = self._db.rows(
                f"SELECT {FIELDS} FROM utterances WHERE {where} AND id > ? ORDER BY id LIMIT ?",
                (*parameters, after, PAGE if remaining is None else min(PAGE, remaining)),
            )
            if not rows:
                return
            yield from self.from_rows(rows)
            after, remaining = rows[-1][0], None if remaining is None else remaining - len(rows)

    def stories(self) -> list[str]:
        """The titles of the stories that lines belong to; blank for lines that belong to none."""
        return sorted(story for (story,) in self._db.rows("SELECT DISTINCT story FROM utterances"))

    def counts(self, story: str | None = None) -> dict[tuple[str, str], int]:
        """The number of utterances by (character, decision)."""
        where, parameters = _where(None, None, None, story)
        rows = self._db.rows(
            f"SELECT character, decision, count(*) FROM utterances WHERE {where} GROUP BY 1, 2 ORDER BY 1, 2",
            parameters,
        )
        return {(character, decision): int(number) for character, decision, number in rows}

    def nearest(
        self,
        vector: Vector,
        count: int,
        character: str | None = None,
        at: Moment | None = None,
        decision: str = APPROVED,
        progress: Progress | None = None,
        story: str | None = None,
    ) -> list[StoredUtterance]:
        """The utterances whose vectors are most like one; `likeness` is the cosine.

        All vectors that match are compared, up to 50,000 of them; of more, an index finds nearly all of the nearest,
        where the database has one. `progress` is called while it is built.
        """
        where, parameters = _where(character, _checked_decision(decision), at, story)
        return [
            replace(self.get(number), likeness=likeness)
            for number, likeness in self._db.nearest(vector, where, parameters, count, progress)
        ]

    def agreement(self, first: str, second: str) -> tuple[int, float | None, float | None]:
        """Two people's last decisions on the same utterances: how many, the share that agrees, and Cohen's kappa.

        One of the two may be the filter.
        """
        histories = map(last_decisions, self.histories().values())
        pairs = [(last[first], last[second]) for last in histories if first in last and second in last]
        if not pairs:
            return 0, None, None
        used = {decision: number for number, decision in enumerate(sorted({*chain(*pairs)}))}
        counts = np.zeros((len(used), len(used)))
        for ours, theirs in pairs:
            counts[used[ours], used[theirs]] += 1
        kappa = float(cohens_kappa(counts))
        return len(pairs), float(np.trace(counts)) / len(pairs), None if math.isnan(kappa) else kappa

    def close(self) -> None:
        self._db.close()

    def _add(
        self, utterances: Sequence[Utterance], decisions: Sequence[str], by: str, vectors: Sequence[Vector | None]
    ) -> int:
        new = 0
        unbound = bool(self._db.rows("SELECT 1 FROM utterances WHERE story = '' LIMIT 1"))
        for index, utterance in enumerate(utterances):
            array = vectors[index] if len(vectors) else None
            vector = None if array is None else self._db.vector_value(np.asarray(array, np.float32))
            reasons = (part for score in utterance.scores.values() for part in (score.name, score.reason))
            if not all(map(is_text, (utterance.text, utterance.character, utterance.story, *reasons))):
                raise InputError(
                    "a line with a NUL byte, or with half of a surrogate pair, cannot be kept: clean the file first",
                    utterance.file or None,
                    utterance.line,
                )
            file = utterance.file.encode("utf-8", "backslashreplace").decode()  # a file name may not be valid UTF-8
            if unbound and utterance.story:
                self._bind_to_story(utterance)
            span = pack_moment(utterance.since), pack_moment(utterance.until)
            rows = self._db.rows(
                f"""INSERT INTO utterances (key, text, character, since, until, file, line, story, vector,
                                            decision, decided_by, decided_at)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, {self._db.vector_parameter}, ?, '', '')
                    ON CONFLICT (key) DO NOTHING RETURNING id""",
                (utterance.key, utterance.text, utterance.character, *span, file, utterance.line, utterance.story,
                 vector, PENDING),
            )  # fmt: skip
            if rows:
                new += 1
                self._record(rows[0][0], PENDING, by, "")
                if decisions[index] != PENDING:
                    self._record(rows[0][0], decisions[index], by, "")
                for score in utterance.scores.values():
                    self._db.rows(
                        "INSERT INTO scores VALUES (?, ?, ?, ?)", (rows[0][0], score.name, score.value, score.reason)
                    )
        return new

    def _bind_to_story(self, utterance: Utterance) -> None:
        """A line without a story becomes one of the first story it is added for, and keeps its history."""
        self._db.rows(
            """UPDATE utterances SET story = ?, key = ?
               WHERE key = ? AND NOT EXISTS (SELECT 1 FROM utterances WHERE key = ?)""",
            (utterance.story, utterance.key, replace(utterance, story="").key, utterance.key),
        )

    def _record(self, number: int, decision: str, by: str, why: str) -> None:
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        self._db.rows(
            "INSERT INTO decisions (utterance, decision, decided_by, decided_at, why) VALUES (?, ?, ?, ?, ?)",
            (number, decision, by, now, why),
        )
        self._db.rows(
            "UPDATE utterances SET decision = ?, decided_by = ?, decided_at = ? WHERE id = ?",
            (decision, by, now, number),
        )

    def from_rows(self, rows: Sequence[tuple[Any, ...]]) -> Iterator[StoredUtterance]:
        """The utterances of rows of FIELDS, with their scores."""
        for first in range(0, len(rows), PAGE):
            page = rows[first : first + PAGE]
            scores = self._scores([row[0] for row in page])
            for number, text, character, since, until, file, line, story, decision, by, at in page:
                span = unpack_moment(since), unpack_moment(until)
                utterance = Utterance(
                    _checked_text(number, text), character, *span, scores.get(number, {}), file, line, story
                )
                yield StoredUtterance(number, utterance, decision, by, at)

    def _scores(self, numbers: Sequence[int]) -> dict[int, dict[str, Score]]:
        """The scores of a page of utterances, in one query."""
        scores: dict[int, dict[str, Score]] = {}
        placeholders = ", ".join("?" * len(numbers))
        for number, metric, value, reason in self._db.rows(
            f"SELECT utterance, metric, value, reason FROM scores WHERE utterance IN ({placeholders}) ORDER BY metric",
            numbers,
        ):
            scores.setdefault(number, {})[metric] = Score(metric, value, reason)
        return scores


def _checked_text(number: int, text: Any) -> str:
    """A line's text; SQLite allows other types in a text column."""
    if not isinstance(text, str):
        raise InputError(f"utterance {number} is damaged: its text is none; take a copy that is whole")
    return text


def _checked_decision(decision: str) -> str:
    if decision not in DECISIONS:
        raise InputError(f"'{decision}' is no decision: choose from {', '.join(DECISIONS)}")
    return decision


def _where(
    character: str | None, decision: str | None, at: Moment | None, story: str | None = None
) -> tuple[str, list[Any]]:
    parts, parameters = ["1 = 1"], list[Any]()
    for column, value in (("character", character), ("utterances.decision", decision), ("story", story)):
        if value is not None:
            parts.append(f"{column} = ?")
            parameters.append(value)
    if at is not None:
        parts.append("since <= ? AND (? < until OR until = ?)")
        parameters += [pack_moment(at), pack_moment(at), pack_moment(Moment.end())]
    return " AND ".join(parts), parameters


# The tables of the utterance database.
#
# The first migration skips tables that exist: databases from before migrations were recorded have them.


def migrations(database: UtteranceDatabase) -> Sequence[Migration]:
    return (
        ("tables", _tables(database)),
        # Older lines are not bound to a story.
        ("stories", ("ALTER TABLE utterances ADD COLUMN story TEXT NOT NULL DEFAULT ''",)),
    )


def _tables(database: UtteranceDatabase) -> Sequence[str]:
    return (
        f"""CREATE TABLE IF NOT EXISTS utterances (
            id {database.id_type}, key TEXT NOT NULL UNIQUE, text TEXT NOT NULL, character TEXT NOT NULL,
            since TEXT NOT NULL, until TEXT NOT NULL, file TEXT NOT NULL, line BIGINT NOT NULL,
            vector {database.vector_type}, decision TEXT NOT NULL, decided_by TEXT NOT NULL,
            decided_at TEXT NOT NULL)""",
        """CREATE TABLE IF NOT EXISTS scores (
            utterance BIGINT NOT NULL REFERENCES utterances, metric TEXT NOT NULL, value DOUBLE PRECISION,
            reason TEXT NOT NULL, PRIMARY KEY (utterance, metric))""",
        f"""CREATE TABLE IF NOT EXISTS decisions (
            id {database.id_type}, utterance BIGINT NOT NULL REFERENCES utterances, decision TEXT NOT NULL,
            decided_by TEXT NOT NULL, decided_at TEXT NOT NULL, why TEXT NOT NULL)""",
        "CREATE TABLE IF NOT EXISTS runs (run TEXT PRIMARY KEY, line BIGINT NOT NULL)",
        "CREATE INDEX IF NOT EXISTS utterances_by_character ON utterances (character, decision, id)",
        "CREATE INDEX IF NOT EXISTS decisions_of_utterance ON decisions (utterance, id)",
        "DROP INDEX IF EXISTS scores_by_metric",
        "CREATE INDEX IF NOT EXISTS scores_by_value ON scores (metric, value, utterance)",
        f"CREATE INDEX IF NOT EXISTS decisions_of_people ON decisions (utterance) WHERE decided_by <> '{FILTER}'",
    )
