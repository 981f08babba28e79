""""""

from __future__ import annotations

import tomllib
from dataclasses import replace
from importlib.resources import files
from string import Formatter
from typing import Any

import pytest

from stories import found_fact, found_tie
from understudy.formats import read
from understudy.story.types import Fact, Moment, Relation, Schema, holding_at
from understudy.story.wording import (
    about_other,
    attribute_label,
    fact_sentence,
    fill_macros,
    gender_of,
    plain_lines,
    plain_term,
    plural_terms,
    speaker_words,
    terms,
    tie_sentence,
    tie_to_faced,
)
from understudy.text import LANGUAGES, guess_language, words

ATTRIBUTES = [name for name in Schema().attributes if name not in {"born", "died"}]
START = Moment((1,))


def sentences(language: str) -> dict[str, Any]:
    return tomllib.loads(
        files("understudy").joinpath("story", "sentences", f"{language}.toml").read_text(encoding="utf-8")
    )


def fact(attribute: str, *values: str) -> Fact:
    return Fact("Tomas", attribute, values, START)


def tie(kind: str, level: int | None = None) -> Relation:
    return Relation("Tomas", "Ines", kind, level, START)


def fields(template: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(template) if name}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_level_has_a_sentence_of_its_own(language: str) -> None:
    said = [
        tie_sentence(tie(kind, level), language)
        for kind, low, high in Schema().levels
        for level in range(low, high + 1)
    ]
    assert len(set(said)) == len(said) == 32
    assert all("Ines" in sentence for sentence in said)


OF_SOME = {"lowered", "last_join", "you", "you_forms"}  # what only some languages need


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_attribute_and_kind_of_the_schema_has_a_sentence(language: str) -> None:
    told = sentences(language)
    assert set(ATTRIBUTES) <= told["own"].keys()
    assert told["own"].keys() | {"died"} == told["other"].keys(), "nobody tells of their own death"
    assert set(Schema().kinds) <= told["kind"].keys()
    assert told.keys() - OF_SOME == sentences("en").keys() - OF_SOME


@pytest.mark.parametrize("language", LANGUAGES)
def test_templates_have_the_places_that_are_filled(language: str) -> None:
    told = sentences(language)
    for table, wanted in (("own", {"value"}), ("other", {"value", "name"}), ("kind", {"name"})):
        for key, template in told[table].items():
            extra = {"own": {"attribute"}, "other": {"attribute"}, "kind": {"kind"}}[table] if key == "any" else set()
            assert fields(template) == wanted | extra, (table, key)


@pytest.mark.parametrize("language", ["ja", "zh"])
def test_sentences_are_in_their_language(language: str) -> None:
    told = [tie_sentence(tie(kind), language) for kind in Schema().kinds]
    told += [fact_sentence(fact(attribute, ""), language) for attribute in ATTRIBUTES]
    assert guess_language("".join(told)) == language


@pytest.mark.parametrize(
    ("attribute", "values", "own", "others"),
    [
        ("belongings", ("the brass key",), "I have the brass key.", "Ines has the brass key."),
        (
            "belongings",
            ("a key", "a lamp", "a map"),
            "I have a key, a lamp and a map.",
            "Ines has a key, a lamp and a map.",
        ),
        ("age", ("17",), "I am 17.", "Ines is 17."),
        ("age", ("age 11",), "I am age 11.", "Ines is age 11."),
        ("title", ("a harbour pilot",), "People know me as a harbour pilot.", "People know Ines as a harbour pilot."),
        (
            "talents",
            ("a good memory.",),
            "If I have a gift, it is a good memory.",
            "If Ines has a gift, it is a good memory.",
        ),
        ("wand", ("holly",), "My wand: holly.", "Ines, wand: holly."),
        ("motto", ("{name} {0}",), "My motto: {name} {0}.", "Ines, motto: {name} {0}."),
    ],
)
def test_facts_in_english(attribute: str, values: tuple[str, ...], own: str, others: str) -> None:
    assert fact_sentence(fact(attribute, *values), "en") == own
    assert about_other(fact(attribute, *values), "Ines", "en") == others


def test_values_are_listed_as_the_language_lists() -> None:
    assert fact_sentence(fact("belongings", "大きな鞄", "手帳"), "ja") == "持っているのは、大きな鞄、手帳。"
    assert fact_sentence(fact("belongings", "行李箱", "手牌"), "zh") == "我有行李箱、手牌。"


def test_ties_in_english() -> None:
    assert tie_sentence(tie("affection", 8), "en") == "I would trust Ines with my life."
    assert tie_sentence(tie("familiarity", 5), "en") == "I am relatively familiar with Ines."
    assert tie_sentence(tie("teacher"), "en") == "Ines is my teacher."
    assert tie_sentence(tie("landlord"), "en") == "Ines is my landlord."


@pytest.mark.parametrize("language", LANGUAGES)
def test_plain_lines_and_words_for_oneself(language: str) -> None:
    assert len(set(plain_lines(language))) > 1
    assert all(words(word, language) == [word] for word in speaker_words(language))


@pytest.mark.parametrize(
    ("language", "of_knowing", "of_liking"),
    [
        ("en", {"met", "know", "known", "strangers", "acquaintance"}, {"close", "like", "love", "dear", "fond"}),
        ("ja", {"会った", "知", "他人", "顔なじみ"}, {"好き", "憎", "仲だ"}),
        ("zh", {"认识", "了解", "熟", "照面"}, {"喜欢", "恨", "至交"}),
    ],
)  # fmt: skip
def test_how_well_liked_and_how_well_known_never_contradict(
    language: str, of_knowing: set[str], of_liking: set[str]
) -> None:
    """Any level of the one may stand beside any of the other, so neither speaks of what the other says."""
    for kind, foreign in (("affection", of_knowing), ("familiarity", of_liking)):
        for level, sentence in sentences(language)[kind].items():
            said = set(words(sentence, "en")) if language == "en" else {one for one in foreign if one in sentence}
            assert not said & foreign, f"{kind} {level}: {sentence}"


@pytest.mark.parametrize("name", ["demo", "demo-ja", "demo-zh"])
def test_nobody_is_friend_and_enemy_at_once(name: str) -> None:
    story = read(name)
    for scene, _, _ in story.outline():
        holding = {tie.key for tie in holding_at(story.relations(), scene)}
        for of, to, kind in holding:
            assert kind != "enemy" or not {(of, to, "friend"), (of, to, "lover")} & holding, (scene.dotted, of, to)


def test_a_tie_is_said_to_the_one_it_is_about() -> None:
    friend = Relation("Ines", "Mara", "friend", None, Moment((1,)))
    assert tie_to_faced(friend, "en") == "You are my friend."
    assert tie_to_faced(replace(friend, kind="affection", level=9), "en") == "I love you with all my heart."
    assert tie_to_faced(friend, "zh") == "你是我的朋友。"
    assert "Mara" in tie_to_faced(friend, "ja"), "there people are called by their name"


def test_a_secret_that_everybody_knows_is_none() -> None:
    secret = Fact("Ines", "secret", ("having sold the key",), Moment((1,)), known_to=("Mara",))
    assert fact_sentence(secret, "en") == "What I keep to myself is having sold the key."
    assert fact_sentence(replace(secret, known_to=None), "en") == "I make no secret of having sold the key."


def test_what_was_found_without_certainty_is_said_so() -> None:
    source = Moment((1, 1, 2))
    wife = found_tie("Chandler", "Monica", "spouse", source, confidence=0.7, term="wife")
    assert tie_sentence(wife, "en") == "Monica seems to be my wife."
    assert tie_sentence(wife, "en", hedged=False) == "Monica is my wife."
    assert tie_sentence(found_tie("A", "Monica", "spouse", source, confidence=0.95, term="wife"), "en") == (
        "Monica is my wife."
    )
    assert tie_to_faced(wife, "en") == "You seem to be my wife."
    friend = found_tie("Chandler", "Monica", "friend", source, confidence=0.7)
    assert tie_sentence(friend, "en") == "It seems that Monica is my friend."
    assert tie_to_faced(friend, "en") == "It seems that you are my friend."
    hobby = found_fact("Chandler", "hobby", "chess", source, confidence=0.7)
    assert fact_sentence(hobby, "en") == "It seems that what I enjoy is chess."
    assert about_other(hobby, "Chandler", "en") == "It seems that what Chandler enjoys is chess."
    profile = found_fact("Chandler", "profile", "I am a nurse", source, confidence=0.7)
    assert fact_sentence(profile, "en") == "It seems that I am a nurse."
    assert fact_sentence(profile, "en", hedged=False) == "I am a nurse."
    assert tie_sentence(found_tie("A", "花", "spouse", source, confidence=0.7, term="妻"), "ja") == "花は妻らしい。"
    assert tie_sentence(found_tie("A", "花", "spouse", source, confidence=0.7, term="妻子"), "zh") == (
        "花好像是我的妻子。"
    )


def test_an_attribute_is_shown_by_an_ordinary_word() -> None:
    assert [attribute_label(name) for name in ("export", "belongings")] == ["expertise", "belongings"]


@pytest.mark.parametrize(
    ("text", "char", "user", "filled"),
    [
        ("{{char}} sees {{user}}.", "Mira", "Tom", "Mira sees Tom."),
        ("{{CHAR}} sees {{ User }}, <BOT> and <user>.", "Mira", "Tom", "Mira sees Tom, Mira and Tom."),
        ("{{user}}'s boat", "Mira", "Tom", "Tom's boat"),
        ("{{user}}'s boat. Is {{user}} well?", "Mira", "", "Your boat. Is you well?"),
        ("{{char}} and {{user}}", "", None, "{{char}} and {{user}}"),
        ("{{char}} and {{user}}", "Mira", None, "Mira and {{user}}"),
        ("a{{// a note }}b{{comment: x}}", "Mira", "Tom", "ab"),
        ("{{random::red, blue}} or {{pick: one,two}}", "Mira", "Tom", "red or one"),
        ("1 < 2 {{unknown}}", "Mira", "Tom", "1 < 2 {{unknown}}"),
        ("{{user}}", "Mira", r"\1 {{char}}", r"\1 {{char}}"),  # a name is text, not a pattern
    ],
)
def test_names_stand_where_macros_stood(text: str, char: str, user: str | None, filled: str) -> None:
    assert fill_macros(text, char, user) == filled


def test_you_in_the_language_of_the_card() -> None:
    assert fill_macros("{{user}}は誰？", "ミラ", language="ja") == "あなたは誰？"


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("The gate sticks, {{user}}.", "The gate sticks."),
        ("Well, <USER>? Speak.", "Well? Speak."),
        ("*She nods.* Come in, {{ user }}", "*She nods.* Come in"),
        ("Tom, {{user}}, and the cat", "Tom, you, and the cat"),
        ("With tea, {{user}}'s boat and rain", "With tea, your boat and rain"),
    ],
)
def test_nobody_is_called_by_a_name_that_they_do_not_have(text: str, filled: str) -> None:
    assert fill_macros(text, "Odi") == filled
    assert "Tom" in fill_macros(text, "Odi", "Tom")


def test_a_word_says_what_somebody_is_and_of_whom_it_is_said() -> None:
    assert (terms()["wife"].kind, gender_of("wife")) == ("spouse", "female")
    assert gender_of("ex-husband") == "male" and gender_of("cousin") is None and gender_of("tide") is None
    assert terms()["sons"].is_plural and plural_terms()["sons"] == "child"


def test_only_kin_have_a_plain_word() -> None:
    assert plain_term("parent", "male") == "father" and plain_term("parent", "female") == "mother"
    assert plain_term("parent", None) == plain_term("friend", "male") == ""
    assert all(gender_of(plain_term(kind, "female")) == "female" for kind in ("spouse", "child", "sibling"))
