from __future__ import annotations

from understudy.story.tie_terms import gender_of, plain_term, plural_terms, terms


def test_a_word_says_what_somebody_is_and_of_whom_it_is_said() -> None:
    assert (terms()["wife"].kind, gender_of("wife")) == ("spouse", "female")
    assert gender_of("ex-husband") == "male" and gender_of("cousin") is None and gender_of("tide") is None
    assert terms()["sons"].is_plural and plural_terms()["sons"] == "child"


def test_only_kin_have_a_plain_word() -> None:
    assert plain_term("parent", "male") == "father" and plain_term("parent", "female") == "mother"
    assert plain_term("parent", None) == plain_term("friend", "male") == ""
    assert all(gender_of(plain_term(kind, "female")) == "female" for kind in ("spouse", "child", "sibling"))
