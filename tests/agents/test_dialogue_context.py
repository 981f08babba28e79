from __future__ import annotations

import pytest

from understudy.agents.dialogue_context import meant_by_last, repeats, said_sentences
from understudy.story.dialogue import Turn
from understudy.story.persona import Persona

ZITA = Persona("Zita")


def chat(*texts: str) -> list[Turn]:
    """Pia and Zita in turn, Pia first."""
    return [Turn("Zita" if number % 2 else "Pia", text) for number, text in enumerate(texts)]


@pytest.mark.parametrize("bare", ["Why?", "But why not?", "How so?", "What do you mean by that?", "なぜ？", "为什么？"])
def test_a_bare_question_means_what_was_said_before_it(bare: str) -> None:
    assert meant_by_last(ZITA, chat("Do you trust him?", "No. He lied.", bare)) == "Do you trust him? No. He lied."
    assert meant_by_last(ZITA, chat(bare)) == bare


@pytest.mark.parametrize("message", ["Why did he lie?", "How do you do?", "", "I know why."])
def test_a_whole_question_means_itself(message: str) -> None:
    assert meant_by_last(ZITA, chat("Do you trust him?", "No.", message)) == message


def test_a_sentence_is_known_again_but_yes_and_no_may_come_twice() -> None:
    said = said_sentences(ZITA, chat("Do you?", "Yes. I never left the quay.", "I saw Mr. Ould."))
    assert repeats("No. I never left the QUAY!", said)
    assert not repeats("Yes. I left it.", said) and not repeats("I saw Mr. Ould.", said), "that was Pia"
