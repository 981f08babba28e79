from __future__ import annotations

import os
import re
import resource
import subprocess
import sys

import pytest

from cliruns import Document, Run
from understudy.cli.demo import ROUTE, WRITING, Route, Tour
from understudy.story.persona import persona_at

JAPANESE = Route(
    story="demo-ja",
    who="真鍋千夏",
    towards="久我志保里",
    facing="久我志保里",
    question="学校は、どうなさいますか。",
    early="1.4",
    late="2.4",
    keeper="久我志保里",
    kept_at="2.1",
    unknown="secret",
)


@pytest.fixture(scope="module", params=[ROUTE, JAPANESE], ids=lambda route: route.story)
def toured(request: pytest.FixtureRequest) -> Tour:
    if request.param is JAPANESE:
        pytest.importorskip("fugashi")
    return Tour(request.param)


def test_the_same_question_is_answered_differently_and_from_her_past(toured: Tour) -> None:
    early, late = toured.answers
    assert early.question == late.question
    assert early.reply.text != late.reply.text
    for answer in toured.answers:
        assert all(item.moment < answer.situation.persona.moment for item in answer.reply.evidence if item.moment)
    late_source = max(item.moment for item in late.reply.evidence if item.moment)
    assert late_source > early.situation.persona.moment


def test_a_secret_is_remembered_and_not_told_to_the_one_who_asks(toured: Tour) -> None:
    secret = toured.secret
    persona = secret.answer.situation.persona
    asker = persona_at(toured.story, secret.answer.asked_by, persona.moment)
    assert any(line == secret.told for scene in persona.past.scenes() for line in scene.lines)
    assert not any(line == secret.told for scene in asker.past.scenes() for line in scene.lines)
    assert secret.is_kept


def test_what_she_cannot_know_is_in_the_story_but_not_in_her_memory(toured: Tour) -> None:
    unknown = toured.unknown
    moment = unknown.persona.moment
    term = unknown.term.casefold()
    everything = [line.text.casefold() for scene in toured.story.scenes() for line in scene.lines]
    past = persona_at(toured.story, unknown.persona.name, moment).past
    remembered = [line.text.casefold() for scene in past.scenes() for line in scene.lines]
    assert any(term in text for text in everything)
    assert len(remembered) == unknown.searched > 0
    assert not any(term in text for text in remembered)
    assert unknown.heard.moment >= moment
    assert unknown.first.moment <= unknown.heard.moment


def test_without_a_model_the_tour_says_how_to_get_one(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNDERSTUDY_AGENT", "auto")
    monkeypatch.setattr("understudy.judging.loading.installed_model", lambda _: None)
    done = run("demo")
    assert all(f"\n  {command}\n" in done.stdout for command in WRITING)
    assert done.stderr == ""


def test_any_agent_may_answer(document: Document, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNDERSTUDY_AGENT", "tfidf")
    assert all(answer["reply"] for answer in document("demo")["answers"])


def understudy(*arguments: str) -> tuple[str, float]:
    """What it prints without a terminal, in a process of its own, and its CPU seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "understudy", *arguments]
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "COLUMNS": "80"},
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.stderr == ""
    return done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@pytest.fixture(scope="module")
def printed() -> tuple[str, float]:
    return understudy("demo")


@pytest.fixture
def shown(printed: tuple[str, float]) -> str:
    return printed[0]


def test_the_tour_takes_no_terminal_and_as_long_as_a_few_answers(printed: tuple[str, float]) -> None:
    _, of_an_answer = understudy("chat", "demo", "Zita", "--at", "2.4", "--facing", "Pia", "--say", ROUTE.question)
    assert printed[1] < 8 * of_an_answer


def test_with_an_agent_that_was_chosen_nothing_is_missing(shown: str) -> None:
    assert not any(command in shown for command in WRITING)


def test_the_tour_reads_in_a_minute_and_fits_80_columns(shown: str) -> None:
    assert max(map(len, shown.splitlines())) <= 80
    assert 150 < len(re.findall(r"[A-Za-z']{2,}", shown)) < 400
    for title in ("A tie that turns", "One question, two moments", "A secret", "What she cannot know yet"):
        assert title in shown
    assert "kept back: was felt once" in shown


def test_the_tour_as_a_document(document: Document) -> None:
    shown = document("demo")
    early, late = shown["answers"]
    assert early["question"] == late["question"]
    assert early["reply"] != late["reply"]
    levels = [point["level"] for point in shown["affection"]["course"]]
    assert max(levels) > 0 > min(levels)
    assert shown["secret"]["kept"]
    assert shown["not_known_yet"]["lines_that_say_it"] == 0
    assert shown["cast"]


def test_the_commands_to_copy_run(run: Run, shown: str) -> None:
    commands = [line.split()[1:] for line in shown.splitlines() if line.startswith("  understudy ")]
    assert len(commands) >= 3
    for command in commands:
        if "YOUR-SCRIPTS/*" not in command:
            run(*command, stdin="Hello\n")
