"""`understudy memory`: what people who chat said of themselves is listed, edited, forgotten, and the change undone."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from itertools import groupby
from typing import TYPE_CHECKING

import click

from understudy.cli.options import Options, shared
from understudy.cli.show import grid, heading, indented, print_json, print_table, screen

if TYPE_CHECKING:
    from understudy.people.memory import PeopleMemory, Telling

person_argument = click.argument("person", metavar="NAME")
NOTHING = "Nothing is remembered of anybody: `understudy chat ... --remember NAME` keeps what you say of yourself."


@click.group()
def memory() -> None:
    """What you said of yourself in chats with --remember: list it, change it, forget it.

    Each entry is known to the one character it was told to, in later chats, from that moment of the story on.

    \b
    Examples:
        understudy memory list Tom
        understudy memory edit Tom 3 "I work at the shipyard"
        understudy memory forget Tom 3
        understudy memory undo
    """


@memory.command("list")
@click.argument("person", metavar="[NAME]", required=False)
@shared("json")
def list_(options: Options, person: str | None) -> None:
    """What is remembered, of everybody or of one person.

    \b
    Examples:
        understudy memory list
        understudy memory list Tom --json
    """
    opened = _opened()
    tellings = opened.tellings(person)
    if options.as_json:
        print_json({"remembered": [asdict(telling) for telling in tellings], "file": str(opened.path)})
        return
    out = screen()
    if not tellings:
        out.print(NOTHING if person is None else f"Nothing is remembered of {person}.")
        return
    print_table(out, [">", "who", "said", "to", "at", "on"], (_row(telling) for telling in tellings))
    counts = Counter(telling.person for telling in tellings)
    out.print(f"\n{', '.join(f'{number:,} of {name}' for name, number in counts.items())}, in {opened.path}.")


@memory.command()
@person_argument
@shared("json")
def show(options: Options, person: str) -> None:
    """What each character was told by somebody, with the chat, the turn and the moment of the story.

    \b
    Example:
        understudy memory show Tom
    """
    opened = _opened()
    tellings = opened.tellings(person)
    if options.as_json:
        print_json({"name": person, "remembered": [asdict(telling) for telling in tellings], "file": str(opened.path)})
        return
    out = screen()
    if not tellings:
        out.print(f"Nothing is remembered of {person}.")
    by_character = sorted(tellings, key=lambda telling: (telling.story, telling.character))
    for (story, character), told in groupby(by_character, key=lambda telling: (telling.story, telling.character)):
        out.print(heading(f"{character}, {story}" if story else character))
        out.print(indented(grid((str(telling.number), telling.text, _source(telling)) for telling in told)))


@memory.command()
@person_argument
@click.argument("number", type=int, metavar="ID")
@click.argument("text", metavar="TEXT")
@shared("json")
def edit(options: Options, person: str, number: int, text: str) -> None:
    """Say an entry differently.

    \b
    Example:
        understudy memory edit Tom 3 "I work at the shipyard"
    """
    edited = _opened().edit(person, number, text)
    _show_changed([edited], f"{number} is now: {edited.text}", options.as_json)


@memory.command()
@person_argument
@click.argument("numbers", type=int, nargs=-1, metavar="[ID]...")
@click.option("--all", "everything", is_flag=True, help="Forget everything of this person.")
@click.option("--for-good", is_flag=True, help="Leave nothing to undo: no text stays on the disk.")
@shared("json")
def forget(options: Options, person: str, numbers: tuple[int, ...], everything: bool, for_good: bool) -> None:
    """Forget entries, or with --all everything of a person. `understudy memory undo` brings them back.

    \b
    Examples:
        understudy memory forget Tom 3
        understudy memory forget Tom --all --for-good
    """
    if bool(numbers) is everything:
        raise click.UsageError("say what to forget: numbers of entries (see `understudy memory list`), or --all")
    opened = _opened()
    gone = opened.forget(person, None if everything else numbers, can_undo=not for_good)
    kept = f" Until the next change `understudy memory undo` brings it back, from {opened.undo_path}."
    _show_changed(
        gone, f"{len(gone)} forgotten of {person}." + (kept if gone and not for_good else ""), options.as_json
    )


@memory.command()
@shared("json")
def undo(options: Options) -> None:
    """Take back the last edit or forgetting.

    \b
    Example:
        understudy memory undo
    """
    restored = _opened().undo()
    _show_changed(
        restored, f"{len(restored)} as before: " + "; ".join(telling.text for telling in restored), options.as_json
    )


def _opened() -> PeopleMemory:
    from understudy.people.memory import open_memory

    return open_memory()


def _show_changed(changed: list[Telling], message: str, as_json: bool) -> None:
    if as_json:
        print_json({"remembered": [asdict(telling) for telling in changed]})
    else:
        screen().print(message, soft_wrap=True)


def _row(telling: Telling) -> tuple[str, ...]:
    who = telling.person if telling.speaker == telling.person else f"{telling.person} as {telling.speaker}"
    return str(telling.number), who, telling.text, telling.character, telling.moment, telling.said[:10]


def _source(telling: Telling) -> str:
    speaker = "" if telling.speaker == telling.person else f" as {telling.speaker}"
    edited = f", edited {telling.edited[:10]}" if telling.edited else ""
    return f"at {telling.moment}, chat {telling.chat[:8]}, turn {telling.turn}, {telling.said[:16]}{speaker}{edited}"
