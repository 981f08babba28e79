"""The arguments and options that several commands share, and what is made from them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from understudy.errors import AgentError, InputError

if TYPE_CHECKING:
    from understudy.agents.pools import Candidates
    from understudy.story.dialogue import Agent
    from understudy.story.storyfile import Story
    from understudy.story.types import LoreEntry

PATH, IN_PATH = click.Path(path_type=Path), click.Path(path_type=Path, exists=True)
FILE, IN_FILE = (click.Path(path_type=Path, exists=exists, dir_okay=False) for exists in (False, True))
FOLDER, IN_FOLDER = (click.Path(path_type=Path, exists=exists, file_okay=False) for exists in (False, True))
DEFAULT_AGENT = "auto"
MAX_KEYS, MAX_KEY = 5, 80  # how many keys are named in a notice, and how many characters of each

Recipe = Callable[..., Callable[[Any], Any]]
"""What makes an option; called with `help`, one of another wording."""
SHARED: dict[str, Recipe] = {
    "story": partial(click.argument, "story", metavar="STORY"),
    "name": partial(click.argument, "name", metavar="NAME"),
    "facing": partial(
        click.option, "--facing", metavar="OTHER", help="Whom the character faces: a name, or 'Tom: a sailor, 40'."
    ),
    "at": partial(
        click.option, "--at", metavar="MOMENT", default="end", show_default=True,
        help="When: the character knows what came before this moment, and nothing of what comes after.",
    ),
    "annotated": partial(
        click.option, "--annotated", is_flag=True,
        help="Only what the story's author wrote: without what `draft` found in the text.",
    ),
    "agent": partial(
        click.option, "--agent", metavar="AGENT", default=DEFAULT_AGENT, show_default=True, envvar="UNDERSTUDY_AGENT",
        help="Reply agent: a name, llm:MODEL, local:MODEL, batch:FOLDER, guarded:AGENT, a model folder, or "
        "module:factory.",
    ),
    "rules": partial(
        click.option, "--rule", "rules", multiple=True, metavar="RULE",
        help="Say only what passes, as in 'anachronism<=0'; may be repeated.",
    ),
    "lore": partial(
        click.option, "--lore", metavar="FILE", type=PATH, multiple=True,
        help="A lorebook (world info JSON, or a card): what a talk may bring up; may be repeated.",
    ),
    "text_column": partial(
        click.option, "--columns", multiple=True, metavar="text=NAME",
        help="The column of a table, or key of JSON lines, that holds the text (default: text, or another usual name).",
    ),
    "names": partial(
        click.option, "--names", type=click.Choice(["keep", "mask", "swap"]), default="keep", show_default=True,
        help="What becomes of their names inside the text: swapped, fame is of no use.",
    ),
    "main": partial(
        click.option, "--main", "most", type=click.IntRange(2, 200), default=6, show_default=True, metavar="N",
        help="How many main characters are hidden: those who speak most.",
    ),
    "data": partial(
        click.option, "--data", type=IN_FOLDER, required=True, metavar="DIR", help="The folder that has its files."
    ),
    "split": partial(
        click.option, "--split", default="valid", show_default=True, help="Which files: those that begin with it."
    ),
    "limit": partial(
        click.option, "--limit", type=click.IntRange(min=1), metavar="N", help="Judge a seeded sample of N."
    ),
    "seed": partial(
        click.option, "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Which sample."
    ),
    "items": partial(
        click.option, "--items", type=FILE, metavar="FILE", help="Save the result of every item, for `compare`."
    ),
    "cache": partial(click.option, "--cache", type=FOLDER, help="Keep answers here, to go on later."),
    "output": partial(
        click.option, "-o", "--output", type=FILE, metavar="FILE", help="Write the whole document to a file."
    ),
    "report": partial(click.option, "--report", type=FILE, metavar="FILE.html", help="Write a report to look at."),
    "verbose": partial(click.option, "-v", "--verbose", is_flag=True, help="Show all that was answered wrongly."),
    "force": partial(click.option, "--force", is_flag=True, help="Replace the file if it is there already."),
    "json": partial(click.option, "--json", "as_json", is_flag=True, help="Print one JSON document instead."),
}  # fmt: skip
"""The arguments and options that several commands have."""


@dataclass(frozen=True, slots=True)
class Options:
    """The values of shared options, as far as a command has them."""

    story: str = ""
    name: str = ""
    at: str = "end"
    facing: str | None = None
    annotated: bool = False
    agent: str = DEFAULT_AGENT
    lore: tuple[Path, ...] = ()
    rules: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    names: str = "keep"
    most: int = 6
    data: Path = Path()
    split: str = "valid"
    limit: int | None = None
    seed: int = 0
    items: Path | None = None
    cache: Path | None = None
    output: Path | None = None
    report: Path | None = None
    verbose: bool = False
    force: bool = False
    as_json: bool = False

    def check_outputs(self) -> None:
        """Fail early if a folder to write into is missing."""
        for path in (self.items, self.output, self.report):
            check_output(path)


Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def option_group(parameter: str, values: type[Any], recipes: Mapping[str, Recipe]) -> Callable[..., Decorator]:
    """A decorator that adds options by their names, in this order, some of them with a help text of the command's own.

    The command gets what was given for them as one dataclass, `values`, with whatever else it has by the name of one of
    its fields.
    """
    own = {field.name for field in fields(values)}

    def adding(names: str, **helps: str) -> Decorator:
        def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
            @wraps(command)
            def gathered(*arguments: Any, **received: Any) -> Any:
                collected = {name: received.pop(name) for name in own & received.keys()}
                received[parameter] = replace(received.get(parameter, values()), **collected)
                return command(*arguments, **received)

            decorated: Callable[..., Any] = gathered
            for name in reversed(names.split()):
                decorated = recipes[name](**({"help": helps[name]} if name in helps else {}))(decorated)
            return decorated

        return decorate

    return adding


shared = option_group("options", Options, SHARED)


def agents_option(description: str, default: tuple[str, ...] = (), shown: str = "") -> Callable[[Any], Any]:
    """`--agents`, for commands that judge or ask several."""
    return click.option(
        "--agents", "--agent", metavar="AGENT,...", multiple=True, default=default,
        show_default=",".join(default) or shown or None, help=f"{description} Commas, or repeated.",
    )  # fmt: skip


def check_output(path: Path | None, sources: Iterable[Path | None] = (), force: bool = True) -> None:
    """Raise early where an output cannot be written, is one of the inputs, or exists and may not be replaced."""
    if path is None:
        return
    if not path.absolute().parent.is_dir():
        raise InputError("cannot be written: there is no such folder", path)
    if path.exists() and any(source is not None and source.exists() and path.samefile(source) for source in sources):
        raise InputError("is what is being read, and would be lost: name another place to write to", path)
    if path.exists() and not force:
        raise InputError("is there already: say --force to replace it, or -o for another place", path)


def key_in(path: Path, is_one_word: bool = False) -> str:
    """The key that a file holds."""
    try:
        key = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            "cannot be read as a key: give a text file that holds the key and nothing else", path
        ) from error
    if not key or "\n" in key or (is_one_word and len(key.split()) > 1):
        raise InputError("holds no key, or more than one: write the key into it and nothing else", path)
    return key


def lore_in(files: Sequence[Path]) -> tuple[LoreEntry, ...]:
    """The entries of the lorebooks given with --lore; keys that cannot be what they are written as are told."""
    from understudy.cli.show import clean
    from understudy.formats.cards.lore_files import read_lore
    from understudy.formats.cards.lorebook import unsupported_patterns

    entries = tuple(entry for file in files for entry in read_lore(file))
    unsupported = list(unsupported_patterns(entries))
    for _, key, reason in unsupported[:MAX_KEYS]:
        click.echo(f"--lore: the pattern {clean(key)[:MAX_KEY]} is taken as a plain text: {reason}.", err=True)
    if more := len(unsupported[MAX_KEYS:]):
        click.echo(f"--lore: so are {more:,} more.", err=True)
    return entries


def slug(text: str) -> str:
    """A text as part of the name of a file or a model."""
    return re.sub(r"[^\w.-]+", "-", text).strip("-.")


def listed(values: Sequence[str]) -> list[str]:
    """Names given with commas, or one by one, or both."""
    return [name.strip() for value in values for name in value.split(",") if name.strip()]


def named_columns(options: Sequence[str]) -> dict[str, str]:
    """`speaker=Sprecher,text=Zeile` as a mapping."""
    named: dict[str, str] = {}
    for pair in ",".join(options).split(","):
        kind, equals, column = pair.partition("=")
        if pair.strip() and not equals:
            raise click.UsageError(f"--columns is given as speaker=NAME,text=NAME, not '{pair}'")
        if pair.strip():
            named[kind.strip().lower()] = column.strip()
    return named


def text_column(options: Sequence[str]) -> str | None:
    """The column that `--columns text=NAME` names."""
    named = named_columns(options)
    if any(kind != "text" for kind in named):
        raise click.UsageError("--columns names the column of the text alone here: text=NAME")
    return named.get("text")


def load_reply_agent(
    spec: str, candidates: Candidates | None = None, stories: Callable[[str], Sequence[Story]] | None = None
) -> Agent:
    """The agent that `--agent` names, if it can reply. Guards judge within `stories`: a story by its identity."""
    from understudy.agents import agent_named
    from understudy.story.dialogue import Agent

    if spec == "auto" or spec.partition(":")[0] == "guarded":
        from understudy.judging.loading import load_guarded

        guarded = load_guarded(spec, stories or (lambda _: ()), candidates)
        if guarded.notice:
            click.echo(guarded.notice, err=True)
        return guarded
    agent = agent_named(spec, candidates)
    if not isinstance(agent, Agent):
        raise AgentError(f"'{spec}' ranks replies but gives none of its own: choose an agent that has `reply`")
    return agent


def with_rules(agent: Agent, rules: Sequence[str], stories: Callable[[str], Sequence[Story]]) -> Agent:
    """The agent behind the rules that `--rule` gives; `stories` finds one by its identity."""
    if not rules:
        return agent
    from understudy.judging import Rule
    from understudy.judging.filtering import FilteredAgent, StoryMetrics

    parsed = [Rule.parse(rule) for rule in rules]
    return FilteredAgent(agent, parsed, StoryMetrics((rule.metric for rule in parsed), stories))
