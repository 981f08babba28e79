from __future__ import annotations

from understudy.agents.word_tokens import END, MARKERS, START, UNKNOWN, TokenVocabulary, read_tokens


def test_tokens_joined_by_blanks_are_the_text_as_personachat_writes_it() -> None:
    said = "that's awesome . do you like 6th-grade books ? i'm in !"
    assert " ".join(read_tokens("That’s awesome. Do you like 6th-grade books? I'm in!")) == said.replace("-", " - ")
    assert read_tokens(" ".join(read_tokens(said))) == read_tokens(said)


def test_words_are_in_order_of_frequency_and_rare_ones_unknown() -> None:
    vocabulary = TokenVocabulary.of_texts(["the key .", "the boat .", "the key ?"], fewest=2)
    assert vocabulary.words == ("the", ".", "key")
    assert vocabulary.ids("the boat ?")[1:] == (UNKNOWN, UNKNOWN)
    assert vocabulary.text(vocabulary.ids("The key.")) == "the key ."


def test_no_text_contains_a_special_token() -> None:
    vocabulary = TokenVocabulary(["s", "unk", "pad", "/"])
    assert not {START, END, *MARKERS.values()} & set(vocabulary.ids("<s> </s> <pad> <me> <profile>"))


def test_a_context_has_the_profiles_then_the_turns() -> None:
    vocabulary = TokenVocabulary(["sail", "bake", "hello", "you"])
    context = vocabulary.context(["sail"], ["bake"], [(False, "hello"), (True, "you")], 50)
    assert vocabulary.text(context) == "<s> <profile> sail <partner> bake <you> hello <me> you"


def test_a_context_that_is_too_long_loses_its_oldest_turns() -> None:
    vocabulary = TokenVocabulary(["sail", "bake", "hello", "you"])
    turns = [(False, "hello " * 30), (True, "you")]
    context = vocabulary.context(["sail"], [], turns, 12)
    assert len(context) == 12
    assert vocabulary.text(context).startswith("<s> <profile> sail hello")
    assert vocabulary.text(context).endswith("<me> you")
    long_profile = vocabulary.context(["sail bake"] * 20, [], turns, 12)
    assert len(long_profile) == 12
    assert vocabulary.text(long_profile).endswith("<me> you")
