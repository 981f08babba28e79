from __future__ import annotations

import re
import resource
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import Result

from understudy.cli.demo import ROUTE, Route, Tour, tour
from understudy.persona import persona_at

Run = Callable[..., Result]
Document = Callable[..., Any]

JAPANESE = Route(
    story="demo-ja",
    who="真鍋千夏",
    towards="久我志保里",
    facing="久我志保里",
    question="学校は、どうなさいますか。",
    early="1.4",
    late="2.4",
    unknown="secret",
)


@pytest.fixture(scope="module", params=[ROUTE, JAPANESE], ids=lambda route: route.story)
def toured(request: pytest.FixtureRequest) -> Tour:
    if request.param is JAPANESE:
        pytest.importorskip("fugashi")
    return tour(request.param)


def test_the_same_question_is_answered_differently_and_from_her_past(toured: Tour) -> None:
    early, late = toured.answers
    assert early.question == late.question
    assert early.reply.text != late.reply.text
    for answer in toured.answers:
        assert all(item.moment < answer.situation.persona.moment for item in answer.reply.evidence if item.moment)
    late_source = max(item.moment for item in late.reply.evidence if item.moment)
    assert late_source > early.situation.persona.moment


def test_what_she_cannot_know_is_in_the_story_but_not_in_her_memory(toured: Tour) -> None:
    secret = toured.secret
    moment = secret.answer.situation.persona.moment
    term = secret.term.casefold()
    everything = [line.text.casefold() for scene in toured.story.scenes() for line in scene.lines]
    past = persona_at(toured.story, secret.answer.situation.persona.name, moment).past
    remembered = [line.text.casefold() for scene in past.scenes() for line in scene.lines]
    assert any(term in text for text in everything)
    assert len(remembered) == secret.searched > 0
    assert not any(term in text for text in remembered)
    assert term not in secret.answer.reply.text.casefold()
    assert secret.heard.moment >= moment
    assert secret.first.moment <= secret.heard.moment


def test_the_tour_reads_in_a_minute_and_fits_80_columns(run: Run) -> None:
    shown = run("demo").stdout
    assert max(map(len, shown.splitlines())) <= 80
    assert 150 < len(re.findall(r"[A-Za-z']{2,}", shown)) < 400
    for title in ("A tie that turns", "One question, two moments", "What she cannot know yet", "understudy chat demo"):
        assert title in shown


def test_the_tour_as_a_document(document: Document) -> None:
    shown = document("demo")
    early, late = shown["answers"]
    assert early["question"] == late["question"]
    assert early["reply"] != late["reply"]
    levels = [point["level"] for point in shown["affection"]["course"]]
    assert max(levels) > 0 > min(levels)
    assert shown["not_known_yet"]["lines_that_say_it"] == 0
    assert shown["cast"]


def test_the_commands_to_copy_run(run: Run) -> None:
    commands = [line.split()[1:] for line in run("demo").stdout.splitlines() if line.startswith("  understudy ")]
    assert len(commands) >= 3
    for command in commands:
        if "YOUR-SCRIPTS/*" not in command:
            run(*command, stdin="Hello\n")


def test_the_tour_takes_under_five_seconds_and_no_terminal() -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-m", "understudy", "demo"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 5
    assert done.stderr == ""
