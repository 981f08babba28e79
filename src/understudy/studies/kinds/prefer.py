"""Choose between the replies of two agents to the same question, side by side.

Which pair of agents a question is put to, and which of the two is 'a', is drawn so that every pair comes as often as
any other and each agent is as often 'a' as 'b'; the order in which the two are shown is drawn again for each person.
Replies that are equal are not put to anybody.

    win_rate            (wins of A over B + ties / 2) / answers, for each pair, with Wilson's interval
    win_probability     P(A over B) = s_A / (s_A + s_B) by Bradley-Terry, for all pairs, also those that were seldom put
    strength            log s of each, where there are more than two

Wilson's interval takes answers as independent. Where several people judge an item they are not: then the interval of
`win_probability`, which is a bootstrap over scenes, is the one to go by.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from understudy.errors import InputError
from understudy.metrics.preference import PairwiseChoice, bradley_terry, win_rate
from understudy.metrics.statistics import Estimate
from understudy.progress import Progress
from understudy.studies import Study, questions
from understudy.studies.item import Block, Option, Question, StudyItem
from understudy.studies.kind import GivenAnswer, Kind, Row, without_checks, write_json_lines

PREFERRED = "preferred"
SIDES = ("a", "b")
TIE = "tie"
APART = "the agents fall into groups that were never compared with each other: put more `pairs`"
TEMPLATE = """\
kind = "prefer"
title = "Which reply is better?"
instructions = \"\"\"
You see who somebody is, where they are and what was said to them, then two replies. Choose the one they would rather
give: that fits who they are, what they know and how they talk.
\"\"\"
consent = "I am at least 18 and take part of my own will. I can stop at any time and have my answers deleted."
people_per_item = 3
items_per_person = 20
checks = 1
seed = 0

[material]
story = "demo"              # a story file or folder, or demo
# characters = ["Zita"]     # who is asked (default: the main characters)
questions = "probes.toml"   # the story's probes; or "story" (its own lines), messages.txt (a message a line), set.json
# at = "2.1"                # of the story's lines those before it; of messages, the moment they are put
# facing = "Benedek"        # of messages: who puts them
turns = 2                   # of the story's lines: at least so much was said before
limit = 20                  # a sample of so many questions
agents = ["encoder", "tfidf"]   # two or more
own = false                 # with true the story's own reply competes too (questions = "story" or set.json)
ties = false                # with true people may say that neither is better
pairs = 1                   # pairs of agents that each question is put to
"""


def _items(study: Study, progress: Progress) -> list[StudyItem]:
    study.only(*questions.QUESTION_KEYS, "agents", "own", "ties", "pairs")
    names = [*dict.fromkeys(study.texts("agents")), *([questions.OWN] if study.flag("own") else [])]
    if len(names) < 2:
        raise InputError("`agents` names one alone: a `prefer` study needs two or more, or one and `own = true`")
    story, asked = questions.questions_of(study)
    replies = questions.AgentReplies(study, story)
    rng = random.Random(study.seed)  # noqa: S311
    drawn = _PairDraw(names, rng)
    wanted = min(study.number("pairs", 1), len(drawn.pairs))
    items: list[StudyItem] = []
    for number, question in enumerate(asked):
        progress("Replies", number, len(asked))
        items += _put(question, drawn, wanted, replies, study.flag("ties"))
    progress("Replies", len(asked), len(asked))
    if not items:
        raise InputError("no question has two replies that differ: choose other agents, or other questions")
    return items


class _PairDraw:
    """Pairs of agents, those that were put least first; the first of a pair is 'a'."""

    def __init__(self, names: Sequence[str], rng: random.Random) -> None:
        self.pairs = list(combinations(names, 2))
        rng.shuffle(self.pairs)
        self._rng = rng
        self._put: Counter[tuple[str, str]] = Counter()
        self._first: Counter[str] = Counter()

    def in_turn(self) -> list[tuple[str, str]]:
        return sorted(self.pairs, key=lambda pair: self._put[pair])

    def take(self, pair: tuple[str, str]) -> tuple[str, str]:
        """Counts a pair as put, and says which of the two is 'a': who was less often."""
        self._put[pair] += 1
        shuffled = self._rng.sample(pair, 2)
        first, second = sorted(shuffled, key=lambda name: self._first[name])
        self._first[first] += 1
        return first, second


def _put(
    question: questions.AskedQuestion, drawn: _PairDraw, wanted: int, replies: questions.AgentReplies, ties: bool
) -> Iterator[StudyItem]:
    count = 0
    for pair in drawn.in_turn():
        if count == wanted:
            return
        texts = {name: replies.reply(name, question) for name in pair}
        if None in texts.values() or len(set(texts.values())) < 2:
            continue
        count += 1
        yield _item(question, count, dict(zip(SIDES, drawn.take(pair))), texts, ties)


def _item(
    question: questions.AskedQuestion,
    number: int,
    agents: Mapping[str, str],
    texts: Mapping[str, str | None],
    ties: bool,
) -> StudyItem:
    options = [Option(side, texts[agent] or "") for side, agent in agents.items()]
    who = question.situation.persona.name
    shown = (*options, *([Option(TIE, "Neither is better")] if ties else []))
    asked = Question(PREFERRED, "choice", f"What would {who} rather say?", shown, is_shuffled=True)
    blocks = (*questions.persona_blocks(question.situation), questions.dialogue_block(question))
    return StudyItem(f"{question.name}.{number}", blocks, (asked,), agents)


def _simulated(item: StudyItem, skill: float, rng: random.Random) -> dict[str, Any]:
    """Everybody of skill 1 prefers the agent that comes first in an order that is the same for all items."""
    keys = [option.key for option in item.questions[0].options]
    better = min(SIDES, key=lambda side: random.Random(f"leaning {item.hidden.get(side)}").random())  # noqa: S311
    return {PREFERRED: better if rng.random() < skill else rng.choice(keys)}


def _choices(answers: Sequence[GivenAnswer]) -> list[PairwiseChoice]:
    """What was chosen; questions of one scene resemble each other, so they are drawn together in a bootstrap."""
    choices = list[PairwiseChoice]()
    for each in without_checks(answers):
        scene, agents = each.item.name.partition(".")[0], each.item.hidden
        chosen = agents.get(each.answer[PREFERRED])
        choices.append(PairwiseChoice(scene, each.person, agents["a"], agents["b"], chosen))
    return choices


def _figures(study: Study, answers: Sequence[GivenAnswer]) -> list[Row]:
    """Of two agents the one that won more stands first: an order by name would tell who is who."""
    choices = _choices(answers)
    pairs = dict.fromkeys(frozenset((choice.first, choice.second)) for choice in choices)
    rows: list[Row] = []
    for pair in pairs:
        rates = {name: win_rate(choices, name, *(pair - {name})) for name in pair}
        first, second = sorted(pair, key=lambda name: (-(rates[name].value or 0), name))
        rows.append({"agent": first, "against": second, **rates[first].row()})
    return rows + _modelled(choices, study.seed)


def _modelled(choices: Sequence[PairwiseChoice], seed: int) -> list[Row]:
    """What Bradley-Terry says: of two agents, how likely one is preferred; of several, also how strong each is."""
    fitted = bradley_terry(choices, seed=seed)
    if fitted.reason:  # which names agents
        return [{"agent": None, "against": None, **Estimate.missing("strength", len(choices), APART).row()}]
    strengths = fitted.strengths.items() if len(fitted.strengths) > 2 else ()
    return [
        *({"agent": agent, "against": None, **figure.row()} for agent, figure in strengths),
        *(
            {"agent": first, "against": second, **fitted.wins[first, second].row()}
            for first, second in combinations(fitted.strengths, 2)
        ),
    ]


def _write_preferences(_: Study, answers: Sequence[GivenAnswer], path: Path) -> None:
    """JSON lines with `chosen` and `rejected`, as those who train on preferences take them; ties are left out."""
    lines = []
    for each in without_checks(answers):
        if (chosen := each.answer[PREFERRED]) == TIE:
            continue
        rejected = next(side for side in SIDES if side != chosen)
        texts = {option.key: option.label for option in each.item.questions[0].options}
        about, dialogue = each.item.blocks[:-1], each.item.blocks[-1]
        lines.append(
            {
                "item": each.item.name,
                "about": {block.title: _texts(block) for block in about},
                "dialogue": [{"speaker": line.speaker, "text": line.text} for line in dialogue.lines],
                "chosen": texts[chosen],
                "rejected": texts[rejected],
                "chosen_agent": each.item.hidden[chosen],
                "rejected_agent": each.item.hidden[rejected],
                "person": each.person,
            }
        )
    write_json_lines(path, lines)


def _texts(block: Block) -> list[str]:
    return [line.text for line in block.lines]


PREFER = Kind(
    "prefer",
    "chooses between two agents' replies",
    TEMPLATE,
    _items,
    _simulated,
    outputs={"preferences": _write_preferences},
    unblinding=frozenset({"preferences"}),
    figures=_figures,
)
