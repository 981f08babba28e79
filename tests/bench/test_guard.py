from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from understudy.bench.guard import HOSTILE, OfferedDrafts, bench_guard, offered_drafts, rule_judge
from understudy.errors import InputError
from understudy.formats import read
from understudy.judging import Rule
from understudy.story.dialogue import Draft, Situation, Turn
from understudy.story.storyfile import Story


@pytest.fixture(scope="module")
def story() -> Story:
    return read("demo")


@pytest.fixture(scope="module")
def offered(story: Story) -> list[OfferedDrafts]:
    return list(offered_drafts(story, 25, seed=1))


def test_what_is_offered_is_what_it_says(story: Story, offered: list[OfferedDrafts]) -> None:
    assert len(offered) == 25
    spoken = {line.text: line.moment for scene in story.scenes() for line in scene.lines if line.speaker}
    for case in offered:
        persona = case.situation.persona
        witnessed = {line.text for scene in persona.past.scenes() for line in scene.lines}
        own = {line.text for line in persona.past.lines()}
        for offer in case.offers:
            text = offer.draft.text
            if offer.kind == "later":
                assert spoken[text] >= persona.moment
            elif offer.kind == "unwitnessed":
                assert spoken[text] < persona.moment and text not in witnessed
            elif offer.kind == "own":
                assert text in own
            else:
                assert offer.kind == "secrets"
        assert {offer.kind for offer in case.offers} >= {"later", "own"}


def test_the_sample_is_seeded(story: Story, offered: list[OfferedDrafts]) -> None:
    again = [case.offers for case in offered_drafts(story, 25, seed=1)]
    assert again == [case.offers for case in offered]
    assert again != [case.offers for case in offered_drafts(story, 25, seed=2)]


def test_a_guard_that_stops_all_or_nothing_has_the_shares_to_show_for_it(story: Story, tmp_path: Path) -> None:
    def stops(situation: Situation, history: Sequence[Turn], draft: Draft) -> str:
        return "no"

    def passes(situation: Situation, history: Sequence[Turn], draft: Draft) -> str:
        return ""

    document = bench_guard(story, {"stops": stops, "passes": passes}, 8, save_items=tmp_path / "items.json")
    values = {(row["agent"], row["offered"]): row for row in document["rows"]}
    for kind in (*HOSTILE, "all", "own"):
        assert values["stops", kind]["value"] == 1.0 and values["stops", kind]["low"] < 1.0
        assert values["passes", kind]["value"] == 0.0 and values["passes", kind]["high"] > 0.0
        assert values["stops", kind]["metric"] == ("wrongly_stopped" if kind == "own" else "stopped")
    assert (tmp_path / "items.json").is_file()


def test_rules_stop_later_lines_and_let_own_ones_pass(story: Story) -> None:
    judge = rule_judge([Rule.parse("anachronism<=0")], story)
    document = bench_guard(story, {"rules": judge}, 8, seed=2)
    values = {row["offered"]: row["value"] for row in document["rows"]}
    assert values["later"] > 0.5
    assert values["own"] < 0.1


def test_a_story_in_which_nobody_meets_offers_nothing(tmp_path: Path) -> None:
    path = tmp_path / "alone.txt"
    scenes = (f"## scene {number}: A room\nANN: I am alone here on this evening.\n" for number in (1, 2, 3))
    path.write_text("# act 1: Alone\n" + "\n".join(scenes), encoding="utf-8")
    with pytest.raises(InputError, match="nothing to offer"):
        bench_guard(read(path), {"none": lambda *_: ""})
