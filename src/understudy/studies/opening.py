"""How a study gets into a database: opened from its file, or imported as it was answered elsewhere.

Items and attention checks of a study are made once, when it is first opened. What people already gave, elsewhere and
before, becomes a finished study:

    tvshowguess   human_annotation/ of TVShowGuess: tables of what telling masked speakers took (`formats.annotations`),
                  with the scenes as they were shown beside them (.raw); a table is one person's, and a `guess` study.
                  It is named for its show, or as `--format annotation` names it: SHOW-p2.tsv
    volunteers    ConvAI2's chats of volunteers with bots (`formats.chat_records`): the score, 1 to 5, that somebody
                  gave to their chat, and whether they chose the bot's profile of two; a `rate` study, in which the
                  score stands for engagingness, as in that kind's own `--format volunteers`

It lies in a database like any other: status, results, agreement and outputs are the same.
"""

from __future__ import annotations

import csv
import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from understudy.errors import InputError
from understudy.formats.annotations import Annotation, read_annotations
from understudy.formats.chat_records import BOT_SIDE, JudgedChat, read_judged_chats, volunteers_file
from understudy.formats.tvshowguess import EPISODE
from understudy.guessing.scenes import Masked
from understudy.progress import Progress, ignore_progress
from understudy.story.dialogue import Agent
from understudy.story.types import Line, Moment, Scene
from understudy.studies import Study, load_study
from understudy.studies.item import Block, Option, Question, ShownLine, StudyItem
from understudy.studies.kind import RATED_SCALES, GivenAnswer
from understudy.studies.kinds import kind_of
from understudy.studies.kinds.guess import masked_item
from understudy.studies.questions import load_agents
from understudy.studies.store import ENDED, StoredStudy, StudyStore, hash_token, new_token, now

CHOSEN_TYPES = ("scale", "choice")

LEVELS = ("season", "episode", "scene", "line")
HEAD = re.compile(rf"\s*{EPISODE.pattern}\s+(\d{{1,9}})\s*\[([^\]]*)\]\s*", re.IGNORECASE)
PAIR = re.compile(r"'(P\d+)'\s*:\s*'([^']*)'")
SEPARATOR = " : "
BACKGROUND = "background"
ANNOTATOR = re.compile(r"-p\d+$")
"""What stands behind the show in the names of tables of several people."""

SCORE = replace(next(scale for scale in RATED_SCALES if scale.name == "engagingness"), is_required=False)
OWN, OTHER = "a", "b"
MATCH = Question(
    "profile",
    "choice",
    "Which profile was your partner's?",
    (Option(OWN, "Profile A"), Option(OTHER, "Profile B, which the file does not have")),
    is_required=False,
)


def study_name(path: Path) -> str:
    """What a study is called in a database, unless it is given another name: its file, without the ending."""
    return path.stem


def make_items(study: Study, progress: Progress = ignore_progress) -> list[StudyItem]:
    """The study's items and its attention checks."""
    items = kind_of(study.kind).items(study, progress)
    if not items:
        raise InputError("the material gives no item to ask about: see the comments under [material]")
    return [*items, *attention_checks(study, items)]


def open_study(
    store: StudyStore, path: Path, name: str | None = None, progress: Progress = ignore_progress
) -> StoredStudy:
    """A study that is there keeps its items; texts and limits of the file are taken over."""
    study, name = load_study(path), name or study_name(path)
    known = {stored.name: stored for stored in store.studies()}
    has_items = name in known and known[name].study.digest == study.digest
    return store.add_study(name, study, () if has_items else make_items(study, progress))


def agents_of(studies: Sequence[Study]) -> dict[str, Agent]:
    """The agents that people of live studies may talk with."""
    live = [study for study in studies if kind_of(study.kind).is_live]
    return load_agents(list(dict.fromkeys(name for study in live for name in study.listed("agents"))))


def attention_checks(study: Study, items: Sequence[StudyItem]) -> list[StudyItem]:
    """As many as each person is given; they look like the study's own items until they are read."""
    rng = random.Random(f"{study.seed} checks")  # noqa: S311
    candidates = [item for item in items if all(question.type in CHOSEN_TYPES for question in item.questions)]
    if study.checks and not candidates:
        raise InputError(
            f"attention checks are made of items that have only scales and single choices, and this `{study.kind}` "
            "study has none: set `checks = 0`"
        )
    return [_check(rng.choice(candidates), number + 1, rng) for number in range(study.checks)]


def _check(item: StudyItem, number: int, rng: random.Random) -> StudyItem:
    chosen = {question.name: rng.choice(question.options) for question in item.questions}
    wanted = "; ".join(
        f"{question.label} {_called(question, chosen[question.name].key)}" for question in item.questions
    )
    text = f"This one is here to see that it is read. Whatever you think of what stands above, answer: {wanted}"
    expected = {
        question.name: int(chosen[question.name].key) if question.type == "scale" else chosen[question.name].key
        for question in item.questions
    }
    blocks = (*item.blocks, Block("Please read", (ShownLine(None, text, is_asked=True),)))
    return StudyItem(f"check {number}", blocks, item.questions, {}, expected)


def _called(question: Question, key: str) -> str:
    label = next(option.label for option in question.options if option.key == key)
    return f"{key} ({label})" if question.type == "scale" and label else label or key


@dataclass(frozen=True, slots=True)
class FinishedStudy:
    study: Study
    items: Sequence[StudyItem]
    answers: Sequence[GivenAnswer]


def import_tvshowguess(folder: Path) -> FinishedStudy:
    """A table is one person's; scenes that lie beside no table, or of which it says nothing, are left out."""
    tables = sorted(folder.glob("*.tsv"))
    if not tables:
        raise InputError("holds no tables of annotations (*.tsv): name human_annotation/ of TVShowGuess", folder)
    items: dict[str, StudyItem] = {}
    answers: list[GivenAnswer] = []
    for number, table in enumerate(tables, 1):
        by_scene = defaultdict[tuple[tuple[int, ...], int], list[Annotation]](list)
        for annotation in read_annotations(table):
            by_scene[annotation.instance[:2]].append(annotation)
        for shown in _shown_scenes(table.with_suffix(".raw"), ANNOTATOR.sub("", table.stem)):
            item = items.get(shown.name, shown)
            annotations = by_scene.get((tuple(item.hidden["episode"]), item.hidden["scene"]), [])
            answer = _answer_of(item, annotations)
            if answer:
                items[item.name] = item
                answers.append(GivenAnswer(item, f"p{number}", answer))
    if not answers:
        raise InputError("has tables, but none of the scenes that they are about (*.raw)", folder)
    people = max(Counter(each.item.name for each in answers).values())
    study = Study("guess", "Who is speaking? (TVShowGuess)", people_per_item=people, material={"imported": folder.name})
    return FinishedStudy(study, list(items.values()), answers)


def _shown_scenes(path: Path, show: str) -> Iterator[StudyItem]:
    if not path.is_file():
        raise InputError("is not there: scenes as they were shown lie beside their table, with the ending .raw", path)
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = csv.DictReader(file)
        for row in rows:
            text, answers = row.get("Scene") or "", dict(PAIR.findall(row.get("Answer") or ""))
            head = HEAD.match(text)
            if head is None or not answers:
                raise InputError("has a scene without episode, number and answers", path, rows.line_num)
            yield _shown_scene(show, head, text[head.end() :], answers)


def _shown_scene(show: str, head: re.Match[str], text: str, answers: Mapping[str, str]) -> StudyItem:
    """The scene as an item. Whoever has no line in it cannot be asked about; 'P0 (singing)' is no mask's line, as it is
    none in the data set's own scenes."""
    at = (int(head[1]), int(head[2]), int(head[3]))
    setting, lines = "", list[Line]()
    for number, part in enumerate(filter(str.strip, re.split(r"[\r\n]+", text)), 1):
        label, separator, said = part.strip().partition(SEPARATOR)
        if number == 1 and part.strip().startswith("["):
            setting = part.strip()
            continue
        speaker = None if not separator or label == BACKGROUND else label
        lines.append(Line(Moment((*at, number), LEVELS), speaker, said if separator else part.strip()))
    names = tuple(sorted(name.strip(" '\"") for name in head[4].split(",")))
    scene = Scene(Moment(at, LEVELS), setting, (), tuple(lines))
    return masked_item(show, Masked(scene, dict(answers)), names, ())


def _answer_of(item: StudyItem, annotations: Sequence[Annotation]) -> dict[str, object]:
    answer: dict[str, object] = {}
    masks = item.hidden["masks"]
    for annotation in annotations:
        if annotation.instance.place < len(masks):
            mask = masks[annotation.instance.place]
            if annotation.guess:
                answer[f"{mask} who"] = annotation.guess.casefold()
            answer[f"{mask} evidence"] = list(annotation.evidence)
            answer[f"{mask} history"] = annotation.needs_history
            answer[f"{mask} reasoning"] = annotation.reasoning
    return answer


def import_volunteers(data: Path) -> FinishedStudy:
    """Chats that somebody scored or chose a profile for; an item is named as `bench judged-chats --items` names it."""
    path = volunteers_file(data)
    items: list[StudyItem] = []
    answers: list[GivenAnswer] = []
    codes: dict[str, str] = {}
    for chat in read_judged_chats(path):
        answer: dict[str, object] = {}
        if chat.score is not None:
            answer[SCORE.name] = chat.score
        if chat.matched is not None:
            answer[MATCH.name] = OWN if chat.matched else OTHER
        if answer:
            items.append(_chat_item(chat))
            code = codes.setdefault(chat.person, f"p{len(codes) + 1}")
            answers.append(GivenAnswer(items[-1], code, answer))
    study = Study("rate", "Chats with bots (ConvAI2)", people_per_item=1, material={"imported": path.name})
    return FinishedStudy(study, items, answers)


def _chat_item(chat: JudgedChat) -> StudyItem:
    names = ["You", "Your partner"]
    lines = tuple(ShownLine(names[turn.side], turn.text) for turn in chat.record.turns)
    profile = Block("Profile A", tuple(ShownLine(None, text) for text in chat.record.profiles[BOT_SIDE]))
    hidden = {
        "chat": chat.record.id,
        "side": BOT_SIDE,
        "speaker": chat.record.speakers[BOT_SIDE],
        "given": chat.record.given,
        "profile": OWN,
    }
    return StudyItem(chat.name, (Block("The chat", lines), profile), (SCORE, MATCH), hidden)


IMPORTS: Mapping[str, Callable[[Path], FinishedStudy]] = {
    "tvshowguess": import_tvshowguess,
    "volunteers": import_volunteers,
}


def add_finished(store: StudyStore, name: str, finished: FinishedStudy) -> StoredStudy:
    """Store a finished study with its people and answers; it is closed, and nobody has a link to it."""
    if any(each.name == name for each in store.studies()):
        raise InputError(f"there is a study '{name}' in this database: import under another name with --name")
    stored = store.add_study(name, finished.study, finished.items)
    try:
        with store.transaction():
            _add_answers(store, stored, finished.answers)
            store.log(stored.id, f"imported with {len(finished.answers)} answers")
    except BaseException:
        store.delete_study(name)
        raise
    store.close_study(name)
    return store.study(name)


def _add_answers(store: StudyStore, stored: StoredStudy, answers: Sequence[GivenAnswer]) -> None:
    numbers = {item.name: number for number, item in store.items(stored.id).items()}
    people: dict[str, int] = {}
    for each in answers:
        if each.person not in people:
            ((people[each.person],),) = store.database.rows(
                """INSERT INTO people (study, code, token, state, asked, created) VALUES (?, ?, ?, ?, ?, ?)
                   RETURNING id""",
                (stored.id, each.person, hash_token(new_token()), ENDED, "{}", now()),
            )
        at = each.answered or now()
        answer = json.dumps(each.answer, ensure_ascii=False, sort_keys=True)
        person, item = people[each.person], numbers[each.item.name]
        store.database.rows(
            """INSERT INTO assignments (study, person, item, given, answered, answer, comment, seconds)
               VALUES (?, ?, ?, ?, ?, ?, ?, ?)""",
            (stored.id, person, item, at, at, answer, each.comment, each.seconds),
        )
