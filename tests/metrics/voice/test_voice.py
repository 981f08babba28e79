from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import measured
import realdata
from understudy.metrics import Samples
from understudy.metrics.statistics import average_precision, calibration_error, spearman
from understudy.metrics.voice import Contrast, VoiceCast, VoiceSpread, voice, voice_spread
from understudy.metrics.voice.model import shipped_voice_model
from understudy.papers.utterance_metrics.bench import judged_in

SAMPLES = Samples(measured.novel(1, 40), "ja")


def test_each_character_sounds_most_like_themselves() -> None:
    cast = VoiceCast(SAMPLES)
    later = measured.novel(2, 12)
    means = {
        name: {other: voice(SAMPLES, name, cast).values(SAMPLES.tokenize(said)).mean() for other, said in later.items()}
        for name in later
    }
    for name, scores in means.items():
        assert max(scores, key=scores.__getitem__) == name
        assert 0 <= min(scores.values()) <= max(scores.values()) <= 1


def test_a_score_depends_on_its_own_line_alone_and_says_what_made_it() -> None:
    metric = voice(SAMPLES, "ゴンタ")
    rough, polite = metric(["俺は料理なんか怖くねえぞ。", "わたくしは料理を存じませんわ。"])
    assert metric(["わたくしは料理を存じませんわ。"])[0] == polite
    assert rough.value is not None and polite.value is not None
    assert rough.value > 0.5 > polite.value
    assert rough.reason.startswith("for: ") and "俺" in rough.reason
    assert "against: " in polite.reason and "わたくし" in polite.reason


def test_without_evidence_there_is_no_score_but_a_reason() -> None:
    few = Samples({"ゴンタ": ["俺だ。", "行くぜ。"], "サヨ": measured.novel(1)["サヨ"]}, "ja")
    assert voice(few, "ゴンタ")(["俺だ。"])[0].value is None
    assert "has 2 sample lines" in voice(few, "ゴンタ")(["俺だ。"])[0].reason
    assert "has no sample lines" in voice(SAMPLES, "誰か")(["俺だ。"])[0].reason
    assert voice(SAMPLES, "サヨ")(["……"])[0].reason == "the line has no words"
    alone = Samples({"Ines": ["Aye, the key is on its hook."] * 30})
    assert "nobody but Ines" in voice(alone, "Ines")(["Aye."])[0].reason


def test_other_languages_are_heard_against_the_rest_of_the_cast() -> None:
    ines = [f"Aye, the {thing} is yours, lad." for thing in ("key", "boat", "lamp", "rope")] * 6
    mara = [f"Oh dear, where is my {thing}?" for thing in ("key", "boat", "lamp", "rope")] * 6
    hers, not_hers = voice(Samples({"Ines": ines, "Mara": mara}), "Ines")(["Aye, lad, the rope.", "Oh dear, the rope."])
    assert hers.value is not None and not_hers.value is not None
    assert hers.value > 0.5 > not_hers.value
    assert "aye" in hers.reason


def test_a_lone_japanese_character_is_heard_against_the_cohort() -> None:
    alone = Samples({"ゴンタ": measured.novel(1)["ゴンタ"]}, "ja")
    rough, polite = (
        voice(alone, "ゴンタ").values(alone.tokenize(["俺に任せろ、行くぜ！", "お願いいたしますわ。"])).tolist()
    )
    assert rough > polite


def test_the_shipped_voice_model_is_whole() -> None:
    ear = shipped_voice_model()
    assert np.allclose(np.linalg.norm(ear.cohort, axis=1), 1, atol=1e-3)
    assert (ear.rates > 0).all() and (ear.rates < 1).all()
    assert sum(ear.first_person.values()) == pytest.approx(1, abs=0.02)


def test_people_agree_with_it_about_characters_it_was_not_trained_on() -> None:
    data = realdata.folder("personaclr")
    correlations, precisions = [], []
    load = cache(Samples.load)
    cast = cache(VoiceCast)
    for judged in judged_in(data / "evaluation", data):
        samples = load(judged.novel)
        values = voice(samples, judged.character, cast(samples)).values(samples.tokenize(judged.replies))
        correlations.append(spearman(values, judged.scores))
        precisions.append(average_precision(-values, judged.unfit))
    assert len(correlations) == 12
    assert np.mean(correlations) > 0.58
    assert np.mean(precisions) >= 0.75


def _lines(words: str, own: str, count: int, seed: int) -> list[str]:
    """Lines of common words in which one of the speaker's own comes up now and then."""
    rng = np.random.default_rng(seed)
    common, special = words.split(), own.split()
    return [
        " ".join([*rng.choice(common, 5), *(rng.choice(special, 1) if rng.random() < 0.5 else [])])
        for _ in range(count)
    ]


COMMON = "the boat is out and we go home with you today"
MANNERS = {"Ines": "aye lad harbour", "Tobias": "perhaps rather quite", "Mara": "oh dear goodness"}


def test_later_lines_are_told_apart_and_the_probability_can_be_believed() -> None:
    samples = Samples({name: _lines(COMMON, own, 300, seed) for seed, (name, own) in enumerate(MANNERS.items())})
    values, own = [], []
    for name in MANNERS:
        contrast = Contrast(samples, name)
        for seed, (other, manner) in enumerate(MANNERS.items(), 10):
            values.append(contrast.values(samples.tokenize(_lines(COMMON, manner, 300, seed))))
            own.append(np.full(300, other == name))
    scores, is_own = np.concatenate(values), np.concatenate(own)
    assert scores[is_own].mean() > scores[~is_own].mean() + 0.15
    weights = np.where(is_own, 1.0, 0.5)
    assert np.average(scores, weights=weights) == pytest.approx(0.5, abs=0.05), "own and others count alike"
    assert calibration_error(scores, is_own, weights) < 0.12
    assert calibration_error(scores > 0.5, is_own, weights) > 0.2, "a bare yes or no is believed too much"


def test_words_that_nobody_has_said_count_nothing() -> None:
    samples = Samples({name: _lines(COMMON, own, 60, seed) for seed, (name, own) in enumerate(MANNERS.items())})
    contrast = Contrast(samples, "Ines")
    lines = samples.tokenize(["aye boat", "aye boat zyzzyva", "zyzzyva", "perhaps boat"])
    aye, with_unknown, unknown, perhaps = contrast.values(lines).tolist()
    assert aye == with_unknown > unknown > perhaps
    assert contrast.telling(lines, 1)[0][0] == "aye"
    assert "zyzzyva" not in dict(contrast.telling(lines, 1))


def test_of_people_who_talk_alike_there_is_no_voice() -> None:
    alike = [f"We saw the {thing} by the sea." for thing in ("boat", "gull", "rope", "mast", "tide")] * 8
    (score,) = voice(Samples({"Ann": alike, "Ben": alike[::-1]}), "Ann")(["We saw the boat."])
    assert score.value is None
    assert "not told from those of others" in score.reason and "psprob-weighted" in score.reason


SEA = [
    "Aye, the tide is out.",
    "Mind the mast, lad.",
    "Aye, we sail at noon.",
    "The wind is fair, lad.",
    "Haul the sail.",
]
TOWN = [
    "Pass the ledger, please.",
    "The account is overdue.",
    "Sign here, please.",
    "The bank opens at nine.",
    "Thank you.",
]


@pytest.fixture(scope="module")
def samples() -> Samples:
    return Samples(
        {
            "Gull": [f"{line} {n}" for n in range(8) for line in SEA],
            "Clerk": [f"{line} {n}" for n in range(8) for line in TOWN],
        }
    )


def test_a_line_in_ones_own_voice_is_among_the_own_lines_and_anothers_is_below_them(samples: Samples) -> None:
    spread = voice_spread(samples, "Gull")
    assert spread is not None and len(spread.values) == 40
    own, other = (
        score.value for score in voice(samples, "Gull")(["Aye, mind the sail, lad.", "Sign the ledger, please."])
    )
    assert own is not None and other is not None
    assert spread.percentile(own) > 0.2 > 0.02 > spread.percentile(other)
    assert other < spread.quantile(0.05) <= spread.mean


def test_own_lines_are_scored_as_if_they_had_not_been_heard(samples: Samples) -> None:
    spread = voice_spread(samples, "Clerk")
    assert spread is not None
    heard = voice(samples, "Clerk").values(samples.tokenize(samples.lines("Clerk")))
    assert spread.mean <= float(heard.mean())


def test_where_voice_has_no_value_there_is_no_spread() -> None:
    assert voice_spread(Samples({"Gull": SEA, "Clerk": TOWN}), "Gull") is None
    assert voice_spread(Samples({"Clerk": TOWN}), "Gull") is None


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40), st.floats(0, 1), st.floats(0, 1))
def test_percentiles_rise_with_the_value_from_0_to_1(values: list[float], one: float, other: float) -> None:
    spread = VoiceSpread(np.sort(np.array(values)))
    low, high = sorted((one, other))
    assert 0.0 <= spread.percentile(low) <= spread.percentile(high) <= 1.0
    assert spread.percentile(-1.0) == 0.0 and spread.percentile(2.0) == 1.0
    assert min(values) <= spread.quantile(0.05) <= max(values)
