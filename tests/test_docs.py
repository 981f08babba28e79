"""Every command that README and docs print runs, in the order it is printed, in a folder of a user of one's own.

Notes tell what was done once: of their commands it is checked that they exist, and that a page prints those that run.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from documented import NOT_RUN, PAGES, PrintedCommand, commands_of, prepare, reason_not_run
from remembering import remember
from understudy.cli import understudy

COMMANDS = [command for page in PAGES for command in commands_of(page)]
IN_NOTES = [command for command in COMMANDS if command.page.startswith("docs/notes/")]
IN_PAGES = [command for command in COMMANDS if command not in IN_NOTES]
NEAR = 0.03  # a score on a bound may fall to the other side on another processor
ENVIRONMENT = {"COLUMNS": "80", "UNDERSTUDY_AGENT": "guarded", "NO_COLOR": "1"}


RUN_ELSEWHERE = {("README.md", "understudy bench guard demo"): "docs/benches.md"}
"""Commands that take seconds, need nothing of those before them, and are run on the page that prints their output."""
WITH_A_NOVEL = ("docs/novels.md", "docs/formats.md")


@pytest.mark.parametrize(
    ("page", "whole"),
    [
        *((page, False) for page in PAGES if any(command.page == page for command in IN_PAGES)),
        *(pytest.param(page, True, marks=pytest.mark.thorough) for page in WITH_A_NOVEL),
    ],
)
def test_commands_run_in_the_order_they_are_printed(
    page: str, whole: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With chapters of a novel; with the whole of it when there is time."""
    remember(monkeypatch)
    folder = tmp_path / "folder"
    folder.mkdir()
    commands = [command for command in COMMANDS if command.page == page and not reason_not_run(command)]
    if commands:
        prepare(page, folder, whole)
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, "mine", raising=False)
    monkeypatch.setenv("UNDERSTUDY_DATA", str(tmp_path / "data"))
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    outputs: dict[str, str] = {}
    for command in commands:
        if (page, without_comment(command)) in RUN_ELSEWHERE:
            continue
        if command.text in outputs:  # shown once more, with its output
            compare(command, outputs[command.text])
            continue
        for _, *words in command.words():
            if words[:2] == ["study", "serve"]:  # opens the study and makes links, as serving it does
                words[1] = "invite"
            answers = "y\n" if words[0] == "filter" else None  # is the bound to be used?
            result = CliRunner().invoke(understudy, list(expanded(words)), prog_name="understudy", input=answers)
            assert result.exit_code == 0, f"{command}\n{result.output}"
            outputs[command.text] = result.stdout
        compare(command, outputs[command.text])
    if page == "README.md":
        check_probes(folder / "guarded.json")


def check_probes(items: Path) -> None:
    """As README says: behind the guards no violation, and most of what must be said is, from old lines and facts."""
    probes, with_must = json.loads(items.read_text())["items"]
    assert probes["marks"]["violations"] == [0.0] * 68
    assert len(with_must["names"]) == 27
    assert sum(with_must["marks"]["must"]) >= 17  # 20 here; another processor may round a score otherwise


def without_comment(command: PrintedCommand) -> str:
    return command.text.partition("#")[0].rstrip()


def compare(command: PrintedCommand, output: str) -> None:
    """The tables that docs/benches.md prints: the same rows, the same numbers of items, shares that are near."""
    if command.page != "docs/benches.md" or not command.output:
        return
    printed = [line.split() for line in output.splitlines()]
    for row in (line.split() for line in command.output if re.search(r"\d\.\.\d", line)):
        same = next((each for each in printed if each[:1] == row[:1] and len(each) == len(row)), None)
        assert same is not None, f"{command}: no row '{row[0]}'"
        for shown, now in zip(figures(row), figures(same)):
            assert now == pytest.approx(shown, abs=NEAR), f"{command}: {' '.join(row)} is now {' '.join(same)}"


def figures(row: list[str]) -> list[float]:
    return [float(figure) for figure in re.findall(r"\d+(?:\.\d+)?(?!\d)", " ".join(row[1:]).replace("..", " "))]


def expanded(words: list[str]) -> Iterator[str]:
    """Words as a shell gives them: `scripts/*` is the files."""
    for word in words:
        yield from sorted(map(str, Path().glob(word))) or [word] if re.search(r"\w/\*$", word) else [word]


@pytest.mark.parametrize("command", COMMANDS, ids=str)
def test_every_command_and_option_that_is_printed_exists(command: PrintedCommand) -> None:
    """Also where it cannot be run here."""
    for words in command.words():
        if "|" in words:
            del words[words.index("|") :]
        while "=" in words[0]:
            del words[0]
        named: click.Command = understudy
        rest = words[1:]
        while isinstance(named, click.Group) and rest and not rest[0].startswith("-"):
            found = named.get_command(click.Context(named), rest[0])
            if found is None:  # a group that takes a story, as `draft my-story/`
                break
            named = found
            del rest[0]
        commands = [named, *(named.commands.values() if isinstance(named, click.Group) else ())]
        parameters = [parameter for found in commands for parameter in found.params]
        known = {option for parameter in parameters for option in (*parameter.opts, *parameter.secondary_opts)}
        assert [word for word in rest if re.match(r"--?[a-z]", word) and word not in known | {"-h", "--help"}] == []


def test_what_is_not_run_is_needed() -> None:
    """Each pattern of the table keeps some command from being run."""
    reasons = Counter(reason_not_run(command) for command in IN_PAGES)
    assert {reason for _, reason in NOT_RUN} <= reasons.keys()
    assert reasons[""] >= 60


def test_what_is_run_on_another_page_is_printed_there_with_its_output() -> None:
    for (page, text), other in RUN_ELSEWHERE.items():
        on_it, there = (
            [each for each in IN_PAGES if each.page == of and without_comment(each) == text] for of in (page, other)
        )
        assert on_it and not any(command.output for command in on_it)
        assert any(command.output for command in there) and not any(map(reason_not_run, there))


def test_what_a_note_prints_is_run_with_its_page() -> None:
    run = {command.text for command in IN_PAGES}
    assert [command for command in IN_NOTES if not reason_not_run(command) and command.text not in run] == []
