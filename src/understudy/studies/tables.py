"""The tables of the study database, and its migrations.

A person is known by a code ('p7') and by the hash of their token. An assignment is an item given to a person; it is
answered when `answered` is set, and an answer that was taken back stays as a draft until the item is answered again.
A chat is an item with two seats. An agent sits where `agent` is set; whoever makes its reply holds the seat's `lease`,
and another process may do so once that is old. What a person who withdraws had said goes with them.

`events` is the log of what the one who runs a study did: links made and ended, answers unblinded, and by whom.
`sessions` are the organiser's logins, of which only hashes are stored.
"""

from __future__ import annotations

from understudy.databases import Database, Migration

__all__ = ["APPLICATION_ID", "PURPOSE", "migrations"]

APPLICATION_ID = 0x55445354  # 'UDST'
PURPOSE = "the study database"


def migrations(database: Database) -> tuple[Migration, ...]:
    number = database.id_type
    return (
        (
            "studies",
            (
                f"""CREATE TABLE studies (
                    id {number}, name TEXT NOT NULL UNIQUE, document TEXT NOT NULL, digest TEXT NOT NULL,
                    invited BIGINT NOT NULL, created TEXT NOT NULL, closed TEXT)""",
                f"""CREATE TABLE items (
                    id {number}, study BIGINT NOT NULL REFERENCES studies ON DELETE CASCADE, name TEXT NOT NULL,
                    people BIGINT NOT NULL, is_check BIGINT NOT NULL, follows TEXT NOT NULL, document TEXT NOT NULL,
                    UNIQUE (study, name))""",
                f"""CREATE TABLE people (
                    id {number}, study BIGINT NOT NULL REFERENCES studies ON DELETE CASCADE, code TEXT NOT NULL,
                    token TEXT NOT NULL UNIQUE, state TEXT NOT NULL CHECK (state IN ('invited', 'active', 'ended')),
                    asked TEXT NOT NULL, created TEXT NOT NULL, seen TEXT, UNIQUE (study, code))""",
                f"""CREATE TABLE assignments (
                    id {number}, study BIGINT NOT NULL REFERENCES studies ON DELETE CASCADE,
                    person BIGINT NOT NULL REFERENCES people ON DELETE CASCADE,
                    item BIGINT NOT NULL REFERENCES items ON DELETE CASCADE, given TEXT NOT NULL, answered TEXT,
                    answer TEXT, comment TEXT NOT NULL, seconds DOUBLE PRECISION NOT NULL, UNIQUE (person, item))""",
                "CREATE INDEX assignments_of_item ON assignments (item)",
                "CREATE INDEX assignments_of_study ON assignments (study, answered)",
                f"""CREATE TABLE events (
                    id {number}, study BIGINT NOT NULL REFERENCES studies ON DELETE CASCADE, happened TEXT NOT NULL,
                    what TEXT NOT NULL)""",
            ),
        ),
        (
            "chats",
            (
                f"""CREATE TABLE seats (
                    id {number}, item BIGINT NOT NULL REFERENCES items ON DELETE CASCADE, side BIGINT NOT NULL,
                    person BIGINT REFERENCES people ON DELETE CASCADE, agent TEXT, joined TEXT NOT NULL,
                    seen TEXT NOT NULL, has_left BIGINT NOT NULL DEFAULT 0, lease TEXT, UNIQUE (item, side))""",
                f"""CREATE TABLE messages (
                    id {number}, item BIGINT NOT NULL REFERENCES items ON DELETE CASCADE, number BIGINT NOT NULL,
                    side BIGINT NOT NULL, person BIGINT REFERENCES people ON DELETE CASCADE, text TEXT NOT NULL,
                    sent TEXT NOT NULL, message_key TEXT NOT NULL, UNIQUE (item, number),
                    UNIQUE (item, side, message_key))""",
                "CREATE INDEX seats_of_person ON seats (person)",
            ),
        ),
        (
            "logins",
            ("CREATE TABLE sessions (token TEXT PRIMARY KEY, role TEXT NOT NULL, expires DOUBLE PRECISION NOT NULL)",),
        ),
    )
