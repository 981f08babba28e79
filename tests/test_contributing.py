"""The examples of CONTRIBUTING.md do what the page says of them."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from understudy import Turn, formats, persona_at, read, situation_at
from understudy.formats.recognition import Format
from understudy.story.dialogue import Draft

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
EXAMPLES = dict(re.findall(r"^## Adding (.*)\n(?:(?!^## ).*\n)*?```python\n((?:.*\n)*?)```", PAGE, re.MULTILINE))
MAX_LINES = 20


def example(name: str) -> dict[str, Any]:
    """What the code of an example defines."""
    names: dict[str, Any] = {"__name__": "example"}
    exec(compile(EXAMPLES[name], f"CONTRIBUTING.md, {name}", "exec"), names)
    return names


def test_what_is_added_most_often_is_shown_in_a_few_lines() -> None:
    assert set(EXAMPLES) == {"a format", "a metric", "an agent", "a guard"}
    lines = {name: [line for line in code.splitlines() if line.strip()] for name, code in EXAMPLES.items()}
    assert {name: len(code) for name, code in lines.items() if len(code) > MAX_LINES} == {}


def test_the_format_is_recognised_and_accounts_for_every_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("chat_log")
    vars(module).update(example("a format"))
    monkeypatch.setitem(sys.modules, "understudy.formats.chat_log", module)
    (row,) = re.findall(r'Format\("(.+)", (\w+), "(\w+)"\)', EXAMPLES["a format"])
    chat_log = Format(row[0], vars(module)[row[1]], row[2])
    monkeypatch.setattr(formats, "FORMATS", (chat_log, *formats.FORMATS))
    path = tmp_path / "quay.log"
    path.write_text("<ann> Is the tide out?\n<bob> Since noon.\n* bob waves\n", encoding="utf-8")
    story = read(path)
    assert [member.character.name for member in story.cast()] == ["Ann", "Bob"]
    assert [(line.text, line.reason) for line in story.unread()] == [("* bob waves", "not of the form <name> text")]
    assert read("demo").title == "A Clean Bill"  # still recognised as what it is


def test_the_metric_prefers_usual_lengths_and_says_why_a_value_is_missing() -> None:
    brevity, story = example("a metric")["brevity"], read("demo")
    short, long = brevity(persona_at(story, "Zita Karst", "2.3"))(["No.", "No, " + "and again no, " * 40])
    assert short.value == 1.0 and 0 < long.value < 0.5
    (missing,) = brevity(persona_at(story, "Zita Karst", "start"))(["No."])
    assert missing.value is None and missing.reason


def test_the_agent_says_nothing_from_later_than_its_moment() -> None:
    situation = situation_at(read("demo"), "Zita Karst", "2.3", facing="Aurel Benedek")
    reply = example("an agent")["LastWord"]().reply(situation, [Turn("Aurel Benedek", "Is that all?")])
    assert reply.text == situation.persona.past.lines(last=1)[0].text
    assert reply.evidence[0].moment < situation.persona.moment


def test_the_guard_stops_only_those_who_never_shouted(tmp_path: Path) -> None:
    shouting = example("a guard")["shouting"]
    path = tmp_path / "quay.txt"
    path.write_text("Ann: Is the tide out?\nBob: SINCE NOON.\nAnn: Good.\nBob: Is it?\nAnn: Yes.\n", encoding="utf-8")
    story = read(path)
    ann, bob = (situation_at(story, name, "end") for name in ("Ann", "Bob"))
    assert not shouting(ann, [], Draft("GOODNESS, no.", "writer")).passed
    assert shouting(ann, [], Draft("Goodness, no.", "writer")).passed
    assert shouting(bob, [], Draft("GOODNESS, no.", "writer")).passed


def test_links_lead_somewhere() -> None:
    links = re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", PAGE)
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_modules_that_are_named_exist() -> None:
    package = ROOT / "src" / "understudy"
    named = re.findall(r"`((?:\w+/)*\w+(?:\.py|/))`", PAGE)
    assert len(named) > 5
    assert [name for name in named if not (package / name).exists() and not (ROOT / name).exists()] == []
