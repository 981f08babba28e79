"""What several annotators say of a chapter, laid side by side for the one who integrates it.

Rows that all of them have are filled in. Rows that only some have are filled in as well, marked with who said so
(annotator A, B, C); the integrator takes such a row by emptying its mark, or deletes it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from understudy.studies.annotations.rows import AnnotatedChapter, AnnotatedRow, claims_of
from understudy.studies.item import Answer, Block, Said

__all__ = ["ALL", "BY", "differences", "integrated_draft", "is_undecided", "majority"]

BY = "by"
ALL = "all"
NOTHING = "nothing"


class _Sayings:
    """The claims of all annotators about one table of a chapter, and who made each."""

    def __init__(self, table: str, answers: Sequence[Answer], chapter: AnnotatedChapter) -> None:
        self.letters = [chr(ord("A") + number) for number in range(len(answers))]
        self.claims: dict[tuple[object, ...], AnnotatedRow] = {}
        self.by: dict[tuple[object, ...], list[str]] = {}
        for letter, answer in zip(self.letters, answers):
            for claim in claims_of(table, answer, chapter):
                self.claims.setdefault(claim.key, claim)
                self.by.setdefault(claim.key, []).append(letter)

    def in_order(self) -> list[tuple[AnnotatedRow, list[str]]]:
        """Claims about the same subject together."""
        pairs = [(claim, self.by[key]) for key, claim in self.claims.items()]
        return sorted(pairs, key=lambda pair: (pair[0].subject, sorted(pair[0].row().items())))


def integrated_draft(tables: Sequence[str], answers: Sequence[Answer], chapter: AnnotatedChapter) -> dict[str, Any]:
    """The tables as the integrator finds them."""
    draft: dict[str, Any] = {}
    for table in tables:
        said = _Sayings(table, answers, chapter)
        rows = [{**claim.row(), BY: ALL if len(by) == len(answers) else ", ".join(by)} for claim, by in said.in_order()]
        if rows:
            draft[table] = rows
    return draft


def is_undecided(row: Mapping[str, str]) -> bool:
    return row.get(BY, "").strip() not in ("", ALL)


def differences(table: str, answers: Sequence[Answer], chapter: AnnotatedChapter) -> Block | None:
    """A line for each subject on which annotators differ: what each of them says of it."""
    said = _Sayings(table, answers, chapter)
    differing = dict.fromkeys(claim.subject for claim, by in said.in_order() if len(by) < len(answers))
    lines = []
    for subject in differing:
        views = [
            "; ".join(_short(claim) for claim, by in said.in_order() if claim.subject == subject and letter in by)
            for letter in said.letters
        ]
        text = " | ".join(f"{letter}: {view or NOTHING}" for letter, view in zip(said.letters, views))
        lines.append(Said(None, f"{subject}. {text}"))
    return Block(f"Where the annotators differ: {table}", tuple(lines)) if lines else None


def _short(claim: AnnotatedRow) -> str:
    """A claim without its subject."""
    row = claim.row()
    if "first" in row:
        return ", ".join(filter(None, (row["setting"], row["present"]))) or "a scene"
    return f"{row.get('value') or row.get('level') or 'yes'} from {row['from']}"


def majority(table: str, answers: Sequence[Answer], chapter: AnnotatedChapter) -> list[AnnotatedRow]:
    """What more than half of the annotators say, in the order in which it was first said."""
    said = _Sayings(table, answers, chapter)
    return [claim for key, claim in said.claims.items() if 2 * len(said.by[key]) > len(answers)]
