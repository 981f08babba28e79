from __future__ import annotations

import tomllib
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.formats import read
from understudy.metrics.knowing import (
    FEWEST_HEARD,
    NEW_SHARE,
    LaterPassages,
    PassageIndex,
    anachronism,
    relation_fit,
    unwitnessed,
)
from understudy.metrics.line_metric import LineMetric, Samples
from understudy.metrics.registry import MetricContext
from understudy.story.chronology import Chronology
from understudy.story.dialogue import Situation, situation_at
from understudy.story.persona import Other, Persona, persona_at
from understudy.story.storyfile import Story
from understudy.story.types import Moment, Relation

SAMPLES = Samples({"Ines": ["The tide is out."]})


def test_only_an_author_is_told_which_terms_and_where(story: Path) -> None:
    opened = read(story)
    known, ines = Chronology(opened), persona_at(opened, "Ines", "1.2")
    line = "I saw it from the lighthouse with Mara."
    (hidden,) = anachronism(SAMPLES, known, ines)([line])
    (open_,) = anachronism(SAMPLES, known, ines, author=True)([line])
    assert hidden.value == open_.value and hidden.value
    assert "mara" in open_.reason.lower() and "mara" not in hidden.reason.lower()


def test_a_harmless_line_scores_nothing(story: Path) -> None:
    opened = read(story)
    known, ines = Chronology(opened), persona_at(opened, "Ines", "1.2")
    for metric in (anachronism(SAMPLES, known, ines), unwitnessed(SAMPLES, known, ines)):
        assert [score.value for score in metric(["Good morning to you.", ""])] == [0.0, None]


def test_where_nothing_can_be_told_there_is_a_reason(story: Path) -> None:
    opened = read(story)
    known = Chronology(opened)
    (score,) = anachronism(SAMPLES, known, persona_at(opened, "Ines", "end"))(["Mara"])
    assert score.value is None and "name a moment" in score.reason
    (score,) = unwitnessed(SAMPLES, known, Persona("Nobody"))(["Mara"])
    assert score.value is None and "Nobody" in score.reason


QUIET = "".join(f"Ines: The tide is out, says number {number}.\nTobias: We wait.\n" for number in range(FEWEST_HEARD))
STORY = f"""
Scene 1: The quay
(Ines and Tobias are there.)
(A lamp burns low in the tower.)
{QUIET}

Scene 2: The tower
(Mara is there.)
Mara: The ferry sinks at noon.

Scene 3: The quay
(Ines and Tobias are there.)
Tobias: A lamp burns low. You were right about the ferry.
"""


@pytest.fixture
def tide(tmp_path: Path) -> Story:
    path = tmp_path / "tide.txt"
    path.write_text(STORY, encoding="utf-8")
    return read(path)


@pytest.fixture(scope="module")
def demo() -> Story:
    return read("demo")


def later(story: Story, persona: Persona) -> LaterPassages:
    return LaterPassages(PassageIndex.of(story), Chronology.of(story).knowledge_of(persona), persona)


def share(passages: LaterPassages, text: str) -> float:
    passage = passages.nearest(text)
    return 0.0 if passage is None else passage.share


def test_a_line_that_is_said_later_is_all_new_and_names_its_place(tide: Story) -> None:
    passage = later(tide, persona_at(tide, "Ines", "2")).nearest("You were right about the ferry.")
    assert passage is not None and passage.share > 0.8
    assert Chronology.of(tide).moment_of(passage.line).dotted.startswith("3.")


def test_what_was_heard_before_is_not_new(tide: Story) -> None:
    ines = later(tide, persona_at(tide, "Ines", "2"))
    assert share(ines, "The tide is out, says number 3.") == 0.0


def test_runs_of_words_of_a_stage_direction_were_read_by_nobody_but_its_words_name_what_was_seen(tide: Story) -> None:
    ines = later(tide, persona_at(tide, "Ines", "2"))
    assert share(ines, "lamp") == 0.0
    assert share(ines, "a lamp burns low") > NEW_SHARE


def test_a_coincidence_within_a_long_line_is_not_held_against_it(tide: Story) -> None:
    ines = later(tide, persona_at(tide, "Ines", "2"))
    assert share(ines, "the ferry") > NEW_SHARE
    assert share(ines, "The tide is out, says number seven, and so nobody has seen the ferry yet.") < NEW_SHARE


def test_what_one_is_described_with_is_known(tide: Story) -> None:
    ines = persona_at(tide, "Ines", "2")
    captain = Persona(ines.name, ines.moment, ("You were right about the ferry.",), past=ines.past)
    assert share(later(tide, captain), "You were right about the ferry.") == 0.0


def test_who_has_witnessed_next_to_nothing_cannot_be_judged(tide: Story) -> None:
    assert later(tide, persona_at(tide, "Mara", "2")).nearest("You were right about the ferry.") is None


def test_a_line_left_out_is_as_if_it_were_not_in_the_story(tide: Story) -> None:
    ines = later(tide, persona_at(tide, "Ines", "3"))
    whole = ines.nearest("You were right about the ferry.")
    assert whole is not None
    without = ines.nearest("You were right about the ferry.", left_out=whole.line)
    assert without is None or without.share < whole.share


@pytest.fixture(scope="module")
def cast(demo: Story) -> dict[tuple[str, str], LaterPassages]:
    """What three of the demo's people cannot know yet, at two moments."""
    people = [(name, at) for name in ("Zita Karst", "Pia Lenk", "Gudrun Haake") for at in ("1.4", "3.1")]
    return {who: later(demo, persona_at(demo, *who)) for who in people}


@given(st.text(max_size=60))
def test_shares_are_shares(cast: dict[tuple[str, str], LaterPassages], text: str) -> None:
    assert all(0.0 <= share(passages, text) <= 1.0 + 1e-9 for passages in cast.values())


def test_own_lines_are_never_new(demo: Story, cast: dict[tuple[str, str], LaterPassages]) -> None:
    for who, passages in cast.items():
        lines = persona_at(demo, *who).past.lines(5)
        assert lines and all(share(passages, line.text) == 0.0 for line in lines), who


def test_the_future_terms_of_the_demo_are_found_and_lines_known_by_then_are_not(demo: Story) -> None:
    probes = tomllib.loads((files("understudy") / "stories/demo/probes.toml").read_text())["probe"]
    flagged, earlier = list[bool](), list[bool]()
    for probe in probes:
        if probe["kind"] == "future":
            situation = situation_at(demo, probe["who"], probe["at"])
            metric = MetricContext(demo, situation).metric("anachronism")
            flagged += [bool(score.value) for score in metric(probe["must_not"])]
            earlier += [bool(score.value) for score in metric([line.text for line in situation.persona.past.lines()])]
    assert len(flagged) == 29 and sum(flagged) >= 24
    assert not any(earlier)


def fit_of(situation: Situation) -> LineMetric:
    return relation_fit(Samples({"Ines": ["Ahoy."]}, situation.persona.language), situation)


def facing(affection: int, language: str = "en") -> Situation:
    tie = Relation("Ines", "Tobias", "affection", affection, Moment((1,)))
    return Situation(Persona("Ines", relations=(tie,), language=language), faced=Other("Tobias", relations=(tie,)))


@pytest.mark.parametrize(
    ("language", "warm", "cold"),
    [
        ("en", "Thank you, my friend.", "Get out, you liar!"),
        ("ja", "ありがとう、会いたかった。", "黙れ、裏切り者め。"),
        ("zh", "谢谢你，多保重。", "滚出去，骗子！"),
    ],
)
def test_warm_to_an_enemy_and_cold_to_a_friend_do_not_fit(language: str, warm: str, cold: str) -> None:
    friend, enemy = fit_of(facing(8, language)), fit_of(facing(-8, language))
    (to_friend_warm, to_friend_cold), (to_enemy_warm, to_enemy_cold) = friend([warm, cold]), enemy([warm, cold])
    assert to_friend_warm.value == to_enemy_cold.value == 1
    assert to_friend_cold.value is not None and to_friend_cold.value < 0.6
    assert to_enemy_warm.value is not None and to_enemy_warm.value < 0.6
    assert to_friend_cold.reason.startswith("cold") and to_enemy_warm.reason.startswith("warm")


def test_the_stronger_the_feeling_the_worse_the_misfit() -> None:
    fits = [fit_of(facing(level))(["I hate you."])[0].value for level in (0, 2, 5, 10)]
    assert fits == sorted(fits, key=lambda fit: -(fit or 0)) and fits[0] == 1 and len(set(fits)) == 4


def test_a_plain_line_fits_anybody() -> None:
    assert [fit_of(facing(level))(["The tide is out."])[0].value for level in (-10, 10)] == [1, 1]


def test_without_a_feeling_or_somebody_faced_there_is_a_reason(story: Path) -> None:
    (score,) = fit_of(Situation(Persona("Ines")))(["Hello."])
    assert score.value is None and "before whom" in score.reason
    (score,) = fit_of(Situation(Persona("Ines"), faced=Other("Mara")))(["Hello."])
    assert score.value is None and "Mara" in score.reason
    opened = read(story)
    for moment, cold_fits in (("1.2", False), ("2.1.1", True)):  # 7 at first, then -6
        (score,) = fit_of(situation_at(opened, "Ines", moment, "Tobias"))(["Go away, liar."])
        assert score.value is not None and (score.value == 1) is cold_fits


@given(st.text(max_size=60), st.integers(-10, 10), st.sampled_from(["en", "ja", "zh"]))
def test_any_line_scores_between_nothing_and_one(line: str, level: int, language: str) -> None:
    (score,) = fit_of(facing(level, language))([line])
    assert (score.value is None and "no words" in score.reason) or 0 <= (score.value or 0) <= 1
