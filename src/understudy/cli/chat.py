"""`understudy chat`: talk with a character as of a moment."""

from __future__ import annotations

import sys
from contextlib import ExitStack

import click
from click.core import ParameterSource

from understudy.agents import draws_on_lines
from understudy.cli.conversation import Conversation, Prompt
from understudy.cli.options import (
    agent_option,
    at_option,
    facing_option,
    json_option,
    load_reply_agent,
    name_argument,
    rule_option,
    story_argument,
    with_rules,
)
from understudy.cli.progress import read_showing
from understudy.cli.show import print_json, screen
from understudy.cli.utterances import opened_store, store_option_for
from understudy.documents import reply_document

__all__ = ["chat"]


@click.command(short_help="Talk with a character as of a moment.")
@story_argument
@name_argument
@at_option
@facing_option
@agent_option
@click.option("--say", "messages", metavar="TEXT", multiple=True, help="Say this and print the reply; may be repeated.")
@store_option_for("Lines approved in this utterance database may be said too, in their time.")
@rule_option
@click.option("--why", is_flag=True, help="After each reply, show what it was made from.")
@json_option
@click.pass_context
def chat(
    ctx: click.Context, story: str, name: str, at: str, facing: str | None, agent: str, messages: tuple[str, ...],
    store: str | None, rules: tuple[str, ...], why: bool, as_json: bool,
) -> None:  # fmt: skip
    """Talk with a character, who knows the story up to a moment and nothing after it.

    In the chat, /why shows what the last reply was made from, /at 3.1 moves through time, /help lists the rest.
    Messages can also be piped in, one a line.

    \b
    Examples:
        understudy chat demo Zita --at 2.3 --facing Benedek
        understudy chat demo Zita --at 2.3 --say "Who wrote it?" --why
        understudy chat demo Zita --at 2.3 --say "Hello" --rule "psprob>=0.2"
    """
    if not messages and sys.stdin is None:
        raise click.UsageError("stdin is closed, so there is nothing to answer: add --say TEXT, or pipe messages in")
    with ExitStack() as stack:
        candidates = None
        is_explicit = ctx.get_parameter_source("store") is ParameterSource.COMMANDLINE
        if store is not None and (is_explicit or draws_on_lines(agent)):
            if not draws_on_lines(agent):
                raise click.UsageError(
                    f"'{agent}' has words of its own: --store needs an agent that answers with lines"
                )
            from understudy.judging.approved import ApprovedCandidates

            candidates = ApprovedCandidates(stack.enter_context(opened_store(store)))
        reply_agent = load_reply_agent(agent, candidates)
        opened = read_showing(story)
        filtered = with_rules(reply_agent, rules, lambda _: [opened])
        conversation = Conversation(opened, filtered, name, at, facing)
        prompt = Prompt(screen(), conversation, why)
        if as_json:
            _print_document(conversation, messages)
        elif messages:
            for message in messages:
                prompt.say(message)
        elif sys.stdin.isatty():
            prompt.talk()
        else:
            prompt.answer(sys.stdin)


def _print_document(conversation: Conversation, messages: tuple[str, ...]) -> None:
    if not messages and not sys.stdin.isatty():
        messages = tuple(line.strip() for line in sys.stdin if line.strip())
    if not messages:
        raise click.UsageError("--json needs something to answer: add --say TEXT, or pipe messages in")
    for message in messages:
        conversation.say(message)
    document = reply_document(conversation.answered[-1].reply)
    if len(messages) > 1:
        document["turns"] = list(conversation.turns())
    print_json(document)
