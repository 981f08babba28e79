"""A chat as one of its people sees it: wait, talk in turns, and stop when both have said enough.

Who begins was drawn, and sides take turns. A chat is over when each side has had its turns, or when the other has left.
Nothing of it is kept in memory: any process can take the next message, show the chat, or make an agent's reply.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from understudy.agents.conversation import ConversationTurn, perspective
from understudy.errors import InputError
from understudy.story.dialogue import Agent, Situation, Turn
from understudy.story.persona import Other, Persona
from understudy.studies.assignment import (
    Assignment,
    Seat,
    assigned_to,
    open_assignment,
    seat_of,
    seats_at,
    sit_down,
    time_ago,
    time_ahead,
)
from understudy.studies.item import Block, Option, Problem, ShownLine, StudyItem, message_problems, shortened
from understudy.studies.kind import GivenAnswer
from understudy.studies.store import ENDED, INVITED, Participant, StoredStudy, StudyStore, hash_token, now

KIND = "chat"
PROFILE = "profile"
WAITING, TALKING, OVER = "waiting", "talking", "over"
GONE_S = 300
"""Somebody who has not been heard of for so long has left the chat."""
LEASE_S = 10
"""Whoever makes an agent's reply says so again before this has passed; else it is owed by nobody."""
LONGEST_MESSAGE = 2_000
GREETINGS = {"en": "Hello!", "ja": "こんにちは！", "zh": "你好！"}
NO_CHAT = "you are in no chat: reload the page"


@dataclass(frozen=True, slots=True)
class StudyMessage:
    number: int
    side: int
    text: str


@dataclass(frozen=True, slots=True)
class ChatView:
    """The chat at which a person sits; without an item where there is none for them."""

    state: str
    item: int | None = None
    side: int = 0
    messages: tuple[StudyMessage, ...] = ()
    begins: int = 0
    """The side that has the first turn."""
    turns_left: int = 0
    persona: tuple[str, ...] = ()
    most_words: int = 0
    reason: str = ""
    """Why the chat is over before its end."""

    @property
    def turn(self) -> str | None:
        if self.state != TALKING:
            return None
        return "mine" if (len(self.messages) + self.begins) % 2 == self.side else "theirs"

    def document(self, after: int = 0) -> dict[str, Any]:
        return {
            "state": self.state,
            "messages": [
                {"number": message.number, "mine": message.side == self.side, "text": message.text}
                for message in self.messages
                if message.number > after
            ],
            "turn": self.turn,
            "turns_left": self.turns_left,
            "persona": list(self.persona),
            "most_words": self.most_words,
            "reason": self.reason,
        }


def chat_view(store: StudyStore, token: str, seen: str = "") -> ChatView:
    """Sit down if need be, say that one is there, and look. Who has last `seen` a chat go on is shown its end first."""
    with store.transaction():
        person, stored = _talker(store, token)
        if stored.closed or person.state in (ENDED, INVITED):
            return ChatView(OVER, reason="this study is over")
        assigned = assigned_to(store, person)
        if seen == TALKING and assigned.open is None and assigned.answered:
            return _view(store, seat_of(store, list(assigned.answered)[-1], person.id))
        seat = sit_down(store, stored, person)
        if seat is None:
            return ChatView(OVER, reason="there is no chat left for you")
        store.database.rows("UPDATE seats SET seen = ? WHERE item = ? AND side = ?", (now(), seat.item, seat.side))
        _leave_gone(store, seat)
        view = _view(store, seat)
        if view.state == OVER:
            _finish(store, seat)
        return view


def look(store: StudyStore, view: ChatView) -> ChatView:
    """The same chat now; only reads."""
    seats = () if view.item is None else [seat for seat in seats_at(store, view.item) if seat.side == view.side]
    return _view(store, seats[0]) if seats else replace(view, state=OVER)


def say(store: StudyStore, token: str, text: str, key: str) -> ChatView | list[Problem]:
    """Say something in one's turn; what breaks the rules is not said. The same `key` again is the same message."""
    with store.transaction():
        person, stored = _talker(store, token)
        if stored.closed or person.state in (ENDED, INVITED):
            raise InputError(NO_CHAT)
        known = store.database.rows("SELECT item FROM messages WHERE person = ? AND message_key = ?", (person.id, key))
        if known:  # perhaps the last of its chat
            return _view(store, seat_of(store, known[0][0], person.id))
        if (assignment := open_assignment(store, person)) is None:
            raise InputError(NO_CHAT)
        seat = seat_of(store, assignment.item, person.id)
        view = _view(store, seat)
        if view.turn != "mine":
            raise InputError("it is not your turn: wait for your partner's answer")
        item = store.item(seat.item)
        text = " ".join(text.split())[:LONGEST_MESSAGE]
        if problems := message_problems(text, view.persona, view.most_words, item.hidden["language"]):
            return problems
        _add(store, seat, person.id, text, key, now())
        store.database.rows("UPDATE seats SET seen = ? WHERE item = ? AND side = ?", (now(), seat.item, seat.side))
        view = _view(store, seat)
        if view.state == OVER:
            _finish(store, seat)
        return view


def owed_reply(store: StudyStore, token: str) -> tuple[int, str] | None:
    """(chat, agent) where it is an agent's turn and nobody is making its reply; whoever gets this must make it."""
    query = """SELECT theirs.item, theirs.agent FROM seats AS own JOIN seats AS theirs ON theirs.item = own.item
               JOIN people ON people.id = own.person
               JOIN assignments ON assignments.item = own.item AND assignments.person = own.person
               WHERE people.token = ? AND answered IS NULL AND theirs.agent IS NOT NULL AND theirs.joined <= ?
                 AND (theirs.lease IS NULL OR theirs.lease < ?)"""
    if not store.database.rows(query, (hash_token(token), now(), time_ago(LEASE_S))):
        return None  # most chats: nobody is kept waiting by this question
    with store.transaction():
        for item, agent in store.database.rows(query, (hash_token(token), now(), time_ago(LEASE_S))):
            (theirs,) = [seat for seat in seats_at(store, item) if seat.agent]
            if _view(store, theirs).turn == "mine" and not _is_late(store, item):
                store.database.rows(
                    "UPDATE seats SET lease = ? WHERE item = ? AND side = ?", (now(), item, theirs.side)
                )
                return int(item), str(agent)
        return None


def renew_lease(store: StudyStore, item: int) -> None:
    """Say that an agent's reply is being made."""
    with store.transaction():
        store.database.rows("UPDATE seats SET lease = ? WHERE item = ? AND agent IS NOT NULL", (now(), item))


def reply_as_agent(store: StudyStore, item: int, agent: Agent) -> None:
    """Make the reply that `owed_reply` gave out; it is seen after as long as a person would take to write it."""
    seats = [each for each in seats_at(store, item) if each.agent]
    if not seats or (view := _view(store, seats[0])).turn != "mine":
        return  # the person has withdrawn meanwhile
    seat, asked = seats[0], store.item(item)
    reply = agent.reply(*_situation(asked, view)).text
    text = shortened(" ".join(reply.split()), view.most_words) or "..."
    rng = random.Random(f"{asked.name} {len(view.messages)}")  # noqa: S311
    delay = rng.uniform(*asked.hidden["writes_s"])
    with store.transaction():
        current = _view(store, seat)
        if current.turn == "mine" and len(current.messages) == len(view.messages):
            _add(store, seat, None, text, f"reply {len(current.messages)}", time_ahead(delay))
        store.database.rows("UPDATE seats SET lease = NULL WHERE item = ? AND side = ?", (item, seat.side))


def with_transcripts(store: StudyStore, study: int, answers: Sequence[GivenAnswer]) -> list[GivenAnswer]:
    """Answers of a chat study with what was said laid into each item's `hidden`.

    `chat` is [[side, text], ...]; `seated` has the code of the person or the name of the agent on each side, blank
    where a person has withdrawn.
    """
    numbers: dict[str, int] = dict(store.database.rows("SELECT name, id FROM items WHERE study = ?", (study,)))
    codes: dict[int | None, str] = dict(store.database.rows("SELECT id, code FROM people WHERE study = ?", (study,)))
    laid_in = []
    for each in answers:
        number = numbers[each.item.name]
        seated = ["", ""]
        for seat in seats_at(store, number):
            seated[seat.side] = seat.agent or codes.get(seat.person, "")
        said = [[message.side, message.text] for message in _messages(store, number)]
        hidden = {**each.item.hidden, "chat": said, "seated": seated}
        laid_in.append(replace(each, item=replace(each.item, hidden=hidden)))
    return laid_in


def finished_chat(store: StudyStore, person: Participant) -> tuple[Assignment, ChatView] | None:
    """The chat of a person that is over and has questions to answer."""
    assignment = open_assignment(store, person)
    if assignment is None:
        return None
    view = _view(store, seat_of(store, assignment.item, person.id))
    return (assignment, view) if view.state == OVER and store.item(assignment.item).questions else None


def asked_after(item: StudyItem, view: ChatView) -> StudyItem:
    """What a person is asked of a chat that is over: the chat, and in `profile` the two profiles to choose from."""
    said = tuple(
        ShownLine("You" if message.side == view.side else "Partner", message.text) for message in view.messages
    )
    profiles = {"a": item.hidden["foil"], "b": item.hidden["foil"]}
    profiles[item.hidden["right"][view.side]] = item.hidden["personas"][1 - view.side]
    questions = tuple(
        replace(question, options=tuple(Option(key, " ".join(profiles[key])) for key in ("a", "b")))
        if question.name == PROFILE
        else question
        for question in item.questions
    )
    return replace(item, blocks=(Block("Your chat", said),), questions=questions)


def _talker(store: StudyStore, token: str) -> tuple[Participant, StoredStudy]:
    person, stored = store.participant(token)
    if stored.study.kind != KIND:
        raise InputError("nobody talks in this study: reload the page")
    return person, stored


def _view(store: StudyStore, seat: Seat) -> ChatView:
    item = store.item(seat.item)
    messages = tuple(_messages(store, seat.item))
    turns: int = item.hidden["turns"]
    partners = [each for each in seats_at(store, seat.item) if each.side != seat.side]
    state, reason = TALKING, ""
    if len(messages) >= 2 * turns:
        state = OVER
    elif messages and (seat.has_left or not partners or partners[0].has_left):
        state, reason = OVER, "you were away for too long" if seat.has_left else "your partner has left"
    elif not partners or max(seat.joined, partners[0].joined) > now():
        state = WAITING
    own = sum(message.side == seat.side for message in messages)
    return ChatView(
        state,
        seat.item,
        seat.side,
        messages,
        item.hidden["begins"],
        max(0, turns - own),
        tuple(item.hidden["personas"][seat.side]),
        item.hidden["most_words"],
        reason,
    )


def _leave_gone(store: StudyStore, seat: Seat) -> None:
    """A partner who has not been heard of for long has left, and stays so: two must not be told different things."""
    store.database.rows(
        "UPDATE seats SET has_left = 1 WHERE item = ? AND side <> ? AND agent IS NULL AND seen < ?",
        (seat.item, seat.side, time_ago(GONE_S)),
    )


def agent_leaves(store: StudyStore, item: int) -> None:
    """End a chat whose agent cannot reply."""
    with store.transaction():
        store.database.rows("UPDATE seats SET has_left = 1 WHERE item = ? AND agent IS NOT NULL", (item,))


def _messages(store: StudyStore, item: int) -> list[StudyMessage]:
    """What both can see now: an agent's reply is stored before it would have been written."""
    rows = store.database.rows(
        "SELECT number, side, text FROM messages WHERE item = ? AND sent <= ? ORDER BY number", (item, now())
    )
    return [StudyMessage(*row) for row in rows]


def _is_late(store: StudyStore, item: int) -> bool:
    """Whether a reply is made already, and only not to be seen yet."""
    return bool(store.database.rows("SELECT 1 FROM messages WHERE item = ? AND sent > ?", (item, now())))


def _add(store: StudyStore, seat: Seat, person: int | None, text: str, key: str, sent: str) -> None:
    store.database.rows(
        """INSERT INTO messages (item, number, side, person, text, sent, message_key)
           VALUES (?, (SELECT coalesce(max(number), 0) + 1 FROM messages WHERE item = ?), ?, ?, ?, ?, ?)""",
        (seat.item, seat.item, seat.side, person, text, sent, key),
    )


def _finish(store: StudyStore, seat: Seat) -> None:
    """A chat that is over and asks nothing afterwards is answered, for both at once."""
    if not store.item(seat.item).questions:
        store.database.rows(
            "UPDATE assignments SET answered = ?, answer = ? WHERE item = ? AND answered IS NULL",
            (now(), "{}", seat.item),
        )


def _situation(item: StudyItem, view: ChatView) -> tuple[Situation, tuple[Turn, ...]]:
    """What an agent is given: its own persona, and what was said as a talk with a stranger."""
    language = item.hidden["language"]
    situation = Situation(Persona("Me", profile=view.persona, language=language), faced=Other("Partner"))
    said = [ConversationTurn("Me" if message.side == view.side else None, message.text) for message in view.messages]
    # Agents answer: one that has the first turn is greeted, which its partner does not see.
    return situation, perspective(said or [ConversationTurn(None, GREETINGS[language])], situation)
