"""The answers of a study as a file, such a file beside automatic measures, and answers of made-up people.

    jsonl          an object an answer: {"study", "item", "person", "answer", "comment", "seconds", "answered",
                   "is_check", "asked"}; "asked" is what the person said of themselves where the study asks, and with
                   `unblinded` "hidden" what participants must not know (which agent wrote it)
    csv            the same as a table, with a column for each question, and 'asked: Age' for what people were asked of
                   themselves; what is no single value is JSON in its cell
    label-studio   a list of tasks with their annotations, as Label Studio imports it

A person is a code. `study results --unblind` is logged in the study's database.

What people answered is correlated with measures item by item: of the lines of a jsonl file, a rating on a scale is the
mean over people; a choice is, for each option, the share of people who chose it (of two options, the first in order of
their names). Checks are left out. Measures are a JSON document in one of four forms, joined by the items' names:

    {"items": [{"judged": {...}, "names": [...], "ranks": [...], "marks": {...}}]}    what benches write with --items
    {"lines": [{"line": 1, "scores": {"psprob": 0.3, ...}}]}       what `score --json` says of 'line 1' and the others
    {"psprob": {"line 1": 0.3, ...}, ...}                                            several measures by name
    {"line 1": 0.3, ...}                                                             a single one

Rows hold r_s (`metrics.ratings`) of each measure with each question; intervals draw groups of items (what stands
before the first dot of a name), p values are adjusted after Holm over all rows.
"""

from __future__ import annotations

import csv
import io
import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from understudy.errors import InputError
from understudy.metrics.ratings import Correlation, correlations
from understudy.metrics.statistics import holm
from understudy.progress import Progress, ignore_progress
from understudy.sources.jsonstream import json_lines
from understudy.sources.source import SourceFile
from understudy.story.dialogue import Reply, Situation, Turn
from understudy.story.storyfile.toml_tables import replace_text
from understudy.studies import Study
from understudy.studies.chatting import ChatView, chat_view, owed_reply, reply_as_agent, say, with_transcripts
from understudy.studies.item import Question, StudyItem
from understudy.studies.kind import GivenAnswer, answers_by
from understudy.studies.kinds import kind_of
from understudy.studies.participation import give_answer, give_consent, view
from understudy.studies.store import StoredStudy, StudyStore

SUFFIXES = {".jsonl": "jsonl", ".csv": "csv", ".json": "label-studio"}
Asked = Mapping[str, Mapping[str, str]]
"""By person: what they said of themselves, by question."""
ABOUT = ("study", "item", "person", "answered", "seconds", "is_check", "comment")


def answers_of(store: StudyStore, stored: StoredStudy) -> list[GivenAnswer]:
    """The answers of a study in the order they came; those of a chat study with what was said."""
    answers = store.answers(stored.id)
    return with_transcripts(store, stored.id, answers) if kind_of(stored.study.kind).is_live else answers


def result_rows(
    stored: StoredStudy, answers: Sequence[GivenAnswer], asked: Asked, unblinded: bool = False
) -> list[dict[str, Any]]:
    rows = []
    for each in answers:
        row: dict[str, Any] = {
            "study": stored.name, "item": each.item.name, "person": each.person, "answer": dict(each.answer),
            "comment": each.comment, "seconds": each.seconds, "answered": each.answered,
            "is_check": each.item.is_check, "asked": dict(asked.get(each.person, {})),
        }  # fmt: skip
        rows.append({**row, "hidden": dict(each.item.hidden)} if unblinded else row)
    return rows


def format_for(path: Path, name: str | None, kind: str) -> str:
    """The format that was named, or that of the file's ending."""
    formats = (*FORMATS, *kind_of(kind).outputs)
    if name is None:
        name = SUFFIXES.get(path.suffix, "")
    if name not in formats:
        raise InputError(f"say which format to write with --format: {', '.join(formats)}", path)
    return name


def write_results(
    path: Path,
    format_name: str,
    stored: StoredStudy,
    answers: Sequence[GivenAnswer],
    asked: Asked,
    unblinded: bool = False,
) -> None:
    kind = kind_of(stored.study.kind)
    if format_name in kind.unblinding and not unblinded:
        raise InputError(f"the format {format_name} says which agent wrote what: add --unblind, which is logged", path)
    if format_name in kind.outputs:
        kind.outputs[format_name](stored.study, [each for each in answers if not each.item.is_check], path)
    else:
        replace_text(path, FORMATS[format_name](stored, answers, asked, unblinded))


def _json_lines(stored: StoredStudy, answers: Sequence[GivenAnswer], asked: Asked, unblinded: bool) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in result_rows(stored, answers, asked, unblinded))


def _table(stored: StoredStudy, answers: Sequence[GivenAnswer], asked: Asked, unblinded: bool) -> str:
    questions = list(dict.fromkeys(question.name for each in answers for question in each.item.questions))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    of_people = list(dict.fromkeys(question for each in answers for question in asked.get(each.person, ())))
    writer.writerow(
        [*ABOUT, *questions, *(f"asked: {question}" for question in of_people), *(["hidden"] if unblinded else [])]
    )
    for row in result_rows(stored, answers, asked, unblinded):
        cells = [_cell(row["answer"].get(name)) for name in questions]
        said = [_cell(row["asked"].get(question)) for question in of_people]
        hidden = [_cell(row["hidden"])] if unblinded else []
        writer.writerow([*(_cell(row[key]) for key in ABOUT), *cells, *said, *hidden])
    return text.getvalue()


def _cell(value: object) -> str:
    """A value as a cell; a spreadsheet must not take what people wrote for a formula."""
    text = "" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"'{text}" if isinstance(value, str) and text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


def _label_studio(stored: StoredStudy, answers: Sequence[GivenAnswer], _: Asked, unblinded: bool) -> str:
    people = {code: number for number, code in enumerate(dict.fromkeys(each.person for each in answers), 1)}
    tasks = []
    for number, (name, of_item) in enumerate(answers_by(lambda each: each.item.name, answers).items(), 1):
        item = of_item[0].item
        data: dict[str, Any] = {"study": stored.name, "item": name, "text": _text_of(item)}
        if unblinded:
            data["hidden"] = dict(item.hidden)
        annotations = list[dict[str, Any]]()
        for each in of_item:
            answered = [question for question in item.questions if question.name in each.answer]
            about = {"completed_by": people[each.person], "created_at": each.answered, "lead_time": each.seconds}
            annotations.append(
                {**about, "result": [_label_result(question, each.answer[question.name]) for question in answered]}
            )
        tasks.append({"id": number, "data": data, "annotations": annotations})
    return json.dumps(tasks, ensure_ascii=False, indent=1) + "\n"


def _label_result(question: Question, value: Any) -> dict[str, Any]:
    result: dict[str, Any] = {"from_name": question.name, "to_name": "text"}
    if question.type == "scale":
        return {**result, "type": "rating", "value": {"rating": value}}
    if question.type in ("choice", "choices"):
        return {**result, "type": "choices", "value": {"choices": [value] if isinstance(value, str) else value}}
    texts = (
        [value] if isinstance(value, str) else [each if isinstance(each, str) else json.dumps(each) for each in value]
    )
    return {**result, "type": "textarea", "value": {"text": texts}}


def _text_of(item: StudyItem) -> str:
    lines = []
    for block in item.blocks:
        lines.append(block.title)
        lines += [f"{said.speaker}: {said.text}" if said.speaker else said.text for said in block.lines]
    return "\n".join(lines)


FORMATS: Mapping[str, Callable[[StoredStudy, Sequence[GivenAnswer], Asked, bool], str]] = {
    "jsonl": _json_lines,
    "csv": _table,
    "label-studio": _label_studio,
}


# A crowd of made-up participants, to try a study before people are paid for it.
#
# They go the way of real ones: each has a link, agrees, is given items and answers them, until nothing is left for
# them. Their answers are the kind's `simulate` at a given skill, and stand in a database of their own, never beside
# people's. In a chat nobody is kept waiting, and agents say what made-up people say.

SAID = ("Hello, how are you?", "That sounds nice.", "What do you do all day?", "I have never tried.", "Tell me more.")
DELAYS = ("arrives_s", "writes_s")
MOST_WAITS = 50
"""Times that a made-up person looks for a partner's message in vain before they leave: nobody else is there."""


def simulate_crowd(
    store: StudyStore,
    name: str,
    study: Study,
    items: Sequence[StudyItem],
    people: int,
    skill: float,
    progress: Progress = ignore_progress,
) -> None:
    """Open the study in an empty store and let `people` of one skill answer it."""
    store.add_study(name, study, [_without_delays(item) for item in items])
    tokens = store.invite(name, people)
    for token in tokens:
        give_consent(store, token, dict.fromkeys(study.ask, "made up"))
    crowd = [_MadeUp(store, study, token, skill, f"{study.seed} {number}") for number, token in enumerate(tokens)]
    left = list(crowd)
    while left:  # in turns, since those of a chat wait for each other
        left = [person for person in left if person.step()]
        progress("People", people - len(left), people)


def _without_delays(item: StudyItem) -> StudyItem:
    return replace(item, hidden={key: [0, 0] if key in DELAYS else value for key, value in item.hidden.items()})


class _MadeUp:
    """One made-up participant, and the agents it talks with."""

    def __init__(self, store: StudyStore, study: Study, token: str, skill: float, seed: str) -> None:
        self._store, self._token, self._skill = store, token, skill
        self._kind = kind_of(study.kind)
        self._rng = random.Random(seed)  # noqa: S311
        self._waits = 0

    def step(self) -> bool:
        """Do one thing; False where nothing is left to do."""
        shown = view(self._store, self._token)
        if shown.state == "chat":
            return self._talk()
        if shown.item is None or shown.assignment is None:
            return False
        simulate = _to_check if shown.item.is_check else self._kind.simulate
        answer = simulate(shown.item, self._skill, self._rng)
        give_answer(self._store, self._token, shown.assignment, answer, seconds=self._rng.uniform(5, 60))
        return True

    def _talk(self) -> bool:
        chat = chat_view(self._store, self._token)
        if chat.item is None:
            return False
        self._waits += 1
        if chat.turn == "mine":
            said = say(self._store, self._token, self._rng.choice(SAID), f"{chat.item} {len(chat.messages)}")
            self._waits = 0 if isinstance(said, ChatView) else self._waits  # what breaks a rule is not said
        elif owed := owed_reply(self._store, self._token):
            reply_as_agent(self._store, owed[0], self)
        return self._waits < MOST_WAITS

    def reply(self, situation: Situation, history: Sequence[Turn]) -> Reply:  # noqa: ARG002
        """What an agent says that this person talks with."""
        return Reply(self._rng.choice(SAID))


def _to_check(item: StudyItem, skill: float, rng: random.Random) -> dict[str, Any]:
    """The answer to an attention check: as asked, or anything."""
    if item.expected is not None and rng.random() < skill:
        return dict(item.expected)
    return {
        question.name: int(chosen.key) if question.type == "scale" else chosen.key
        for question in item.questions
        for chosen in [rng.choice(question.options)]
    }


Values = dict[str, float]
"""By the names of items."""
ALONE = "measure"
RANK = "rank"
SHUFFLES = 100_000  # after Holm p can still be below .001 for 99 rows


def correlate(
    results: Path, measures: Path, measure: str | None = None, question: str | None = None, seed: int = 0
) -> dict[str, Any]:
    """Rows for each question and measure, or for those that are named; and how many items each file has alone."""
    people = _named(read_people_scores(results), question, "question", results)
    values = _named(read_measures(measures), measure, "measure", measures)
    judged = {item for scores in people.values() for item in scores}
    measured = {item for of_items in values.values() for item in of_items}
    if not judged & measured:
        raise InputError(
            f"shares no item with {results.name}: names are like '{min(judged)}' there, like '{min(measured)}' here",
            measures,
        )
    by_pair: dict[tuple[str, str], Correlation] = {}
    for asked, scores in people.items():
        items = [item for item in scores if item in measured]
        if not items:
            continue
        columns = {
            name: np.array([of_items.get(item, np.nan) for item in items], dtype=np.float64)
            for name, of_items in values.items()
        }
        groups = [item.partition(".")[0] for item in items]
        own = correlations(columns, np.array([scores[item] for item in items]), groups, seed, SHUFFLES)
        by_pair |= {(asked, name): correlation for name, correlation in own.items()}
    rows = [{"question": asked, "measure": name, **each.row()} for (asked, name), each in by_pair.items()]
    tested = [row for row in rows if "p" in row]
    for row, adjusted in zip(tested, holm([row["p"] for row in tested])):
        row["p_adjusted"] = adjusted
    return {"rows": rows, "only_answered": len(judged - measured), "only_measured": len(measured - judged)}


def _named(columns: Mapping[str, Values], name: str | None, what: str, path: Path) -> Mapping[str, Values]:
    """All, or those that are called so: in full, or by one of the words between commas."""
    chosen = {key: values for key, values in columns.items() if name in (None, key, *key.split(", "))}
    if not chosen:
        raise InputError(f"has no {what} '{name}': it has {'; '.join(columns)}", path)
    return chosen


def read_people_scores(path: Path) -> dict[str, Values]:
    """By question (and option, of a choice): the mean over people for each item."""
    answers: dict[str, dict[str, list[Any]]] = {}
    source = SourceFile(path)
    for location, record in json_lines(source):
        match record:
            case {"item": str(item), "answer": dict(answer)}:
                pass
            case _:
                raise source.error(
                    "should be an object with item and answer: write the file with `study results -o FILE.jsonl`",
                    location.line,
                )
        if not record.get("is_check"):
            for question, value in answer.items():
                if isinstance(value, int | float | str):
                    answers.setdefault(question, {}).setdefault(item, []).append(value)
    scores = {key: values for question, by_item in answers.items() for key, values in _scores(question, by_item)}
    if not scores:
        raise source.error("holds no rating and no choice to go by")
    return scores


def _scores(question: str, by_item: Mapping[str, Sequence[Any]]) -> Iterator[tuple[str, Values]]:
    answers = {value for values in by_item.values() for value in values}
    if not any(isinstance(value, str) for value in answers):
        yield question, {item: float(np.mean(values)) for item, values in by_item.items()}
        return
    options = sorted(map(str, answers))
    if len(options) > len(by_item):
        return  # texts of their own rather than options
    for option in options[:1] if len(options) == 2 else options:
        yield f"{question}, {option}", {item: values.count(option) / len(values) for item, values in by_item.items()}


def read_measures(path: Path) -> dict[str, Values]:
    """Each measure's value of each item that has one."""
    try:
        document = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be read as JSON ({error})", path) from error
    match document:
        case {"items": [*records]}:
            measures = dict(pair for record in records for pair in _of_bench(record, path))
        case {"lines": [*lines]}:
            measures = _of_lines(lines, path)
        case dict() if document and all(isinstance(value, dict) for value in document.values()):
            measures = {name: _numbers(values, path) for name, values in document.items()}
        case dict() if document:
            measures = {ALONE: _numbers(document, path)}
        case _:
            measures = {}
    measures = {name: values for name, values in measures.items() if values}
    if not measures:
        raise InputError("holds no measure: save one with a bench's --items, or write {measure: {item: value}}", path)
    return measures


def _of_bench(record: Any, path: Path) -> Iterator[tuple[str, Values]]:
    match record:
        case {"judged": dict(judged), "names": [*names]}:
            about = ", ".join(str(value) for value in judged.values())
        case _:
            raise InputError("has items without 'judged' and 'names': save them with a bench's --items", path)
    marks = {**({RANK: record["ranks"]} if record.get("ranks") else {}), **record.get("marks", {})}
    for mark, values in marks.items():
        if len(values) != len(names):
            raise InputError(f"has {len(values)} values of '{mark}' for {len(names)} items", path)
        yield f"{about}, {mark}" if about else mark, _numbers(dict(zip(names, values)), path)


def _of_lines(lines: Sequence[Any], path: Path) -> dict[str, Values]:
    scores: dict[str, dict[str, Any]] = {}
    for line in lines:
        match line:
            case {"line": int(number), "scores": dict(own)}:
                for name, value in own.items():
                    scores.setdefault(name, {})[f"line {number}"] = value
            case _:
                raise InputError("has lines without a number and scores: write it with `score --json`", path)
    return {name: _numbers(values, path) for name, values in scores.items()}


def _numbers(values: Mapping[str, Any], path: Path) -> Values:
    for item, value in values.items():
        if value is not None and (not isinstance(value, int | float) or isinstance(value, bool)):
            raise InputError(f"has no number for '{item}': write a number, or null where there is none", path)
    return {item: float(value) for item, value in values.items() if value is not None}
