"""The random token in a participant's link; the database has only its hash."""

from __future__ import annotations

import hashlib
import secrets

__all__ = ["hash_token", "new_token"]


def new_token() -> str:
    return secrets.token_urlsafe(24)


def hash_token(token: str) -> str:
    """Tokens have 192 random bits, so a plain hash cannot be searched for."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
