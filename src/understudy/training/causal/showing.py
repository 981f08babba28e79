"""A dialogue as it is shown in one epoch: whose profiles, in which order and in which words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from random import Random

from understudy.agents.causal_prompt import DialogueFormat, TokenizedDialogue
from understudy.dialogue import Situation
from understudy.training.causal.corpora import TrainingDialogue
from understudy.training.causal.settings import CausalSettings

__all__ = ["DialogueDrawer", "in_windows", "like_lengths", "under_condition"]


def in_windows(dialogues: Iterable[TrainingDialogue], form: DialogueFormat) -> Iterator[TrainingDialogue]:
    """The dialogues, long ones in parts that can be read at once."""
    for dialogue in dialogues:
        for start, first, stop in form.windows(dialogue.situation, dialogue.turns):
            learnt = frozenset(index - start for index in dialogue.learnt if first <= index < stop)
            if learnt:
                yield replace(dialogue, turns=dialogue.turns[start:stop], learnt=learnt)


def like_lengths(dialogues: Sequence[TrainingDialogue], form: DialogueFormat, tokens: int) -> list[list[int]]:
    """Indices of dialogues of about one length, at most so many tokens together, so that little is padding."""
    sizes = [len(form.dialogue(one.situation, one.turns, one.learnt).ids) for one in dialogues]
    batches: list[list[int]] = []
    for index in sorted(range(len(dialogues)), key=sizes.__getitem__):
        if not batches or sizes[index] * (len(batches[-1]) + 1) > tokens:
            batches.append([])
        batches[-1].append(index)
    return batches


class DialogueDrawer:
    """Draws how a dialogue is shown, anew each epoch; the same for the same seed, epoch and dialogue."""

    def __init__(
        self,
        dialogues: Sequence[TrainingDialogue],
        paraphrases: Mapping[str, Sequence[str]],
        settings: CausalSettings,
        form: DialogueFormat,
        seed: int,
    ) -> None:
        self._dialogues, self._paraphrases, self._settings = dialogues, paraphrases, settings
        self._form, self._seed = form, seed

    def __call__(self, epoch: int, index: int) -> TokenizedDialogue:
        dialogue = self._dialogues[index]
        situation = dialogue.situation
        if dialogue.has_profile:
            situation = self._shown(dialogue, Random(f"{self._seed} {epoch} {index}"))  # noqa: S311
        return self._form.dialogue(situation, dialogue.turns, dialogue.learnt)

    def _shown(self, dialogue: TrainingDialogue, rng: Random) -> Situation:
        settings = self._settings
        shares = (settings.none, settings.both, 1 - settings.none - settings.both)
        condition = rng.choices(("none", "both", "self"), shares)[0]
        situation = under_condition(dialogue.situation, condition)
        profile = list(situation.persona.profile)
        rng.shuffle(profile)
        said = {turn.text for turn in dialogue.turns}
        reworded = tuple(self._reworded(sentence, said, rng) for sentence in profile)
        return replace(situation, persona=replace(situation.persona, profile=reworded))

    def _reworded(self, sentence: str, said: set[str], rng: Random) -> str:
        if rng.random() >= self._settings.paraphrase:
            return sentence
        others = [text for text in self._paraphrases.get(sentence, ()) if text not in said]
        return rng.choice(others) if others else sentence


def under_condition(situation: Situation, condition: str) -> Situation:
    """The situation with no profile, the own one ('self'), or both."""
    if condition != "both" and situation.faced is not None:
        others = tuple(replace(other, profile=()) for other in situation.present)
        situation = replace(situation, faced=replace(situation.faced, profile=()), present=others)
    if condition == "none":
        situation = replace(situation, persona=replace(situation.persona, profile=()))
    return situation
