"""`understudy demo`: a tour of the story that comes with the program, in a minute's reading.

Each part is made when it is shown: what needs no model is on the screen at once, and a question stands there while it
is answered.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import click

from understudy.cli.chat import print_why
from understudy.cli.options import DEFAULT_AGENT, Options, load_reply_agent, shared
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
from understudy.cli.story import print_cast
from understudy.formats import probes_of, read
from understudy.formats.documents import cast_document, line_document, reply_document
from understudy.formats.story_folder import Probe
from understudy.story.dialogue import USER_NAME, Agent, Reply, Situation, Turn, situation_at
from understudy.story.persona import Persona, persona_at
from understudy.story.spoiler_free import courses_so_far
from understudy.story.storyfile import Story
from understudy.story.types import Line, Moment


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
    "demo", "Zita Karst", towards="Casimir Ould", facing="Pia Lenk", question="Do you trust the Prior?", early="1.2",
    late="2.4", keeper="Pia Lenk", kept_at="1.3", unknown="identity",
)  # fmt: skip
MAIN_CAST = 8
LONGEST = 200  # characters of a line that is shown
WRITING = ("pip install '.[local]'", "understudy models pull smollm2")


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

    def document(self) -> dict[str, Any]:
        persona = self.situation.persona
        asked = {"moment": persona.moment.dotted, "facing": self.asked_by, "question": self.question}
        return {"character": persona.name, **asked, **reply_document(self.reply)}

    def show(self, out: Screen) -> None:
        """The question first, since the answer may take a model some seconds."""
        persona = self.situation.persona
        out.print(f"\nAt {when(persona.moment)}, {clean(self.asked_by)} asks: {clean(self.question)}")
        out.print(indented(f"{clean(persona.name)}: {clean(self.reply.text)}"), style=voice(persona.name))


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
        finder, self._agent = _load_agents(self.story)
        self.answers = tuple(
            Answer(finder, situation_at(self.story, route.who, at, route.facing), route.question)
            for at in (route.early, route.late)
        )

    @property
    def could_be_written(self) -> bool:
        """Whether answers are only found, for want of a language model."""
        return bool(getattr(self._agent, "notice", ""))

    @cached_property
    def secret(self) -> Secret:
        """The secret of the route, with the newest line that tells it to somebody else."""
        for probe, term in self._forbidden_terms(self.route.keeper, "secret"):
            if probe.at.dotted == self.route.kept_at:
                answer = Answer(self._agent, situation_at(self.story, probe.who, probe.at, probe.facing), probe.ask)
                told = list(_saying(term, answer.situation.persona))
                if told and not any(_saying(term, persona_at(self.story, answer.asked_by, probe.at))):
                    return Secret(told[-1], answer, probe)
        raise AssertionError(f"no probe of '{self.route.story}' asks {self.route.keeper} for a secret of hers")

    @cached_property
    def unknown(self) -> Unknown:
        """Something that a probe forbids, that she learns later, and that nothing she remembers at its moment says."""
        for probe, term in self._forbidden_terms(self.route.who, self.route.unknown):
            persona = persona_at(self.story, probe.who, probe.at)
            first = next(_saying(term, self.story), None)
            heard = next(_saying(term, persona_at(self.story, probe.who, Moment.end())), None)
            if first is not None and heard is not None and not any(_saying(term, persona)):
                return Unknown(persona, term, first, heard, sum(len(scene.lines) for scene in persona.past.scenes()))
        raise AssertionError(f"no probe of '{self.route.story}' asks {self.route.who} about what she learns later")

    def _forbidden_terms(self, who: str, kind: str) -> Iterator[tuple[Probe, str]]:
        for probe in probes_of(self.route.story, self.story):
            if (probe.who, probe.kind) == (who, kind):
                yield from ((probe, term) for term in probe.must_not)


def _load_agents(story: Story) -> tuple[Agent, Agent]:
    """The agent of the two moments, and that of the secret: the one that `chat` uses.

    Two moments are two prompts, and a small machine takes seconds over each; by default they are answered with what can
    be found, which tells as much about time. That there is no model is said at the end of the tour.
    """
    from understudy.judging.loading import AUTO, GUARDED, is_guarded, load_guarded

    def load(spec: str) -> Agent:
        return load_guarded(spec, lambda _: [story]) if is_guarded(spec) else load_reply_agent(spec)

    spec = os.environ.get("UNDERSTUDY_AGENT") or DEFAULT_AGENT
    chosen = load(spec)
    return (load(GUARDED) if spec == AUTO else chosen), chosen


def _saying(term: str, of: Story | Persona) -> Iterator[Line]:
    """The lines of a story, or of those that somebody remembers, that say a term."""
    scenes = of.past.scenes() if isinstance(of, Persona) else of.scenes()
    return (line for scene in scenes for line in scene.lines if term.casefold() in line.text.casefold())


@click.command(short_help="A tour of a minute.")
@shared("json")
def demo(options: Options) -> None:
    """A tour of a minute: the cast, a tie that turns, one question at two moments, a secret, and the future.

    Needs no network and nothing but what is installed. Characters answer by the agent that 'chat' uses too.

    \b
    Example:
        understudy demo
    """
    tour = Tour()
    print_json(_document(tour)) if options.as_json else _show(screen(), tour)


def _document(tour: Tour) -> dict[str, Any]:
    secret, unknown = tour.secret, tour.unknown
    persona, to = _turning(tour)
    course = courses_so_far(tour.story, persona)[to]
    return {
        "story": tour.story.title,
        "cast": cast_document(tour.story.cast()),
        "affection": {
            "of": persona.name,
            "to": to,
            "course": [{"since": since.dotted, "level": level} for since, level in course],
        },
        "answers": [answer.document() for answer in tour.answers],
        "secret": {"told": line_document(secret.told), "kept": secret.is_kept, **secret.answer.document()},
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


def _turning(tour: Tour) -> tuple[Persona, str]:
    """The character at the end, and the one towards whom the tie turns, by the name that the character knows."""
    situation = situation_at(tour.story, tour.route.who, Moment.end(), tour.route.towards)
    assert situation.faced is not None
    return situation.persona, situation.faced.name


def _show(out: Screen, tour: Tour) -> None:
    early, late = tour.answers
    scenes, lines = tour.story.count()
    out.print(heading(f"'{tour.story.title}', a story in {scenes} scenes and {lines:,} lines, comes with Understudy."))
    print_cast(out, tour.story.cast()[:MAIN_CAST], aliases=False)

    out.print(heading("\n1. A tie that turns"))
    persona, to = _turning(tour)
    print_affection(out, persona, to, courses_so_far(tour.story, persona)[to])

    out.print(heading("\n2. One question, two moments"))
    out.print(f"{clean(early.situation.persona.name)} knows what she has lived through by then and nothing else.")
    for answer, candidates in ((early, 0), (late, 2)):
        answer.show(out)
        print_why(out, answer.reply, evidence=1, candidates=candidates)

    out.print(heading("\n3. A secret, kept from the one who asks"))
    answer = tour.secret.answer
    out.print(f"{clean(answer.situation.persona.name)} remembers this, and {clean(answer.asked_by)} was not there:")
    out.print(indented(spoken([tour.secret.told], longest=LONGEST)))
    answer.show(out)
    notices = tuple(item for item in answer.reply.evidence if item.kind == "notice")
    print_why(out, replace(answer.reply, evidence=notices), candidates=0)
    if not tour.secret.is_kept:
        out.print("That told it. What the guards can find, and what not, is in docs/guards.md.")

    out.print(heading("\n4. What she cannot know yet"))
    unknown, at = tour.unknown, tour.unknown.persona.moment
    out.print(f"{clean(unknown.persona.name)} will hear this:")
    out.print(indented(spoken([unknown.heard], longest=LONGEST)))
    said = f" It was said at {unknown.first.moment.dotted}, but she was not there." if unknown.first.moment < at else ""
    remembered = f"At {at.dotted} she remembers {unknown.searched:,} lines, and none of them says"
    out.print(f"{remembered} '{clean(unknown.term)}'.{said}")

    if tour.could_be_written:
        out.print(heading("\nFor answers that are written"))
        out.print("There is no language model here: the answers above are found, not written. To get one:")
        for command in WRITING:
            out.print(indented(command))
        out.print("Or use your own: 'understudy models --help'.")
    out.print(heading("\nNow you"))
    name, faced = (person.split()[0] for person in (late.situation.persona.name, late.asked_by))
    for command in (
        f"chat {tour.route.story} {name} --at {tour.route.late} --facing {faced}",
        f"persona {tour.route.story} {name} --at {tour.route.early}",
        f"scenes {tour.route.story} --from 1.1 --to 1.2 --text",
        "read YOUR-SCRIPTS/* -o yours.story",
    ):
        out.print(indented(f"understudy {command}"))
