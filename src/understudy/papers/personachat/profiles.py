"""Profile prediction: whose profile is it, told from what was said?

The true profile is ranked among 100 others that share no sentence with it: one of each other persona of the split,
topped up from training. `error_rate` is how often it does not come first, `pairwise_error` how often another comes
before it (see below), by how much of the dialogue is heard: a speaker's first 1 to 8 utterances (all, of one who
says less), or the whole. Each speaker is judged on their own profile and on their partner's. Single sentences are
judged alike: each true one among one of each of the 100 other profiles.

Chats of people with models, or of models with each other, are judged beside PersonaChat's dialogues of two people, by
'whose words -> whose profile' (`told`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from understudy.bench.run import Items, Row, figure_row, manifest_of, sampled, write_items
from understudy.errors import InputError
from understudy.formats.chat_records import HUMAN, ChatRecord, read_chats, read_judged_chats
from understudy.metrics.statistics import RESAMPLES, interval
from understudy.papers.personachat.published import PAPER_IS, profile_error
from understudy.papers.personachat.scorers import ProfileScorer, Training, scorer_named, scorers_for
from understudy.progress import Progress, ignore_progress
from understudy.training.corpus import PAIRS, read_pairs
from understudy.training.dialogues import last_questions, linked_groups

# The two sides of PersonaChat's dialogues, and the profiles that a true one is ranked against.
#
# A `Side` is one side of a dialogue: what was said, the profile that was given, and the partner's.

LEAST_PROFILE = 4  # shorter ones are cut off: everybody was given four or five sentences


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a dialogue."""

    dialogue: int
    second: bool
    said: tuple[str, ...]
    profile: tuple[str, ...]
    partner: tuple[str, ...]

    @property
    def letter(self) -> str:
        return "B" if self.second else "A"


def sides_of(path: Path) -> list[Side]:
    """Both sides of every dialogue of a file."""
    sides: list[Side] = []
    for example in last_questions(path):
        number = int(example.name.partition(".")[0])
        own, faced = example.situation.persona, example.situation.faced
        partner = () if faced is None else faced.profile
        partner_said = tuple(turn.text for turn in example.history if turn.speaker != own.name)
        said = tuple(turn.text for turn in example.history if turn.speaker == own.name)
        reply = example.candidates[min(example.gold)]
        sides.append(Side(number, False, partner_said, partner, own.profile))
        sides.append(Side(number, True, (*said, reply), own.profile, partner))
    return sides


def sampled_sides(sides: Sequence[Side], limit: int | None, seed: int) -> list[Side]:
    """Both sides of a seeded sample of the dialogues; all of them without a limit."""
    chosen = set(sampled(list(dict.fromkeys(side.dialogue for side in sides)), limit, seed))
    return [side for side in sides if side.dialogue in chosen]


def training_of(data: Path) -> tuple[Training, list[Path]]:
    """What a folder has to learn from, and the files it lies in."""
    texts = sorted(data.glob("train_both_original*.txt"))[:1]
    sides = [side for path in texts for side in sides_of(path)]
    pairs = read_pairs(data)
    training = Training(
        [text for side in sides for text in side.said],
        [text for side in sides for text in side.profile],
        pairs,
    )
    return training, [*texts, *([data / PAIRS] if pairs else [])]


def fields_of(
    judged: Sequence[Side], more: Sequence[Side], size: int, seed: int
) -> tuple[list[tuple[str, ...]], dict[tuple[str, ...], NDArray[np.int64]]]:
    """All profiles, and for each judged one its number followed by those of the profiles it is ranked against.

    People given the same persona were shown different sentences of it. Profiles that are linked by common sentences
    are therefore one persona, and of each only one stands in a field: else a field would hold the same person twice.
    """
    profiles: dict[tuple[str, ...], int] = {}
    for side in (*judged, *(side for side in more if len(side.profile) >= LEAST_PROFILE)):
        if side.profile:
            profiles.setdefault(tuple(sorted(side.profile)), len(profiles))
    ordered = list(profiles)
    persona = linked_groups(ordered)
    own = {persona[profiles[tuple(sorted(side.profile))]] for side in judged if side.profile}
    members: dict[int, list[int]] = {}
    for number, root in enumerate(persona):
        members.setdefault(root, []).append(number)
    rng = np.random.default_rng(seed)
    fields = {}
    for profile in dict.fromkeys(tuple(sorted(side.profile)) for side in judged if side.profile):
        number = profiles[profile]
        rivals = [root for root in members if root != persona[number]]
        order = [rivals[index] for index in rng.permutation(len(rivals))]
        order.sort(key=lambda root: root not in own)  # the split's own personas first, each part in its drawn order
        chosen = [members[root][int(rng.integers(len(members[root])))] for root in order[:size]]
        fields[profile] = np.array([number, *chosen], dtype=np.int64)
    return ordered, fields


# Where the true profile, or one of its sentences, stands among others, and the error rates that follow.
#
#   error_rate      share of items in which the true one does not come first; an equal score counts as an error
#   pairwise_error  mean over items of the share of others that score higher, an equal score counting half
#
# By chance the first is N / (N + 1) among N others, the second 1/2. The paper says of its figures for whole dialogues
# that they are 'averaged over all dialogues and candidates', and calls .512 'chance level' among 100 others: they are
# pairwise errors. Its figures by length begin at .76, too high for pairs. They stand beside both.

ERRORS = ("error_rate", "pairwise_error")


class ProfileRank(NamedTuple):
    """One item: its name (dialogue, side and, of a sentence, its number), rank, and the share of others above it."""

    item: str
    rank: int
    above: float

    @property
    def dialogue(self) -> str:
        return self.item.split(".")[0]

    @property
    def side(self) -> str:
        """The dialogue and the side."""
        return ".".join(self.item.split(".")[:2])


def rank_of(item: str, true: float, others: NDArray[np.float32]) -> ProfileRank:
    above, equal = np.count_nonzero(others > true), np.count_nonzero(others == true)
    return ProfileRank(item, 1 + int(above + equal), float((above + equal / 2) / len(others)) if len(others) else 0.0)


def error_rows(what: Mapping[str, Any], ranks: Sequence[ProfileRank], paper: float | None, seed: int) -> Iterator[Row]:
    """Both error rates with intervals over dialogues."""
    groups = [ranked.dialogue for ranked in ranks]
    values_by_metric = {"error_rate": [float(ranked.rank > 1) for ranked in ranks]}
    values_by_metric["pairwise_error"] = [ranked.above for ranked in ranks]
    for metric, values in values_by_metric.items():
        yield figure_row(what, metric, (interval(values, groups, seed), len(ranks)), paper)


OTHERS = 100
LENGTHS = tuple(range(1, 9))
WHOLE = "whole"

ProfileRanks = dict[tuple[str, str, int | str], list[ProfileRank]]
"""By whose profile, unit and length: where the true one stands in each item."""


def bench_profiles(
    data: Path,
    split: str = "valid",
    scorers: Sequence[str] | None = None,
    limit: int | None = None,
    seed: int = 0,
    progress: Progress = ignore_progress,
    save_items: Path | None = None,
    chats: Sequence[Path] = (),
) -> dict[str, Any]:
    """Rows, items and manifest; without a wish every scorer that the folder has the data for.

    `chats` are files of chats to judge beside the dialogues of the split.
    """
    judged_file = data / f"{split}_both_original.txt"
    if not judged_file.is_file():
        raise InputError(f"holds no {judged_file.name}: name the folder that has it", data)
    training, used = training_of(data)
    if scorers is None:
        scorers = scorers_for(training)
    sides = sides_of(judged_file)
    judged = sampled_sides(sides, limit, seed)
    chat_sides: dict[Path, list[ChatSide]] = {}
    for path in chats:  # numbered on from the dialogues, so that no two items have the same name
        chat_sides[path] = sides_in(path, 1 + len(sides) // 2 + sum(len(some) // 2 for some in chat_sides.values()))
    more = [side for path in used if path.suffix == ".txt" for side in sides_of(path)]
    chatting = [chat_side.side for some in chat_sides.values() for chat_side in some]
    profiles, field = fields_of([*sides, *chatting], more, OTHERS, seed)
    rows, items = list[Row](), list[Items]()
    for name in scorers:
        scorer = scorer_named(name, profiles, training)
        ranks = _ranks(scorer, judged, profiles, field, seed, _on(progress, name))
        rows += _rows(name, split, ranks, seed)
        items += _items({"scorer": name}, ranks)
        for path, some in chat_sides.items():
            of_chats = sampled_sides([chat_side.side for chat_side in some], limit, seed)
            dialogues = {side.dialogue for side in of_chats}
            judged_sides = [chat_side for chat_side in some if chat_side.side.dialogue in dialogues]
            ranks = _ranks(scorer, of_chats, profiles, field, seed, _on(progress, f"{name}, {path.name}"))
            rows += chat_rows(name, judged_sides, ranks, WHOLE, seed)
            items += _items({"scorer": name, "chats": path.stem}, ranks)
    settings = {"split": split, "others": OTHERS, "resamples": RESAMPLES, "paper": f"{PAPER_IS}, other distractors"}
    if chats:
        settings["chats"] = [str(path) for path in chats]
    manifest = manifest_of("profiles", [judged_file, *used, *chats], seed, limit, settings)
    if save_items is not None:
        write_items(save_items, items, manifest)
    return {"rows": rows, "manifest": manifest}


def _on(progress: Progress, name: str) -> Progress:
    return lambda _, done, total: progress(name, done, total)


def _items(what: Mapping[str, str], ranks: ProfileRanks) -> Iterator[Items]:
    for (profile, unit, length), of_key in ranks.items():
        keys = {**what, "profile": profile, "unit": unit, "length": str(length)}
        marks = {"pairwise_error": [ranked.above for ranked in of_key]}
        yield Items(keys, [ranked.item for ranked in of_key], [ranked.rank for ranked in of_key], marks)


def _ranks(
    scorer: ProfileScorer,
    sides: Sequence[Side],
    profiles: Sequence[Sequence[str]],
    field: Mapping[tuple[str, ...], NDArray[np.int64]],
    seed: int,
    progress: Progress,
) -> ProfileRanks:
    ranks: ProfileRanks = {}
    for done, side in enumerate(sides, 1):
        _judge(scorer, side, profiles, field, seed, ranks)
        progress("", done, len(sides))
    return ranks


def _judge(
    scorer: ProfileScorer,
    side: Side,
    profiles: Sequence[Sequence[str]],
    field: Mapping[tuple[str, ...], NDArray[np.int64]],
    seed: int,
    ranks: ProfileRanks,
) -> None:
    """The ranks of the true profile and of its sentences after each utterance."""
    by_profile, by_sentence = scorer.scores(side.said)
    starts = scorer.starts
    lengths: tuple[int | str, ...] = (*LENGTHS, WHOLE)
    for whose, profile in (("own", side.profile), ("partner", side.partner)):
        if not profile or not side.said:
            continue
        candidates = field[tuple(sorted(profile))]
        true = candidates[0]
        rng = np.random.default_rng((seed, side.dialogue, side.second, whose == "own"))
        sizes = np.array([len(profiles[rival]) for rival in candidates[1:]])
        wrong = starts[candidates[1:]] + rng.integers(0, sizes)
        for length in lengths:
            at = min(len(side.said), length if isinstance(length, int) else len(side.said)) - 1
            name = f"{side.dialogue}.{side.letter}"
            ranked = rank_of(name, by_profile[at, true], by_profile[at, candidates[1:]])
            ranks.setdefault((whose, "profile", length), []).append(ranked)
            if length == WHOLE:
                for nth in range(len(profiles[true])):
                    ranked = rank_of(f"{name}.{nth + 1}", by_sentence[at, starts[true] + nth], by_sentence[at, wrong])
                    ranks.setdefault((whose, "sentences", length), []).append(ranked)


def _rows(scorer: str, split: str, ranks: ProfileRanks, seed: int) -> Iterator[Row]:
    for (whose, unit, length), of_key in ranks.items():
        for speaker in ("both", "A", "B") if length == WHOLE else ("both",):
            of_speaker = [ranked for ranked in of_key if speaker == "both" or ranked.side.endswith(f".{speaker}")]
            if not of_speaker:
                continue
            paper = None
            if whose == "own" and speaker == "both":
                paper = profile_error("human -> human", unit, None if length == WHOLE else int(length))
            what = {"scorer": scorer, "split": split, "speaker": speaker, "profile": whose, "unit": unit}
            yield from error_rows({**what, "length": length}, of_speaker, paper, seed)


# In chats of people with models and of models with each other, 'whose words -> whose profile' is told, after the
# paper's table. Own profiles ('human -> human', 'model -> model') ask how much somebody says of themselves, the other
# side's ('human -> model', 'model -> human') how much somebody takes up what the other one is. The paper's dialogues
# are all between a person and a model: its 'human -> human' is the person's own profile from what that person says to a
# model. In a chat of two models the other side's profile is 'model -> other model', for which it has no figure.
#
# Where a person's part was replayed, 'human -> model' has no value: the person had answered somebody else, who was
# given the same profile as the model, so that their words tell of that one.


LEAST_TURNS = 4  # of each side of a chat with a volunteer: many left at once
REPLAYED = "the person answered somebody else, with the same profile"


class ChatSide(NamedTuple):
    """One side of a chat: its words and profiles, who sat there and who on the other side, and of which file."""

    side: Side
    speaker: str
    other: str
    source: str
    given: str
    replayed: bool


def sides_in(path: Path, first: int = 1) -> list[ChatSide]:
    """Both sides of every chat of a file, of `self-chat` or of ConvAI2's volunteers; chats count from `first`."""
    records = list(_records(path))
    if not records:
        raise InputError("holds no chat to tell profiles from", path)
    return [
        ChatSide(
            Side(number, bool(side), record.said(side), record.profiles[side], record.profiles[1 - side]),
            record.speakers[side],
            record.speakers[1 - side],
            path.stem,
            record.given,
            record.replayed,
        )
        for number, record in enumerate(records, first)
        for side in (0, 1)
    ]


def _records(path: Path) -> Iterable[ChatRecord]:
    with path.open("rb") as file:
        is_list = file.read(64).lstrip().startswith(b"[")
    if not is_list:
        return read_chats(path)
    records = (chat.record for chat in read_judged_chats(path))
    return (record for record in records if min(len(record.said(side)) for side in (0, 1)) >= LEAST_TURNS)


def direction_of(chat_side: ChatSide, whose: str) -> str:
    """'whose words -> whose profile' of the paper's table; `whose` is 'own' or 'partner'."""
    speaker, other = (HUMAN if name == HUMAN else "model" for name in (chat_side.speaker, chat_side.other))
    if whose == "own":
        return f"{speaker} -> {speaker}"
    return f"{speaker} -> {other}" if speaker != other else f"{speaker} -> other {other}"


def chat_rows(
    scorer: str, chat_sides: Sequence[ChatSide], ranks: Mapping[tuple[str, str, int | str], Sequence[ProfileRank]],
    whole: str, seed: int,
) -> Iterator[Row]:  # fmt: skip
    """The rows of one file: error rates for each direction, unit and length."""
    by_side = {f"{chat_side.side.dialogue}.{chat_side.side.letter}": chat_side for chat_side in chat_sides}
    grouped: dict[tuple[str, str, str, str, int | str], list[ProfileRank]] = {}
    for (whose, unit, length), of_key in ranks.items():
        for ranked in of_key:
            chat_side = by_side[ranked.side]
            direction = direction_of(chat_side, whose)
            grouped.setdefault((chat_side.given, direction, whose, unit, length), []).append(ranked)
    for (given, direction, whose, unit, length), some in grouped.items():
        chat_side = by_side[some[0].side]
        what: Row = {"scorer": scorer, "chats": chat_side.source, "given": given, "told": direction, "profile": whose}
        what |= {"unit": unit, "length": length}
        paper = profile_error(direction, unit, None if length == whole else int(length), given != "none")
        if direction == "human -> model" and chat_side.replayed:
            yield from (figure_row(what, metric, REPLAYED, paper) for metric in ERRORS)
        else:
            yield from error_rows(what, some, paper, seed)
