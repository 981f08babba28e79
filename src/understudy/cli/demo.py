"""`understudy demo`: a tour of the story that comes with the program, in a minute's reading.

Each part is made when it is shown: what needs no model is on the screen at once, and a question stands there while it
is answered.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import click

from understudy.cli.cast_and_scenes import cast_table
from understudy.cli.chat import print_why
from understudy.cli.options import DEFAULT_AGENT, json_option, load_reply_agent
from understudy.cli.show import (
    Screen,
    clean,
    heading,
    indented,
    print_affection,
    print_json,
    screen,
    spoken,
    voice,
    when,
)
from understudy.formats import probes_of, read
from understudy.formats.documents import cast_document, line_document, reply_document
from understudy.formats.story_folder import Probe
from understudy.story.dialogue import USER_NAME, Agent, Reply, Situation, Turn, situation_at
from understudy.story.persona import Persona, persona_at
from understudy.story.spoiler_free import Course, courses_so_far
from understudy.story.types import Line, Moment, Scene

__all__ = ["Answer", "Route", "Secret", "Tour", "Unknown", "demo"]


@dataclass(frozen=True, slots=True)
class Route:
    """Where the tour goes: one character, the tie that turns, one question at two moments, a secret, the future."""

    story: str
    who: str
    towards: str
    facing: str
    question: str
    early: str
    late: str
    keeper: str
    """Who keeps a secret, by the probe of kind 'secret' that is put to them at `kept_at`."""
    kept_at: str
    unknown: str
    """The kind of the probes about what `who` learns later."""


ROUTE = Route(
    story="demo",
    who="Zita Karst",
    towards="Casimir Ould",
    facing="Pia Lenk",
    question="Do you trust the Prior?",
    early="1.2",
    late="2.4",
    keeper="Pia Lenk",
    kept_at="1.3",
    unknown="identity",
)
MAIN_CAST = 8
LONGEST = 200  # characters of a line that is shown
WRITING = ("pip install '.[local]'", "understudy models pull smollm2")


@dataclass(frozen=True, slots=True)
class Turning:
    """A tie over the whole story."""

    persona: Persona
    to: str
    course: Course


@dataclass(frozen=True)
class Answer:
    """A question put at a moment. It is answered when the reply is asked for."""

    agent: Agent
    situation: Situation
    question: str

    @cached_property
    def reply(self) -> Reply:
        return self.agent.reply(self.situation, [Turn(self.asked_by, self.question)])

    @property
    def asked_by(self) -> str:
        return self.situation.faced.name if self.situation.faced else USER_NAME


@dataclass(frozen=True, slots=True)
class Secret:
    """What somebody remembers and the one who asks does not: the line that tells it, and the probe that asks."""

    told: Line
    answer: Answer
    probe: Probe

    @property
    def is_kept(self) -> bool:
        return self.probe.fault(self.answer.reply.text) is None


@dataclass(frozen=True, slots=True)
class Unknown:
    """A word of what somebody learns later: where the story first says it, where they first hear it."""

    persona: Persona
    term: str
    first: Line
    heard: Line
    searched: int


class Tour:
    """What the tour shows, each part made when it is asked for."""

    def __init__(self, route: Route = ROUTE) -> None:
        self.route = route
        self.story = read(route.story)
        self._probes = list(probes_of(route.story, self.story))
        self._finder, self._agent = self._load_agents()
        self.answers = tuple(
            Answer(self._finder, situation_at(self.story, route.who, at, route.facing), route.question)
            for at in (route.early, route.late)
        )

    @property
    def could_be_written(self) -> bool:
        """Whether answers are only found, for want of a language model."""
        return bool(getattr(self._agent, "notice", ""))

    @cached_property
    def turning(self) -> Turning:
        situation = situation_at(self.story, self.route.who, Moment.end(), self.route.towards)
        assert situation.faced is not None
        to = situation.faced.name
        return Turning(situation.persona, to, courses_so_far(self.story, situation.persona)[to])

    @cached_property
    def secret(self) -> Secret:
        """The secret of the route, with the newest line that tells it to somebody else."""
        for probe in self._probes:
            if (probe.who, probe.at.dotted, probe.kind) != (self.route.keeper, self.route.kept_at, "secret"):
                continue
            answer = Answer(self._agent, situation_at(self.story, probe.who, probe.at, probe.facing), probe.ask)
            known = _remembered(answer.situation.persona)
            asker = _remembered(persona_at(self.story, answer.asked_by, probe.at))
            for term in probe.must_not:
                told = list(_saying(term, known))
                if told and not any(_saying(term, asker)):
                    return Secret(told[-1], answer, probe)
        raise AssertionError(f"no probe of '{self.route.story}' asks {self.route.keeper} for a secret of hers")

    @cached_property
    def unknown(self) -> Unknown:
        """Something that a probe forbids, that she learns later, and that nothing she remembers at its moment says."""
        for probe in self._probes:
            if (probe.who, probe.kind) != (self.answers[0].situation.persona.name, self.route.unknown):
                continue
            persona = persona_at(self.story, probe.who, probe.at)
            remembered = _remembered(persona)
            for term in probe.must_not:
                first = next(_saying(term, _lines(self.story.scenes())), None)
                heard = next(_saying(term, _remembered(persona_at(self.story, probe.who, Moment.end()))), None)
                if first is not None and heard is not None and not any(_saying(term, remembered)):
                    return Unknown(persona, term, first, heard, len(remembered))
        raise AssertionError(f"no probe of '{self.route.story}' asks {self.route.who} about what she learns later")

    def _load_agents(self) -> tuple[Agent, Agent]:
        """The agent of the two moments, and that of the secret: the one that `chat` uses.

        Two moments are two prompts, and a small machine takes seconds over each; by default they are answered with
        what can be found, which tells as much about time. That there is no model is said at the end of the tour.
        """
        from understudy.judging.loading import AUTO, GUARDED, is_guarded, load_guarded

        def load(spec: str) -> Agent:
            return load_guarded(spec, lambda _: [self.story]) if is_guarded(spec) else load_reply_agent(spec)

        spec = os.environ.get("UNDERSTUDY_AGENT") or DEFAULT_AGENT
        chosen = load(spec)
        return (load(GUARDED) if spec == AUTO else chosen), chosen


def _remembered(persona: Persona) -> list[Line]:
    return list(_lines(persona.past.scenes()))


def _lines(scenes: Iterable[Scene]) -> Iterator[Line]:
    return (line for scene in scenes for line in scene.lines)


def _saying(term: str, lines: Iterable[Line]) -> Iterator[Line]:
    return (line for line in lines if term.casefold() in line.text.casefold())


@click.command(short_help="A tour of a minute.")
@json_option
def demo(as_json: bool) -> None:
    """A tour of a minute: the cast, a tie that turns, one question at two moments, a secret, and the future.

    Needs no network and nothing but what is installed. Characters answer by the agent that 'chat' uses too.

    \b
    Example:
        understudy demo
    """
    tour = Tour()
    if as_json:
        print_json(_document(tour))
    else:
        _show(screen(), tour)


def _document(tour: Tour) -> dict[str, Any]:
    secret, unknown = tour.secret, tour.unknown
    return {
        "story": tour.story.title,
        "cast": cast_document(tour.story.cast()),
        "affection": {
            "of": tour.turning.persona.name,
            "to": tour.turning.to,
            "course": [{"since": since.dotted, "level": level} for since, level in tour.turning.course],
        },
        "answers": [_answered(answer) for answer in tour.answers],
        "secret": {"told": line_document(secret.told), "kept": secret.is_kept, **_answered(secret.answer)},
        "not_known_yet": {
            "character": unknown.persona.name,
            "moment": unknown.persona.moment.dotted,
            "term": unknown.term,
            "first_said": line_document(unknown.first),
            "lines_remembered": unknown.searched,
            "lines_that_say_it": 0,
            "first_heard": line_document(unknown.heard),
        },
    }


def _answered(answer: Answer) -> dict[str, Any]:
    persona = answer.situation.persona
    return {
        "character": persona.name,
        "moment": persona.moment.dotted,
        "facing": answer.asked_by,
        "question": answer.question,
        **reply_document(answer.reply),
    }


def _show(out: Screen, tour: Tour) -> None:
    early, late = tour.answers
    scenes, lines = tour.story.count()
    out.print(heading(f"'{tour.story.title}', a story in {scenes} scenes and {lines:,} lines, comes with Understudy."))
    out.print(cast_table(out, tour.story.cast()[:MAIN_CAST], aliases=False))

    _chapter(out, "1. A tie that turns")
    print_affection(out, tour.turning.persona, tour.turning.to, tour.turning.course)

    _chapter(out, "2. One question, two moments")
    out.print(f"{clean(early.situation.persona.name)} knows what she has lived through by then and nothing else.")
    _show_answer(out, early)
    print_why(out, early.reply, evidence=1, candidates=0)
    _show_answer(out, late)
    print_why(out, late.reply, evidence=1, candidates=2)

    _show_secret(out, tour.secret)
    _show_unknown(out, tour.unknown)

    if tour.could_be_written:
        _chapter(out, "For answers that are written")
        out.print("There is no language model here: the answers above are found, not written. To get one:")
        _commands(out, *WRITING)
        out.print("Or use your own: 'understudy models --help'.")
    _chapter(out, "Now you")
    name, faced = (person.split()[0] for person in (late.situation.persona.name, late.asked_by))
    _commands(
        out,
        f"understudy chat {tour.route.story} {name} --at {tour.route.late} --facing {faced}",
        f"understudy persona {tour.route.story} {name} --at {tour.route.early}",
        f"understudy scenes {tour.route.story} --from 1.1 --to 1.2 --text",
        "understudy read YOUR-SCRIPTS/* -o yours.story",
    )


def _show_secret(out: Screen, secret: Secret) -> None:
    _chapter(out, "3. A secret, kept from the one who asks")
    answer = secret.answer
    keeper, asker = clean(answer.situation.persona.name), clean(answer.asked_by)
    out.print(f"{keeper} remembers this, and {asker} was not there:")
    out.print(indented(spoken([secret.told], longest=LONGEST)))
    _show_answer(out, answer)
    notices = tuple(item for item in answer.reply.evidence if item.kind == "notice")
    print_why(out, replace(answer.reply, evidence=notices), candidates=0)
    if not secret.is_kept:
        out.print("That told it. What the guards can find, and what not, is in docs/guards.md.")


def _show_unknown(out: Screen, unknown: Unknown) -> None:
    _chapter(out, "4. What she cannot know yet")
    out.print(f"{clean(unknown.persona.name)} will hear this:")
    out.print(indented(spoken([unknown.heard], longest=LONGEST)))
    at = unknown.persona.moment
    out.print(
        f"At {at.dotted} she remembers {unknown.searched:,} lines, and none of them says '{clean(unknown.term)}'."
        + (
            f" It was said at {unknown.first.moment.dotted}, but she was not there."
            if unknown.first.moment < at
            else ""
        )
    )


def _commands(out: Screen, *commands: str) -> None:
    for command in commands:
        out.print(indented(command))


def _chapter(out: Screen, title: str) -> None:
    out.print()
    out.print(heading(title))


def _show_answer(out: Screen, answer: Answer) -> None:
    """The question first, since the answer may take a model some seconds."""
    persona = answer.situation.persona
    out.print(f"\nAt {when(persona.moment)}, {clean(answer.asked_by)} asks: {clean(answer.question)}")
    out.print(indented(f"{clean(persona.name)}: {clean(answer.reply.text)}"), style=voice(persona.name))
