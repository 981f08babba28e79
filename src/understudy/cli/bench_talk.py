"""`understudy bench talk` and `bench guard`: does a character say what it must, and keep what it must not?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.text import Text

from understudy.cli.bench import measure
from understudy.cli.options import (
    DEFAULT_AGENT,
    FILE,
    IN_FILE,
    Options,
    agents_option,
    listed,
    load_reply_agent,
    shared,
    with_rules,
)
from understudy.cli.progress import read_with_people
from understudy.cli.show import Document, Figures, Screen, clean, grouped, heading, indented, print_rows, screen, voice
from understudy.errors import AgentError, InputError
from understudy.formats import embedded, sources_of
from understudy.formats.story_folder import PROBES, Probe, read_probes
from understudy.registry import import_factory
from understudy.story.storyfile import Story

if TYPE_CHECKING:
    from understudy.bench.guard import GuardingAgent, Judge
    from understudy.progress import Progress

SHOWN = 5  # probes answered wrongly that are shown without --verbose


@click.command()
@shared("story")
@click.option("--probes", "probes_file", type=IN_FILE, metavar="FILE", help="Probes of your own, for any story.")
@agents_option("Whom to judge: a name, a model folder, or module:factory of your own.", (DEFAULT_AGENT,))
@shared("rules")
@click.option(
    "--repeats", type=click.IntRange(1, 100), default=1, show_default=True, metavar="N",
    help="Put each probe N times; agents that sample get another seed each time.",
)  # fmt: skip
@shared("limit seed verbose items output report json")
def talk(options: Options, probes_file: Path | None, agents: tuple[str, ...], repeats: int) -> None:
    """Put a story's probes to agents: do they say what they must, and keep what they must not?

    Probes lie in a story folder as probes.toml, or in any file that --probes names.

    \b
    Examples:
        understudy bench talk demo --agent encoder,tfidf
        understudy bench talk demo --rule "anachronism<=0" --items with.json
        understudy bench talk friends.story --probes friends.toml --repeats 5
    """
    from understudy.bench.talk import bench_talk

    options.check_outputs()
    opened = read_with_people(options.story)
    path, probes = _probes(options.story, opened, probes_file)
    judged = {
        " ".join((spec, *options.rules)): with_rules(
            load_reply_agent(spec, None, lambda _: [opened]), options.rules, lambda _: [opened]
        )
        for spec in listed(agents)
    }
    document = measure(
        options,
        f"Talk: probes of {opened.title}",
        lambda watch: bench_talk(
            opened, probes, judged, options.limit, repeats, options.seed, watch, (*_files_of(options.story), path),
            save_items=options.items,
        ),
        lambda document: _print_talk(document, None if options.verbose else SHOWN),
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
    out, replies = screen(), grouped(document["replies"], "agent")
    for agent, of_agent in grouped(document["rows"], "agent").items():
        out.print(heading(agent))
        print_rows(of_agent, {"kind": "kind"}, VERDICTS)
        out.print(indented(_costs({(row["metric"], row["kind"]): row for row in of_agent})))
        for error in dict.fromkeys(reply["error"] for reply in replies.get(agent, ()) if "error" in reply):
            out.print(indented(Text(clean(f"Failed: {error}"), style="red")))
        faulty = [reply for reply in replies.get(agent, ()) if reply.get("fault")]
        for reply in faulty[:shown]:
            facing = f" to {reply['facing']}" if reply["facing"] else ""
            kind = f" ({reply['kind']})" if reply["kind"] else ""
            said = [
                pair for turn in zip(reply["ask"], reply["answers"]) for pair in zip(turn, ("", voice(reply["who"])))
            ]
            _print_example(out, f"{reply['who']} at {reply['at']}{facing} {reply['fault']}{kind}", said)
        _print_more(out, len(faulty), shown, "such answers: --verbose shows them.")
        out.print()


def _print_example(out: Screen, about: str, said: Iterable[tuple[str, str]]) -> None:
    """What an example is about, and what was said in it, each with its style."""
    out.print()
    out.print(indented(Text(clean(about), "dim")))
    for text, style in said:
        out.print(indented(Text(clean(f"- {text}"), style), 4))


def _print_more(out: Screen, number: int, shown: int | None, what: str) -> None:
    if shown is not None and number > shown:
        out.print()
        out.print(indented(f"{number - shown} more {what}"))


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


@click.command()
@click.argument("story", metavar="[STORY]", default="")
@click.option(
    "--replies", type=FILE, metavar="FILE.jsonl",
    help="Judge replies that should pass instead, one a line: character, profile, setting, history, reply, kind, and "
    "story, at and facing where it is of a story.",
)  # fmt: skip
@click.option(
    "--rule", "rules", multiple=True, metavar="RULE", default=("anachronism<=0", "unwitnessed<=0"), show_default=True,
    help="The guard to judge, as in 'anachronism<=0'; all that are given judge together.",
)  # fmt: skip
@agents_option("Judge the guard that an agent has instead.")
@click.option(
    "--guard", "guards", multiple=True, metavar="MODULE:FACTORY",
    help="A guard of your own instead: called with the story, it gives a function of (situation, history, draft) to "
    "the reason why not, or ''. May be repeated.",
)  # fmt: skip
@click.option(
    "--limit", type=click.IntRange(1, 10_000), default=60, show_default=True, metavar="N",
    help="Judge a seeded sample of N situations.",
)  # fmt: skip
@shared("seed verbose", verbose="Show every draft that was judged wrongly.")
@click.option(
    "--items", "--save-items", "items", type=FILE, metavar="FILE", help="Save the result of every item, for `compare`."
)
@shared("output report json")
def guard(options: Options, replies: Path | None, agents: tuple[str, ...], guards: tuple[str, ...]) -> None:
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
    from understudy.bench.guard import SITUATIONS, bench_guard, rule_judge
    from understudy.judging import Rule

    if bool(options.story) == (replies is not None):
        raise click.UsageError("say what to judge on: a STORY, or --replies FILE.jsonl")
    shown = None if options.verbose else SHOWN
    if replies is not None:
        if guards:
            raise click.UsageError("--replies judges agents: name them with --agent, not with --guard")
        measure(
            options,
            f"Guards on {replies.name}",
            lambda watch: _judged_replies(replies, agents, options.items, watch),
            lambda document: _print_replies(document, shown),
        )
        return
    options.check_outputs()
    opened = read_with_people(options.story)
    judges = {spec: _guard_of(spec, opened) for spec in guards}
    judges |= {spec: _guard_of_agent(spec, opened) for spec in listed(agents)}
    if not judges:
        judges = {" ".join(options.rules): rule_judge([Rule.parse(rule) for rule in options.rules], opened)}
    measure(
        options,
        f"Guards on {opened.title}",
        lambda watch: bench_guard(
            opened,
            judges,
            options.limit or SITUATIONS,
            options.seed,
            watch,
            _files_of(options.story),
            save_items=options.items,
        ),
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
    out, replies = screen(), grouped(document["replies"], "agent")
    columns = [Figures("share", show="value 95% n", spread_form=".2f")]
    for agent, of_agent in grouped(document["rows"], "agent").items():
        out.print(heading(agent))
        print_rows(of_agent, {"kind": "kind", "": "metric", "by": "guard"}, columns)
        changed = [reply for reply in replies.get(agent, ()) if reply["stopped"] or reply["altered"]]
        for reply in changed[:shown]:
            reasons = ", ".join(f"{guard}: {reason}" for guard, reason in reply["stopped"].items()) or "altered"
            said = [(reply["reply"], ""), *([(reply["said"], voice(reply["character"]))] if "said" in reply else [])]
            _print_example(out, f"line {reply['line']}, {reply['character']} ({reasons})", said)
        _print_more(out, len(changed), shown, "replies are stopped or altered: --verbose shows them.")
        out.print()


def _print_guard(document: Document, shown: int | None) -> None:
    out, drafts = screen(), grouped(document["drafts"], "agent")
    columns = [Figures("stopped", show="value 95% n", spread_form=".2f")]
    for agent, of_agent in grouped(document["rows"], "agent").items():
        out.print(heading(agent))
        print_rows(of_agent, {"offered": "offered"}, columns)
        of_drafts = drafts.get(agent, ())
        passed = [draft for draft in of_drafts if draft["offered"] != "own" and not draft["stopped"]]
        wrong = [draft for draft in of_drafts if draft["offered"] == "own" and draft["stopped"]]
        for title, some in (("Let pass", passed), ("Own lines stopped", wrong)):
            if some:
                is_cut = shown is not None and len(some) > shown
                out.print()
                out.print(indented(f"{title}, {shown} of {len(some)}:" if is_cut else f"{title}:"))
            for draft in some[:shown]:
                why = draft["stopped"] or draft["offered"]
                where = clean(f"{draft['who']} at {draft['at']} to {draft['facing']}, {why}: ")
                out.print(indented(Text(where, "dim") + Text(clean(draft["text"])), 4))
        out.print()
