"""Who somebody seems to be: the profile sentences that fit what they said, each with what gave it away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from understudy.bench.personachat.people import chairs_of, training_of
from understudy.bench.personachat.resemblance import Training, stems
from understudy.bench.personachat.scorers import resemblance_named
from understudy.errors import InputError
from understudy.readers import reader_of
from understudy.readers.personachat import READER as PERSONACHAT
from understudy.readers.source import SourceFile
from understudy.text import stop_words, words

__all__ = ["ProfileTrait", "profile_of", "sentences_in", "shared_words", "training_in"]


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
    if PERSONACHAT.recognises(source.head(), path) and reader_of(source) is PERSONACHAT:
        return [sentence for chair in chairs_of(path) for sentence in chair.profile]
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
