"""Where a database is: a file, or a PostgreSQL address, whose password is never shown.

    postgresql://user:password@host:port/database        or ?host=/folder/of/socket

Without a password in the address, PGPASSWORD is used, as PostgreSQL's own programs do.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from understudy.errors import InputError

__all__ = ["connection_arguments", "has_password", "is_address", "is_postgres", "masked"]

SCHEMES = ("postgresql://", "postgres://")
USER_PASSWORD = re.compile(r"^([^:/?#]+://[^:@/]*):(.+)@", re.DOTALL)  # greedy: a password may have an @
QUERY_PASSWORD = re.compile(r"((?:^|[?&;])[a-z]*password=)[^&;]*", re.IGNORECASE)
SECRET = "***"  # noqa: S105


def is_address(location: str | Path) -> bool:
    return "://" in str(location)


def is_postgres(location: str | Path) -> bool:
    return str(location).startswith(SCHEMES)


def masked(location: str | Path) -> str:
    """The location with *** for its password, in whichever way that is given."""
    return QUERY_PASSWORD.sub(rf"\1{SECRET}", USER_PASSWORD.sub(rf"\1:{SECRET}@", str(location)))


def has_password(location: str | Path) -> bool:
    return is_address(location) and masked(location) != str(location)


def connection_arguments(address: str) -> dict[str, Any]:
    """The driver's keyword arguments."""
    try:
        url = urlsplit(address)
        host, port = url.hostname, url.port
    except ValueError as error:  # its message may quote the password
        raise InputError(
            "is no PostgreSQL address: write postgresql://user@host:port/database, letters like / and @ in a "
            "password as %2F and %40",
            masked(address),
        ) from error
    options = {key: values[-1] for key, values in parse_qs(url.query).items()}
    arguments: dict[str, Any] = {
        "user": unquote(url.username or options.get("user", "postgres")),
        "database": unquote(url.path.lstrip("/")) or "postgres",
        "port": port or 5432,
    }
    password = unquote(url.password or "") or options.get("password") or os.environ.get("PGPASSWORD")
    if password:
        arguments["password"] = password
    host = host or options.get("host", "localhost")
    if host.startswith("/"):
        arguments["unix_sock"] = f"{host}/.s.PGSQL.{arguments['port']}"
    else:
        arguments["host"] = host
    return arguments
