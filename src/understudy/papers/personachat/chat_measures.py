"""What can be counted of a chat without asking anybody: one number for each chat, of the bot, of the person, of both.

Of a side's messages (a message without words counts in `turns` only):

    turns, words        how many messages; how many words in all
    message_words       words a message
    dist-1, dist-2      different words, different pairs of words / all of them, over the side's messages together
    rep, rep_turn       mean share of repeated 4-grams within a message; share of messages said before, word for word
    questions           share of messages with a question mark
    greeting, ending    does the first message greet; does one of the last two say goodbye? 1 or 0
    complaints          share of messages that say one is not understood, repeated to, bored or talking to a machine
    p_f1, p_cover, copying      mean over messages against the own profile; p_f1_partner against the other side's
    persona_similarity  mean over messages of the largest cosine with a sentence of the own profile, by the encoder
    coherence           mean cosine of a message with what the other side had just said, by the encoder
    contradiction       mean probability that a message contradicts the own profile, by the shipped classifier
    ngram_perplexity    exp of the mean surprise of the words under n-grams of training dialogues
    perplexity          the same by a language model, each message given what came before it

A value that a chat does not have (of a bot that never answered) is NaN.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from understudy.formats.chat_records import BOT_SIDE, HUMAN_SIDE, ChatRecord
from understudy.language.backends.transformer import Transformer
from understudy.language.encoding import Floats
from understudy.language.encoding.encoder import shared_encoder, shipped_model
from understudy.language.lexical.rows import Reals
from understudy.metrics import Samples, copying, p_cover, p_f1, uppl
from understudy.metrics.contradiction import sentences_of, shipped_contradiction_model
from understudy.metrics.generation import distinct, repeated_share, repeats_turn, tokenize_replies
from understudy.metrics.overlap import corpus_ranks
from understudy.metrics.statistics import spearman
from understudy.progress import Progress, ignore_progress
from understudy.story.dialogue import BatchLanguageModel, LanguageModel, Situation, Turn
from understudy.story.persona import Other, Persona
from understudy.text import words

Measures = dict[tuple[str, str], Reals]
"""By measure and whose messages it is of: a value for each chat."""

SIDES = {"bot": (BOT_SIDE,), "human": (HUMAN_SIDE,), "both": (HUMAN_SIDE, BOT_SIDE)}
NAMES = ("the person", "the bot")

GREETING = re.compile(
    r"\b(?:hi+|hey+|hello+|hiya|yo|greetings|good (?:morning|afternoon|evening|day))\b", re.IGNORECASE
)
ENDING = re.compile(
    r"\b(?:bye+|goodbye|good night|see (?:you|ya)|talk (?:to you )?later|take care|farewell)\b", re.IGNORECASE
)
COMPLAINT = re.compile(
    r"\b(?:huh|wtf|pardon|makes? no sense|(?:do not|don'?t|didn'?t|did not) (?:understand|get it|make sense)|"
    r"you (?:already|just) (?:said|asked|told)|stop repeating|repeat\w*|"
    r"are you (?:a |an )?(?:bot|robot|machine|human|real|ai)|stupid|idiot|boring|nonsense|weird|crazy)\b|"
    r"^\s*what\s*\?+\s*$|\?\?",
    re.IGNORECASE,
)  # fmt: skip


def chat_measures(
    chats: Sequence[ChatRecord],
    training: Sequence[str] = (),
    model: LanguageModel | None = None,
    progress: Progress = ignore_progress,
) -> Measures:
    """Every measure of every side; n-grams and ranks of words are learnt from the utterances of `training`."""
    values: dict[tuple[str, str], list[float]] = {}
    samples = Samples({"everybody": training or [turn.text for chat in chats for turn in chat.turns]})
    ranks = corpus_ranks(samples)
    surprise = uppl(samples, "everybody") if training else None
    for done, chat in enumerate(chats, 1):
        for of, sides in SIDES.items():
            for name, value in _of_texts(chat, sides):
                values.setdefault((name, of), []).append(value)
        for of in ("bot", "human"):
            side = SIDES[of][0]
            lines = samples.tokenize(chat.said(side))
            own, partner = chat.profiles[side], chat.profiles[1 - side]
            metrics = {"p_f1": p_f1(samples, own), "p_cover": p_cover(samples, own, ranks)}
            metrics |= {"copying": copying(samples, own), "p_f1_partner": p_f1(samples, partner)}
            for name, metric in metrics.items():
                values.setdefault((name, of), []).append(_mean(metric.values(lines)))
            if surprise is not None:
                mean = _mean(np.log(surprise.values(lines)))
                values.setdefault(("ngram_perplexity", of), []).append(float(np.exp(mean)))
            if model is not None:
                values.setdefault(("perplexity", of), []).append(_perplexity(model, chat, side))
        progress("Measuring", done, len(chats))
    measured = {key: np.array(column) for key, column in values.items()}
    if (shipped_model() / "model.json").is_file():
        measured |= _of_meanings(chats)
    return measured


def _of_texts(chat: ChatRecord, sides: Sequence[int]) -> Iterator[tuple[str, float]]:
    """Measures of the words alone."""
    texts = [turn.text for turn in chat.turns if turn.side in sides]
    said = [text for text in texts if words(text)]
    yield "turns", len(texts)
    yield "words", sum(len(words(text)) for text in said)
    tokens = tokenize_replies(said) if said else []
    for n in (1, 2):
        yield f"dist-{n}", distinct(tokens, n).value if any(len(some) >= n for some in tokens) else np.nan
    shares: Mapping[str, Callable[[int, str], float]] = {
        "message_words": lambda _, text: len(words(text)),
        "rep": lambda at, _: repeated_share(tokens[at]),
        "rep_turn": lambda at, text: repeats_turn(text, said[:at]),
        "questions": lambda _, text: "?" in text,
        "complaints": lambda _, text: COMPLAINT.search(text) is not None,
    }
    for name, share in shares.items():
        yield name, _mean([share(at, text) for at, text in enumerate(said)])
    yield "greeting", float(GREETING.search(said[0]) is not None) if said else np.nan
    yield "ending", float(any(ENDING.search(text) for text in said[-2:])) if said else np.nan


def _mean(values: Sequence[float] | Reals) -> float:
    """The mean of the values there are; NaN where there is none."""
    known = np.asarray(values, dtype=np.float64)
    known = known[~np.isnan(known)]
    return float(known.mean()) if len(known) else np.nan


def _perplexity(model: LanguageModel, chat: ChatRecord, side: int) -> float:
    """exp of the mean surprise of a token of the side's messages, each after what was said before it."""
    faced = Other(NAMES[1 - side])  # nobody was shown the other's profile
    situation = Situation(Persona(NAMES[side], profile=chat.profiles[side]), faced=faced, present=(faced,))
    history = [Turn(NAMES[turn.side], turn.text) for turn in chat.turns]
    positions = [at for at, turn in enumerate(chat.turns) if turn.side == side and turn.text.strip()]
    if isinstance(model, BatchLanguageModel):
        answers = model.log_probs_many([(situation, history[:at], [chat.turns[at].text]) for at in positions])
        values = [value for texts in answers for log_probs in texts for value in log_probs]
    elif isinstance(model, Transformer):  # it looks at a text alone, whatever came before
        values = [value for log_probs in model.many([chat.turns[at].text for at in positions]) for value in log_probs]
    else:
        values = [value for at in positions for value in model.log_probs(situation, history[:at], chat.turns[at].text)]
    return float(np.exp(-_mean(values)))


class _Vectors:
    """Everything that was said, and every sentence of it and of the profiles, encoded once."""

    def __init__(self, chats: Sequence[ChatRecord]) -> None:
        said = sorted({turn.text for chat in chats for turn in chat.turns if turn.text.strip()})
        profiles = sorted({sentence for chat in chats for profile in chat.profiles for sentence in profile})
        self._statements = {text: sentences_of(text) for text in said}
        stated = [sentence for some in self._statements.values() for sentence in some]
        self._reply = self._encoded([*said, *stated, *profiles], "reply")
        self._heard, self._own = self._encoded(said, "heard"), self._encoded(profiles, "own")
        self._contradiction = shipped_contradiction_model()

    def coherence(self, message: str, before: str) -> float:
        return float(self._reply[message] @ self._heard[before])

    def persona_similarity(self, message: str, profile: Sequence[str]) -> float:
        return max(float(self._reply[message] @ self._own[sentence]) for sentence in profile)

    def contradiction(self, message: str, profile: Sequence[str]) -> float:
        """The largest probability of any of its sentences with any of the profile's."""
        pairs = [(sentence, other) for sentence in self._statements[message] for other in profile]
        if not pairs:
            return 0.0
        first, second = (np.stack([self._reply[text] for text in side]) for side in zip(*pairs))
        return float(self._contradiction.probabilities(first, second)[:, 0].max())

    @staticmethod
    def _encoded(texts: Sequence[str], role: str) -> dict[str, Floats]:
        distinct_texts = list(dict.fromkeys(texts))
        return dict(zip(distinct_texts, shared_encoder().encode(distinct_texts, role)))


def _of_meanings(chats: Sequence[ChatRecord]) -> Measures:
    """Measures by the shipped encoder and classifier."""
    vectors = _Vectors(chats)
    measured: Measures = {}
    for of in ("bot", "human"):
        side = SIDES[of][0]
        columns: dict[str, list[float]] = {"coherence": [], "persona_similarity": [], "contradiction": []}
        for chat in chats:
            profile, said = chat.profiles[side], chat.said(side)
            answers = [
                (turn.text, before.text)
                for before, turn in zip(chat.turns, chat.turns[1:])
                if turn.side == side != before.side and turn.text.strip() and before.text.strip()
            ]
            values = {
                "coherence": [vectors.coherence(*answer) for answer in answers],
                "persona_similarity": [vectors.persona_similarity(text, profile) for text in said],
                "contradiction": [vectors.contradiction(text, profile) for text in said],
            }
            for name, column in columns.items():
                column.append(_mean(values[name]))
        measured |= {(name, of): np.array(column) for name, column in columns.items()}
    return measured


# Several measures weighed together, and judged on chats of people whose chats had no part in the weights.
#
#   x_j     = the share of training chats whose measure j is smaller, less 1/2; 0 where it is missing
#   w       = argmin over w of  sum over training chats of (score - mean - w . x)^2 + L |w|^2        (ridge regression)
#
# L is chosen among `PENALTIES` by the same cross-validation within the training chats. Folds are of people: all chats
# of one person are in one fold.

Indices = NDArray[np.int64]
FOLDS = 10
INNER_FOLDS = 5
PENALTIES = (1.0, 3.0, 10.0, 30.0, 100.0, 300.0)


def folds_of(groups: Sequence[Hashable], folds: int, seed: int) -> list[tuple[Indices, Indices]]:
    """For each fold the indices to learn from and those to judge; a group is never split."""
    names = list(dict.fromkeys(groups))
    folds = min(folds, len(names))
    order = np.random.default_rng(seed).permutation(len(names))
    fold_of = {names[name]: place % folds for place, name in enumerate(order)}
    mine = np.array([fold_of[group] for group in groups])
    return [(np.flatnonzero(mine != fold), np.flatnonzero(mine == fold)) for fold in range(folds)]


def out_of_fold(features: Reals, target: Reals, groups: Sequence[Hashable], seed: int = 0) -> Reals:
    """A prediction for each chat by weights that were learnt from the chats of other people."""
    predicted = np.zeros(len(target))
    for learnt, judged in folds_of(groups, FOLDS, seed):
        penalty = _best_penalty(features[learnt], target[learnt], [groups[index] for index in learnt], seed)
        scaled, unseen = _scaled(features[learnt], features[learnt]), _scaled(features[learnt], features[judged])
        predicted[judged] = _predict(scaled, target[learnt], unseen, penalty)
    return predicted


def _best_penalty(features: Reals, target: Reals, groups: Sequence[Hashable], seed: int) -> float:
    """The one whose predictions within the training chats agree best."""
    folds = folds_of(groups, INNER_FOLDS, seed)
    if len(folds) < 2:
        return PENALTIES[-1]
    predicted = {penalty: np.zeros(len(target)) for penalty in PENALTIES}
    for learnt, judged in folds:
        scaled, unseen = _scaled(features[learnt], features[learnt]), _scaled(features[learnt], features[judged])
        for penalty, column in predicted.items():
            column[judged] = _predict(scaled, target[learnt], unseen, penalty)
    return max(PENALTIES, key=lambda penalty: np.nan_to_num(spearman(predicted[penalty], target), nan=-1.0))


def _predict(scaled: Reals, target: Reals, unseen: Reals, penalty: float) -> Reals:
    mean = target.mean()
    weights = np.linalg.solve(scaled.T @ scaled + penalty * np.eye(scaled.shape[1]), scaled.T @ (target - mean))
    predicted: Reals = mean + unseen @ weights
    return predicted


def _scaled(learnt: Reals, values: Reals) -> Reals:
    """Where each value stands among those learnt from, from -1/2 to 1/2."""
    columns = []
    for known, column in zip(learnt.T, values.T):
        ordered = np.sort(known[~np.isnan(known)])
        if not len(ordered):
            columns.append(np.zeros(len(column)))
            continue
        below = (np.searchsorted(ordered, column, "left") + np.searchsorted(ordered, column, "right")) / 2
        columns.append(np.where(np.isnan(column), 0.0, below / len(ordered) - 0.5))
    return np.stack(columns, axis=1)
