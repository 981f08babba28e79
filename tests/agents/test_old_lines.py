from __future__ import annotations

from pathlib import Path

import pytest

from understudy.agents.encoder import EncoderAgent
from understudy.agents.old_lines import OldLines, RecalledDraft
from understudy.agents.word_tokens import roots
from understudy.formats import read
from understudy.story.dialogue import Draft, Drafter, Situation, Turn, situation_at
from understudy.story.persona import Other, Persona
from understudy.story.storyfile import Story
from understudy.story.types import Moment, Relation
from understudy.text import sentences

OLD = OldLines(EncoderAgent())


@pytest.fixture(scope="module")
def demo() -> Story:
    return read("demo")


def offered(situation: Situation, message: str) -> list[Draft]:
    name = situation.faced.name if situation.faced else "You"
    drafts, usage = OLD.drafts(situation, (Turn(name, message),))
    assert usage.calls == 0
    return sorted(drafts, key=lambda draft: -draft.relevance if isinstance(draft, RecalledDraft) else 0.0)


def test_it_is_a_drafter() -> None:
    assert isinstance(OLD, Drafter)


def test_own_lines_and_their_sentences_come_with_where_they_are_from(demo: Story) -> None:
    drafts = offered(situation_at(demo, "Zita Karst", "1.2", "Pia Lenk"), "Who took the Verrano draft?")
    own = [draft for draft in drafts if draft.source == "exchange"]
    assert own[0].text.startswith("A man in a grey hat cashed the draft.")
    assert own[0].moment is not None and own[0].evidence[0].kind == "exchange"
    assert any(draft.text == "A man in a grey hat cashed the draft." for draft in own)


def test_what_was_heard_is_told_as_somebody_elses(demo: Story) -> None:
    drafts = offered(situation_at(demo, "Zita Karst", "1.4.2", "Ignace Bohm"), "Where is the bill of health now?")
    heard = [draft.text for draft in drafts if draft.source == "memory"]
    assert heard[0].startswith("Casimir Ould said: The bill of health went to the city")


def test_names_are_given_where_they_are_asked_for(demo: Story) -> None:
    benedek = situation_at(demo, "Danilo Reuss", "1.2", "Zita Karst")
    assert offered(benedek, "What is your name, sir?")[0].text == "My name is Aurel Benedek."
    zita = situation_at(demo, "Zita Karst", "2.2", "Magda Lenk")
    assert offered(zita, "Who is Sparrow?")[0].text == "Sparrow is Pia Lenk."
    assert offered(situation_at(demo, "Zita Karst", "3.3.2", "Magda Lenk"), "Who is Sparrow?")[0].text in (
        "I am Sparrow.",
        "Sparrow is Pia Lenk.",
    )


def test_no_profile_sentence_is_offered_that_is_kept_from_the_one_faced(demo: Story) -> None:
    benedek = situation_at(demo, "Danilo Reuss", "2.3", "Zita Karst")
    assert benedek.secrets
    assert not {draft.text for draft in offered(benedek, "Did you write it?")} & set(benedek.secrets)


def test_ties_are_said_to_the_one_faced_and_by_the_name_the_message_uses() -> None:
    to_mara = Relation("Ines", "Mara", "affection", 6, Moment((1,)))
    to_rook = Relation("Ines", "Tobias Rook", "enemy", None, Moment((1,)))
    ines = Situation(
        Persona("Ines", relations=(to_mara, to_rook)),
        faced=Other("Mara", relations=(to_mara,)),
        acquaintances=(Other("Tobias Rook", aliases=("the Keeper",)),),
    )
    assert offered(ines, "Do you like me?")[0].text == "Yes. I am fond of you."
    assert offered(ines, "What do you think of the Keeper?")[0].text == "The Keeper is my enemy."


def test_how_well_somebody_is_known_is_offered_only_to_whoever_asks() -> None:
    ties = tuple(Relation("Ines", "Mara", kind, 5, Moment((1,))) for kind in ("affection", "familiarity"))
    for faced in (None, Other("Mara", relations=ties)):
        ines = Situation(Persona("Ines", relations=ties), faced=faced, acquaintances=(Other("Mara"),))
        known = [draft.text for draft in offered(ines, "Do you know Mara?")]
        assert any("familiar with" in text for text in known)
        assert not any("familiar with" in draft.text for draft in offered(ines, "Tell me about Mara."))


def test_the_profile_tells_sex_and_age_only_to_whoever_asks(demo: Story) -> None:
    haake = situation_at(demo, "Haake", "2.3", "Pia")
    assert "I am a woman." in {draft.text for draft in offered(haake, "Are you a woman?")}
    told = {draft.text for draft in offered(haake, "Are you tired?")}
    assert not told & {"I am a woman.", "I am fifty-one."}


def asked_again(situation: Situation, message: str, answer: str) -> list[str]:
    """What is offered to a message that was answered already."""
    history = (Turn("Pia", message), Turn(situation.persona.name, answer), Turn("Pia", message))
    return [draft.text for draft in OLD.drafts(situation, history)[0]]


def test_no_sentence_is_offered_twice_in_a_chat(demo: Story) -> None:
    zita = situation_at(demo, "Zita", "2.3", "Pia")
    first = next(draft for draft in offered(zita, "Whose letters are they?") if len(sentences(draft.text)) > 1)
    history = [
        Turn("Pia", "Whose letters are they?"),
        Turn(zita.persona.name, first.text),
        Turn("Pia", "Whose letters?"),
    ]
    again = {sentence for draft in OLD.drafts(zita, history)[0] for sentence in sentences(draft.text)}
    long = {sentence for sentence in sentences(first.text) if len(sentence.split()) > 4}
    assert long and not long & again


def test_a_question_that_is_asked_again_gets_its_answer_again(demo: Story) -> None:
    zita = situation_at(demo, "Zita", "2.3", "Pia")
    history = [
        Turn("Pia", "How old are you?"),
        Turn(zita.persona.name, "I am twenty-seven."),
        Turn("Pia", "How old are you?"),
    ]
    assert OLD.drafts(zita, history)[0][0].text == "As I said: Twenty-seven."


def test_the_forms_of_a_word_have_one_root() -> None:
    assert roots("He wrote it") == roots("writing") == roots("written") == roots("to write")
    assert roots("stolen letters") == roots("She steals a letter")


def test_what_only_repeats_the_question_is_no_answer(tmp_path: Path) -> None:
    script = tmp_path / "01x01.txt"
    script.write_text(
        "Scene: The kitchen.\n\nIvo: Who is that?\n\nNora: Pavel!\n\nIvo: Pavel?\n\n"
        "Nora: (to Ivo) Pavel mends my boat.\n\nIvo: Good.\n\nNora: (she nods)\n",
        encoding="utf-8",
    )
    drafts = offered(situation_at(read(script), "Nora", "end"), "Who is Pavel?")
    said = [draft.text for draft in drafts if draft.source == "exchange"]
    assert "Pavel mends my boat." in said, "without the direction"
    assert "Pavel!" not in said and "" not in said


def test_a_part_of_a_name_tells_nothing_of_its_owner(demo: Story) -> None:
    zita = situation_at(demo, "Zita Karst", "2.3", "Danilo Reuss")
    assert offered(zita, "Who is Pia?")[0].text == "Pia and I are on opposite sides."
