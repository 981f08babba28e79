from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from understudy.errors import InputError
from understudy.language.encoding import Context, SequenceFormat, Sequencer
from understudy.training.corpus import (
    PAIRS,
    EncodedExample,
    Mixing,
    Sequences,
    Shown,
    TokenizedDialogues,
    read_pairs,
)
from understudy.training.dialogues import DialogueSplit, ProfiledDialogue

FIRST = ProfiledDialogue(
    (("i sail.",), ("i mend clocks.", "i've no brothers.")),
    ((0, "hello ."), (1, "hi , i mend clocks ."), (0, "i sail ."), (1, "far ?")),
)
HELD = ProfiledDialogue((("i spin wool.",), ("i bake.",)), ((0, "good day ."), (1, "so it is .")))
SPLIT = DialogueSplit([FIRST], [HELD], frozenset({("i spin wool.",)}))
PAIRED = [
    ("i mend clocks.", "hi , i mend clocks ."),
    ("i mend clocks.", "clocks are my work ."),
    ("i spin wool.", "wool is spun by me ."),
    ("i sail.", "so it is ."),
]
FORM = SequenceFormat(
    1,
    2,
    {"reply": 3, "said": 4, "heard": 5, "own": 6, "theirs": 7, "query": 8},
    {"query": 40, "reply": 8, "sentence": 8},
)


def letters(texts: list[str]) -> list[list[int]]:
    """A word is its length plus ten."""
    return [[10 + len(word) for word in text.split()] for text in texts]


@pytest.fixture
def corpus() -> TokenizedDialogues:
    return TokenizedDialogues(SPLIT, PAIRED, lambda texts: letters(list(texts)))


def told(corpus: TokenizedDialogues, numbers: tuple[int, ...]) -> list[str]:
    return [corpus.texts[number] for number in numbers]


def test_every_turn_but_the_first_is_a_question(corpus: TokenizedDialogues) -> None:
    assert [corpus.texts[example.reply] for example in corpus.examples] == ["hi , i mend clocks .", "i sail .", "far ?"]
    last = corpus.examples[-1]
    assert told(corpus, last.own) == ["i mend clocks.", "i have no brothers."]
    assert [mine for mine, _ in last.turns] == [False, True, False]
    assert set(told(corpus, last.around)) == {text for _, text in FIRST.turns}


def test_nothing_of_those_held_back_is_learnt_from(corpus: TokenizedDialogues) -> None:
    assert [corpus.texts[said] for _, said in corpus.pairs] == ["hi , i mend clocks .", "clocks are my work ."]
    assert not {"i spin wool.", "good day .", "so it is ."} & set(corpus.texts)


def test_who_is_shown_some_dialogues_has_no_pairs_of_the_others() -> None:
    other = ProfiledDialogue((("i bake.",), ("i row.",)), ((0, "good morning ."), (1, "clocks are my work .")))
    corpus = TokenizedDialogues(
        DialogueSplit([FIRST, other], [], frozenset()), PAIRED[:2], lambda texts: letters(list(texts))
    )
    assert len(corpus.shown_only(range(4)).pairs) == 2
    part = corpus.shown_only(range(3))
    assert [corpus.texts[said] for _, said in part.pairs] == ["hi , i mend clocks ."]
    assert list(part.alike.values()) == [[part.pairs[0][1]]]
    assert len(corpus.pairs) == 2 and len(part.examples) == len(corpus.examples)


def drawn(corpus: TokenizedDialogues, mixing: Mixing, example: EncodedExample) -> Shown:
    return corpus.shown(example, mixing, random.Random(3))


@pytest.mark.parametrize(
    ("mixing", "own", "theirs"),
    [
        (Mixing(1, 0, 0, 0, 0, 0), 0, 0),
        (Mixing(0, 1, 0, 0, 0, 0), 2, 0),
        (Mixing(0, 0, 1, 0, 0, 0), 2, 1),
        (Mixing(0, 0, 0, 1, 0, 0), 0, 1),
    ],
)
def test_what_is_shown_is_drawn(corpus: TokenizedDialogues, mixing: Mixing, own: int, theirs: int) -> None:
    shown = drawn(corpus, mixing, corpus.examples[-1])
    assert (len(shown.own), len(shown.theirs), len(shown.turns)) == (own, theirs, 3)


def test_a_paraphrase_is_never_a_turn_of_the_dialogue_itself(corpus: TokenizedDialogues) -> None:
    sentences = [ids for seed in range(20) for ids in corpus.shown(
        corpus.examples[-1], Mixing(0, 1, 0, 0, 1, 0), random.Random(seed)).own]  # fmt: skip
    spelt = {tuple(ids) for ids in letters(["clocks are my work .", "i have no brothers."])}
    assert {tuple(ids) for ids in sentences} == spelt


def test_words_are_replaced_by_others_of_like_meaning(corpus: TokenizedDialogues) -> None:
    mend = 10 + len("mend")
    corpus.synonyms = {mend: [99]}
    example = corpus.examples[0]
    always = drawn(corpus, Mixing(0, 1, 0, 0, 0, 1), example)
    never = drawn(corpus, Mixing(0, 1, 0, 0, 0, 0), example)
    assert any(99 in ids for ids in always.own) and not any(mend in ids for ids in always.own)
    assert any(mend in ids for ids in never.own)


def test_sequences_are_those_the_agent_reads() -> None:
    make, reading = Sequences(FORM), Sequencer(FORM, lambda texts: letters(list(texts)))
    context = Context(("i mend clocks .",), (), ((False, "hello ."), (True, "far ?")))
    shown = Shown(letters(["i mend clocks ."]), [], list(zip((False, True), letters(["hello .", "far ?"]))))
    [expected] = reading.contexts([context])
    assert make.context(shown) == expected
    long = "a bb ccc dddd eeeee ffffff ggggggg hhhhhhhh"
    for role in ("reply", "own"):
        assert make.text(letters([long])[0], role) == reading.texts([long], role)[0]


def test_pairs_are_read_where_they_are(tmp_path: Path) -> None:
    assert read_pairs(tmp_path) == []
    path = tmp_path / PAIRS
    path.write_text(json.dumps([["i sail.", "i sail a lot ."]]), encoding="utf-8")
    assert read_pairs(tmp_path) == [("i sail.", "i sail a lot .")]
    for wrong, word in (
        ("{", "list of pairs in JSON"),
        ("{}", "not a list of pairs"),
        ('[["a", 1]]', "no pair of texts"),
    ):
        path.write_text(wrong, encoding="utf-8")
        with pytest.raises(InputError, match=word):
            read_pairs(tmp_path)
