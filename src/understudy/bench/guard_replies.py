"""What do the guards do to good replies? Drafts of a file, one a line, put to the guards and to the agent behind them.

    {"character", "profile": [...], "setting", "history": [{"speaker", "text"}], "reply", "kind",
     "story"?, "at"?, "facing"?}

    stopped     the share of replies that a guard objects to, by guard and for any (`all`)
    altered     the share that the guarded agent would not say as written: a writer that offers just this reply is put
                behind the guards, and what comes out of its stream is compared with the reply

`story` is a path, or a name that `read` takes, and makes the situation together with `at` and `facing`; without one the
character is its profile. A name before the reply and quotation marks around it are taken off on the way and alter
nothing. Intervals are Wilson's.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from understudy.agents.encoder import EncoderAgent
from understudy.agents.old_lines import OldLines
from understudy.agents.recall import Recall
from understudy.agents.reply_text import ReplyCleaner
from understudy.agents.writer import WriterAgent
from understudy.bench.guard import GuardingAgent
from understudy.bench.run import Figure, Items, Row, document_of, figure_row, manifest_of, share_figure
from understudy.errors import InputError, UnderstudyError
from understudy.formats import embedded, read
from understudy.judging.guarded import GuardedAgent
from understudy.judging.guards import StoryViews
from understudy.judging.loading import BEST_OF
from understudy.language.backends import ScriptedBackend
from understudy.progress import Progress, ignore_progress
from understudy.story.dialogue import Draft, Situation, Turn, situation_at
from understudy.story.persona import Other, Persona
from understudy.story.storyfile import Story
from understudy.text import did_you_mean

CAPABLE = "capable"
"""The label of the guards as they hold for a capable writer."""
ANY = "all"
KEYS = ("character", "profile", "setting", "history", "reply", "kind", "story", "at", "facing")
NEEDED = ("character", "reply", "kind")

Stories = Callable[[str], list[Story]]


@dataclass(frozen=True, slots=True)
class DraftedReply:
    """A reply as a draft, where it is to be said, and its line in the file."""

    situation: Situation
    history: tuple[Turn, ...]
    text: str
    kind: str
    line: int


def read_replies(path: Path) -> tuple[list[DraftedReply], Stories]:
    """The replies of a file, and the stories that they are of, by identity."""
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")  # JSON strings may contain other line ends
    except UnicodeDecodeError as error:
        raise InputError("is not UTF-8: convert it first, as with iconv -f SHIFT_JIS -t UTF-8", path) from error
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", path) from error
    stories: dict[str, Story] = {}
    replies = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            replies.append(_reply(_record(line), number, path.parent, stories))
        except InputError as error:
            if error.path == path:
                raise
            raise InputError(str(error), path, number) from error
        except UnderstudyError as error:
            raise InputError(str(error), path, number) from error
    if not replies:
        raise InputError('is empty: write one reply a line, as {"character": "Ann", "reply": "No.", "kind": "a"}', path)
    return replies, lambda identity: [story for story in stories.values() if story.identity == identity]


def _record(line: str) -> Row:
    try:
        record = json.loads(line)
    except ValueError as error:
        raise InputError(f"is not JSON ({error})") from error
    if not isinstance(record, dict):
        raise InputError("is not a JSON object with a character, a reply and its kind")
    for key in record:
        if key not in KEYS:
            raise InputError(f"has the unknown key '{key}'{did_you_mean(key, KEYS)}: use {', '.join(KEYS)}")
    for key in NEEDED:
        if not isinstance(record.get(key), str) or not record[key].strip():
            raise InputError(f"has no '{key}': write it as a text that is not blank")
    for key in ("setting", "story", "at", "facing"):
        if not isinstance(record.get(key) or "", str):
            raise InputError(f"has '{key}' that is no text")
    if record.get("at") and not record.get("story"):
        raise InputError("has 'at' without a 'story' to be a moment of")
    return record


def _reply(record: Row, number: int, folder: Path, stories: dict[str, Story]) -> DraftedReply:
    profile, history = _profile(record.get("profile")), _history(record.get("history"))
    setting, facing = record.get("setting") or "", record.get("facing") or None
    if name := record.get("story"):
        story = _story(name, folder, stories)
        situation = situation_at(story, record["character"], record.get("at") or "end", facing, setting)
        persona = situation.persona
        situation = replace(situation, persona=replace(persona, profile=(*persona.profile, *profile)))
    else:
        others = [turn.speaker for turn in history if turn.speaker != record["character"]]
        faced = facing or (others[-1] if others else "")
        present = tuple(Other(other) for other in dict.fromkeys(others) if other != faced)
        persona = Persona(record["character"], profile=profile)
        situation = Situation(persona, setting, Other(faced) if faced else None, present)
    return DraftedReply(situation, history, record["reply"].strip(), record["kind"], number)


def _profile(value: object) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise InputError("has a 'profile' that is no list of sentences: write [\"I keep bees.\"]")
    return tuple(text for text in value if text.strip())


def _history(value: object) -> tuple[Turn, ...]:
    turns = [] if value is None else value
    if not isinstance(turns, list):
        raise InputError('has a \'history\' that is no list: write [{"speaker": "Ann", "text": "No."}]')
    for turn in turns:
        match turn:
            case {"speaker": str(), "text": str(), **rest} if not rest:
                pass
            case _:
                raise InputError('has a turn that is not {"speaker": "...", "text": "..."}')
    return tuple(Turn(turn["speaker"], turn["text"]) for turn in turns)


def _story(name: str, folder: Path, stories: dict[str, Story]) -> Story:
    if name not in stories:
        beside = folder / name
        stories[name] = read(beside if embedded(name) is None and beside.exists() else name)
    return stories[name]


def bench_replies(
    replies: Sequence[DraftedReply],
    stories: Stories,
    agents: Mapping[str, GuardingAgent] | None = None,
    progress: Progress = ignore_progress,
    files: Sequence[Path] = (),
    save_items: Path | None = None,
) -> dict[str, Any]:
    """Rows, what became of each reply, items and manifest. Without agents, of the guards for a capable writer."""
    encoder, views = EncoderAgent(), StoryViews(stories)
    judges: Mapping[str, GuardingAgent]
    judges = agents or {CAPABLE: GuardedAgent([], views, encoder, best_of=1, writer_first=True)}
    rows, results, items = list[Row](), list[Row](), list[Items]()
    for round_, (label, agent) in enumerate(judges.items()):
        judged = []
        for index, reply in enumerate(replies):
            progress(label, round_ * len(replies) + index, len(judges) * len(replies))
            judged.append(_judged(label, agent, reply, views, encoder))
        results += judged
        rows += _rows(label, judged)
        for kind in dict.fromkeys(result["kind"] for result in judged):
            some = [result for result in judged if result["kind"] == kind]
            marks = {"stopped": [float(bool(result["stopped"])) for result in some]}
            if isinstance(agent, GuardedAgent):
                marks["altered"] = [float(result["altered"]) for result in some]
            items.append(Items({"agent": label, "kind": kind}, [str(result["line"]) for result in some], (), marks))
    manifest = manifest_of("guard", files, 0, None, {"guards": list(judges), "replies": len(replies)})
    return document_of(rows, items, manifest, save_items, replies=results)


def _judged(label: str, agent: GuardingAgent, reply: DraftedReply, views: StoryViews, encoder: EncoderAgent) -> Row:
    situation, history = reply.situation, reply.history
    written = ReplyCleaner(views.own_names(situation)).clean(reply.text) or reply.text
    draft = Draft(written, "writer")
    if isinstance(agent, GuardedAgent):
        stopped = dict[str, str]()
        for verdict in agent.all_objections(situation, history, draft):
            stopped.setdefault(verdict.guard, verdict.reason)
        said: str | None = _said(reply, agent.is_capable, views, encoder)
    else:
        objection = agent.judge(situation, history, draft)
        stopped, said = {} if objection is None else {ANY: objection.reason or "stopped"}, None
    altered = None if said is None else " ".join(said.split()) != " ".join(written.split())
    result = {"agent": label, "kind": reply.kind, "line": reply.line, "character": situation.persona.name}
    return result | {"reply": reply.text, "stopped": stopped, "altered": altered} | ({"said": said} if altered else {})


def _said(reply: DraftedReply, is_capable: bool, views: StoryViews, encoder: EncoderAgent) -> str:
    """What the agent says when its writer offers this reply, whatever it is asked."""
    writer = WriterAgent(ScriptedBackend([reply.text]), Recall(encoder))
    best_of = 1 if is_capable else BEST_OF
    agent = GuardedAgent([OldLines(encoder), writer], views, encoder, best_of, writer_first=is_capable)
    return "".join(agent.stream(reply.situation, reply.history))


def _rows(label: str, judged: Sequence[Row]) -> list[Row]:
    guards = sorted({guard for result in judged for guard in result["stopped"]} - {ANY})
    kinds = list(dict.fromkeys(result["kind"] for result in judged))
    rows = []
    for kind in [*kinds, *([ANY] if len(kinds) > 1 else [])]:
        some = [result for result in judged if kind in (ANY, result["kind"])]
        keys = {"agent": label, "kind": kind}
        for guard in (ANY, *guards):
            stopped = [bool(result["stopped"]) if guard == ANY else guard in result["stopped"] for result in some]
            rows.append(figure_row({**keys, "guard": guard}, "stopped", share_figure(stopped)))
        altered: Figure = "only an agent of the name guarded can be put behind a writer that offers the reply"
        if all(result["altered"] is not None for result in some):
            altered = share_figure([result["altered"] for result in some])
        rows.append(figure_row({**keys, "guard": ANY}, "altered", altered))
    return rows
