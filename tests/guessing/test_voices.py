"""Whose voices are alike?"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from talkers import COMMON, WORDS, script_of
from understudy.errors import StoryError
from understudy.formats import read
from understudy.guessing.story import GuessSettings
from understudy.guessing.voices import voices_of
from understudy.story.storyfile import Story

OWN = {**WORDS, "Dora": WORDS["Ann"]}  # Dora talks as Ann does


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Story:
    rng = np.random.default_rng(0)

    def said(who: str) -> str:
        return " ".join(map(str, [*rng.choice(OWN[who], 3), *rng.choice(COMMON, 2)]))

    content = [[[(str(who), said(str(who))) for who in rng.permutation(list(OWN))] for _ in range(4)] for _ in range(6)]
    return read(script_of(tmp_path_factory.mktemp("voices") / "quay", content))


def test_the_pair_that_talks_alike_comes_first(story: Story) -> None:
    results = voices_of(story, GuessSettings())
    first, *remaining = results["pairs"]
    assert set(first["pair"]) == {"Ann", "Dora"}
    assert len(remaining) == 5
    assert first["alike"] > 0.4 > max(pair["alike"] for pair in remaining)
    assert first["told_apart"] < 0.75 < min(pair["told_apart"] for pair in remaining)
    assert [pair["alike"] for pair in remaining] == sorted((pair["alike"] for pair in remaining), reverse=True)
    assert {pair["n"] for pair in results["pairs"]} == {48}
    figures = {row["model"]: row for row in results["rows"] if row["metric"] == "accuracy" and row["show"] == "all"}
    assert set(figures) == {"joint", "words alone"}
    assert 0.6 < figures["words alone"]["value"] < 0.9 and figures["joint"]["n"] == 96


def test_lines_that_confuse_and_terms_that_would_tell(story: Story) -> None:
    results = {frozenset(pair["pair"]): pair for pair in voices_of(story, GuessSettings())["pairs"]}
    alike, apart = results[frozenset(("Ann", "Dora"))], results[frozenset(("Ann", "Ben"))]
    shares = [line["share"] for line in alike["lines"]]
    assert shares == sorted(shares, reverse=True)
    said = {line.moment.dotted: line for scene in story.scenes() for line in scene.lines}
    for line in alike["lines"]:
        assert line["share"] > 0.5
        assert {line["who"], line["taken_for"]} == {"Ann", "Dora"}
        assert (said[line["moment"]].speaker, said[line["moment"]].text) == (line["who"], line["text"])
    for who in ("Ann", "Ben"):
        assert apart["terms"][who]
        for term in apart["terms"][who]:
            assert any(term in line.text for line in said.values() if line.speaker == who)
    assert set(apart["terms"]["Ann"]).isdisjoint(apart["terms"]["Ben"])


def test_what_both_of_a_pair_say_does_not_tell_them_apart(tmp_path: Path) -> None:
    content = [[[("Ann", "good tide old boat"), ("Ben", "good tide hot oven"), ("Cleo", "amen to that")]] * 2] * 3
    pairs = voices_of(read(script_of(tmp_path / "both", content)), GuessSettings())["pairs"]
    (terms,) = [pair["terms"] for pair in pairs if set(pair["pair"]) == {"Ann", "Ben"}]
    assert "old boat" in terms["Ann"] and "hot oven" in terms["Ben"]
    assert "good tide" not in (*terms["Ann"], *terms["Ben"])


def test_one_speaker_or_one_scene_cannot_be_told_apart(tmp_path: Path) -> None:
    alone = script_of(tmp_path / "alone", [[[("Ann", "So it is.")], [("Ann", "Yes.")]]])
    with pytest.raises(StoryError, match="only Ann speaks"):
        voices_of(read(alone), GuessSettings())
    once = script_of(tmp_path / "once", [[[("Ann", "So it is."), ("Ben", "Yes.")]]])
    with pytest.raises(StoryError, match="one scene"):
        voices_of(read(once), GuessSettings())
    apart = script_of(tmp_path / "apart", [[[("Ann", "So it is.")], [("Ben", "Yes.")]] * 2])
    with pytest.raises(StoryError, match="no scene of .* has two main characters"):
        voices_of(read(apart), GuessSettings())


def test_a_story_of_one_chapter_is_asked_about_scene_by_scene(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    content = [
        [(str(who), " ".join(map(str, rng.choice(OWN[str(who)], 4)))) for who in ("Ann", "Ben")] for _ in range(8)
    ]
    results = voices_of(read(script_of(tmp_path / "one", [content])), GuessSettings())
    assert results["pairs"][0]["n"] == 16


def test_those_who_always_speak_together_are_most_alike(tmp_path: Path) -> None:
    content = [[[("Ann", "the tide is in"), ("Ben", "the oven is hot"), ("Cleo and Dora", "amen to that")]] * 2] * 3
    results = voices_of(read(script_of(tmp_path / "together", content)), GuessSettings())
    assert set(results["pairs"][0]["pair"]) == {"Cleo", "Dora"}
    assert results["pairs"][0]["alike"] > 0.45
