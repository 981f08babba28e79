"""`understudy chat`: talk with a character as of a moment.

What is typed is a message, or a command that begins with a slash.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from contextlib import ExitStack, suppress
from pathlib import Path

import click
from click.core import ParameterSource
from rich.text import Text

from understudy.agents import draws_on_lines
from understudy.agents.conversation import Conversation
from understudy.cli.options import Options, load_reply_agent, lore_in, shared, with_rules
from understudy.cli.progress import read_with_people
from understudy.cli.show import Screen, clean, found_mark, grid, heading, indented, print_json, screen, voice, when
from understudy.cli.utterances import opened_store, store_option_for
from understudy.errors import MissingAnswer, StoryError, UnderstudyError
from understudy.formats.cards import greetings_for
from understudy.formats.documents import reply_document
from understudy.people.memory import RememberedChat, open_memory, remembered_person
from understudy.story.dialogue import NOT_KNOWN_YET, Candidate, Evidence, Reply, StreamingAgent
from understudy.story.storyfile import Story
from understudy.story.types import Moment

RUNNERS_UP = 3
LONGEST_LISTED = 100
COMMANDS = """\
/why            what the last reply was made from, and what else was considered
/at MOMENT      go to another moment; back there, what was said later is not known yet
/facing NAME    stand before them as somebody else; '/facing Tom: a sailor' as somebody of your own
/greeting [N]   open the talk with another greeting of the card; without N, list them
/undo           take back the last message and its reply
/save FILE      write the chat to FILE, one JSON object a line
/quit           leave (also Ctrl-D); Ctrl-C stops a reply"""


@click.command(short_help="Talk with a character as of a moment.")
@shared("story name at facing agent")
@click.option("--say", "messages", metavar="TEXT", multiple=True, help="Say this and print the reply; may be repeated.")
@click.option(
    "--remember",
    "person",
    metavar="NAME",
    help="Talk as NAME; what you say of yourself is kept for later chats (see `understudy memory`).",
)
@click.option("--greeting", type=click.IntRange(min=0), metavar="N", help="Which greeting of the card opens; 0: none.")
@shared("lore")
@store_option_for("Lines approved in this utterance database may be said too, in their time.")
@shared("rules")
@click.option("--why", is_flag=True, help="After each reply, show what it was made from.")
@shared("annotated json")
@click.pass_context
def chat(
    ctx: click.Context, options: Options, messages: tuple[str, ...], person: str | None, greeting: int | None,
    store: str | None, why: bool,
) -> None:  # fmt: skip
    """Talk with a character, who knows the story up to a moment and nothing after it.

    In the chat, /why shows what the last reply was made from, /at 3.1 moves through time, /help lists the rest.
    Messages can also be piped in, one a line. At a terminal a character from a card opens the talk with its greeting;
    elsewhere it does where --greeting says which.

    \b
    Examples:
        understudy chat demo Zita --at 2.3 --facing Benedek
        understudy chat demo Zita --at 2.3 --say "Who wrote it?" --why
        understudy chat demo Zita --at 2.3 --say "Hello" --rule "psprob>=0.2"
        understudy chat demo Zita --at 2.3 --facing "Tom: a sailor, 40"
        understudy chat demo Zita --at 2.3 --remember Tom --say "I am a sailor."
    """
    if not messages and sys.stdin is None:
        raise click.UsageError("stdin is closed, so there is nothing to answer: add --say TEXT, or pipe messages in")
    with ExitStack() as stack:
        candidates = None
        is_explicit = ctx.get_parameter_source("store") is ParameterSource.COMMANDLINE
        if store is not None and (is_explicit or draws_on_lines(options.agent)):
            if not draws_on_lines(options.agent):
                raise click.UsageError(
                    f"'{options.agent}' has words of its own: --store needs an agent that answers with lines"
                )
            from understudy.judging.loading import ApprovedCandidates

            candidates = ApprovedCandidates(stack.enter_context(opened_store(store)))
        opened_stories: list[Story] = []
        reply_agent = load_reply_agent(options.agent, candidates, lambda _: opened_stories)
        opened = read_with_people(options.story, options.annotated)
        opened_stories.append(opened)
        filtered = with_rules(reply_agent, options.rules, lambda _: opened_stories)
        entries = lore_in(options.lore)
        user = None if person is None else remembered_person(person)
        remembered = None if user is None else RememberedChat(open_memory(), user.name)
        conversation = Conversation(
            opened, filtered, options.name, options.at, options.facing or user, lore=entries, remembered=remembered
        )
        is_person = sys.stdin is not None and sys.stdin.isatty() and not messages and not options.as_json
        conversation.open(int(is_person) if greeting is None else greeting, is_asked=greeting is not None)
        prompt = ChatPrompt(screen(), conversation, why)
        if options.as_json:
            _print_document(conversation, messages)
        elif messages:
            prompt.greet()
            for message in messages:
                prompt.say(message)
        elif sys.stdin.isatty():
            prompt.talk()
        else:
            prompt.greet()
            prompt.answer(sys.stdin)


def _print_document(conversation: Conversation, messages: tuple[str, ...]) -> None:
    if not messages and not sys.stdin.isatty():
        messages = tuple(line.strip() for line in sys.stdin if line.strip())
    if not messages:
        raise click.UsageError("--json needs something to answer: add --say TEXT, or pipe messages in")
    for message in messages:
        conversation.say(message)
    document = reply_document(conversation.answered[-1].reply)
    if len(messages) > 1 or conversation.greeting is not None:
        document["turns"] = conversation.turns()
    print_json(document)


class ChatPrompt:
    """Reads messages, from a person or a pipe, and prints replies."""

    def __init__(self, out: Screen, conversation: Conversation, why: bool = False) -> None:
        self.out, self.conversation, self.why = out, conversation, why
        self.commands: dict[str, Callable[[str], None]] = {
            "/why": self._why,
            "/at": self._at,
            "/facing": self._facing,
            "/greeting": self._greeting,
            "/undo": self._undo,
            "/save": self._save,
            "/help": lambda _: self._note(COMMANDS),
        }

    def talk(self) -> None:
        """With a person at a terminal, until they leave."""
        with suppress(ImportError):
            import readline  # noqa: F401  (makes the arrow keys work in input())
        self._note(f"{self._situation_line()} /help lists what else you can do.")
        self.greet(spoken=True)
        try:
            while self._handle(input("> ")):
                pass
        except (EOFError, KeyboardInterrupt):
            self.out.print()
        self._note("Goodbye.")

    def greet(self, spoken: bool = False) -> None:
        """Print the greeting, if the talk opens with one."""
        if self.conversation.greeting is not None:
            self._print(self.conversation.greeting.text, spoken)

    def answer(self, messages: Iterable[str]) -> None:
        """Messages from a pipe: one reply a line, and nothing else on stdout."""
        for message in messages:
            if not self._handle(message):
                break

    def say(self, message: str, spoken: bool = False) -> None:
        """Send a message and print the reply: on one line, unless `spoken` to a person; as it comes on a terminal."""
        if self.out.is_terminal and isinstance(self.conversation.agent, StreamingAgent):
            reply = self._stream(message)
        else:
            reply = self.conversation.say(message)
            self._print(reply.text, spoken)
        if self.why:
            print_why(self.out, reply)

    def _print(self, said: str, spoken: bool) -> None:
        text = Text(clean(said) if spoken else " ".join(clean(said).split()))
        text.stylize(voice(self.conversation.name))
        self.out.print(text, soft_wrap=not spoken)

    def _stream(self, message: str) -> Reply:
        pieces, is_printed = self.conversation.stream(message), False
        try:
            while True:
                piece = Text(clean(next(pieces)), style=voice(self.conversation.name))
                self.out.print(piece, end="", soft_wrap=True)
                is_printed = True
        except StopIteration as end:
            reply: Reply = end.value
            return reply
        finally:
            pieces.close()
            if is_printed:
                self.out.print()

    def _handle(self, typed: str) -> bool:
        """Run a command or send a message; False to leave."""
        typed = typed.strip()
        command, _, argument = typed.partition(" ")
        try:
            if command in ("/quit", "/exit"):
                return False
            if command in self.commands:
                self.commands[command](argument.strip())
            elif command.startswith("/"):
                self._note(f"There is no {command}. What there is:\n{COMMANDS}")
            elif typed:
                self.say(typed, spoken=self.out.is_terminal)
        except MissingAnswer:
            raise
        except UnderstudyError as error:
            self._note(str(error))
        except KeyboardInterrupt:
            if not self.out.is_terminal:
                raise
            self._note("Stopped. Ctrl-D leaves the chat.")
        return True

    def _why(self, _: str) -> None:
        if not self.conversation.answered:
            self._note("Nothing has been said yet.")
            return
        reply = self.conversation.answered[-1].reply
        print_why(self.out, reply)
        if not reply.evidence and not reply.candidates:
            self._note("Nothing is known of how it was made.")

    def _at(self, moment: str) -> None:
        if not moment:
            raise StoryError("say which moment, as in: /at 2.3")
        self.conversation.move(at=moment)
        self._note(self._situation_line())

    def _facing(self, name: str) -> None:
        if not name:
            raise StoryError("say who, as in: /facing Ines")
        self.conversation.move(facing=name)
        self._note(self._situation_line())

    def _greeting(self, number: str) -> None:
        if number:
            if not (number.isascii() and number.isdecimal()):
                raise StoryError("say which greeting by its number, as in: /greeting 2")
            self.conversation.open(int(number))
            self.greet(spoken=self.out.is_terminal)
            return
        greetings = greetings_for(self.conversation.situation)
        lines = [f"{index}  {' '.join(text.split())[:LONGEST_LISTED]}" for index, text in enumerate(greetings, 1)]
        self._note("\n".join(lines) or f"{self.conversation.name} has no card with greetings.")

    def _undo(self, _: str) -> None:
        taken = self.conversation.undo()
        self._note(f"Taken back: {taken.message.text}" if taken else "There is nothing to take back.")

    def _save(self, file: str) -> None:
        if not file:
            raise StoryError("say where to, as in: /save chat.jsonl")
        with suppress(RuntimeError):  # an unknown home folder: the path is used as it is
            file = str(Path(file).expanduser())
        turns = self.conversation.save(Path(file))
        self._note(f"{turns} turns are in {file}.")

    def _situation_line(self) -> str:
        situation = self.conversation.situation
        faced = f", facing {situation.faced.name}" if situation.faced else ""
        at = "" if self.conversation.story.is_of_cards else f" at {when(situation.persona.moment)}"
        return f"{self.conversation.name}{at}{faced}."

    def _note(self, text: str) -> None:
        """Printed on stderr, so that stdout has replies only."""
        click.echo(clean(text), err=True)


def print_why(out: Screen, reply: Reply, evidence: int | None = None, candidates: int = RUNNERS_UP) -> None:
    """What a reply was made from, and what else was considered."""
    if reply.evidence:
        out.print(indented(heading("because of")))
        rows = [(item.kind, _dotted(item.moment), _with_words(item)) for item in reply.evidence[:evidence]]
        out.print(indented(grid(rows), by=4))
    runners_up = [candidate for candidate in reply.candidates if candidate.text != reply.text][:candidates]
    if runners_up:
        out.print(indented(heading("considered as well")))
        scored = [(_score(runner), _dotted(runner.moment), _verdict(runner)) for runner in runners_up]
        out.print(indented(grid(scored), by=4))


def _score(candidate: Candidate) -> str:
    return "" if candidate.score is None else f"{candidate.score:.2f}"


def _dotted(moment: Moment | None) -> str:
    return "" if moment is None else moment.dotted


def _verdict(candidate: Candidate) -> Text:
    """What could have been said, where it came from, and why it was not."""
    shown = clean(candidate.text) or NOT_KNOWN_YET
    text = Text(shown, style="" if candidate.text else "italic dim")
    notes = (candidate.source, f"kept back: {candidate.rejected}" if candidate.rejected not in ("", shown) else "")
    note = clean("; ".join(filter(None, notes)))
    return text.append(f"  [{note}]", style="not italic dim") if note else text


def _with_words(evidence: Evidence) -> Text:
    text = Text(clean(evidence.text))
    if evidence.found is not None:
        text.append(found_mark(evidence.found), style="dim")
    return text.append(f"  [{clean(', '.join(evidence.words))}]", style="dim") if evidence.words else text
