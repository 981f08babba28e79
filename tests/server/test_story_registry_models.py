"""What a client calls a character."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.server.problems import Refused
from understudy.server.story_registry import ModelName

NAME = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30).map(str.strip).filter(bool)


@given(st.builds(ModelName, NAME, NAME, NAME, st.none() | NAME))
def test_a_name_is_read_as_it_was_written(name: ModelName) -> None:
    assert ModelName.parse(str(name)) == name


@pytest.mark.parametrize(
    "text", ["", "gpt-4", "/", "demo/", "/Zita", "a/b/c", "a/b@", "a/b#", "a/b#c@d", " / ", "x" * 600]
)
def test_what_names_nobody(text: str) -> None:
    with pytest.raises(Refused) as refused:
        ModelName.parse(text)
    assert refused.value.status == 404 and refused.value.param == "model"
