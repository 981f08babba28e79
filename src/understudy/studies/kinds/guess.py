"""Who is speaking? People name the masked speakers of a scene, as TVShowGuess's people did, and say what it took.

Of each mask is asked who it is, which evidence tells (`formats.annotations`), whether earlier scenes were needed, how
the evidence was put together and, of up to twenty earlier scenes that can be opened below, which were needed: the gold
that `history_recall` of `bench guess` measures retrieval by. `--format annotation` writes the folder that bench reads
as human_annotation/, `--format answers` the file for its `--people`.

An answer has for each mask 'P0 who', 'P0 evidence', 'P0 history', 'P0 reasoning' and 'P0 needed'; what an item's masks
stand for is hidden in it:

    show, episode, scene     where the scene stands
    answers                  {mask: name}
    masks                    in the order of their first lines
"""

from __future__ import annotations

import csv
import io
import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from understudy.errors import InputError
from understudy.formats.annotations import (
    EVIDENCE,
    HISTORY,
    REASONING,
    Annotation,
    Instance,
    Rationale,
    ShowInstance,
    SpeakerGuess,
    guess_documents,
)
from understudy.formats.tvshowguess import show_scenes
from understudy.guessing.analysis import PAPER_AGREEMENT, agreement_of_pairs
from understudy.guessing.scenes import NAMES, Masked, Masking, masks_of, split_long_scenes
from understudy.guessing.shows import scene_of_show
from understudy.guessing.story import GuessSettings
from understudy.metrics.statistics import Estimate, interval
from understudy.people.names import CharacterNames
from understudy.progress import Progress
from understudy.story.storyfile.toml_tables import replace_text
from understudy.story.types import Scene
from understudy.studies import Study, open_story
from understudy.studies.item import Answer, Block, Option, Problem, Question, ShownLine, StudyItem
from understudy.studies.kind import GivenAnswer, Kind, write_json_lines

WINDOW = 20  # earlier scenes that can be looked up
EARLIER = "earlier"  # a scene that is further back than those that were shown
HEADS = (
    *("Episode", "need history", "Facts abstracted from memory", "Character Code", "Guessed Character Name"),
    *("Evidence-a1", "Evidence-a2", "Evidence-a3", "Reasoning Type"),
)
MOST_EVIDENCE = 3
NEEDED = "needed_scenes.jsonl"
PAPER_ACCURACY = {"friends": 0.9868, "the big bang theory": 0.8982, "tbbt": 0.8982}
NOBODY_TWICE = "no scene was annotated by two people"
LABELS = {
    "direct": "Yes: something that happened in an earlier scene",
    "indirect": "Only what one knows of these people by then",
    "none": "No: this scene is enough",
}
TEMPLATE = """\
kind = "guess"
title = "Who is speaking?"
instructions = \"\"\"
The speakers of a scene are hidden behind P0, P1, ... Name each of them, and say what told you.
Earlier scenes can be opened below: look up what you need, and tick those that you needed.
\"\"\"
consent = "I am at least 18 and take part of my own will. I can stop at any time and have my answers deleted."
people_per_item = 2
items_per_person = 10
seed = 0

[material]
story = "demo"              # a story file or folder, or demo; for scenes of TVShowGuess write instead:
# scenes = "dev.jsonl"
since = "3.1"               # only scenes from here on; of a story alone
limit = 20                  # a seeded sample of so many scenes; leave it out for all
main = 6                    # how many main characters are hidden: those who speak most; of a story alone
candidates = "scene"        # the names to choose from: who speaks in the scene, or all main characters: cast
names = "keep"              # names within the texts: keep, mask or swap; of a story alone
"""


@dataclass(frozen=True, slots=True)
class _MaskedShow:
    """Scenes in order, which of them may be asked about, and how speakers are hidden."""

    name: str
    scenes: Sequence[Scene]
    is_asked: Sequence[bool]
    masking: Masking


def _items(study: Study, progress: Progress) -> list[StudyItem]:
    study.only("story", "scenes", "since", "limit", "main", "candidates", "names")
    among = study.choice("candidates", ("scene", "cast"))
    shows = list(_shows_of_file(study)) if "scenes" in study.material else [_show_of_story(study)]
    asked = [(show, index) for show in shows for index, is_asked in enumerate(show.is_asked) if is_asked]
    if not asked:
        raise InputError("no scene there has two main characters who speak: take other scenes")
    asked = study.sample(asked)
    items = []
    for number, (show, index) in enumerate(asked):
        progress("Items", number, len(asked))
        masked = show.masking.masked(show.scenes[index])
        candidates = masked.candidates if among == "scene" else tuple(sorted(show.masking.people))
        earlier = [show.masking.with_names(scene) for scene in show.scenes[max(index - WINDOW, 0) : index]]
        items.append(masked_item(show.name, masked, candidates, earlier, is_first=index <= WINDOW))
    return items


def _show_of_story(study: Study) -> _MaskedShow:
    story = open_story(study)
    names = study.choice("names", NAMES)
    masking = GuessSettings(most=study.number("main", 6, least=2), names=names, seed=study.seed).masking(story)
    scenes = list(split_long_scenes(story.scenes()))
    since = story.moment(study.text("since", "start"))
    is_asked = [scene.moment >= since and len(masking.masked(scene).answers) > 1 for scene in scenes]
    return _MaskedShow(story.title, scenes, is_asked, masking)


def _shows_of_file(study: Study) -> Iterator[_MaskedShow]:
    """Shows of a file of TVShowGuess; where it has splits, only scenes of one are asked about."""
    for key in ("story", "since", "main", "names"):
        if key in study.material:
            raise InputError(f"`{key}` under [material] is for a story: leave it out beside `scenes`")
    by_show: dict[str, list[Any]] = {}
    for scene in show_scenes(study.path("scenes")):
        by_show.setdefault(scene.show, []).append(scene)
    for name, records in by_show.items():
        records.sort(key=lambda scene: (scene.season, scene.episode, scene.number))
        main = list(dict.fromkeys(who for scene in records for who in scene.main_characters))
        names = {who: who.title() for who in main}
        forms = CharacterNames({who: (who,) for who in names.values()})
        masking = Masking(list(names.values()), forms, seed=study.seed)
        has_splits = any(scene.split for scene in records)
        scenes = [scene_of_show(scene, names) for scene in records]
        is_asked = [
            (record.split is not None or not has_splits) and len(masking.masked(scene).answers) > 1
            for record, scene in zip(records, scenes)
        ]
        yield _MaskedShow(name, scenes, is_asked, masking)


def masked_item(
    show: str, masked: Masked, candidates: Sequence[str], earlier: Sequence[Scene], is_first: bool = True
) -> StudyItem:
    """The item of a scene. `is_first`: nothing comes before the earlier scenes that are shown."""
    *episode, number = masked.scene.moment.numbers
    masks = masks_of(masked.scene)
    lines = tuple(ShownLine(line.speaker, line.text) for line in masked.scene.lines)
    setting = (ShownLine(None, masked.scene.setting),) if masked.scene.setting else ()
    blocks = [Block("The scene", (*setting, *lines))]
    for scene in reversed(earlier):
        title = f"{scene.moment.dotted} {scene.setting}".strip()
        said = tuple(ShownLine(line.speaker, line.text) for line in scene.lines)
        blocks.append(Block(title, said, is_folded=True, name=scene.moment.dotted))
    further = () if is_first else (Option(EARLIER, "a scene further back than these"),)
    scenes = (*(Option(block.name, block.title) for block in blocks[1:]), *further)
    questions = tuple(question for mask in masks for question in _questions(mask, candidates, scenes))
    hidden = {
        "show": show, "episode": episode, "scene": number, "answers": dict(masked.answers), "masks": list(masks),
        "is_one_each": len(candidates) == len(masks),
    }  # fmt: skip
    numbers = "x".join(f"{level:02d}" for level in episode)
    return StudyItem(f"{show.replace('.', '')}/{numbers}/{number}", tuple(blocks), questions, hidden)


def _questions(mask: str, candidates: Sequence[str], scenes: Sequence[Option]) -> Iterator[Question]:
    yield Question(
        f"{mask} who", "choice", f"Who is {mask}?", tuple(Option(name, name) for name in candidates), about=mask
    )
    kinds = tuple(Option(kind, kind) for kind in EVIDENCE)
    yield Question(f"{mask} evidence", "choices", "What tells?", kinds, least=1, most=3, about=mask)
    history = tuple(Option(need, LABELS[need]) for need in HISTORY)
    yield Question(f"{mask} history", "choice", "Did it take earlier scenes?", history, about=mask)
    reasoning = tuple(Option(kind, kind) for kind in REASONING)
    yield Question(f"{mask} reasoning", "choice", "How is the evidence put together?", reasoning, about=mask)
    if scenes:
        label = "Which earlier scenes were needed?"
        yield Question(f"{mask} needed", "choices", label, tuple(scenes), is_required=False, about=mask)


def _problems(item: StudyItem, answer: Answer) -> list[Problem]:
    problems = []
    asked = {question.name for question in item.questions}
    names = Counter(answer[f"{mask} who"] for mask in item.hidden["masks"] if f"{mask} who" in answer)
    for mask in item.hidden["masks"]:
        who, needed = answer.get(f"{mask} who"), answer.get(f"{mask} needed") or ()
        history = answer.get(f"{mask} history")
        if item.hidden["is_one_each"] and who is not None and names[who] > 1:
            problems.append(Problem(f"{mask} who", f"{who} is behind one mask only: choose others for the rest"))
        if history == "none" and needed:
            problems.append(Problem(f"{mask} needed", "You say that this scene is enough: untick these, or say yes."))
        if history == "direct" and not needed and f"{mask} needed" in asked:
            problems.append(Problem(f"{mask} needed", "Tick the earlier scenes in which it happened."))
    return problems


def _simulated(item: StudyItem, skill: float, rng: random.Random) -> dict[str, Any]:
    """Skill is how often all masks are named rightly, and how far people agree on what it took."""
    hidden = item.hidden
    masks = hidden["masks"]
    names = [hidden["answers"][mask] for mask in masks]
    if rng.random() >= skill:
        rng.shuffle(names)
    answer: dict[str, Any] = {}
    options = {question.name: [option.key for option in question.options] for question in item.questions}
    for mask, name in zip(masks, names):
        leaning = random.Random(f"{item.name} {mask}")  # noqa: S311
        by = leaning if rng.random() < skill else rng
        history = by.choice([need for need in HISTORY if need != "direct" or f"{mask} needed" in options])
        answer[f"{mask} who"] = name
        answer[f"{mask} evidence"] = [by.choice(options[f"{mask} evidence"])]
        answer[f"{mask} history"] = history
        answer[f"{mask} reasoning"] = by.choice(options[f"{mask} reasoning"])
        if history == "direct":
            answer[f"{mask} needed"] = [by.choice(options[f"{mask} needed"])]
    return answer


def annotations_of(answers: Sequence[GivenAnswer]) -> list[Annotation]:
    """One for each masked speaker whose evidence a person named; `source` is the show and the person."""
    return [annotation for _, annotation in _annotations(answers)]


def _annotations(answers: Sequence[GivenAnswer]) -> Iterator[tuple[str, Annotation]]:
    """With the show of each: scenes of two shows may have the same numbers."""
    for each, mask, instance in _speakers(answers):
        evidence = each.answer.get(f"{mask} evidence")
        if evidence:
            rationale = Rationale(tuple(evidence), each.answer.get(f"{mask} reasoning", "none"))
            history = each.answer.get(f"{mask} history", HISTORY[0])
            guess = each.answer.get(f"{mask} who", "")
            show = each.item.hidden["show"]
            yield show, Annotation(f"{show}-{each.person}", instance, history, (rationale,), guess)


def _guesses_of(answers: Sequence[GivenAnswer]) -> list[SpeakerGuess]:
    guesses = list[SpeakerGuess]()
    for each, mask, at in _speakers(answers):
        if guess := each.answer.get(f"{mask} who"):
            show, who = each.item.hidden["show"], each.item.hidden["answers"][mask]
            guesses.append(SpeakerGuess(show, at.episode, at.scene, at.place, who, guess, each.person))
    return guesses


def _needed_scenes(answers: Sequence[GivenAnswer]) -> dict[ShowInstance, list[str]]:
    """For each speaker the earlier scenes that at least half of those who annotated it say they needed."""
    annotators = Counter[ShowInstance]()
    counts = defaultdict[ShowInstance, Counter[str]](Counter)
    for each, mask, instance in _speakers(answers):
        was_asked = any(question.name == f"{mask} needed" for question in each.item.questions)
        if was_asked and each.answer.get(f"{mask} history"):
            speaker = each.item.hidden["show"], instance
            annotators[speaker] += 1
            counts[speaker].update(each.answer.get(f"{mask} needed", ()))
    return {
        speaker: [name for name, count in of_speaker.items() if name != EARLIER and 2 * count >= annotators[speaker]]
        for speaker, of_speaker in counts.items()
    }


def _speakers(answers: Sequence[GivenAnswer]) -> Iterator[tuple[GivenAnswer, str, Instance]]:
    for each in answers:
        hidden = each.item.hidden
        for place, mask in enumerate(hidden["masks"]):
            yield each, mask, Instance(tuple(hidden["episode"]), hidden["scene"], place)


def _figures(study: Study, answers: Sequence[GivenAnswer]) -> list[dict[str, Any]]:
    """accuracy: the share of masked speakers named rightly, each person by themselves, for each show and all;
    kappa: agreement about what it took (see `guessing.annotation_agreement`), over all pairs of annotators."""
    guesses = _guesses_of(answers)
    shows = dict.fromkeys(guess.show for guess in guesses)
    rows = [_accuracy(show, [guess for guess in guesses if guess.show == show], study.seed) for show in shows]
    if len(shows) > 1:
        rows.append(_accuracy("all", guesses, study.seed))
    by_speaker = defaultdict[ShowInstance, list[Annotation]](list)
    for show, annotation in _annotations(answers):
        by_speaker[show, annotation.instance].append(annotation)
    pairs = [
        ((show, at[:2]), pair)
        for (show, at), annotations in by_speaker.items()
        for pair in combinations(annotations, 2)
    ]
    if pairs:
        return rows + agreement_of_pairs([pair for _, pair in pairs], [scene for scene, _ in pairs], study.seed)
    missing = Estimate.missing("kappa", 0, NOBODY_TWICE)
    return rows + [{"annotation": name, **missing.row(), "paper": paper} for name, paper in PAPER_AGREEMENT.items()]


def _accuracy(show: str, guesses: Sequence[SpeakerGuess], seed: int) -> dict[str, Any]:
    scenes = [(guess.show, guess.episode, guess.scene) for guess in guesses]
    share = interval([guess.guess == guess.who for guess in guesses], scenes, seed)
    row = {"show": show, "metric": "accuracy", "value": share.value, "low": share.low, "high": share.high}
    return row | {"n": len(guesses), "paper": PAPER_ACCURACY.get(show.replace("_", " ").casefold())}


def _write_annotation(_: Study, answers: Sequence[GivenAnswer], folder: Path) -> None:
    """A folder as `human_annotation/` of `bench guess`: a table for each show and person, and the needed scenes."""
    tables = defaultdict[str, list[Annotation]](list)
    for annotation in annotations_of(answers):
        tables[annotation.source].append(annotation)
    if not tables:
        raise InputError("nobody has annotated a speaker yet: there is no table to write", folder)
    folder.mkdir(parents=True, exist_ok=True)
    for source, of_person in tables.items():
        text = io.StringIO()
        writer = csv.writer(text, delimiter="\t", lineterminator="\n")
        writer.writerow(HEADS)
        writer.writerows(_cells(annotation) for annotation in of_person)
        replace_text(folder / f"{source.replace('/', ' ')}.tsv", text.getvalue())
    records = [
        {
            "show": show, "episode": _episode(at), "scene": at.scene, "place": at.place,
            # The number of a scene by its moment: enough where scenes are counted throughout, as in TVShowGuess.
            "needed": [int(name.rpartition(".")[2]) for name in names], "moments": names,
        }
        for (show, at), names in _needed_scenes(answers).items()
    ]  # fmt: skip
    if records:
        write_json_lines(folder / NEEDED, records)


def _cells(annotation: Annotation) -> list[str]:
    history = annotation.needs_history
    evidence = [*annotation.evidence[:MOST_EVIDENCE], *[""] * MOST_EVIDENCE][:MOST_EVIDENCE]
    needs = ["yes" if history == "direct" else "no", "yes" if history != "none" else "no"]
    at = annotation.instance
    who = [f"P{at.place}", annotation.guess]
    return [f"{_episode(at)} {at.scene}", *needs, *who, *evidence, annotation.reasoning]


def _episode(at: Instance) -> str:
    """'09x01'; a chapter of a story that has one level above its scenes is an episode of season 0."""
    if len(at.episode) > 2:
        raise InputError(
            "tables of annotations count by season and episode: this story has more levels above its scenes"
        )
    season, episode = at.episode if len(at.episode) == 2 else (0, *(at.episode or (0,)))
    return f"{season:02d}x{episode:02d}"


def _write_guesses(_: Study, answers: Sequence[GivenAnswer], path: Path) -> None:
    write_json_lines(path, guess_documents(_guesses_of(answers)))


GUESS = Kind(
    "guess",
    "names the masked speakers of a scene, and says what told",
    TEMPLATE,
    _items,
    _simulated,
    _problems,
    outputs={"annotation": _write_annotation, "answers": _write_guesses},
    figures=_figures,
)
