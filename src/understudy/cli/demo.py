"""`understudy demo`: a tour of the story that comes with the program, in a minute's reading."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import click

from understudy.cli.cast_and_scenes import cast_table
from understudy.cli.chart import print_affection
from understudy.cli.chat import print_why
from understudy.cli.options import json_option, load_reply_agent
from understudy.cli.show import Screen, clean, heading, indented, print_json, screen, spoken, voice, when
from understudy.dialogue import USER_NAME, Reply, Situation, Turn, situation_at
from understudy.documents import cast_document, line_document, reply_document
from understudy.persona import Persona, persona_at
from understudy.readers import probes_of, read
from understudy.readers.probes import Probe
from understudy.spoiler_free import Course, courses_so_far
from understudy.story import Line, Moment, Scene
from understudy.storyfile import Story

__all__ = ["Route", "Secret", "demo", "tour"]


@dataclass(frozen=True, slots=True)
class Route:
    """Where the tour goes: one character, the tie that turns, one question at two moments, and a kind of secret."""

    story: str
    who: str
    towards: str
    facing: str
    question: str
    early: str
    late: str
    unknown: str


ROUTE = Route(
    story="demo",
    who="Zita Karst",
    towards="Casimir Ould",
    facing="Pia Lenk",
    question="Do you trust the Prior?",
    early="1.2",
    late="2.4",
    unknown="identity",
)
MAIN_CAST = 8
LONGEST = 160  # characters of what she will hear


@dataclass(frozen=True, slots=True)
class Turning:
    """A tie over the whole story."""

    persona: Persona
    to: str
    course: Course


@dataclass(frozen=True, slots=True)
class Answer:
    """A question put at a moment, and what was answered."""

    situation: Situation
    question: str
    reply: Reply


@dataclass(frozen=True, slots=True)
class Secret:
    """Something she learns later: where the story first says it, where she first hears it, what she answers before."""

    term: str
    first: Line
    heard: Line
    answer: Answer
    searched: int


@dataclass(frozen=True, slots=True)
class Tour:
    """What the tour shows."""

    story: Story
    route: Route
    turn: Turning
    answers: tuple[Answer, Answer]
    secret: Secret


def tour(route: Route = ROUTE) -> Tour:
    story = read(route.story)
    agent = load_reply_agent(os.environ.get("UNDERSTUDY_AGENT", "auto"), None, lambda _: [story])

    def answer_at(who: str, at: str, facing: str | None, question: str) -> Answer:
        situation = situation_at(story, who, at, facing)
        speaker = situation.faced.name if situation.faced else USER_NAME
        return Answer(situation, question, agent.reply(situation, [Turn(speaker, question)]))

    early, late = (answer_at(route.who, at, route.facing, route.question) for at in (route.early, route.late))
    for probe in probes_of(route.story, story):
        if probe.who == early.situation.persona.name and probe.kind == route.unknown:
            answer = answer_at(probe.who, probe.at.dotted, probe.facing, probe.ask)
            secret = _secret(story, probe, answer)
            if secret is not None and probe.violation(answer.reply.text) is None:
                return Tour(story, route, _turning(story, route), (early, late), secret)
    raise AssertionError(f"no probe of '{route.story}' asks {route.who} about what she learns later")


def _turning(story: Story, route: Route) -> Turning:
    situation = situation_at(story, route.who, Moment.end(), route.towards)
    assert situation.faced is not None
    to = situation.faced.name
    return Turning(situation.persona, to, courses_so_far(story, situation.persona)[to])


def _secret(story: Story, probe: Probe, answer: Answer) -> Secret | None:
    """Something the probe forbids that she learns later, and that nothing she remembers at its moment says."""
    remembered = list(_lines(answer.situation.persona.past.scenes()))
    for term in probe.must_not:
        first = next(_saying(term, _lines(story.scenes())), None)
        heard = next(_saying(term, _lines(persona_at(story, probe.who, Moment.end()).past.scenes())), None)
        if first is not None and heard is not None and not any(_saying(term, remembered)):
            return Secret(term, first, heard, answer, len(remembered))
    return None


def _lines(scenes: Iterable[Scene]) -> Iterator[Line]:
    return (line for scene in scenes for line in scene.lines)


def _saying(term: str, lines: Iterable[Line]) -> Iterator[Line]:
    return (line for line in lines if term.casefold() in line.text.casefold())


@click.command(short_help="A tour of a minute.")
@json_option
def demo(as_json: bool) -> None:
    """A tour of a minute: the cast, a tie that turns, one question at two moments, and what she cannot know yet.

    Needs no network and nothing but what is installed.

    \b
    Example:
        understudy demo
    """
    shown = tour()
    if as_json:
        print_json(_document(shown))
    else:
        _show(screen(), shown)


def _document(shown: Tour) -> dict[str, Any]:
    secret = shown.secret
    return {
        "story": shown.story.title,
        "cast": cast_document(shown.story.cast()),
        "affection": {
            "of": shown.turn.persona.name,
            "to": shown.turn.to,
            "course": [{"since": since.dotted, "level": level} for since, level in shown.turn.course],
        },
        "answers": [_answered(answer) for answer in shown.answers],
        "not_known_yet": {
            "term": secret.term,
            "first_said": line_document(secret.first),
            "lines_remembered": secret.searched,
            "lines_that_say_it": 0,
            "first_heard": line_document(secret.heard),
            **_answered(secret.answer),
        },
    }


def _answered(answer: Answer) -> dict[str, Any]:
    persona = answer.situation.persona
    return {
        "character": persona.name,
        "moment": persona.moment.dotted,
        "facing": _faced(answer),
        "question": answer.question,
        **reply_document(answer.reply),
    }


def _faced(answer: Answer) -> str:
    return answer.situation.faced.name if answer.situation.faced else USER_NAME


def _show(out: Screen, shown: Tour) -> None:
    early, late = shown.answers
    who = early.situation.persona
    scenes, lines = shown.story.count()
    out.print(heading(f"'{shown.story.title}', a story in {scenes} scenes and {lines:,} lines, comes with Understudy."))
    out.print(cast_table(out, shown.story.cast()[:MAIN_CAST], aliases=False))

    _chapter(out, "1. A tie that turns")
    print_affection(out, shown.turn.persona, shown.turn.to, shown.turn.course)

    _chapter(out, "2. One question, two moments")
    out.print(f"{clean(who.name)} knows what she has lived through by then and nothing else.")
    for answer in shown.answers:
        _show_answer(out, answer)
        print_why(out, answer.reply, evidence=2, candidates=0)

    secret = shown.secret
    _chapter(out, "3. What she cannot know yet")
    _show_answer(out, secret.answer)
    at = secret.answer.situation.persona.moment
    out.print("\nThis comes only later:")
    out.print(indented(spoken([secret.heard], longest=LONGEST)))
    out.print(
        f"At {at.dotted} she remembers {secret.searched:,} lines, and none of them says '{clean(secret.term)}'."
        + (f" It was said at {secret.first.moment.dotted}, but she was not there." if secret.first.moment < at else "")
    )
    _chapter(out, "Now you")
    name, faced = who.name.split()[0], _faced(late).split()[0]
    for command in (
        f"understudy chat {shown.route.story} {name} --at {shown.route.late} --facing {faced}",
        f"understudy persona {shown.route.story} {name} --at {shown.route.early}",
        f"understudy scenes {shown.route.story} --from 1.1 --to 1.2 --text",
        "understudy read YOUR-SCRIPTS/* -o yours.story",
    ):
        out.print(indented(command))


def _chapter(out: Screen, title: str) -> None:
    out.print()
    out.print(heading(title))


def _show_answer(out: Screen, answer: Answer) -> None:
    persona = answer.situation.persona
    out.print(f"\nAt {when(persona.moment)}, {clean(_faced(answer))} asks: {clean(answer.question)}")
    out.print(indented(f"{clean(persona.name)}: {clean(answer.reply.text)}"), style=voice(persona.name))
