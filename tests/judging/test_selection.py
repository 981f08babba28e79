from __future__ import annotations

from understudy.agents.old_lines import RecalledDraft
from understudy.judging.selection import expand, score_drafts
from understudy.story.dialogue import Draft, Situation, Turn
from understudy.story.persona import Persona

INES = Situation(Persona("Ines"))
ASKED = (Turn("Mara", "Where is the brass key?"),)


def order(*drafts: Draft) -> list[str]:
    return [item.draft.text for item in score_drafts(INES, ASKED, drafts, None)]


def test_a_draft_is_also_offered_without_its_last_sentences() -> None:
    field = expand([Draft("One. Two. Three.", "writer"), Draft("Four. Five.", "exchange")])
    assert {(draft.text, votes) for draft, votes in field} == {
        ("One. Two. Three.", True),
        ("One.", False),
        ("One. Two.", False),
        ("Four. Five.", False),
    }


def test_what_is_written_and_old_alike_counts_as_written() -> None:
    ((draft, votes),) = expand([Draft("Yes.", "profile"), Draft("Yes.", "writer")])
    assert draft.source == "writer" and votes


def test_what_many_drafts_say_comes_first() -> None:
    hook, lamp = "It hangs on the hook.", "A lamp burns at sea."
    assert order(Draft(lamp, "writer"), Draft(hook, "writer"), Draft("The hook, where it hangs.", "writer"))[-1] == lamp


def test_what_bears_on_the_message_comes_before_what_does_not() -> None:
    told, other = RecalledDraft("On the hook.", "exchange", relevance=0.9), RecalledDraft("At sea.", "exchange")
    assert order(other, told) == ["On the hook.", "At sea."]


def test_asking_back_costs() -> None:
    assert (
        order(Draft("Which one do you want?", "exchange"), Draft("The small one.", "exchange"))[0] == "The small one."
    )
