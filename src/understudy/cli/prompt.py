"""The chat's prompt: what is typed is a message, or a command that begins with a slash."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

import click
from rich.text import Text

from understudy.cli.conversation import Conversation
from understudy.cli.show import Screen, clean, grid, heading, indented, voice, when
from understudy.dialogue import Evidence, Reply
from understudy.errors import StoryError, UnderstudyError

__all__ = ["Prompt", "print_why"]

RUNNERS_UP = 3
COMMANDS = """\
/why            what the last reply was made from, and what else was considered
/at MOMENT      go to another moment; back there, what was said later is not known yet
/facing NAME    stand before them as somebody else
/undo           take back the last message and its reply
/save FILE      write the chat to FILE, one JSON object a line
/quit           leave (also Ctrl-D)"""


class Prompt:
    """Reads messages, from a person or a pipe, and prints replies."""

    def __init__(self, out: Screen, conversation: Conversation, why: bool = False) -> None:
        self.out, self.conversation, self.why = out, conversation, why
        self.commands: dict[str, Callable[[str], None]] = {
            "/why": self._why,
            "/at": self._at,
            "/facing": self._facing,
            "/undo": self._undo,
            "/save": self._save,
            "/help": lambda _: self._note(COMMANDS),
        }

    def talk(self) -> None:
        """With a person at a terminal, until they leave."""
        with suppress(ImportError):
            import readline  # noqa: F401  (makes the arrow keys work in input())
        self._note(f"{self._where()} /help lists what else you can do.")
        try:
            while self._take(input("> ")):
                pass
        except (EOFError, KeyboardInterrupt):
            self.out.print()
        self._note("Goodbye.")

    def answer(self, messages: Iterable[str]) -> None:
        """Messages from a pipe: one reply a line, and nothing else on stdout."""
        for message in messages:
            if not self._take(message):
                break

    def say(self, message: str, spoken: bool = False) -> None:
        """Put a message to the character and print the reply; on one line, unless `spoken` to a person."""
        reply = self.conversation.say(message)
        said = Text(clean(reply.text) if spoken else " ".join(clean(reply.text).split()))
        said.stylize(voice(self.conversation.name))
        self.out.print(said, soft_wrap=not spoken)
        if self.why:
            print_why(self.out, reply)

    def _take(self, typed: str) -> bool:
        """Do what was typed; False to leave."""
        typed = typed.strip()
        command, _, rest = typed.partition(" ")
        try:
            if command in ("/quit", "/exit"):
                return False
            if command in self.commands:
                self.commands[command](rest.strip())
            elif command.startswith("/"):
                self._note(f"There is no {command}. What there is:\n{COMMANDS}")
            elif typed:
                self.say(typed, spoken=self.out.is_terminal)
        except UnderstudyError as error:
            self._note(str(error))
        return True

    def _why(self, _: str) -> None:
        if self.conversation.exchanged:
            print_why(self.out, self.conversation.exchanged[-1].reply)
        else:
            self._note("Nothing has been said yet.")

    def _at(self, moment: str) -> None:
        if not moment:
            raise StoryError("say which moment, as in: /at 2.3")
        self.conversation.move(at=moment)
        self._note(self._where())

    def _facing(self, name: str) -> None:
        if not name:
            raise StoryError("say who, as in: /facing Ines")
        self.conversation.move(facing=name)
        self._note(self._where())

    def _undo(self, _: str) -> None:
        taken = self.conversation.undo()
        self._note(f"Taken back: {taken.message.text}" if taken else "There is nothing to take back.")

    def _save(self, file: str) -> None:
        if not file:
            raise StoryError("say where to, as in: /save chat.jsonl")
        with suppress(RuntimeError):  # of a home that is nobody's: taken as it is written
            file = str(Path(file).expanduser())
        turns = self.conversation.save(Path(file))
        self._note(f"{turns} turns are in {file}.")

    def _where(self) -> str:
        situation = self.conversation.situation
        faced = f", facing {situation.faced.name}" if situation.faced else ""
        return f"{self.conversation.name} at {when(situation.persona.moment)}{faced}."

    def _note(self, text: str) -> None:
        """Aside from the talk, so that what is piped on holds replies only."""
        click.echo(clean(text), err=True)


def print_why(out: Screen, reply: Reply, evidence: int | None = None, others: int = RUNNERS_UP) -> None:
    """What a reply was made from, and what else was considered; as much of it as is asked for."""
    if reply.evidence:
        out.print(indented(heading("because of")))
        rows = [(one.kind, one.moment.dotted if one.moment else "", _shown(one)) for one in reply.evidence[:evidence]]
        out.print(indented(grid(rows), by=4))
    runners_up = [one for one in reply.candidates if one.text != reply.text][:others]
    if runners_up:
        out.print(indented(heading("considered as well")))
        scored = [(f"{one.score:.2f}", one.moment.dotted if one.moment else "", one.text) for one in runners_up]
        out.print(indented(grid(scored), by=4))


def _shown(evidence: Evidence) -> Text:
    text = Text(clean(evidence.text))
    return text.append(f"  [{clean(', '.join(evidence.words))}]", style="dim") if evidence.words else text
