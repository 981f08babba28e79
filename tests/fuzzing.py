"""Files that are damaged at random, or made to do harm: each can be read, or is refused by an error of ours.

    python tests/fuzzing.py [--seed N] [--cases N] [--seconds S]

Case N of a seed is always the same file. Memory is bounded for the whole run and time for each case; what comes through
otherwise is printed, and the file that did it is kept.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import shutil
import signal
import sqlite3
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from io import StringIO
from pathlib import Path
from typing import Any

from samples import SAMPLES
from stories import brass_key
from understudy.errors import UnderstudyError
from understudy.formats import probes_of, read
from understudy.formats.export import export_jsonl
from understudy.story.dialogue import situation_at
from understudy.story.spoiler_free import timeline
from understudy.story.storyfile import Story

MEMORY = 2 * 2**30
SECONDS_A_CASE = 30
FOR_EVER = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT"

VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 2**31, 2**32, 2**63 - 1, -(2**63), 10**400, 1e308, float("nan"), float("inf"), "", " ",
    "\0", "x" * 70_000, "\ud800", "\u202e\x1b[2J", "9" * 5000, "end", "1.2.3.4.5.6", b"", b"\xff", b"\0\0\0",
    b"\xff" * 400, "[]", "{}", "[1]", '["a"]', "[" * 5000 + "]" * 5000, '["\\ud800"]', [], {}, [[]], [None],
    {"": {}}, "Ann", "Ann: Hello.", "# act 999999999999: X",
)  # fmt: skip
TOKENS = (
    b"\r", b"\r\n", b"\n\n", b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"[", b"]", b"(", b"{", b'"', b":", b",:",
    b"# act 1: A\n", b"## scene ", b"Present exactly:\n", b"+ Ann\n", b"- Ann\n", b"<pre>", b"<!--",
    b"&#x110000;", b"[[character]]\n", b"[[fact]]\n", b"9" * 5000, b"[" * 3000, b"1 your persona:", b"\\",
    b"%", b"1e999", b"\xe2\x80\xa8", b"\x1b[2J", b"A" * 70_000,
)  # fmt: skip
SCHEMA = (
    f"CREATE VIEW more AS {FOR_EVER} i FROM n",
    "CREATE TRIGGER more AFTER INSERT ON lines BEGIN DELETE FROM lines; END",
    "CREATE VIRTUAL TABLE more USING fts5(text)",
    f"DROP TABLE about; CREATE VIEW about AS {FOR_EVER} 'title' AS key, 'x' AS value FROM n",
    f"DROP TABLE migrations; CREATE VIEW migrations AS {FOR_EVER} 2 AS number FROM n",
    f"ALTER TABLE lines RENAME TO lines2; CREATE VIEW lines AS {FOR_EVER} i AS id, 1 AS scene FROM n",
    "DROP INDEX presence_by_scene",
    "ALTER TABLE lines ADD COLUMN more AS (randomblob(1000000000))",
    "PRAGMA writable_schema = ON; UPDATE sqlite_master SET rootpage = 2",
    "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = 'CREATE TABLE lines (id)' WHERE name = 'lines'",
    "PRAGMA application_id = 7",
    "PRAGMA journal_mode = WAL",
    "DELETE FROM lines WHERE id % 2",
    "DELETE FROM scenes",
    "DELETE FROM characters",
    "INSERT INTO presence SELECT character, first + 1, last, scene FROM presence WHERE last > first",
    "UPDATE scenes SET last = 2147483648",
    "UPDATE presence SET last = 9223372036854775807",
)


class TooLong(BaseException):
    """A case that took more than its time; no `except Exception` holds it."""


def damaged_bytes(chance: random.Random, whole: bytes) -> bytes:
    """Some bytes changed, cut off, doubled, or something put in between."""
    content = bytearray(whole)
    for _ in range(chance.choice((1, 1, 2, 5, 20))):
        at = chance.randrange(len(content) + 1)
        length = chance.choice((1, 2, 16, 300))
        match chance.randrange(5):
            case 0:
                content[at : at + length] = chance.randbytes(length)
            case 1:
                del content[at : at + length]
            case 2:
                content[at:at] = chance.choice(TOKENS)
            case 3:
                content[at:at] = content[at : at + length] * chance.choice((1, 2, 40))
            case 4 if chance.random() < 0.3:
                del content[at:]
    return bytes(content)


def damaged_json(chance: random.Random, whole: bytes) -> bytes:
    """A document, or a line of one, in which some values are others."""
    lines = [whole] if whole.lstrip()[:1] == b"{" and whole.count(b"\n{") == 0 else whole.split(b"\n")
    place = chance.randrange(len(lines))
    try:
        document = json.loads(lines[place])
    except ValueError:
        return damaged_bytes(chance, whole)
    for _ in range(chance.choice((1, 1, 3))):
        document = _changed(chance, document)
    try:
        lines[place] = json.dumps(document, default=repr).encode()
    except (ValueError, RecursionError):
        return damaged_bytes(chance, whole)
    return b"\n".join(lines)


def _changed(chance: random.Random, value: Any) -> Any:
    if isinstance(value, dict | list) and value and chance.random() < 0.85:
        key = chance.choice(list(value)) if isinstance(value, dict) else chance.randrange(len(value))
        if chance.random() < 0.1:
            del value[key]
        else:
            value[key] = _changed(chance, value[key])
        return value
    return chance.choice(VALUES)


def damaged_story(chance: random.Random, path: Path) -> None:
    """A story file with other bytes, other values or another schema."""
    if chance.random() < 0.4:
        path.write_bytes(damaged_bytes(chance, path.read_bytes()))
        return
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        try:
            if chance.random() < 0.3:
                connection.executescript(chance.choice(SCHEMA))
                return
            for _ in range(chance.choice((1, 1, 3))):
                tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
                table = chance.choice(tables)
                columns = [row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')]
                value = chance.choice([one for one in VALUES if not isinstance(one, list | dict) and one != "\ud800"])
                where = chance.choice(("1", "rowid = 1", "random() % 2"))
                connection.execute(
                    f'UPDATE OR IGNORE "{table}" SET "{chance.choice(columns)}" = ? WHERE {where}', (value,)
                )
        except (sqlite3.Error, OverflowError, UnicodeError):
            pass  # what SQLite itself does not take is no case


def look_at(story: Story) -> None:
    """What commands and pages ask of a story."""
    story.files(), story.count(), story.last_moment(), list(story.headings()), list(story.unread())
    story.facts(), story.relations(), [sum(1 for _ in range(0, lines, 100)) for _, _, lines in story.outline()]
    end = story.moment("end")
    list(timeline(story, end))
    for scene in story.scenes():
        story.presence_intervals(scene.moment), story.current_scene(scene.moment)
    for member in story.cast()[:2]:
        try:
            persona = situation_at(story, member.character.name, end).persona
        except UnderstudyError:
            continue
        len(persona.past), persona.past.lines(last=3), list(persona.past.scenes(last=2)), list(persona.past.exchanges())
    export_jsonl(story, StringIO(), ascii_only=True)


class Fuzzer:
    """Makes the cases in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._seeds = folder, folder / "seeds"
        self._seeds.mkdir()
        self._story_folder = brass_key(self._seeds / "brass-key")
        shutil.copy(Path(str(Path(__file__).parents[1] / "src/understudy/stories/demo-zh/probes.toml")), self._seeds)
        read(self._story_folder, into=self._seeds / "brass-key.story")
        read("demo-zh", into=self._seeds / "demo-zh.story")
        self._samples = {form: (name, content()) for form, (name, content) in SAMPLES.items()}

    def run(self, seed: int, number: int) -> None:
        """Make a case and look at it; whatever is not an error of ours comes through."""
        chance = random.Random(f"{seed}/{number}")
        case = self._folder / "case"
        shutil.rmtree(case, ignore_errors=True)
        case.mkdir()
        kinds: list[Callable[[random.Random, Path], None]] = [
            self._story,
            self._story,
            self._sample,
            self._sample,
            self._toml,
        ]
        try:
            chance.choice(kinds)(chance, case)
        except UnderstudyError as error:
            assert str(error).strip(), "an error says what is wrong"

    def _story(self, chance: random.Random, case: Path) -> None:
        path = case / "case.story"
        shutil.copy(chance.choice(sorted(self._seeds.glob("*.story"))), path)
        damaged_story(chance, path)
        look_at(read(path))

    def _sample(self, chance: random.Random, case: Path) -> None:
        name, whole = self._samples[chance.choice(sorted(self._samples))]
        path = case / name
        is_json = whole.lstrip()[:1] in (b"{", b"[") and chance.random() < 0.6
        path.write_bytes((damaged_json if is_json else damaged_bytes)(chance, whole))
        look_at(read(path))

    def _toml(self, chance: random.Random, case: Path) -> None:
        folder = case / "story"
        if chance.random() < 0.3:
            folder.mkdir()
            probes = (self._seeds / "probes.toml").read_bytes()
            (folder / "probes.toml").write_bytes(damaged_bytes(chance, probes))
            probes_of(folder, read("demo-zh"))
            return
        shutil.copytree(self._story_folder, folder)
        cast = folder / "cast.toml"
        cast.write_bytes(damaged_bytes(chance, cast.read_bytes()))
        look_at(read(folder))


@contextmanager
def within(seconds: int) -> Iterator[None]:
    def late(*_: object) -> None:
        raise TooLong(f"more than {seconds} s")

    signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--cases", type=int, default=sys.maxsize)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    asked = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    failed, number, end = 0, asked.first, time.monotonic() + asked.seconds
    with tempfile.TemporaryDirectory(prefix="understudy-fuzzing-") as folder:
        fuzzer = Fuzzer(Path(folder))
        while number < asked.first + asked.cases and time.monotonic() < end:
            try:
                with within(SECONDS_A_CASE):
                    fuzzer.run(asked.seed, number)
            except (Exception, TooLong):
                failed += 1
                kept = Path(tempfile.mkdtemp(prefix=f"understudy-case-{asked.seed}-{number}-"))
                shutil.copytree(Path(folder) / "case", kept, dirs_exist_ok=True)
                print(
                    f"--seed {asked.seed} --first {number} --cases 1: kept in {kept}\n{traceback.format_exc()}",
                    flush=True,
                )
            number += 1
    print(f"{number - asked.first} cases of seed {asked.seed}, {failed} failed.")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
