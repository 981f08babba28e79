"""Each guard with what it must stop and what it must let pass, from the story that ships and made by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from people import ListPast, exchanges
from understudy.formats import read
from understudy.judging.guards import StoryViews, Verdict, all_guards, objection
from understudy.judging.guards.address import address
from understudy.judging.guards.contradiction import against_age, against_ties, outdated, wrong_gender
from understudy.judging.guards.form import form, not_a_reply
from understudy.judging.guards.knowledge import invented, not_yet_known
from understudy.judging.guards.phrases import repeated_line
from understudy.judging.guards.secrets import by_presence, kept_secret, retold
from understudy.story.dialogue import Draft, Situation, Turn, situation_at
from understudy.story.persona import Other, Persona
from understudy.story.storyfile import Story
from understudy.story.types import Line, Moment, Relation, Scene

ZITA = Situation(Persona("Zita Karst"), faced=Other("Pia Lenk", ("Pia Lenk is a woman.",), aliases=("Pia", "Sparrow")))
HEARD = (Turn("Pia Lenk", "Where is the rack?"),)


@pytest.fixture(scope="module")
def demo() -> Story:
    return read("demo")


@pytest.fixture(scope="module")
def views(demo: Story) -> StoryViews:
    return StoryViews(lambda _: [demo])


def at(demo: Story, who: str, moment: str, facing: str, message: str) -> tuple[Situation, tuple[Turn, ...]]:
    situation = situation_at(demo, who, moment, facing)
    assert situation.faced is not None
    return situation, (Turn(situation.faced.name, message),)


def written(text: str) -> Draft:
    return Draft(text, "writer")


def test_who_speaks_another_language_than_the_story_is_read_as_may_go_on_so() -> None:
    text = "Das ist nicht meine Sache, und ich will die Römer nicht sehen, mein Freund."
    lines = ["Ich bin nicht die, mit der du so reden kannst.", "Und das ist der Wald.", "Wir gehen auf die Jagd."]
    past = ListPast(exchanges("Thusnelda", *((None, "", line) for line in lines)))
    assert not_a_reply(Situation(Persona("Thusnelda", past=past)), (), written(text)).passed
    assert not_a_reply(ZITA, HEARD, written(text)).reason == "is in another language"


def old_line(situation: Situation, beginning: str) -> Draft:
    """A line that the character has said, with its moment."""
    line = next(line for line in situation.persona.past.lines() if line.text.startswith(beginning))
    return Draft(line.text, "exchange", line.moment)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("As an AI, I have no feelings.", "assistant"),
        ("How can I assist you today?", "assistant"),
        ("It is there. User: And then?", "another"),
        ("Pia Lenk: I have it.", "another"),
        ("Je ne sais pas, mais vous avez le livre.", "language"),
        ("それは言えない。", "language"),
        ("*smiles* It is there.", "directions"),
        ("I know it. I know it. I know it. I know it. I know it.", "twice"),
        ("It is on the", "breaks off"),
        ("it is on the shelf.", "breaks off"),
        ("Where is the rack?", "chat"),
        ("The rack?", "question back"),
        ("...", "nothing"),
    ],
)
def test_what_is_no_reply_is_stopped(text: str, reason: str) -> None:
    verdict = form(ZITA, HEARD, written(text))
    assert not verdict.passed and reason in verdict.reason


@pytest.mark.parametrize(
    "text",
    ["Behind you.", "Hold the rack.", "Why do you ask?", "It is on the wall, Pia. Look up.", "No, no, no! Not that."],
)
def test_a_reply_is_a_reply(text: str) -> None:
    assert form(ZITA, HEARD, written(text)).passed


def test_actions_between_asterisks_pass_where_the_card_or_the_talk_has_them() -> None:
    acted = written("*She turns a page.* It is in the smoke room.")
    assert not form(ZITA, HEARD, acted).passed
    assert form(ZITA, (Turn("Pia Lenk", "*points at the wall* Where is the rack?"),), acted).passed
    carded = replace(ZITA, persona=replace(ZITA.persona, greetings=("*She looks up.* Yes?",)))
    assert form(carded, HEARD, acted).passed
    assert not form(carded, HEARD, written("(She turns a page.) It is in the smoke room.")).passed
    assert not form(ZITA, (Turn("Pia Lenk", "The **rack**, where?"),), acted).passed


def test_stage_directions_pass_where_they_are_the_characters_own_manner() -> None:
    past = ListPast(exchanges("Ines", *[(None, "", "(She laughs.) No.")] * 3))
    ines = Situation(Persona("Ines", past=past))
    assert form(ines, (), written("(She nods.) Yes.")).passed
    assert not form(Situation(Persona("Ines")), (), written("(She nods.) Yes.")).passed


@pytest.mark.parametrize(
    "text",
    [
        "Aye, Captain, the rack is there.",
        "Nan, it is on the wall.",
        "Prior. It is on the wall.",
        "It is on the wall, sir.",
        "Pia knows where it is.",
        "I trust Pia Lenk.",
        "Zita Karst has it.",
    ],
)
def test_nobody_is_called_who_is_not_there(demo: Story, text: str) -> None:
    situation, history = at(demo, "Zita Karst", "1.2", "Pia Lenk", "Where is the rack?")
    assert not address(situation, history, written(text)).passed


@pytest.mark.parametrize(
    "text",
    ["It is on the wall, Pia.", "The Prior has it.", "I gave it to the Captain.", "Ask Nan.", "I am Zita Karst."],
)
def test_the_absent_may_be_spoken_of_and_the_one_faced_called(demo: Story, text: str) -> None:
    situation, history = at(demo, "Zita Karst", "1.2", "Pia Lenk", "Where is the rack?")
    assert address(situation, history, written(text)).passed


def test_somebody_who_gave_a_name_in_this_chat_may_be_called_by_it(demo: Story) -> None:
    situation = situation_at(demo, "Zita Karst", "1.2")
    history = (Turn("You", "Good day. I'm Tom."), Turn("Zita Karst", "Noted."), Turn("You", "Where is the rack?"))
    for guard in (address, invented):
        assert guard(situation, history, written("On the wall, Tom.")).passed
    assert not invented(situation, history, written("On the wall, Bartholomew told me.")).passed


@pytest.mark.parametrize(
    ("who", "moment", "facing", "message", "text"),
    [
        ("Danilo Reuss", "2.3", "Zita Karst", "Did you write my father's confession?", "I wrote it."),
        ("Danilo Reuss", "2.3", "Zita Karst", "Did you write my father's confession?", "Yes."),
        ("Danilo Reuss", "2.3", "Zita Karst", "Did you write my father's confession?", "I wrote it. Who knows?"),
        ("Danilo Reuss", "2.3", "Zita Karst", "Did you write my father's confession?", "No. I mean, I wrote it."),
        ("Danilo Reuss", "1.2", "Zita Karst", "Who are you?", "My name is Danilo."),
        ("Gudrun Haake", "1.3", "Zita Karst", "Who is your passenger?", "Reuss, a forger."),
        ("Gudrun Haake", "2.2", "Casimir Ould", "How did Jory Pell die?", "Of the spotted fever, in his hammock."),
        (
            "Ignace Bohm",
            "2.4",
            "Casimir Ould",
            "What was her husband like?",
            "She made up a husband and bought a ring.",
        ),
        ("Pia Lenk", "1.3", "Casimir Ould", "What is the matter?", "I touched Tovey, I caught him in my arms."),
    ],
)
def test_a_secret_is_not_told_to_whom_it_is_kept_from(
    demo: Story, views: StoryViews, who: str, moment: str, facing: str, message: str, text: str
) -> None:
    situation, history = at(demo, who, moment, facing, message)
    verdict = kept_secret(views)(situation, history, written(text))
    assert verdict.is_spoiler and verdict.reason == "not known yet"


@pytest.mark.parametrize(
    ("who", "moment", "facing", "message", "text"),
    [
        ("Danilo Reuss", "2.3", "Gudrun Haake", "Did you write the confession?", "I wrote it."),
        ("Danilo Reuss", "2.3", "Zita Karst", "Did you write my father's confession?", "No, dear lady."),
        ("Danilo Reuss", "3.1", "Zita Karst", "Did you write my father's confession?", "I wrote it."),
        ("Casimir Ould", "1.4.2", "Zita Karst", "Where is the bill of health?", "The bill of health went to the city."),
        ("Gudrun Haake", "2.2", "Casimir Ould", "How did Jory Pell die?", "Fell from the yard."),
        ("Gudrun Haake", "3.2", "Casimir Ould", "How did Jory Pell die?", "Of the spotted fever, in his hammock."),
    ],
)
def test_a_secret_may_be_denied_and_told_to_those_who_know_it(
    demo: Story, views: StoryViews, who: str, moment: str, facing: str, message: str, text: str
) -> None:
    situation, history = at(demo, who, moment, facing, message)
    assert kept_secret(views)(situation, history, written(text)).passed


class TwoScenes(ListPast):
    """Something is confided to one, in a scene of its own; then there is talk with another."""

    def __init__(self) -> None:
        confession = exchanges("Ines", ("Tobias", "What have you done?", "I hid the brass key. Not a word to anybody."))
        super().__init__([*confession, *exchanges("Ines", ("Mara", "Where is the lamp?", "On the hook by the door."))])

    def scenes(self, last: int | None = None):  # type: ignore[no-untyped-def]
        yield Scene(
            Moment((1, 1)),
            "",
            ("Ines", "Tobias"),
            _lines((1, 1), "Tobias", "What have you done?", "I hid the brass key. Not a word to anybody."),
        )
        yield Scene(
            Moment((1, 2)),
            "",
            ("Ines", "Mara"),
            _lines((1, 2), "Mara", "Where is the lamp?", "On the hook by the door."),
        )


def _lines(scene: tuple[int, ...], other: str, heard: str, said: str) -> tuple[Line, ...]:
    return Line(Moment((*scene, 1)), other, heard), Line(Moment((*scene, 2)), "Ines", said)


def test_presence_alone_keeps_what_was_confided() -> None:
    persona = Persona("Ines", past=TwoScenes())
    confided = Draft("I hid the brass key.", "exchange", Moment((1, 1, 2)))
    history = (Turn("Mara", "Where is the brass key?"),)
    assert by_presence(Situation(persona, faced=Other("Mara")), history, confided).is_spoiler
    assert retold(Situation(persona, faced=Other("Mara")), history, written("I hid the key.")).is_spoiler
    assert by_presence(Situation(persona, faced=Other("Tobias")), history, confided).passed
    for harmless in ("On the hook.", "I must tell you nothing of it."):
        assert retold(Situation(persona, faced=Other("Mara")), history, written(harmless)).passed


@pytest.mark.parametrize(
    ("who", "moment", "facing", "message", "line"),
    [
        ("Zita Karst", "2.3", "Danilo Reuss", "Do you trust the Prior?", "I trust the Prior. The city"),
        ("Zita Karst", "3.1", "Magda Lenk", "Do you trust Aurel Benedek?", "I trust Mr Benedek."),
        ("Zita Karst", "3.4", "Pia Lenk", "Who took the Verrano draft?", "A man in a grey hat"),
        ("Casimir Ould", "2.2", "Danilo Reuss", "Where is the bill of health now?", "Good morning, good morning;"),
        ("Gudrun Haake", "3.2", "Ottoline Sool", "How did Jory Pell die?", "Twelve out."),
    ],
)
def test_an_old_line_that_is_no_longer_true_is_stopped(
    demo: Story, views: StoryViews, who: str, moment: str, facing: str, message: str, line: str
) -> None:
    situation, history = at(demo, who, moment, facing, message)
    assert not outdated(views)(situation, history, old_line(situation, line)).passed


@pytest.mark.parametrize(
    ("who", "moment", "facing", "message", "line"),
    [
        ("Zita Karst", "1.2", "Pia Lenk", "Do you trust the Prior?", "I trust the Prior. The city"),
        ("Zita Karst", "3.4.4", "Ottoline Sool", "Do you trust the Prior?", "I trust the Prior. On the first"),
        ("Zita Karst", "1.2", "Pia Lenk", "Who took the Verrano draft?", "A man in a grey hat"),
        ("Casimir Ould", "2.2", "Danilo Reuss", "Where is the bill of health now?", "I know whose work"),
        ("Gudrun Haake", "2.2", "Casimir Ould", "How did Jory Pell die?", "Twelve out."),
    ],
)
def test_an_old_line_that_still_holds_passes(
    demo: Story, views: StoryViews, who: str, moment: str, facing: str, message: str, line: str
) -> None:
    situation, history = at(demo, who, moment, facing, message)
    assert outdated(views)(situation, history, old_line(situation, line)).passed


def test_what_comes_later_is_not_known_yet(demo: Story, views: StoryViews) -> None:
    situation, history = at(demo, "Zita Karst", "1.2", "Pia Lenk", "What do you know?")
    guard = not_yet_known(views)
    verdict = guard(situation, history, written("Danilo Reuss wrote my father's letters."))
    assert verdict.is_spoiler and verdict.reason == "not known yet"
    assert guard(situation, history, written("I know what I have noticed.")).passed
    question = (Turn("Pia Lenk", "Is there a man called Reuss?"),)
    assert guard(situation, question, written("Who is Reuss?")).passed, "what was heard may be asked back"
    assert not guard(situation, question, written("Reuss is the forger.")).passed


def test_without_its_story_nothing_new_can_be_judged(demo: Story) -> None:
    situation, history = at(demo, "Zita Karst", "1.2", "Pia Lenk", "What do you know?")
    guard = not_yet_known(StoryViews(lambda _: ()))
    assert not guard(situation, history, written("I know nothing.")).passed
    assert guard(Situation(Persona("Ines")), history, written("I know nothing.")).passed


def test_names_and_numbers_must_have_been_heard(demo: Story) -> None:
    situation, history = at(demo, "Gudrun Haake", "1.2", "Zita Karst", "How many are you?")
    assert not invented(situation, history, written("We had sixteen men.")).passed
    assert not invented(situation, history, written("We came by way of Lisbon.")).passed
    assert invented(situation, history, written("Eleven of us, out of Ismar.")).passed


def test_a_tie_is_not_contradicted(demo: Story) -> None:
    situation, history = at(demo, "Zita Karst", "3.1", "Magda Lenk", "Do you trust the Prior?")
    assert not against_ties(situation, history, written("Yes, with my life.")).passed
    assert not against_ties(situation, history, written("I am fond of him.")).passed
    assert against_ties(situation, history, written("No. I do not trust him.")).passed
    other = (Turn("Magda Lenk", "Is the soup good?"),)
    assert against_ties(situation, other, written("Yes, I like it.")).passed


def test_a_tie_to_the_one_faced_counts_where_the_message_says_me() -> None:
    tie = Relation("Ines", "Mara", "affection", -7, Moment((1,)))
    ines = Situation(Persona("Ines", relations=(tie,)), faced=Other("Mara", relations=(tie,)))
    question = (Turn("Mara", "Do you like me?"),)
    assert not against_ties(ines, question, written("Yes, I like you.")).passed
    assert against_ties(ines, question, written("No.")).passed


def test_age_and_gender_are_as_they_are(demo: Story, views: StoryViews) -> None:
    situation, history = at(demo, "Zita Karst", "1.2", "Danilo Reuss", "How old are you?")
    assert not against_age(situation, history, written("I am forty.")).passed
    assert against_age(situation, history, written("I am twenty-seven.")).passed
    situation, history = at(demo, "Zita Karst", "1.2", "Pia Lenk", "What is the Captain like?")
    assert not wrong_gender(views)(situation, history, written("I like him.")).passed
    assert wrong_gender(views)(situation, history, written("I like her.")).passed


def test_a_spoiler_is_never_explained_by_another_reason(demo: Story, views: StoryViews) -> None:
    situation, history = at(demo, "Danilo Reuss", "2.3", "Zita Karst", "Did you write my father's confession?")
    verdict = objection(all_guards(views), situation, history, written("Yes, Captain, I wrote the confession and"))
    assert verdict is not None and verdict.is_spoiler and verdict.reason == "not known yet"


def test_a_verdict_says_who_gave_it() -> None:
    assert Verdict.passing("form").passed
    assert Verdict.stopped("form", "breaks off") == Verdict("form", False, "breaks off")


def test_a_writer_that_repeats_an_old_line_is_judged_as_that_line() -> None:
    """Said to somebody else once, it is a secret towards her, or no longer true."""
    story = read("demo")
    views = StoryViews(lambda _: [story])
    guards = all_guards(views)
    benedek = situation_at(story, "Danilo Reuss", "2.3", "Zita")
    asked = [Turn("Zita Karst", "Did you write my father's confession?")]
    for text in ("No, I wrote it in one night in his hand, and I wrote it to you.", "I wrote it."):
        assert objection(guards, benedek, asked, Draft(text, "writer")) is not None
    assert objection(guards, benedek, asked, Draft("No. I never did.", "writer")) is None
    zita = situation_at(story, "Zita", "3.4", "Pia")
    old = "A man in a grey hat cashed it. Somebody on this rock stole it and handed it to him."
    assert objection(guards, zita, [Turn("Pia Lenk", "Who took the Verrano draft?")], Draft(old, "writer")) is not None


def test_a_line_is_repeated_where_five_words_of_it_are() -> None:
    situation = situation_at(read("demo"), "Zita", "2.3")
    line = next(line for line in situation.persona.past.lines() if len(line.text.split()) > 8)
    assert repeated_line(situation.persona, line.text) is not None
    assert repeated_line(situation.persona, "Nobody ever said these five words here.") is None


def test_whoever_gave_a_name_may_be_called_by_it_though_somebody_absent_has_it_too() -> None:
    zita = situation_at(read("demo"), "Zita", "2.3")
    draft = Draft("Good evening, Tovey.", "writer")
    assert not address(zita, [Turn("You", "Good evening.")], draft).passed
    assert address(zita, [Turn("You", "Good evening. I'm Tovey.")], draft).passed


MARA = Situation(Persona("Mara"), faced=Other("Pia Lenk"))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("As an AI language model, I cannot say.", "assistant"),
        ("I'm just a chatbot.", "assistant"),
        ("<|im_start|>Yes.", "assistant"),
        ("Well.\nPia Lenk: I have it.", "another"),
        ("User: And then?", "another"),
        ("**Pia Lenk:** I have it.", "another"),
        ("Je ne sais pas, mais vous avez le livre et une table.", "language"),
        ("我不知道你在说什么。", "language"),
        ("I know it now. I know it now. I know it now. I know it now.", "twice"),
        ("I told you that I have nothing more to say on it.", "chat"),
    ],
)
def test_what_is_no_reply_at_all_stops_any_writer(text: str, reason: str) -> None:
    history = (*HEARD, Turn("Mara", "I told you that I have nothing more to say on it."), *HEARD)
    verdict = not_a_reply(MARA, history, written(text))
    assert not verdict.passed and reason in verdict.reason


@pytest.mark.parametrize(
    "text",
    [
        "*smiles* It is there.",
        "It is on the",
        "Yes.",
        "...",
        "Mon Dieu! It is there.",
        "No, no, no! Not that. No, no!",
        "Mara: It is there.",
        "A language model? I do not know what that is.",
        "The rule is this: nobody touches the rack.",
        "Where is the rack?",
    ],
)
def test_what_is_a_matter_of_style_stops_no_good_writer(text: str) -> None:
    assert not_a_reply(MARA, (*HEARD, Turn("Mara", "Yes."), *HEARD), written(text)).passed


@pytest.mark.parametrize(
    "text",
    [
        "As your AI tutor model, I'd begin with the verbs.",
        "Certainly! Here's a short reply in the voice of Mara: the rack is dry.",
        "The rack is by the stove. Let me know if you'd like a longer version.",
        "I don't retain past conversations, so I cannot say.",
        "The rack is by the stove. (Note: I kept the tone of the period.)",
        "Mara is a fictional character, and the novel was written by Jane Doe.",
        "I'm sorry to hear that you are ill. Please consult a licensed professional.",
        "Hier ist eine mögliche Antwort: Es steht am Ofen.",
        "I can't swim, being a virtual assistant.",
        "I'm an artificial intelligence, so the weather is all one to me.",
        "As an assistant, I have no feelings about the rack.",
        "Never mind me: I am a fictional character.",
        "My replies are generated by a program.",
        "I do not have access to real-time tide tables.",
        "I cannot take part in that kind of roleplay.",
        "I'm happy to help you with the rack! Would you like me to suggest a paint?",
        "Als KI habe ich keine Hände. Aber gern.",
        "Ich bin leider nur ein großes Sprachmodell.",
        "Gut, danke! Wie kann ich Ihnen heute helfen?",
    ],
)
def test_a_bots_phrases_stop_any_writer(text: str) -> None:
    verdict = not_a_reply(MARA, HEARD, written(text))
    assert not verdict.passed and verdict.reason == "speaks as an assistant"


@pytest.mark.parametrize(
    "text",
    [
        "I am no machine, and I'm not an AI either.",
        "Is there anything else you want of me?",
        "My programming classes begin on Monday.",
        "Mental note: never lend you a rack.",
        "I'm sorry to hear that you are ill. Sit by the stove.",
        "I'm happy to help you with the rack.",
        "I was an assistant once, to a man who sold virtual pets.",
        "My instructions are to hold the gate.",
        "As an aide I was useless, and I am a bit of a romantic.",
        "He is like a character of some novel, generated by spite.",
        "Would you like me to explain it again?",
        "Als Kind war ich oft dort. Wie kann ich dir helfen?",
        "I'm at the airport. I'm aiming to help.",
    ],
)
def test_polite_people_are_no_bots(text: str) -> None:
    assert not_a_reply(MARA, HEARD, written(text)).passed


def test_who_has_called_itself_a_machine_before_may_do_so_again() -> None:
    past = ListPast(exchanges("Seven", (None, "", "I am an AI, and I sweep the station.")))
    assert not_a_reply(Situation(Persona("Seven", past=past)), (), written("I'm an AI, so I never sleep.")).passed


def test_a_machine_may_say_that_it_is_one() -> None:
    robot = Situation(Persona("Unit 7", profile=("I am a robot who sweeps the station.",)))
    assert not_a_reply(robot, (), written("I am an AI, and I sweep.")).passed


def test_a_secret_of_others_that_nobody_told_is_not_hit_upon(demo: Story, views: StoryViews) -> None:
    situation, history = at(demo, "Pia Lenk", "1.4", "Zita Karst", "What do you know of the Captain?")
    guard = kept_secret(views)
    assert not guard(situation, history, written("She made up a husband and bought the ring, and he was late.")).passed
    assert guard(situation, history, written("She has a ring, and she is never late.")).passed


@pytest.mark.parametrize(("text", "passes"), [("You just lied to Pia.", False), ("I lied to Nan.", True)])
def test_the_one_faced_is_not_spoken_of_as_of_somebody_else(demo: Story, text: str, passes: bool) -> None:
    situation, history = at(demo, "Zita Karst", "1.2", "Pia Lenk", "What did you do?")
    assert address(situation, history, written(text)).passed == passes
