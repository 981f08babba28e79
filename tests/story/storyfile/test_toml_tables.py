"""Tables that a person keeps: what each kind may hold, and errors with the line of the table."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.errors import CastError
from understudy.story.storyfile.toml_tables import DecisionFileParser

PATH = Path("kept.toml")


class Parser(DecisionFileParser):
    KEYS: ClassVar = {"": {"entry", "undo"}, "entry": {"id", "sure", "names"}, "undo": {"entries"}}
    REPAIR = "mend the line"

    def read(self) -> None:
        ids = []
        for line, table in self.tables("entry"):
            ids.append(self.required_text(table, "id", line))
            self.share(table, "sure", line, 0.0)
            self.texts(table, "names", line)
        self.unique(ids)
        list(self.undo_steps("{ id }", lambda table, _: table["id"]))


def test_tables_come_with_the_lines_they_begin_on() -> None:
    parser = Parser(PATH, '[[entry]]\nid = "a"\n\n# two\n[[entry]]\nid = "b"\n')
    assert [(line, table["id"]) for line, table in parser.tables("entry")] == [(1, "a"), (5, "b")]


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        (
            '[[entry]]\nid = "a"\n[[entry]]\nwho = "x"',
            r"'who' is unknown in \[\[entry\]\]: it has id, names, sure: mend",
            3,
        ),
        ('[entry]\nid = "x"', r"write \[\[entry\]\] with two brackets", 1),
        ("[[entry]]\nid = 3", "'id' is missing or not a text", 1),
        ('[[entry]]\nid = "a"\nsure = true', "'sure' is True, not a number from 0 to 1", 1),
        ('[[entry]]\nid = "a"\nsure = 1.5', "'sure' is 1.5", 1),
        ('[[entry]]\nid = "a"\nnames = ["x", 1]', "'names' must be a list of texts", 1),
        ('[[entry]]\nid = "a"\n[[entry]]\nid = "a"', "two entries have the id 'a'", 1),
        ("[[undo]]\nentries = [1]", "'entries' must be a list of { id }", 1),
        ("[[entry]]\nid = \n\n", "is not TOML.*; mend the line", 2),
    ],
)
def test_what_is_wrong_is_said_with_the_line_and_what_to_do(text: str, message: str, line: int) -> None:
    with pytest.raises(CastError, match=message) as caught:
        Parser(PATH, text).read()
    assert caught.value.line == line


@given(st.floats(0, 1))
def test_a_share_is_read_as_it_was_written(share: float) -> None:
    parser = Parser(PATH, f"[[entry]]\nsure = {share:.9f}")
    ((line, table),) = parser.tables("entry")
    assert parser.share(table, "sure", line) == pytest.approx(share, abs=1e-9)
