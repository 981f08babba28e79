from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from cliruns import Run, Start
from understudy.language.backends import Completion
from understudy.language.backends.settings import LLMSettings
from understudy.story.dialogue import ChatMessage

TESTS = """
[[test]]
name = "says hello"
turns = ["Hello?"]
must = ["hello"]

[[test]]
name = "is no assistant"
turns = ["Who are you?"]
never = ["assistant"]
repeats = 3
"""

SERVED = """
story = "demo"
probes = "probes.toml"
model = "demo/{who}@{at}#{facing}"

[[test]]
name = "is herself"
who = "Zita"
at = "2.3"
turns = ["What is it that you do here?", "And before that?"]
never = ["assistant", "refusal", "markdown"]
rules = ["anachronism<=0"]
repeats = 2
"""


class Parrot:
    def __init__(self, settings: Any) -> None:
        self.settings = settings

    def complete(self, messages: Sequence[ChatMessage], *_: object) -> list[Completion]:
        return [Completion(messages[-1].content if "Hello" in messages[-1].content else "I am an AI.")]


@pytest.fixture
def tests(tmp_path: Path) -> Path:
    path = tmp_path / "tests.toml"
    path.write_text(TESTS, encoding="utf-8")
    return path


@pytest.fixture
def parrot(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """A bot that says what it hears, and the settings it was opened with."""
    opened: list[Any] = []
    module = __import__("understudy.cli.check", fromlist=["check"])

    def open_parrot(settings: LLMSettings) -> Parrot:
        opened.append({field.name: getattr(settings, field.name) for field in fields(settings)})
        return Parrot(settings)

    monkeypatch.setattr(module, "OPEN_BACKEND", open_parrot)
    for name in ("UNDERSTUDY_CHECK_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    return opened


def test_what_failed_is_shown_and_the_status_says_so(run: Run, tests: Path, parrot: list[Any], tmp_path: Path) -> None:
    junit = tmp_path / "out.xml"
    shown = run("check", tests, "--url", "http://x/v1", "--model", "bot", "--junit", junit, status=1).stdout
    assert "passed  says hello" in shown and "failed  is no assistant" in shown
    assert shown.count("speaks as an assistant ('I am an AI')") == 1  # three times the same is told once
    assert "1 of 2 tests passed." in shown
    assert ElementTree.fromstring(junit.read_bytes()).get("failures") == "1"
    assert parrot[0]["url"] == "http://x/v1" and parrot[0]["model"] == "bot"


def test_json_is_one_document(run: Run, tests: Path, parrot: list[Any]) -> None:
    document = json.loads(run("check", tests, "--url", "http://x/v1", "--model", "bot", "--json", status=1).stdout)
    assert [test["passed"] for test in document["tests"]] == [True, False]
    assert document["tests"][1]["n"] == 3 and document["manifest"]["bench"] == "check"


def test_repeats_of_the_command_line_go_before_the_file_s(run: Run, tests: Path, parrot: list[Any]) -> None:
    arguments = ("check", tests, "--url", "http://x/v1", "--model", "bot", "--repeats", 2, "--json")
    assert [test["n"] for test in json.loads(run(*arguments, status=1).stdout)["tests"]] == [2, 2]


def test_the_key_comes_from_the_environment_or_a_file(
    run: Run, tests: Path, parrot: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def key(url: str, *more: str | Path) -> str | None:
        parrot.clear()
        run("check", tests, "--url", url, "--model", "bot", *more, status=1)
        received_key: str | None = parrot[0]["key"]
        return received_key

    assert key("https://x/v1") is None
    monkeypatch.setenv("OPENAI_API_KEY", "sk-openai")
    assert key("https://x/v1") == "sk-openai" and key("http://127.0.0.1:1/v1") == "sk-openai"
    assert key("http://x/v1") is None  # not over an open network
    monkeypatch.setenv("UNDERSTUDY_CHECK_KEY", "own")
    assert key("http://x/v1") == "own"
    (tmp_path / "key").write_text("filed\n")
    assert key("http://x/v1", "--key-file", tmp_path / "key") == "filed"
    (tmp_path / "key").write_text("two words")
    error = run("check", tests, "--url", "http://x", "--model", "b", "--key-file", tmp_path / "key", status=1).stderr
    assert "holds no key, or more than one" in error and "two words" not in error


def test_the_example_is_written_once(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    assert "Next: understudy check" in run("check", path, "--init").stdout
    assert "--force" in run("check", path, "--init", status=1).stderr
    run("check", path, "--init", "--force")


def test_it_says_what_is_missing(run: Run, tests: Path, parrot: list[Any]) -> None:
    assert "--url" in run("check", tests, "--model", "bot", status=2).stderr
    assert "add --model" in run("check", tests, "--url", "http://x", status=1).stderr
    assert "cannot be read" in run("check", "nowhere.toml", "--url", "http://x", "--model", "bot", status=1).stderr


@pytest.fixture
def served(start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("UNDERSTUDY_DATA", str(tmp_path / "data"))
    monkeypatch.delenv("UNDERSTUDY_API_KEY", raising=False)
    process = start("serve", "demo", "--port", "0", "--agent", "tfidf")
    assert process.stdout is not None
    address = next(match[0] for line in process.stdout if (match := re.search(r"http://[^/ ]+", line)))
    yield address
    process.kill()
    process.communicate()


def test_a_character_that_is_served_can_be_checked(run: Run, served: str, tmp_path: Path) -> None:
    probe = '[[probe]]\nwho = "Danilo Reuss"\nat = "1.2"\nfacing = "Zita"\nask = "Who are you?"\nmust_not = ["Reuss"]\n'
    (tmp_path / "probes.toml").write_text(probe, encoding="utf-8")
    path = tmp_path / "served.toml"
    path.write_text(SERVED, encoding="utf-8")
    document = json.loads(run("check", path, "--url", f"{served}/v1", "--json").stdout)
    (_, bot), repeated = document["tests"], document["tests"][0]["repeats"]
    assert document["passed"] and bot["name"].startswith("probe 1: Danilo Reuss")
    assert len(repeated) == 2 and len(repeated[0]["replies"]) == 2 and all(repeated[0]["replies"])
    error = run("check", path, "--url", "http://127.0.0.1:1/v1", "--retries", 0, status=1).stdout
    assert "cannot be reached" in error and "0 of 2 tests passed" in error
