"""What a participant does: agree, answer, take back, withdraw. Each step is one transaction and says what is next."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from understudy.errors import InputError, UnderstudyError
from understudy.studies.assignment import (
    AssignedItems,
    PersonProgress,
    assign_next,
    assigned_to,
    has_seat,
    is_to_come,
    progress_of,
)
from understudy.studies.chatting import asked_after, finished_chat
from understudy.studies.item import Problem, StudyItem, answer_problems, shaped
from understudy.studies.kinds import kind_of
from understudy.studies.store import ENDED, INVITED, PERSONAL_TABLES, Participant, StoredStudy, StudyStore, now

CONSENT, ITEM, CHAT, WAITING, DONE, CLOSED = "consent", "item", "chat", "waiting", "done", "closed"
LONGEST_ASKED = 500
LONGEST_COMMENT = 5_000
LONGEST_S = 24 * 3600.0


class AnswerRefused(UnderstudyError):
    """An answer that is not accepted, with everything that is wrong with it."""

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = problems
        super().__init__("; ".join(problem.message for problem in problems))


@dataclass(frozen=True, slots=True)
class View:
    """What a participant sees now."""

    stored: StoredStudy
    state: str
    progress: PersonProgress
    can_undo: bool = False
    assignment: int | None = None
    item: StudyItem | None = None
    draft: Mapping[str, Any] | None = None
    comment: str = ""

    def document(self) -> dict[str, Any]:
        study = self.stored.study
        texts = ("kind", "title", "instructions", "example", "consent", "ask", "comments")
        return {
            "study": {name: getattr(study, name) for name in texts},
            "state": self.state,
            "assignment": self.assignment,
            "item": None if self.item is None else self.item.shown(),
            "draft": self.draft,
            "comment": self.comment,
            "progress": asdict(self.progress),
            "can_undo": self.can_undo,
        }


def view(store: StudyStore, token: str) -> View:
    """Where a person stands; gives them an item if they have none."""
    with store.transaction():
        person, stored = store.participant(token)
        return _view(store, stored, person)


def give_consent(store: StudyStore, token: str, asked: Mapping[str, str]) -> View:
    with store.transaction():
        person, stored = store.participant(token)
        if stored.closed or person.state == ENDED:
            return _view(store, stored, person)
        answers = {question: str(asked.get(question, "")).strip() for question in stored.study.ask}
        for question, text in answers.items():
            if not text or len(text) > LONGEST_ASKED:
                raise AnswerRefused([Problem(question, f"write an answer of at most {LONGEST_ASKED} letters")])
        store.activate(person, answers)
        return _view(store, stored, store.person(token))


def check_answer(store: StudyStore, token: str, assignment: int, answer: Any) -> list[Problem]:
    """What is wrong with an answer that is still being written."""
    person, stored = store.participant(token)
    item = _prepared(store, stored, _held(store, person, assignment)[0])
    return _checked(stored, item, answer, is_final=False)[1]


def _checked(
    stored: StoredStudy, item: StudyItem, answer: Any, is_final: bool = True
) -> tuple[dict[str, Any], list[Problem]]:
    """The values of an answer, and everything that is wrong with it."""
    values, problems = shaped(item, answer)
    own = kind_of(stored.study.kind).problems(item, values)
    return values, problems + answer_problems(item, values, is_final) + own


def give_answer(
    store: StudyStore, token: str, assignment: int, answer: Any, comment: str = "", seconds: float = 0.0
) -> View:
    """Store an answer. The same answer sent again, because the response was lost, counts once."""
    with store.transaction():
        person, stored = store.participant(token)
        if person.state == ENDED or stored.closed:
            raise InputError("this study is over: no more answers are taken")
        number, answered, before = _held(store, person, assignment)
        if answered is None and kind_of(stored.study.kind).is_live and finished_chat(store, person) is None:
            raise InputError("the chat is not over yet: reload the page")
        values, problems = _checked(stored, _prepared(store, stored, number), answer)
        if problems:
            raise AnswerRefused(problems)
        document = json.dumps(values, ensure_ascii=False, sort_keys=True)
        if answered is None:
            store.database.rows(
                "UPDATE assignments SET answered = ?, answer = ?, comment = ?, seconds = ? WHERE id = ?",
                (now(), document, comment.strip()[:LONGEST_COMMENT], min(max(seconds, 0.0), LONGEST_S), assignment),
            )
        elif before != document:
            raise InputError("this item was answered already: take the answer back first to change it")
        return _view(store, stored, person)


def take_back(store: StudyStore, token: str) -> View:
    """Open a person's last answer again, filled in as it was."""
    with store.transaction():
        person, stored = store.participant(token)
        assigned = assigned_to(store, person)
        if assigned.open is not None and assigned.open.draft is not None:
            return _view(store, stored, person)  # it was taken back, and the response was lost
        last, is_chat = assigned.last, kind_of(stored.study.kind).is_live
        if last is None or is_chat or person.state == ENDED or stored.closed:
            raise InputError("there is no answer to take back")
        # What was open meanwhile goes back to the others: a person has one item at a time.
        store.database.rows("DELETE FROM assignments WHERE person = ? AND answered IS NULL", (person.id,))
        store.database.rows("UPDATE assignments SET answered = NULL, given = ? WHERE id = ?", (now(), last))
        return _view(store, stored, person)


def withdraw(store: StudyStore, token: str) -> None:
    """Delete a person and everything they gave."""
    with store.transaction():
        store.delete_person(store.person(token))
    store.database.erase_deleted(PERSONAL_TABLES)


def _view(store: StudyStore, stored: StoredStudy, person: Participant) -> View:
    assigned = assigned_to(store, person)
    progress = progress_of(store, stored, assigned)
    can_undo = assigned.last is not None
    if stored.closed or person.state == ENDED:
        return View(stored, CLOSED, progress)
    if person.state == INVITED:
        return View(stored, CONSENT, progress)
    store.database.rows("UPDATE people SET seen = ? WHERE id = ?", (now(), person.id))
    if kind_of(stored.study.kind).is_live:
        return _view_of_chat(store, stored, person, progress, assigned)
    assignment = assign_next(store, stored, person, assigned)
    if assignment is None:
        return View(stored, WAITING if is_to_come(store, stored, assigned) else DONE, progress, can_undo)
    item = _in_order(_prepared(store, stored, assignment.item), stored, person)
    draft = item.default if assignment.draft is None else json.loads(assignment.draft)
    return View(stored, ITEM, progress, can_undo, assignment.id, item, draft, assignment.comment)


def _view_of_chat(
    store: StudyStore, stored: StoredStudy, person: Participant, progress: PersonProgress, assigned: AssignedItems
) -> View:
    """The chat page, or what is asked after a chat that is over."""
    if (finished := finished_chat(store, person)) is None:
        is_done = assigned.open is None and (
            progress.answered >= stored.study.items_per_person or not has_seat(store, stored, person)
        )
        return View(stored, DONE if is_done else CHAT, progress)
    assignment, chat = finished
    item = asked_after(store.item(assignment.item), chat)
    return View(stored, ITEM, progress, False, assignment.id, _in_order(item, stored, person))


def _in_order(item: StudyItem, stored: StoredStudy, person: Participant) -> StudyItem:
    """An item with its options in the person's order."""
    questions = []
    for question in item.questions:
        if question.is_shuffled:
            options = list(question.options)
            random.Random(f"{stored.study.seed} {person.code} {item.name} {question.name}").shuffle(options)  # noqa: S311
            question = replace(question, options=tuple(options))
        questions.append(question)
    return replace(item, questions=tuple(questions))


def _prepared(store: StudyStore, stored: StoredStudy, number: int) -> StudyItem:
    item = store.item(number)
    if not item.after:
        return item
    answers = store.answers(stored.id, item.after)
    return kind_of(stored.study.kind).prepared(
        item, {name: [each for each in answers if each.item.name == name] for name in item.after}
    )


def _held(store: StudyStore, person: Participant, assignment: int) -> tuple[int, str | None, str | None]:
    """The item of an assignment, when it was answered, and the answer; it must be the person's."""
    rows = store.database.rows(
        "SELECT item, answered, answer FROM assignments WHERE id = ? AND person = ?", (assignment, person.id)
    )
    if not rows:
        raise InputError("this item is not yours any more: reload the page for the next one")
    item, answered, answer = rows[0]
    return item, answered, answer
