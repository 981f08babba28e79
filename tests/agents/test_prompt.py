"""What a language model is told, and what it never is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generated import reachable
from people import situation, tie
from understudy.agents.dialogue_context import first_person, introduced_name, introductions
from understudy.agents.encoder import EncoderAgent
from understudy.agents.old_lines import OldLines
from understudy.agents.prompt import GIVES_WAY, STYLES, Prompt, build_prompt, render_compact
from understudy.agents.prompt_contents import ChatTurn, PastExchange, PastLine, PromptContents, Recalled
from understudy.agents.recall import Recall
from understudy.errors import InputError, StoryError
from understudy.formats import read
from understudy.story.dialogue import USER_NAME, Situation, Turn, situation_at
from understudy.story.persona import FoundSentence, Other, Persona, Told
from understudy.story.storyfile import Story
from understudy.story.types import Finding, LoreEntry, Moment

styles = pytest.mark.parametrize("style", STYLES)

RECALLED = Recalled(
    facts=("I am a harbour pilot.", "I love Ines."),
    own=(
        PastExchange("Ines", "Where is the key?", "In my pocket, as always."),
        PastExchange("", "", "Fog again, and nobody listens."),
    ),
    others=(PastLine("Vera", "The key opens the chapel."),),
    voice=("Fog again.", "I count the boats twice a day.", "Mind the rope, will you.", "Not before the tide."),
)
TOMAS = replace(
    situation(
        profile=("I am a harbour pilot.", "I have a brass key.", "I cannot swim.", "I am forty.", "I snore."),
        relations=(tie("Ines", "affection", 8), tie("Vera", "affection", -5)),
        faced="Ines",
    ),
    setting="The quay, in fog.",
    present=(Other("Ines"), Other("Vera", relations=(tie("Vera", "affection", -5),))),
    secrets=("I have a brass key.",),
)
HISTORY = [
    Turn("Ines", "Good morning."),
    Turn("Tomas", "Is it?"),
    Turn("Ines", "Do you have the key?"),
]


def text_of(prompt: Prompt) -> str:
    return "\n".join(message.content for message in prompt.messages)


def test_the_compact_form_is_the_one_the_shipped_writer_was_trained_on() -> None:
    contents = PromptContents(
        name="Zita",
        profile=("I smoke letters.", "I count things."),
        facing="Tomas",
        theirs=("I like Tomas.", "Tomas is a man."),
        setting=("The quay.",),
        voice=("On the rack.", "Not yet."),
        turns=(ChatTurn(False, "Hello.", "Tomas"), ChatTurn(True, "You again.")),
        others=(PastLine("Vera", "He lies."),),
        own=(PastExchange("Vera", "Who is it?", "The post."), PastExchange("", "", "Fog.")),
        facts=("I smoke letters.", "I like Tomas."),
        message="What do you do?",
    )
    assert [(message.role, message.content) for message in render_compact(contents)] == [
        (
            "system",
            "You are Zita.\n"
            "About you: I smoke letters. I count things.\n"
            "You are talking to Tomas. I like Tomas. Tomas is a man.\n"
            "Scene: The quay.\n"
            "How you talk:\n- On the rack.\n- Not yet.",
        ),
        ("user", "Tomas: Hello."),
        ("assistant", "You again."),
        (
            "user",
            "You remember:\n"
            "- Vera: He lies.\n"
            "- Me: Fog.\n"
            "- Vera: Who is it? / Me: The post.\n"
            "- I like Tomas.\n"
            "- I smoke letters.\n"
            "\n"
            "Tomas: What do you do?",
        ),
    ]
    bare = render_compact(PromptContents("Zita", message="Hello."))
    assert [(message.role, message.content) for message in bare] == [("system", "You are Zita."), ("user", "Hello.")]


@styles
def test_everything_that_matters_is_told(style: str) -> None:
    prompt = build_prompt(TOMAS, HISTORY, RECALLED, style=style)
    prompt_text = text_of(prompt)
    for text in (
        "Tomas",
        "I cannot swim.",
        "Ines",
        "The quay, in fog.",
        "Fog again.",
        "In my pocket",
        "opens the chapel",
    ):
        assert text in prompt_text
    assert "I would trust Ines with my life." in prompt_text
    assert prompt.messages[0].role == "system"
    assert prompt.messages[-1].role == "user"
    assert "Do you have the key?" in prompt.messages[-1].content
    assert [message.content for message in prompt.messages if message.role == "assistant"] == ["Is it?"]
    assert not any(section.dropped for section in prompt.sections)


def test_what_is_kept_from_the_one_faced_is_named_as_a_secret() -> None:
    system = build_prompt(TOMAS, HISTORY, RECALLED).messages[0].content
    _, _, withheld = system.partition("# What you keep to yourself")
    assert "Ines does not know" in withheld
    assert "- I have a brass key." in withheld
    assert system.count("I have a brass key.") == 1, "not among what may be said"


def test_a_small_model_is_not_told_what_it_would_tell() -> None:
    recalled = replace(RECALLED, facts=("I have a brass key.",))
    assert "I have a brass key" not in text_of(build_prompt(TOMAS, HISTORY, recalled, style="compact"))


def test_those_present_are_told_with_what_is_felt_for_them() -> None:
    system = build_prompt(TOMAS, HISTORY).messages[0].content
    assert "- Vera. I dislike Vera, and I do not hide it." in system
    assert system.count("- Vera.") == 1
    assert "- Ines." not in system, "she is the one faced"


def test_what_is_likely_stands_apart_from_what_is_sure() -> None:
    sentence = "It seems that I am a pilot."
    found = {sentence: FoundSentence(Finding(0.7, (Moment((1, 1, 4)),)), "I am a pilot.")}
    spouse = replace(tie("Ines", "spouse"), found=Finding(0.7, (Moment((1, 1, 4)),)))
    persona = replace(TOMAS.persona, profile=("I snore.", sentence), found=found, relations=(spouse,))
    system = build_prompt(replace(TOMAS, persona=persona), HISTORY).messages[0].content
    assert "- I snore.\nLess sure, but likely:\n- I am a pilot." in system
    assert "Likely, as far as can be told:\n- Ines and I are married." in system
    assert "It seems" not in system


def test_of_ties_the_newest_stands_first_with_its_date() -> None:
    levels = ("act", "scene", "line")
    old = replace(tie("Ines", "affection", 8), since=Moment((1, 2), levels))
    new = replace(tie("Ines", "enemy"), since=Moment((3, 1, 7), levels))
    mood = replace(tie("Ines", "opponent"), since=Moment((2, 4), levels), found=Finding(0.95, (Moment((2, 4, 1)),)))
    always = replace(tie("Ines", "familiarity", 8), since=Moment((1, 1), levels))
    persona = replace(TOMAS.persona, relations=(always, old, new, mood))
    system = build_prompt(replace(TOMAS, persona=persona), HISTORY).messages[0].content
    assert (
        "the newer holds:\n"
        "- Ines is my enemy. (since act 3, scene 1)\n"
        "- Ines and I are on opposite sides. (so it seemed in act 2, scene 4)\n"
        "- I would trust Ines with my life. (since act 1, scene 2)\n"
        "- I know Ines very well.\n"
    ) in system


def test_a_title_is_given_on_request_only() -> None:
    story = demo()
    asked = situation_at(story, "Zita", "2.3", "Benedek")
    history = [Turn("Aurel Benedek", "What is this?")]
    assert story.title not in text_of(build_prompt(asked, history))
    assert story.title in text_of(build_prompt(asked, history, has_title=True))
    assert "part 2, chapter 3" in text_of(build_prompt(asked, history))


def test_what_has_just_happened_is_told() -> None:
    story = demo()
    here = situation_at(story, "Zita", "2.2.1.6", "Silvan Prett")
    system = build_prompt(here, [Turn("Silvan Prett", "Well?")]).messages[0].content
    lines = next(iter(story.scenes(since=story.moment("2.2.1")))).lines
    assert "The registry" in system
    for line in lines[:5]:
        assert f"- {'You' if line.speaker == 'Zita Karst' else line.speaker}: {line.text}" in system
    assert not any(line.text in system for line in lines[5:])

    before = situation_at(story, "Zita", "2.2.1", "Silvan Prett")
    system = build_prompt(before, [Turn("Silvan Prett", "Well?")]).messages[0].content
    assert "part 2, chapter 2, scene 1. It is only just beginning: nothing of it has happened yet." in system
    assert "The wash-house" in system, "where she was last"
    assert "The registry" not in system


def test_before_the_first_scene_nothing_has_happened() -> None:
    start = situation_at(demo(), "Zita", "1.1")
    assert (
        "Nothing that you were there for has happened yet."
        in build_prompt(start, [Turn(USER_NAME, "Hello.")]).messages[0].content
    )


PLAY = """
# act 1: One
## scene 1: A hall
Present: Ann, Bea
ANN: Do you like my brother?
BEA: (aside) I hate her brother.
BEA: He is a tall man.
ANN: He comes tonight, and brings the horses.
[Ann leaves.]
BEA: Then I will be gone by night, with the horses.
## scene 2: A yard
Present: Ann, Bea, Cid
CID: Which of you is Bea?
BEA: I am, and I remember you.
ANN: You see that she does.
"""


@pytest.fixture
def play(tmp_path: Path) -> Story:
    (tmp_path / "play.txt").write_text(PLAY)
    return read(tmp_path)


def test_thoughts_are_thought_and_never_said_again(play: Story) -> None:
    bea = situation_at(play, "Bea", "end", "Ann")
    history = [Turn("Ann", "Do you like my brother, with the horses?")]
    said = {exchange.said.text for exchange in bea.persona.past.exchanges()}
    assert said == {"He is a tall man.", "I am, and I remember you."}
    recalled = Recall(WithoutEncoder()).recall(bea, history)  # type: ignore[arg-type]
    system, last = build_prompt(bea, history, recalled).messages
    _, _, thoughts = system.content.partition("# What you think and do not say")
    assert thoughts.index("Then I will be gone") < thoughts.index("I hate her brother"), "the newest first"
    assert "I hate her brother" not in last.content
    agent = OldLines(EncoderAgent(cache=False))
    drafts, _ = agent.drafts(bea, history)
    assert not any("hate" in draft.text or "gone by night" in draft.text for draft in drafts)


def test_nobody_hears_the_thoughts_of_others(play: Story) -> None:
    reached = reachable(situation_at(play, "Ann", "end", "Bea"))
    assert not any("hate" in text or "gone by night" in text for text in reached)
    assert play.present_at(play.moment("1.1.2")) == {"Bea"}
    assert play.present_at(play.moment("1.1.3")) == {"Ann", "Bea"}


def test_who_nobody_has_described_is_told_by_their_own_lines(play: Story) -> None:
    ann = situation_at(play, "Ann", "end", "Cid")
    system = build_prompt(ann, [Turn("Cid", "And you?")]).messages[0].content
    assert "You have talked most with Bea, since act 1, scene 1." in system
    assert "You have met Cid, or heard of them; the two of you have hardly talked." in system
    cid = situation_at(play, "Cid", "1.2", "Ann")
    system = build_prompt(cid, [Turn("Ann", "Well?")]).messages[0].content
    assert "Nothing is told of you but your name" in system
    assert "You have not talked with Ann so far." in system
    bea = situation_at(play, "Bea", "1.2.2", "Ann")
    system = build_prompt(bea, [Turn("Ann", "Well?")]).messages[0].content
    assert 'Ann: "Do you like my brother?" You: "He is a tall man."' in system


def test_the_small_writer_is_told_none_of_it(play: Story) -> None:
    bea = situation_at(play, "Bea", "1.2.2", "Ann")
    prompt = build_prompt(bea, [Turn("Ann", "Well?")], style="compact")
    assert {section.name for section in prompt.sections} <= {"character", "theirs", "setting", "message"}


def test_a_secret_that_the_one_faced_shares_is_said_to_be_shared() -> None:
    danilo = situation_at(demo(), "Danilo Reuss", "2.1.3.4", "Casimir Ould")
    system = build_prompt(danilo, [Turn("Casimir Ould", "Well?")]).messages[0].content
    assert "Casimir Ould knows you by your real name." in system
    assert "Casimir Ould knows what you keep from others: having written the confession" in system
    _, _, withheld = system.partition("# What you keep to yourself")
    assert "confession" not in withheld
    assert "real name" not in withheld


def test_a_false_name_is_kept_up() -> None:
    persona = replace(
        TOMAS.persona,
        attributes={"goes by": ("Aurel",)},
        profile=("I go by the name of Aurel.", "I cannot swim."),
    )
    hidden = replace(TOMAS, persona=persona)
    assert "You are Aurel." in text_of(build_prompt(hidden, HISTORY, style="compact"))
    assert "Tomas" not in text_of(build_prompt(hidden, HISTORY, style="compact"))
    assert "go by the name of Aurel" in build_prompt(hidden, HISTORY).messages[0].content


def test_the_model_is_told_what_the_one_faced_was_not_there_for() -> None:
    private = replace(RECALLED, own=(RECALLED.own[0]._replace(is_private=True), RECALLED.own[1]))
    prompt_text = build_prompt(TOMAS, HISTORY, private).messages[-1].content
    assert prompt_text.count("(Ines was not there.)") == 1
    assert 'you answered: "In my pocket, as always." (Ines was not there.)' in prompt_text


@pytest.mark.parametrize(
    ("language", "wanted"), [("ja", "Speak Japanese"), ("zh", "Speak Chinese"), ("en", "")], ids=["ja", "zh", "en"]
)
def test_the_language_of_the_story_is_asked_for(language: str, wanted: str) -> None:
    system = build_prompt(situation(language=language), [Turn(USER_NAME, "？")]).messages[0].content
    assert wanted in system
    assert ("Speak " + "Japanese" in system) == (language == "ja")


def test_gestures_are_asked_for_where_the_lines_have_them() -> None:
    with_gestures = replace(RECALLED, voice=("*shrugs* Fog again.",))
    assert "*asterisks*" in build_prompt(TOMAS, HISTORY, with_gestures).messages[0].content
    acting = [*HISTORY[:-1], Turn(HISTORY[-1].speaker, f"*knocks* {HISTORY[-1].text}")]
    assert "*asterisks*" in build_prompt(TOMAS, acting).messages[0].content
    assert "*asterisks*" not in build_prompt(TOMAS, HISTORY).messages[0].content
    assert "no stage directions" in build_prompt(TOMAS, HISTORY, RECALLED).messages[0].content


def test_turns_alternate_beginning_with_the_user() -> None:
    history = [Turn("Tomas", "Well?"), Turn("Tomas", "Speak."), *HISTORY, Turn("Ines", "The brass one.")]
    roles = [message.role for message in build_prompt(TOMAS, history, RECALLED).messages]
    assert roles[0] == "system"
    assert roles[1:] == ["user", "assistant"] * (len(roles) // 2 - 1) + ["user"]


def test_what_one_opened_with_is_remembered() -> None:
    prompt = build_prompt(TOMAS, [Turn("Tomas", "Well?")])
    assert [message.role for message in prompt.messages] == ["system", "user", "assistant", "user"]
    assert prompt.messages[2].content == "Well?"
    assert "(Nobody speaks.)" in prompt.messages[3].content


@styles
def test_whoever_speaks_is_named(style: str) -> None:
    history = [Turn("Ines", "Good morning."), Turn("Tomas", "Is it?"), Turn("Vera", "It is not.")]
    prompt = build_prompt(TOMAS, history, style=style)
    assert "Ines: Good morning." in text_of(prompt)
    assert "Vera: It is not." in prompt.messages[-1].content
    assert "You: " not in text_of(build_prompt(TOMAS, [Turn(USER_NAME, "Hello.")], style=style))


def test_the_beginning_of_the_prompt_holds_from_one_message_to_the_next() -> None:
    first = build_prompt(TOMAS, HISTORY, RECALLED)
    another = replace(RECALLED, facts=("I snore.",), own=RECALLED.own[1:], others=())
    second = build_prompt(TOMAS, [*HISTORY, Turn("Tomas", "Which?"), Turn("Ines", "The brass one.")], another)
    assert second.messages[: len(first.messages) - 1] == first.messages[:-1]


@styles
def test_what_was_told_in_earlier_chats_is_remembered(style: str) -> None:
    told = (Told("I work at the harbour"), Told("I have two dogs"))
    here = replace(TOMAS, faced=Other("Una", told=told))
    prompt = build_prompt(here, [Turn("Una", "It is me again.")], style=style)
    text = "\n".join(message.content for message in prompt.messages)
    assert text.index("I have two dogs") < text.index("I work at the harbour")  # the newest first
    assert "remembered" in {section.name for section in prompt.sections}
    assert prompt.recalled.told == told[::-1]
    stranger = build_prompt(replace(TOMAS, faced=Other("Una")), [Turn("Una", "Hello again.")], style=style)
    assert "remembered" not in {section.name for section in stranger.sections}


def test_a_small_model_is_told_of_the_other_only_what_they_ask_of() -> None:
    here = replace(TOMAS, faced=Other("Una", told=(Told("I have two dogs"),)))
    asked = build_prompt(here, [Turn("Una", "Have you got a dog?")], style="compact")
    assert "two dogs" not in text_of(asked)


@styles
def test_lore_is_told(style: str) -> None:
    prompt = build_prompt(TOMAS, HISTORY, RECALLED, style=style, lore=("The chapel burnt down in spring.",))
    assert "The chapel burnt down in spring." in prompt.messages[-1].content
    assert "lore" in [section.name for section in prompt.sections]


def test_an_unknown_style_is_an_error() -> None:
    with pytest.raises(InputError, match="choose from compact, instructions"):
        build_prompt(TOMAS, HISTORY, style="haiku")


# what the other said of themselves


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("I'm Tom.", "Tom"),
        ("hi, i am Tom. i bake.", "Tom"),
        ("Hello, I am Tom Hale, a sailor.", "Tom Hale"),
        ("My name is Dr. Watson", "Dr. Watson"),
        ("my name is tom", "Tom"),
        ("Just call me Ishmael", "Ishmael"),
        ("I'm English.", ""),
        ("I'm fine. I'm sorry.", ""),
        ("I am the captain.", ""),
        ("Tom is my brother.", ""),
    ],
)
def test_the_name_somebody_gives(text: str, name: str) -> None:
    assert introduced_name([text]) == name


def test_names_in_japanese_and_chinese() -> None:
    assert introduced_name(["はじめまして。太郎といいます。"], "ja") == "太郎"
    assert introduced_name(["你好，我叫汤姆。"], "zh") == "汤姆"


def test_what_somebody_tells_of_themselves() -> None:
    said = "Hello, I'm Tom. I work at the harbour! Do you? I'm sorry, my question was rude. My brother is a pilot."
    assert introductions([said, "I think so.", "I work at the harbour!"]) == (
        "Hello, I'm Tom.",
        "I work at the harbour!",
        "My brother is a pilot.",
    )
    assert introductions(["私は船乗りです。鍵はどこ？"], "ja") == ("私は船乗りです。",)
    assert introductions(["我是水手。钥匙呢？"], "zh") == ("我是水手。",)


@styles
def test_a_stranger_keeps_name_and_trade_when_the_turns_have_gone(style: str) -> None:
    alone = replace(TOMAS, faced=None)
    talk = [Turn(USER_NAME, "I'm Tom. I work at the harbour.")]
    for number in range(60):
        talk += [
            Turn("Tomas", f"Aye, that is the {number}th."),
            Turn(USER_NAME, f"And what about boat number {number}?"),
        ]
    prompt = build_prompt(alone, talk, RECALLED, style=style, budget=900)
    assert not any("I work at the harbour" in message.content for message in prompt.messages[1:-1])
    assert "I work at the harbour." in prompt.messages[-1].content
    assert "Tom: And what about boat number 59?" in prompt.messages[-1].content
    whole = build_prompt(alone, talk[:3], RECALLED, style=style)
    assert text_of(whole).count("I work at the harbour") == 1, "not again while the turn is there"


# the budget


@styles
@given(budget=st.integers(1, 1500), turns=st.integers(0, 30), message=st.integers(0, 400))
def test_the_budget_is_kept_and_name_and_message_stay(style: str, budget: int, turns: int, message: int) -> None:
    history = [Turn(("Ines", "Tomas")[number % 2], f"Turn number {number} of this talk.") for number in range(turns)]
    question = "Whereabouts? " + "word " * message + "Now?"
    prompt = build_prompt(TOMAS, [*history, Turn("Ines", question)], RECALLED, budget=budget, style=style)
    least = build_prompt(TOMAS, [Turn("Ines", "Whereabouts? ... Now?")], budget=1, style=style).tokens + 8
    assert prompt.tokens <= max(budget, least)
    assert "You are Tomas" in prompt.messages[0].content
    assert "Where" in prompt.messages[-1].content
    assert "Now?" in prompt.messages[-1].content


@styles
def test_sections_give_way_in_their_order(style: str) -> None:
    history = [Turn(("Ines", "Tomas")[number % 2], f"This is turn number {number}.") for number in range(9)]
    much = Recalled(RECALLED.facts * 2, RECALLED.own * 2, RECALLED.others * 2, RECALLED.voice * 2)
    lore = ("The chapel burnt.", "Nobody prays now.")
    order = list[str]()
    whole = build_prompt(TOMAS, history, much, style=style, lore=lore).tokens
    for budget in range(whole, whole // 4, -1):
        prompt = build_prompt(TOMAS, history, much, style=style, budget=budget, lore=lore)
        order += [section.name for section in prompt.sections if section.dropped and section.name not in order]
    # Of the others there is so little that none of it is given up before these are at their least.
    plenty = ["turns", "voice", "lore", "others", "own", "facts"]
    assert [name for name in order if name in plenty] == [name for name in GIVES_WAY if name in plenty]


def test_the_oldest_turns_go_first() -> None:
    history = [Turn(("Ines", "Tomas")[number % 2], f"This is turn {number}.") for number in range(21)]
    whole = build_prompt(TOMAS, history, RECALLED)
    shorter = text_of(build_prompt(TOMAS, history, RECALLED, budget=whole.tokens - 60))
    assert "turn 0." not in shorter
    assert "turn 18." in shorter
    assert "turn 19." in shorter


def test_sections_account_for_the_prompt() -> None:
    prompt = build_prompt(TOMAS, HISTORY, RECALLED, count_tokens=lambda text: len(text.split()))
    words = sum(len(message.content.split()) for message in prompt.messages)
    assert sum(section.tokens for section in prompt.sections) == words
    assert prompt.tokens == words + 5 * len(prompt.messages) + 3


# third person


@pytest.mark.parametrize(
    ("described", "said"),
    [
        ("He keeps bees.", "I keep bees."),
        ("Zita is a clerk and has ink on her chin.", "I am a clerk and have ink on her chin."),
        ("She watches her cat.", "I watch my cat."),
        ("He is fond of his dog, and he carries it himself.", "I am fond of my dog, and I carry it myself."),
        ("She was poor, but she has a boat.", "I was poor, but I have a boat."),
        ("I keep bees.", "I keep bees."),
        ("The harbour is cold.", "The harbour is cold."),
    ],
)
def test_a_card_speaks_of_its_character_in_the_third_person(described: str, said: str) -> None:
    assert first_person(described, "Zita Karst") == said


# nothing of the future


@cache
def demo() -> Story:
    return read("demo")


class WithoutEncoder:
    """Recalls by words alone, which is fast."""

    def encoder(self, _: str) -> None:
        return None


@given(data=st.data())
def test_no_later_line_stands_in_a_prompt(data: st.DataObject) -> None:
    story = demo()
    scenes = list(story.scenes())
    scene = data.draw(st.sampled_from(scenes))
    people = [member.character.name for member in story.cast()][:6]
    who = data.draw(st.sampled_from(people))
    at = data.draw(st.sampled_from([scene.moment, *(line.moment for line in scene.lines)]))
    facing = data.draw(st.sampled_from([None, *(name for name in people if name != who)]))
    # The question is a later line, word for word: whatever could bring it back would.
    later = [line for other in scenes if other.moment >= scene.moment for line in other.lines if line.moment >= at]
    question = data.draw(st.sampled_from(later))
    try:
        given_situation = situation_at(story, who, at, facing)
    except StoryError:
        return
    speaker = given_situation.faced.name if given_situation.faced else USER_NAME
    history = [Turn(speaker, question.text)]
    recalled = Recall(WithoutEncoder()).recall(given_situation, history)  # type: ignore[arg-type]
    lived = {line.text for past in given_situation.persona.past.scenes() for line in past.lines}
    for style in STYLES:
        prompt_text = text_of(build_prompt(given_situation, history, recalled, style=style, budget=100_000))
        prompt_text = prompt_text.replace(question.text, "")
        for line in later:
            if len(line.text) > 40 and line.text not in lived and line.text != question.text:
                assert line.text not in prompt_text


def test_what_is_not_known_is_told_by_kind_only() -> None:
    given_situation = situation_at(demo(), "Zita", "2.3", "Benedek")
    prompt = build_prompt(given_situation, [Turn("Aurel Benedek", "What will become of us?")])
    assert "You know nothing of what happens after this moment" in prompt.messages[0].content
    assert "Danilo" not in text_of(prompt), "she knows him by another name"


# What the turns bring up of a lorebook stands in the prompt.


GATE = LoreEntry("The gate is {{user}}'s work.", ("gate",))
SITUATION = Situation(Persona("Mira", profile=("Mira is a pilot.",), lore=(GATE,)), faced=Other("Tom"))


def prompt(message: str, style: str = "instructions", lore: Sequence[str] | None = None) -> str:
    built = build_prompt(SITUATION, [Turn("Tom", message)], style=style, lore=lore)
    return "\n".join(item.content for item in built.messages)


def test_a_key_brings_its_entry_up_and_names_are_filled_in() -> None:
    for style in ("instructions", "compact"):
        assert "The gate is Tom's work." in prompt("Is the gate open?", style)
        assert "The gate is" not in prompt("Is there fog?", style)


def test_whoever_gives_lore_gives_all_of_it() -> None:
    assert "The gate is" not in prompt("Is the gate open?", lore=())
    assert "Fog kills." in prompt("Is the gate open?", lore=("Fog kills.",))
