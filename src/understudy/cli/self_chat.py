"""`understudy self-chat`: agents talk with each other, and the chats are kept to be judged."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from understudy.cli.options import FILE, IN_FILE, IN_PATH, Options, check_output, listed, load_reply_agent, shared
from understudy.cli.progress import read_with_people, watching
from understudy.cli.show import clean, indented, print_json, screen
from understudy.errors import InputError

if TYPE_CHECKING:
    from understudy.agents.pools import Candidates
    from understudy.story.storyfile import Story

PROFILES = "valid_both_original.txt"
TRAINING = "train_*.txt"
SHOWN = 6  # turns of the last chat


@click.command("self-chat", short_help="Let two agents talk with each other.")
@click.option(
    "--agents", metavar="A,B", required=True,
    help="Who talks: names, model folders or module:factory; one may be 'human', whose part is replayed from --data.",
)  # fmt: skip
@click.option(
    "--data", "profiles", type=IN_PATH, metavar="FILE",
    help=f"A PersonaChat file with both profiles, or a folder with {PROFILES}.",
)  # fmt: skip
@click.option("--story", metavar="STORY", default="", help="Characters of a story instead.")
@click.option("--who", metavar="NAME,NAME", help="Which two characters of --story.")
@click.option(
    "--at", "moments", metavar="MOMENT", multiple=True, help="When in --story; drawn from its scenes by default."
)
@click.option(
    "--chats", type=click.IntRange(min=1), default=100, show_default=True, metavar="N", help="How many chats."
)
@click.option("--turns", type=click.IntRange(min=2), default=16, show_default=True, metavar="N", help="Turns a chat.")
@click.option(
    "--given", type=click.Choice(["self", "both", "none"]), default="self", show_default=True,
    help="Which profiles of --data an agent is shown: its own, both, or none.",
)  # fmt: skip
@click.option(
    "--replies", type=IN_FILE, metavar="FILE",
    help="The PersonaChat file whose replies ranking agents may say (default: the training file beside --data).",
)  # fmt: skip
@shared("seed")
@click.option("--fresh", is_flag=True, help="Start over: discard the chats of an earlier run.")
@click.option("-o", "--output", "path", type=FILE, required=True, metavar="FILE.jsonl")
@shared("json")
def self_chat(
    options: Options, agents: str, profiles: Path | None, who: str | None, moments: tuple[str, ...], chats: int,
    turns: int, given: str, replies: Path | None, fresh: bool, path: Path,
) -> None:  # fmt: skip
    """Hold chats between two agents on given profiles, and append them to a file, one JSON object a line.

    A run that was stopped goes on when the same command is given again. `bench profiles --chats FILE` then says
    whether the profiles can be told from what was said. Of two agents that choose replies from a file, each has half
    of them. Characters of a story know nothing after the moment.

    \b
    Examples:
        understudy self-chat --agents my-kv,my-kv --data pc/ -o chats.jsonl
        understudy self-chat --agents human,my-kv --data pc/ -o replay.jsonl
        understudy self-chat --agents auto --story demo --who Zita,Pia -o c.jsonl
    """
    from understudy.bench.self_chat import hold_chats, personachat_pairings, story_pairings
    from understudy.formats.chat_records import HUMAN
    from understudy.metrics.scoring.engine import story_digest

    names = listed([agents])
    if len(names) == 1:
        names *= 2
    if len(names) != 2 or names == [HUMAN, HUMAN]:
        raise click.UsageError("--agents takes two agents, as in --agents my-kv,encoder")
    if (profiles is None) != bool(options.story):
        raise click.UsageError("say who talks about what: --data FILE for PersonaChat's profiles, or --story and --who")
    check_output(path)
    opened: list[Story] = []
    candidates: tuple[Candidates | None, Candidates | None] = None, None
    if options.story:
        pair = listed([who or ""])
        if len(pair) != 2 or HUMAN in names:
            raise click.UsageError("--story needs --who NAME,NAME, two characters, and an agent for each of them")
        opened.append(read_with_people(options.story))
        pairings = story_pairings(opened[0], (pair[0], pair[1]), moments, chats, options.seed)
        files: list[Path] = []
        about = {"story": opened[0].title, "digest": story_digest(opened[0]), "who": pair, "at": list(moments)}
    else:
        file = _profiles(profiles or Path())
        pairings = personachat_pairings(file, chats, given, options.seed)
        replies = replies or next(iter(sorted(file.parent.glob(TRAINING))), None)
        files, about = [file, *([replies] if replies else [])], {}
        if replies is not None:
            candidates = _candidates(replies, shared=HUMAN in names)
    first, second = (
        None if name == HUMAN else load_reply_agent(name, lines, lambda _: opened)
        for name, lines in zip(names, candidates)
    )
    with watching() as watch:
        document = hold_chats(
            ((names[0], first), (names[1], second)), pairings, path, turns=turns, given=given,
            files=files, about=about, seed=options.seed, fresh=fresh, progress=watch,
        )  # fmt: skip
    if options.as_json:
        print_json(document)
        return
    _show_last(path)
    click.echo(f"{document['chats']} chats ({document['new']} new) are in {path}.")


def _profiles(data: Path) -> Path:
    file = data / PROFILES if data.is_dir() else data
    if not file.is_file():
        raise InputError(f"holds no {PROFILES}: name the file of PersonaChat dialogues to take profiles from", data)
    return file


def _candidates(replies: Path, shared: bool) -> tuple[Candidates, Candidates]:
    """What each side may say: the replies of a file, or half of them where both sides choose from them."""
    from understudy.bench.self_chat import halved, personachat_exchanges

    exchanges = personachat_exchanges(replies)
    first, second = (exchanges, exchanges) if shared else halved(exchanges)
    return lambda _: first, lambda _: second


def _show_last(output: Path) -> None:
    from understudy.formats.chat_records import read_chats

    out, *rest = screen(), *read_chats(output)
    last = rest[-1]
    names = last.names or tuple(f"{name} {letter}" for name, letter in zip(last.speakers, "AB"))
    for turn in last.turns[:SHOWN]:
        out.print(indented(f"{clean(names[turn.side])}: {clean(turn.text)}"))
    if len(last.turns) > SHOWN:
        out.print(indented("..."))
