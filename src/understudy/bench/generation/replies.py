"""Asking an agent for replies in its own words, and what a writing agent is prompted with.

Replies come many at once where the agent offers that (`reply_many`) or waits for a server. A question that it fails on
is missing, with the reason; a run that stops goes on where it was, if it has a folder to write the replies down in.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from understudy.agents.writer import WriterAgent
from understudy.bench.generation.answer_log import answer_log
from understudy.bench.judged_agents import JudgedAgent, MissingAnswers
from understudy.errors import AgentError
from understudy.progress import Progress, ignore_progress
from understudy.story.dialogue import Agent, BatchAgent, Example

__all__ = ["GeneratedReply", "prompt_of", "replies_of"]

BATCH = 64
CONCURRENCY = 4  # requests to a server under way
FAILURES = 10  # in a row: then it is no single question that the agent fails on


@dataclass(frozen=True, slots=True)
class GeneratedReply:
    """What an agent said to a question; `text` is None where it failed, and `reason` says why."""

    item: str
    text: str | None
    reason: str = ""


def replies_of(
    judged: JudgedAgent,
    examples: Sequence[Example],
    progress: Progress = ignore_progress,
    cache: Path | None = None,
    data: Path | None = None,
) -> list[GeneratedReply] | None:
    """What the agent replies to every question; None if it does not reply.

    `cache` is a folder in which replies are written down as they come, so that a stopped run goes on; questions that
    the agent failed on are asked again by the next run. An agent that failed several times in a row is asked no more.

    :raises MissingAnswer: answers are still to come in files; all questions have been asked.
    """
    agent = judged.agent
    if not isinstance(agent, Agent):
        return None
    log = answer_log(cache, "replies", judged, examples, data)
    missing = [example for example in examples if example.name not in log.records]
    failed: dict[str, str] = {}
    in_a_row, reason = 0, ""
    unanswered = MissingAnswers()
    for start in range(0, len(missing), BATCH):
        if in_a_row >= FAILURES:
            break
        for example, answer in _asked(agent, missing[start : start + BATCH], unanswered):
            if answer is None:
                continue
            if isinstance(answer, AgentError):
                in_a_row, reason = in_a_row + 1, str(answer)
                failed[example.name] = reason
                if in_a_row >= FAILURES:
                    break
            else:
                in_a_row = 0
                log.add([{"item": example.name, "text": answer}])
            progress(judged.name, len(log.records) + len(failed), len(examples))
    unanswered.check()
    if not log.records and failed:
        raise AgentError(reason)
    texts = {name: str(record["text"]) for name, record in log.records.items()}
    return [
        GeneratedReply(example.name, texts.get(example.name))
        if example.name in texts
        else GeneratedReply(example.name, None, failed.get(example.name, reason))
        for example in examples
    ]


def _asked(
    agent: Agent, batch: Sequence[Example], unanswered: MissingAnswers
) -> Iterator[tuple[Example, str | AgentError | None]]:
    if isinstance(agent, BatchAgent):
        try:
            replies = agent.reply_many([(example.situation, example.history) for example in batch])
        except AgentError:  # one by one, to see which of them it fails on
            pass
        else:
            if len(replies) != len(batch):
                raise AgentError(
                    f"the agent gave {len(replies)} replies to {len(batch)} questions: reply_many owes all"
                )
            yield from zip(batch, (reply.text for reply in replies))
            return
    if getattr(agent, "waits", False):  # for a server, which answers several at once
        with ThreadPoolExecutor(CONCURRENCY) as pool:
            yield from zip(batch, pool.map(partial(_answer, agent, unanswered), batch))
        return
    for example in batch:
        yield example, _answer(agent, unanswered, example)


def _answer(agent: Agent, unanswered: MissingAnswers, example: Example) -> str | AgentError | None:
    with unanswered:
        try:
            return agent.reply(example.situation, example.history).text
        except AgentError as error:
            return error
    return None


def prompt_of(agent: object, example: Example) -> list[dict[str, str]] | None:
    """The messages that an agent which writes with a language model sends for a question; None for other agents."""
    if not isinstance(agent, WriterAgent):
        return None
    messages = agent.prompt(example.situation, example.history).messages
    return [{"role": message.role, "content": message.content} for message in messages]
