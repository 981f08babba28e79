"""Chats of two agents with each other, or of an agent with a person's part that is replayed.

Who talks with whom is a pairing, from PersonaChat's profiles or from characters of a story. It has a situation for each
side and, where a person's part is replayed, what that person said. Profiles come in the pairs of PersonaChat's
dialogues; `given` says what an agent is shown: its own ('self'), both, or none.

Characters of a story talk at a moment, and their situations are those of that moment (`situation_at`): neither
knows what comes later. Without a moment, moments are drawn from the story's scenes before which both have spoken and
in which both are alive.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from understudy.agents.conversation import ConversationTurn, perspective
from understudy.bench.answers import MissingAnswers, prompt_of
from understudy.bench.run import manifest_of, sampled
from understudy.errors import AgentError, InputError, StoryError
from understudy.formats.chat_records import GIVEN, ChatLine, ChatRecord, read_chats
from understudy.formats.personachat import examples
from understudy.progress import Progress, ignore_progress
from understudy.sources.source import SourceFile
from understudy.story.dialogue import Agent, Example, Situation, situation_at
from understudy.story.names import character_at
from understudy.story.persona import Other, Persona
from understudy.story.storyfile import Story
from understudy.story.types import Exchange, Line, Moment

Profiles = tuple[tuple[str, ...], tuple[str, ...]]
FIRST = Moment((0,), ("line",))  # when lines of no story were said


@dataclass(frozen=True, slots=True)
class Pairing:
    """One chat to be held; `said` is what each side said in the dialogue that the profiles are from."""

    id: str
    situations: tuple[Situation, Situation]
    profiles: Profiles
    said: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    names: tuple[str, str] | None = None
    moment: str = ""


def personachat_pairings(path: Path, chats: int, given: str = GIVEN[0], seed: int = 0) -> list[Pairing]:
    """A seeded sample of the dialogues of a file, each a pair of profiles; all of them where there are no more."""
    last = {example.name.partition(".")[0]: example for example in examples(SourceFile(path))}
    pairings = []
    for number, example in last.items():
        own, faced = example.situation.persona, example.situation.faced
        if faced is None or not own.profile or not faced.profile:
            continue
        told = [turn.text for turn in example.history if turn.speaker == own.name]
        heard = tuple(turn.text for turn in example.history if turn.speaker != own.name)
        profiles = faced.profile, own.profile
        situations = _situations((faced.name, own.name), profiles, given)
        said = heard, (*told, example.candidates[min(example.gold)])
        pairings.append(Pairing(number, situations, profiles, said))
    if not pairings:
        raise InputError("has no dialogue with both profiles: name a file as valid_both_original.txt", path)
    return sampled(pairings, chats, seed)


def _situations(names: tuple[str, str], profiles: Profiles, given: str) -> tuple[Situation, Situation]:
    def situation(side: int) -> Situation:
        own = () if given == "none" else profiles[side]
        faced = Other(names[1 - side], profiles[1 - side] if given == "both" else ())
        return Situation(Persona(names[side], profile=own), faced=faced, present=(faced,))

    return situation(0), situation(1)


def personachat_exchanges(path: Path) -> tuple[Exchange, ...]:
    """What ranking agents may say to people who have no lines of their own: every reply of a file."""
    exchanges = []
    for example in examples(SourceFile(path)):
        heard = example.history[-1] if example.history else None
        said = Line(FIRST, example.situation.persona.name, example.candidates[min(example.gold)])
        exchanges.append(Exchange(None if heard is None else Line(FIRST, heard.speaker, heard.text), said, ""))
    return tuple(exchanges)


def halved(exchanges: Sequence[Exchange]) -> tuple[tuple[Exchange, ...], tuple[Exchange, ...]]:
    """The exchanges in two parts with no reply in common, one for each side.

    The line most like a message is the message itself: two rankers that share their lines repeat each other for ever.
    """
    parts: tuple[list[Exchange], list[Exchange]] = [], []
    for exchange in exchanges:
        parts[zlib.crc32(exchange.said.text.strip().encode()) % 2].append(exchange)
    return tuple(parts[0]), tuple(parts[1])


def story_pairings(story: Story, pair: tuple[str, str], at: Sequence[str], chats: int, seed: int = 0) -> list[Pairing]:
    """Two characters of a story before each other at each of the moments; drawn ones where none is named."""
    for name in pair:
        character_at(story, name, story.moment("end"))  # a name that nobody has is said before any moment is tried
    moments: Iterable[Moment] = [story.moment(text) for text in at] if at else _drawn(story, seed)
    pairings = list(islice(_story_pairings(story, pair, moments, strict=bool(at)), None if at else chats))
    if not pairings:
        raise StoryError(f"{pair[0]} and {pair[1]} are at no moment both alive with something said before: name one")
    return sorted(pairings, key=lambda pairing: pairing.situations[0].persona.moment)


def _drawn(story: Story, seed: int) -> Iterator[Moment]:
    moments = [scene.moment for scene in story.scenes()]
    for index in np.random.default_rng(seed).permutation(len(moments)):
        yield moments[index]


def _story_pairings(story: Story, pair: tuple[str, str], moments: Iterable[Moment], strict: bool) -> Iterator[Pairing]:
    for moment in moments:
        try:
            situations = (situation_at(story, pair[0], moment, pair[1]), situation_at(story, pair[1], moment, pair[0]))
        except StoryError:
            if strict:
                raise
            continue
        if strict or all(_has_spoken(situation) for situation in situations):
            names = _known_as(situations[1], pair[0]), _known_as(situations[0], pair[1])
            profiles = situations[0].persona.profile, situations[1].persona.profile
            yield Pairing(f"{'-'.join(names)}@{moment.dotted}", situations, profiles, names=names, moment=moment.dotted)


def _known_as(situation: Situation, name: str) -> str:
    """The name that one side knows the other by: it need not be the true one."""
    return name if situation.faced is None else situation.faced.name


def _has_spoken(situation: Situation) -> bool:
    return next(iter(situation.persona.past.lines()), None) is not None


# Chats of two agents with each other, or of an agent with a person's part that is replayed.
#
# The sides take turns, side 0 first; each reply is asked for with the situation of its side and everything said so far.
# A replayed person says what they said in the dialogue that the profiles are from, whatever is answered.
#
# Chats are appended to a file of JSON lines (see `formats.chat_records`), each when it is over. Beside it stands
# FILE.manifest.json: which agents, data, seed and settings. A run that was stopped goes on where it was, and one with
# other settings is refused. Nothing is drawn at random but which profiles, so the same run gives the same chats where
# the agents do. Where answers of an agent are still to come in files, every chat is held as far as it goes, and no
# further.


Speakers = tuple[tuple[str, Agent | None], tuple[str, Agent | None]]
"""For each side the name of the agent and the agent; none where a person's part is replayed."""


def hold_chats(
    speakers: Speakers,
    pairings: Sequence[Pairing],
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
    manifest = _manifest(speakers, pairings, {"turns": turns, "given": given, **(about or {})}, files, seed)
    if fresh:
        out.unlink(missing_ok=True)
    finished = _finished_chats(out, manifest)
    manifest_path(out).write_text(json.dumps(manifest, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    missing = MissingAnswers()
    with out.open("a", encoding="utf-8") as file:
        for done, pairing in enumerate(pairings, 1):
            if pairing.id not in finished:
                with missing:
                    record = hold_chat(speakers, pairing, turns, given)
                    if not missing:  # else it is held again by a later run, and the file keeps the order of the chats
                        file.write(json.dumps(record.document(), ensure_ascii=False) + "\n")
                        file.flush()
            progress("Chatting", done, len(pairings))
    missing.check()
    return {"chats": len(pairings), "new": len(pairings) - len(finished), "file": str(out), "manifest": manifest}


def hold_chat(speakers: Speakers, pairing: Pairing, turns: int, given: str) -> ChatRecord:
    """One chat of so many turns; it ends early where a side has nothing to say."""
    lines: list[ChatLine] = []
    replayed = [iter(said) for said in pairing.said]
    for number in range(turns):
        side = number % 2
        situation, (name, agent) = pairing.situations[side], speakers[side]
        if agent is None:
            text = next(replayed[side], "")
        else:
            try:
                own = situation.persona.name
                said = [ConversationTurn(own if line.side == side else None, line.text) for line in lines]
                text = agent.reply(situation, perspective(said, situation)).text
            except AgentError as error:
                raise AgentError(f"'{name}' failed in chat {pairing.id}, turn {number + 1}: {error}") from error
        if not text.strip():
            break
        lines.append(ChatLine(side, text))
    names = (speakers[0][0], speakers[1][0])
    is_replayed = any(agent is None for _, agent in speakers)
    return ChatRecord(
        pairing.id, names, pairing.profiles, tuple(lines), given, is_replayed, pairing.names, pairing.moment
    )


def manifest_path(out: Path) -> Path:
    return out.with_name(f"{out.name}.manifest.json")


def _manifest(
    speakers: Speakers, pairings: Sequence[Pairing], about: Mapping[str, Any], files: Sequence[Path], seed: int
) -> dict[str, Any]:
    settings = {"speakers": [name for name, _ in speakers], **about}
    manifest = manifest_of("self-chat", files, seed, len(pairings), settings)
    agents: dict[str, Any] = {}
    for side, (name, agent) in enumerate(speakers):
        if agent is not None:
            card = getattr(agent, "card", None)
            question = Example(pairings[0].situations[side], (), (), frozenset()) if pairings else None
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
