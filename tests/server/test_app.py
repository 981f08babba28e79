"""All routes together: which there are, which methods they take, and the pages that show them."""

from __future__ import annotations

import json
import re

import pytest

from server.conftest import Ask
from understudy.server.app import OPERATIONS, PAGES
from understudy.server.application import document_of

PATHS = sorted({operation.path for operation in OPERATIONS} | {page.path for page in PAGES})


def filled(path: str) -> str:
    return re.sub(r"\{\w+(:\w+)?\}", "x", path)


@pytest.mark.parametrize("path", PATHS)
def test_a_method_that_is_not_taken_is_refused_by_name(ask: Ask, path: str) -> None:
    response = ask("PUT", filled(path))
    assert response.status_code == 405 and response.headers["allow"]
    assert set(response.json()["error"]) == {"message", "type", "param", "code"}


@pytest.mark.parametrize("path", sorted({operation.path for operation in OPERATIONS if operation.body is not None}))
def test_a_body_is_asked_for_where_one_is_needed(ask: Ask, path: str) -> None:
    (method,) = {operation.method for operation in OPERATIONS if operation.path == path and operation.body is not None}
    for content in (b"", b"{", b"[]", b"\xff\xfe", b"[" * 100_000):
        response = ask(method, filled(path), content=content, headers={"Content-Type": "application/json"})
        assert response.status_code == 400 and "error" in response.json()


def test_no_two_operations_are_the_same() -> None:
    endpoints = [(operation.method, re.sub(r"\{\w+", "{", operation.path)) for operation in OPERATIONS]
    assert len(endpoints) == len(set(endpoints))


def test_the_page_of_the_api_shows_every_operation(ask: Ask) -> None:
    page = ask("GET", "/docs").text
    document = ask("GET", "/openapi.json").json()
    assert document["openapi"] == "3.1.0"
    for operation in OPERATIONS:
        path = re.sub(r"\{(\w+):\w+\}", r"{\1}", operation.path)
        assert f"<code>{path}</code>" in page and operation.method.lower() in document["paths"][path]
    for name in document["components"]["schemas"]:
        assert f'id="{name}"' in page
    for link in re.findall(r'(?:href|src)="([^"]*)"', page):
        assert link.startswith(("/", "#")) and not link.startswith("//")


def test_the_schema_asks_for_the_key_where_there_is_one() -> None:
    assert "security" not in json.loads(document_of(OPERATIONS, keyed=False))
    keyed = json.loads(document_of(OPERATIONS, keyed=True))
    assert keyed["components"]["securitySchemes"]["key"]["scheme"] == "bearer" and keyed["security"] == [{"key": []}]
