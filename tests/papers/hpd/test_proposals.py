from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.agents.bank import stock_lines
from understudy.agents.reply_lines import StoryQuestion, question_at, reply_lines
from understudy.formats import read
from understudy.papers.hpd.proposals import are_nearly_equal, negatives_of, propose, usable_proposals
from understudy.story.dialogue import DEFAULT_SAMPLING, Candidate, Draft, Reply, Sampling, Situation, Turn, Usage
from understudy.story.persona import Persona


@pytest.fixture(scope="module")
def question() -> StoryQuestion:
    story = read("demo")
    return question_at(story, list(reply_lines(story, ["Zita Karst"]))[40])


class Drafting:
    def drafts(
        self,
        situation: Situation,
        history: Sequence[Turn],
        sampling: Sampling = DEFAULT_SAMPLING,
        cancellation: object = None,
    ) -> tuple[list[Draft], Usage]:
        assert sampling.seed == 5
        return [Draft(f"(nods) draft {number % 12}", "writer") for number in range(sampling.n * 2)], Usage()


class Ranking:
    """Likes short lines."""

    def score(self, situation: Situation, history: Sequence[Turn], candidates: Sequence[str]) -> list[float]:
        return [-float(len(text)) for text in candidates]


class Replying:
    def reply(self, situation: Situation, history: Sequence[Turn]) -> Reply:
        return Reply(
            "First.", (Candidate("First.", 1.0), Candidate("Hidden.", 0.9, rejected="x"), Candidate("Next.", 0.5))
        )


def test_ten_drafts_that_differ_without_directions(question: StoryQuestion) -> None:
    assert propose(Drafting(), question, 5, list) == [f"draft {number}" for number in range(10)]


def test_a_reply_with_what_else_was_considered(question: StoryQuestion) -> None:
    assert propose(Replying(), question, 0, list) == ["First.", "Next."]


class Greeting:
    def reply(self, situation: Situation, history: Sequence[Turn]) -> Reply:
        return Reply("Hello.", (Candidate("Hello.", 1.0), Candidate("Goodbye.", 0.9), Candidate("The Prior.", 0.5)))


def test_stock_lines_are_nobodys_proposal(question: StoryQuestion) -> None:
    assert {"Hello.", "Goodbye."} <= stock_lines()
    assert propose(Greeting(), question, 0, list) == ["The Prior."]


def test_who_has_heard_little_is_offered_what_others_said_before(question: StoryQuestion) -> None:
    persona = replace(question.situation.persona, past=Persona("x").past)
    early = replace(question, situation=replace(question.situation, persona=persona))
    said = [f"Line {number} of the story." for number in range(12)]
    assert set(propose(Ranking(), early, 0, lambda: said)) <= set(said)
    assert propose(Ranking(), early, 0, list) == []


def test_a_ranker_chooses_among_lines_heard_before_the_scene(question: StoryQuestion) -> None:
    proposed = propose(Ranking(), question, 0, list)
    assert len(proposed) == 10
    assert [len(text) for text in proposed] == sorted(len(text) for text in proposed)
    assert proposed == propose(Ranking(), question, 0, list)
    heard = " ".join(line.text for scene in question.situation.persona.past.scenes() for line in scene.lines)
    assert all(text in " ".join(heard.split()) for text in proposed if len(text) > 25)


@pytest.mark.parametrize(
    ("first", "second", "equal"),
    [
        ("I know it.", "I know it!", True),
        ("I never said that.", "I never said it.", True),
        ("Yes.", "Yes, and I shall never forget it.", False),
        ("Get on with it.", "Know how it goes, Prior. Get on with it.", True),
        ("No.", "Yes.", False),
    ],
)
def test_nearly_equal(first: str, second: str, equal: bool) -> None:
    assert are_nearly_equal(first, second) is are_nearly_equal(second, first) is equal


def test_repetitions_are_nobodys_proposal(question: StoryQuestion) -> None:
    said = question.history[-1].text
    proposed = {
        "one": ["The boat is late.", question.reply, said, "..."],
        "two": ["The boat is late!", "Who goes there?"],
    }
    assert usable_proposals(proposed, question) == {"one": ["The boat is late."], "two": ["Who goes there?"]}


@given(sizes=st.lists(st.integers(0, 12), min_size=1, max_size=4), seed=st.integers(0, 99))
def test_wrong_replies_are_balanced_over_agents(sizes: list[int], seed: int) -> None:
    usable = {
        f"agent{number}": [f"text {number} {place}" for place in range(size)] for number, size in enumerate(sizes)
    }
    negatives = negatives_of(usable, random.Random(seed))
    assert negatives == negatives_of(usable, random.Random(seed))
    assert len(negatives) == len(set(negatives)) == min(10, sum(sizes))
    share = Counter(proposal.agent for proposal in negatives)
    for agent, texts in usable.items():  # whoever has more to give has at most one more than anybody else
        assert share[agent] == len(texts) or share[agent] >= max(share.values(), default=0) - 1
