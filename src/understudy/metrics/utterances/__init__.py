"""The utterance database: lines that may be said, by whom, from when to when, and who decided so.

    store = open_store("lines.db")                       SQLite, in one file
    store = open_store("postgresql://me@host/lines")     PostgreSQL with pgvector, for teams

Nothing is ever deleted: a decision is one more entry, and so is taking it back.
"""
