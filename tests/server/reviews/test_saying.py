"""What reviewers approve is said on the page, with its number; what they reject is not."""

from __future__ import annotations

import pytest

from server.chats.conftest import events_of
from server.conftest import Ask, MakeContext
from studyserver import line
from understudy.agents.tfidf import TfIdfAgent
from understudy.judging.loading import ApprovedCandidates
from understudy.metrics.utterances import UtteranceStore
from understudy.metrics.utterances.record import APPROVED, FILTER
from understudy.server.context import AppContext

GULLS = "The gulls know of the weather what I know of the gulls."


@pytest.fixture
def context(make_context: MakeContext, lines: UtteranceStore) -> AppContext:
    lines.add([line(GULLS, since="2.1")], APPROVED, FILTER)
    return make_context(TfIdfAgent(ApprovedCandidates(lines)), utterances=lines)


def answered(ask: Ask, at: str) -> tuple[str, str]:
    """What Ines says to a question about gulls, and the page of that chat."""
    chat_request = {"story": "brass-key", "characters": ["Ines Vale"], "at": at, "speaker": "Tobias Rook"}
    chat = ask("POST", "/api/chats", json=chat_request).json()["id"]
    said = {"text": "What do the gulls know of the weather?"}
    events = events_of(ask("POST", f"/api/chats/{chat}/messages", json=said))
    assert events
    page = ask("GET", f"/chats/{chat}").text
    return ask("GET", f"/api/chats/{chat}").json()["messages"][-1]["text"], page


def test_an_approved_line_is_said_in_its_time_and_why_tells_its_number(ask: Ask, lines: UtteranceStore) -> None:
    text, page = answered(ask, "2.2")
    number = next(row.number for row in lines.find() if row.utterance.text == GULLS)
    assert text == GULLS and "An approved line" in page and f"utterance {number}: {GULLS}" in page
    text, page = answered(ask, "1.2")
    assert text != GULLS and GULLS not in page


def test_a_reviewers_decision_holds_for_the_next_reply(ask: Ask, lines: UtteranceStore) -> None:
    number = next(row.number for row in lines.find() if row.utterance.text == GULLS)
    reviewer = {"Cookie": "understudy_reviewer=Mara"}
    assert answered(ask, "2.2")[0] == GULLS
    ask("POST", "/review/decide", data={"number": str(number), "decision": "rejected"}, headers=reviewer)
    assert answered(ask, "2.2")[0] != GULLS
    ask("POST", "/review/undo", data={"number": str(number)}, headers=reviewer)
    assert answered(ask, "2.2")[0] == GULLS
