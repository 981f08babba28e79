"""Texts to learn word vectors from, as tokens: PersonaChat's training dialogues, a story's scenes, or any lines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from understudy.agents.word_tokens import read_tokens
from understudy.errors import InputError, UnknownFormat
from understudy.formats import read
from understudy.story.storyfile import Story
from understudy.text import guess_language, pieces
from understudy.training.dialogues import PERSONAS, dialogues_of, training_file

__all__ = ["corpus_texts"]


def corpus_texts(what: str) -> list[list[str]]:
    """The texts of a corpus as tokens: the dialogues and profiles of a PersonaChat folder's training file, the scenes
    of a story in any form that can be read, or the lines of a plain text.
    """
    path = Path(what)
    if path.is_dir() and any(path.glob("train_*.txt")):
        return [read_tokens(text) for text in _dialogue_texts(path)]
    if path.is_file() and path.suffix != ".story":
        try:
            return _story_texts(read(path))
        except UnknownFormat:
            return _plain_texts(path)
    return _story_texts(read(what))


def _dialogue_texts(folder: Path) -> Iterator[str]:
    for personas in PERSONAS:
        try:
            path = training_file(folder, personas, "none")
        except InputError:
            continue
        for dialogue in dialogues_of(path):
            yield " ".join(text for _, text in dialogue.turns)
            yield from (sentence for profile in dialogue.profiles for sentence in profile)
        return
    raise InputError("has no training dialogues of PersonaChat (train_*.txt)", folder)


def _story_texts(story: Story) -> list[list[str]]:
    scenes = (" ".join(line.text for line in scene.lines) for scene in story.scenes())
    return [_tokens(text, story.language) for text in scenes]


def _plain_texts(path: Path) -> list[list[str]]:
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise InputError("is not UTF-8 text: save it as UTF-8", path) from error
    language = guess_language(" ".join(lines)[:10_000])
    return [_tokens(line, language) for line in lines if line.strip()]


def _tokens(text: str, language: str) -> list[str]:
    if language == "en":
        return read_tokens(text)
    return [piece.lower() for piece in pieces(language)(text) if piece.strip()]
