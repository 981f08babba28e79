"""PSProb and PTSal written down a second time, from the paper's text alone: slow, and with nothing of ours in it."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import numpy as np
from scipy.optimize import minimize

__all__ = ["cut", "speaker_probability", "term_salience"]

Lines = Mapping[str, Sequence[str]]
TOKEN = re.compile(r"[^\W_]+(?:['’][^\W_]+)*|([^\w\s()\[\]{}\"'‘’“”«»]|_)\1*")


def cut(line: str) -> list[str]:
    """Words, and marks as a tokenizer of Japanese has them: a token for each run of one sign, none for brackets."""
    return [found.group().replace("’", "'") for found in TOKEN.finditer(line.lower())]


def speaker_probability(train: Lines, name: str) -> Callable[[str], float]:
    """A multinomial logistic regression on tf-idf weighted word unigrams, as usually regularised (C = 1)."""
    lines = [(Counter(cut(line)), speaker) for speaker, own in train.items() for line in own]
    vocabulary = sorted({word for words, _ in lines for word in words})
    frequency = {word: sum(word in words for words, _ in lines) for word in vocabulary}

    def vector(words: Counter[str]) -> np.ndarray:
        weights = [words[word] * (math.log((1 + len(lines)) / (1 + frequency[word])) + 1) for word in vocabulary]
        length = math.sqrt(sum(weight * weight for weight in weights))
        return np.array(weights) / (length or 1.0)

    speakers = list(train)
    inputs = np.stack([vector(words) for words, _ in lines])
    wanted = np.array([[speaker == own for speaker in speakers] for _, own in lines], dtype=float)
    shape = len(speakers), len(vocabulary) + 1

    def probabilities(parameters: np.ndarray, rows: np.ndarray) -> np.ndarray:
        table = parameters.reshape(shape)
        logits = rows @ table[:, :-1].T + table[:, -1]
        odds = np.exp(logits - logits.max(axis=1, keepdims=True))
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))

    def loss(parameters: np.ndarray) -> tuple[float, np.ndarray]:
        given, table = probabilities(parameters, inputs), parameters.reshape(shape)
        gradient = np.concatenate(
            [(given - wanted).T @ inputs + table[:, :-1], (given - wanted).sum(axis=0)[:, None]], 1
        )
        value = -np.log((given * wanted).sum(axis=1)).sum() + (table[:, :-1] ** 2).sum() / 2
        return float(value), gradient.ravel()

    best = minimize(loss, np.zeros(shape[0] * shape[1]), jac=True, method="L-BFGS-B", tol=1e-12).x
    return lambda line: float(probabilities(best, vector(Counter(cut(line)))[None])[0, speakers.index(name)])


def term_salience(said: Lines, name: str) -> Callable[[str], float | None]:
    """The mean over the line's bigrams of UttFreq times SpkrRarity; a line of one word has no bigram."""
    bigrams = {speaker: [set(pairwise(cut(line))) for line in lines] for speaker, lines in said.items()}

    def salience(term: tuple[str, str]) -> float:
        users = sum(any(term in line for line in lines) for lines in bigrams.values())
        share = sum(term in line for line in bigrams[name]) / len(bigrams[name])
        return share * math.log(len(said) / users) if users else 0.0

    def score(line: str) -> float | None:
        terms = list(pairwise(cut(line)))
        return sum(map(salience, terms)) / len(terms) if terms else None

    return score
