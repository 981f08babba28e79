"""The tables of uploaded stories: what was sent, as it was sent, and what a person put right since.

The story made from it is a file in the data folder that can always be made again, so it is not kept here.
"""

from __future__ import annotations

__all__ = ["UPLOADS"]

UPLOADS = """
CREATE TABLE uploads (
    id TEXT PRIMARY KEY,
    story TEXT NOT NULL,
    content TEXT NOT NULL,
    made TEXT NOT NULL,
    fixable INTEGER NOT NULL,
    complete INTEGER NOT NULL DEFAULT 0,
    deleted TEXT
);
CREATE TABLE upload_files (
    id INTEGER PRIMARY KEY,
    upload TEXT NOT NULL REFERENCES uploads ON DELETE CASCADE,
    name TEXT NOT NULL,
    size INTEGER NOT NULL
);
CREATE INDEX upload_files_by_upload ON upload_files (upload, id);
CREATE TABLE upload_pieces (
    file INTEGER NOT NULL REFERENCES upload_files ON DELETE CASCADE,
    number INTEGER NOT NULL,
    bytes BLOB NOT NULL,
    PRIMARY KEY (file, number)
);
CREATE TABLE upload_fixes (
    upload TEXT NOT NULL REFERENCES uploads ON DELETE CASCADE,
    number INTEGER NOT NULL,
    what TEXT NOT NULL,
    cast_toml TEXT NOT NULL,
    made TEXT NOT NULL,
    PRIMARY KEY (upload, number)
) WITHOUT ROWID;
"""
"""Fix 0 is the cast.toml that came with the upload, blank where none did; undoing takes the newest away."""
