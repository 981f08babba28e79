from __future__ import annotations

import pytest

from understudy.story.macros import fill_macros


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
