"""What is sent of a reply while it is written: joined it is the whole, and no true name slips through."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from understudy.server.streaming import ShownPieces, StopSequences
from understudy.story.names import ShownNames
from understudy.text import NameReplacer

FALSE = {"Aurel Benedek": "Anton Brenner", "Zita": "Klara"}
NAMES = ShownNames(FALSE, NameReplacer(FALSE, ["Aurel Benedek Junior"]))
WORDS = st.sampled_from(
    ["Aurel", "Benedek", "Aurel Benedek", "Junior", "Zita", "ZITA", "Zitadel", "aZita", "the quay,", "Benedek's"]
)


def cut(text: str, sizes: list[int]) -> list[str]:
    pieces = []
    for size in sizes:
        pieces.append(text[:size])
        text = text[size:]
    return [*pieces, text]


@given(st.lists(WORDS, max_size=40).map(" ".join), st.lists(st.integers(1, 9)))
def test_pieces_with_false_names_are_the_text_with_false_names(text: str, sizes: list[int]) -> None:
    shown = ShownPieces(NAMES)
    pieces = [shown.feed(piece) for piece in cut(text, sizes)] + [shown.finish()]
    assert "".join(pieces) == NAMES.in_text(text)


def test_only_what_may_be_a_name_is_held_back() -> None:
    shown = ShownPieces(NAMES)
    assert [shown.feed(piece) for piece in ("Was ", "it ", "Zi", "ta", "? ", "No.")] == [
        "Was ", "it ", "", "", "Klara? ", "No.",
    ]  # fmt: skip


def test_without_false_names_nothing_is_held_back() -> None:
    shown = ShownPieces(ShownNames({}, str))
    assert [shown.feed("Aur"), shown.feed("el"), shown.finish()] == ["Aur", "el", ""]


@given(
    st.text("ab\n", max_size=30),
    st.lists(st.integers(1, 5)),
    st.lists(st.text("ab\n", min_size=1, max_size=4), max_size=3),
)
def test_a_text_ends_before_the_first_stop_sequence(text: str, sizes: list[int], stops: list[str]) -> None:
    pieces = StopSequences(stops)
    sent = "".join([*map(pieces.feed, cut(text, sizes)), pieces.finish()])
    ends = [index for index in map(text.find, stops) if index >= 0]
    assert pieces.is_stopped == bool(ends)
    if ends:
        assert text.startswith(sent) and not any(stop in sent for stop in stops)
    else:
        assert sent == text
