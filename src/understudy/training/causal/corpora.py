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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from understudy.dialogue import Situation, Turn
from understudy.errors import InputError, UnknownFormat
from understudy.persona import Other, Persona
from understudy.readers import read, reader_of
from understudy.readers.hpd import READER as HPD
from understudy.readers.hpd import sessions
from understudy.readers.source import SourceFile
from understudy.training.corpus import read_pairs
from understudy.training.dialogues import ProfiledDialogue, dialogues_of, held_back, training_file
from understudy.training.writer.corpora import novel_speeches

__all__ = ["Corpus", "TrainingDialogue", "read_corpus"]

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
class Corpus:
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


def read_corpus(path: Path, share: float, seed: int, personas: str = "original", monologues: bool = True) -> Corpus:
    """The dialogues of a folder or file of one of the forms above, a share of them held back."""
    if path.is_dir() and any(path.glob("train_*.txt")):
        return _personachat(path, share, seed, personas, monologues)
    if path.is_dir() and any(path.glob("*/quotation_info.csv")):
        return _split(list(_novels(path)), share, seed)
    files = [path] if path.is_file() else sorted(file for file in path.glob("*.json") if _is_hpd(file))
    if files and all(map(_is_hpd, files)):
        return _split([dialogue for file in files for dialogue in _hpd(file)], share, seed)
    return _split(list(_story(path)), share, seed)


def _personachat(folder: Path, share: float, seed: int, personas: str, monologues: bool) -> Corpus:
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
    return Corpus(training, judged, paraphrases)


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
    for situation, turns in sessions(SourceFile(path)):
        owner = situation.persona.name
        learnt = frozenset(index for index, turn in enumerate(turns) if turn.speaker == owner)
        if learnt:
            yield TrainingDialogue(situation, turns, learnt)


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


def _split(dialogues: list[TrainingDialogue], share: float, seed: int) -> Corpus:
    import random

    if not dialogues:
        raise InputError("holds no dialogue to train on")
    count = min(round(share * len(dialogues)), len(dialogues) - 1)
    chosen = frozenset(random.Random(seed).sample(range(len(dialogues)), count))  # noqa: S311
    return Corpus(
        [dialogue for index, dialogue in enumerate(dialogues) if index not in chosen],
        [dialogue for index, dialogue in enumerate(dialogues) if index in chosen],
    )


def _is_hpd(path: Path) -> bool:
    try:
        return reader_of(SourceFile(path)) is HPD
    except InputError:
        return False
