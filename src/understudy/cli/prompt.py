"""`understudy prompt`: what a language model is told about a character."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import click
from rich.text import Text

from understudy.agents.prompting import BUDGET, STYLES, Prompt, build_prompt
from understudy.cli.found_people import read_with_people
from understudy.cli.options import (
    annotated_option,
    at_option,
    facing_option,
    json_option,
    name_argument,
    story_argument,
)
from understudy.cli.show import Column, Screen, clean, heading, indented, print_json, print_table, screen
from understudy.errors import AgentError, MissingExtra
from understudy.story.dialogue import USER_NAME, Situation, Turn, situation_at

__all__ = ["prompt"]


@runtime_checkable
class Prompting(Protocol):
    """An agent that can show its prompt."""

    def prompt(self, situation: Situation, history: list[Turn]) -> Prompt: ...


@click.command(short_help="What a language model is told about a character.")
@story_argument
@name_argument
@at_option
@facing_option
@click.option(
    "--say", "messages", metavar="TEXT", multiple=True, help="What is said to the character; may be repeated."
)
@click.option("--agent", metavar="AGENT", help="The prompt of this agent, counted by its model: llm, local, writer ...")
@click.option(
    "--style", type=click.Choice(STYLES), default="instructions", show_default=True,
    help="Without --agent: for models that follow instructions, or for the writer that ships.",
)  # fmt: skip
@click.option(
    "--budget", type=click.IntRange(min=1), metavar="TOKENS",
    help=f"Without --agent: how long it may be.  [default: {', '.join(f'{BUDGET[each]} ({each})' for each in STYLES)}]",
)  # fmt: skip
@click.option(
    "--title", "has_title", is_flag=True, help="Without --agent: tell the story's title, which invites reciting it."
)
@annotated_option
@json_option
def prompt(
    story: str, name: str, at: str, facing: str | None, messages: tuple[str, ...], agent: str | None, style: str,
    budget: int | None, has_title: bool, annotated: bool, as_json: bool,
) -> None:  # fmt: skip
    """The prompt from which a language model would answer as a character: its messages, sections and tokens.

    Nothing that comes later in the story is part of it. Tokens are estimated unless --agent names a model that counts
    them; what gave way to the budget is in the column 'dropped'.

    \b
    Examples:
        understudy prompt demo Zita --at 2.3 --facing Benedek --say "Who?"
        understudy prompt demo Zita --say "Who are you?" --style compact
    """
    opened = read_with_people(story, annotated)
    situation = situation_at(opened, name, at, facing)
    speaker = situation.faced.name if situation.faced else USER_NAME
    history = [Turn(speaker, message) for message in messages]
    built = _of_agent(agent, situation, history) if agent else _of_style(style, budget, situation, history, has_title)
    if as_json:
        print_json(_document(built))
    else:
        _show(screen(), built)


def _of_agent(spec: str, situation: Situation, history: list[Turn]) -> Prompt:
    from understudy.agents import WRITING, agent_named

    try:
        agent = agent_named(spec)
    except (AgentError, MissingExtra) as error:
        if spec.partition(":")[0] not in WRITING:
            raise
        click.echo(f"{error}\nUntil then tokens are estimated.", err=True)
        return _of_style("compact" if spec == "writer" else "instructions", None, situation, history)
    if not isinstance(agent, Prompting):
        raise AgentError(f"'{spec}' answers without a prompt: choose from {', '.join(sorted(WRITING))}")
    return agent.prompt(situation, history)


def _of_style(
    style: str, budget: int | None, situation: Situation, history: list[Turn], has_title: bool = False
) -> Prompt:
    from understudy.agents.recall import Recall

    recalled = Recall().recall(situation, history)
    return build_prompt(situation, history, recalled, budget, style=style, has_title=has_title)


def _document(built: Prompt) -> dict[str, Any]:
    return {
        "messages": [{"role": message.role, "content": message.content} for message in built.messages],
        "sections": [
            {"name": section.name, "tokens": section.tokens, "dropped": section.dropped} for section in built.sections
        ],
    }


def _show(out: Screen, built: Prompt) -> None:
    for message in built.messages:
        out.print(heading(message.role))
        out.print(indented(Text(clean(message.content))))
        out.print()
    columns: list[Column] = ["section", ("tokens", {"justify": "right"}), ("dropped", {"justify": "right"})]
    rows = [(section.name, str(section.tokens), str(section.dropped or "")) for section in built.sections]
    print_table(out, columns, [*rows, ("in all, with what the chat adds", str(built.tokens), "")], indent=0)
