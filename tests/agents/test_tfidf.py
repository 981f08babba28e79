from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from people import ListPast, exchanges, hearing, situation, tie
from understudy.agents.pools import Pools, own_past
from understudy.agents.tfidf import TfIdfAgent
from understudy.language.lexical import TfIdf
from understudy.story.dialogue import Situation, Turn
from understudy.story.types import Moment
from understudy.story.wording import plain_lines

KEY = ("Ines", "Where is the brass key?", "In my pocket.")
BOAT = ("Ines", "Did you mend the boat?", "Not before the tide turns.")
LAMP = ("Ruy", "Who lit the lamp?", "I did.")
LOVES = (tie("Ines", "familiarity", 9), tie("Ines", "affection", 9))


def said(given: Situation, *messages: str) -> str:
    return TfIdfAgent().reply(given, hearing(*messages)).text


def test_the_reply_given_to_the_most_similar_message() -> None:
    given = situation(KEY, BOAT, LAMP)
    assert said(given, "Have you seen the key?") == "In my pocket."
    assert said(given, "Is the boat mended yet?") == "Not before the tide turns."


def test_only_the_last_message_is_answered() -> None:
    assert said(situation(KEY, BOAT), "Where is the key?", "And the boat?") == "Not before the tide turns."


def test_evidence_names_exchange_scene_profile_and_tie() -> None:
    given = situation(BOAT, KEY, profile=("I keep a brass lamp.", "I hate fish."), relations=LOVES, faced="Ines")
    exchange, memory, profile, *ties = TfIdfAgent().reply(given, hearing("Tomas, is the key made of brass?")).evidence
    assert (exchange.kind, exchange.text) == ("exchange", "Ines: Where is the brass key?")
    assert (exchange.moment, set(exchange.words)) == (Moment((1, 2, 1)), {"brass", "key"})
    assert (memory.kind, memory.text) == ("memory", "Scene 2")
    assert (profile.kind, profile.text, profile.words) == ("profile", "I keep a brass lamp.", ("brass",))
    assert [tie.kind for tie in ties] == ["relation", "relation"]


def test_runners_up_are_shown_best_first_and_once() -> None:
    given = situation(*[("Ines", "The key?" + " Again?" * number, f"No {number % 7}.") for number in range(14)])
    reply = TfIdfAgent().reply(given, hearing("The key?"))
    scores = [candidate.score for candidate in reply.candidates if candidate.score is not None]
    assert len(scores) == len(reply.candidates) and reply.candidates[0].text == reply.text
    assert scores == sorted(scores, reverse=True)
    assert len({candidate.text for candidate in reply.candidates}) == len(reply.candidates) == 5


def test_it_does_not_repeat_itself_while_there_is_something_else_to_say() -> None:
    given = situation(KEY, ("Ruy", "Give me that key.", "Never."), profile=("I am a pilot.",))
    history = list[Turn]()
    for expected in ("In my pocket.", "Never.", "I am a pilot.", "In my pocket."):
        history += hearing("Where is the brass key?")
        history.append(Turn("Tomas", TfIdfAgent().reply(given, history).text))
        assert history[-1].text == expected


def test_whom_one_faces_decides_between_similar_exchanges() -> None:
    past_lines = (("Ruy", "Where is the key?", "Find it yourself."), ("Ines", "Where is the key?", "Here, my dear."))
    assert said(situation(*past_lines), "Where is the key?") == "Find it yourself."
    assert said(situation(*past_lines, faced="Ines"), "Where is the key?") == "Here, my dear."
    assert said(situation(LAMP, BOAT, faced="Ines"), "Who lit the lamp?") == "I did."


def test_profile_words_decide_between_similar_exchanges() -> None:
    past_lines = (("Ines", "Do you like to sail?", "Now and then."), ("Ines", "Do you like to fish?", "All my life."))
    assert said(situation(*past_lines), "What do you like?") == "Now and then."
    assert said(situation(*past_lines, profile=("I fish for a living.",)), "What do you like?") == "All my life."


def test_being_called_by_name_is_not_a_match() -> None:
    given = situation(("Ruy", "Tomas! Tomas!", "What now?"), BOAT)
    assert said(given, "Tomas, what of the boat?") == "Not before the tide turns."
    assert said(given, "Tomas?") == "What now?"


def test_words_without_meaning_are_no_match_where_there_are_others() -> None:
    given = situation(KEY, profile=("I am a pilot.",))
    assert said(given, "Where is the whale?") == "I am a pilot."
    assert said(given, "Where is it?") == "In my pocket."


def test_what_was_said_unasked_is_found_by_its_own_words() -> None:
    reply = TfIdfAgent().reply(situation((None, "", "Fog over the harbour again.")), hearing("How thick is the fog?"))
    assert reply.text == "Fog over the harbour again."
    assert reply.evidence[0].text == "Tomas: Fog over the harbour again."


def test_without_a_match_the_profile_answers() -> None:
    given = situation(LAMP, profile=("I am a pilot.", "I have the brass key."), relations=LOVES)
    reply = TfIdfAgent().reply(given, hearing("Who has the key?"))
    assert reply.text == "I have the brass key."
    assert [(evidence.kind, evidence.words) for evidence in reply.evidence] == [("profile", ("key",))]


@pytest.mark.parametrize("message", ["Do you love me?", "What do you think of Ines?", "Ines..."])
def test_asked_about_the_one_faced_it_says_what_it_feels(message: str) -> None:
    given = situation(profile=("I am a pilot.",), relations=(tie("Ruy", "enemy"), *LOVES), faced="Ines")
    reply = TfIdfAgent().reply(given, hearing(message))
    assert reply.text == "I love Ines with all my heart."
    assert reply.evidence[0].kind == "relation"


def test_asked_about_somebody_else_it_says_what_they_are() -> None:
    given = situation(profile=("I am a pilot.",), relations=(*LOVES, tie("Ruy", "enemy")), faced="Ines")
    assert said(given, "Who is Ruy?") == "Ruy is my enemy."


@pytest.mark.parametrize("language", ["en", "ja", "zh"])
def test_with_nothing_to_draw_on_it_says_so_plainly(language: str) -> None:
    reply = TfIdfAgent().reply(situation(language=language), hearing("?"))
    assert reply.text == plain_lines(language)[0]
    assert reply.evidence[0].text == "there is no earlier line, profile or tie to draw on"


def test_blank_lines_of_the_past_are_never_given() -> None:
    assert (
        said(situation(("Ines", "The key?", "  "), ("Ines", "The boat and the key?", "Gone.")), "The key?") == "Gone."
    )


def test_the_past_is_read_once_for_many_messages_even_at_once() -> None:
    given = situation(KEY, BOAT)
    agent = TfIdfAgent()
    with ThreadPoolExecutor(8) as threads:
        replies = list(threads.map(lambda number: agent.reply(given, hearing("The key?" * number)), range(1, 40)))
    assert {reply.text for reply in replies} == {"In my pocket."}
    past = given.persona.past
    assert isinstance(past, ListPast)
    assert past.readings == 1


def test_personas_do_not_share_a_past_but_may_share_a_collection() -> None:
    first, second = situation(KEY), situation(BOAT)
    own, shared = Pools(own_past, capacity=1), Pools(lambda _: bank)
    bank = exchanges("Tomas", LAMP)
    assert own.of(first) is not own.of(second)
    assert own.of(second).exchanges[0].said.text == BOAT[2]
    assert own.of(first).exchanges[0].said.text == KEY[2]
    assert shared.of(first) is shared.of(second)
    assert TfIdfAgent(lambda _: bank).reply(first, hearing("Who lit the lamp?")).text == "I did."


def test_ranking_prefers_what_fits_message_and_persona() -> None:
    given = situation(profile=("I have two dogs.",))
    scores = TfIdfAgent().score(given, hearing("Do you own a boat?"), ["I walk my dogs.", "My boat sank.", "Rain."])
    assert min(scores[:2]) > scores[2] == 0.0


def test_a_background_says_which_words_matter() -> None:
    background = TfIdf(["the key"] * 50 + ["whale"])
    history, candidates = hearing("A key or a whale?"), ["key", "whale"]
    key, whale = TfIdfAgent(background=background).score(situation(), history, candidates)
    assert whale > key
    even = TfIdfAgent().score(situation(), history, candidates)
    assert even[0] == even[1]


TEXT = st.text(max_size=30) | st.lists(st.sampled_from(["key", "boat", "Ines", "you", "the", "me", "fish"])).map(
    " ".join
)


@given(
    st.lists(st.tuples(st.sampled_from(["Ines", "Ruy", None]), TEXT, TEXT), max_size=6),
    st.lists(TEXT, max_size=3).map(tuple),
    st.lists(TEXT, max_size=4),
    st.sampled_from(["Ines", None]),
)
def test_whatever_was_said_there_is_a_reply(
    past_lines: list[tuple[str | None, str, str]], profile: tuple[str, ...], messages: list[str], faced: str | None
) -> None:
    given = situation(*past_lines, profile=profile, relations=LOVES, faced=faced)
    reply = TfIdfAgent().reply(given, hearing(*messages))
    assert reply.text.strip()
    assert reply == TfIdfAgent().reply(replace(given), hearing(*messages))
    assert all(0 <= score <= 1 + 1e-9 for score in TfIdfAgent().score(given, hearing(*messages), [*messages, "key"]))


def test_how_well_somebody_is_known_is_told_to_whoever_asks() -> None:
    given = situation(profile=("I am a harbour pilot.",), relations=(tie("Ines", "familiarity", 5),), faced="Ines")
    assert said(given, "Tell me about Ines.") == "I am a harbour pilot."
    assert said(given, "How well do you know Ines?") == "I am relatively familiar with Ines."
