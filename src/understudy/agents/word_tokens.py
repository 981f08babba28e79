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

from understudy.text import stop_words, words

__all__ = [
    "END",
    "IRREGULAR",
    "MARKERS",
    "PAD",
    "SPECIAL",
    "START",
    "UNKNOWN",
    "TokenVocabulary",
    "read_tokens",
    "roots",
]

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


# The roots of a text's content words ('wrote' and 'writing' are the same), by endings and a list of forms.

IRREGULAR = {
    form: verb
    for verb, forms in {
        "write": "wrote written", "take": "took taken", "steal": "stole stolen", "burn": "burnt", "fall": "fell fallen",
        "catch": "caught", "tell": "told", "know": "knew known", "give": "gave given", "go": "went gone",
        "make": "made", "sell": "sold", "buy": "bought", "sleep": "slept asleep", "die": "died dead death dying",
        "hide": "hid hidden", "keep": "kept", "lie": "lied lying", "wear": "wore worn", "break": "broke broken",
        "see": "saw seen", "say": "said", "send": "sent", "find": "found", "lose": "lost", "leave": "left",
        "kill": "killed killer", "forge": "forged forger forgery", "think": "thought", "hear": "heard",
        "come": "came", "run": "ran", "meet": "met", "hold": "held", "pay": "paid", "bring": "brought",
        "marry": "married marriage husband wife", "begin": "began begun", "speak": "spoke spoken", "swear": "swore",
        "feel": "felt", "do": "did done", "get": "got", "bear": "born",
    }.items()
    for form in forms.split()
}  # fmt: skip
ENDINGS = ("'s", "ing", "ed", "es", "s")


@lru_cache(50_000)
def roots(text: str, language: str = "en") -> frozenset[str]:
    """The content words of a text without their endings, so that 'wrote' and 'writing' are the same."""
    small = stop_words(language)
    meaningful = (word for word in words(text, language) if word not in small)
    return frozenset(map(_root, meaningful) if language == "en" else meaningful)


@lru_cache(50_000)
def _root(word: str) -> str:
    if word not in IRREGULAR:
        for ending in ENDINGS:
            if word.endswith(ending) and len(word) - len(ending) >= 3:
                word = word[: -len(ending)]
                if ending in ("ing", "ed") and len(word) > 3 and word[-1] == word[-2]:
                    word = word[:-1]
                break
    verb = IRREGULAR.get(word, word)
    return verb.removesuffix("e") if len(verb) > 4 else verb
