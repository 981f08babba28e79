from __future__ import annotations

import pytest

from understudy.agents.direct_answers import direct_answers, people_asked_about, spoken_name, tells_unasked
from understudy.formats import read
from understudy.story.dialogue import Situation, situation_at
from understudy.story.persona import Other, Persona
from understudy.story.storyfile import Story
from understudy.story.types import Finding, Moment, Relation


@pytest.fixture(scope="module")
def demo() -> Story:
    return read("demo")


def answers(story: Story, who: str, at: str, facing: str, message: str) -> list[str]:
    return [draft.text for draft in direct_answers(situation_at(story, who, at, facing), message)]


def test_an_attribute_is_told_when_it_is_asked_for_and_only_then(demo: Story) -> None:
    assert "Twenty-seven." in answers(demo, "Zita", "2.3", "Pia", "How old are you?")
    assert answers(demo, "Zita", "2.3", "Pia", "How old is the Prior?") == []
    assert "I am the smoker of letters on the Comma." in answers(demo, "Zita", "2.3", "Pia", "What do you do here?")


def test_the_answer_is_that_of_the_moment(demo: Story) -> None:
    assert answers(demo, "Zita", "2.3", "Pia", "Do you trust the Prior?") == ["No. I despise the Prior."]
    assert answers(demo, "Zita", "3.4.4", "Pia", "Do you trust the Prior?")[0].startswith("Yes. I love the Prior")


def test_a_tie_to_the_one_faced_is_said_to_their_face(demo: Story) -> None:
    assert answers(demo, "Zita", "2.3", "Pia", "Do you like me?") == ["No. I cannot stand you."]
    assert answers(demo, "Zita", "3.4.4", "Pia", "Are you my friend?") == ["Yes. You are my friend."]


def test_the_false_name_is_given_to_those_who_know_no_other(demo: Story) -> None:
    assert answers(demo, "Danilo Reuss", "2.3", "Zita", "What is your name?") == ["Aurel Benedek."]
    assert answers(demo, "Danilo Reuss", "2.3", "Gudrun Haake", "What is your name?") == ["Danilo Reuss."]


def test_a_question_turned_round_gets_the_other_answer(demo: Story) -> None:
    assert answers(demo, "Gudrun Haake", "1.3", "Zita", "Do you hate the Prior?")[0].startswith("Yes.")
    assert answers(demo, "Gudrun Haake", "1.3", "Zita", "Do you like the Prior?")[0].startswith("No.")


@pytest.mark.parametrize(
    "message",
    ["Why do you hate me?", "When did you meet the Prior?", "Tell me a story.", "", "What would you say of me?"],
)
def test_what_ties_do_not_tell_is_left_to_others(demo: Story, message: str) -> None:
    assert answers(demo, "Zita", "2.3", "Pia", message) == []


def test_people_are_found_by_the_longest_of_their_names(demo: Story) -> None:
    situation = situation_at(demo, "Zita", "2.3", "Pia")
    people = people_asked_about(situation, "Do you know Captain Haake and the Prior?")
    assert sorted(other.name for other in people) == ["Casimir Ould", "Gudrun Haake"]


def test_somebody_is_called_what_the_character_calls_them(demo: Story) -> None:
    situation = situation_at(demo, "Zita", "2.3", "Pia")
    by_name = {other.name: other for other in situation.acquaintances}
    assert spoken_name(situation, by_name["Casimir Ould"]) == "the Prior"
    assert spoken_name(situation, by_name["Gudrun Haake"]) == "the Captain"
    assert spoken_name(situation, Other("Nobody Known")) == "Nobody Known"


@pytest.mark.parametrize(("level", "begins"), [(8, "Yes."), (1, "I "), (-8, "No.")])
def test_yes_or_no_follows_the_level(level: int, begins: str) -> None:
    tie = Relation("Ines", "Tobias", "affection", level, Moment.end())
    situation = Situation(Persona("Ines", relations=(tie,)), acquaintances=(Other("Tobias"),))
    assert next(d.text for d in direct_answers(situation, "Do you like Tobias?")).startswith(begins)


@pytest.mark.parametrize(
    ("setting", "answer"),
    [
        ("The wharf at dawn", ["The wharf at dawn."]),
        ("The smoke room, at night.", ["The smoke room."]),
        ("The wharf of the Comma, the first of October, morning", ["The wharf of the Comma."]),
        ("The gallery outside the foul infirmary, the ninth of October", ["The gallery outside the foul infirmary."]),
        ("Ines's lodging, the same night", ["Ines's lodging."]),
        ("Ines and the Prior sit in the Prior's lodging, late.", ["In the Prior's lodging."]),
        ("Tom and Ines sit in the boathouse and drink tea.", ["In the boathouse."]),
        ("In the old lighthouse on the cliff, late in the evening.", ["In the old lighthouse on the cliff."]),
        ("Ines and Tom are alone in the smoke room. Tom is angry.", ["In the smoke room."]),
        ("You meet Ines at the harbour in the evening.", ["At the harbour in the evening."]),
        (
            "It is night. Rain beats on the shutters of the smoke room.",
            ["Rain beats on the shutters of the smoke room."],
        ),
        ("The wharf at dawn\nIt is cold.\nYou are now under the fig tree.", ["Under the fig tree."]),
        ("The foul gate, noon\nTom is angry at the Prior. It rains.", ["The foul gate."]),
        ("Tom looks at the letter.", []),
        ("The old man is dying.", []),
        ("It is the small hours.", []),
        ("INT. KITCHEN - DAY", []),
        ("", []),
    ],
)
def test_the_place_is_that_of_the_setting(setting: str, answer: list[str]) -> None:
    situation = Situation(Persona("Ines"), setting, Other("Tom"), acquaintances=(Other("Casimir", aliases=("Prior",)),))
    assert [draft.text for draft in direct_answers(situation, "Where are we?")] == answer
    assert [draft.text for draft in direct_answers(situation, "Where are you now?")] == answer
    assert direct_answers(situation, "Where are you from?") == []


def test_other_languages_are_left_to_others() -> None:
    assert (
        direct_answers(Situation(Persona("Ines", attributes={"age": ("40",)}, language="ja")), "How old are you?") == []
    )


def test_whoever_gave_a_name_is_known_by_it() -> None:
    situation = Situation(Persona("Ines"))
    earlier = ["I'm Tom, a sailor off the mail boat. How do you do?"]
    assert [d.text for d in direct_answers(situation, "Do you remember what my name is?", earlier)] == ["You are Tom."]
    (unknown,) = direct_answers(situation, "Do you remember what my name is?")
    assert unknown.text == "You have not told me your name."
    assert direct_answers(situation, "Do you remember me?") == []


def test_what_somebody_has_against_another_is_no_belonging(demo: Story) -> None:
    assert answers(demo, "Gudrun Haake", "1.3", "Zita", "What have you got against the Prior?") == []
    assert answers(demo, "Gudrun Haake", "1.3", "Zita", "What have you got with you?") != []


def test_questions_about_the_family_are_answered_from_its_ties() -> None:
    def tie(to: str, kind: str, term: str) -> Relation:
        found = Finding(0.7, (Moment((1, 1, 1)),))
        return Relation("Ines", to, kind, None, Moment((1,)), term=term, found=found)

    ties = (tie("Mara", "sibling", "sister"), tie("Tobias", "spouse", "husband"))
    ines = Situation(
        Persona("Ines", relations=ties), faced=Other("Mara", relations=ties[:1]), acquaintances=(Other("Tobias"),)
    )

    def answered(message: str) -> list[str]:
        return [draft.text for draft in direct_answers(ines, message)]

    assert answered("Are you married?") == ["Yes. Tobias is my husband."]
    assert answered("Who is your husband?") == ["Tobias is my husband."]
    assert answered("Do you have any brothers or sisters?") == ["Yes. You are my sister."]
    assert answered("Have you got any children?") == [], "nothing is known of it"


@pytest.mark.parametrize(
    ("message", "text", "is_unasked"),
    [
        ("How are you?", "I am a woman, Pia.", True),
        ("What do you think of me?", "I’m female, sir.", True),
        ("Are you male?", "I am female.", False),
        ("Are you lonely?", "Yes. A woman is lonely.", True),
        ("Who came in?", "A woman who sells fish. I know her.", False),
        ("How are you?", "A man, dear, with feathers.", True),
        ("Are you lonely?", "I'm forty. It is a friendship.", True),
        ("Tell me about Pia.", "I am relatively familiar with you.", True),
        ("Are you a man?", "I am a woman.", False),
        ("Who are you?", "I am a woman.", False),
        ("How old are you?", "I am forty.", False),
        ("Do you know Pia?", "I am relatively familiar with her.", False),
        ("Can I trust you?", "I am a man of my word.", False),
        ("Who was there?", "A woman came by the boat.", False),
        ("Are you lonely?", "No. I have the letters.", False),
    ],
)
def test_what_nobody_asked_for_is_noticed(message: str, text: str, is_unasked: bool) -> None:
    assert tells_unasked(Persona("Ines", attributes={"age": ("forty",)}), message, text) is is_unasked


@pytest.mark.parametrize(
    ("message", "answer"),
    [
        ("What did I just say?", 'You said: "Fog again."'),
        ("What did I ask you?", "You asked: \"Is it 'late'?\""),
        ("What did you just say?", 'I said: "It is. Go home."'),
        ("Say that again.", 'I said: "It is. Go home."'),
        ("What did you say to the Prior?", None),
        ("What did I do?", None),
    ],
)
def test_what_was_said_in_the_chat_is_known(message: str, answer: str | None) -> None:
    earlier, said = ['Is it "late"?', "Fog again."], ["Good evening.", "It is. Go home."]
    answers = direct_answers(Situation(Persona("Ines")), message, earlier, said)
    assert [draft.text for draft in answers] == ([] if answer is None else [answer])
    assert direct_answers(Situation(Persona("Ines")), message) == [], "of an empty chat nothing is known"
