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
from understudy.cli import bench_personachat, bench_talk  # noqa: F401  (they add commands to `bench`)
from understudy.cli.bench import bench, compare
from understudy.cli.cast_and_scenes import cast, scenes
from understudy.cli.chat import chat
from understudy.cli.check import check
from understudy.cli.continuity import continuity
from understudy.cli.demo import demo
from understudy.cli.draft import draft, review
from understudy.cli.export import card, export
from understudy.cli.filter import filter_
from understudy.cli.guess import guess, voices
from understudy.cli.hpd import stats
from understudy.cli.memory import memory
from understudy.cli.models import models, prompt
from understudy.cli.persona import persona, profile
from understudy.cli.questions import questions
from understudy.cli.quotations import quotations
from understudy.cli.read import read
from understudy.cli.score import score
from understudy.cli.self_chat import self_chat
from understudy.cli.serve import serve
from understudy.cli.show import clean
from understudy.cli.study import serve_study, study
from understudy.cli.study_results import agree, correlate, import_study, results, simulate
from understudy.cli.train import train
from understudy.cli.train_causal import causal, masked
from understudy.cli.train_guesser import guesser
from understudy.cli.utterances import utterances
from understudy.errors import MissingAnswer, UnderstudyError

__all__ = ["main", "understudy"]

STOPPED = 130
DAMAGED = (SQLITE_CORRUPT, SQLITE_NOTADB)
BROKEN_PIPE = 141  # 128 + SIGPIPE, as shells report it


class Commands(click.Group):
    """A group that turns our errors into a message and an exit status, and lists commands in the order added."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(self.commands)

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


draft.add_command(review)
for trainer in (causal, masked, guesser):
    train.add_command(trainer)
for subcommand in (serve_study, results, agree, simulate, correlate, import_study):
    study.add_command(subcommand)
for command in (
    demo,
    read,
    quotations,
    draft,
    cast,
    scenes,
    stats,
    persona,
    chat,
    memory,
    prompt,
    serve,
    study,
    score,
    filter_,
    utterances,
    guess,
    voices,
    export,
    card,
    train,
    self_chat,
    bench,
    compare,
    questions,
    check,
    continuity,
    profile,
    models,
):
    understudy.add_command(command)


def main() -> None:
    """The `understudy` program."""
    sys.stdout = sys.stdout or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115  (closed: >&-)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # letters that a terminal cannot show become question marks
    os.environ.setdefault("TQDM_DISABLE", "1")  # progress bars of libraries would mix with ours
    understudy(prog_name="understudy")
