"""Replies to the questions of talk_questions/guard_questions.toml, for `understudy bench guard --replies`.

    python benchmarks/guard_replies.py ask DATA BATCH -o roles.json      what `llm` would send, as a batch of requests
    python benchmarks/guard_replies.py collect roles.json good.jsonl [bad.jsonl ...] -o replies.jsonl [--half first]

DATA has the story files that the head of guard_questions.toml names; roles whose story is not there are left out and
named. `ask` writes the requests into the folder BATCH, and roles.json: what each custom_id asks, of whom, when, and
what was said before.

An answer is a line of JSON: {"custom_id", "text"}, or what a batch gives back. With "kind" it is of that kind instead
of --kind ('good'). A reply that was not written to a request, as a bad one, names a "role" instead of the custom_id,
and the "message" it is said to; if the role was asked that message, it has the same talk before it.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from talk_blind import Role, read_roles, read_story, story_source, write_json

from understudy.agents.writer import batch_agent
from understudy.errors import MissingAnswer
from understudy.language.backends.batch_files import write_requests
from understudy.story.dialogue import USER_NAME, Situation, Turn, situation_at

QUESTIONS = Path(__file__).parent / "talk_questions" / "guard_questions.toml"
HALVES = ("first", "second")

Record = dict[str, Any]


def turns(situation: Situation, messages: Sequence[str]) -> tuple[Turn, ...]:
    """A talk in which the one who asks and the role take turns; it ends with what is asked."""
    if len(messages) % 2 == 0:
        sys.exit(f"{situation.persona.name}: a talk must end with the one who asks: {messages[-1]!r}")
    asker = situation.faced.name if situation.faced else USER_NAME
    speakers = (asker, situation.persona.name)
    return tuple(Turn(speakers[number % 2], text) for number, text in enumerate(messages))


def ask(options: argparse.Namespace) -> None:
    agent, opened = batch_agent(str(options.batch)), lru_cache(read_story)
    requests: dict[tuple[Path, str], Mapping[str, Any]] = {}
    asked: dict[str, Record] = {}
    for role in read_roles(options.questions):
        named = story_source(role, options.questions, options.data)
        if named is None:
            print(f"{role.name} is left out: {role.story} is not in {options.data}", file=sys.stderr)
            continue
        source = tuple(named) if isinstance(named, list) else named
        situation = situation_at(opened(source), role.who, role.at, role.facing)
        for messages in role.messages:
            history = turns(situation, messages)
            try:
                agent.reply(situation, history)
            except MissingAnswer as error:
                requests |= error.requests
                for _, custom_id in error.requests:
                    asked[custom_id] = asked_record(role, source, situation, history)
            else:
                sys.exit(
                    f"{options.batch} has answers: name a new folder, for roles.json lists only what is asked there"
                )
    write_json(options.output, asked)
    print(f"{len(asked):,} questions to {len({each['role'] for each in asked.values()})} roles in {options.output}")
    if requests:
        print(write_requests(requests))


def asked_record(
    role: Role, source: str | tuple[str | Path, ...], situation: Situation, history: Sequence[Turn]
) -> Record:
    path = source if isinstance(source, str) else Path(source[0]).parent
    *before, last = history
    return {
        "role": role.name,
        "kind": role.kind,
        "half": role.half,
        "story": role.story if role.story.startswith("demo") else str(Path(path).resolve()),
        "at": role.at,
        "character": situation.persona.name,
        "facing": role.facing or "",
        "history": [{"speaker": turn.speaker, "text": turn.text} for turn in before],
        "asker": last.speaker,
        "message": last.text,
    }


def collect(options: argparse.Namespace) -> None:
    asked: dict[str, Record] = json.loads(options.roles.read_text(encoding="utf-8"))
    rows = list(replies(asked, options.answers, options.kind, options.half))
    with options.output.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    counts = Counter(row["kind"] for row in rows)
    print(f"{len(rows):,} replies in {options.output}: " + ", ".join(f"{n:,} {kind}" for kind, n in counts.items()))


def replies(asked: Mapping[str, Record], answers: Sequence[Path], kind: str, half: str | None) -> Iterator[Record]:
    """What `bench guard --replies` takes, of the roles of a half or of all."""
    of_role: dict[str, Record] = {}
    to_message: dict[tuple[str, str], Record] = {}
    for each in asked.values():
        of_role.setdefault(each["role"], each)
        to_message[each["role"], each["message"]] = each
    for path in answers:
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
            if not line.strip():
                continue
            answer = json.loads(line)
            where = f"{path}:{number}"
            record: Record | None = None
            message = answer.get("message")
            if "custom_id" in answer:
                record = asked.get(answer["custom_id"])
            elif "role" in answer:
                record = to_message.get((answer["role"], message), of_role.get(answer["role"]))
            if record is None:
                sys.exit(f"{where}: is to no request or role of the questions")
            text = answer_text(answer)
            if not text.strip():
                sys.exit(f"{where}: has no text")
            if half is None or record["half"] == half:
                yield reply_row(record, message, text, answer.get("kind", kind))


def answer_text(answer: Record) -> str:
    if "text" in answer:
        return str(answer["text"])
    return str(answer["response"]["body"]["choices"][0]["message"]["content"])


def reply_row(record: Record, message: str | None, text: str, kind: str) -> Record:
    is_asked = message in (None, record["message"])
    history = record["history"] if is_asked else []
    said = record["message"] if is_asked else message
    return {
        "character": record["character"],
        "story": record["story"],
        "at": record["at"],
        "facing": record["facing"],
        "history": [*history, {"speaker": record["asker"], "text": said}],
        "reply": text,
        "kind": kind,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    asking = commands.add_parser("ask", help="Write the requests and what they ask.")
    asking.add_argument("data", type=Path, metavar="DATA")
    asking.add_argument("batch", type=Path, metavar="BATCH")
    asking.add_argument("--questions", type=Path, default=QUESTIONS)
    asking.add_argument("-o", "--output", type=Path, default=Path("roles.json"))
    asking.set_defaults(call=ask)
    collecting = commands.add_parser("collect", help="Make replies for the bench of the answers.")
    collecting.add_argument("roles", type=Path)
    collecting.add_argument("answers", type=Path, nargs="+")
    collecting.add_argument("--kind", default="good", help="of answers that do not say theirs")
    collecting.add_argument("--half", choices=HALVES, help="only replies of the roles of this half")
    collecting.add_argument("-o", "--output", type=Path, required=True)
    collecting.set_defaults(call=collect)
    options = parser.parse_args()
    options.call(options)


if __name__ == "__main__":
    main()
