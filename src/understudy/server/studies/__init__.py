"""Studies over HTTP: the participant's page behind a token, the organiser's dashboard behind the key."""

from __future__ import annotations

from understudy.server.studies.app import make_study_app
from understudy.server.studies.context import StudyContext

__all__ = ["StudyContext", "make_study_app"]
