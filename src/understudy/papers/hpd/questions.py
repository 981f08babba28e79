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
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from understudy import __version__
from understudy.agents.plain_replies import stock_lines
from understudy.agents.reply_lines import ReplyLine, StoryQuestion, question_at
from understudy.agents.word_tokens import plain_line
from understudy.bench.answers import MissingAnswers
from understudy.errors import Dead, InputError, StoryError, Unborn
from understudy.formats.hpd.writing import Positions, session_document
from understudy.metrics.overlap import unigram_f1
from understudy.people.draft import story_fingerprint
from understudy.progress import Progress, ignore_progress
from understudy.story.dialogue import Agent, Drafter, Ranker, Sampling
from understudy.story.storyfile import Story
from understudy.story.storyfile.toml_tables import replace_text
from understudy.story.types import Moment
from understudy.story.wording import plain_lines
from understudy.text import words

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


# Which replies agents propose, and which of them become the wrong answers, until people have looked.
#
# An agent proposes ten: what it drafts, if it drafts; else its reply with the others it considered; then, if it ranks,
# the best of a sample of lines that were said in the character's hearing before the scene; where these are few, of
# lines that were said elsewhere before it as well. What has been said in the scene already, is nearly what the story's
# own reply says (F1 of the words of at least 0.7, or one of three words or more whole within the other), or is a stock
# line that anybody could say to anything ('Hello.'), is nobody's proposal. Wrong answers are taken from the agents in
# turn, in an order drawn for each question: so each has its share.


PROPOSALS = 10  # of each agent
NEGATIVES = 10  # of a question
VARIED = 1.0  # temperature: ten drafts should differ
SCENES = 40  # the newest that lines are taken from
POOL = 200  # lines that an agent ranks
FEW = 40
NEARLY = 0.7
WHOLE_WITHIN = 3  # words


class Proposal(NamedTuple):
    """Something that could be replied, and which agent would."""

    text: str
    agent: str


def propose(agent: object, question: StoryQuestion, seed: int, before: Callable[[], Sequence[str]]) -> list[str]:
    """At most ten different replies, as the agent gives them: best first, where it ranks.

    `before` gives what anybody has said before the question's scene; it is asked where the character has heard little.
    """
    texts: dict[str, None] = {}
    stock = stock_lines() | set(plain_lines(question.situation.persona.language))
    for text in _offered(agent, question, seed, before):
        if (text := " ".join(plain_line(text).split())) and text not in stock:
            texts[text] = None
        if len(texts) == PROPOSALS:
            break
    return list(texts)


def _offered(agent: object, question: StoryQuestion, seed: int, before: Callable[[], Sequence[str]]) -> Iterator[str]:
    situation, history = question.situation, question.history
    if isinstance(agent, Drafter):
        drafts, _ = agent.drafts(situation, history, Sampling(temperature=VARIED, seed=seed, n=PROPOSALS))
        yield from (draft.text for draft in drafts)
    elif isinstance(agent, Agent):
        reply = agent.reply(situation, history)
        yield reply.text
        yield from (candidate.text for candidate in reply.candidates if not candidate.rejected)
    if isinstance(agent, Ranker):
        pool = _pool(question, seed, before)
        scores = agent.score(situation, history, pool)
        yield from (pool[index] for index in sorted(range(len(pool)), key=lambda index: -scores[index]))


def _pool(question: StoryQuestion, seed: int, before: Callable[[], Sequence[str]]) -> list[str]:
    """Lines heard or said before the scene, a seeded sample; where they are few, those that others said, too."""
    persona = question.situation.persona
    earlier = [line for scene in persona.past.scenes(last=SCENES) for line in scene.lines if line.speaker is not None]
    lines = list(dict.fromkeys(plain_line(line.text) for line in earlier))
    if len(lines) > POOL:
        lines = random.Random(f"{seed} {question.line.name}").sample(lines, POOL)  # noqa: S311
    if len(lines) < FEW:
        unheard = [line for text in before() if (line := plain_line(text)) not in lines]
        lines += random.Random(f"{seed} {question.line.name} unheard").sample(unheard, min(len(unheard), POOL))  # noqa: S311
    return [line for line in dict.fromkeys(lines) if line]


def usable_proposals(proposed: Mapping[str, Sequence[str]], question: StoryQuestion) -> dict[str, list[str]]:
    """Each agent's proposals without those nearly equal to the reply, to what was said in the scene, or to another."""
    language = question.situation.persona.language
    known = [question.reply, *(turn.text for turn in question.history)]
    usable: dict[str, list[str]] = {agent: [] for agent in proposed}
    for agent, text in _in_turn(proposed):
        if words(text, language) and not any(are_nearly_equal(text, other, language) for other in known):
            usable[agent].append(text)
            known.append(text)
    return usable


def negatives_of(usable: Mapping[str, Sequence[str]], rng: random.Random) -> list[Proposal]:
    """At most ten, from the agents in turn."""
    agents = sorted(usable)
    rng.shuffle(agents)
    shuffled = {agent: rng.sample(usable[agent], len(usable[agent])) for agent in agents}
    return [Proposal(text, agent) for agent, text in _in_turn(shuffled)][:NEGATIVES]


def are_nearly_equal(first: str, second: str, language: str = "en") -> bool:
    if unigram_f1(first, second, language) >= NEARLY:
        return True
    shorter, longer = sorted((words(first, language), words(second, language)), key=len)
    starts = range(len(longer) - len(shorter) + 1)
    return len(shorter) >= WHOLE_WITHIN and any(longer[at : at + len(shorter)] == shorter for at in starts)


def _in_turn(proposed: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, str]]:
    """The first of each agent, then the second of each, and so on."""
    longest = max(map(len, proposed.values()), default=0)
    for index in range(longest):
        yield from ((agent, texts[index]) for agent, texts in proposed.items() if index < len(texts))
