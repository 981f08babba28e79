from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.agents import agent_named
from understudy.agents.plain_replies import stock_lines
from understudy.agents.reply_lines import ReplyLine, StoryQuestion, characters_asked, question_at, reply_lines, sampled
from understudy.errors import InputError
from understudy.formats import examples, read
from understudy.papers.hpd.questions import are_nearly_equal, negatives_of, propose, usable_proposals, write_questions
from understudy.story.dialogue import DEFAULT_SAMPLING, Candidate, Draft, Reply, Sampling, Situation, Turn, Usage
from understudy.story.persona import Persona
from understudy.story.storyfile import Story


class Numbering:
    """Ranks what it is offered by a rule of its own, and counts how often it is asked."""

    def __init__(self, fails_after: int = 10**6) -> None:
        self.asked, self._fails_after = 0, fails_after

    def score(self, situation: Situation, history: Sequence[Turn], candidates: Sequence[str]) -> list[float]:
        if self.asked == self._fails_after:
            raise KeyboardInterrupt
        self.asked += 1
        return [float(len(text) % 7) for text in candidates]


class Echo:
    """Knows nothing but what was said, and so has nothing of its own to propose."""

    def reply(self, situation: Situation, history: Sequence[Turn]) -> Reply:
        return Reply(history[-1].text)


@pytest.fixture(scope="module")
def story() -> Story:
    return read("demo")


@pytest.fixture(scope="module")
def lines(story: Story) -> list[ReplyLine]:
    return sampled(list(reply_lines(story, characters_asked(story), 2)), 6, 0)


def test_wrong_replies_of_agents_that_ship_come_from_the_story(tmp_path: Path) -> None:
    things = (
        "rope boat sail tide post mast gull crab lamp oar net hook keel deck buoy reef sand wharf barge crane".split()
    )
    script = tmp_path / "pier.txt"
    script.write_text(
        "".join(
            f"[Scene: The pier]\nAnn: Bring {one} quickly.\nBen: Never touch {one} without {two}!\n"
            f"Ann: Whoever broke {two} pays dearly.\nBen: My father sold {two} to buy {one}.\n"
            for one, two in zip(things[::2], things[1::2])
        ),
        encoding="utf-8",
    )
    story = read(script)
    agents = {name: agent_named(name) for name in ("tfidf", "encoder")}
    write_questions(story, list(reply_lines(story, characters_asked(story), 2)), agents, tmp_path / "set.json")
    said = {line.text for scene in story.scenes() for line in scene.lines}
    for question in examples(tmp_path / "set.json"):
        assert set(question.candidates) <= said


def test_what_is_written_is_read_back_and_judged(story: Story, lines: list[ReplyLine], tmp_path: Path) -> None:
    output = tmp_path / "set.json"
    written = write_questions(story, lines, {"one": Numbering(), "echo": Echo()}, output)
    assert written.questions == 6
    assert not (tmp_path / "set.json.partial").exists()
    questions = list(examples(output))
    assert [question.name for question in questions] == [line.name for line in lines]
    for line, question in zip(lines, questions):
        assert question.candidates[0] == line.text
        assert question.gold == {0}
        assert len(question.candidates) >= 10
        wrong = question.candidates[1:]
        assert not any(are_nearly_equal(text, line.text) for text in wrong)
        assert len(set(wrong)) == len(wrong)
        assert question.situation.persona.name == line.who
    assert read(output).count()[0] == 6
    for session in json.loads(output.read_text()).values():
        assert session["reviewed"] is False
        assert set(session["negative_response"]) <= {each["text"] for each in session["proposed"]}
        assert {each["agent"] for each in session["proposed"]} == {"one"}


def test_a_stopped_run_goes_on_and_ends_the_same(story: Story, lines: list[ReplyLine], tmp_path: Path) -> None:
    whole, stopped = tmp_path / "whole.json", tmp_path / "stopped.json"
    write_questions(story, lines, {"one": Numbering()}, whole)
    with pytest.raises(KeyboardInterrupt):
        write_questions(story, lines, {"one": Numbering(fails_after=4)}, stopped)
    assert not stopped.exists()
    partial = tmp_path / "stopped.json.partial"
    with partial.open("a") as file:
        file.write('{"line": "x"}\n{"line": "cut o')  # damaged, and killed while writing
    rest = Numbering()
    write_questions(story, lines, {"one": rest}, stopped)
    assert rest.asked == 2
    assert stopped.read_text() == whole.read_text()


def test_what_another_seed_proposed_is_not_taken(story: Story, lines: list[ReplyLine], tmp_path: Path) -> None:
    output = tmp_path / "set.json"
    with pytest.raises(KeyboardInterrupt):
        write_questions(story, lines, {"one": Numbering(fails_after=1)}, output, seed=1)
    with pytest.raises(InputError, match="--fresh"):
        write_questions(story, lines, {"one": Numbering()}, output, seed=2)
    assert write_questions(story, lines, {"one": Numbering()}, output, seed=2, fresh=True).questions == 6


def test_too_few_proposals_make_no_question(story: Story, lines: list[ReplyLine], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="fewer than 9 proposals"):
        write_questions(story, lines[:2], {"echo": Echo()}, tmp_path / "set.json")
    assert not (tmp_path / "set.json").exists()


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
