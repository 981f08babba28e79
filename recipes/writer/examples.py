"""All examples of a training, and those that perplexity is measured on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

from recipes.writer.chats import TrainingExample, asked_examples, chat_examples
from recipes.writer.corpora import entailed_sentences, readable, readable_dialogues
from recipes.writer.grounding import content
from recipes.writer.novels import ENCODED_LETTERS, NovelExamples
from recipes.writer.seeds import seed_examples
from recipes.writer.settings import WriterSettings
from recipes.writer.tables import random_name
from recipes.writer.ties import tie_examples
from understudy.agents.prompt import render_compact, trim
from understudy.agents.prompt_contents import ChatTurn, PromptContents
from understudy.language.backends import estimate_tokens
from understudy.language.encoding import Floats
from understudy.language.encoding.encoder import SentenceEncoder, shipped_model
from understudy.training.pdnc import NovelSpeech, novel_speeches

__all__ = ["chat_text", "end_token", "held_back_examples", "training_examples"]

BUDGET = 560  # tokens of a prompt; when running it may have a few more
VALIDATION = "valid_self_original.txt"
TURNS = 4
END = "<|im_end|>"


def chat_text(contents: PromptContents) -> str:
    """The prompt as the model reads it (ChatML), up to where its reply begins."""
    trimmed = trim(contents, render_compact, estimate_tokens, BUDGET)
    prompt = "".join(f"<|im_start|>{message.role}\n{message.content}{END}\n" for message in render_compact(trimmed))
    return f"{prompt}<|im_start|>assistant\n"


def end_token(tokenizer: Any) -> int:
    """The token that ends a reply: ChatML's where the tokenizer has it, whatever it takes for the end of a text."""
    ids: list[int] = tokenizer(END, add_special_tokens=False)["input_ids"]
    return ids[0] if len(ids) == 1 else int(tokenizer.eos_token_id)


def training_examples(data: Path, novels: Path, settings: WriterSettings, seed: int) -> list[TrainingExample]:
    """Every epoch has other prompts for the same replies; the people of the seeds come a number of rounds."""
    dialogues, expressed = readable_dialogues(data), entailed_sentences(data)
    books = [NovelExamples(speeches, vectors) for speeches, vectors in _encoded(novel_speeches(novels, False))]
    examples: list[TrainingExample] = []
    for epoch in range(settings.epochs):
        rng = Random(f"{seed} {epoch}")  # noqa: S311
        examples += _share(chat_examples(dialogues, expressed, rng), settings.chats, rng)
        examples += asked_examples(dialogues, expressed, rng, settings.asked)
        for book in books:
            examples += _share(book.examples(rng, settings.copied), settings.novels, rng)
        examples += tie_examples(dialogues, rng, settings.ties)
    return [*examples, *seed_examples(Random(f"{seed} seeds"), settings.rounds)]  # noqa: S311


def held_back_examples(data: Path, novels: Path) -> dict[str, list[TrainingExample]]:
    """What perplexity is measured on: PersonaChat's validation questions, the novels and the people held back."""
    rng = Random(9)  # noqa: S311
    speeches = novel_speeches(novels, held_back=True)
    examples = {
        "novels": [
            example for some, vectors in _encoded(speeches) for example in NovelExamples(some, vectors).judged(rng)
        ],
        "people": list(seed_examples(rng, 3, held_back=True)),
        "personachat": list(_validation(data / VALIDATION, rng)),
    }
    return {name: some for name, some in examples.items() if some}


def _share(examples: Iterator[TrainingExample], share: float, rng: Random) -> list[TrainingExample]:
    return [example for example in examples if rng.random() < share]


def _encoded(
    novels: Mapping[str, Sequence[NovelSpeech]],
) -> Iterator[tuple[Sequence[NovelSpeech], Mapping[str, Floats]]]:
    """Each novel's speeches, with the vectors of their texts."""
    encoder = SentenceEncoder(shipped_model())
    for speeches in novels.values():
        texts = list(dict.fromkeys(speech.text[:ENCODED_LETTERS] for speech in speeches))
        if texts:
            yield speeches, dict(zip(texts, encoder.encode(texts)))


def _validation(path: Path, rng: Random) -> Iterator[TrainingExample]:
    """PersonaChat's questions with the own profile, one sentence of it recalled."""
    profile: list[str] = []
    turns: list[ChatTurn] = []
    for line in path.read_text(encoding="utf-8").splitlines() if path.is_file() else ():
        number, _, body = line.partition(" ")
        if number == "1":
            profile, turns = [], []
        if body.startswith("your persona:"):
            profile.append(readable(body.split(":", 1)[1]))
            continue
        heard, reply = (readable(text) for text in (*body.split("\t"), "")[:2])
        nearest = sorted(profile, key=lambda text: -len(content(text) & content(heard)))[:1]
        shown = tuple(turns[-TURNS:])
        yield TrainingExample(
            PromptContents(random_name(rng), tuple(profile), turns=shown, message=heard, facts=tuple(nearest)), reply
        )
        turns += [ChatTurn(False, heard), ChatTurn(True, reply)]
