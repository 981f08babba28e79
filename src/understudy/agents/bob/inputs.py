"""What BERT over BERT reads and writes: contexts, personas and replies as token ids, and token ids as text.

    context   [CLS] query (own sentence)* (their sentence)* (they said | I said)* [SEP]     at most 128 tokens
    persona   [CLS] query (own sentence)* (their sentence)* [SEP]                           at most 64
    reply     [CLS] tokens [SEP]                                                            at most 64 in training

A context that is too long loses its oldest turns, a persona its last sentences; ties to the one faced come first, so
that they are never lost. With the input `ori` only what was said is read, with `per` the persona too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from understudy.agents.profile_replies import ties_to_faced
from understudy.errors import InputError
from understudy.language.encoding.sequences import Context, SequenceFormat, Sequencer
from understudy.language.model_folder import ModelFolder
from understudy.story.dialogue import Situation, Turn
from understudy.story.wording import tie_sentence
from understudy.text import fold

__all__ = ["INPUTS", "ORI", "PER", "DialogueSequencer", "conditioned_context", "read_sequence_format"]

ORI, PER = "ori", "per"
INPUTS = (ORI, PER)
CONTEXT_TOKENS, PERSONA_TOKENS = 128, 64
MAX_TURNS = 24
MAX_OTHER_SENTENCES = 6
MARKERS = ("said", "heard", "own", "theirs", "query")
MAX_REPLY_CHARACTERS = 20_000

SPECIAL = re.compile(r"\[.+\]")
CONTINUED = re.compile(r" ##")
CLOSED_UP = re.compile(r" ([.,!?;:)\]}%…])|([(\[{$]) ")
APOSTROPHE = re.compile(r"(\w) ' (s|t|m|d|ll|re|ve|em|all)\b")
HYPHEN = re.compile(r"(\w) - (\w)")
SENTENCE = re.compile(r"(?:^|(?<=[.!?…] ))[a-z]")
PRONOUN = re.compile(r"\bi\b")


def conditioned_context(situation: Situation, history: Sequence[Turn]) -> Context:
    """Ties to the one faced and the profile, the profile of the one faced, and what was said."""
    persona, faced = situation.persona, situation.faced
    own = fold(persona.name)
    ties = (tie_sentence(tie, persona.language) for tie in ties_to_faced(situation))
    return Context(
        tuple(text for text in dict.fromkeys((*ties, *persona.profile)) if text.strip()),
        () if faced is None else tuple(text for text in faced.profile if text.strip())[:MAX_OTHER_SENTENCES],
        tuple((fold(turn.speaker) == own, turn.text) for turn in history[-MAX_TURNS:] if turn.text.strip()),
    )


def read_sequence_format(model: ModelFolder, words: int) -> SequenceFormat:
    """The special tokens that a card names."""

    def token(*names: str) -> int:
        return model.integer("sequences", *names, low=0, high=words - 1)

    return SequenceFormat(token("first"), token("last"), {role: token("markers", role) for role in MARKERS})


class DialogueSequencer:
    """Token ids of contexts, personas and replies for the input `ori` or `per`; replies from token ids."""

    def __init__(self, sequence_format: SequenceFormat, tokenizer: Path, words: int, input_kind: str) -> None:
        if input_kind not in INPUTS:
            raise InputError(f"there is no input '{input_kind}': choose from {', '.join(INPUTS)}")
        self.first, self.last = sequence_format.first, sequence_format.last
        self._input_kind = input_kind
        self._tokenizer = _read_tokenizer(tokenizer)
        self._contexts, self._personas = (
            Sequencer(
                SequenceFormat(self.first, self.last, sequence_format.markers, {"query": longest}), self._tokenize
            )
            for longest in (CONTEXT_TOKENS, PERSONA_TOKENS)
        )
        written = (self._tokenizer.id_to_token(index) for index in range(words))
        self.unspeakable = tuple(
            index
            for index, word in enumerate(written)
            if index != self.last and (word is None or SPECIAL.fullmatch(word))
        )
        """Special tokens and markers, which no reply has."""

    def contexts(self, contexts: Sequence[Context]) -> list[list[int]]:
        return self._contexts.contexts([self._shown(context) for context in contexts])

    def personas(self, contexts: Sequence[Context]) -> list[list[int]]:
        """The personas of contexts."""
        shown = (self._shown(context) for context in contexts)
        return self._personas.contexts([Context(context.own, context.theirs) for context in shown])

    def premises(self, sentences: Sequence[str]) -> list[list[int]]:
        """Sentences in the place of a persona, whatever the input is."""
        return self._personas.contexts([Context((sentence,)) for sentence in sentences])

    def replies(self, texts: Sequence[str], longest: int) -> list[list[int]]:
        tokenized = self._tokenize([text[:MAX_REPLY_CHARACTERS] for text in texts])
        return [[self.first, *ids[: longest - 2], self.last] for ids in tokenized]

    def text(self, ids: Sequence[int]) -> str:
        """A reply to be read: word pieces joined, punctuation closed up, sentences and 'I' capitalised."""
        pieces = " ".join(self._tokenizer.id_to_token(index) or "" for index in ids)
        joined = CLOSED_UP.sub(r"\1\2", HYPHEN.sub(r"\1-\2", APOSTROPHE.sub(r"\1'\2", CONTINUED.sub("", pieces))))
        capitalised = PRONOUN.sub("I", SENTENCE.sub(lambda match: match[0].upper(), joined.removeprefix("##")))
        return capitalised.strip()

    def _shown(self, context: Context) -> Context:
        return context if self._input_kind == PER else Context(turns=context.turns)

    def _tokenize(self, texts: Sequence[str]) -> list[list[int]]:
        return [encoding.ids for encoding in self._tokenizer.encode_batch(list(texts), add_special_tokens=False)]


def _read_tokenizer(path: Path) -> Any:
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library has no class of its own for it
        raise InputError(f"cannot be read as a tokenizer: {error}", path) from error
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer
