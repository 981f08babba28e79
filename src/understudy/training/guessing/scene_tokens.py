"""Scenes as the tokens of a model: those with names as a prompt, masked ones as the input of a reader.

A prompt names who is there, then says line by line who says what, and ends with a blank line:

    Scene from Keys with Ines, Tobias.
    ( The attic.)
    Ines: Where is it?

Lengths are in the model's own tokens.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from understudy.errors import InputError
from understudy.guessing.baselines import windows_of_lines
from understudy.guessing.scenes import masks_of
from understudy.story.types import Line, Scene

MASK = re.compile(r"\bP\d+\b")
SHORTEST = 128  # tokens that a model must be able to read at once
UNBOUNDED = 1 << 20  # a tokenizer without a limit names a far larger one
COUNTED_FROM_PADDING = ("roberta", "xlm-roberta", "camembert", "longformer")
LEAST = 16  # tokens of a scene that a window holds, however long its heading is

Part = tuple[list[int], int]
"""Tokens, and how many of them are the heading."""


class SceneTokenizer:
    """A tokenizer for parts of a scene, with a cache: texts come again epoch after epoch."""

    def __init__(self, tokenizer: Any, config: Any) -> None:
        self.tokenizer = tokenizer
        self.causal = tokenizer.mask_token_id is None
        limits = [_positions(config), tokenizer.model_max_length]
        self.longest = min((int(value) for value in limits if value and value < UNBOUNDED), default=UNBOUNDED)
        if self.longest < SHORTEST:
            raise InputError(
                f"the model reads {self.longest} tokens, and a scene needs {SHORTEST}: choose another base"
            )
        ends = (tokenizer.cls_token_id, tokenizer.bos_token_id, tokenizer.eos_token_id)
        first_token = next((value for value in ends if value is not None), None)
        if first_token is None:
            raise InputError("the model's tokenizer has no token for the beginning of a text: choose another base")
        self.first = int(first_token)
        self._known: dict[str, list[int]] = {}
        self.split = self.tokens("\n") or [self.first if tokenizer.sep_token_id is None else tokenizer.sep_token_id]

    def tokens(self, text: str) -> list[int]:
        ids = self._known.get(text)
        if ids is None:
            ids = list(self.tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])
            self._known[text] = ids
        return ids

    def spoken(self, speaker: str, text: str) -> list[int]:
        return [*self.tokens(speaker), *self.tokens(":"), *self.tokens(f" {text}")]

    def line(self, speaker: str | None, text: str) -> list[int]:
        """What is said or described, on a line of its own."""
        return self.aside(text) if speaker is None else [*self.split, *self.spoken(speaker, text)]

    def aside(self, text: str) -> list[int]:
        """A setting or direction, on a line of its own."""
        return [*self.split, *self.tokens("("), *self.tokens(f" {text}"), *self.tokens(")")]


def _positions(config: Any) -> int | None:
    """How many tokens have a position: those of the RoBERTa family begin to count after the number of padding."""
    positions: int | None = getattr(config, "max_position_embeddings", None)
    if positions and config.model_type in COUNTED_FROM_PADDING:
        return positions - int(config.pad_token_id) - 1
    return positions


def scene_prompts(scene: Scene, cast: Sequence[str], title: str, words: SceneTokenizer, window: int) -> list[Part]:
    """The scene in as many parts as its length asks for, each with the heading."""
    heading = words.tokens(f"Scene from {title} with {', '.join(sorted(cast))}.")[: window // 2]
    end = [*words.split, *words.split]
    room = max(window - len(heading) - len(end) - 1, LEAST)
    parts: list[list[int]] = []
    now = words.aside(scene.setting)[: room // 2] if scene.setting else []
    for line in scene.lines:
        more = words.line(line.speaker, line.text)[:room]
        if now and len(now) + len(more) > room:
            parts.append(now)
            now = []
        now = now + more
    return [([*heading, *part, *end], len(heading)) for part in (*parts, now) if part]


def unmasked(scene: Scene, names: Mapping[str, str]) -> list[str | None]:
    """The speakers of a masked scene under a naming; those who speak together too."""
    return [
        None if line.speaker is None else MASK.sub(lambda mask: names.get(mask[0], mask[0]), line.speaker)
        for line in scene.lines
    ]


def chunks(
    scenes: Sequence[Scene], main: Sequence[str], title: str, words: SceneTokenizer, window: int
) -> list[list[int]]:
    """Scenes behind one another, as many of the same chapter or episode as a window holds.

    So a model learns what goes on from scene to scene, and each scene is shown once.
    """
    results: list[list[int]] = []
    now: list[int] = []
    chapter: tuple[int, ...] = ()
    for scene in scenes:
        speaking = {line.speaker for line in scene.lines}
        cast = [who for who in main if who in speaking]
        here = scene.moment.numbers[:2]
        for tokens, _ in scene_prompts(scene, cast, title, words, window):
            if now and (here != chapter or len(now) + len(tokens) > window):
                results.append([words.first, *now])
                now = []
            now, chapter = now + tokens, here
    return [*results, [words.first, *now]] if now else results


# What happened just before a scene: the scenes of the same chapter with their names, cut to a length. A story is told
# on from scene to scene: who set out for the airport in the last one arrives in this one. Another chapter begins with
# nothing before it.


class RecentScenes:
    """The last `length` tokens of the current chapter, from the beginning of a line on; `window` as in a prompt."""

    def __init__(self, words: SceneTokenizer, main: Sequence[str], title: str, window: int, length: int) -> None:
        self._words, self._main, self._title = words, tuple(main), title
        self._window, self._length = window, length
        self._tokens: list[int] = []
        self._chapter: tuple[int, ...] = ()

    def before(self, scene: Scene) -> list[int]:
        """What is read before this scene."""
        self._enter_chapter(scene)
        return self._tokens

    def remember(self, scene: Scene) -> None:
        """Append a scene that is over, with its names."""
        self._enter_chapter(scene)
        if not self._length:
            return
        speaking = {line.speaker for line in scene.lines}
        cast = [who for who in self._main if who in speaking]
        tokens = list(self._tokens)
        for prompt, _ in scene_prompts(scene, cast, self._title, self._words, self._window):
            tokens += prompt
        if len(tokens) > self._length:
            cut = len(tokens) - self._length
            line_end = self._words.split[-1]
            begin = next((at + 1 for at in range(cut, len(tokens)) if tokens[at] == line_end), len(tokens))
            tokens = tokens[begin:]
        self._tokens = tokens

    def _enter_chapter(self, scene: Scene) -> None:
        if scene.moment.numbers[:2] != self._chapter:
            self._tokens, self._chapter = [], scene.moment.numbers[:2]


def scenes_with_history(scenes: Sequence[Scene], recent: RecentScenes) -> Iterator[tuple[Scene, list[int]]]:
    """Each scene, and the tokens of what came just before it."""
    for scene in scenes:
        yield scene, recent.before(scene)
        recent.remember(scene)


# Masked scenes as the tokens of a reader's input: one or more sequences, and whose each token is.
#
#     vanilla        for each mask a sequence of all that it says
#     multi-row      at most `rows` sequences: an utterance of a mask, then what was said just before it, nearest first,
#                    up to `row` tokens. Rows are taken from the scene's end ('reverse': those have more before them),
#                    and a mask that got none gets one ('fill-empty'). (MR. BERT)
#     scene-pooling  the whole scene, 'P0: utterance' line by line, of which a mask owns its lines; split between lines
#                    into windows that the model can read, `longest` tokens in all, after a heading with the candidates.
#                    For a causal model it ends with 'P0 is', 'P1 is', whose states have read all of it. (Longformer-P)
#                    With `history`, what happened just before is read first, with its names.
#
# Lengths are in the model's own tokens.

WHOLE = "scene-pooling"
KINDS = ("vanilla", "multi-row", WHOLE)
LONG = 2000  # tokens, from which a scene counts as read whole
NOBODY = -1
SETTING = 150  # tokens of a setting that are read
QUESTION = 8  # tokens of the question about a mask, more or less


@dataclass(frozen=True, slots=True)
class InputFormat:
    """How scenes are read. `context` gives a row what was said before its utterance; `history` counts the tokens of
    earlier scenes that are read before the whole scene.
    """

    kind: str = "scene-pooling"
    rows: int = 12
    row: int = 128
    from_end: bool = True
    fill_empty: bool = True
    context: bool = True
    window: int = 2048
    longest: int = 2048
    history: int = 0

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError(f"there is no reader '{self.kind}': choose from {', '.join(KINDS)}")
        for name in ("rows", "row", "window", "longest"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} must be above 0, not {getattr(self, name)}")
        if self.history < 0:
            raise InputError(f"history is at least 0, not {self.history}")
        if self.history and self.kind != WHOLE:
            raise InputError(f"history is read by {WHOLE} alone, not by {self.kind}")

    @property
    def name(self) -> str:
        """The name that tables have for it, such as 'multi-row without reverse' and 'scene-pooling maxlen 512'."""
        if self.kind == WHOLE and self.longest < LONG:
            return f"{self.kind} maxlen {self.longest}"
        parts = {"reverse": self.from_end, "fill-empty": self.fill_empty, "context": self.context}
        missing = [part for part, is_there in parts.items() if not is_there]
        return f"{self.kind} without {', '.join(missing)}" if missing and self.kind == "multi-row" else self.kind


@dataclass(slots=True)
class ReaderInput:
    """`owners` has a mask's number for each token of each sequence, or NOBODY; every mask owns some.

    `seconds` counts the tokens at the end of a sequence that are context. `question_ends` says where the question about
    a mask ends in a sequence: {(sequence, mask): token}.
    """

    masks: tuple[str, ...]
    sequences: list[list[int]] = field(default_factory=list)
    owners: list[list[int]] = field(default_factory=list)
    seconds: list[int] = field(default_factory=list)
    question_ends: dict[tuple[int, int], int] = field(default_factory=dict)

    def add(self, tokens: list[int], owners: list[int], second: int = 0) -> None:
        self.sequences.append(tokens)
        self.owners.append(owners)
        self.seconds.append(second)

    def owning_masks(self) -> set[int]:
        """The masks that own a token."""
        return {owner for owners in self.owners for owner in owners} - {NOBODY}


def reader_input(
    scene: Scene, candidates: Sequence[str], title: str, reading: InputFormat, words: SceneTokenizer,
    before: Sequence[int] = (),
) -> ReaderInput:  # fmt: skip
    """The scene as a reader gets it; `before` are the tokens of what happened just before."""
    encoded = ReaderInput(masks_of(scene))
    if reading.kind == "vanilla":
        _add_whole(encoded, scene, words)
    elif reading.kind == "multi-row":
        _add_rows(encoded, scene, reading, words)
    else:
        heading = words.tokens(f"Scene from {title} with {', '.join(candidates)}.")
        _add_windows(encoded, scene, heading, before, reading, words)
    return encoded


def _add_whole(encoded: ReaderInput, scene: Scene, words: SceneTokenizer) -> None:
    for number, mask in enumerate(encoded.masks):
        tokens = [words.first]
        for line in scene.lines:
            if line.speaker == mask:
                tokens += words.tokens(f" {line.text}") + words.split
        tokens = tokens[: words.longest]
        encoded.add(tokens, [number] * len(tokens))


def _add_rows(encoded: ReaderInput, scene: Scene, reading: InputFormat, words: SceneTokenizer) -> None:
    said = [line for line in scene.lines if line.speaker is not None]
    numbers = {mask: number for number, mask in enumerate(encoded.masks)}
    main_lines = [index for index, line in enumerate(said) if line.speaker in numbers]
    order = main_lines[::-1] if reading.from_end else main_lines
    chosen = order[: reading.rows]
    if reading.fill_empty:
        speaking = {said[index].speaker for index in chosen}
        for mask in encoded.masks:
            if mask not in speaking:
                chosen.append(next(index for index in order if said[index].speaker == mask))
    room = min(reading.row, words.longest)
    for index in sorted(chosen):
        tokens = [words.first, *words.spoken(str(said[index].speaker), said[index].text), *words.split][:room]
        first = len(tokens)
        for line in reversed(said[:index] if reading.context else []):
            if len(tokens) >= room:
                break
            tokens = [*tokens, *words.spoken(str(line.speaker), line.text)][:room]
        encoded.add(tokens, [numbers[str(said[index].speaker)]] * len(tokens), len(tokens) - first)
    missing = set(numbers.values()) - encoded.owning_masks()
    for number in sorted(missing):  # without 'fill-empty' a mask may have no row
        encoded.add([words.first], [number])


def _add_windows(
    encoded: ReaderInput, scene: Scene, heading: Sequence[int], before: Sequence[int], reading: InputFormat,
    words: SceneTokenizer,
) -> None:  # fmt: skip
    numbers = {mask: number for number, mask in enumerate(encoded.masks)}
    window = min(reading.window, words.longest)
    head = [words.first, *heading][: window // 4]  # of a crowd not all names fit
    most = min(len(encoded.masks), window // 2 // QUESTION - 1)  # nor do questions about all
    room = window - len(head) - (QUESTION * (most + 1) if words.causal else 0)
    past = before[-(room // 2) :] if before else ()
    head, room = [words.first, *past, *head[1:]], room - len(past)
    setting = words.aside(scene.setting)[:SETTING] if scene.setting else []

    def size(line: Line) -> int:
        return min(len(words.tokens(f" {line.text}")) + QUESTION, room)

    for lines in windows_of_lines(scene.lines, size, room, reading.longest, len(setting)):
        tokens = head + (setting if not encoded.sequences else [])
        owners = [NOBODY] * len(tokens)
        for line in lines:
            more = words.line(line.speaker, line.text)[:room]
            tokens, owners = tokens + more, owners + [numbers.get(line.speaker or "", NOBODY)] * len(more)
        if words.causal:
            tokens = _with_questions(encoded, tokens, sorted({*owners} - {NOBODY})[:most], words)
            owners += [NOBODY] * (len(tokens) - len(owners))
        encoded.add(tokens, owners)
    for number in sorted(set(numbers.values()) - encoded.owning_masks()):  # a mask that speaks only beyond `longest`
        line = next(line for line in scene.lines if line.speaker == encoded.masks[number])
        more = words.spoken(str(line.speaker), line.text)[:room]
        tokens = _with_questions(encoded, head + more, [number], words) if words.causal else head + more
        encoded.add(tokens, [NOBODY] * len(head) + [number] * len(more) + [NOBODY] * (len(tokens) - len(head + more)))


def _with_questions(encoded: ReaderInput, tokens: list[int], masks: Sequence[int], words: SceneTokenizer) -> list[int]:
    """The tokens and then a question about each of these masks, for the sequence that is added next."""
    tokens = [*tokens, *words.split, *words.split, *words.tokens("Who is who?")]
    for number in masks:
        tokens = [*tokens, *words.split, *words.tokens(encoded.masks[number]), *words.tokens(" is")]
        encoded.question_ends[len(encoded.sequences), number] = len(tokens) - 1
    return tokens
