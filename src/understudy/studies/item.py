"""What a participant sees and answers, as plain data, and whether what they write is accepted.

A `StudyItem` is shown as blocks of text above questions. What must not be seen (which agent wrote a reply, which of two
profiles is the right one) stands in `hidden` and never leaves the server: pages get `StudyItem.shown`. An answer is a
mapping from a question's name to its value, whose type follows from the question:

    scale       int, one of `options` as numbers            text     str
    choice      str, the key of an option                    texts    list of str
    choices     list of keys                                 table    list of {column: str}

An answer must have the shape of its question, then obey what the question and the kind of study demand. A message of a
chat has at most `most_words` words, and repeats neither a run of RUN words of the speaker's profile nor a whole
sentence of it, however short. PersonaChat refused messages that match the profile letter by letter; taking runs of
words, a copy with another ending is refused as well.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from understudy.errors import MissingExtra
from understudy.text import guess_language, words

LONGEST_TEXT = 10_000
MOST_TEXTS = 500
LETTERS_PER_WORD = 2  # of Japanese and Chinese, about, where their tokenizer is not installed
RUN = 4
SHORTEST = 2
MESSAGE = "message"
SENTENCE_ENDS = ".!?。！？"
CLAUSE_ENDS = ",;:、，；："
PIECE = re.compile(r"\s*(?:[^\s\u3040-\u30ff\u4e00-\u9fff]+|\S)")

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


def shaped(item: StudyItem, answer: Any) -> tuple[dict[str, Any], list[Problem]]:
    """The values of an answer that are of their question's type, and a problem for each that is not.

    What is blank is left out. Names of questions that the item does not have are problems too.
    """
    if not isinstance(answer, Mapping):
        return {}, [Problem("", "the answer is no object of questions and values")]
    questions = {question.name: question for question in item.questions}
    values: dict[str, Any] = {}
    problems = []
    for name, value in answer.items():
        if name not in questions:
            problems.append(Problem(str(name), "there is no such question here: reload the page"))
        elif value is None or value in ("", []):
            continue
        elif not _has_shape(questions[name], value):
            problems.append(Problem(name, "this is not an answer to this question: choose or write again"))
        else:
            values[name] = value
    return values, problems


def answer_problems(item: StudyItem, answer: Answer, is_final: bool = True) -> list[Problem]:
    """Why an answer of the right shape is not accepted, whatever the kind of study asks; while it is still being
    written, nothing is missing."""
    problems: list[Problem] = []
    for question in item.questions:
        value = answer.get(question.name)
        if value is None:
            if is_final and question.is_required:
                problems.append(Problem(question.name, _missing(question)))
            continue
        problems += _value_problems(question, value, is_final)
    return problems


def _has_shape(question: Question, value: Any) -> bool:
    keys = {option.key for option in question.options}
    if question.type == "scale":
        return isinstance(value, int) and not isinstance(value, bool) and str(value) in keys
    if question.type == "choice":
        return isinstance(value, str) and value in keys
    if question.type == "text":
        return isinstance(value, str) and len(value) <= LONGEST_TEXT
    if not isinstance(value, Sequence) or isinstance(value, str) or len(value) > MOST_TEXTS:
        return False
    if question.type == "choices":
        return all(isinstance(key, str) and key in keys for key in value) and len(set(value)) == len(value)
    if question.type == "texts":
        return all(isinstance(text, str) and len(text) <= LONGEST_TEXT for text in value)
    return all(_is_row(row, keys) for row in value)


def _is_row(row: Any, columns: set[str]) -> bool:
    return isinstance(row, Mapping) and all(
        key in columns and isinstance(cell, str) and len(cell) <= LONGEST_TEXT for key, cell in row.items()
    )


def _missing(question: Question) -> str:
    return "write an answer" if question.type in ("text", "texts", "table") else "choose an answer"


def _value_problems(question: Question, value: Any, is_final: bool) -> list[Problem]:
    problems = []
    if question.type in ("text", "texts") and question.most_words:
        texts = [value] if question.type == "text" else value
        for index, text in enumerate(texts):
            if (words := count_words(text)) > question.most_words:
                message = f"{words} words, and {question.most_words} are allowed: make it shorter"
                problems.append(Problem(question.name, message, None if question.type == "text" else index))
    if question.type in ("choices", "texts", "table"):
        count = sum(1 for each in value if not isinstance(each, str) or each.strip())
        if question.is_list_fixed and len(value) > question.most:
            count = len(value)  # a blank one among them moves what follows away from what it answers
        what = {"choices": "choices", "texts": "sentences", "table": "rows"}[question.type]
        if is_final and count < question.least:
            problems.append(Problem(question.name, f"{count} of at least {question.least} {what}: add some"))
        if question.most and count > question.most:
            problems.append(Problem(question.name, f"{count} {what}, and {question.most} are allowed: remove some"))
    return problems


def message_problems(text: str, profile: Sequence[str], most_words: int, language: str) -> list[Problem]:
    count = count_words(text)
    if not text.strip():
        return [Problem(MESSAGE, "write something")]
    problems = []
    if count > most_words:
        problems.append(Problem(MESSAGE, f"{count} words, and {most_words} are allowed: make it shorter"))
    if copied := copied_words(text, profile, language):
        problems.append(Problem(MESSAGE, f"'{copied}' is copied from your character: say it in your own words"))
    return problems


def copied_words(text: str, profile: Sequence[str], language: str) -> str:
    """The first run of words that a text has from a profile; blank if there is none."""
    said = words(text, language)
    for sentence in profile:
        own = words(sentence, language)
        length = min(len(own), RUN)
        if length < SHORTEST:
            continue
        runs = {tuple(own[at : at + length]) for at in range(len(own) - length + 1)}
        for at in range(len(said) - length + 1):
            if tuple(said[at : at + length]) in runs:
                return " ".join(said[at : at + length])
    return ""


def shortened(text: str, most_words: int) -> str:
    """An agent's reply within the rules: the sentences of it that fit, or else the clauses, or else its first words."""
    if count_words(text) <= most_words:
        return text.strip()
    taken = ""
    for piece in PIECE.findall(text):  # a word, or a letter of a script without blanks
        if count_words(taken + piece) > most_words:
            break
        taken += piece
    for ends in (SENTENCE_ENDS, CLAUSE_ENDS):
        last = max(taken.rfind(mark) for mark in ends)
        if last > 0:
            return taken[: last + 1].rstrip(CLAUSE_ENDS).strip()
    return taken.strip()


def count_words(text: str) -> int:
    """Words between blanks; of Japanese and Chinese those of the tokenizer."""
    language = guess_language(text) if text.strip() else "en"
    if language == "en":
        return len(text.split())
    try:
        return len(words(text, language))
    except MissingExtra:
        return -(-sum(not letter.isspace() for letter in text) // LETTERS_PER_WORD)
