"""Replies that agents propose for a question, and which of them become its wrong answers, until people have looked.

An agent proposes ten: what it drafts, if it drafts; else its reply with the others it considered; then, if it ranks,
the best of a sample of lines that were said in the character's hearing before the scene; where these are few, of lines
that were said elsewhere before it as well. What has been said in the scene already, or is nearly what the story's own
reply says, or is a stock line that anybody could say to anything ('Hello.'), is nobody's proposal.

    nearly equal   iff  F1 of the words >= 0.7, or one of at least three words stands whole within the other

Wrong answers are taken from the agents in turn, in an order drawn for each question: so each has its share.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from understudy.agents.bank import stock_lines
from understudy.agents.passages import plain_line
from understudy.agents.reply_lines import StoryQuestion
from understudy.metrics.overlap import unigram_f1
from understudy.story.dialogue import Agent, Drafter, Ranker, Sampling
from understudy.story.wording import plain_lines
from understudy.text import words

__all__ = ["NEGATIVES", "PROPOSALS", "Proposal", "are_nearly_equal", "negatives_of", "propose", "usable_proposals"]

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
