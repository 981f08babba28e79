"""Which of the things that could be said answers best: drafts of a writer, old lines, profile and ties, on one scale.

    score(c) = 0.62 agreement(c) + 0.54 fit(c) + 0.5 bearing(c) + 0.3 gain(c) + 0.05 voice(c)
               - 0.15 echo(c) - 0.11 [c asks back] - 0.08 [c is a fact as it stands]
               - 0.3 [c is an old line beside drafts] - 0.5 [c tells what others said, beside drafts]

    agreement   mean F1 of the words of meaning of c with those of the drafts: what many say is rarely made up
    fit         the encoder's cosine of the turns (nothing else) with the candidate
    bearing     how much an old line, a memory or a fact bears on the message (see `agents.old_lines`)
    gain        mutual information with the message, (ln p(c | all) - ln p(c | all but the message)) / tokens, where the
                back end gives log-probabilities
    voice       the metric `voice` of the candidate, from -1 (like somebody else) to 1; 0 where it has no value: where
                the character has few lines, or its held-back lines are not told from others'
    echo        share of the candidate's words of meaning that the message has

Of 1,311 candidates that passed the guards for 100 questions, a writer's draft with a score of 0.3 was marked as a good
answer as often as an old line with 0.6, and of what others had said no line was: the last two terms. Only whole drafts
vote. The weights of the first line's first two terms and of the second line are ridge coefficients on
candidates marked by hand (docs/writer.md); the others were set with an eye on the probes of the story that ships.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from understudy.agents.dialogue_context import last_heard
from understudy.agents.fit import CachedEncoder
from understudy.agents.old_lines import RecalledDraft
from understudy.judging.guards.phrases import roots, sentences
from understudy.language.encoding import Context
from understudy.story.dialogue import Draft, LanguageModel, Situation, Turn
from understudy.text import fold

__all__ = ["Scored", "expand", "mutual_information", "score_drafts"]

AGREEMENT, FIT, BEARING, GAIN, VOICE = 0.62, 0.54, 0.5, 0.3, 0.05
ECHO, ASKS_BACK, PLAIN_FACT = -0.15, -0.11, -0.08
BESIDE_DRAFTS = {"exchange": -0.3, "memory": -0.5}
MAX_TURNS = 24
FACTS = frozenset({"profile", "relation", "told"})

Voice = Callable[[Sequence[str]], Sequence[float]]
Gain = Callable[[Sequence[Draft]], Sequence[float]]


@dataclass(frozen=True, slots=True)
class Scored:
    """A draft and how well it would answer."""

    draft: Draft
    score: float


def expand(drafts: Sequence[Draft], whole: bool = False) -> list[tuple[Draft, bool]]:
    """Each draft once, with whether it votes; a writer's also without its last sentences, where it makes things up.

    A capable writer's drafts are kept `whole`.
    """
    field: dict[str, tuple[Draft, bool]] = {}
    for draft in sorted(drafts, key=lambda draft: draft.source != "writer"):
        text = draft.text.strip()
        if text:
            field.setdefault(
                text, (draft if text == draft.text else replace(draft, text=text), draft.source == "writer")
            )
    for draft in drafts:
        if draft.source == "writer" and not whole:
            parts = sentences(draft.text)
            for count in range(1, len(parts)):
                text = " ".join(parts[:count])
                field.setdefault(text, (replace(draft, text=text, log_probs=None), False))
    return list(field.values())


def score_drafts(
    situation: Situation,
    history: Sequence[Turn],
    drafts: Sequence[Draft],
    cached: CachedEncoder | None,
    voice: Voice | None = None,
    gain: Gain | None = None,
    whole: bool = False,
) -> list[Scored]:
    """Best first."""
    field = expand(drafts, whole)
    if not field:
        return []
    language = situation.persona.language
    asked = roots(last_heard(situation.persona, history), language)
    texts = [draft.text for draft, _ in field]
    meant = [roots(text, language) for text in texts]
    fits = _fits(situation, history, texts, cached)
    voters = [index for index, (_, votes) in enumerate(field) if votes]
    agreements = _agreements(meant, voters)
    voices = list(voice(texts)) if voice is not None else [0.0] * len(field)
    gains = list(gain([draft for draft, _ in field])) if gain is not None else [0.0] * len(field)
    scored = []
    for (draft, _), own, fit, agreed, sound, gained in zip(field, meant, fits, agreements, voices, gains):
        score = AGREEMENT * agreed + FIT * fit + GAIN * gained + VOICE * sound
        score += BEARING * (draft.bearing if isinstance(draft, RecalledDraft) else 0.0)
        score += ECHO * (len(own & asked) / len(own) if own else 0.0)
        score += ASKS_BACK * draft.text.rstrip().endswith(("?", "？")) + PLAIN_FACT * (draft.source in FACTS)
        score += BESIDE_DRAFTS.get(draft.source, 0.0) if voters else 0.0
        scored.append(Scored(draft, round(score, 6)))
    return sorted(scored, key=lambda item: -item.score)


def mutual_information(
    model: LanguageModel, situation: Situation, history: Sequence[Turn], drafts: Sequence[Draft]
) -> list[float]:
    """Of each draft that was written; 0 of the others, and where there is no message."""
    gains = []
    for draft in drafts:
        if draft.source != "writer" or not history:
            gains.append(0.0)
            continue
        given = draft.log_probs or tuple(model.log_probs(situation, history, draft.text))
        alone = model.log_probs(situation, history[:-1], draft.text)
        gains.append((sum(given) - sum(alone)) / max(len(given), 1))
    return gains


def _fits(
    situation: Situation, history: Sequence[Turn], texts: Sequence[str], cached: CachedEncoder | None
) -> list[float]:
    if cached is None:
        return [0.0] * len(texts)
    own = fold(situation.persona.name)
    turns = tuple((fold(turn.speaker) == own, turn.text) for turn in history[-MAX_TURNS:] if turn.text.strip())
    context = cached.encoder.encode_contexts([Context(turns=turns)], False)[0]
    return [float(fit) for fit in cached.encode(texts) @ context]


def _agreements(meant: Sequence[frozenset[str]], voters: Sequence[int]) -> list[float]:
    """Mean F1 with the drafts that vote, oneself left out."""
    agreements = []
    for index, own in enumerate(meant):
        voted = [meant[voter] for voter in voters if voter != index]
        agreements.append(sum(_f1(own, other) for other in voted) / len(voted) if voted else 0.0)
    return agreements


def _f1(first: frozenset[str], second: frozenset[str]) -> float:
    return 2 * len(first & second) / (len(first) + len(second)) if first or second else 0.0
