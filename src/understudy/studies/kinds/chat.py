"""Two who have just met talk, each as a given persona, as PersonaChat was collected. One of the two may be an agent.

A chat has two personas that differ, and 6 to 8 turns of each side, drawn. Whether the partner is a person or which
agent it is was drawn as well, and nobody is told. With `rate`, people then say what PersonaChat's asked: how fluent,
engaging and consistent the partner was, and which of two profiles was theirs.

`--format chats` writes the chats as `rate` studies, `bench profiles` and others take them.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from understudy.errors import InputError
from understudy.formats.chat_records import HUMAN, ChatLine, ChatRecord
from understudy.papers.personachat.published import PERSONACHAT_RATED, paper_model, personachat_rating
from understudy.progress import Progress
from understudy.studies import Study, personas_of
from understudy.studies.assignment import PERSON
from understudy.studies.chatting import PROFILE
from understudy.studies.item import Option, Question, StudyItem
from understudy.studies.kind import RATED_SCALES, GivenAnswer, Kind, Row, mean_row, simulated_rating, write_json_lines
from understudy.text import guess_language

CHOICE = Question(
    PROFILE,
    "choice",
    "Which of these is your partner?",
    (Option("a", "The first"), Option("b", "The second")),
    is_shuffled=True,
)
KEYS = ("story", "personas", "chats", "agents", "agents_percent", "turns", "words", "rate", "patience_s", "arrives_s",
        "writes_s")  # fmt: skip
TEMPLATE = """\
kind = "chat"
title = "Get to know somebody"
instructions = \"\"\"
You are somebody else for a while: a few sentences say who. Talk with a partner who plays somebody as well, and get to
know each other. Say things in your own words: copying from your description is refused, and so are more than 15 words.
\"\"\"
consent = "I am at least 18 and take part of my own will. I can stop at any time and have what I wrote deleted."
people_per_item = 2
items_per_person = 3        # chats of one person
checks = 0
seed = 0

[material]
story = "demo"              # whose cast's profiles are the personas
# personas = "personas.jsonl"   # or instead: what a `personas` or `revise` study wrote with --format personas
chats = 20                  # how many there are to be
agents = ["encoder"]        # who may be the partner beside people; leave out for people alone
agents_percent = 50         # of the chats are with an agent
turns = [6, 8]              # of each side, drawn
words = 15                  # at most so many a message
rate = true                 # afterwards: fluency, engagingness, consistency, and which of two profiles it was
patience_s = 120            # after so many seconds of waiting an agent comes, if there are agents
arrives_s = [3, 20]         # how long one waits for an agent at first, drawn
writes_s = [3, 12]          # how long an agent takes to write, drawn
"""


def _items(study: Study, progress: Progress) -> list[StudyItem]:
    study.only(*KEYS)
    personas = personas_of(study)
    if len(personas) < 2:
        raise InputError("a chat takes two personas that differ: name more of them under [material]")
    agents = study.listed("agents")
    chats, share = study.number("chats", 20), study.number("agents_percent", 50, least=0) / 100 if agents else 0.0
    rng = random.Random(study.seed)  # noqa: S311
    questions = (*RATED_SCALES, CHOICE) if study.material.get("rate", True) else ()
    items = []
    for number in range(chats):
        progress("Items", number, chats)
        drawn = rng.sample(personas, min(3, len(personas)))
        hidden = {
            "personas": [list(drawn[0]), list(drawn[1])],
            "foil": list(drawn[2]) if len(drawn) > 2 else [],
            "right": [rng.choice("ab"), rng.choice("ab")],
            "begins": rng.choice((0, 1)),
            "partner": rng.choice(agents) if rng.random() < share else PERSON,
            "agents": list(agents),
            "turns": rng.randint(*_range(study, "turns", (6, 8))),
            "most_words": study.number("words", 15),
            "language": guess_language(" ".join(drawn[0])),
            "patience_s": study.number("patience_s", 120, least=0),
            "arrives_s": list(_range(study, "arrives_s", (3, 20))),
            "writes_s": list(_range(study, "writes_s", (3, 12))),
        }
        asked = questions if hidden["foil"] else tuple(each for each in questions if each.name != PROFILE)
        people = 2 if hidden["partner"] == PERSON else 1
        items.append(StudyItem(f"chat {number + 1}", (), asked, hidden, people=people))
    return items


def _range(study: Study, key: str, default: tuple[int, int]) -> tuple[int, int]:
    value = study.material.get(key, list(default))
    match value:
        case [int(low), int(high)] if 0 <= low <= high:
            return low, high
    raise InputError(f"`{key}` under [material] is {value!r}: write two whole numbers such as {list(default)}")


def _simulated(item: StudyItem, skill: float, rng: random.Random) -> dict[str, Any]:
    """What is asked after a chat."""
    answer: dict[str, Any] = {}
    for question in item.questions:
        if question.type == "scale":
            answer[question.name] = simulated_rating(question, item.hidden["partner"], item, skill, rng)
        else:
            answer[question.name] = rng.choice("ab")
    return answer


def _side_of(each: GivenAnswer) -> int:
    return int(each.item.hidden["seated"].index(each.person))


def _partner_of(each: GivenAnswer) -> str:
    """Who a person talked with: an agent's name, 'human', or blank where the partner has withdrawn."""
    seated = str(each.item.hidden["seated"][1 - _side_of(each)])
    return seated if not seated or seated in each.item.hidden["agents"] else HUMAN


def _figures(study: Study, answers: Sequence[GivenAnswer]) -> list[Row]:
    """PersonaChat's table 4, a row for each partner and what was rated."""
    by_partner: dict[str, list[GivenAnswer]] = {}
    for each in answers:
        if each.answer and _partner_of(each):
            by_partner.setdefault(_partner_of(each), []).append(each)
    rows = []
    for partner, judged in by_partner.items():
        model = paper_model(partner, "self")
        for metric in PERSONACHAT_RATED:
            paper = personachat_rating(model, metric)
            rows.append(mean_row({"agent": partner}, metric, judged, _value_of(metric), paper, study.seed))
    return rows


def _value_of(metric: str) -> Callable[[GivenAnswer], float | None]:
    if metric != PERSONACHAT_RATED[-1]:
        return lambda each: each.answer.get(metric)

    def is_detected(each: GivenAnswer) -> float | None:
        chosen = each.answer.get(PROFILE)
        return None if chosen is None else float(chosen == each.item.hidden["right"][_side_of(each)])

    return is_detected


def _write_chats(_: Study, answers: Sequence[GivenAnswer], path: Path) -> None:
    """Each chat once, as JSON lines; one whose words are gone with somebody who withdrew is left out."""
    records = {each.item.name: _record(each.item) for each in answers if all(each.item.hidden["seated"])}
    write_json_lines(path, (record.document() for record in records.values()))


def _record(item: StudyItem) -> ChatRecord:
    hidden = item.hidden
    first, second = (name if name in hidden["agents"] else HUMAN for name in hidden["seated"])
    profiles = tuple(hidden["personas"][0]), tuple(hidden["personas"][1])
    return ChatRecord(
        item.name, (first, second), profiles, tuple(ChatLine(side, text) for side, text in hidden["chat"])
    )


KIND = Kind(
    "chat",
    "talks with another person, or an agent, not knowing which",
    TEMPLATE,
    _items,
    _simulated,
    outputs={"chats": _write_chats},
    unblinding=frozenset({"chats"}),
    figures=_figures,
    is_live=True,
)
