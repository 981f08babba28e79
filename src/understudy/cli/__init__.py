"""The command line: parse, call one function, show. A command ends with

    0     done
    1     an error of ours, or answers that are still to come: said on stderr with what to do
    2     the command was not understood
    130   stopped by Ctrl-C, with nothing half-written

and with --json it puts one document on stdout and nothing else.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from sqlite3 import SQLITE_CORRUPT, SQLITE_NOTADB, DatabaseError
from typing import Any

import click

from understudy import __version__
from understudy.cli.show import clean
from understudy.errors import MissingAnswer, UnderstudyError
from understudy.registry import Imported

STOPPED = 130
DAMAGED = (SQLITE_CORRUPT, SQLITE_NOTADB)
BROKEN_PIPE = 141  # 128 + SIGPIPE, as shells report it

COMMANDS = {
    "demo": "demo:demo", "read": "read:read", "quotations": "quotations:quotations", "draft": "draft:draft",
    "cast": "story:cast", "scenes": "story:scenes", "stats": "hpd:stats",
    "persona": "story:persona", "chat": "chat:chat", "memory": "memory:memory", "prompt": "models:prompt",
    "serve": "serve:serve", "study": "study:study", "score": "score:score", "filter": "filter:filter_",
    "utterances": "utterances:utterances", "guess": "guess:guess", "voices": "guess:voices", "export": "export:export",
    "card": "export:card", "train": "train:train", "self-chat": "self_chat:self_chat", "bench": "bench:bench",
    "compare": "bench:compare", "questions": "hpd:questions", "check": "check:check",
    "continuity": "continuity:continuity", "profile": "story:profile", "models": "models:models",
    "bench guess": "guess:guess_bench", "bench hpd": "hpd:hpd", "bench talk": "bench_talk:talk",
    "bench guard": "bench_talk:guard", "bench personachat": "bench_personachat:personachat",
    "bench profiles": "bench_personachat:profiles", "bench consistency": "bench_personachat:consistency",
    "bench overlap": "bench_personachat:overlap", "bench judged-chats": "bench_personachat:judged_chats",
    "study serve": "study:serve_study", "study results": "study_results:results", "study agree": "study_results:agree",
    "study simulate": "study_results:simulate", "study correlate": "study_results:correlate",
    "study import": "study_results:import_study", "train causal": "train_finetuned:causal",
    "train masked": "train_finetuned:masked", "train guesser": "train_finetuned:guesser",
}  # fmt: skip
"""Where each command is, in the order of a first visit. Those in a group's own module are not listed here."""


def load_command(path: str) -> click.Command:
    """The command of a path, as 'bench guess'; a group with all of its commands."""
    module, _, name = COMMANDS[path].partition(":")
    command: click.Command = Imported(f"understudy.cli.{module}", name).load()
    if isinstance(command, click.Group):
        for within in COMMANDS:
            if within.startswith(f"{path} "):
                command.add_command(load_command(within), within.rpartition(" ")[2])
    return command


class Commands(click.Group):
    """The program: it imports a command when it is asked for, and turns our errors into a message and a status."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return [path for path in COMMANDS if " " not in path]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in self.list_commands(ctx) and cmd_name not in self.commands:
            self.add_command(load_command(cmd_name), cmd_name)
        return super().get_command(ctx, cmd_name)

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        try:
            return super().make_context(info_name, args, parent, **extra)
        except KeyboardInterrupt:
            raise _stopped() from None

    def invoke(self, ctx: click.Context) -> Any:
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except MissingAnswer as error:
            from understudy.language.backends.batch_files import write_requests

            click.echo(clean(write_requests(error.requests)), err=True)
            ctx.exit(1)
        except UnderstudyError as error:
            raise click.ClickException(clean(str(error))) from error
        except BrokenPipeError:
            _forget_stdout()
            ctx.exit(BROKEN_PIPE)
        except OSError as error:
            where = f"{error.filename}: " if error.filename else ""
            raise click.ClickException(clean(f"{where}{error.strerror or error}")) from error
        except DatabaseError as error:
            if getattr(error, "sqlite_errorcode", SQLITE_CORRUPT) not in DAMAGED:  # invalid UTF-8 has no code
                raise
            raise click.ClickException(clean(f"the database is damaged ({error}): make it again")) from error
        except KeyboardInterrupt:
            raise _stopped() from None
        return result


def _stopped() -> SystemExit:
    """The exit after Ctrl-C."""
    click.echo("\nStopped.", err=True)
    return SystemExit(STOPPED)


def _forget_stdout() -> None:
    """The reader of our output is gone; the interpreter's last flush must not fail."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="understudy")
def understudy() -> None:
    """Reads a story, knows each character as of any moment in it, and talks as that character.

    STORY is `demo` (also `demo-ja`, `demo-zh`: they come with the program), a .story file that `read` made, a story
    folder, or a script. A moment is written the way the story counts: 2.3, S03E05, "book 3, chapter 5", start or end.

    \b
    New here? See it work first:
        understudy demo
    """


def main() -> None:
    """The `understudy` program."""
    sys.stdout = sys.stdout or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115  (closed: >&-)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # letters that a terminal cannot show become question marks
    os.environ.setdefault("TQDM_DISABLE", "1")  # progress bars of libraries would mix with ours
    understudy(prog_name="understudy")
