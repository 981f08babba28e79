from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from understudy.agents import agent_named
from understudy.agents.reply_lines import ReplyLine, characters_asked, reply_lines, sampled
from understudy.errors import InputError
from understudy.formats import examples, read
from understudy.papers.hpd.proposals import are_nearly_equal
from understudy.papers.hpd.questions import write_questions
from understudy.story.dialogue import Reply, Situation, Turn
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
