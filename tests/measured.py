"""What tests of measures measure: ratings, chats and voices, and formulas of papers written down a second time."""

from __future__ import annotations

import json
import math
import random
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st
from scipy.optimize import minimize

from understudy.metrics.ratings import Answered, Level, Rating, RatingTable, Scale, rating_tables
from understudy.metrics.statistics import Estimate, Interval

__all__ = [
    "CAST",
    "TRADES",
    "chat",
    "cut",
    "judged",
    "novel",
    "profile",
    "speaker_probability",
    "term_salience",
    "volunteers",
]


# Tables of ratings for tests, from rows of answers, and the published examples that figures are checked against.


Answers = Sequence[Sequence[Answered | None]]

# Krippendorff 2011, example D: four observers in rows, twelve units
KRIPPENDORFF = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]

# Fleiss 1971: how many of six psychiatrists gave each of 30 patients one of five diagnoses
FLEISS = (
    "00060 03003 01401 00006 03030 20400 00402 20310 20040 00006 10050 11040 03300 10050 02031 "
    "00501 30012 51000 02040 10203 00006 01050 02013 20040 10041 05010 40002 02040 10500 00006"
)

answers = st.lists(st.lists(st.one_of(st.none(), st.integers(1, 5)), min_size=3, max_size=3), min_size=1, max_size=12)
"""Items by three people, from 1 to 5 where there is an answer."""


def table(rows: Answers, level: Level = "nominal", values: tuple[Answered, ...] = ()) -> RatingTable:
    """From a row of answers for each item, a column for each person."""
    ratings = [
        Rating(f"i{item}", f"p{person}", "q", value)
        for item, row in enumerate(rows)
        for person, value in enumerate(row)
    ]
    return rating_tables(ratings, {"q": Scale(level, values)})["q"]


def counted(counts: Sequence[Sequence[int]]) -> RatingTable:
    """From how many people gave each answer to each item."""
    return table([[answer for answer, count in enumerate(row) for _ in range(count)] for row in counts])


def bounds(estimate: Estimate) -> Interval:
    """Of an estimate that has a value and an interval."""
    assert estimate.value is not None and estimate.low is not None and estimate.high is not None, estimate.reason
    return Interval(estimate.value, estimate.low, estimate.high)


# PSProb and PTSal written down a second time, from the paper's text alone: slow, and with nothing of ours in it.


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


# Invented Japanese characters for tests of `voice`: each has a manner, and each talks of the same few things.


THINGS = (
    "船",
    "灯台",
    "港町",
    "手紙",
    "宝石",
    "薬草",
    "市場",
    "地図",
    "約束",
    "仕事",
    "料理",
    "剣術",
    "魔法",
    "学校",
    "兄弟",
    "祭り",
)

CAST: Mapping[str, tuple[str, ...]] = {
    "ゴンタ": (
        "俺は{0}なんか怖くねえぞ。",
        "おい、{0}はどうした？俺に任せろ！",
        "{0}だと？ふざけるな、俺の{1}だぞ。",
        "行くぜ、{0}が待ってるんだ！",
        "俺が{0}を見つけたんだぜ。",
        "{0}も{1}もいらねえよ。",
    ),
    "サヨ": (
        "わたくしは{0}を存じませんわ。",
        "まあ、{0}でございますの？",
        "{0}と{1}をお願いいたしますわ。",
        "わたくし、{0}が好きですのよ。",
        "{0}はどちらでございましょう？",
        "まあ、素敵な{0}ですこと。",
    ),
    "ケン": (
        "僕は{0}を見に行きたいです。",
        "{0}ですか？僕にはよくわかりません。",
        "すみません、{0}と{1}はどこですか？",
        "僕も{0}を手伝います。",
        "はい、{0}なら知っています。",
        "{0}は大切だと思います。",
    ),
    "爺": (
        "わしは{0}など知らんのう。",
        "ほっほっほ、{0}とは懐かしいのう。",
        "{0}はな、{1}と同じじゃよ。",
        "わしの若い頃は{0}があったものじゃ。",
        "{0}を持ってまいれ、急ぐのじゃ。",
        "うむ、{0}じゃな。",
    ),
}  # fmt: skip


def novel(seed: int, lines: int = 50, names: Mapping[str, tuple[str, ...]] = CAST) -> dict[str, list[str]]:
    """Lines of everybody, with things drawn by a seed."""
    rng = random.Random(seed)
    return {name: [rng.choice(manners).format(*rng.sample(THINGS, 2)) for _ in range(lines)]
            for name, manners in names.items()}  # fmt: skip


def judged(name: str, seed: int = 99, each: int = 10) -> dict[str, int]:
    """Replies as people judge them: 5 for the character's manner, 0 for another's."""
    told = novel(seed, each)
    return {
        f"問い{place}{other}\t{line}": 5 if other == name else 0
        for other, said in told.items()
        for place, line in enumerate(said)
    }


# Chats of people with bots, invented: bots that talk of their trade, people who like some of them.


TRADES = "clocks bread boats roses wine glass saddles kites bells maps lenses rugs".split()


def profile(trade: str) -> list[str]:
    return [f"i make {trade}.", f"i sell {trade} at the market.", f"my aunt taught me about {trade}.", f"{trade} pay."]


def chat(
    number: int,
    talks: bool = True,
    score: int | None = 3,
    match: int | str = "",
    person: str | None = None,
    turns: int = 5,
) -> dict[str, Any]:
    """A bot that talks of its own trade, or of nothing at all, and a person who asks."""
    bot, user = TRADES[number % len(TRADES)], TRADES[(number + 5) % len(TRADES)]
    dialog: list[dict[str, Any]] = []
    for turn in range(turns):
        asked = "hello there" if turn == 0 else f"so what else do you do on day {turn} ?"
        answer = f"i like to make {bot} number {turn}" if talks else "ok"
        for sender, text in (("Human", asked), ("Bot", answer)):
            dialog.append({"id": len(dialog), "sender_class": sender, "text": text, "evaluation_score": None})
    return {
        "dialog": dialog,
        "bot_profile": profile(bot),
        "user_profile": profile(user),
        "eval_score": score,
        "profile_match": match,
        "participant1_id": {"class": "User", "user_id": person or f"User {number:05}"},
        "participant2_id": {"class": "Bot", "user_id": "Bot 1"},
    }


def volunteers(folder: Path, chats: list[dict[str, Any]]) -> Path:
    """The file as ConvAI2 has it."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "convai2_volunteers.json"
    path.write_text(json.dumps(chats), encoding="utf-8")
    return path
