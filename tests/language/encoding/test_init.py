from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.language.encoding import PROCESSING, Context, SequenceFormat, Sequencer, canonical

MARKERS = {"reply": 1, "said": 2, "heard": 3, "own": 4, "theirs": 5, "query": 6}


def letters(texts: Sequence[str]) -> list[list[int]]:
    return [[100 + ord(letter) for letter in text] for text in texts]


def sequencer(markers: dict[str, int] = MARKERS, query: int = 200) -> Sequencer:
    return Sequencer(SequenceFormat(98, 99, markers, {"query": query, "reply": 8, "sentence": 6}), letters)


def test_a_text_has_its_role_in_front_and_loses_its_end() -> None:
    a, b, c, d, e, f = letters(["abcdef"])[0]
    assert sequencer().texts(["ab", "abcdefgh"], "reply") == [[98, 1, a, b, 99], [98, 1, a, b, c, d, e, 99]]
    assert sequencer().texts(["abcdefgh"], "own") == [[98, 4, a, b, c, 99]]
    assert sequencer({}).texts(["abcdefgh"], "own") == [[98, a, b, c, d, 99]]
    assert f not in sequencer().texts(["abcdefgh"], "reply")[0]


def test_a_context_is_profile_then_turns() -> None:
    a, b, c, d = letters(["abcd"])[0]
    sequences = sequencer().contexts([Context(("a",), ("b",), ((False, "c"), (True, "d"))), Context()])
    assert sequences == [[98, 6, 4, a, 5, b, 3, c, 2, d, 99], [98, 6, 99]]
    without = Sequencer(SequenceFormat(98, 99, MARKERS, {"query": 200}, theirs=False), letters)
    assert without.contexts([Context(("a",), ("b",), ((False, "c"), (True, "d")))]) == [[98, 6, 4, a, 3, c, 2, d, 99]]


def test_the_oldest_turns_go_first_and_the_beginning_of_one_that_is_too_long() -> None:
    turns = tuple((False, letter * 30) for letter in "abcd")
    sequence = sequencer(query=100).contexts([Context(("p" * 50,), (), turns)])[0]
    assert len(sequence) <= 100
    assert sequence[-31:-1] == letters(["d" * 30])[0]
    assert letters(["a"])[0][0] not in sequence
    long = sequencer(query=100).contexts([Context(("p" * 500,), (), ((False, "x" * 1000 + "yz"),))])[0]
    assert len(long) == 100
    assert long[-3:-1] == letters(["yz"])[0]


WORDS = """i you he she it we they that there this who what where how here when why everything something do does did is
are was were have has had would could should must need can won ain shan let y'all 'cause dont cant im ive didnt doesnt
isnt thats whats cannot The QUICK brown fox""".split()
ENDINGS = ["", "'m", "’ve", "'re", " 'll", " d", "n't", "n ' t", "'s", " s", "'t", " t", " .", ", and  so\ton"]
PINNED = {1: "cf8d1a6cb504db41"}
"""For each version of the processing, the digest of the sequences that it makes of these words with these endings."""


def test_texts_that_become_other_sequences_are_another_version_of_the_processing() -> None:
    texts = [f"{word}{ending} {word}" for word in WORDS for ending in ENDINGS]
    texts += [" ".join(texts[start : start + 40]) for start in range(0, len(texts), 40)]
    contexts = [
        Context(tuple(texts[i : i + 3]), tuple(texts[i + 3 : i + 4]), ((False, texts[i + 4]), (True, texts[-i])))
        for i in range(1, len(texts) - 5, 5)
    ]
    builder = sequencer()
    sequences = [builder.texts(texts, "reply"), builder.texts(texts, "own"), builder.contexts(contexts)]
    digest = blake2b(repr(sequences).encode(), digest_size=8).hexdigest()
    assert PINNED.get(PROCESSING) == digest, "raise PROCESSING and pin its digest: cached vectors differ"


@pytest.mark.parametrize(
    ("text", "normalized"),
    [
        ("I'm fine, I can't complain.", "i am fine, i can not complain."),
        ("i m fine", "i am fine"),
        ("I’ve been", "i have been"),
        ("they 're here", "they are here"),
        ("don't  you", "do not you"),
        ("that s it", "that is it"),
        ("'cause", "because"),
        ("Tim's dime", "tim's dime"),
        ("", ""),
    ],
)
def test_contractions_are_written_out(text: str, normalized: str) -> None:
    assert canonical(text) == normalized


@given(st.text())
def test_any_text_can_be_normalized(text: str) -> None:
    assert canonical(text) == canonical(text).strip()
