from __future__ import annotations

from pathlib import Path

import pytest

from understudy.bench.judged_agents import MissingAnswers
from understudy.errors import AgentError, MissingAnswer


def test_what_is_missing_is_collected_and_raised_as_one() -> None:
    missing = MissingAnswers()
    missing.check()
    for name in ("a", "b", "a"):
        with missing:
            raise MissingAnswer({(Path("folder"), name): {"model": "m"}})
    with pytest.raises(MissingAnswer) as error:
        missing.check()
    assert [name for _, name in error.value.requests] == ["a", "b"]


def test_other_errors_are_nobodys_business() -> None:
    with pytest.raises(AgentError), MissingAnswers():
        raise AgentError("no words today")
