"""The answers of a study as its kind works with them."""

from __future__ import annotations

from understudy.studies.chatting import with_transcripts
from understudy.studies.kind import GivenAnswer
from understudy.studies.kinds import kind_of
from understudy.studies.store import StoredStudy, StudyStore

__all__ = ["answers_of"]


def answers_of(store: StudyStore, stored: StoredStudy) -> list[GivenAnswer]:
    """In the order they came; those of a chat study with what was said."""
    given = store.given(stored.id)
    return with_transcripts(store, stored.id, given) if kind_of(stored.study.kind).is_live else given
