"""Descriptions as people write them for chat programs: lists in several notations, talk, prose; and hostile text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.formats.cards.profiles import Trait, parse_profile


def is_mira(label: str) -> bool:
    return label.casefold() in ("mira", "mira vale", "{{char}}")


def traits(text: str) -> list[tuple[str, ...]]:
    return [(trait.attribute, *trait.values) for trait in parse_profile(text, is_mira).traits]


LISTED = [
    ("character", "stubborn", "kind"),
    ("age", "23"),
    ("hobby", "black tea", "the sea (at night)"),
    ("species of cat", "tabby"),
]


@pytest.mark.parametrize(
    "text",
    [
        '[Character("Mira Vale")\n{\nPersonality("Stubborn" + "Kind")\nAge("23")\n'
        'Likes("black tea" + "the sea (at night)")\nSpecies of cat("tabby")\n}]',
        'Character("Mira") { Personality("stubborn"+"kind") Age("23") '
        "Likes(“black tea” + “the sea (at night)”) Species of cat(“tabby”) }",
        '[Character: "Mira"; Personality: "stubborn" + "kind"; Age: "23"; Likes: "black tea", "the sea (at night)"; '
        'Species of cat: "tabby"]',
        "[Mira: stubborn, kind; age: 23; likes: black tea, the sea(at night); species of cat: tabby]",
        "[Name = Mira Vale\nPersonality = stubborn, kind\nAge = 23\nLikes = black tea, the sea (at night)\n"
        "Species of cat = tabby]",
        "[Mira's personality: stubborn, kind; Mira's age: 23; Mira’s likes: black tea, the sea (at night); "
        "Mira's species of cat: tabby]",
        "[{{char}}'s personality: stubborn, kind] [{{char}}'s age: 23] [{{char}}'s likes: black tea, "
        "the sea (at night)] [{{char}}'s species of cat: tabby]",
    ],
)
def test_the_notations_say_the_same(text: str) -> None:
    assert traits(text) == LISTED
    assert not any(letter.isalnum() for letter in parse_profile(text, is_mira).prose)


def test_lines_of_keys_that_are_known() -> None:
    profile = parse_profile("Name: Mira\n- **Age:** 23\n* Likes: rain, tea\nShe keeps a lamp.\nNote: short.", is_mira)
    assert [(trait.attribute, *trait.values) for trait in profile.traits] == [("age", "23"), ("hobby", "rain", "tea")]
    assert profile.prose.split("\n") == ["She keeps a lamp.", "Note: short."]


def test_what_is_said_of_another_is_not_said_of_the_character() -> None:
    text = '[Character("Mira") { Age("23") }] [Character("Tovey") { Age("9") }] [Osk: grey, slow; age: 60]'
    assert parse_profile(text, is_mira).traits == (
        Trait("age", ("23",)),
        Trait("age", ("9",), "Tovey"),
        Trait("character", ("grey", "slow"), "Osk"),
        Trait("age", ("60",), "Osk"),
    )


@pytest.mark.parametrize(
    "prose",
    [
        'Mira keeps the lamp (the old one) and says "no" a lot.',
        "[System note: stay in character; Style: vivid]",
        "[Write in the third person.]",
        "See [the map](https://example.org/map).",
        "She is 23: old enough.\nHer rule: never look down.",
        "Age: She does not tell. Nobody asks.\nLikes: It depends. Rain, mostly.",
        'She called out ("Mira!") and ran.',
        "{{user}} is her brother; she is fond of {{user}}.",
        "",
    ],
)
def test_prose_stays_prose(prose: str) -> None:
    profile = parse_profile(prose, is_mira)
    assert (profile.traits, profile.prose, profile.talk) == ((), prose, "")


def test_talk_in_a_description_is_talk() -> None:
    text = "She keeps a lamp.\n<START>\n{{user}}: Your age?\nMira: Twenty-three.\n[Mira: shy; clothes: oilskin]"
    profile = parse_profile(text, is_mira)
    assert profile.prose == "She keeps a lamp.\n"
    assert profile.talk.strip() == "<START>\n{{user}}: Your age?\nMira: Twenty-three."
    assert [trait.attribute for trait in profile.traits] == ["character", "clothes"]
    assert parse_profile("{{user}}: Your age?\nMira: None.", is_mira).prose == ""


PIECES = st.sampled_from(
    ['"', "“", "(", ")", "[", "]", "{", "}", "{{user}}", "{{char}}", "<START>", "+", ";", ":", ",", "\n", "=", "Age",
     "Mira", "Mira's ", "Personality", " ", "a b", "．", "\ud800"]
)  # fmt: skip


@given(text=st.text() | st.lists(PIECES, max_size=40).map("".join))
def test_any_text_is_taken_apart_and_no_word_is_invented(text: str) -> None:
    profile = parse_profile(text, is_mira)
    lowered = text.lower()
    for trait in profile.traits:
        assert trait.attribute
        assert trait.values
        for value in trait.values:
            assert all(word in lowered for word in value.lower().replace("(", " ").split())
    assert len(profile.prose) + len(profile.talk) <= len(text) + 1


@pytest.mark.parametrize(
    "text",
    ["(" * 200_000, '("' * 100_000, '[a:"' * 100_000, "[" * 200_000, 'Age("1")' * 40_000, "[Mira: a;" * 40_000,
     "Age: 1\n" * 50_000, "“" * 200_000, "x" + " " * 200_000 + ":", "a(" * 100_000 + ")" * 100_000, "'s " * 100_000,
     "[" + "k: v;" * 50_000 + "]", "[" * 50_000 + "Mira: a" + "]" * 50_000],
)  # fmt: skip
def test_hostile_text_is_read_in_the_end(text: str) -> None:
    parse_profile(text, is_mira)
