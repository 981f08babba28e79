"""PersonaChat's training dialogues as questions to both speakers, and the split into training and held-back ones.

A question is the history, the profiles shown and the reply that was given. Some profiles are held back, and with them
every dialogue they take part in; the figures in a model's card are of questions put to those profiles. The data set
gives one person's profile out in parts, so two profiles that share two sentences count as one person.
"""

from __future__ import annotations

import random
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby
from pathlib import Path

from understudy.errors import InputError
from understudy.formats.hpd import Session, sessions
from understudy.formats.personachat import examples
from understudy.formats.recognition import hpd_files
from understudy.language.encoding import Context
from understudy.people.claims import SceneSpeech
from understudy.sources.source import SourceFile
from understudy.story.dialogue import Example
from understudy.story.types import Fact, Moment, Relation
from understudy.story.wording import fact_sentence, tie_sentence
from understudy.text import did_you_mean, guess_language

PERSONAS = ("original", "revised")
CONDITIONS = {"none": (), "self": ("own",), "their": ("their",), "both": ("own", "their")}
"""Whose profiles a question shows."""

CONTEXTS = 600  # that an encoder keeps, to tell what is common

FILES = {"none": ("both", "self", "other", "none"), "self": ("both", "self"), "their": ("both", "other")}

Profile = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ProfiledDialogue:
    """Two profiles, and the turns: (whose, text)."""

    profiles: tuple[Profile, Profile]
    turns: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class ReplyQuestion:
    """What was said so far, by whom (is it mine?), the profiles of the one who answers and the other, the reply."""

    history: tuple[tuple[bool, str], ...]
    own: Profile
    their: Profile
    reply: str

    def message(self, turns: int) -> str:
        return " ".join(text for _, text in self.history[-turns:])

    def shown(self, condition: str) -> Profile:
        profiles = {"own": self.own, "their": self.their}
        return tuple(sentence for whose in CONDITIONS[condition] for sentence in profiles[whose])


@dataclass(frozen=True, slots=True)
class DialogueSplit:
    """Dialogues to train on, dialogues held back, and the profiles that are asked of these."""

    training: list[ProfiledDialogue]
    held: list[ProfiledDialogue]
    asked: frozenset[Profile]


def training_file(folder: Path, personas: str, condition: str) -> Path:
    """The file of a folder that has what is wanted; the one with both profiles gives the most questions."""
    if not folder.is_dir():
        raise InputError("there is no such folder: give the folder with PersonaChat's train_*.txt files", folder)
    kinds = FILES.get(condition, ("both",))
    names = [f"train_{kind}_{personas}{end}.txt" for kind in kinds for end in ("_no_cands", "")]
    if condition == "none":  # without personas it does not matter how they are worded
        names += [f"train_{kind}_{PERSONAS[0]}{end}.txt" for kind in ("none", "both") for end in ("_no_cands", "")]
    for name in names:
        if (folder / name).is_file():
            return folder / name
    raise InputError(f"has no file to train on with {personas} personas: it needs one of {', '.join(names)}", folder)


def last_questions(path: Path) -> Iterator[Example]:
    """Of each dialogue of a file the last question: its history and its right reply are the whole of it."""
    for _, group in groupby(examples(SourceFile(path)), key=lambda example: example.name.partition(".")[0]):
        *_, last = group
        yield last


def dialogues_of(path: Path) -> list[ProfiledDialogue]:
    """The dialogues of a training file."""
    dialogues: list[ProfiledDialogue] = []
    for last in last_questions(path):
        own, faced = last.situation.persona, last.situation.faced
        turns = [(int(turn.speaker == own.name), turn.text) for turn in last.history]
        turns.append((1, last.candidates[min(last.gold)]))
        dialogues.append(ProfiledDialogue((() if faced is None else faced.profile, own.profile), tuple(turns)))
    if not dialogues:
        raise InputError("holds no dialogue to train on", path)
    return dialogues


@dataclass(frozen=True, slots=True)
class ProfiledTalk:
    """A dialogue as speeches, and the profile of each of its two people by name."""

    speeches: tuple[SceneSpeech, ...]
    profiles: dict[str, tuple[str, ...]]


def talks_of(path: Path) -> list[ProfiledTalk]:
    """The dialogues of a PersonaChat file that has both profiles."""
    talks = []
    for last in last_questions(path):
        own, faced = last.situation.persona, last.situation.faced
        turns = [(turn.speaker, turn.text) for turn in last.history]
        turns.append((own.name, last.candidates[min(last.gold)]))
        speeches = tuple(SceneSpeech(speaker, text, number) for number, (speaker, text) in enumerate(turns, 1))
        profiles = {own.name: own.profile} | ({faced.name: faced.profile} if faced else {})
        talks.append(ProfiledTalk(speeches, profiles))
    return talks


def questions_of(
    dialogues: Iterable[ProfiledDialogue], condition: str, profiles: frozenset[Profile] | None = None
) -> Iterator[ReplyQuestion]:
    """A question for every turn whose speaker, or partner, has the profile that is to be shown."""
    for dialogue in dialogues:
        for index, (who, text) in enumerate(dialogue.turns):
            own, their = dialogue.profiles[who], dialogue.profiles[1 - who]
            if profiles is not None and own not in profiles:
                continue
            if ("own" in CONDITIONS[condition] and not own) or ("their" in CONDITIONS[condition] and not their):
                continue
            history = tuple((speaker == who, said) for speaker, said in dialogue.turns[:index])
            yield ReplyQuestion(history, own, their, text)


def held_back(dialogues: Sequence[ProfiledDialogue], share: float, seed: int) -> DialogueSplit:
    """Hold back a share of the people; where nobody has a profile, a share of the dialogues."""
    rng = random.Random(seed)  # noqa: S311 - not for secrets
    people = _people(dialogues)
    if people:
        names = sorted(set(people.values()))
        held_people = frozenset(rng.sample(names, round(len(names) * share)))
        held_profiles = frozenset(profile for profile, name in people.items() if name in held_people)
        apart = [not held_profiles.isdisjoint(dialogue.profiles) for dialogue in dialogues]
    else:
        held_profiles = frozenset({()})
        chosen = frozenset(rng.sample(range(len(dialogues)), round(len(dialogues) * share)))
        apart = [index in chosen for index in range(len(dialogues))]
    if all(apart):
        raise InputError(f"{len(dialogues)} dialogues are too few to hold any back: give more, or hold back none")
    return DialogueSplit(
        [dialogue for dialogue, is_held in zip(dialogues, apart) if not is_held],
        [dialogue for dialogue, is_held in zip(dialogues, apart) if is_held],
        held_profiles,
    )


def _people(dialogues: Sequence[ProfiledDialogue]) -> dict[Profile, int]:
    """A number for whoever is behind a profile: the same where two profiles share two sentences."""
    profiles = list(dict.fromkeys(profile for dialogue in dialogues for profile in dialogue.profiles if profile))
    return dict(zip(profiles, linked_groups(combinations(sorted(set(profile)), 2) for profile in profiles)))


def linked_groups(items: Iterable[Iterable[Hashable]]) -> list[int]:
    """A number for each item, given by its parts: the same where two share a part, directly or over others."""
    parents: list[int] = []
    having: dict[Hashable, int] = {}

    def root(item: int) -> int:
        while parents[item] != item:
            parents[item] = parents[parents[item]]
            item = parents[item]
        return item

    for item, parts in enumerate(items):
        parents.append(item)
        for part in parts:
            parents[root(item)] = root(having.setdefault(part, item))
    return [root(item) for item in range(len(parents))]


def some_contexts(dialogues: Sequence[ProfiledDialogue], seed: int) -> list[Context]:
    """Contexts of questions drawn at random: the own profile, and what was said."""
    questions = [question for question in questions_of(dialogues, "none") if question.history]
    drawn = random.Random(seed).sample(questions, min(CONTEXTS, len(questions)))  # noqa: S311
    return [Context(own=question.own, turns=question.history) for question in drawn]


# HPD's training sessions as dialogues to learn from: Harry in one chair, everybody else in the other.
#
#     given   'dialogue+scene+attributes+relations', any part but the dialogue left out at will
#
# The scene is a sentence of both profiles, before all others. Harry's profile has, where given, what he feels about
# those who speak, then his attributes. Test sets (those with a positive_response) are never learnt from. As Harry is in
# all sessions, it is sessions that are held back, not people.

PARTS = ("scene", "attributes", "relations")
ALL_PARTS = "+".join(("dialogue", *PARTS))
FEWEST = 2  # turns


def parse_given(given: str) -> frozenset[str]:
    """The parts of a session that are shown beside its dialogue."""
    first, *parts = given.split("+")
    unknown = [part for part in parts if part not in PARTS]
    if first != "dialogue" or unknown:
        wrong = unknown[0] if first == "dialogue" else first
        meant = did_you_mean(wrong, ("dialogue", *PARTS))
        raise InputError(f"'{wrong}' cannot be given{meant}: write {ALL_PARTS}, or leave parts out")
    return frozenset(parts)


def hpd_training_file(folder: Path) -> Path | None:
    """The English file of HPD in a folder that has no right replies; None where the folder has no file of HPD."""
    files = hpd_files(folder)
    training = (path for path in files if all(_is_learnt_from(session) for session in sessions(SourceFile(path))))
    if (path := next(training, None)) is not None or not files:
        return path
    raise InputError(
        "holds only test sets of HPD (sessions with a positive_response) or other languages: training needs English "
        "sessions without, such as en_train_set.json",
        folder,
    )


def _is_learnt_from(session: Session) -> bool:
    return not session.positives and guess_language(" ".join(session.lines)) == "en"


def hpd_dialogues(path: Path, parts: frozenset[str]) -> list[ProfiledDialogue]:
    """The sessions of a file in which somebody answers somebody."""
    source = SourceFile(path)
    dialogues = [_dialogue(source, session, parts) for session in sessions(source)]
    return [dialogue for dialogue in dialogues if len(dialogue.turns) >= FEWEST]


def held_back_sessions(dialogues: Sequence[ProfiledDialogue], share: float, seed: int) -> DialogueSplit:
    """Hold back a share of the dialogues, and ask everybody in them."""
    count = round(len(dialogues) * share)
    if count >= len(dialogues):
        raise InputError(f"{len(dialogues)} sessions are too few to hold any back: give more, or hold back none")
    chosen = frozenset(random.Random(seed).sample(range(len(dialogues)), count))  # noqa: S311 - not for secrets
    held = [dialogue for index, dialogue in enumerate(dialogues) if index in chosen]
    training = [dialogue for index, dialogue in enumerate(dialogues) if index not in chosen]
    return DialogueSplit(training, held, frozenset(profile for dialogue in held for profile in dialogue.profiles))


def _dialogue(source: SourceFile, session: Session, parts: frozenset[str]) -> ProfiledDialogue:
    turns = tuple((int(speaker == session.owner), text) for speaker, text, _ in session.turns if speaker and text)
    scene: Profile = (session.scene.strip(),) if "scene" in parts and session.scene.strip() else ()
    return ProfiledDialogue((scene, (*scene, *_own_sentences(source, session, parts))), turns)


def _own_sentences(source: SourceFile, session: Session, parts: frozenset[str]) -> Iterator[str]:
    """What Harry feels about those who speak, and what he is."""
    language = guess_language(session.scene + " ".join(session.lines))
    moment, owner = Moment(session.chapter), session.owner
    speaking = {speaker for speaker, _, _ in session.turns}
    if "relations" in parts:
        for tie in session.ties(source):
            if tie.of == owner and tie.to in speaking and tie.holds:
                yield tie_sentence(Relation(owner, tie.to, tie.kind, tie.level, moment), language)
    if "attributes" in parts:
        for who, attribute, values in session.facts():
            if who == owner and values:
                yield fact_sentence(Fact(owner, attribute, values, moment), language)
