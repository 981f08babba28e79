"""`understudy models` and `prompt`: which language models there are, and what one is told about a character."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any, Protocol, runtime_checkable

import click
from rich.text import Text

from understudy.agents.prompt import BUDGET, STYLES, Prompt, build_prompt
from understudy.cli.options import Options, shared
from understudy.cli.progress import downloading, situation_of, working
from understudy.cli.show import Screen, clean, heading, indented, print_json, print_table, screen
from understudy.errors import AgentError, MissingExtra
from understudy.story.dialogue import USER_NAME, Situation, Turn

Row = dict[str, Any]
MISSING = "needs pip install '.[local]'"


@click.group(invoke_without_command=True, short_help="List language models; fetch and remove those that run here.")
@shared("json")
@click.pass_context
def models(ctx: click.Context, options: Options) -> None:
    """Language models: in this process (`local`), and behind a server (`llm`), set up or answering on this machine.

    Every other model can be asked through files: `--agent batch:FOLDER` writes the requests, and reads the answers.

    \b
    Examples:
        understudy models
        understudy models pull smollm2
        understudy models pull hub:OWNER/REPO/FILE.gguf
        understudy models remove smollm2
    """
    if ctx.invoked_subcommand is not None:
        return
    from understudy.language.backends.catalog import SUGGESTED, installed_model

    with working("Looking for models"):
        rows = [*_local_rows(), *_llm_rows()]
    if options.as_json:
        print_json({"models": rows})
        return
    shown = [(row["name"], row["backend"], "yes" if row["ready"] else "no", row["where"]) for row in rows]
    print_table(screen(), ["name", "back end", "ready", "where"], shown, indent=0)
    if suggested := [model for model in SUGGESTED if installed_model(model.name) is None]:
        click.echo("Larger models talk better. One command fetches one (disk, memory, licence):")
    for model in suggested:
        click.echo(f"  understudy models pull {model.name}")
        click.echo(f"      {model.disk_gb:.1f} GB, {model.memory_gb:.1f} GB, {model.licence}")


@models.command()
@click.argument("name", metavar="NAME")
@shared("json")
def pull(options: Options) -> None:
    """Fetch a model that runs in this process: `smollm2`, or hub:OWNER/REPO/FILE.gguf of the Hugging Face hub.

    Stopped or broken off, it is taken up where it was by the same command. A model of the hub that is not given to
    everybody needs a token in HF_TOKEN.

    \b
    Examples:
        understudy models pull smollm2
        understudy models pull hub:OWNER/REPO/FILE.gguf
    """
    from understudy.language.backends.catalog import pull

    try:
        with downloading() as progress:
            path = pull(options.name, progress)
    except KeyboardInterrupt:
        click.echo("\nThe same command takes it up from here.", err=True)
        raise
    if options.as_json:
        print_json({"models": [_row(options.name, path)]})
        return
    click.echo(f"{options.name} is in {path} ({path.stat().st_size // 1_000_000} MB).")
    if find_spec("xllamacpp") is None:
        click.echo("To talk with it: pip install '.[local]'")
        return
    click.echo(f"Talk with it: understudy chat demo Zita --agent local:{options.name}")


@models.command()
@click.argument("name", metavar="NAME")
@click.option("--yes", is_flag=True, help="Do not ask first.")
def remove(name: str, yes: bool) -> None:
    """Delete a model that was pulled.

    \b
    Example:
        understudy models remove smollm2
    """
    from understudy.language.backends.catalog import find_model, remove

    path = find_model(name)
    if not yes:
        click.confirm(f"Delete {path} ({path.stat().st_size // 1_000_000} MB)?", abort=True)
    click.echo(f"Deleted {remove(name)}.")


def _local_rows() -> Iterator[Row]:
    from understudy.language.backends.catalog import local_models

    for model in local_models():
        yield _row(model.name, model.path)


def _row(name: str, path: object) -> Row:
    where = f"understudy models pull {name}" if path is None else str(path)
    is_runnable = find_spec("xllamacpp") is not None
    if path is not None and not is_runnable:
        where += f" ({MISSING})"
    return {"name": name, "backend": "local", "where": where, "ready": path is not None and is_runnable}


def _llm_rows() -> Iterator[Row]:
    """Servers that are set up, and servers that answer on this machine."""
    from understudy.language.backends.exchange import find_local_servers
    from understudy.language.backends.settings import configured_llms

    set_up = set()
    for llm in configured_llms():
        set_up.add((llm.url, llm.model))
        where = f"{llm.url} ({llm.problem})" if llm.problem else llm.url
        yield {"name": llm.name, "backend": "llm", "where": where, "ready": not llm.problem}
    for url, names in find_local_servers():
        for name in names:
            if (url, name) not in set_up:
                yield {"name": name, "backend": "llm", "where": f"{url} (answers; not set up)", "ready": False}


@runtime_checkable
class Prompting(Protocol):
    """An agent that can show its prompt."""

    def prompt(self, situation: Situation, history: list[Turn]) -> Prompt: ...


@click.command(short_help="What a language model is told about a character.")
@shared("story name at facing")
@click.option(
    "--say", "messages", metavar="TEXT", multiple=True, help="What is said to the character; may be repeated."
)
@click.option(
    "--agent", "spec", metavar="AGENT", help="The prompt of this agent, counted by its model: llm, local, writer ..."
)
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
@shared("annotated json")
def prompt(
    options: Options, messages: tuple[str, ...], spec: str | None, style: str, budget: int | None, has_title: bool
) -> None:
    """The prompt from which a language model would answer as a character: its messages, sections and tokens.

    Nothing that comes later in the story is part of it. Tokens are estimated unless --agent names a model that counts
    them; what gave way to the budget is in the column 'dropped'.

    \b
    Examples:
        understudy prompt demo Zita --at 2.3 --facing Benedek --say "Who?"
        understudy prompt demo Zita --say "Who are you?" --style compact
    """
    _, situation = situation_of(options)
    speaker = situation.faced.name if situation.faced else USER_NAME
    history = [Turn(speaker, message) for message in messages]
    built = _of_agent(spec, situation, history) if spec else _of_style(style, budget, situation, history, has_title)
    print_json(_document(built)) if options.as_json else _show(screen(), built)


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
    rows = [(section.name, str(section.tokens), str(section.dropped or "")) for section in built.sections]
    print_table(
        out,
        ["section", ">tokens", ">dropped"],
        [*rows, ("in all, with what the chat adds", str(built.tokens), "")],
        indent=0,
    )
