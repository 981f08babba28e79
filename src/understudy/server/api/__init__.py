"""The project's own API: what may be known of the stories at a moment."""

from __future__ import annotations

from understudy.server.api.routes import OPERATIONS

__all__ = ["OPERATIONS"]
