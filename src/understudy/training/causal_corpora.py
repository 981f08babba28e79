"""What a causal language model learns from, as dialogues of which some turns are to be learnt.

a folder with train_*.txt                   PersonaChat: each dialogue from both chairs, with its profiles
a file of HPD sessions (or a folder)        the owner's turns, with scene, attributes and relations
a folder of novels with quotation_info.csv  PDNC: speeches near each other are a dialogue, without personas
a story that can be read                    each scene is a dialogue, without personas
any other text                              each line an utterance of one of two speakers in turn; a blank line
                                            ends the dialogue
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

from understudy.agents.causal import DialogueFormat, TokenizedDialogue
from understudy.errors import InputError, UnknownFormat
from understudy.formats import read
from understudy.formats.hpd import sessions, situation_of
from understudy.formats.recognition import hpd_files
from understudy.language.backends.transformer import length_batches
from understudy.sources.source import SourceFile
from understudy.story.dialogue import Situation, Turn
from understudy.story.persona import Other, Persona
from understudy.training.corpus import read_pairs
from understudy.training.dialogues import ProfiledDialogue, dialogues_of, held_back, training_file
from understudy.training.loop import Optimization
from understudy.training.pdnc import novel_speeches
from understudy.training.run import check_positive

GAP = 1_500  # bytes of narration after which nothing is answered
SENTENCES = 4  # of a profile that is put together from utterances
SPEAKERS = ("Person 1A", "Person 1B")
NOBODY = Situation(Persona(""))


@dataclass(frozen=True, slots=True)
class TrainingDialogue:
    """A dialogue as one of its speakers knows it; `learnt` are the turns to learn."""

    situation: Situation
    turns: tuple[Turn, ...]
    learnt: frozenset[int]
    has_profile: bool = False


@dataclass(frozen=True, slots=True)
class DialogueCorpus:
    """Dialogues to train on and dialogues held back, and utterances by the sentence they express."""

    training: list[TrainingDialogue]
    held: list[TrainingDialogue] = field(default_factory=list)
    paraphrases: dict[str, list[str]] = field(default_factory=dict)

    def sha256(self) -> str:
        digest = hashlib.sha256()
        for dialogue in (*self.training, *self.held):
            digest.update(repr((dialogue.situation.persona.profile, dialogue.situation.setting)).encode())
            digest.update(repr((dialogue.turns, sorted(dialogue.learnt))).encode())
        return digest.hexdigest()


def read_corpus(
    path: Path, share: float, seed: int, personas: str = "original", monologues: bool = True
) -> DialogueCorpus:
    """The dialogues of a folder or file of one of the forms above, a share of them held back."""
    if path.is_dir() and any(path.glob("train_*.txt")):
        return _personachat(path, share, seed, personas, monologues)
    if path.is_dir() and any(path.glob("*/quotation_info.csv")):
        return _split(list(_novels(path)), share, seed)
    if files := hpd_files(path):
        return _split([dialogue for file in files for dialogue in _hpd(file)], share, seed)
    return _split(list(_story(path)), share, seed)


def _personachat(folder: Path, share: float, seed: int, personas: str, monologues: bool) -> DialogueCorpus:
    dialogues = dialogues_of(training_file(folder, personas, "none"))
    pairs = read_pairs(folder)
    if not share:
        split_training, held, asked = dialogues, list[ProfiledDialogue](), frozenset[tuple[str, ...]]()
    else:
        split = held_back(dialogues, share, seed)
        split_training, held, asked = split.training, split.held, split.asked
    hidden = {text for dialogue in held for _, text in dialogue.turns}
    hidden |= {sentence for profile in asked for sentence in profile}
    pairs = [(sentence, said) for sentence, said in pairs if sentence not in hidden and said not in hidden]
    known = {text for dialogue in dialogues for _, text in dialogue.turns}
    paraphrases: dict[str, list[str]] = {}
    for sentence, said in pairs:
        paraphrases.setdefault(sentence, []).append(said)
    training = [chair for dialogue in split_training for chair in _chairs(dialogue)]
    if monologues:
        training += _monologues([pair for pair in pairs if pair[1] not in known])
    judged = [chair for dialogue in held for chair in _chairs(dialogue) if chair.situation.persona.profile in asked]
    return DialogueCorpus(training, judged, paraphrases)


def _chairs(dialogue: ProfiledDialogue) -> Iterator[TrainingDialogue]:
    """A dialogue as each of the two knows it."""
    turns = tuple(Turn(SPEAKERS[who], text) for who, text in dialogue.turns)
    for who in (0, 1):
        learnt = frozenset(index for index, turn in enumerate(turns) if turn.speaker == SPEAKERS[who])
        if learnt:
            other = Other(SPEAKERS[1 - who], dialogue.profiles[1 - who])
            persona = Persona(SPEAKERS[who], profile=dialogue.profiles[who])
            yield TrainingDialogue(Situation(persona, faced=other), turns, learnt, bool(persona.profile))


def _monologues(pairs: Sequence[tuple[str, str]]) -> Iterator[TrainingDialogue]:
    """What somebody says who has a few sentences of a profile: the file has those of one profile together."""
    sentences, said = dict[str, None](), dict[str, None]()
    for sentence, utterance in [*pairs, ("", "")]:
        if sentence not in sentences and (len(sentences) == SENTENCES or not sentence) and said:
            persona = Persona(SPEAKERS[1], profile=tuple(sentences))
            turns = tuple(Turn(SPEAKERS[1], text) for text in said)
            yield TrainingDialogue(Situation(persona), turns, frozenset(range(len(turns))), True)
            sentences, said = {}, {}
        sentences[sentence], said[utterance] = None, None


def _hpd(path: Path) -> Iterator[TrainingDialogue]:
    source = SourceFile(path)
    for session in sessions(source):
        learnt = frozenset(index for index, turn in enumerate(session.said) if turn.speaker == session.owner)
        if learnt:
            yield TrainingDialogue(situation_of(source, session, session.said), session.said, learnt)


def _novels(folder: Path) -> Iterator[TrainingDialogue]:
    for speeches in novel_speeches(folder, held_back=False).values():
        turns: list[Turn] = []
        end = 0
        for speech in speeches:
            if turns and speech.start - end > GAP:
                yield _speeches(turns)
                turns = []
            turns.append(Turn(speech.speaker.strip("_"), speech.text))
            end = speech.end
        if turns:
            yield _speeches(turns)


def _story(path: Path) -> Iterator[TrainingDialogue]:
    try:
        story = read(path)
    except UnknownFormat:
        if path.is_dir():
            raise
        yield from _plain_text(path)
        return
    for scene in story.scenes():
        turns = [Turn(line.speaker, line.text) for line in scene.lines if line.speaker and line.text.strip()]
        if turns:
            yield _speeches(turns)


def _plain_text(path: Path) -> Iterator[TrainingDialogue]:
    said: list[str] = []
    for _, line in [*SourceFile(path).lines(), (0, "")]:
        if line.strip():
            said.append(line.strip())
        elif said:
            yield _speeches([Turn(SPEAKERS[index % 2], text) for index, text in enumerate(said)])
            said = []


def _speeches(turns: Sequence[Turn]) -> TrainingDialogue:
    """A dialogue of which every turn is learnt: nobody's persona is known."""
    return TrainingDialogue(NOBODY, tuple(turns), frozenset(range(len(turns))))


def _split(dialogues: list[TrainingDialogue], share: float, seed: int) -> DialogueCorpus:
    if not dialogues:
        raise InputError("holds no dialogue to train on")
    count = min(round(share * len(dialogues)), len(dialogues) - 1)
    chosen = frozenset(Random(seed).sample(range(len(dialogues)), count))  # noqa: S311
    return DialogueCorpus(
        [dialogue for index, dialogue in enumerate(dialogues) if index not in chosen],
        [dialogue for index, dialogue in enumerate(dialogues) if index in chosen],
    )


# Settings of a training of a causal language model on dialogues, beside its data, base model and seed.

RATE, RATE_OF_ALL = 1e-3, 5e-5


@dataclass(frozen=True, slots=True)
class CausalSettings:
    """How it is trained, then what it is shown.

    `tokens` are those of a step, padding included: dialogues of about one length together. `lora` is the rank of the
    adapters, and 0 trains all weights, by default at a smaller `rate`; `scale` is their alpha / rank. Of
    PersonaChat's dialogues a share is shown with no profile (`none`), another with both (`both`), the rest with the
    profile of whoever answers; its sentences are in random order, a share (`paraphrase`) of them replaced by an
    utterance that says the same. With `monologues`, such utterances are learnt as well, as their sayer's.
    """

    epochs: int = 4
    tokens: int = 8_192
    rate: float | None = None
    lora: int = 32
    scale: float = 1.0
    window: int = 512
    held_back: float = 0.05
    none: float = 0.15
    both: float = 0.1
    paraphrase: float = 0.1
    monologues: bool = True

    def __post_init__(self) -> None:
        check_positive(self, "epochs", "tokens", "scale", "window", *(() if self.rate is None else ("rate",)))
        if self.lora < 0:
            raise InputError(f"lora is the rank of the adapters, 0 or more, not {self.lora}")
        for name in ("held_back", "none", "both", "paraphrase"):
            if not 0 <= getattr(self, name) <= 1:
                raise InputError(f"{name} is a share from 0 to 1, not {getattr(self, name)}")
        if self.none + self.both > 1:
            raise InputError(f"none and both are shares of all dialogues: {self.none} and {self.both} are too much")

    @property
    def optimization(self) -> Optimization:
        """Of batches that are put together before."""
        rate = self.rate or (RATE if self.lora else RATE_OF_ALL)
        return Optimization(self.epochs, 1, rate, (0.9, 0.98), warmup=0.05, decay=0.01, max_grad_norm=1.0)


# A dialogue as it is shown in one epoch: whose profiles, in which order and in which words.


def in_windows(dialogues: Iterable[TrainingDialogue], form: DialogueFormat) -> Iterator[TrainingDialogue]:
    """The dialogues, long ones in parts that can be read at once."""
    for dialogue in dialogues:
        for start, first, stop in form.windows(dialogue.situation, dialogue.turns):
            learnt = frozenset(index - start for index in dialogue.learnt if first <= index < stop)
            if learnt:
                yield replace(dialogue, turns=dialogue.turns[start:stop], learnt=learnt)


def like_lengths(dialogues: Sequence[TrainingDialogue], form: DialogueFormat, tokens: int) -> list[list[int]]:
    """Indices of dialogues of about one length, at most so many tokens together, so that little is padding."""
    sizes = [len(form.dialogue(each.situation, each.turns, each.learnt).ids) for each in dialogues]
    return list(length_batches(sizes, lambda rows, longest: rows * longest <= tokens))


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
