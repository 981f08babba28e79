"""What a language model writes, as it is said."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from understudy.agents.reply_text import ReplyCleaner, StreamCleaner

ZITA = ReplyCleaner(("Zita Karst", "Zita", "Karst"), ("Benedek",))


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("Fog again.", "Fog again."),
        ("Zita: Fog again.", "Fog again."),
        ("**Zita Karst:** Fog again.", "Fog again."),
        ("ZITA KARST : Fog again.", "Fog again."),
        ("[Zita]: Fog again.", "Fog again."),
        ("Miss Karst. Zita: Fog again.", "Miss Karst. Zita: Fog again."),
        ("Zita (softly): Fog again.", "(softly) Fog again."),
        ("Zita (who knows) is here.", "Zita (who knows) is here."),
        ("Zita Karst: **Zita:** Fog again.", "Fog again."),
        ("Zita has a brother: me.", "Zita has a brother: me."),
        ('"Fog again."', "Fog again."),
        ('Zita: "Fog again."', "Fog again."),
        ("“Fog again.”", "Fog again."),
        ("「また霧だ。」", "また霧だ。"),
        ('"Fog," he said, "again."', '"Fog," he said, "again."'),
        ("'Tis fog again.", "'Tis fog again."),
        ("Fog again.<|im_end|>", "Fog again."),
        ("<s> Fog </s>", "Fog"),
        ("<think>She wants fog.\nYes.</think>\n\nFog again.", "Fog again."),
        ("<think>never ends", ""),
        ("Fog again.\nBenedek: Indeed.\nZita: Yes.", "Fog again."),
        ("Fog again.\nUser: Indeed.", "Fog again."),
        ("  \n ", ""),
    ],
)
def test_labels_quotes_and_tokens_are_taken_off(written: str, said: str) -> None:
    assert ZITA.clean(written) == said
    for size in (1, 3, 1000):
        assert streamed(written, size)[0] == said


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("Fog again. And the boats are", "Fog again."),
        ("Fog again! Is it? No one", "Fog again! Is it?"),
        ("Fog and the boats,", "Fog and the boats..."),
        ("霧だ。舟は", "霧だ。"),
        ('He said "No." And', 'He said "No."'),
        ("Fog again. I saw Mr.", "Fog again."),
        ("I saw Mr. Ould and J. R.", "I saw Mr. Ould and J. R..."),
        ("fog again . and the boats are", "fog again ."),
    ],
)
def test_a_sentence_that_broke_off_is_left_out(written: str, said: str) -> None:
    assert ZITA.clean(written, "length") == said
    assert streamed(written, 4, "length", max_tokens=10)[0] == said


def test_a_reply_is_shown_while_it_is_written() -> None:
    _, pieces = streamed("Fog again. And the boats are late, as they were in autumn.", 4)
    assert len(pieces) > 8
    assert pieces[0].startswith("Fog"[:2])


def test_what_was_shown_is_never_taken_back() -> None:
    text, pieces = streamed("Fog again and " + "no boats and " * 40, 4, "length", max_tokens=100)
    assert text.startswith("Fog again and no boats")
    assert "".join(pieces) == text


@given(
    st.lists(
        st.sampled_from(
            [
                "Zita",
                ":",
                " ",
                "\n",
                '"',
                "Fog",
                ".",
                "<|im",
                "_end|>",
                "Benedek",
                "<",
                "think>",
                "「",
                "」",
                "*",
                "Me",
                "(",
                ")",
            ]
        ),
        max_size=14,
    ),
    st.sampled_from(["stop", "length", "cancelled"]),
    st.sampled_from([None, 3, 60]),
)
@example(["<|im", ":", "_end|>"], "stop", None)
def test_pieces_joined_are_the_text(parts: list[str], reason: str, max_tokens: int | None) -> None:
    stream = StreamCleaner(ZITA, max_tokens)
    pieces = [stream.feed(part) for part in parts]
    pieces.append(stream.finish(reason))
    assert "".join(pieces) == stream.text
    if reason != "length":
        assert stream.text == ZITA.clean("".join(parts), reason)


def test_a_name_is_known_with_and_without_its_full_stops() -> None:
    assert ReplyCleaner(("Mr Bennet",)).clean("Mr. Bennet: My dear.") == "My dear."


def streamed(written: str, size: int, reason: str = "stop", max_tokens: int | None = None) -> tuple[str, list[str]]:
    stream = StreamCleaner(ZITA, max_tokens)
    pieces = [stream.feed(written[start : start + size]) for start in range(0, len(written), size)]
    pieces.append(stream.finish(reason))
    return stream.text, [piece for piece in pieces if piece]
