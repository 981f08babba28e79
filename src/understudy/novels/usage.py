"""How a text uses a name: what tells people from towns, months and peoples.

    p = (4 says + 1.5 acts + vocative + owns + 0.5 pronoun) / n      for a person
    q = (2 in a place + 2 after an article) / n                      against

with each count over the n mentions of a name. Somebody with a title is a person whatever the counts.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from understudy.novels.lexicon import Lexicon
from understudy.novels.names import NameForm, NameMention

__all__ = ["ACTS", "AFTER_ARTICLE", "OWNS", "SAYS", "VOCATIVE", "NameUsage", "NameUsages", "sorted_pair", "usage_of"]

BEFORE = re.compile(r"([^\W\d_]+)[ \t]*\n?[ \t]*$")
AFTER = re.compile(r"[ \t]*\n?[ \t]*([^\W\d_]+)")
WINDOW = 24  # characters before and after a name that are looked at
REACH = 100  # characters after a name in which a pronoun may stand for it
LONGEST_LIST = 8  # names of a sentence that are paired with each other
OPENING = '"“«‘'
CLOSING = ',!?.;"”’»'
SAYS, ACTS, OWNS, VOCATIVE, IN_PLACE, AFTER_ARTICLE = "says", "acts", "owns", "vocative", "in place", "after article"
"""What a name does where it stands: 'said Emma', 'Emma smiled', "Emma's father", 'Yes, Emma', 'in Emma', 'the Emma'."""


@dataclass(slots=True)
class NameUsage:
    count: int = 0
    quoted: int = 0
    openers: int = 0
    roles: Counter[str] = field(default_factory=Counter)
    pronouns: Counter[str] = field(default_factory=Counter)

    @property
    def narrated(self) -> int:
        return self.count - self.quoted

    @property
    def person_score(self) -> float:
        roles = self.roles
        genders = self.pronouns["m"] + self.pronouns["f"]
        return (4 * roles[SAYS] + 1.5 * roles[ACTS] + roles[VOCATIVE] + roles[OWNS] + 0.5 * genders) / self.count

    @property
    def place_score(self) -> float:
        return 2 * (self.roles[IN_PLACE] + self.roles[AFTER_ARTICLE]) / self.count

    def add(self, other: NameUsage) -> None:
        self.count += other.count
        self.quoted += other.quoted
        self.openers += other.openers
        self.roles.update(other.roles)
        self.pronouns.update(other.pronouns)


@dataclass(frozen=True, slots=True)
class NameUsages:
    forms: Mapping[NameForm, NameUsage]
    pronouns: Mapping[str, int]
    """How often a pronoun of each gender follows a name, whoever's."""
    apart: Mapping[tuple[NameForm, NameForm], int]
    """How often two stand side by side ('Jane and Miss Bingley') or one is said to the other; pairs are sorted."""
    together: Mapping[tuple[NameForm, NameForm], int]
    """In how many sentences of narration two forms stand; pairs are sorted."""


def usage_of(text: str, mentions: Sequence[NameMention], lexicon: Lexicon) -> NameUsages:
    forms: dict[NameForm, NameUsage] = defaultdict(NameUsage)
    apart: Counter[tuple[NameForm, NameForm]] = Counter()
    pronoun = re.compile(rf"\b(?:{'|'.join(lexicon.pronouns)})\b")
    together: Counter[tuple[NameForm, NameForm]] = Counter()
    sentence: set[NameForm] = set()
    previous: tuple[NameMention, str] | None = None
    for index, mention in enumerate(mentions):
        usage = forms[mention.form]
        role = _role(mention, text, lexicon)
        usage.count += 1
        usage.quoted += mention.is_quoted
        usage.openers += mention.is_opener
        usage.roles[role] += 1
        following = mentions[index + 1].start if index + 1 < len(mentions) else len(text)
        match = pronoun.search(text, mention.end, max(mention.end, min(following, mention.end + REACH)))
        if match:
            usage.pronouns[lexicon.pronouns[match[0]]] += 1
        if previous and previous[0].form != mention.form and mention.start - previous[0].end < REACH:
            gap = text[previous[0].end : mention.start]
            if _are_apart(gap, (previous[1], role), lexicon):
                apart[sorted_pair(previous[0].form, mention.form)] += 1
        if previous and previous[0].sentence != mention.sentence:
            sentence.clear()
        if not mention.is_quoted and mention.form not in sentence and len(sentence) < LONGEST_LIST:
            together.update(sorted_pair(other, mention.form) for other in sentence)
            sentence.add(mention.form)
        previous = mention, role
    pronouns = Counter({"m": 1, "f": 1})
    for usage in forms.values():
        pronouns.update(usage.pronouns)
    return NameUsages(dict(forms), pronouns, apart, together)


def sorted_pair(one: NameForm, other: NameForm) -> tuple[NameForm, NameForm]:
    return (one, other) if one <= other else (other, one)


def _are_apart(gap: str, roles: tuple[str, str], lexicon: Lexicon) -> bool:
    if gap.strip() in lexicon.conjunctions:
        return True
    return "\n\n" not in gap and roles in ((VOCATIVE, SAYS), (SAYS, VOCATIVE))


def _role(mention: NameMention, text: str, lexicon: Lexicon) -> str:
    """What a name does where it stands, from the words before and after it."""
    before_text = text[max(0, mention.start - WINDOW) : mention.start]
    after_text = text[mention.end : mention.end + WINDOW]
    before_match, after_match = BEFORE.search(before_text), AFTER.match(after_text)
    before = before_match[1].lower() if before_match else ""
    after = after_match[1] if after_match else ""
    if mention.is_possessive:
        after_match = AFTER.match(after_text[2:])
        return OWNS if after_match is not None and after_match[1] in lexicon.possessions else ""
    if not mention.is_quoted and (after in lexicon.speech_verbs or before in lexicon.inverted_verbs):
        return SAYS
    if before in lexicon.place_prepositions:
        return IN_PLACE
    if before in lexicon.articles:
        return AFTER_ARTICLE
    if after in lexicon.human_verbs or after in lexicon.speech_verbs or after.endswith("ed"):
        return ACTS
    if mention.is_quoted and not after and after_text[:1] in CLOSING:
        opens = not before_text or before_text[-1] in OPENING
        if opens or before_text.rstrip().endswith(",") or before in lexicon.vocative_words:
            return VOCATIVE
    return ""
