"""A file of tests for a bot, written by a person: whatever is wrong with it is an error that names file, line and key.

    never = ["assistant", "loops"]           keys before the first table hold for all tests

    [[test]]
    name = "keeps its name"
    system = "You are Ines Vale."            sent as the system message, where the bot does not bring its own
    turns = ["Who are you?", "Really?"]      said in turn; the bot's replies stand between them
    must = ["Ines"]                          one of these is in the last reply
    must_not = ["assistant"]                 none of these is in any reply
    repeats = 5
    pass_at = 0.8                            the share of repeats that has to pass

With `story` a test may have `who`, `at`, `facing` and `rules` (the story's metrics judge the replies at that moment),
and `probes` names a file of probes that are tests too; tables [[probe]] may also stand in the file itself, with or
without a story. In `system` and `model`, `{who}`, `{at}` and `{facing}` stand for those of the test or probe.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from understudy.bench.check.faults import FAULTS, LANGUAGES
from understudy.errors import InputError, UnderstudyError
from understudy.formats.story_folder import Probe, read_probes
from understudy.judging import Rule
from understudy.metrics.registry import METRICS
from understudy.story.dialogue import Situation, situation_at
from understudy.story.names import character_at, shown_names
from understudy.story.storyfile import Story
from understudy.story.storyfile.toml_tables import load_toml, quoted, table_lines
from understudy.text import did_you_mean

HEADS = ("test", "probe")
"""The tables of a file: a probe is a test that says `ask` where others say `turns`."""


@dataclass(frozen=True, slots=True)
class CheckTest:
    """One conversation with a bot, and what is asked of its replies."""

    name: str
    turns: tuple[str, ...]
    line: int = 1
    kind: str = ""
    model: str | None = None
    system: str = ""
    must: tuple[str, ...] = ()
    must_not: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    language: str | None = None
    max_words: int | None = None
    voice_like: tuple[str, ...] = ()
    voice_unlike: tuple[str, ...] = ()
    voice_at_least: float = 0.5
    rules: tuple[Rule, ...] = ()
    situation: Situation | None = None
    repeats: int = 1
    pass_at: float = 1.0
    judged_by: str = "share"
    temperature: float | None = None
    max_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class TestsFile:
    """The tests of a file, the story they are judged by, and the files all of it was read from."""

    __test__ = False  # tells pytest that this is no test class

    path: Path
    tests: tuple[CheckTest, ...]
    story: Story | None = None
    sources: tuple[Path, ...] = ()


def read_tests(path: Path, open_story: Callable[[str], Story]) -> TestsFile:
    """Read and validate a file of tests. Paths in it are relative to its folder."""
    document, text = load_toml(path)
    tables: list[tuple[dict[str, Any], int]] = []
    for head in HEADS:
        of_head = document.pop(head, [])
        if not isinstance(of_head, list) or not all(isinstance(table, dict) for table in of_head):
            raise InputError(f"write [[{head}]] with two brackets, one for each", path, _find(text, 1, head))
        tables += zip(of_head, _starts(text, head, len(of_head)))
    tables.sort(key=lambda pair: pair[1])
    reading = _Reading(path, text, open_story)
    story_name, probes_name = (reading.pop_path(document, key) for key in ("story", "probes"))
    reading.keys(document, 1, INHERITED, "before the first [[test]]")
    reading.open(story_name)
    tests = [reading.test(document, table, start) for table, start in tables]
    sources = [path]
    if probes_name is not None:
        probes_path = path.parent / probes_name
        tests += reading.probes(document, probes_path)
        sources.append(probes_path)
    if not tests:
        raise InputError("holds no tests: write some as [[test]], or see `understudy check --init`", path)
    twice = sorted({test.name for test in tests if sum(other.name == test.name for other in tests) > 1})
    if twice:
        again = [test for test in tests if test.name == twice[0]][1]
        raise InputError(f"two tests are called {quoted(twice[0])}: give each a name of its own", path, again.line)
    return TestsFile(path, tuple(tests), reading.story, tuple(sources))


class _Reading:
    """Reads the values of one file; errors name their line."""

    def __init__(self, path: Path, text: str, open_story: Callable[[str], Story]) -> None:
        self.path, self.text, self.open_story = path, text, open_story
        self.story: Story | None = None
        self.unnamed = Counter[str]()

    def error(self, message: str, start: int, key: str | None = None) -> InputError:
        line = start if key is None else _find(self.text, start, key)
        return InputError(message if key is None else f"'{key}' {message}", self.path, line)

    def pop_path(self, document: dict[str, Any], key: str) -> str | None:
        value = document.pop(key, None)
        if value is not None and (not isinstance(value, str) or not value.strip()):
            raise self.error(f"is {quoted(value)}: write a path in quotes", 1, key)
        return value

    def keys(self, table: Mapping[str, Any], start: int, allowed: Mapping[str, Any], where: str) -> None:
        for key in table.keys() - allowed.keys():
            meant = did_you_mean(key, allowed)
            raise self.error(f"is unknown {where}{meant}: it may have {', '.join(sorted(allowed))}", start, key)

    def open(self, name: str | None) -> None:
        if name is None:
            return
        path = self.path.parent / name
        try:
            self.story = self.open_story(str(path) if path.exists() else name)
        except UnderstudyError as error:
            raise self.error(f"cannot be read: {error}", 1, "story") from error

    def test(self, defaults: Mapping[str, Any], table: Mapping[str, Any], start: int) -> CheckTest:
        self.keys(table, start, VALUES, "in a test")
        if ("turns" in table) == ("ask" in table):
            raise self.error("a test needs 'turns', or 'ask' as a probe has it, and not both", start)
        own = {key: self.value(key, table[key], start) for key in table}
        own["turns"] = own.pop("ask", None) or own["turns"]
        own.setdefault("name", self.default_name(own))
        inherited = {key: self.value(key, defaults[key], 1) for key in defaults if key not in own}
        return self.build(inherited | own, start)

    def default_name(self, values: Mapping[str, Any]) -> str:
        """The message that is judged, and who is asked where it says so; numbered where it comes again."""
        parts = [values[key] for key in ("who", "at", "facing") if key in values]
        name = ": ".join((", ".join(parts), values["turns"][-1])) if parts else values["turns"][-1]
        self.unnamed[name] += 1
        return name if self.unnamed[name] == 1 else f"{name} ({self.unnamed[name]})"

    def build(self, values: dict[str, Any], start: int) -> CheckTest:
        who, at, facing = (values.pop(key, None) for key in ("who", "at", "facing"))
        rules = values.get("rules", ())
        if rules and (self.story is None or who is None or at is None):
            raise self.error("need a story to judge by: give `story`, `who` and `at` (and `facing`)", start, "rules")
        if who is not None and self.story is not None:
            try:
                values["situation"] = situation_at(self.story, who, at or "end", facing)
                who, facing = (_shown_name(self.story, name, at or "end") for name in (who, facing))
            except UnderstudyError as error:
                raise self.error(str(error), start) from error
        for key in ("system", "model"):
            if values.get(key):
                values[key] = _filled(values[key], who, at, facing)
        test = CheckTest(line=start, **values)
        criteria = (test.must, test.must_not, test.never, test.language, test.max_words, test.voice_like, test.rules)
        if not any(criteria):
            raise self.error(
                "asks nothing of the replies, so it could never fail: give must, must_not, never, language, max_words, "
                "voice_like or rules",
                start,
            )
        return test

    def probes(self, defaults: Mapping[str, Any], path: Path) -> list[CheckTest]:
        """Probes as tests; where the file says `who` it is, those of others are left out."""
        if self.story is None:
            raise self.error("need the story they are about: give `story` too", 1, "probes")
        values = {key: self.value(key, defaults[key], 1) for key in defaults if key not in ("who", "at", "facing")}
        who = defaults.get("who")
        name = None if who is None else self.story.character(self.value("who", who, 1)).name
        probes = [probe for probe in read_probes(path, self.story) if name in (None, probe.who)]
        return [self.build(values | _probe_values(probe, number), 1) for number, probe in enumerate(probes, 1)]

    def value(self, key: str, value: Any, start: int) -> Any:
        read = VALUES[key]
        try:
            return read(value, self.path)
        except InputError as error:
            raise self.error(error.message, start, key) from error


def _probe_values(probe: Probe, number: int) -> dict[str, Any]:
    facing = {} if probe.facing is None else {"facing": probe.facing}
    return {
        "name": f"probe {number}: {probe.who} at {probe.at.dotted}: {probe.ask}",
        "kind": probe.kind or "probe", "turns": (*probe.before, probe.ask), "must": probe.must,
        "must_not": probe.must_not, "who": probe.who, "at": probe.at.dotted, **facing,
    }  # fmt: skip


def _shown_name(story: Story, name: str | None, at: str) -> str | None:
    """The name somebody goes by at a moment, which may not be their own."""
    if name is None:
        return None
    moment = story.moment(at)
    own = character_at(story, name, moment).name
    return shown_names(story, moment).get(own, own)


def _filled(template: str, who: str | None, at: str | None, facing: str | None) -> str:
    if facing is None:
        template = template.replace("#{facing}", "")
    for name, value in (("who", who), ("at", at), ("facing", facing)):
        template = template.replace(f"{{{name}}}", value or "")
    return template


def _starts(text: str, head: str, count: int) -> list[int]:
    """The lines at which the tables of a name start."""
    lines = table_lines(text).get(head, [])
    return lines if len(lines) == count else [1] * count


def _find(text: str, start: int, key: str) -> int:
    """The line of a key in the table that starts at a line; the table's own where it is not found."""
    for number, line in enumerate(text.split("\n")[start - 1 :], start):
        stripped = line.strip()
        if number > start and stripped.startswith("["):
            break
        if stripped.partition("=")[0].strip().strip("\"'") == key:
            return number
    return start


# How the values of a file of tests are read: each key's reader gives a value, or an error that says what is wrong.

MOST_REPEATS, MOST_TURNS = 1000, 200
JUDGED_BY = ("share", "low")
NUMBERS = {int: "whole number", float: "number"}


def _text(value: Any, _path: Path) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"is {quoted(value)}, not a text in quotes")
    return value


def _texts(value: Any, _path: Path) -> tuple[str, ...]:
    if not isinstance(value, list) or not value or not all(isinstance(item, str) and item.strip() for item in value):
        raise InputError('must be a list of texts, as in ["one", "two"]')
    return tuple(value)


def _turns(value: Any, path: Path) -> tuple[str, ...]:
    turns = (value,) if isinstance(value, str) and value.strip() else _texts(value, path)
    if len(turns) > MOST_TURNS:
        raise InputError(f"has {len(turns)} messages: at most {MOST_TURNS} are put in one conversation")
    return turns


def _lines(value: Any, path: Path) -> tuple[str, ...]:
    """A list of lines, or the path of a text file that has one a line."""
    if not isinstance(value, str):
        return _texts(value, path)
    file = path.parent / value
    try:
        lines = tuple(line.strip() for line in file.read_text(encoding="utf-8-sig").splitlines() if line.strip())
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"names {quoted(value)}, which cannot be read as UTF-8 text: {error}") from error
    if not lines:
        raise InputError(f"names {quoted(value)}, which holds no lines")
    return lines


def _faults(value: Any, path: Path) -> tuple[str, ...]:
    names = _texts(value, path)
    for name in names:
        if name not in FAULTS:
            raise InputError(f"has '{name}'{did_you_mean(name, FAULTS)}: choose from {', '.join(FAULTS)}")
    return names


def _rules(value: Any, path: Path) -> tuple[Rule, ...]:
    rules = tuple(Rule.parse(text) for text in _texts(value, path))
    for rule in rules:
        if rule.metric not in METRICS:
            raise InputError(
                f"has the metric '{rule.metric}'{did_you_mean(rule.metric, METRICS)}: choose from {', '.join(METRICS)}"
            )
    return rules


def _choice(*choices: str) -> Callable[[Any, Path], str]:
    def read(value: Any, _path: Path) -> str:
        if value not in choices:
            raise InputError(f"is {quoted(value)}: choose from {', '.join(choices)}")
        return str(value)

    return read


def _number(least: float, most: float, kind: type[int] | type[float] = float) -> Callable[[Any, Path], int | float]:
    def read(value: Any, _path: Path) -> int | float:
        is_kind = isinstance(value, int | kind) and not isinstance(value, bool)
        if not is_kind or not least <= value <= most:
            raise InputError(f"is {quoted(value)}, not a {NUMBERS[kind]} from {least:,g} to {most:,g}")
        return kind(value)

    return read


INHERITED: dict[str, Callable[[Any, Path], Any]] = {
    "kind": _text, "model": _text, "system": _text, "must_not": _texts, "never": _faults,
    "language": _choice(*LANGUAGES), "max_words": _number(1, 100_000, int),
    "voice_like": _lines, "voice_unlike": _lines, "voice_at_least": _number(0, 1),
    "who": _text, "at": _text, "facing": _text, "rules": _rules,
    "repeats": _number(1, MOST_REPEATS, int), "pass_at": _number(0, 1), "judged_by": _choice(*JUDGED_BY),
    "temperature": _number(0, 2), "max_tokens": _number(1, 1_000_000, int),
}  # fmt: skip
"""Keys that may also stand before the first test, and how each is read."""

VALUES = INHERITED | {"name": _text, "turns": _turns, "ask": _turns, "must": _texts}
