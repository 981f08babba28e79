"""Whatever is done to a chat, its messages stay a tree, its tip a leaf, and nothing goes but what was taken away."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from understudy.database import Database, migrate, open_database
from understudy.database.sqlite import Sqlite
from understudy.server.chats import store
from understudy.server.chats.store import Message
from understudy.server.database import APPLICATION_ID, migrations
from understudy.server.problems import Refused

Done = TypeVar("Done")
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=20)


def opened(location: str | Path) -> Database:
    db = open_database(location, APPLICATION_ID, "the server's database")
    migrate(db, migrations(db))
    return db


def said(text: str, is_reply: bool = False) -> Message:
    return Message(is_reply, "Ines Vale" if is_reply else None, "Ines Vale" if is_reply else "You", text, "2.1")


def within(db: Database, work: Callable[[Database], Done]) -> Done:
    """As the database does it: in a transaction of its own."""
    with db.transaction():
        return work(db)


class ChatIsATree(RuleBasedStateMachine):
    """The same done to the tables and to a dictionary: message -> (parent, text)."""

    def __init__(self, db: Database) -> None:
        super().__init__()
        self.db = db
        self.chat = within(self.db, lambda db: store.create(db, "brass-key", ["Ines Vale"], None, "2.1")).id
        self.other_chat = within(self.db, lambda db: store.create(db, "brass-key", ["Mara Quill"], None, "1.2")).id
        self.tree: dict[int, tuple[int | None, str]] = {}
        self.version = 1

    def pick(self, index: int) -> int:
        return sorted(self.tree)[index % len(self.tree)]

    def below(self, top: int) -> set[int]:
        subtree = {top}
        for number in sorted(self.tree):  # a child's number is always larger than its parent's
            if self.tree[number][0] in subtree:
                subtree.add(number)
        return subtree

    @property
    def tip(self) -> int | None:
        return store.get_chat(self.db, self.chat).tip

    @rule(text=TEXTS, is_reply=st.booleans())
    def say(self, text: str, is_reply: bool) -> None:
        parent = self.tip
        stored = within(self.db, lambda db: store.append(db, self.chat, parent, said(text, is_reply)))
        self.tree[stored.id] = (parent, text)
        assert self.tip == stored.id

    @precondition(lambda self: self.tree)
    @rule(text=TEXTS, index=st.integers(0, 50))
    def edit(self, text: str, index: int) -> None:
        parent = self.tree[self.pick(index)][0]
        stored = within(self.db, lambda db: store.append(db, self.chat, parent, said(text)))
        self.tree[stored.id] = (parent, text)
        assert self.tip == stored.id

    @precondition(lambda self: self.tree)
    @rule(index=st.integers(0, 50))
    def remove(self, index: int) -> None:
        wanted = self.pick(index)
        shown = [message.id for message in store.path(self.db, self.tip)]
        within(self.db, lambda db: store.remove(db, self.chat, wanted))
        for number in self.below(wanted):
            del self.tree[number]
        if wanted not in shown:
            assert [message.id for message in store.path(self.db, self.tip)] == shown

    @precondition(lambda self: self.tree)
    @rule(index=st.integers(0, 50))
    def remove_and_put_back(self, index: int) -> None:
        wanted, tip = self.pick(index), self.tip
        within(self.db, lambda db: store.remove(db, self.chat, wanted))
        within(self.db, lambda db: store.put_back(db, self.chat, wanted))
        assert self.tip == tip

    @precondition(lambda self: self.tree)
    @rule(index=st.integers(0, 50))
    def choose(self, index: int) -> None:
        wanted = self.pick(index)
        within(self.db, lambda db: store.show_branch(db, self.chat, wanted))
        assert wanted in [message.id for message in store.path(self.db, self.tip)]

    @precondition(lambda self: self.tree)
    @rule(seen=st.integers(0, 20))
    def stop(self, seen: int) -> None:
        tip = self.tip
        assert tip is not None
        text = self.tree[tip][1][:seen]
        within(self.db, lambda db: store.truncate(db, self.chat, tip, text))
        if text:
            self.tree[tip] = (self.tree[tip][0], text)
        else:
            del self.tree[tip]

    @precondition(lambda self: self.tree)
    @rule(index=st.integers(0, 50))
    def branch(self, index: int) -> None:
        wanted = self.pick(index)
        new = within(self.db, lambda db: store.branch(db, self.chat, wanted))
        copied = [(message.text, message.shown_name) for message in store.path(self.db, new.tip)]
        assert copied == [(message.text, message.shown_name) for message in store.path(self.db, wanted)]
        within(self.db, lambda db: store.delete(db, new.id))

    @invariant()
    def the_messages_are_those_of_the_dictionary(self) -> None:
        rows = self.db.rows("SELECT id, parent, text FROM messages WHERE chat = ?", (self.chat,))
        assert {number: (parent, text) for number, parent, text in rows} == self.tree

    @invariant()
    def the_tip_is_a_leaf(self) -> None:
        parents = {parent for parent, _ in self.tree.values()}
        leaves = set(self.tree) - parents
        assert self.tip in leaves if self.tree else self.tip is None

    @invariant()
    def a_path_runs_from_a_first_message_to_the_tip(self) -> None:
        path = store.path(self.db, self.tip)
        assert [message.parent for message in path] == [None, *(message.id for message in path)][: len(path)]
        assert (path[-1].id if path else None) == self.tip

    @invariant()
    def the_other_chat_is_left_alone(self) -> None:
        assert store.get_chat(self.db, self.other_chat).version == 1

    @invariant()
    def a_version_stands_for_one_state(self) -> None:
        version = store.get_chat(self.db, self.chat).version
        assert version >= self.version
        self.version = version


@pytest.fixture(params=["sqlite", "postgres"])
def db(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    sqlite = request.param == "sqlite"
    database = opened(tmp_path / "server.sqlite" if sqlite else request.getfixturevalue("postgres"))
    yield database
    database.close()


def test_whatever_is_done_a_chat_stays_a_tree(db: Database) -> None:
    examples = 60 if isinstance(db, Sqlite) else 12
    run_state_machine_as_test(
        lambda: ChatIsATree(db),  # type: ignore[arg-type]
        settings=settings(max_examples=examples, stateful_step_count=25),
    )


def test_a_message_of_another_chat_cannot_be_answered(db: Database) -> None:
    chat = store.create(db, "brass-key", ["Ines Vale"], None, "1.1")
    another = store.create(db, "brass-key", ["Ines Vale"], None, "1.1")
    first = store.append(db, chat.id, None, said("Hello."))
    with pytest.raises(Refused, match="no such message"):
        store.append(db, another.id, first.id, said("Hello?"))


def test_a_chat_of_thousands_of_messages_can_be_taken_away_at_once(db: Database) -> None:
    chat = store.create(db, "brass-key", ["Ines Vale"], None, "1.1")
    parent = first = store.append(db, chat.id, None, said("Hello.")).id
    with db.transaction():
        for number in range(2500):
            ((parent,),) = db.rows(
                """INSERT INTO messages (chat, parent, answers, shown, text, moment, why, state, created)
                   VALUES (?, ?, 0, 'You', ?, '1.1', '{}', 'whole', '') RETURNING id""",
                (chat.id, parent, str(number)),
            )
    within(db, lambda db: store.update(db, chat.id, tip=parent))
    assert len(store.path(db, parent)) == 2501
    assert within(db, lambda db: store.remove(db, chat.id, first)).tip is None
    assert store.texts(db, chat.id) == {}


def test_a_chat_is_called_by_its_first_words_until_it_is_given_a_title(db: Database) -> None:
    chat = store.create(db, "brass-key", ["Ines Vale"], None, "1.1")
    store.append(
        db, chat.id, None, said("Where   was the key\nat noon, and who had looked at the hook before you did?")
    )
    assert store.get_chat(db, chat.id).title == "Where was the key at noon, and who had looked at the hook…"
    store.update(db, chat.id, title="Keys")
    tip = store.get_chat(db, chat.id).tip
    store.append(db, chat.id, tip, said("And now?"))
    assert store.get_chat(db, chat.id).title == "Keys"


def test_stopping_a_reply_takes_replies_after_it_that_nobody_saw_but_never_what_the_user_said(
    db: Database,
) -> None:
    chat = store.create(db, "brass-key", ["Ines Vale", "Tobias Rook"], None, "1.1").id
    user = store.append(db, chat, None, said("Hello, all."))
    first = store.append(db, chat, user.id, said("Good day to you.", is_reply=True))
    store.append(db, chat, first.id, said("And to you.", is_reply=True))
    within(db, lambda db: store.truncate(db, chat, first.id, "Good"))
    assert [(message.text, message.state) for message in store.path(db, first.id)][-1] == ("Good", "cut")
    assert store.get_chat(db, chat).tip == first.id
    store.append(db, chat, first.id, said("What is good?"))
    within(db, lambda db: store.truncate(db, chat, first.id, ""))
    assert [message.text for message in store.path(db, store.get_chat(db, chat).tip)] == [
        "Hello, all.",
        "Good",
        "What is good?",
    ]


def test_what_was_deleted_long_ago_is_gone(db: Database) -> None:
    old, new = (store.create(db, "brass-key", ["Ines Vale"], None, "1.1").id for _ in range(2))
    for chat in (old, new):
        store.append(db, chat, None, said("Hello."))
        within(db, partial(store.delete, chat_id=chat, told="[1]"))
    db.rows("UPDATE chats SET deleted = '2020-01-01T00:00:00.000Z' WHERE id = ?", (old,))
    within(db, lambda db: store.purge(db, 3600))
    listed = {deleted: {chat.id for chat in store.list_chats(db, 99, deleted)} for deleted in (True, False)}
    assert new in listed[True] and old not in listed[True] and not {old, new} & listed[False]
    assert store.texts(db, old) == {}
    with pytest.raises(Refused, match="no such deleted chat"):
        within(db, lambda db: store.restore(db, old))
    assert within(db, lambda db: store.restore(db, new)) == "[1]"
    assert store.get_chat(db, new).title == "Hello."


def test_the_message_that_was_deleted_last_comes_back_with_what_followed_it(db: Database) -> None:
    chat = store.create(db, "brass-key", ["Ines Vale"], None, "1.1").id
    first = store.append(db, chat, None, said("Hello."))
    reply = store.append(db, chat, first.id, said("Good day.", is_reply=True))
    last = store.append(db, chat, reply.id, said("It rains."))
    within(db, lambda db: store.remove(db, chat, last.id))
    within(db, lambda db: store.remove(db, chat, reply.id, "[1]"))
    with pytest.raises(Refused, match="cannot be brought back"):
        within(db, lambda db: store.put_back(db, chat, last.id))
    store.append(db, chat, first.id, said("Good night.", is_reply=True))
    assert within(db, lambda db: store.put_back(db, chat, reply.id)) == "[1]"
    assert store.path(db, store.get_chat(db, chat).tip) == [first, reply]
    with pytest.raises(Refused, match="cannot be brought back"):
        within(db, lambda db: store.put_back(db, chat, reply.id))


def test_what_a_deleted_message_followed_must_still_be_there(db: Database) -> None:
    chat = store.create(db, "brass-key", ["Ines Vale"], None, "1.1").id
    reply = store.append(db, chat, None, said("Good day.", is_reply=True))
    answer = store.append(db, chat, reply.id, said("It rains."))
    within(db, lambda db: store.remove(db, chat, answer.id))
    within(db, lambda db: store.truncate(db, chat, reply.id, ""))
    with pytest.raises(Refused, match="no such message"):
        within(db, lambda db: store.put_back(db, chat, answer.id))


def test_a_message_that_was_deleted_long_ago_is_gone(db: Database) -> None:
    chat = store.create(db, "brass-key", ["Ines Vale"], None, "1.1").id
    message = store.append(db, chat, None, said("Hello."))
    within(db, lambda db: store.remove(db, chat, message.id))
    within(db, lambda db: store.purge(db, -60))
    with pytest.raises(Refused, match="cannot be brought back"):
        within(db, lambda db: store.put_back(db, chat, message.id))


def test_what_is_not_there_is_refused(db: Database) -> None:
    with pytest.raises(Refused, match="no such chat"):
        store.get_chat(db, "nothing")
    with pytest.raises(Refused, match="no such chat"):
        store.delete(db, "nothing")
    chat = store.create(db, "brass-key", ["Ines Vale"], None, "1.1")
    with pytest.raises(Refused, match="no such message"):
        store.remove(db, chat.id, 7)
