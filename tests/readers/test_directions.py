from __future__ import annotations

import pytest

from understudy.readers.directions import EVERYBODY, comings_and_goings


@pytest.mark.parametrize(
    ("text", "enter", "leave"),
    [
        ("Ross enters.", ("Ross",), ()),
        ("(Joey and Chandler leave)", (), ("Joey", "Chandler")),
        ("Dr Mott, Pip and Ada Quill leave, muttering.", (), ("Dr Mott", "Pip", "Ada Quill")),
        ("Enter Hamlet, Horatio, and Marcellus.", ("Hamlet", "Horatio", "Marcellus"), ()),
        ("Exit Ghost.", (), ("Ghost",)),
        ("Exeunt.", (), (EVERYBODY,)),
        ("They all exit.", (), (EVERYBODY,)),
        ("Exeunt all but Hamlet.", (), ()),
        ("田所 leaves.", (), ("田所",)),
        ("She turns; Monica exits as Rachel enters.", ("Rachel",), ("Monica",)),
        ("He enters the room.", ("He",), ()),  # nobody's name: whoever resolves it drops it
        ("Rain on the roof.", (), ()),
        ("the cat leaves", (), ()),
    ],
)
def test_who_comes_and_who_goes(text: str, enter: tuple[str, ...], leave: tuple[str, ...]) -> None:
    assert comings_and_goings(text) == (enter, leave)
