"""The tables of the study database, and its migrations.

A person is known by a code ('p7') and by the hash of their token. An assignment is an item given to a person; it is
answered when `answered` is set, and an answer that was taken back stays as a draft until the item is answered again.
`events` is the log of what the one who runs a study did: links made and ended, answers unblinded, and by whom.
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
                    created TEXT NOT NULL, closed TEXT)""",
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
    )
