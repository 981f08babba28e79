"""The tables of chats. Messages are a tree: an edit or another try is a sibling, and nothing said is overwritten."""

from __future__ import annotations

__all__ = ["AS_SAID", "CHATS"]

# A chat's title is its first words, unless it was given another. `tip` is the last message of the branch that is
# shown, and `version` counts changes, so that a page can tell whether it is up to date. A message's `author` is the
# story's own name for them (NULL: the user as themselves), `shown` the name it was shown under, which may be a false
# one, and `faced` the name under which a character knew who spoke to it. 'cut' means: stopped, and only what was seen
# is kept. Parents are checked at the end of a transaction, so that a long branch can be taken away at once.
CHATS = """
CREATE TABLE chats (
    id TEXT PRIMARY KEY,
    story TEXT NOT NULL,
    characters TEXT NOT NULL,
    speaker TEXT,
    moment TEXT NOT NULL,
    title TEXT NOT NULL,
    tip INTEGER REFERENCES messages (id) DEFERRABLE INITIALLY DEFERRED,
    version INTEGER NOT NULL,
    created TEXT NOT NULL,
    changed TEXT NOT NULL
);
CREATE INDEX chats_by_change ON chats (changed);
CREATE TABLE messages (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    chat TEXT NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
    parent INTEGER REFERENCES messages (id) DEFERRABLE INITIALLY DEFERRED,
    answers INTEGER NOT NULL,
    author TEXT,
    shown TEXT NOT NULL,
    text TEXT NOT NULL,
    moment TEXT NOT NULL,
    faced TEXT,
    why TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('whole', 'cut')),
    created TEXT NOT NULL
);
CREATE INDEX messages_of_chat ON messages (chat);
CREATE INDEX messages_by_parent ON messages (parent)
"""

# `present` are the characters of the scene a message was said in (NULL: in a message older than this column), and
# `unanswered` is set with a message of the user and taken away with the last reply to it, so that what a server that
# was stopped or killed still owed can be told from what nobody was asked.
AS_SAID = """
ALTER TABLE messages ADD COLUMN present TEXT;
ALTER TABLE messages ADD COLUMN unanswered INTEGER NOT NULL DEFAULT 0
"""
