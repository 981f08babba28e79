"""Test questions from any story, made HPD's way, and written in its form (`formats.hpd.writing`).

For each line of a character that answers others, several agents propose ten replies each. The story's own reply is the
positive one, and at least nine of the proposals are negatives, until people have picked them over: HPD's annotators
moved those that would do to the positives. So a session carries, beside HPD's keys,

    "proposed"   [{"text", "agent"}], everything that was proposed and is no repetition; the negatives among it
    "reviewed"   false
    "origin"     {"story", "moment", "agents", "seed", "version"}: which line was asked for, and who proposed

A session is named by its scene and line: questions of one scene resemble each other, and benches group by what stands
before the dot of a name. Proposals are kept in a file beside the output, FILE.partial, as soon as they are made: a run
that was stopped goes on from there, and one with more agents or lines asks only for what is missing.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from understudy import __version__
from understudy.agents.reply_lines import ReplyLine, StoryQuestion, question_at
from understudy.bench.judged_agents import MissingAnswers
from understudy.errors import Dead, InputError, StoryError, Unborn
from understudy.formats.hpd.writing import Positions, session_document
from understudy.papers.hpd.proposals import Proposal, negatives_of, propose, usable_proposals
from understudy.people.draft import story_fingerprint
from understudy.progress import Progress, ignore_progress
from understudy.story.storyfile import Story
from understudy.story.storyfile.toml_tables import replace_text
from understudy.story.types import Moment

__all__ = ["LEAST", "ProposalFile", "WrittenQuestions", "write_questions"]

LEAST = 9  # negatives of a question
TOO_FEW = f"fewer than {LEAST} proposals could be used"
NOT_THERE = "the character was not there for the turns before"
REASONS = {Dead: "somebody who speaks or is spoken to is dead", Unborn: "somebody who speaks is not born yet"}


@dataclass(frozen=True, slots=True)
class WrittenQuestions:
    """What was written: how many questions of whom, how many proposals of each agent, and what was left out why."""

    questions: int
    characters: Mapping[str, int]
    proposed: Mapping[str, int]
    negatives: Mapping[str, int]
    left_out: Mapping[str, int]
    sessions: Mapping[str, Any] = field(repr=False)


def write_questions(
    story: Story,
    lines: Sequence[ReplyLine],
    agents: Mapping[str, object],
    output: Path,
    seed: int = 0,
    progress: Progress = ignore_progress,
    fresh: bool = False,
) -> WrittenQuestions:
    """Write the questions that these lines answer. `fresh` forgets what a run that was stopped had proposed."""
    if not agents:
        raise InputError("name at least one agent that proposes replies")
    cache = ProposalFile(partial_of(output), story, seed)
    if fresh:
        cache.clear()
    cache.load()
    positions = Positions.of(story)
    sessions: dict[str, Any] = {}
    left_out: Counter[str] = Counter()
    missing = MissingAnswers()
    for number, line in enumerate(lines):
        progress(line.who, number, len(lines))
        try:
            question = question_at(story, line)
        except StoryError as error:
            left_out[REASONS.get(type(error), NOT_THERE)] += 1
            continue
        proposed: dict[str, list[str]] = {}
        for name, agent in agents.items():
            with missing:
                proposed[name] = cache.proposals(name, agent, question)
        usable = usable_proposals(proposed, question)
        negatives = negatives_of(usable, random.Random(f"{seed} {line.name}"))  # noqa: S311
        if len(negatives) < LEAST:
            left_out[TOO_FEW] += 1
            continue
        position = positions.at(line.scene)
        sessions[line.name] = _session(story, question, position, usable, negatives, seed)
    missing.check()
    progress("Writing", len(lines), len(lines))
    if not sessions:
        reasons = "; ".join(f"{count} times: {reason}" for reason, count in left_out.most_common(3))
        raise InputError(
            f"'{story.title}' gives no question{f' ({reasons})' if reasons else ''}: ask more agents, or other lines"
        )
    replace_text(output, json.dumps(sessions, ensure_ascii=False, indent=1) + "\n")
    cache.clear()
    return _written(sessions, left_out)


def partial_of(output: Path) -> Path:
    return output.with_name(f"{output.name}.partial")


def _session(
    story: Story,
    question: StoryQuestion,
    position: str,
    usable: Mapping[str, Sequence[str]],
    negatives: Sequence[Proposal],
    seed: int,
) -> dict[str, Any]:
    document = session_document(
        story,
        question.situation,
        question.history,
        position,
        question.reply,
        [proposal.text for proposal in negatives],
    )
    document["proposed"] = [{"text": text, "agent": agent} for agent, texts in usable.items() for text in texts]
    document["reviewed"] = False
    document["origin"] = {
        "story": story.title,
        "moment": question.line.moment.dotted,
        "agents": list(usable),
        "seed": seed,
        "version": __version__,
    }
    return document


def _written(sessions: Mapping[str, Any], left_out: Counter[str]) -> WrittenQuestions:
    characters: Counter[str] = Counter()
    proposed: Counter[str] = Counter()
    negatives: Counter[str] = Counter()
    for session in sessions.values():
        characters[next(iter(session["attributes"]))] += 1
        wrong = set(session["negative_response"])
        for proposal in session["proposed"]:
            proposed[proposal["agent"]] += 1
            negatives[proposal["agent"]] += proposal["text"] in wrong
    return WrittenQuestions(
        len(sessions),
        dict(characters.most_common()),
        dict(proposed),
        dict(negatives),
        dict(left_out.most_common()),
        sessions,
    )


class ProposalFile:
    """Proposals that were made already, by line and agent: JSON lines, the first of which says of which story."""

    def __init__(self, path: Path, story: Story, seed: int) -> None:
        self.path = path
        self._seed, self._story = seed, story
        self._plan = {"story": _text_and_people(story), "seed": seed, "version": __version__}
        self._proposals: dict[tuple[str, str, str], list[str]] = {}

    def load(self) -> None:
        """What a stopped run had proposed; the last line may have been cut off."""
        if not self.path.exists():
            return
        lines = self.path.read_text(encoding="utf-8", errors="replace").split("\n")
        if _parsed(lines[0]) != self._plan:
            raise InputError(
                "is of another story, seed or version: say --fresh to forget it, or -o for another output", self.path
            )
        whole = [entry for line in lines[1:] if _is_entry(entry := _parsed(line))]
        for entry in whole:
            self._proposals[entry["line"], entry["agent"], entry["model"]] = entry["texts"]
        text = "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in (self._plan, *whole))
        replace_text(self.path, text)

    def proposals(self, name: str, agent: object, question: StoryQuestion) -> list[str]:
        """Those of an agent for a question; asked for, where they are not there."""
        key = question.line.name, name, _model_of(agent)
        if key not in self._proposals:
            self._proposals[key] = propose(agent, question, self._seed, partial(self._said_before, question.line.scene))
            self._append(dict(zip(("line", "agent", "model"), key)) | {"texts": self._proposals[key]})
        return self._proposals[key]

    def _said_before(self, scene: Moment) -> list[str]:
        lines = (line for earlier in self._story.scenes(before=scene) for line in earlier.lines)
        return list(dict.fromkeys(line.text for line in lines if line.speaker is not None))

    def clear(self) -> None:
        self.path.unlink(missing_ok=True)

    def _append(self, entry: Mapping[str, Any]) -> None:
        new = [] if self.path.exists() else [self._plan]
        with self.path.open("a", encoding="utf-8") as file:
            for document in (*new, entry):
                file.write(json.dumps(document, ensure_ascii=False) + "\n")


def _parsed(line: str) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        return None


def _is_entry(entry: Any) -> bool:
    match entry:
        case {"line": str(), "agent": str(), "model": str(), "texts": list(texts)}:
            return all(isinstance(text, str) for text in texts)
        case _:
            return False


def _text_and_people(story: Story) -> str:
    """The same for stories with the same lines, facts and ties."""
    dated = [(fact.key, fact.values, fact.since.numbers, fact.known_to) for fact in story.facts()]
    ties = [(tie.key, tie.level, tie.since.numbers) for tie in story.relations()]
    profiles = [member.character.profile for member in story.cast()]
    digest = hashlib.sha256(repr((dated, ties, profiles)).encode())
    return f"{story_fingerprint(story)}-{digest.hexdigest()[:12]}"


def _model_of(agent: object) -> str:
    """Changes with the model that an agent was created from."""
    card = getattr(agent, "card", None)
    text = json.dumps(card, default=str, sort_keys=True) if isinstance(card, dict) else ""
    return hashlib.sha256(text.encode()).hexdigest()[:12]
