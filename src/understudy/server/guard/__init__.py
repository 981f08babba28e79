"""What every request passes before the application: access, request limits, security headers, the request log."""

from __future__ import annotations

from understudy.server.guard.access import AccessPolicy
from understudy.server.guard.middleware import GuardMiddleware, RequestLimits

__all__ = ["AccessPolicy", "GuardMiddleware", "RequestLimits"]
