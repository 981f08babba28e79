"""Where an utterance database is: a file, or a PostgreSQL address, whose password is never shown.

    postgresql://user:password@host:port/database        or ?host=/folder/of/socket

A password that the address does not have is taken from PGPASSWORD, as PostgreSQL's own programs do.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from understudy.errors import InputError

__all__ = ["connection_parts", "has_password", "is_address", "is_postgres", "masked"]

SCHEMES = ("postgresql://", "postgres://")
IN_FRONT = re.compile(r"^([^:/?#]+://[^:@/]*):(.+)@", re.DOTALL)  # up to the last @: a password may have any letter
ASKED_WITH = re.compile(r"((?:^|[?&;])[a-z]*password=)[^&;]*", re.IGNORECASE)
SECRET = "***"  # noqa: S105


def is_address(place: str | Path) -> bool:
    return "://" in str(place)


def is_postgres(place: str | Path) -> bool:
    return str(place).startswith(SCHEMES)


def masked(place: str | Path) -> str:
    """The place as it may be shown: without its password, however it is written."""
    return ASKED_WITH.sub(rf"\1{SECRET}", IN_FRONT.sub(rf"\1:{SECRET}@", str(place)))


def has_password(place: str | Path) -> bool:
    return is_address(place) and masked(place) != str(place)


def connection_parts(address: str) -> dict[str, Any]:
    """What the driver connects by."""
    try:
        told = urlsplit(address)
        host, port = told.hostname, told.port
    except ValueError as error:  # whose message may quote the password
        raise InputError(
            "is no PostgreSQL address: write postgresql://user@host:port/database, letters like / and @ in a "
            "password as %2F and %40",
            masked(address),
        ) from error
    asked = {key: values[-1] for key, values in parse_qs(told.query).items()}
    parts: dict[str, Any] = {
        "user": unquote(told.username or asked.get("user", "postgres")),
        "database": unquote(told.path.lstrip("/")) or "postgres",
        "port": port or 5432,
    }
    password = unquote(told.password or "") or asked.get("password") or os.environ.get("PGPASSWORD")
    if password:
        parts["password"] = password
    host = host or asked.get("host", "localhost")
    if host.startswith("/"):
        parts["unix_sock"] = f"{host}/.s.PGSQL.{parts['port']}"
    else:
        parts["host"] = host
    return parts
