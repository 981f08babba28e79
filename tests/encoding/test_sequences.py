from __future__ import annotations

from collections.abc import Sequence

from understudy.encoding.sequences import Context, Form, Sequencer

MARKERS = {"reply": 1, "said": 2, "heard": 3, "own": 4, "theirs": 5, "query": 6}


def letters(texts: Sequence[str]) -> list[list[int]]:
    return [[100 + ord(letter) for letter in text] for text in texts]


def sequencer(markers: dict[str, int] = MARKERS, query: int = 200) -> Sequencer:
    return Sequencer(Form(98, 99, markers, {"query": query, "reply": 8, "sentence": 6}), letters)


def test_a_text_has_its_role_in_front_and_loses_its_end() -> None:
    a, b, c, d, e, f = letters(["abcdef"])[0]
    assert sequencer().texts(["ab", "abcdefgh"], "reply") == [[98, 1, a, b, 99], [98, 1, a, b, c, d, e, 99]]
    assert sequencer().texts(["abcdefgh"], "own") == [[98, 4, a, b, c, 99]]
    assert sequencer({}).texts(["abcdefgh"], "own") == [[98, a, b, c, d, 99]]
    assert f not in sequencer().texts(["abcdefgh"], "reply")[0]


def test_a_context_is_profile_then_turns() -> None:
    a, b, c, d = letters(["abcd"])[0]
    made = sequencer().contexts([Context(("a",), ("b",), ((False, "c"), (True, "d"))), Context()])
    assert made == [[98, 6, 4, a, 5, b, 3, c, 2, d, 99], [98, 6, 99]]
    without = Sequencer(Form(98, 99, MARKERS, {"query": 200}, theirs=False), letters)
    assert without.contexts([Context(("a",), ("b",), ((False, "c"), (True, "d")))]) == [[98, 6, 4, a, 3, c, 2, d, 99]]


def test_the_oldest_turns_go_first_and_the_beginning_of_one_that_is_too_long() -> None:
    turns = tuple((False, letter * 30) for letter in "abcd")
    made = sequencer(query=100).contexts([Context(("p" * 50,), (), turns)])[0]
    assert len(made) <= 100
    assert made[-31:-1] == letters(["d" * 30])[0]
    assert letters(["a"])[0][0] not in made
    long = sequencer(query=100).contexts([Context(("p" * 500,), (), ((False, "x" * 1000 + "yz"),))])[0]
    assert len(long) == 100
    assert long[-3:-1] == letters(["yz"])[0]
