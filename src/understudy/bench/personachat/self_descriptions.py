"""What somebody says of themselves, and what else they say that bears it out: from their lines and the encoder alone.

    support(s) = mean of the 3 largest cos(own(s), said(l)) over the lines l that do not hold s themselves

s is a sentence of a line in the first person, short, to nobody, and not about what will be done. It is read as a
sentence of a profile and each line as something said, the way the encoder was taught that one follows from the other.
The best supported come first, none of them much like one before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np

from understudy.bench.personachat.profiling import ProfileTrait, shared_words
from understudy.encoding import SentenceEncoder
from understudy.text import stop_words, words

__all__ = ["self_descriptions"]

MOST_LINES = 2_000  # the last ones: what holds is what was said last
SUPPORT = 3
ALIKE = 0.6
LENGTHS = (4, 20)  # words
TELLING = 2  # words that carry a meaning
ASIDE = re.compile(r"\([^)]*\)|\[[^]]*\]")
SENTENCE_END = re.compile(r"(?<=[.!?…])[\"'”’)]*\s+")
OF_ONESELF = re.compile(r"(?:i|i'm|i've|my|we|we're|we've|our)\b", re.IGNORECASE)
WHAT_WILL_BE = re.compile(
    r"(?:i|we)(?:'ll|'d| will| shall| would| should| can| could| must| may| might)\b", re.IGNORECASE
)
TO_SOMEBODY = frozenset("you your yours you're you've you'll you'd yourself sir madam".split())


def self_descriptions(said: Sequence[str], best: int = 5) -> list[ProfileTrait]:
    """The sentences about themselves that the rest of what somebody said bears out most."""
    lines = [text for text in said if text.strip()][-MOST_LINES:]
    sentences = list(dict.fromkeys(sentence for line in lines for sentence in _sentences(line)))
    if not sentences:
        return []
    encoder = _encoder()
    own = encoder.encode(sentences, "own")
    likeness = own @ encoder.encode(lines).T
    for row, sentence in enumerate(sentences):
        likeness[row, [place for place, line in enumerate(lines) if sentence in line]] = 0
    support = np.sort(likeness, axis=1)[:, -SUPPORT:].mean(axis=1)
    chosen = list[int]()
    for row in np.argsort(-support, kind="stable").tolist():
        if len(chosen) == best:
            break
        if not chosen or (own[chosen] @ own[row]).max() < ALIKE:
            chosen.append(row)
    nearest = likeness.argmax(axis=1)
    return [
        ProfileTrait(
            sentences[row], float(support[row]), lines[nearest[row]], shared_words(lines[nearest[row]], sentences[row])
        )
        for row in chosen
    ]


def _sentences(line: str) -> Iterator[str]:
    """Those of a line that tell of who says it."""
    for sentence in SENTENCE_END.split(ASIDE.sub(" ", line)):
        text = sentence.strip()
        plain, cut = text.replace("’", "'"), words(text)
        if (
            OF_ONESELF.match(plain)
            and not WHAT_WILL_BE.match(plain)
            and not plain.endswith("?")
            and LENGTHS[0] <= len(cut) <= LENGTHS[1]
            and TO_SOMEBODY.isdisjoint(cut)
            and sum(word not in stop_words("en") for word in cut) >= TELLING
        ):
            yield text


@cache
def _encoder() -> SentenceEncoder:
    return SentenceEncoder()
