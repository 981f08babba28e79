"""Words of texts: as token ids for the models that write word by word, as roots and terms to compare texts by.

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

from understudy.agents.dialogue_context import light_words
from understudy.text import sentences, stop_words, words

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
        self, own: Iterable[str], partner: Iterable[str], turns: Iterable[tuple[bool, str]], longest: int
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


# Lines of a story as a prompt shows them: without directions, shortened to what matters, chosen for their voice.


DIRECTION = re.compile(r"[\[(（][^\])）]*[\])）]")
ENDING = re.compile(r"(?:ing|ed|es|s|er)$")
LETTERS = re.compile(r"[^\W_]+")
VOICE_WORDS = (5, 20)  # of a line that shows how somebody talks


@lru_cache(1 << 14)
def terms(text: str, language: str) -> frozenset[str]:
    """Words of meaning without their endings; of Japanese and Chinese, pairs of neighbouring characters."""
    if language == "en":
        light = light_words(language)
        return frozenset(_stem(word) for word in words(text, language) if word not in light)
    runs = LETTERS.findall(text)
    return frozenset(run[index : index + 2] for run in runs for index in range(max(len(run) - 1, 1)))


def word_overlap(first: frozenset[str], second: frozenset[str]) -> float:
    """The cosine of two sets of terms."""
    return len(first & second) / (len(first) * len(second)) ** 0.5 if first and second else 0.0


def plain_line(text: str) -> str:
    """A line as it is said: without directions in brackets."""
    return " ".join(DIRECTION.sub(" ", text).split())


def relevant_part(text: str, query_terms: frozenset[str], most: int, language: str) -> str:
    """Of a text longer than `most` words, the run of sentences that bears most on what is asked."""
    if _length(text, language) <= most:
        return text
    parts = sentences(text) or [text]
    best = max(range(len(parts)), key=lambda index: (word_overlap(query_terms, terms(parts[index], language)), -index))
    first = last = best
    size = _length(parts[best], language)
    while True:
        after = _length(parts[last + 1], language) if last + 1 < len(parts) else most
        before = _length(parts[first - 1], language) if first else most
        if size + after <= most:
            last, size = last + 1, size + after
        elif size + before <= most:
            first, size = first - 1, size + before
        else:
            break
    shown = ("" if language != "en" else " ").join(parts[first : last + 1])
    if size <= most + 10:
        return shown
    return " ".join(shown.split()[: most + 10]) if language == "en" else shown[: 2 * (most + 10)]


def spread_lines(lines: Sequence[str], count: int, language: str) -> tuple[str, ...]:
    """Lines of middle length, spread over all: the same for every message."""
    low, high = VOICE_WORDS
    fit = [line for line in dict.fromkeys(lines) if low <= _length(line, language) <= high]
    if len(fit) <= count:
        return tuple(fit)
    step = len(fit) / count
    return tuple(fit[int((index + 0.5) * step)] for index in range(count))


def _length(text: str, language: str) -> float:
    """Words; of Japanese and Chinese, a word for every two characters."""
    return len(text.split()) if language == "en" else len(text) / 2


def _stem(word: str) -> str:
    word = word.removesuffix("'s")
    return ENDING.sub("", word) if len(word) > 4 else word
