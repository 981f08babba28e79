"""Talk judged by readers who do not know which agent wrote what.

    python benchmarks/talk_blind.py run DATA --agent encoder --agent new=mine:agent -o sheet
    python benchmarks/talk_blind.py score sheet.key.json marks.json [marks-of-another-reader.json]

DATA has shakespeare/, tvshowguess/ and personachat/; roles whose story is not there are left out and named.
`run` puts each message of talk_questions/questions.toml to each agent and writes, in shuffled order and without names
of agents, sheet.json and sheet.md for the readers (--parts N also cuts the latter into N files); sheet.key.json says
which agent it was. Replies that several agents give alike are shown once, and a mark counts for all of them. With
--cache FILE replies are kept by an agent's label, so that a stopped run goes on and agents can be added to another.
An agent `batch:FOLDER` writes its questions into files; when their answers are there, the same command goes on.

A reader marks each item 0, 1 or 2 for `answers` (does it answer what was said?), `voice` (does it sound like them?) and
`true` (could they say it, to this one, at this moment?), as JSON {"q001": [2, 1, 2], ...} or as lines 'q001 2 1 2'.
`score` gives the means divided by 2, and pass: answers is 2 and neither of the others 0, with 95% intervals over
messages, by agent and by kind of role; with marks of several readers also how far they agree.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import re
import sys
import time
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from understudy.bench.answers import MissingAnswers
from understudy.bench.talk import ask
from understudy.cli.options import load_reply_agent, with_rules
from understudy.errors import AgentError, MissingAnswer
from understudy.formats import read
from understudy.language.backends.batch_files import write_requests
from understudy.metrics.statistics import interval
from understudy.story.dialogue import USER_NAME, Agent, Situation, Turn, situation_at
from understudy.story.storyfile import Story

QUESTIONS = Path(__file__).parent / "talk_questions" / "questions.toml"
MARKS = ("answers", "voice", "true")
OWN_LINES = 6  # shown to the readers as samples of the voice
SHORTEST_SHOWN, LONGEST_SHOWN = 20, 240  # characters of such a line


@dataclass(frozen=True)
class Role:
    name: str
    kind: str
    story: str
    who: str
    at: str
    messages: tuple[tuple[str, ...], ...]
    facing: str | None = None
    about: str = ""
    half: str = ""


@dataclass(frozen=True)
class Item:
    """One reply to be marked; `exchange` ends with the message it answers."""

    id: str
    role: str
    kind: str
    exchange: tuple[tuple[str, str], ...]
    reply: str


def read_roles(path: Path) -> list[Role]:
    roles = []
    for table in tomllib.loads(path.read_text(encoding="utf-8"))["role"]:
        messages = tuple((each,) if isinstance(each, str) else tuple(each) for each in table.pop("messages"))
        roles.append(Role(**table | {"messages": messages, "about": " ".join(table.get("about", "").split())}))
    return roles


def story_source(role: Role, questions: Path, data: Path) -> str | list[str | Path] | None:
    """What to read for a role's story; None where it is not there."""
    if role.story.startswith("demo"):
        return role.story
    for folder in (questions.parent, data):
        path = folder / role.story
        if path.is_dir():
            return [file for file in sorted(path.iterdir()) if file.suffix in (".html", ".txt")]
        if path.exists():
            return str(path)
    return None


def load_agent(spec: str, rules: Sequence[str], story: Story) -> Agent:
    return with_rules(load_reply_agent(spec, None, lambda _: [story]), rules, lambda _: [story])


def talk(agent: Agent, situation: Situation, messages: Sequence[str], seed: int) -> tuple[tuple[str, str], ...]:
    """Who said what, in turn; ends with the reply to the last message. Agents that sample are given the seed."""
    asker = situation.faced.name if situation.faced else USER_NAME
    history: list[Turn] = []
    for message in messages:
        history.append(Turn(asker, message))
        history.append(Turn(situation.persona.name, ask(agent, situation, tuple(history), seed).text))
    return tuple((turn.speaker, turn.text) for turn in history)


def description(role: Role, situation: Situation, seed: int) -> dict[str, Any]:
    """What the readers are told of a role."""
    persona = situation.persona
    own = [line.text for line in persona.past.lines() if len(line.text) >= SHORTEST_SHOWN]
    sample = random.Random(f"{seed} {role.name}").sample(own, min(OWN_LINES, len(own)))
    return {
        "name": persona.name,
        "story": persona.story,
        "moment": str(persona.moment),
        "facing": situation.faced.name if situation.faced else "a stranger",
        "setting": situation.setting,
        "about": role.about,
        "profile": list(persona.profile),
        "lines": [line if len(line) <= LONGEST_SHOWN else line[:LONGEST_SHOWN] + " ..." for line in sample],
    }


def run(options: argparse.Namespace) -> None:
    roles = read_roles(options.questions)
    if options.role:
        roles = [role for role in roles if role.name in options.role or role.kind in options.role]
    specs = dict(spec.split("=", 1) if re.match(r"[\w.+-]+=", spec) else (spec, spec) for spec in options.agent)
    opened = lru_cache(read_story)
    cache: dict[str, Any] = {}
    if options.cache is not None and options.cache.exists():
        cache = json.loads(options.cache.read_text(encoding="utf-8"))
    said: dict[tuple[str, int, tuple[tuple[str, str], ...]], list[str]] = defaultdict(list)
    told: dict[str, dict[str, Any]] = {}
    seconds: dict[str, list[float]] = defaultdict(list)
    missing = MissingAnswers()
    for role in roles:
        source = story_source(role, options.questions, options.data)
        if source is None:
            print(f"{role.name} is left out: {role.story} is not in {options.data}", file=sys.stderr)
            continue
        story = opened(tuple(source) if isinstance(source, list) else source)
        situation = situation_at(story, role.who, role.at, role.facing)
        told[role.name] = description(role, situation, options.seed)
        for label, spec in specs.items():
            agent = partial(cached_agent, spec, tuple(options.rule), story)
            for number, messages in enumerate(role.messages[: options.messages]):
                asked = json.dumps([label, role.name, role.at, role.facing, *messages, options.seed])
                if asked not in cache:
                    start = time.perf_counter()
                    try:
                        with missing:
                            exchange = talk(agent(), situation, messages, options.seed)
                            cache[asked] = [(time.perf_counter() - start) / len(messages), exchange]
                    except AgentError as error:
                        sys.exit(f"{role.name}: {label} failed on {messages[-1]!r}: {error}")
                if asked not in cache:
                    continue
                took, exchange = cache[asked][0], tuple((speaker, text) for speaker, text in cache[asked][1])
                seconds[label].append(took)
                said[role.name, number, exchange].append(label)
            if options.cache is not None:
                write_json(options.cache, cache)
            print(f"{role.name}: {label}, {sum(seconds[label]):.0f} s so far", file=sys.stderr)
    try:
        missing.check()
    except MissingAnswer as error:
        sys.exit(write_requests(error.requests))
    kinds = {role.name: role.kind for role in roles}
    entries = list(said.items())
    random.Random(options.seed).shuffle(entries)
    # a role's items stand together: its readers need to learn it once
    order = list(told)
    random.Random(options.seed + 1).shuffle(order)
    entries.sort(key=lambda entry: order.index(entry[0][0]))
    items, key = [], {}
    for index, ((role_name, number, exchange), labels) in enumerate(entries, 1):
        item = Item(f"q{index:03}", role_name, kinds[role_name], exchange[:-1], exchange[-1][1])
        items.append(item)
        key[item.id] = {"agents": labels, "role": role_name, "kind": kinds[role_name], "message": number}
    write_sheets(options.output, told, items, options.parts)
    manifest = {
        "agents": specs, "rules": options.rule, "seed": options.seed,
        "questions": hashlib.sha256(options.questions.read_bytes()).hexdigest(),
        "seconds": {label: sum(values) / len(values) for label, values in seconds.items()},
    }  # fmt: skip
    write_json(options.output.with_name(options.output.name + ".key.json"), {"items": key, "manifest": manifest})
    print(f"{len(items)} replies are in {options.output}.json and .md, the key is in {options.output}.key.json")


def read_story(source: str | tuple[str | Path, ...]) -> Story:
    return read(source if isinstance(source, str) else list(source))


_agents: dict[tuple[str, tuple[str, ...], int], Agent] = {}


def cached_agent(spec: str, rules: tuple[str, ...], story: Story) -> Agent:
    key = spec, rules, id(story)
    if key not in _agents:
        _agents[key] = load_agent(spec, rules, story)
    return _agents[key]


def write_json(path: Path, document: Any) -> None:
    path.write_text(json.dumps(document, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def write_sheets(output: Path, told: Mapping[str, Any], items: Sequence[Item], parts: int) -> None:
    write_json(output.with_name(output.name + ".json"), {"roles": told, "items": [asdict(item) for item in items]})
    output.with_name(output.name + ".md").write_text("\n".join(markdown(told, items)) + "\n", encoding="utf-8")
    if parts > 1:
        for part in range(parts):
            some = items[part * len(items) // parts : (part + 1) * len(items) // parts]
            path = output.with_name(f"{output.name}.{part + 1}.md")
            path.write_text("\n".join(markdown(told, some)) + "\n", encoding="utf-8")


def markdown(told: Mapping[str, Any], items: Sequence[Item]) -> Iterator[str]:
    yield "# Replies to be marked\n"
    yield "For each reply three marks of 0, 1 or 2, as a line `q001 2 1 2`:\n"
    yield "1. *answers*: does it answer what was said? (2 it does, 1 in part or evasively, 0 it is about other things)"
    yield "2. *voice*: does it sound like them? (2 unmistakably, 1 it could be them, 0 it could be anybody, or another)"
    yield "3. *true*: could they say it, to this one, at this moment? (2 yes, 1 nearly or doubtful, 0 it is false,"
    yield "   meant for somebody else, unknown to them yet, or what they hide)"
    before = None
    for item in items:
        role = told[item.role]
        if item.role != before:
            before = item.role
            yield f"\n## {role['name']} ({role['story']}, {role['moment']}), speaking to {role['facing']}\n"
            if role["about"]:
                yield role["about"] + "\n"
            for heading, texts in (("Profile", role["profile"]), ("Has said", role["lines"])):
                if texts:
                    yield f"{heading}:\n"
                    yield from (f"- {text}" for text in texts)
                    yield ""
        yield f"### {item.id}\n"
        yield from (f"> {speaker}: {text}  " for speaker, text in item.exchange)
        yield f"\n**{role['name']}: {item.reply}**\n"


def read_marks(path: Path) -> dict[str, tuple[int, ...]]:
    text = path.read_text(encoding="utf-8")
    if text.lstrip().startswith("{"):
        rows = {name: tuple(marks) for name, marks in json.loads(text).items()}
    else:
        found = re.finditer(r"^\W*(q\d+)\W+([0-2])\W+([0-2])\W+([0-2])\b", text, re.MULTILINE)
        rows = {match[1]: tuple(int(match[index]) for index in (2, 3, 4)) for match in found}
    for name, marks in rows.items():
        if len(marks) != len(MARKS) or any(mark not in (0, 1, 2) for mark in marks):
            raise SystemExit(f"{path}: {name} needs three marks of 0, 1 or 2: {', '.join(MARKS)}")
    return rows


def figures(marks: Sequence[int]) -> dict[str, float]:
    answers, voice, true = marks
    return {
        "answers": answers / 2, "voice": voice / 2, "true": true / 2,
        "pass": float(answers == 2 and voice >= 1 and true >= 1),
    }  # fmt: skip


def score(options: argparse.Namespace) -> None:
    key: dict[str, Any] = json.loads(options.key.read_text(encoding="utf-8"))["items"]
    readers = [read_marks(path) for path in options.marks]
    missing = [name for name in key if not any(name in marks for marks in readers)]
    if missing:
        print(f"{len(missing)} items have no marks: {', '.join(missing[:10])}", file=sys.stderr)
    # (agent, kind of role) -> metric -> the mean over readers for each item
    values: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for name, entry in key.items():
        given = [figures(marks[name]) for marks in readers if name in marks]
        for agent in entry["agents"] if given else ():
            for metric in given[0]:
                mean = sum(each[metric] for each in given) / len(given)
                for kind in ("all", entry["kind"]):
                    values[agent, kind][metric].append(mean)
    rows = []
    for (agent, kind), columns in sorted(values.items(), key=lambda entry: (entry[0][1] != "all", *entry[0][::-1])):
        for metric, column in columns.items():
            figure = interval(column, seed=0)
            rows.append({"agent": agent, "kind": kind, "metric": metric, **figure._asdict(), "n": len(column)})
    agreement = reader_agreement(readers)
    if options.json:
        print(json.dumps({"rows": rows, "agreement": agreement}, ensure_ascii=False))
        return
    print(f"{'agent':28} {'role':8} {'n':>4}  " + "  ".join(f"{metric:^16}" for metric in (*MARKS, "pass")))
    for index in range(0, len(rows), len(MARKS) + 1):
        some = rows[index : index + len(MARKS) + 1]
        cells = "  ".join(f"{row['value']:.3f} {row['low']:.2f}-{row['high']:.2f}" for row in some)
        print(f"{some[0]['agent'][:28]:28} {some[0]['kind']:8} {some[0]['n']:4}  {cells}")
    for metric, value in agreement.items():
        print(f"Readers differ in {metric} by {value:.3f} on average.")


def reader_agreement(readers: Sequence[Mapping[str, Sequence[int]]]) -> dict[str, float]:
    """Mean absolute difference between the readers of an item, by metric; empty where nobody marked the same."""
    differences: dict[str, list[float]] = defaultdict(list)
    for index, first in enumerate(readers):
        for second in readers[index + 1 :]:
            for name in first.keys() & second.keys():
                ours, theirs = figures(first[name]), figures(second[name])
                for metric in ours:
                    differences[metric].append(abs(ours[metric] - theirs[metric]))
    return {metric: sum(column) / len(column) for metric, column in differences.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    asking = commands.add_parser("run", help="Put the questions, write the sheet and its key.")
    asking.add_argument("data", type=Path, metavar="DATA")
    asking.add_argument("--agent", action="append", required=True, help="AGENT or LABEL=AGENT; may be repeated.")
    asking.add_argument("--rule", action="append", default=[], help="As in `understudy chat`; for all agents.")
    asking.add_argument("--questions", type=Path, default=QUESTIONS)
    asking.add_argument("--role", action="append", help="Only these roles or kinds of roles; may be repeated.")
    asking.add_argument("--messages", type=int, metavar="N", help="Only the first N messages of each role.")
    asking.add_argument("--parts", type=int, default=1, help="Cut the Markdown sheet for so many readers.")
    asking.add_argument("--cache", type=Path, help="Keep replies in this JSON file, and take those that are there.")
    asking.add_argument("--seed", type=int, default=0)
    asking.add_argument("-o", "--output", type=Path, default=Path("sheet"))
    asking.set_defaults(call=run)
    marking = commands.add_parser("score", help="Score the marks.")
    marking.add_argument("key", type=Path)
    marking.add_argument("marks", type=Path, nargs="+")
    marking.add_argument("--json", action="store_true")
    marking.set_defaults(call=score)
    options = parser.parse_args()
    options.call(options)


if __name__ == "__main__":
    main()
