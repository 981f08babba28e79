"""Features of a candidate reply: numbers that a choice among replies can be fitted on.

A group computes some features of every candidate of a question, from the parts of the question that it reads; a part
that is withheld leaves them 0 for all candidates alike. A feature never depends on the other candidates. Where it is
known beforehand which way a feature counts, it says so by its sign (see `choice_model`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from understudy.agents.fit import CachedEncoder
from understudy.agents.word_tokens import roots
from understudy.language.encoding import Context, Floats
from understudy.language.encoding.encoder import MultilingualEncoder, shared_encoder
from understudy.language.lexical.rows import Reals
from understudy.language.lexical.tone import tone_of
from understudy.people.mentions import mention
from understudy.people.names import CharacterNames
from understudy.progress import Progress, ignore_progress
from understudy.story.dialogue import Example, Situation, Turn
from understudy.text import fold, words


class Feature(NamedTuple):
    """`sign` is 1 where more of it can only speak for a reply, -1 where only against it, 0 where that is open."""

    name: str
    sign: int = 0


class FeatureGroup(Protocol):
    @property
    def features(self) -> Sequence[Feature]: ...

    def values(self, example: Example) -> Reals:
        """A row for each candidate, a column for each feature."""
        ...


@runtime_checkable
class SlowFeatures(Protocol):
    """A group that takes long, and is told beforehand what it will be asked, so that it can say how far it is."""

    def precompute(self, examples: Sequence[Example], progress: Progress) -> None: ...


@dataclass(frozen=True, slots=True)
class TextFeatures:
    """Features that are functions of one candidate's text, prepared once for each question."""

    features: Sequence[Feature]
    prepare: Callable[[Example], Callable[[str], Sequence[float]]]

    def values(self, example: Example) -> Reals:
        of_text = self.prepare(example)
        rows = [of_text(text) for text in example.candidates]
        return np.array(rows, dtype=np.float64).reshape(len(rows), len(self.features))


def features_of(groups: Iterable[FeatureGroup]) -> list[Feature]:
    return [feature for group in groups for feature in group.features]


def feature_rows(
    groups: Sequence[FeatureGroup], examples: Sequence[Example], progress: Progress = ignore_progress
) -> list[Reals]:
    """For each question, a row for each candidate."""
    for group in groups:
        if isinstance(group, SlowFeatures):
            group.precompute(examples, progress)
    rows: list[Reals] = []
    for done, example in enumerate(examples, 1):
        rows.append(np.concatenate([group.values(example) for group in groups], axis=1))
        progress("features", done, len(examples))
    return rows


# How near a reply is in meaning to what was said and to the scene, by the shipped sentence encoder.
#
# Cosines of the reply's vector with that of the turns, of the turns with the scene as what is known beside them, of
# the last turn, and the largest with a single turn and with a sentence of the scene. The encoder reads English; for
# other languages the multilingual encoder is taken where one is installed, and without it the features are 0.

MEANING_FEATURES = tuple(Feature(name, 1) for name in ("near_turns", "near_all", "near_turn", "near_scene"))
SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])")
SENTENCES = 8  # of the scene that are read with the turns
READ = "en"


class Meaning:
    features: Sequence[Feature] = MEANING_FEATURES

    @cached_property
    def _english(self) -> CachedEncoder:
        return CachedEncoder(shared_encoder())

    @cached_property
    def _multilingual(self) -> CachedEncoder | None:
        encoder = MultilingualEncoder.find()
        return None if encoder is None else CachedEncoder(encoder)

    def values(self, example: Example) -> Reals:
        persona = example.situation.persona
        cached = self._english if persona.language == READ else self._multilingual
        result = np.zeros((len(example.candidates), len(MEANING_FEATURES)))
        if cached is None or not example.candidates:
            return result
        replies = cached.encode(example.candidates)
        own = fold(persona.name)
        turns = tuple((fold(turn.speaker) == own, turn.text) for turn in example.history)
        scene = sentences(example.situation.setting)
        if turns or scene:
            known = tuple(scene[:SENTENCES])
            contexts = [Context(turns=turns), Context(own=known, turns=turns)]
            near = replies @ cached.encoder.encode_contexts(contexts).T
            result[:, 0] = near[:, 0] if turns else 0.0
            result[:, 1] = near[:, 1]
        result[:, 2] = _nearest(replies, cached.encode([text for _, text in turns]))
        result[:, 3] = _nearest(replies, cached.encode(scene, "own"))
        return np.round(result, 5)  # the same, however many texts went through the encoder together


def sentences(text: str) -> list[str]:
    return [sentence.strip() for sentence in SENTENCE_END.split(text) if sentence.strip()]


def _nearest(replies: Floats, texts: Floats) -> Floats:
    return (replies @ texts.T).max(axis=1) if len(texts) else np.zeros(len(replies), np.float32)


# Words that a reply shares with what was said and with the scene.
#
#   weight(x)    = how rare the word's root x is                                    names of those present left out
#   shared(c, t) = sqrt(sum of weight(x) over x in both c and t)
#   cosine(c, t) = (sum of weight(x)^2 over x in both) / (|c| |t|),   |t|^2 = sum of weight(x)^2 over x in t
#
# t is the dialogue, the scene, or the two together. Rarity is that of the shipped encoder's training texts (a word of
# several tokens is as rare as the rarest of them, and a little more); in other languages than English all words weigh
# alike. Whoever is present is named by anybody at any time: their names tell nothing of what is spoken of.

WORD_FEATURES = (
    Feature("shared_with_dialogue", 1),
    Feature("shared_with_scene", 1),
    Feature("shared_with_any", 1),
    Feature("cosine_dialogue", 1),
    Feature("cosine_scene", 1),
    Feature("shared_pairs", 1),
)
IN_PIECES = 1.0  # what a word of several tokens is rarer than the rarest of them

Bag = Mapping[str, float]


def present_names(situation: Situation, history: Sequence[Turn]) -> list[str]:
    """The names of all who speak or are there, the persona among them."""
    spoke = (turn.speaker for turn in history)
    return list(dict.fromkeys((situation.persona.name, *spoke, *(other.name for other in situation.present))))


@cache
def _rarities() -> list[float]:
    """Of every token of the shipped encoder."""
    rarities: list[float] = shared_encoder().rarity.tolist()
    return rarities


@cache
def rarity(word: str) -> float:
    """How rare an English word is."""
    table = _rarities()
    tokens = [table[token] for token in shared_encoder().words(word)]
    return max(tokens, default=0.0) + (IN_PIECES if len(tokens) > 1 else 0.0)


def _prepare_words(example: Example) -> Callable[[str], Sequence[float]]:
    situation, language = example.situation, example.situation.persona.language
    names = present_names(situation, example.history)
    present = frozenset[str]().union(*(roots(name, language) for name in names))

    def bag(text: str) -> Bag:
        return {root: rarity(root) if language == "en" else 1.0 for root in roots(text, language) - present}

    said = "\n".join(turn.text for turn in example.history)
    dialogue, scene = bag(said), bag(situation.setting)
    both = {**dialogue, **scene}
    pairs = _pairs(f"{said}\n{situation.setting}", language, present)

    def values(text: str) -> list[float]:
        reply = bag(text)
        return [
            *(math.sqrt(_shared(reply, part)) for part in (dialogue, scene, both)),
            _cosine(reply, dialogue),
            _cosine(reply, scene),
            math.sqrt(len(_pairs(text, language, present) & pairs)),
        ]

    return values


def _pairs(text: str, language: str, present: frozenset[str]) -> set[tuple[str, str]]:
    """Neighbouring words of which one at least has a meaning of its own."""
    said = words(text, language)
    telling = roots(text, language) - present
    carries = {word: bool(roots(word, language) & telling) for word in set(said)}
    return {pair for pair in pairwise(said) if carries[pair[0]] or carries[pair[1]]}


def _shared(reply: Bag, part: Bag) -> float:
    return math.fsum(weight for root, weight in reply.items() if root in part)


def _cosine(reply: Bag, part: Bag) -> float:
    norm = math.hypot(*reply.values()) * math.hypot(*part.values())
    return math.fsum(weight * part[root] for root, weight in reply.items() if root in part) / norm if norm else 0.0


SHARED_WORDS = TextFeatures(WORD_FEATURES, _prepare_words)


# Whom a reply names, and how: nobody calls out their own name, or speaks of those before them as if they were not.
#
# A name is called where it stands between marks or greetings ('Well, Ron, ...'), else somebody is spoken of. In
# English a capital inside a sentence is taken for a name: one that neither dialogue nor scene has is a stranger's.

NAME_FEATURES = (
    Feature("own_name", -1),
    Feature("calls_present", 1),
    Feature("speaks_of_present", -1),
    Feature("known_names", 1),
    Feature("strange_names", -1),
)
CAPITAL = re.compile(r"[A-Z][a-z]+")
INSIDE = re.compile(r"(?<=[\w,;] )[A-Z][a-z]+")


def _prepare_names(example: Example) -> Callable[[str], Sequence[float]]:
    situation = example.situation
    own, *others = present_names(situation, example.history)
    others = [name for name in others if fold(name) != fold(own)]
    forms = {name: (name, *name.split()) for name in (own, *others) if name.strip()}
    names = CharacterNames(forms, situation.persona.language)
    context = " ".join((situation.setting, *(f"{turn.speaker} {turn.text}" for turn in example.history)))
    known = set(CAPITAL.findall(context)) - set(own.split())
    has_context = bool(example.history or situation.setting)

    def values(text: str) -> list[float]:
        calls = speaks_of = own_name = 0
        for match in names.calls(text):
            if match.who == own:
                own_name += mention(text, match.start, match.end).kind != "introduced"
            elif mention(text, match.start, match.end).kind == "called":
                calls += 1
            else:
                speaks_of += 1
        inside = set(INSIDE.findall(text)) if has_context else set()
        return [own_name > 0, calls > 0, speaks_of, len(inside & known), len(inside - known - set(own.split()))]

    return values


NAMES_SAID = TextFeatures(NAME_FEATURES, _prepare_names)


# How a reply agrees with what is told of people: their attributes, and the speaker's ties to the one faced.
#
# attributes   shared_with_attributes: sqrt of the summed rarity of the words shared with anybody's attributes
#            title_fits: 1 where it calls the one faced by a title that their attributes have, -1 by another
# relations    tone_fits: tone of the reply times affection / 10, as in the metric `relation_fit`
#            address_fits: 1 for 'sir' to a teacher or 'uncle' to family, -1 to anybody else; both at once add up

STRONGEST = 10  # of affection
TITLES = {
    "en": frozenset("sir madam professor mr mrs miss doctor captain lord lady master headmaster".split()),
    "zh": frozenset("先生 女士 夫人 教授 小姐 医生 校长 大人".split()),
}
TEACHER = {"en": frozenset({"sir", "professor", "headmaster"}), "zh": frozenset({"先生", "教授", "老师", "校长"})}
KIN = {
    "en": frozenset("uncle aunt mom mum dad mother father son brother sister".split()),
    "zh": frozenset("叔叔 阿姨 姨妈 姨父 妈妈 爸爸 母亲 父亲 儿子 哥哥 姐姐".split()),
}
TONED = frozenset({"en", "ja"})  # languages with a list of warm and cold words


def _attributes(example: Example) -> Callable[[str], Sequence[float]]:
    situation, language = example.situation, example.situation.persona.language
    present = frozenset[str]().union(*(roots(name, language) for name in present_names(situation, example.history)))
    sentences = (*situation.persona.profile, *(text for other in situation.present for text in other.profile))
    known = frozenset[str]().union(*(roots(text, language) for text in sentences)) - present
    faced = situation.faced
    titles = set(words(" ".join(faced.profile), language)) if faced is not None else set()
    known_titles = TITLES.get(language, frozenset())

    def values(text: str) -> list[float]:
        shared = roots(text, language) & known
        weight = math.fsum(rarity(root) if language == "en" else 1.0 for root in shared)
        said = known_titles & set(words(text, language)) if titles else frozenset()
        return [math.sqrt(weight), sum(1 if title in titles else -1 for title in said)]

    return values


def _relations(example: Example) -> Callable[[str], Sequence[float]]:
    situation, language = example.situation, example.situation.persona.language
    ties = () if situation.faced is None else situation.faced.relations
    affection = next((tie.level for tie in ties if tie.kind == "affection" and tie.level is not None), 0)
    kinds = {tie.kind for tie in ties}
    teacher, kin = TEACHER.get(language, frozenset()), KIN.get(language, frozenset())

    def values(text: str) -> list[float]:
        tone = tone_of(text, language).value if language in TONED and affection else 0.0
        address = 0
        if ties:
            said = set(words(text, language))
            address += (1 if "teacher" in kinds else -1) if said & teacher else 0
            address += (1 if "family" in kinds else -1) if said & kin else 0
        return [tone * affection / STRONGEST, address]

    return values


ATTRIBUTES = TextFeatures((Feature("shared_with_attributes", 1), Feature("title_fits", 1)), _attributes)
RELATIONS = TextFeatures((Feature("tone_fits", 1), Feature("address_fits", 1)), _relations)
