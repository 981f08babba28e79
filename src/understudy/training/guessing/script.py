"""What of a masked scene a transformer reads: sequences of tokens, and whose each token is.

    vanilla         for each mask a sequence of all that it says
    multi-row       at most `rows` sequences: an utterance of a mask, then what was said just before it, nearest first,
                    up to `row` tokens. Rows are taken from the scene's end ('reverse': those have more before them),
                    and a mask that got none gets one ('fill-empty'). (MR. BERT)
    scene-pooling   the whole scene, 'P0: utterance' line by line, of which a mask owns its lines; cut between lines
                    into windows that the model can read, `longest` tokens in all. It begins with who may be meant.
                    For a causal model it ends with 'P0 is', 'P1 is', whose states have read all of it. (Longformer-P)

Lengths are in the model's own tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from understudy.errors import InputError
from understudy.guessing.encoded import windows_of_lines
from understudy.guessing.masking import masks_of
from understudy.story import Line, Scene
from understudy.training.guessing.trunk import Trunk

__all__ = ["KINDS", "NOBODY", "Reading", "Script", "script_of"]

KINDS = ("vanilla", "multi-row", "scene-pooling")
NOBODY = -1
SETTING = 150  # tokens of a setting that are read
QUESTION = 8  # tokens of the question about a mask, more or less


@dataclass(frozen=True, slots=True)
class Reading:
    """How scenes are read. `context` gives a row what was said before its utterance."""

    kind: str = "scene-pooling"
    rows: int = 12
    row: int = 128
    from_end: bool = True
    fill_empty: bool = True
    context: bool = True
    window: int = 2048
    longest: int = 2048

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError(f"there is no reader '{self.kind}': choose from {', '.join(KINDS)}")
        for name in ("rows", "row", "window", "longest"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} must be above 0, not {getattr(self, name)}")


@dataclass(slots=True)
class Script:
    """`owners` has a mask's number for each token of each sequence, or NOBODY; every mask owns some.

    `seconds` counts the tokens at the end of a sequence that are context. `asked` says where the question about a mask
    ends in a sequence: {(sequence, mask): token}.
    """

    masks: tuple[str, ...]
    sequences: list[list[int]] = field(default_factory=list)
    owners: list[list[int]] = field(default_factory=list)
    seconds: list[int] = field(default_factory=list)
    asked: dict[tuple[int, int], int] = field(default_factory=dict)

    def add(self, tokens: list[int], owners: list[int], second: int = 0) -> None:
        self.sequences.append(tokens)
        self.owners.append(owners)
        self.seconds.append(second)

    def heard(self) -> set[int]:
        """The masks that own a token."""
        return {owner for owners in self.owners for owner in owners} - {NOBODY}


def script_of(scene: Scene, candidates: Sequence[str], title: str, reading: Reading, trunk: Trunk) -> Script:
    script = Script(masks_of(scene))
    if reading.kind == "vanilla":
        _add_whole(script, scene, trunk)
    elif reading.kind == "multi-row":
        _add_rows(script, scene, reading, trunk)
    else:
        _add_windows(script, scene, f"Scene from {title} with {', '.join(candidates)}.", reading, trunk)
    return script


def _add_whole(script: Script, scene: Scene, trunk: Trunk) -> None:
    for number, mask in enumerate(script.masks):
        tokens = [trunk.first]
        for line in scene.lines:
            if line.speaker == mask:
                tokens += trunk.tokens(f" {line.text}") + trunk.split
        tokens = tokens[: trunk.longest]
        script.add(tokens, [number] * len(tokens))


def _add_rows(script: Script, scene: Scene, reading: Reading, trunk: Trunk) -> None:
    said = [line for line in scene.lines if line.speaker is not None]
    numbers = {mask: number for number, mask in enumerate(script.masks)}
    own = [place for place, line in enumerate(said) if line.speaker in numbers]
    order = own[::-1] if reading.from_end else own
    chosen = order[: reading.rows]
    if reading.fill_empty:
        heard = {said[place].speaker for place in chosen}
        for mask in script.masks:
            if mask not in heard:
                chosen.append(next(place for place in order if said[place].speaker == mask))
    room = min(reading.row, trunk.longest)
    for place in sorted(chosen):
        tokens = [trunk.first, *trunk.spoken(str(said[place].speaker), said[place].text), *trunk.split][:room]
        first = len(tokens)
        for line in reversed(said[:place] if reading.context else []):
            if len(tokens) >= room:
                break
            tokens = [*tokens, *trunk.spoken(str(line.speaker), line.text)][:room]
        script.add(tokens, [numbers[str(said[place].speaker)]] * len(tokens), len(tokens) - first)
    missing = set(numbers.values()) - script.heard()
    for number in sorted(missing):  # without 'fill-empty' somebody may have no row: then nothing is known of them
        script.add([trunk.first], [number])


def _add_windows(script: Script, scene: Scene, heading: str, reading: Reading, trunk: Trunk) -> None:
    numbers = {mask: number for number, mask in enumerate(script.masks)}
    window = min(reading.window, trunk.longest)
    head = [trunk.first, *trunk.tokens(heading)][: window // 4]  # of a crowd not all names are told
    most = min(len(script.masks), window // 2 // QUESTION - 1)  # nor are all asked about
    room = window - len(head) - (QUESTION * (most + 1) if trunk.causal else 0)
    setting = trunk.aside(scene.setting)[:SETTING] if scene.setting else []

    def size(line: Line) -> int:
        return min(len(trunk.tokens(f" {line.text}")) + QUESTION, room)

    for lines in windows_of_lines(scene.lines, size, room, reading.longest, len(setting)):
        tokens = head + (setting if not script.sequences else [])
        owners = [NOBODY] * len(tokens)
        for line in lines:
            more = trunk.line(line.speaker, line.text)[:room]
            tokens, owners = tokens + more, owners + [numbers.get(line.speaker or "", NOBODY)] * len(more)
        if trunk.causal:
            tokens = _asked(script, tokens, sorted({*owners} - {NOBODY})[:most], trunk)
            owners += [NOBODY] * (len(tokens) - len(owners))
        script.add(tokens, owners)
    for number in sorted(set(numbers.values()) - script.heard()):  # one who speaks only beyond the longest scene
        line = next(line for line in scene.lines if line.speaker == script.masks[number])
        more = trunk.spoken(str(line.speaker), line.text)[:room]
        tokens = _asked(script, head + more, [number], trunk) if trunk.causal else head + more
        script.add(tokens, [NOBODY] * len(head) + [number] * len(more) + [NOBODY] * (len(tokens) - len(head + more)))


def _asked(script: Script, tokens: list[int], masks: Sequence[int], trunk: Trunk) -> list[int]:
    """The tokens and then a question about each of these masks, for the sequence that is added next."""
    tokens = [*tokens, *trunk.split, *trunk.split, *trunk.tokens("Who is who?")]
    for number in masks:
        tokens = [*tokens, *trunk.split, *trunk.tokens(script.masks[number]), *trunk.tokens(" is")]
        script.asked[len(script.sequences), number] = len(tokens) - 1
    return tokens
