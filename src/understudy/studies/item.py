"""What a participant sees and answers, as plain data.

A `StudyItem` is shown as blocks of text above questions. What must not be seen (which agent wrote a reply, which of two
profiles is the right one) stands in `hidden` and never leaves the server: pages get `StudyItem.shown`. An answer is a
mapping from a question's name to its value, whose type follows from the question:

    scale       int, one of `options` as numbers            text     str
    choice      str, the key of an option                    texts    list of str
    choices     list of keys                                 table    list of {column: str}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

__all__ = ["Answer", "Block", "Option", "Problem", "Question", "ShownLine", "StudyItem", "item_from_document"]

Answer = Mapping[str, Any]
QuestionType = Literal["scale", "choice", "choices", "text", "texts", "table"]


@dataclass(frozen=True, slots=True)
class ShownLine:
    """A line of a dialogue or scene; without a speaker it is a description."""

    speaker: str | None
    text: str
    is_asked: bool = False
    """The line that the questions are about."""


@dataclass(frozen=True, slots=True)
class Block:
    """Something to read above the questions."""

    title: str
    lines: tuple[ShownLine, ...]
    is_folded: bool = False
    """Shown closed at first, such as an earlier scene to look up; several of them can be searched."""
    name: str = ""
    """By which an answer refers to it."""


@dataclass(frozen=True, slots=True)
class Option:
    key: str
    label: str


@dataclass(frozen=True, slots=True)
class Question:
    name: str
    type: QuestionType
    label: str
    options: tuple[Option, ...] = ()
    """Of `scale`: its steps, keys are numbers and labels may be blank. Of `table`: its columns."""
    is_required: bool = True
    is_shuffled: bool = False
    """The options stand in an order that is drawn for each person."""
    least: int = 0
    """Texts, choices or rows that are asked for at least."""
    most: int = 0
    """At most; 0 has no limit."""
    most_words: int = 0
    """Of a text, or of each of several; 0 has no limit."""
    help: str = ""
    about: str = ""
    """Where an item asks the same of several (its masked speakers): of which. The name begins with it and a blank."""

    @property
    def is_list_fixed(self) -> bool:
        """As many texts as are asked for, one for each of what is shown: blank ones keep their position."""
        return self.type == "texts" and 0 < self.least == self.most

    @property
    def aspect(self) -> str:
        """What is asked, whatever it is asked of."""
        return self.name.removeprefix(f"{self.about} ") if self.about else self.name


@dataclass(frozen=True, slots=True)
class StudyItem:
    """One thing to be answered, by as many people as the study says unless `people` says otherwise."""

    name: str
    """Its identity within the study; what stands before the first dot is its group (a scene, a dialogue)."""
    blocks: tuple[Block, ...]
    questions: tuple[Question, ...]
    hidden: Mapping[str, Any] = field(default_factory=dict)
    expected: Answer | None = None
    """Of an attention check: the answers of somebody who reads."""
    people: int | None = None
    after: tuple[str, ...] = ()
    """Items whose answers must be complete before this one is given to somebody, who answered none of them."""
    default: Answer | None = None
    """What is filled in when the item is first shown."""
    context: Mapping[str, Any] = field(default_factory=dict)
    """What the kind needs to check and read answers: no secret, but nothing to show either."""

    @property
    def is_check(self) -> bool:
        return self.expected is not None

    def shown(self) -> dict[str, Any]:
        """What a participant may see."""
        document = asdict(self)
        return {"blocks": document["blocks"], "questions": document["questions"]}

    def document(self) -> dict[str, Any]:
        """Everything, to be stored."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Problem:
    """Why an answer is not accepted, and what to change."""

    question: str
    message: str
    index: int | None = None
    """Which of several texts or rows."""


def item_from_document(document: Mapping[str, Any]) -> StudyItem:
    """The inverse of `StudyItem.document`, also after a passage through JSON."""
    return StudyItem(
        document["name"],
        tuple(_block(block) for block in document["blocks"]),
        tuple(_question(question) for question in document["questions"]),
        document["hidden"],
        document["expected"],
        document["people"],
        tuple(document["after"]),
        document.get("default"),
        document.get("context", {}),
    )


def _block(document: Mapping[str, Any]) -> Block:
    return Block(**{**document, "lines": tuple(ShownLine(**line) for line in document["lines"])})


def _question(document: Mapping[str, Any]) -> Question:
    return Question(**{**document, "options": _options(document["options"])})


def _options(documents: Sequence[Mapping[str, str]]) -> tuple[Option, ...]:
    return tuple(Option(**option) for option in documents)
