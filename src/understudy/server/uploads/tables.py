"""The tables of uploaded stories."""

from __future__ import annotations

__all__ = ["UPLOADS"]

UPLOADS = ""
