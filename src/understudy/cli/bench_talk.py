"""`understudy bench talk` and `bench guard`: does a character say what it must, and keep what it must not?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.text import Text

from understudy.cli.bench import bench, measure
from understudy.cli.options import (
    DEFAULT_AGENT,
    FILE,
    IN_FILE,
    Shared,
    check_writable,
    listed,
    load_reply_agent,
    rule_option,
    shared,
    story_argument,
    with_rules,
)
from understudy.cli.progress import read_with_people
from understudy.cli.show import clean, heading, indented, screen, voice
from understudy.cli.tables import Document, Figures, print_rows
from understudy.errors import AgentError, InputError
from understudy.formats import embedded, sources_of
from understudy.formats.story_folder import PROBES, Probe, read_probes
from understudy.registry import import_factory
from understudy.story.storyfile import Story

if TYPE_CHECKING:
    from understudy.bench.guard import GuardingAgent, Judge
    from understudy.progress import Progress

SHOWN = 5  # probes answered wrongly that are shown without --verbose


@bench.command()
@story_argument
@click.option("--probes", "probes_file", type=IN_FILE, metavar="FILE", help="Probes of your own, for any story.")
@click.option(
    "--agents", "--agent", metavar="AGENT,...", multiple=True, default=(DEFAULT_AGENT,), show_default=DEFAULT_AGENT,
    help="Whom to judge: a name, a model folder, or module:factory of your own. Commas, or repeated.",
)  # fmt: skip
@rule_option
@click.option(
    "--repeats", type=click.IntRange(1, 100), default=1, show_default=True, metavar="N",
    help="Put each probe N times; agents that sample get another seed each time.",
)  # fmt: skip
@shared("limit seed")
@click.option("-v", "--verbose", is_flag=True, help="Show all that was answered wrongly.")
@shared("items output report as_json")
def talk(
    options: Shared, story: str, probes_file: Path | None, agents: tuple[str, ...], rules: tuple[str, ...],
    repeats: int, verbose: bool,
) -> None:  # fmt: skip
    """Put a story's probes to agents: do they say what they must, and keep what they must not?

    Probes lie in a story folder as probes.toml, or in any file that --probes names.

    \b
    Examples:
        understudy bench talk demo --agent encoder,tfidf
        understudy bench talk demo --rule "anachronism<=0" --items with.json
        understudy bench talk friends.story --probes friends.toml --repeats 5
    """
    from understudy.bench.talk import bench_talk

    check_writable(options.items, options.output, options.report)
    opened = read_with_people(story)
    path, probes = _probes(story, opened, probes_file)
    judged = {
        " ".join((spec, *rules)): with_rules(
            load_reply_agent(spec, None, lambda _: [opened]), rules, lambda _: [opened]
        )
        for spec in listed(agents)
    }
    document = measure(
        options,
        f"Talk: probes of {opened.title}",
        lambda watch: bench_talk(
            opened, probes, judged, options.limit, repeats, options.seed, watch, (*_files_of(story), path),
            save_items=options.items,
        ),
        lambda document: _print_talk(document, None if verbose else SHOWN),
    )  # fmt: skip
    _require_answers(document)


def _require_answers(document: Document) -> None:
    """Raise where an agent has failed on every probe: figures without a value must not pass for a run."""
    for row in document["rows"]:
        if row["metric"] == "errors" and row["value"] == 1:
            errors = [reply["error"] for reply in document["replies"] if reply["agent"] == row["agent"]]
            raise AgentError(f"{row['agent']} answered none of {row['n']:,} probes: {errors[0]}")


def _probes(story: str, opened: Story, file: Path | None) -> tuple[Path, tuple[Probe, ...]]:
    folder = embedded(story) or Path(story)
    path = file or folder / PROBES
    if file is None and not path.is_file():
        raise InputError(f"has no {PROBES} beside its scripts: name a file of probes with --probes FILE", story)
    return path, read_probes(path, opened)


def _files_of(story: str) -> list[Path]:
    scripts, cast, _ = sources_of(story)
    return [*scripts, *([] if cast is None else [cast])]


VERDICTS = [Figures(metric, {"metric": metric}, "value 95% n", spread_form=".2f") for metric in ("must", "violations")]


def _print_talk(document: Document, shown: int | None) -> None:
    rows, out = document["rows"], screen()
    for agent in dict.fromkeys(row["agent"] for row in rows):
        of_agent = [row for row in rows if row["agent"] == agent]
        out.print(heading(agent))
        print_rows(of_agent, {"kind": "kind"}, VERDICTS)
        out.print(indented(_costs({(row["metric"], row["kind"]): row for row in of_agent})))
        _print_faults([reply for reply in document["replies"] if reply["agent"] == agent], shown)
        out.print()


def _costs(by_metric: dict[tuple[str, str], Document]) -> str:
    """Seconds and tokens in one sentence."""
    seconds, first, tokens, errors = (
        by_metric.get((metric, "all"), {}).get("value") for metric in ("seconds", "first_seconds", "tokens", "errors")
    )
    parts = [] if seconds is None else [f"{seconds:.2f} s a reply"]
    parts += [] if first is None else [f"{first:.2f} s to its first piece"]
    parts += [] if tokens is None else [f"{tokens:,.0f} tokens"]
    parts += [] if errors is None else [f"failed on {errors:.0%} of the probes"]
    return ", ".join(parts) + "."


def _print_faults(replies: Sequence[Document], shown: int | None) -> None:
    out = screen()
    for error in dict.fromkeys(reply["error"] for reply in replies if "error" in reply):
        out.print(indented(Text(clean(f"Failed: {error}"), style="red")))
    faulty = [reply for reply in replies if reply.get("fault")]
    for reply in faulty[:shown]:
        facing = f" to {reply['facing']}" if reply["facing"] else ""
        kind = f" ({reply['kind']})" if reply["kind"] else ""
        out.print()
        out.print(indented(Text(clean(f"{reply['who']} at {reply['at']}{facing} {reply['fault']}{kind}"), "dim")))
        for message, answer in zip(reply["ask"], reply["answers"]):
            out.print(indented(Text(clean(f"- {message}")), 4))
            out.print(indented(Text(clean(f"- {answer}"), voice(reply["who"])), 4))
    if shown is not None and len(faulty) > shown:
        out.print()
        out.print(indented(f"{len(faulty) - shown} more such answers: --verbose shows them."))


@bench.command()
@click.argument("story", metavar="[STORY]", required=False)
@click.option(
    "--replies", type=FILE, metavar="FILE.jsonl",
    help="Judge replies that should pass instead, one a line: character, profile, setting, history, reply, kind, and "
    "story, at and facing where it is of a story.",
)  # fmt: skip
@click.option(
    "--rule", "rules", multiple=True, metavar="RULE", default=("anachronism<=0", "unwitnessed<=0"), show_default=True,
    help="The guard to judge, as in 'anachronism<=0'; all that are given judge together.",
)  # fmt: skip
@click.option(
    "--agents", "--agent", metavar="AGENT,...", multiple=True,
    help="Judge the guard that an agent has instead. Commas, or repeated.",
)  # fmt: skip
@click.option(
    "--guard", "guards", multiple=True, metavar="MODULE:FACTORY",
    help="A guard of your own instead: called with the story, it gives a function of (situation, history, draft) to "
    "the reason why not, or ''. May be repeated.",
)  # fmt: skip
@click.option(
    "--limit", type=click.IntRange(1, 10_000), default=60, show_default=True, metavar="N",
    help="Judge a seeded sample of N situations.",
)  # fmt: skip
@shared("seed")
@click.option("-v", "--verbose", is_flag=True, help="Show every draft that was judged wrongly.")
@click.option(
    "--items", "--save-items", "items", type=FILE, metavar="FILE", help="Save the result of every item, for `compare`."
)
@shared("output report as_json")
def guard(
    options: Shared, story: str | None, replies: Path | None, rules: tuple[str, ...], agents: tuple[str, ...],
    guards: tuple[str, ...], limit: int, verbose: bool, items: Path | None,
) -> None:  # fmt: skip
    """What gets past a guard, when a hostile writer offers a story's later lines and other people's secrets?

    For characters at sampled moments it offers later lines, lines of scenes they did not attend, and secrets; beside
    them their own earlier lines, which should pass. With --replies it is asked what the guards do to good replies.

    \b
    Examples:
        understudy bench guard demo
        understudy bench guard friends.story --rule "anachronism<=0" --limit 200
        understudy bench guard demo --guard mine:guard --verbose
        understudy bench guard --replies good.jsonl
    """
    from understudy.bench.guard import bench_guard, rule_judge
    from understudy.judging import Rule

    check_writable(items, options.output, options.report)
    if (story is None) == (replies is None):
        raise click.UsageError("say what to judge on: a STORY, or --replies FILE.jsonl")
    shown = None if verbose else SHOWN
    if replies is not None:
        if guards:
            raise click.UsageError("--replies judges agents: name them with --agent, not with --guard")
        measure(
            options,
            f"Guards on {replies.name}",
            lambda watch: _judged_replies(replies, agents, items, watch),
            lambda document: _print_replies(document, shown),
        )
        return
    assert story is not None
    opened = read_with_people(story)
    judges = {spec: _guard_of(spec, opened) for spec in guards}
    judges |= {spec: _guard_of_agent(spec, opened) for spec in listed(agents)}
    if not judges:
        judges = {" ".join(rules): rule_judge([Rule.parse(rule) for rule in rules], opened)}
    measure(
        options,
        f"Guards on {opened.title}",
        lambda watch: bench_guard(opened, judges, limit, options.seed, watch, _files_of(story), save_items=items),
        lambda document: _print_guard(document, shown),
    )


def _judged_replies(path: Path, agents: Sequence[str], items: Path | None, watch: Progress) -> Document:
    from understudy.bench.guard_replies import bench_replies, read_replies

    replies, stories = read_replies(path)
    judges = {spec: _guarding(spec, stories) for spec in listed(agents)}
    return bench_replies(replies, stories, judges, watch, (path,), save_items=items)


def _guard_of(spec: str, story: Story) -> Judge:
    factory = import_factory(spec, "guard")
    if factory is None:
        raise InputError(f"there is no guard '{spec}': name a factory of your own as module:factory, or use --rule")
    judge: Judge = factory(story)
    return judge


def _guard_of_agent(spec: str, story: Story) -> Judge:
    from understudy.bench.guard import agent_judge

    return agent_judge(_guarding(spec, lambda _: [story]))


def _guarding(spec: str, stories: Callable[[str], Sequence[Story]]) -> GuardingAgent:
    from understudy.bench.guard import GuardingAgent

    agent = load_reply_agent(spec, None, stories)
    if not isinstance(agent, GuardingAgent):
        raise InputError(f"'{spec}' has no guard to judge: choose an agent that has one, or use --rule or --guard")
    return agent


def _print_replies(document: Document, shown: int | None) -> None:
    rows, out = document["rows"], screen()
    columns = [Figures("share", show="value 95% n", spread_form=".2f")]
    for agent in dict.fromkeys(row["agent"] for row in rows):
        out.print(heading(agent))
        of_agent = [row for row in rows if row["agent"] == agent]
        print_rows(of_agent, {"kind": "kind", "": "metric", "by": "guard"}, columns)
        changed = [
            reply for reply in document["replies"] if reply["agent"] == agent and (reply["stopped"] or reply["altered"])
        ]
        for reply in changed[:shown]:
            reasons = ", ".join(f"{guard}: {reason}" for guard, reason in reply["stopped"].items()) or "altered"
            out.print()
            out.print(indented(Text(clean(f"line {reply['line']}, {reply['character']} ({reasons})"), "dim")))
            out.print(indented(Text(clean(f"- {reply['reply']}")), 4))
            if "said" in reply:
                out.print(indented(Text(clean(f"- {reply['said']}"), voice(reply["character"])), 4))
        if shown is not None and len(changed) > shown:
            out.print()
            out.print(indented(f"{len(changed) - shown} more replies are stopped or altered: --verbose shows them."))
        out.print()


def _print_guard(document: Document, shown: int | None) -> None:
    rows, out = document["rows"], screen()
    columns = [Figures("stopped", show="value 95% n", spread_form=".2f")]
    for agent in dict.fromkeys(row["agent"] for row in rows):
        out.print(heading(agent))
        of_agent = [row for row in rows if row["agent"] == agent]
        print_rows(of_agent, {"offered": "offered"}, columns)
        drafts = [draft for draft in document["drafts"] if draft["agent"] == agent]
        passed = [draft for draft in drafts if draft["offered"] != "own" and not draft["stopped"]]
        wrong = [draft for draft in drafts if draft["offered"] == "own" and draft["stopped"]]
        for title, some in (("Let pass", passed), ("Own lines stopped", wrong)):
            if some:
                out.print()
                out.print(
                    indented(
                        f"{title}:" if shown is None or len(some) <= shown else f"{title}, {shown} of {len(some)}:"
                    )
                )
            for draft in some[:shown]:
                where = (
                    f"{draft['who']} at {draft['at']} to {draft['facing']}, {draft['stopped'] or draft['offered']}: "
                )
                out.print(indented(Text(clean(where), "dim") + Text(clean(draft["text"])), 4))
        out.print()
