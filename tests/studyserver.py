"""Studies to be served: items with every type of question in a database, and `understudy study serve` in a process."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from understudy.metrics.utterances import UtteranceStore, open_store
from understudy.metrics.utterances.record import APPROVED, FILTER, PENDING, REJECTED, Utterance
from understudy.story.dialogue import Score
from understudy.story.types import Moment
from understudy.studies import Study
from understudy.studies.item import Block, Option, Question, ShownLine, StudyItem
from understudy.studies.store import StudyStore, open_study_store

__all__ = ["MARKS", "filled", "line"]


LINK = re.compile(r"^  http://[^/]+/take/(\S+)$")
LIKELY = """\
kind = "likely"
title = "Would Ines say this?"
people_per_item = {people_per_item}
items_per_person = {items_per_person}
checks = {checks}

[material]
story = "brass-key"
character = "Ines"
lines = "lines.txt"
"""

CHAT = """\
kind = "chat"
title = "Get to know somebody"
people_per_item = 2
items_per_person = 1

[material]
"""


@dataclass(frozen=True, slots=True)
class StudyServer:
    process: subprocess.Popen[str]
    url: str
    tokens: list[str]
    """Of the links that were made with --links."""

    def take(self, token: str) -> str:
        return f"{self.url}/api/take/{token}"


def write_likely(
    story: Path, lines: int, people_per_item: int = 3, items_per_person: int = 20, checks: int = 0
) -> Path:
    """A study beside the brass key, whose lines are only judged."""
    folder = story.parent
    (folder / "lines.txt").write_text("".join(f"I have {number} keys.\n" for number in range(lines)), encoding="utf-8")
    path = folder / "ines.toml"
    settings = {"people_per_item": people_per_item, "items_per_person": items_per_person, "checks": checks}
    path.write_text(LIKELY.format(**settings), encoding="utf-8")
    return path


def write_chat(story: Path, chats: int, turns: int, rate: bool = False, **material: object) -> Path:
    """A study of chats between people, or with `agents`."""
    folder = story.parent
    personas = ({"persona": [f"i collect stamps number {number}.", "my aunt is a baker."]} for number in range(5))
    (folder / "personas.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in personas), encoding="utf-8")
    path = folder / "talk.toml"
    fast = {"personas": '"personas.jsonl"', "arrives_s": [0, 0], "writes_s": [0, 0], "rate": str(rate).lower()}
    settings = {**fast, "chats": chats, "turns": [turns, turns], **material}
    path.write_text(CHAT + "".join(f"{key} = {value}\n" for key, value in settings.items()), encoding="utf-8")
    return path


def _heed_signals() -> None:
    """Background jobs and nohup have these ignored, which children would inherit."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


@contextmanager
def study_server(
    study: Path, *options: str | Path, port: int = 0, environment: Mapping[str, str] | None = None
) -> Iterator[StudyServer]:
    """Gives the server once it answers; its database lies beside the study unless `options` name one."""
    command = [sys.executable, "-m", "understudy", "study", "serve", str(study), "--port", str(port)]
    with (study.parent / "log").open("a") as log:
        process = subprocess.Popen(
            [*command, *map(str, options)],
            cwd=study.parent,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1", **(environment or {})},
            preexec_fn=_heed_signals,
        )
    try:
        assert process.stdout is not None
        printed = ""
        for line in process.stdout:
            printed += line
            if line.startswith("Ctrl-C"):
                (url,) = re.findall(r"is open: (http://[^/ ]+)/", printed)
                with httpx.Client(
                    transport=httpx.HTTPTransport(retries=8), timeout=120
                ) as client:  # it may still be starting
                    assert client.get(f"{url}/health").status_code == 200
                tokens = [found[1] for found in map(LINK.match, printed.splitlines()) if found]
                yield StudyServer(process, url, tokens)
                break
        else:
            pytest.fail(f"the server did not start: {printed}{(study.parent / 'log').read_text()}")
    finally:
        process.kill()
        process.communicate()


def options(*labels: str) -> tuple[Option, ...]:
    return tuple(Option(label.lower(), label) for label in labels)


FIVE = tuple(Option(str(step), {1: "not at all", 5: "very"}.get(step, "")) for step in range(1, 6))
SCENE = Block(
    "At the harbour",
    (
        ShownLine(None, "Fog. A bell, far out."),
        ShownLine("Ines Vale", "You kept the key all these years, and never once thought to ask what it opens?"),
        ShownLine("Mara Quill", "I was afraid it would open something.", is_asked=True),
    ),
)
LONG_REPLIES = (
    Option(
        "a", "I was afraid that it would open something, and that I would have to look inside, and then go on living."
    ),
    Option("b", "A key is only a promise, Ines. I have carried enough of those to know how little any of them weighs."),
)
EARLIER = tuple(
    Block(
        f"Scene {number}",
        (ShownLine("Mara Quill", f"I counted {number} steps to the lamp."), ShownLine(None, "The tide turns.")),
        is_folded=True,
        name=f"scene {number}",
    )
    for number in range(1, 13)
)
RATED = StudyItem(
    "scene1.rated",
    (SCENE,),
    (
        Question("fluency", "scale", "How fluent is the line?", FIVE),
        Question("fits", "choice", "Does it fit her?", options("Yes", "No", "Both")),
    ),
    hidden={"agent": "the secret agent"},
)
PREFERRED = StudyItem(
    "scene1.preferred", (SCENE,), (Question("better", "choice", "Which reply would she give?", LONG_REPLIES),)
)
WRITTEN = StudyItem(
    "scene2.written",
    (Block("The person", (ShownLine(None, "A lighthouse keeper who collects keys."),)),),
    (
        Question("persona", "texts", "Describe her", least=2, most=6, most_words=15, help="As she would herself."),
        Question("why", "text", "Why so?", is_required=False, most_words=15),
    ),
)
LOOKED_UP = StudyItem(
    "scene3.guessed",
    (SCENE, *EARLIER),
    (
        Question("speaker", "choice", "Who speaks?", options("Ines Vale", "Mara Quill", "Old Tom, who mends the nets")),
        Question(
            "history", "choices", "Which earlier scenes were needed?",
            tuple(Option(block.name, block.title) for block in EARLIER), is_required=False,
        ),
    ),
)  # fmt: skip
TABLED = StudyItem(
    "scene4.annotated",
    (SCENE,),
    (
        Question("ties", "table", "Who stands how to whom?", options("Who", "To whom", "How"), least=1),
        Question("moods", "choices", "What moods are there?", options("Calm", "Fear", "Anger")),
    ),
)  # fmt: skip
ITEMS = (RATED, PREFERRED, WRITTEN, LOOKED_UP, TABLED)
CONSENT = "I am at least 18 and take part of my own will."


def study_of(**changes: object) -> Study:
    settings: dict[str, object] = {
        "kind": "likely",
        "title": "Would Mara say this?",
        "instructions": "You read a scene and then judge a line of it.\n\nThere is no right answer.",
        "example": "A line in her voice: fluency 5.",
        "consent": CONSENT,
        "people_per_item": 2,
    }
    return Study(**{**settings, **changes})  # type: ignore[arg-type]


def study_store(folder: Path, *items: StudyItem, name: str = "mara", **changes: object) -> StudyStore:
    """A database with one study of these items, or one of every sort."""
    store = open_study_store(folder / "studies.db")
    store.add_study(name, study_of(**changes), items or ITEMS)
    return store


# Lines to be reviewed: some near a bound of 0.5, some far, one that could not be judged.


MARKS = {
    "The tide keeps its own books.": 0.52,
    "Nobody sells a light.": 0.45,
    "I counted the steps twice.": 0.61,
    "LOL whatever.": 0.05,
    "Salt in everything, even the tea.": 0.93,
}


def line(
    text: str, who: str = "Ines Vale", since: str = "start", until: str = "end", **scores: float | None
) -> Utterance:
    kept = {
        name: Score(name, value, "no line to go by" if value is None else "words they share")
        for name, value in scores.items()
    }
    return Utterance(text, who, Moment.parse(since), Moment.parse(until), kept, "generated.txt", 7)


def filled(path: Path) -> UtteranceStore:
    """A database as the filter leaves it, with psprob>=0.5: five lines that are decided, and one that is not."""
    store = open_store(path)
    store.add([line(text, psprob=mark) for text, mark in MARKS.items() if mark >= 0.5], APPROVED, FILTER)
    store.add([line(text, psprob=mark) for text, mark in MARKS.items() if mark < 0.5], REJECTED, FILTER)
    store.add([line("Unjudged.", "Mara Quill", since="2.1", psprob=None)], PENDING, FILTER)
    return store
