"""The arguments and options that several commands share, and what is made from them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from understudy.errors import AgentError, InputError

if TYPE_CHECKING:
    from understudy.agents.pools import Candidates
    from understudy.story.dialogue import Agent
    from understudy.story.storyfile import Story
    from understudy.story.types import LoreEntry

__all__ = [
    "DEFAULT_AGENT",
    "FILE",
    "FOLDER",
    "IN_FILE",
    "Shared",
    "agent_option",
    "annotated_option",
    "at_option",
    "check_writable",
    "columns_option",
    "existing_refused",
    "facing_option",
    "force_option",
    "json_option",
    "listed",
    "load_reply_agent",
    "lore_in",
    "lore_option",
    "name_argument",
    "named_columns",
    "names_option",
    "rule_option",
    "seed_option",
    "shared",
    "story_argument",
    "text_column",
    "text_column_option",
    "with_rules",
]

FILE = click.Path(path_type=Path, dir_okay=False)
IN_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)
FOLDER = click.Path(path_type=Path, exists=True, file_okay=False)

story_argument = click.argument("story", metavar="STORY")
name_argument = click.argument("name", metavar="NAME")
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead.")
facing_option = click.option(
    "--facing", metavar="OTHER", help="Whom the character faces: a name, or 'Tom: a sailor, 40'."
)
at_option = click.option(
    "--at", metavar="MOMENT", default="end", show_default=True,
    help="When: the character knows what came before this moment, and nothing of what comes after.",
)  # fmt: skip
annotated_option = click.option(
    "--annotated", is_flag=True, help="Only what the story's author wrote: without what `draft` found in the text."
)
DEFAULT_AGENT = "auto"
agent_option = click.option(
    "--agent", metavar="AGENT", default=DEFAULT_AGENT, show_default=True, envvar="UNDERSTUDY_AGENT",
    help="Reply agent: a name, llm:MODEL, local:MODEL, batch:FOLDER, guarded:AGENT, a model folder, or module:factory.",
)  # fmt: skip
rule_option = click.option(
    "--rule", "rules", multiple=True, metavar="RULE",
    help="Say only what passes, as in 'anachronism<=0'; may be repeated.",
)  # fmt: skip
lore_option = click.option(
    "--lore", "lore", metavar="FILE", type=click.Path(path_type=Path), multiple=True,
    help="A lorebook (world info JSON, or a card): what a talk may bring up; may be repeated.",
)  # fmt: skip
columns_option = click.option(
    "--columns", multiple=True, metavar="KIND=NAME,...",
    help="Columns of a table (keys of JSON lines): speaker=..., text=..., scene=..., episode=... and others.",
)  # fmt: skip
text_column_option = click.option(
    "--columns", multiple=True, metavar="text=NAME",
    help="The column of a table, or key of JSON lines, that holds the text (default: text, or another usual name).",
)  # fmt: skip
MAX_KEYS, MAX_KEY = 5, 80  # how many keys are named in a notice, and how many characters of each
force_option = click.option("--force", is_flag=True, help="Replace the file if it is there already.")
seed_option = click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Which sample.")
names_option = click.option(
    "--names", type=click.Choice(["keep", "mask", "swap"]), default="keep", show_default=True,
    help="What becomes of their names inside the text: swapped, fame is of no use.",
)  # fmt: skip

SHARED: dict[str, Callable[..., Any]] = {
    "data": click.option("--data", type=FOLDER, required=True, help="The folder that has its files."),
    "limit": click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Judge a seeded sample of N."),
    "seed": seed_option,
    "items": click.option("--items", type=FILE, metavar="FILE", help="Save the result of every item, for `compare`."),
    "output": click.option("-o", "--output", type=FILE, metavar="FILE", help="Write the whole document to a file."),
    "report": click.option("--report", type=FILE, metavar="FILE.html", help="Write a report to look at."),
    "as_json": json_option,
}
Command = TypeVar("Command", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Shared:
    """What benches have in common: the data, which sample of it is judged, and where the results go."""

    data: Path = Path()
    limit: int | None = None
    seed: int = 0
    items: Path | None = None
    output: Path | None = None
    report: Path | None = None
    as_json: bool = False


def shared(names: str) -> Callable[[Command], Callable[..., Any]]:
    """Adds the options of these names, in this order; the command gets their values as `options: Shared`."""

    def decorate(command: Command) -> Callable[..., Any]:
        @wraps(command)
        def gathered(**given: Any) -> Any:
            values = {name: given.pop(name) for name in names.split()}
            return command(**given | {"options": replace(given.get("options", Shared()), **values)})

        decorated: Callable[..., Any] = gathered
        for name in reversed(names.split()):
            decorated = SHARED[name](decorated)
        return decorated

    return decorate


def check_writable(*paths: Path | None) -> None:
    """Fail early if an output folder is missing."""
    for path in paths:
        if path is not None and not path.parent.is_dir():
            raise InputError("cannot be written: there is no such folder", path)


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


def existing_refused(path: Path, force: bool, sources: Iterable[Path] = ()) -> None:
    """Raise where `path` exists and may not be overwritten; an input file never may."""
    if path.exists() and any(source.exists() and path.samefile(source) for source in sources):
        raise InputError("is what is being read, and would be lost: say with -o another place", path)
    if path.exists() and not force:
        raise InputError("is there already: say --force to replace it, or -o for another place", path)


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
    from understudy.judging import FilteredAgent, Rule, StoryMetrics

    parsed = [Rule.parse(rule) for rule in rules]
    return FilteredAgent(agent, parsed, StoryMetrics((rule.metric for rule in parsed), stories))
