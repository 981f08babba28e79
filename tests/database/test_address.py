"""An address is taken apart as PostgreSQL's own programs do, and shown without its password."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.database import connection_arguments, has_password, masked, open_database
from understudy.errors import InputError

SECRETS = st.text(st.characters(min_codepoint=33, max_codepoint=126, exclude_characters="*?&;"), min_size=4)


@given(SECRETS)
def test_a_password_is_never_shown_however_it_is_written(secret: str) -> None:
    password = f"s3cr3t{secret}t3rc3s"
    for address in (
        f"postgresql://me:{password}@host:5432/lines",
        f"postgres://:{password}@/lines?host=/tmp",
        f"mysql://me:{password}@host/lines",
        f"postgresql://host/lines?sslmode=prefer&password={password}",
    ):
        assert password not in masked(address)
        assert "s3cr3t" not in masked(address)
        assert has_password(address)


@pytest.mark.parametrize(
    "location", ["lines.db", "a:b@c.db", "postgresql://me@host/lines", "postgresql:///lines?host=/tmp"]
)
def test_what_has_no_password_is_shown_as_it_is(location: str) -> None:
    assert masked(location) == location
    assert not has_password(location)


def test_the_password_is_the_addresses_own_or_the_environments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PGPASSWORD", raising=False)
    assert "password" not in connection_arguments("postgresql://me@host/lines")
    monkeypatch.setenv("PGPASSWORD", "from outside")
    assert connection_arguments("postgresql://me@host/lines")["password"] == "from outside"
    assert connection_arguments("postgresql://me:a%40b@host/lines")["password"] == "a@b"
    assert connection_arguments("postgresql://me@host/lines?password=asked")["password"] == "asked"


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://me:s3cr3t@host:many/lines",
        "postgresql://me:s3cr3t@[host/lines",
        "postgresql://me:s3cr3t@127.0.0.1:1/lines",
        "mysql://me:s3cr3t@host/lines",
        "postgresql://me:s3cr3t@" + "x" * 300 + "/lines",
    ],
)
def test_an_address_that_leads_nowhere_is_an_error_of_ours_that_keeps_the_password(address: str) -> None:
    with pytest.raises(InputError) as raised:
        open_database(address, 0x55444E4F, "the notebook")
    error: BaseException | None = raised.value
    assert "s3cr3t" not in str(error)
