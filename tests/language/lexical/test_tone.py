from __future__ import annotations

import pytest

from understudy.errors import InputError
from understudy.language.lexical.tone import tone_of


def test_a_negation_turns_a_word() -> None:
    assert tone_of("I am glad.").value > 0 > tone_of("I am not glad.").value
    assert tone_of("I don't hate it.").value > 0


def test_whole_words_only_and_the_words_are_told() -> None:
    assert tone_of("A hateful dogma.").value == 0
    assert tone_of("Thank you, you liar.").warm == ("thank you",)


def test_a_language_without_words() -> None:
    with pytest.raises(InputError, match="fr"):
        tone_of("Bonjour", "fr")
