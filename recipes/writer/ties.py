"""Examples of ties: questions about people the character has feelings for, answered by templates."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from random import Random
from typing import NamedTuple

from recipes.writer.chats import TrainingExample
from recipes.writer.tables import answers_for, names, random_name, table
from understudy.agents.prompt_contents import PromptContents
from understudy.story.types import Moment, Relation
from understudy.story.wording import tie_sentence
from understudy.training.dialogues import ProfiledDialogue

__all__ = ["tie_examples"]

LEANS_ON_QUESTION = re.compile(r"(?:No|Not|Yes|Of|With|More|Well|\{x\}\?)\b|\{x\}\?")
AGAINST, FOR = frozenset({"enemy", "opponent"}), frozenset({"friend", "lover"})
ALWAYS = Moment((0,))


class _Tie(NamedTuple):
    """How somebody stands to the character: their pronoun, how much they are liked, what they are, all in words."""

    pronoun: str
    level: int
    kind: str
    sentences: tuple[str, ...]


def tie_examples(dialogues: Sequence[ProfiledDialogue], rng: Random, count: int) -> Iterator[TrainingExample]:
    for _ in range(count):
        profile = rng.choice(rng.choice(dialogues).profiles)[: rng.choice((0, 2, 4))]
        with_surnames = rng.random() < 0.4
        ties = _ties(rng, with_surnames)
        about = rng.choice(list(ties))
        facing = rng.choice([*ties, random_name(rng)])
        question, answer = _question(about, ties[about], about == facing, rng)
        facts = list(ties[about].sentences)
        if rng.random() < 0.5:
            facts += [text for text in ties[rng.choice(list(ties))].sentences if text not in facts][:1]
        rng.shuffle(facts)
        name = random_name(rng, surname=float(with_surnames))
        theirs = ties[facing].sentences if facing in ties else ()
        yield TrainingExample(
            PromptContents(name, profile, facing, theirs, message=question, facts=tuple(facts)), answer
        )


def _ties(rng: Random, with_surnames: bool) -> dict[str, _Tie]:
    people = [(name, "he") for name in rng.sample(names("m"), 3)] + [
        (name, "she") for name in rng.sample(names("f"), 3)
    ]
    rng.shuffle(people)
    ties = {}
    for first, pronoun in people[: rng.choice((2, 3, 4))]:
        name = f"{first} {rng.choice(names('s'))}" if with_surnames else first
        level = rng.randint(-10, 10)
        fitting = [kind for kind in table("of_kind") if _fits(kind, level)]
        kind = rng.choice(fitting) if rng.random() < 0.5 else ""
        relations = [Relation("", name, "affection", level, ALWAYS)]
        relations += [Relation("", name, kind, None, ALWAYS)] if kind else []
        ties[name] = _Tie(pronoun, level, kind, tuple(tie_sentence(tie, "en") for tie in relations))
    return ties


def _question(name: str, tie: _Tie, is_faced: bool, rng: Random) -> tuple[str, str]:
    questions = table("tie_questions")
    filled = {
        "x": name.split()[0] if rng.random() < 0.7 else name,
        "he": tie.pronoun,
        "He": tie.pronoun.title(),
        "him": "him" if tie.pronoun == "he" else "her",
    }
    if is_faced:
        return rng.choice(questions["of_me"]), rng.choice(answers_for("to_you", tie.level))
    felt = answers_for("tie", tie.level)
    if not tie.kind or rng.random() >= 0.5:
        return rng.choice(questions["of_them"]).format(**filled), rng.choice(felt).format(**filled)
    answer = rng.choice(table("of_kind")[tie.kind])
    if rng.random() < 0.5:
        answer += " " + rng.choice([text for text in felt if not LEANS_ON_QUESTION.match(text)])
    return rng.choice(questions["who"]).format(**filled), answer.format(**filled)


def _fits(kind: str, level: int) -> bool:
    if kind in AGAINST:
        return level <= -3
    return level >= 3 if kind in FOR else True
