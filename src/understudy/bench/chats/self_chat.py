"""Chats of two agents with each other, or of an agent with a person's part that is replayed.

The sides take turns, side 0 first; each reply is asked for with the situation of its side and everything said so far.
A replayed person says what they said in the dialogue that the profiles are from, whatever is answered.

Chats are appended to a file of JSON lines (see `records`), each when it is over. Beside it stands FILE.manifest.json:
which agents, data, seed and settings. A run that was stopped goes on where it was, and one with other settings is
refused. Nothing is drawn at random but which profiles, so the same run gives the same chats where the agents do.
Where answers of an agent are still to come in files, every chat is held as far as it goes, and no further.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from understudy.bench.chats.seatings import Seating
from understudy.bench.generation import prompt_of
from understudy.bench.items import manifest_of
from understudy.bench.judged_agents import MissingAnswers
from understudy.errors import AgentError, InputError
from understudy.formats.chat_records import ChatLine, ChatRecord, read_chats
from understudy.progress import Progress, ignore_progress
from understudy.story.dialogue import USER_NAME, Agent, Example, Situation, Turn

__all__ = ["hold_chat", "hold_chats", "manifest_path"]

Speakers = tuple[tuple[str, Agent | None], tuple[str, Agent | None]]
"""For each side the name of the agent and the agent; none where a person's part is replayed."""


def hold_chats(
    speakers: Speakers,
    seatings: Sequence[Seating],
    out: Path,
    *,
    turns: int,
    given: str,
    files: Sequence[Path] = (),
    about: Mapping[str, Any] | None = None,
    seed: int = 0,
    fresh: bool = False,
    progress: Progress = ignore_progress,
) -> dict[str, Any]:
    """Hold the chats that the file does not have yet; the manifest, with how many there are and how many are new.

    `files` are what the profiles and replies are from; `about` is what else a later run must have in common.
    """
    manifest = _manifest(speakers, seatings, {"turns": turns, "given": given, **(about or {})}, files, seed)
    if fresh:
        out.unlink(missing_ok=True)
    finished = _finished_chats(out, manifest)
    manifest_path(out).write_text(json.dumps(manifest, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    missing = MissingAnswers()
    with out.open("a", encoding="utf-8") as file:
        for done, seating in enumerate(seatings, 1):
            if seating.id not in finished:
                with missing:
                    record = hold_chat(speakers, seating, turns, given)
                    if not missing:  # else it is held again by a later run, and the file keeps the order of the chats
                        file.write(json.dumps(record.document(), ensure_ascii=False) + "\n")
                        file.flush()
            progress("Chatting", done, len(seatings))
    missing.check()
    return {"chats": len(seatings), "new": len(seatings) - len(finished), "file": str(out), "manifest": manifest}


def hold_chat(speakers: Speakers, seating: Seating, turns: int, given: str) -> ChatRecord:
    """One chat of so many turns; it ends early where a side has nothing to say."""
    lines: list[ChatLine] = []
    replayed = [iter(said) for said in seating.said]
    for number in range(turns):
        side = number % 2
        situation, (name, agent) = seating.situations[side], speakers[side]
        if agent is None:
            text = next(replayed[side], "")
        else:
            try:
                text = agent.reply(situation, _history(situation, side, lines)).text
            except AgentError as error:
                raise AgentError(f"'{name}' failed in chat {seating.id}, turn {number + 1}: {error}") from error
        if not text.strip():
            break
        lines.append(ChatLine(side, text))
    names = (speakers[0][0], speakers[1][0])
    is_replayed = any(agent is None for _, agent in speakers)
    return ChatRecord(
        seating.id, names, seating.profiles, tuple(lines), given, is_replayed, seating.names, seating.moment
    )


def _history(situation: Situation, side: int, lines: Sequence[ChatLine]) -> tuple[Turn, ...]:
    """What was said so far, as one side knows it: the other by the name that this side knows."""
    other = USER_NAME if situation.faced is None else situation.faced.name
    return tuple(Turn(situation.persona.name if line.side == side else other, line.text) for line in lines)


def manifest_path(out: Path) -> Path:
    return out.with_name(f"{out.name}.manifest.json")


def _manifest(
    speakers: Speakers, seatings: Sequence[Seating], about: Mapping[str, Any], files: Sequence[Path], seed: int
) -> dict[str, Any]:
    settings = {"speakers": [name for name, _ in speakers], **about}
    manifest = manifest_of("self-chat", files, seed, len(seatings), settings)
    agents: dict[str, Any] = {}
    for side, (name, agent) in enumerate(speakers):
        if agent is not None:
            card = getattr(agent, "card", None)
            question = Example(seatings[0].situations[side], (), (), frozenset()) if seatings else None
            prompt = None if question is None else prompt_of(agent, question)
            agents[name] = {**(card if isinstance(card, Mapping) else {}), **({"prompt": prompt} if prompt else {})}
    return {**manifest, "agents": agents}


def _finished_chats(out: Path, manifest: Mapping[str, Any]) -> set[str]:
    """The chats that a file has already; a line that was broken off is cut off first."""
    if not out.is_file():
        return set()
    try:
        earlier = json.loads(manifest_path(out).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError("is there already without the manifest of its run: say --fresh to start over", out) from error
    for key in ("settings", "seed", "limit", "data", "agents"):
        now = json.loads(json.dumps(manifest.get(key), default=str))
        if earlier.get(key) != now:
            raise InputError(
                f"belongs to another run ({key} differ): say --fresh to start over, or -o for another file", out
            )
    text = out.read_bytes()
    if not text.endswith(b"\n"):
        out.write_bytes(text[: text.rfind(b"\n") + 1])
    return {record.id for record in read_chats(out)}
