from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import understudy as package
from cliruns import Run
from understudy.cli import understudy
from understudy.cli.draft import FIND
from understudy.cli.show import CONTROL

FILES = re.compile(
    r"^serve|^models \w|^memory (?:edit|forget|undo)|"
    r"friends|emma|lines\.csv|my[-.]story|zita\.png|zita\.toml|talker-1|data/|hpd/|pc/|tvshowguess|\.json|(?:sentences|subtitles)\.txt|--store|--url|"
    r"--guard|\| head"
)
LONG = re.compile(r"^bench talk demo --agent|^bench guard demo$|^voices demo$")  # the same is tried on less elsewhere


def subcommand(group: click.Command, name: str) -> click.Command:
    """Of a group that takes a story too, the command that does."""
    assert isinstance(group, click.Group)
    return group.get_command(click.Context(group), name) or group.commands[FIND]


def commands(group: click.Group = understudy, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for name in group.list_commands(click.Context(group)):
        command = subcommand(group, name)
        yield (*path, name)
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))


def examples(path: tuple[str, ...]) -> list[str]:
    """The example commands on a help page."""
    command: click.Command = understudy
    for name in path:
        command = subcommand(command, name)
    return re.findall(r"^\s+understudy (.*)$", command.help or "", re.MULTILINE)


EXAMPLES = sorted({example for path in commands() for example in examples(path)})


@pytest.mark.parametrize("path", [(), *commands()], ids=" ".join)
def test_every_help_page_has_an_example_and_fits_80_columns(run: Run, path: tuple[str, ...]) -> None:
    page = run(*path, "--help").stdout
    assert examples(path)
    assert all(f"understudy {example}" in page for example in examples(path))
    assert max(map(len, page.splitlines())) <= 80


def test_the_options_of_every_example_are_there() -> None:
    for example in EXAMPLES:
        command: click.Command = understudy
        words = shlex.split(re.split(r" \| |\\$", example)[0], comments=True)
        while words and isinstance(command, click.Group):
            is_group = command.get_command(click.Context(command), words[0]) is not None
            command = subcommand(command, words.pop(0) if is_group else FIND)
        try:
            command.make_parser(click.Context(command)).parse_args(words)
        except click.UsageError as error:
            pytest.fail(f"understudy {example}: {error.message}")


@pytest.mark.parametrize(
    "example",
    [
        pytest.param(example, marks=pytest.mark.thorough if LONG.search(example) else ())
        for example in EXAMPLES
        if not FILES.search(example)
    ],
)
def test_examples_that_need_no_files_run(
    run: Run, example: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UNDERSTUDY_DATA", str(tmp_path / "data"))  # nobody is remembered on this machine
    run(*shlex.split(example), stdin="")


def test_the_order_is_that_of_a_first_visit(run: Run) -> None:
    page = run("--help").stdout
    positions = [page.index(f"\n  {name} ") for name in ("demo", "read", "cast", "scenes", "persona", "chat", "export")]
    assert positions == sorted(positions)


def test_commands_and_flags_stay_what_they_are() -> None:
    """What somebody has in a script: a flag that goes, or is renamed, breaks it."""
    lines = []
    for path in commands():
        command = understudy
        for name in path:
            command = subcommand(command, name)  # type: ignore[assignment]
        flags = [
            str(each.metavar or each.name)
            if isinstance(each, click.Argument)
            else "/".join((*each.opts, *each.secondary_opts))
            for each in command.params
        ]
        lines.append(" ".join((*path, *sorted(flags))))
    golden = Path(__file__).with_name("commands.txt")
    assert sorted(lines) == golden.read_text(encoding="utf-8").splitlines()


def test_version(run: Run) -> None:
    assert package.__version__ in run("--version").stdout


def test_an_unknown_command_or_option_is_usage(run: Run) -> None:
    run("sing", status=2)
    run("cast", status=2)
    run("cast", "demo", "--loud", status=2)


def test_a_damaged_story_file_is_said_to_be_damaged(run: Run, story: Path) -> None:
    run("read", story, "-o", "keys.story")
    file = Path("keys.story")
    content = bytearray(file.read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    file.write_bytes(content)
    assert "damaged" in run("cast", "keys.story", status=1).stderr


def test_a_text_that_is_none_any_more_is_damage_too(run: Run, story: Path) -> None:
    run("read", story, "-o", "keys.story")
    file = Path("keys.story")
    file.write_bytes(file.read_bytes().replace(b"never look", b"never\xff\xff\xff\xff\xff"))
    assert "damaged" in run("export", "keys.story", status=1).stderr


def test_no_colour_where_it_goes_to_a_pipe_or_is_not_wanted(story: Path) -> None:
    for environment in ({}, {"NO_COLOR": "1", "FORCE_COLOR": ""}):
        shown = subprocess.run(
            [sys.executable, "-m", "understudy", "persona", story, "Ines"],
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            check=True,
        )
        assert "\x1b" not in shown.stdout
        assert shown.stderr == ""


def test_a_terminal_without_the_letters(story: Path) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    for options in ([], ["--json"]):
        shown = subprocess.run(
            [sys.executable, "-m", "understudy", "persona", story, "Ines", *options],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        assert shown.stdout.isascii()
        assert "Ines Vale" in shown.stdout


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_nobody_listens(options: tuple[str, ...]) -> None:
    command = shlex.join([sys.executable, "-m", "understudy", "cast", "demo-zh", *options])
    silent = subprocess.run(f"{command} >&-", shell=True, capture_output=True, text=True)
    assert (silent.returncode, silent.stderr) == (0, "")


def test_a_story_without_a_name(run: Run) -> None:
    assert "nothing to read" in run("cast", "", status=1).stderr


EVIL = "Key\x1b]0;owned\x07\x1b[2J\x9b31m"


def test_what_a_file_says_of_itself_never_drives_the_terminal(run: Run, story: Path) -> None:
    cast = story / "cast.toml"
    text = cast.read_text(encoding="utf-8")
    title = json.dumps(EVIL)
    cast.write_text(re.sub(r"(?m)^title = .*$", lambda _: f"title = {title}", text), encoding="utf-8")
    said = [
        run("cast", story),
        run("scenes", story),
        run("export", story, "-o", "out.jsonl"),
        run("persona", story, "Nobody\x1b[31m", "--at", "1.1", status=1),
    ]
    assert "Key" in said[2].output and "Key" in said[3].output
    for result in said:
        assert not CONTROL.search(result.output)
