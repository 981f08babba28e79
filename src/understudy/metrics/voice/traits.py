"""Style features of a Japanese line: turns of phrase, sentence endings, first-person pronouns, and nouns.

Orthography is the author's and not the character's, so it is evened out: widths, commas, quotation marks and repeated
marks do not count. A skeleton keeps the words that carry a manner (particles, auxiliaries, pronouns, interjections,
adverbs) and puts a class in the place of those that carry a topic, so that a manner is known again in talk of
something else.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from understudy.errors import MissingExtra

UNHEARD = re.compile(r"[\s、,「」『』()（）・―─~〜ー♪☆★*\"“”'’]+")
SENTENCE_END = re.compile(r"[。!?♪☆★~〜」]")
WITH_MANNER = {"助詞", "助動詞", "代名詞", "感動詞", "接続詞", "連体詞", "副詞", "接尾辞", "接頭辞"}
INFLECTED = {"動詞", "形容詞", "形状詞"}
UNSPOKEN = {"空白", "記号", "補助記号"}
AFTER_THE_PREDICATE = {"の", "もの", "から", "けど", "が", "し", "て", "で"}  # particles that may close a sentence
POLITE = re.compile(r"です|ます|ました|まして|ません|ましょう|でした|でしょう|ください|下さい|ございま")
LONGEST = 10_000  # letters of a line that are listened to
LAST_WORDS = 5  # of a sentence, in which politeness is looked for
THING = re.compile(r"[一-龥々ァ-ヴー]{2,}")

FIRST_PERSONS = {
    spelling: usual
    for usual, spellings in {
        "私": "私 わたし ワタシ",
        "わたくし": "わたくし ワタクシ",
        "あたし": "あたし アタシ あたい",
        "俺": "俺 おれ オレ 俺様",
        "僕": "僕 ぼく ボク",
        "儂": "儂 わし ワシ",
        "我": "我 われ ワレ 我が 我々",
        "妾": "妾 わらわ",
        "余": "余",
    }.items()
    for spelling in spellings.split()
}


@dataclass(frozen=True, slots=True)
class Traits:
    """`marks` are runs of letters and of the skeleton; `endings` are polite or plain, and what the sentence ends in."""

    marks: frozenset[str]
    first_persons: tuple[str, ...]
    endings: tuple[str, ...]
    things: frozenset[str]
    text: str


@dataclass(frozen=True, slots=True)
class Word:
    surface: str
    kind: str
    finer: str
    form: str
    lemma: str


def traits_of(line: str) -> Traits:
    """The traits of one line; of a very long one, of its beginning."""
    text = unicodedata.normalize("NFKC", line[:LONGEST])
    words = _words()(text)
    marks = set(_runs("c", _heard(text), 1, 4))
    endings = []
    for sentence, mark in _sentences(words):
        spoken = [word for word in sentence if word.kind not in UNSPOKEN]
        skeleton = ["^", *(_bone(word) for word in spoken), "$"]
        marks.update(_runs("k", skeleton, 1, 3))
        marks.update("e" + "|".join(skeleton[-length - 1 :]) for length in (1, 2, 3, 4))
        marks.add("m" + "|".join(skeleton[-3:]) + mark)
        letters = "".join(word.surface for word in spoken)
        marks.update("z" + letters[-length:] for length in (2, 3, 4, 5))
        endings.append(_ending(sentence))
    marks.update(f"q{word.kind}{word.finer[:2]}" for word in words)
    marks.update(f"P{word.lemma}" for word in words if word.kind == "代名詞")
    return Traits(
        frozenset(marks),
        tuple(
            FIRST_PERSONS[word.surface]
            for word in words
            if word.surface in FIRST_PERSONS and (word.kind == "代名詞" or word.surface in ("俺様", "我"))
        ),
        tuple(endings),
        frozenset(word.surface for word in words if word.kind == "名詞" and THING.fullmatch(word.surface)),
        line[:LONGEST],
    )


def _heard(text: str) -> str:
    """The text without what is only its spelling; a full stop stands before it and after it."""
    text = UNHEARD.sub("", re.sub(r"\.{2,}|・{2,}", "…", text))
    text = re.sub(r"…+", "…", re.sub(r"[。.]+", "。", text))
    text = re.sub(r"!+", "!", re.sub(r"[!?]*\?[!?]*", "?", text))
    return f"。{text.strip('。')}。"


def _runs(family: str, row: Sequence[str], shortest: int, longest: int) -> Iterator[str]:
    between = "" if isinstance(row, str) else "|"
    for length in range(shortest, longest + 1):
        for first in range(len(row) - length + 1):
            yield family + between.join(row[first : first + length])


def _sentences(words: Sequence[Word]) -> Iterator[tuple[list[Word], str]]:
    """The words of each sentence, dots and dashes where it breaks off among them, and the sign that closes it."""
    sentence: list[Word] = []
    for word in words:
        if word.kind == "補助記号" and SENTENCE_END.search(word.surface):
            if sentence:
                yield sentence, word.surface[0]
            sentence = []
        elif word.kind == "補助記号" or word.kind not in UNSPOKEN:
            sentence.append(word)
    if sentence:
        yield sentence, "$"


def _bone(word: Word) -> str:
    if word.kind in WITH_MANNER or word.finer in ("非自立可能", "助動詞語幹"):
        return word.surface
    if word.kind in INFLECTED:
        return f"<{word.kind}:{word.form[:3]}>"
    return f"<{word.kind}{word.finer[:2] if word.finer in ('固有名詞', '数詞') else ''}>"


def _ending(sentence: Sequence[Word]) -> str:
    """Polite or plain, and the word or the class of word that the final particles follow."""
    last = len(sentence) - 1
    while last > 0 and sentence[last].kind == "助詞":
        if sentence[last].finer != "終助詞" and sentence[last].surface not in AFTER_THE_PREDICATE:
            break
        last -= 1
    polite = POLITE.search("".join(word.surface for word in sentence[-LAST_WORDS:]))
    word = sentence[last]
    what = word.surface if word.kind == "助動詞" else word.kind
    if word.kind in UNSPOKEN:
        what = "breaking off"
    return f"{'polite' if polite else 'plain'} {what}"


@cache
def _words() -> Callable[[str], list[Word]]:
    try:
        import fugashi
    except ImportError as error:
        raise MissingExtra("hearing a voice in Japanese", "ja") from error
    tagger = fugashi.Tagger()

    def words(text: str) -> list[Word]:
        return [_word(token.surface, token.feature) for token in tagger(text)]

    return words


def _word(surface: str, feature: Any) -> Word:
    return Word(surface, feature.pos1, feature.pos2 or "", feature.cForm or "", feature.lemma or surface)
