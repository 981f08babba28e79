"""Rate a reply in its scene, as HPD's human evaluation: fluency, and relevance with scene, attributes and relations.

Each item is one reply of one agent; who wrote it is hidden. Beside agents, the story's own line can be rated
(`own = true`), which says what a reply that is right is given.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from understudy.errors import InputError
from understudy.papers.hpd.published import HPD_CRITERIA, hpd_rating
from understudy.progress import Progress
from understudy.studies import Study, questions
from understudy.studies.item import StudyItem
from understudy.studies.kind import (
    GivenAnswer,
    Kind,
    Row,
    mean_row,
    scale_question,
    simulated_rating,
    without_checks,
    write_json_lines,
)

SCALES = (
    scale_question("fluency", "Is the reply fluent?", "cannot be understood", "as a person would say it"),
    scale_question("scene", "Does it fit the scene and what was said?", "not at all", "entirely"),
    scale_question("attributes", "Does it fit who they are?", "contradicts it", "entirely"),
    scale_question("relations", "Does it fit how they stand to the others?", "contradicts it", "entirely"),
)
METRICS = dict(zip((scale.name for scale in SCALES), HPD_CRITERIA, strict=True))
TEMPLATE = """\
kind = "criteria"
title = "Does this reply fit?"
instructions = \"\"\"
You see a scene of a story, who the people in it are and how one of them stands to the others, what was said so far,
and a reply, which is marked. Rate the reply alone, from 1 to 5, in four respects.
\"\"\"
consent = "I am at least 18 and take part of my own will. I can stop at any time and have my answers deleted."
people_per_item = 3
items_per_person = 20
checks = 1
seed = 0

[material]
story = "demo"              # a story file or folder, or demo
# characters = ["Zita"]     # whose replies (default: the main characters)
questions = "story"         # their own lines in the story; or a file: probes.toml, messages.txt (a message a line), or
                            # set.json as `understudy questions` writes it, with the replies that were proposed
# at = "2.1"                # lines before this moment only; of messages, the moment they are put (default: the end)
# facing = "Benedek"        # of messages: who puts them
turns = 2                   # lines before which at least so much was said in the scene
limit = 10                  # a sample of so many questions
agents = ["encoder", "tfidf"]   # who replies; of a set.json those who proposed, unless it is said
own = true                  # the story's own reply is rated too
"""


def _items(study: Study, progress: Progress) -> list[StudyItem]:
    """An item for each different reply; what several agents say alike is rated once, for all of them."""
    study.only(*questions.QUESTION_KEYS, "agents", "own")
    story, asked = questions.questions_of(study)
    names = _speakers(study, asked)
    replies = questions.AgentReplies(study, story)
    items: list[StudyItem] = []
    for number, question in enumerate(asked):
        progress("Replies", number, len(asked))
        about = questions.persona_blocks(question.situation)
        for nth, (text, agents) in enumerate(replies.different(names, question), 1):
            blocks = (*about, questions.dialogue_block(question, text))
            items.append(StudyItem(f"{question.name}.{nth}", blocks, SCALES, {"agents": agents}))
    progress("Replies", len(asked), len(asked))
    if not items:
        raise InputError("no question has a reply to rate: name `agents`, or set `own = true`")
    return items


def _speakers(study: Study, asked: Sequence[questions.AskedQuestion]) -> list[str]:
    if "agents" in study.material:
        names = list(dict.fromkeys(study.texts("agents")))
    else:
        names = list(dict.fromkeys(name for question in asked for name in question.proposed))
    return [*names, *([questions.OWN] if study.flag("own") else [])]


def _simulated(item: StudyItem, skill: float, rng: random.Random) -> dict[str, Any]:
    agent = " ".join(item.hidden.get("agents", ()))
    return {scale.name: simulated_rating(scale, agent, item, skill, rng) for scale in SCALES}


def _figures(study: Study, answers: Sequence[GivenAnswer]) -> list[Row]:
    """HPD's human columns, a row for each agent and criterion."""
    judged, rows = without_checks(answers), list[Row]()
    for agent in dict.fromkeys(agent for each in judged for agent in each.item.hidden["agents"]):
        of_agent = [each for each in judged if agent in each.item.hidden["agents"]]
        for name, metric in METRICS.items():
            paper, value = hpd_rating(agent, metric), partial(_rating, name)
            rows.append(mean_row({"agent": agent}, metric, of_agent, value, paper, study.seed))
    return rows


def _rating(name: str, each: GivenAnswer) -> float | None:
    return each.answer.get(name)


def _write_ratings(_: Study, answers: Sequence[GivenAnswer], path: Path) -> None:
    """JSON lines: who replied what, and what one person gave it."""
    lines = []
    for each in without_checks(answers):
        reply = next(line for block in each.item.blocks for line in block.lines if line.is_asked)
        about = {"item": each.item.name, "agents": each.item.hidden["agents"], "character": reply.speaker}
        scores = {METRICS[name]: value for name, value in each.answer.items() if name in METRICS}
        lines.append(about | {"reply": reply.text, "person": each.person} | scores)
    write_json_lines(path, lines)


KIND = Kind(
    "criteria",
    "rates a reply in its scene",
    TEMPLATE,
    _items,
    _simulated,
    outputs={"ratings": _write_ratings},
    unblinding=frozenset({"ratings"}),
    figures=_figures,
)
