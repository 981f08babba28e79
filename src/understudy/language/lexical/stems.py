"""English words without their endings: 'skiing', 'skis' and 'ski' have one stem.

Endings are cut by rule, longest first; words that end in ss, us or is keep theirs, a doubled consonant becomes one, and
a last e is dropped, so that a stem is no word but the same for its forms.
"""

from __future__ import annotations

from functools import cache

from understudy.text import words

__all__ = ["stem", "stems"]

ENDINGS = (("ies", 5, "y"), ("sses", 6, "ss"), ("ing", 6, ""), ("ed", 5, ""), ("es", 5, "e"), ("s", 4, ""))
CLITICS = ("'s", "'re", "'ve", "'m", "'ll", "'d")


def stems(text: str) -> list[str]:
    """The stem of each word of a text, stop words too."""
    return [stem(word) for word in words(text)]


@cache
def stem(word: str) -> str:
    """Of a word as `text.words` gives it."""
    for clitic in CLITICS:
        word = word.removesuffix(clitic)
    for ending, least, instead in ENDINGS:
        if word.endswith(ending) and len(word) >= least and not word.endswith(("ss", "us", "is")):
            word = word.removesuffix(ending) + instead
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lse":
        word = word[:-1]  # 'running', 'run'
    if len(word) > 3:
        word = word.removesuffix("e")
    return f"{word[:-1]}i" if len(word) > 3 and word.endswith("y") else word
