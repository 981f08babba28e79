"""Who somebody seems to be: the profile sentences that fit what they said, each with what gave it away.

Sentences are given (`profile_of`), or are what somebody says of themselves and other lines bear out
(`self_descriptions`), by the encoder alone:

    support(s) = mean of the 3 largest cos(own(s), said(l)) over the lines l that do not hold s themselves

s is a sentence of a line in the first person, short, to nobody, and not about what will be done. It is read as a
sentence of a profile and each line as something said, the way the encoder was taught that one follows from the other.
The best supported come first, none of them much like one before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from understudy.errors import InputError
from understudy.formats.evidence import measure
from understudy.formats.recognition import is_personachat
from understudy.papers.personachat.profiles import sides_of, training_of
from understudy.papers.personachat.scorers import Training, resemblance_named
from understudy.sources.source import SourceFile
from understudy.text import stems, stop_words, words

if TYPE_CHECKING:
    from understudy.language.encoding.encoder import SentenceEncoder


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


@dataclass(frozen=True, slots=True)
class ProfileTrait:
    """A likely profile sentence, how likely among the rest, the utterance that gave it away, and by which words."""

    sentence: str
    score: float
    said: str
    words: tuple[str, ...]


def profile_of(
    said: Sequence[str],
    sentences: Sequence[str],
    training: Training | None = None,
    scorer: str = "words",
    best: int = 5,
) -> list[ProfileTrait]:
    """The sentences most given away by what was said, best first, each by another utterance or at least other words.

    Without training data a word weighs by how few of the sentences have it.
    """
    said = [text for text in said if text.strip()]
    sentences = list(dict.fromkeys(text.strip() for text in sentences if text.strip()))
    if not said or not sentences or best < 1:
        return []
    if training is None or not training.utterances:
        training = Training(said, sentences, () if training is None else training.pairs)
    likeness = resemblance_named(scorer, sentences, training)(said)
    traits: list[ProfileTrait] = []
    seen: set[tuple[str, tuple[str, ...]]] = set()
    for index in np.argsort(-likeness.max(axis=0), kind="stable"):
        utterance = int(likeness[:, index].argmax())
        score = float(likeness[utterance, index])
        shared = shared_words(said[utterance], sentences[index])
        if score <= 0:
            break
        if (said[utterance], shared) in seen or (scorer == "words" and not shared):
            continue  # another wording of what has been told already, or nothing but plain words in common
        seen.add((said[utterance], shared))
        traits.append(ProfileTrait(sentences[index], score, said[utterance], shared))
        if len(traits) == best:
            break
    return traits


def sentences_in(path: Path) -> list[str]:
    """Profile sentences to choose from: those of PersonaChat dialogues, or the lines of a text file."""
    source = SourceFile(path)
    if is_personachat(measure(source.head(), path)):
        return [sentence for side in sides_of(path) for sentence in side.profile]
    sentences = [text.strip() for _, text in source.lines() if text.strip()]
    if not sentences:
        raise InputError("holds no sentence: write one profile sentence a line", path)
    return sentences


def training_in(data: Path) -> Training:
    """What a PersonaChat folder has to learn from; its profile sentences are the ones to choose from."""
    training, _ = training_of(data)
    if not training.sentences:
        raise InputError("holds no train_both_original*.txt: name the folder that has it", data)
    return training


def shared_words(said: str, sentence: str) -> tuple[str, ...]:
    """The words of what was said, plain ones left out, that the sentence has in any form."""
    known, plain = set(stems(sentence)), stop_words("en")
    return tuple(dict.fromkeys(word for word in words(said) if word not in plain and set(stems(word)) & known))


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
        likeness[row, [column for column, line in enumerate(lines) if sentence in line]] = 0
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
    from understudy.language.encoding.encoder import SentenceEncoder

    return SentenceEncoder()
