"""The project's own routes: what may be known of the stories at a moment, to read."""

from __future__ import annotations

from understudy.server.api.routes import OPERATIONS

__all__ = ["OPERATIONS"]
