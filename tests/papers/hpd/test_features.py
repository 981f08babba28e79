"""The features of replies, group by group: each says what it is meant to say."""

from __future__ import annotations

import math

import numpy as np
import pytest

from understudy.agents.word_tokens import roots
from understudy.papers.hpd.choice_model import feature_groups
from understudy.papers.hpd.features import (
    ATTRIBUTES,
    NAMES_SAID,
    RELATIONS,
    SHARED_WORDS,
    FeatureGroup,
    Meaning,
    feature_rows,
    features_of,
    rarity,
)
from understudy.papers.hpd.own_text import OWN_TEXT
from understudy.papers.hpd.sessions import CANDIDATES, withhold
from understudy.story.dialogue import Example, Situation, Turn
from understudy.story.persona import Other, Persona
from understudy.story.types import Moment, Relation


def question(*candidates: str, language: str = "en", affection: int = 0, kind: str = "friend") -> Example:
    ties = (
        Relation("Wren", "Moss", "affection", affection, Moment((1,), ("book",))),
        Relation("Wren", "Moss", kind, None, Moment((1,), ("book",))),
    )
    moss = Other("Moss", ("Moss is a captain.",), ties)
    persona = Persona("Wren", profile=("I own a brass whistle.",), relations=ties, language=language)
    situation = Situation(persona, "Moss looks for the lantern near the stairs.", moss, (moss,))
    history = (Turn("Wren", "Good morning."), Turn("Moss", "Have you seen my old lantern, Wren?"))
    return Example(situation, history, candidates, frozenset({0}))


def value(group: FeatureGroup, name: str, example: Example) -> list[float]:
    column = [feature.name for feature in group.features].index(name)
    return [float(number) for number in group.values(example)[:, column]]


def test_what_a_reply_gives_away_by_itself() -> None:
    example = question("Yes, I know.", "He said nothing and they walked away", "I -I can't ... isn't it?", "so what?No")
    assert value(OWN_TEXT, "begins_with_answer", example) == [1, 0, 0, 0]
    assert value(OWN_TEXT, "narrates", example) == [0, 1, 0, 0]
    assert value(OWN_TEXT, "trails_off", example) == [0, 0, 1, 0]
    assert value(OWN_TEXT, "broken_spacing", example) == [0, 0, 1, 1]
    assert value(OWN_TEXT, "no_end_mark", example) == [0, 1, 0, 1]
    assert value(OWN_TEXT, "says_i", example) == [1, 0, 1, 0]
    assert value(OWN_TEXT, "words", example)[0] == pytest.approx(math.log(4))
    chinese = question("不，谢谢你。", "他说完就走了……", language="zh")
    assert value(OWN_TEXT, "begins_with_answer", chinese) == [1, 0]
    assert value(OWN_TEXT, "thanks", chinese) == [1, 0]
    assert value(OWN_TEXT, "narrates", chinese) == [0, 1]
    assert value(OWN_TEXT, "trails_off", chinese) == [0, 1]


def test_shared_words_weigh_what_they_are_rare_and_names_of_those_present_nothing() -> None:
    example = question("The lanterns hang on the stairs.", "Moss, Moss, Moss!", "Nothing of that.")
    both = rarity("lantern") + rarity(next(iter(roots("stairs"))))
    assert value(SHARED_WORDS, "shared_with_scene", example) == pytest.approx([math.sqrt(both), 0, 0])
    assert value(SHARED_WORDS, "shared_with_dialogue", example) == pytest.approx([math.sqrt(rarity("lantern")), 0, 0])
    assert rarity("lantern") > rarity("good")


def test_two_words_together_are_shared_if_one_of_them_means_something() -> None:
    pairs = value(SHARED_WORDS, "shared_pairs", question("My old lantern!", "Have you a lantern?", "the old one"))
    assert pairs == pytest.approx([math.sqrt(2), 0, 0])  # 'my old', 'old lantern'; 'have you' means nothing


def test_who_calls_out_their_own_name_or_speaks_of_the_one_before_them() -> None:
    example = question(
        "Wren, come here!", "I am Wren.", "Well, Moss, no.", "I told Moss that.", "Ask my friend Tybalt."
    )
    assert value(NAMES_SAID, "own_name", example) == [1, 0, 0, 0, 0]
    assert value(NAMES_SAID, "calls_present", example) == [0, 0, 1, 0, 0]
    assert value(NAMES_SAID, "speaks_of_present", example) == [0, 0, 0, 1, 0]
    assert value(NAMES_SAID, "strange_names", example) == [0, 0, 0, 0, 1]


def test_tone_counts_by_what_is_felt_for_the_one_faced() -> None:
    replies = ("I love you, dear friend.", "I hate you, you fool.")
    liked, hated = (value(RELATIONS, "tone_fits", question(*replies, affection=level)) for level in (8, -8))
    assert liked[0] > 0 > liked[1]
    assert hated == [-liked[0], -liked[1]]
    assert value(RELATIONS, "tone_fits", question(*replies)) == [0, 0]


def test_an_address_fits_the_tie() -> None:
    replies = ("Yes, sir.", "Yes, uncle.", "Yes.")
    assert value(RELATIONS, "address_fits", question(*replies, kind="teacher")) == [1, -1, 0]
    assert value(RELATIONS, "address_fits", question(*replies, kind="family")) == [-1, 1, 0]


def test_attributes_tell_titles_and_belongings() -> None:
    example = question("My whistle!", "Yes, captain.", "Yes, professor.")
    assert value(ATTRIBUTES, "title_fits", example) == [0, 1, -1]
    assert value(ATTRIBUTES, "shared_with_attributes", example)[0] > 0


def test_a_reply_to_the_point_is_nearer() -> None:
    near = value(Meaning(), "near_all", question("Your lantern hangs on the stairs.", "I have two sons."))
    assert near[0] > near[1]


def test_given_the_candidates_alone_only_their_text_is_left() -> None:
    example = withhold(question("Well, Moss, your lantern.", "Wren said so.", affection=5), CANDIDATES)
    for group in feature_groups():
        values = group.values(example)
        assert values.shape == (2, len(group.features))
        assert group is OWN_TEXT or not values.any()


def test_a_feature_never_depends_on_the_other_candidates() -> None:
    replies = ("Well, Moss, your lantern.", "I have two sons.", "Wren told us ... of the stairs!")
    groups = feature_groups()
    together = feature_rows(groups, [question(*replies)])[0]
    alone = [feature_rows(groups, [question(reply)])[0][0] for reply in replies]
    np.testing.assert_allclose(together, alone, atol=1e-9)
    assert together.shape[1] == len(features_of(groups))
