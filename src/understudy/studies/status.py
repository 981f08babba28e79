"""How far a study is, and how far its people agree.

The status has answers, pace, people and comments, and never who wrote what. Agreement is by question, item, person and
pair, with what the kind reports of its own. Scales are ordinal and choices nominal; written answers have no agreement
of this sort. Attention checks are left out, and so are, on demand, the people who failed one.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from string import ascii_uppercase
from typing import Any

from understudy.metrics.agreement import agreement_rows, item_disagreement, pairwise_agreement, person_agreement
from understudy.metrics.ratings import Rating, RatingTable, Scale, people_needed, rating_tables, variance_components
from understudy.studies import Study
from understudy.studies.kind import GivenAnswer
from understudy.studies.kinds import kind_of
from understudy.studies.store import StoredStudy, StudyStore

HOUR = len("2026-01-01T00")
MOST_COMMENTS = 100
MOST_ITEMS = 10
RESAMPLES_SHOWN = 1000
AGENT_KEYS = ("agent", "against", "speaker")
"""Keys of rows whose value says who wrote what was judged."""
ANSWERED = """FROM assignments JOIN items ON items.id = assignments.item
              WHERE assignments.study = ? AND answered IS NOT NULL"""
ORDINARY = f"{ANSWERED} AND is_check = 0"


@dataclass(frozen=True, slots=True)
class PersonStatus:
    code: str
    state: str
    answered: int
    failed_checks: int
    last_seen: str | None
    """To the hour, as '2026-01-01T07:00Z'."""


@dataclass(frozen=True, slots=True)
class StudyCounts:
    name: str
    title: str
    kind: str
    closed: str | None
    items: int
    complete: int
    """Items that have all the answers they need."""
    answers: int
    wanted: int


@dataclass(frozen=True, slots=True)
class StudyStatus(StudyCounts):
    people: list[PersonStatus]
    pace: list[tuple[str, int]]
    """Answers in each hour that had some, as ('2026-01-01T07', 12)."""
    seconds: float | None
    """The median time for an answer."""
    comments: list[tuple[str, str]]
    """Item and comment, the newest first."""

    def document(self) -> dict[str, Any]:
        return asdict(self)


def status_of(store: StudyStore, stored: StoredStudy) -> StudyStatus:
    """Counted by the database; only answers to attention checks are parsed."""
    with store.database.snapshot():
        rows, study = store.database.rows, (stored.id,)
        ((items, wanted),) = rows(
            "SELECT count(*), coalesce(sum(people), 0) FROM items WHERE study = ? AND is_check = 0", study
        )
        ((complete,),) = rows(
            """SELECT count(*) FROM items WHERE study = ? AND is_check = 0 AND people <= (
                   SELECT count(*) FROM assignments WHERE item = items.id AND answered IS NOT NULL)""",
            study,
        )
        ((answers,),) = rows(f"SELECT count(*) {ORDINARY}", study)
        comments = rows(
            f"""SELECT name, comment {ANSWERED} AND comment <> ''
                ORDER BY answered DESC, assignments.id DESC LIMIT {MOST_COMMENTS}""",
            study,
        )
        pace = rows(f"SELECT substr(answered, 1, {HOUR}), count(*) {ANSWERED} GROUP BY 1 ORDER BY 1", study)
        return StudyStatus(
            stored.name, stored.study.title, stored.study.kind, stored.closed, items, complete, answers, int(wanted),
            _people(store, stored), [(hour, count) for hour, count in pace], _median_seconds(store, stored),
            [(item, comment) for item, comment in comments],
        )  # fmt: skip


def _people(store: StudyStore, stored: StoredStudy) -> list[PersonStatus]:
    counts = store.database.rows(f"SELECT person, count(*) {ANSWERED} GROUP BY person", (stored.id,))
    answered: dict[int, int] = dict(counts)
    checks = [item.name for item in store.listed(stored.id) if item.is_check]
    failed = failed_checks(store.answers(stored.id, checks)) if checks else {}
    return [
        PersonStatus(
            person.code, person.state, answered.get(person.id, 0), failed.get(person.code, 0), _hour(person.seen)
        )
        for person in store.people(stored.id)
    ]


def _hour(time: str | None) -> str | None:
    """Not closer: beside the newest comments, the minute would tell who wrote them."""
    return None if time is None else f"{time[:HOUR]}:00Z"


def _median_seconds(store: StudyStore, stored: StoredStudy) -> float | None:
    timed = f"{ORDINARY} AND seconds > 0"
    ((count,),) = store.database.rows(f"SELECT count(*) {timed}", (stored.id,))
    rows = store.database.rows(f"SELECT seconds {timed} ORDER BY seconds LIMIT 1 OFFSET ?", (stored.id, count // 2))
    return float(rows[0][0]) if rows else None


@dataclass(frozen=True, slots=True)
class StudyAgreement:
    """Rows as benches have them, and what to look at again."""

    rows: list[dict[str, Any]]
    figures: list[dict[str, Any]]
    """The kind's own."""
    people: list[dict[str, Any]]
    pairs: list[dict[str, Any]]
    items: list[dict[str, Any]]

    def document(self) -> dict[str, Any]:
        return {"rows": self.rows + self.figures, "people": self.people, "pairs": self.pairs, "items": self.items}


def failed_checks(answers: Iterable[GivenAnswer]) -> dict[str, int]:
    """Person -> how many attention checks they answered otherwise than asked."""
    failed: dict[str, int] = {}
    for each in answers:
        if each.item.expected is not None:
            is_failed = any(each.answer.get(name) != value for name, value in each.item.expected.items())
            failed[each.person] = failed.get(each.person, 0) + is_failed
    return failed


def answers_that_count(answers: Sequence[GivenAnswer], attentive_only: bool = False) -> list[GivenAnswer]:
    """All but the attention checks; on demand without the people who failed one."""
    failed = failed_checks(answers) if attentive_only else {}
    return [each for each in answers if not each.item.is_check and not failed.get(each.person)]


def tables_of(answers: Sequence[GivenAnswer], is_live: bool = False) -> tuple[dict[str, RatingTable], dict[str, str]]:
    """The answers to each scale or choice, and the group of everything that was rated.

    What a question is asked of within an item is rated by itself. The two of a chat rate each other, and so do not rate
    the same.
    """
    ratings = []
    groups: dict[str, str] = {}
    options: dict[str, dict[str, None]] = {}
    types: dict[str, str] = {}
    for each in answers:
        for question in each.item.questions:
            if question.type not in ("scale", "choice"):
                continue
            types[question.aspect] = question.type
            # Items may have options of their own (the speakers of a scene): the scale has those of all of them.
            options.setdefault(question.aspect, {}).update(dict.fromkeys(option.key for option in question.options))
            rated = f"{each.item.name} {each.person if is_live else question.about}".rstrip()
            groups[rated] = each.item.name.partition(".")[0]
            ratings.append(Rating(rated, each.person, question.aspect, each.answer.get(question.name)))
    scales = {name: _scale(types[name], list(keys)) for name, keys in options.items()}
    return rating_tables(ratings, scales), groups


def rows_of(study: Study, answers: Sequence[GivenAnswer]) -> list[dict[str, Any]]:
    """The agreement on each question alone."""
    tables, groups = tables_of(answers_that_count(answers), kind_of(study.kind).is_live)
    return agreement_rows(tables, groups, study.seed, RESAMPLES_SHOWN)


def agreement_of(
    study: Study,
    answers: Sequence[GivenAnswer],
    attentive_only: bool = False,
    unblinded: bool = False,
    width: float = 0.1,
) -> StudyAgreement:
    """Agents stand under letters unless `unblinded`. `width` is that of the interval for which people are counted, as a
    share of the scale."""
    counted = answers_that_count(answers, attentive_only)
    kind = kind_of(study.kind)
    tables, groups = tables_of(counted, kind.is_live)
    figures = kind.figures(study, counted) if kind.figures is not None and counted else []
    return StudyAgreement(
        agreement_rows(tables, groups, study.seed, RESAMPLES_SHOWN) + _people_needed(tables, width),
        figures if unblinded else _blinded(figures, study.seed),
        [
            {"question": question, "person": person, **estimate.row()}
            for question, table in tables.items()
            for person, estimate in person_agreement(table, study.seed, RESAMPLES_SHOWN).items()
        ],
        [
            {"question": question, "people": [first, second], "agreement": value, "items": shared}
            for question, table in tables.items()
            for first, second, value, shared in pairwise_agreement(table).pairs()
        ],
        [
            {"question": question, "item": score.name, "disagreement": score.value, "answers": score.reason}
            for question, table in tables.items()
            for score in item_disagreement(table)[:MOST_ITEMS]
            if score.value
        ],
    )


def _blinded(rows: list[dict[str, Any]], seed: int) -> list[dict[str, Any]]:
    """Rows with letters for the agents they are about, and without the paper's figures, which would tell them."""
    names = sorted({row[key] for row in rows for key in AGENT_KEYS if isinstance(row.get(key), str)})
    random.Random(f"{seed} letters").shuffle(names)  # noqa: S311
    letters = {name: f"agent {_letters(number)}" for number, name in enumerate(names)}
    blinded = [
        {
            key: letters.get(value, value) if key in AGENT_KEYS else None if key == "paper" and names else value
            for key, value in row.items()
        }
        for row in rows
    ]
    return sorted(blinded, key=lambda row: [str(row.get(key, "")) for key in AGENT_KEYS])


def _letters(number: int) -> str:
    """A, B, ..., Z, AA, AB, ..."""
    head, last = divmod(number, len(ascii_uppercase))
    return (_letters(head - 1) if head else "") + ascii_uppercase[last]


def _scale(question_type: str, keys: Sequence[str]) -> Scale:
    if question_type == "scale":
        return Scale("ordinal", tuple(sorted(int(key) for key in keys)))
    return Scale("nominal", tuple(keys))


def _people_needed(tables: dict[str, RatingTable], width: float) -> list[dict[str, Any]]:
    """How many people an item needs for a mean (of two choices: a share) whose 95% interval is `width` of the scale."""
    rows = []
    for question, table in tables.items():
        measured = _as_numbers(table)
        if measured is None or len(table.items) < 2 or table.counts.sum(axis=1).max() < 2:
            continue
        values = [float(value) for value in measured.scale.values]
        wanted = (max(values) - min(values)) * width
        score = people_needed(variance_components(measured), len(table.items), wanted)
        row = {"question": question, "metric": "people_needed", "value": score.value, "low": None, "high": None}
        rows.append({**row, "n": len(table.items), "paper": None, "width": wanted, "reason": score.reason})
    return rows


def _as_numbers(table: RatingTable) -> RatingTable | None:
    """A table whose answers have a mean; of two choices the share of the second."""
    if table.scale.level == "ordinal":
        return table
    return replace(table, scale=Scale("interval", (0.0, 1.0))) if len(table.scale.values) == 2 else None
