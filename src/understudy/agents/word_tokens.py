"""Words and punctuation marks as token ids, for the models that write word by word.

    <s> (<profile> own sentence)* (<partner> their sentence)* (<me> said | <you> heard)*

A text is lower-cased and cut into words and single punctuation marks, so that its tokens joined by blanks are the text
as PersonaChat writes it. A word that is not in the vocabulary is `<unk>`. It has a probability like any other token,
the same whichever word it stands for, so the perplexity of a text with many unknown words is flattered. No text can
contain a special token: the angle brackets of one that does are tokens of their own.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache

__all__ = ["END", "MARKERS", "PAD", "SPECIAL", "START", "UNKNOWN", "TokenVocabulary", "read_tokens"]

SPECIAL = ("<pad>", "<unk>", "<s>", "</s>", "<profile>", "<partner>", "<me>", "<you>")
PAD, UNKNOWN, START, END = range(4)
MARKERS = {name: SPECIAL.index(f"<{name}>") for name in ("profile", "partner", "me", "you")}

TOKEN = re.compile(r"[^\W_]+(?:'[^\W_]+)*|[^\w\s]|_")
CACHED_TEXTS = 1 << 16

Ids = tuple[int, ...]


def read_tokens(text: str) -> list[str]:
    return TOKEN.findall(text.lower().replace("’", "'"))


class TokenVocabulary:
    """Special tokens, then words, the most frequent first."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = tuple(words)
        self.tokens = (*SPECIAL, *self.words)
        self._ids = {token: index for index, token in enumerate(self.tokens)}
        self.ids = lru_cache(CACHED_TEXTS)(self._read)

    @classmethod
    def of_texts(cls, texts: Iterable[str], fewest: int) -> TokenVocabulary:
        """The tokens that occur at least so often."""
        counts = Counter(token for text in texts for token in read_tokens(text))
        frequent = [(token, count) for token, count in counts.items() if count >= fewest]
        return cls([token for token, _ in sorted(frequent, key=lambda item: (-item[1], item[0]))])

    def __len__(self) -> int:
        return len(self.tokens)

    def _read(self, text: str) -> Ids:
        return tuple(self._ids.get(token, UNKNOWN) for token in read_tokens(text))

    def text(self, ids: Iterable[int]) -> str:
        return " ".join(self.tokens[index] for index in ids)

    def context(
        self,
        own: Iterable[str],
        partner: Iterable[str],
        turns: Iterable[tuple[bool, str]],
        longest: int,
    ) -> list[int]:
        """The input of a model; one that is too long loses its oldest turns, and a profile beyond half of it its end.

        A turn is (is it mine?, text).
        """
        profile = [
            index
            for marker, sentences in (("profile", own), ("partner", partner))
            for sentence in sentences
            for index in (MARKERS[marker], *self.ids(sentence))
        ][: longest // 2]
        said = [index for mine, text in turns for index in (MARKERS["me" if mine else "you"], *self.ids(text))]
        room = longest - 1 - len(profile)
        return [START, *profile, *(said[-room:] if len(said) > room else said)]
