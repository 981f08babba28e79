"""A story's character as a card, at a moment.

The card is made from a `Situation`, never from a story, so nothing of the character's future can get into it. Which
story and moment it was made from stands in `extensions.understudy`, so that a program can return to it.

Somebody who came from a card goes back into that one: all of its fields stay as they were, those that no program here
knows too, and what the story has beyond it is added.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from understudy.formats.cards import Card, in_version, one_line
from understudy.formats.cards.lore_files import book_document, book_entries, entry_document
from understudy.formats.documents import found_sentences, tie_document
from understudy.story.dialogue import Situation
from understudy.story.persona import Other, Persona
from understudy.story.types import Line, Relation, Scene
from understudy.story.wording import listed, scene_sentence, tie_sentence
from understudy.text import find_name, words

NAMESPACE = "understudy"
NOT_IN_FILE_NAMES = re.compile(r'[\x00-\x1f\\/:*?"<>|]')
EXTENSION_VERSION = 1
TYPICAL, TYPICAL_OF, LONGEST_TYPICAL = 3, 400, 160  # own lines in a description, out of how many, of what length
JOIN = {"en": ", ", "ja": "、", "zh": "、"}
WHO = {
    "en": "{name} is one of the people of '{title}'.",
    "ja": "{name}は「{title}」の登場人物。",
    "zh": "{name}是《{title}》中的人物。",
}
TALKS = {"en": "{name} talks like this:", "ja": "{name}の話し方:", "zh": "{name}这样说话:"}


def card_at(situation: Situation, title: str, version: int | None = None, original: Card | None = None) -> Card:
    """The card of the character who answers in a situation; `title` is its story's, `original` the card it came from.

    It is of the version asked for, else of the original's, else the newest.
    """
    persona = situation.persona
    if original is not None and one_line(original.name) == persona.name:
        return in_version(_extended(original, situation, title), version or max(original.version, 2))
    scene = CardScene(situation)
    greetings = persona.greetings or scene.greetings()
    data: dict[str, Any] = {
        "name": persona.name,
        "description": _description(persona, title),
        "personality": JOIN.get(persona.language, ", ").join(persona.attributes.get("character", ())),
        "scenario": scene.scenario(),
        "first_mes": greetings[0],
        "mes_example": scene.examples(),
        "creator_notes": _notes(persona, title),
        "system_prompt": "",
        "post_history_instructions": "",
        "alternate_greetings": list(greetings[1:]),
        "tags": [NAMESPACE, title],
        "creator": title,
        "character_version": persona.moment.dotted,
        "extensions": {NAMESPACE: _origin(situation, title)},
    }
    entries = _people_entries(situation)
    if entries or persona.lore:
        lore = [entry_document(entry, number) for number, entry in enumerate(persona.lore, len(entries))]
        data["character_book"] = {
            **book_document(persona.lore, _book_name(persona, title)),
            "entries": [*entries, *lore],
        }
    card = Card({"spec": "chara_card_v2", "spec_version": "2.0", "data": data}, 2)
    return in_version(card, version or 3)


def _origin(situation: Situation, title: str) -> dict[str, Any]:
    """Which story and moment a card was made from, and which of its sentences were found, not written."""
    persona = situation.persona
    origin: dict[str, Any] = {
        "story": title,
        "character": persona.name,
        "moment": persona.moment.dotted,
        "language": persona.language,
        "version": EXTENSION_VERSION,
    }
    found = [*found_sentences(persona.found), *(_found_tie(tie, persona) for tie in persona.relations if tie.found)]
    return {**origin, "found": found} if found else origin


def _found_tie(tie: Relation, persona: Persona) -> dict[str, Any]:
    document = tie_document(tie, persona.language)
    return {"sentence": document["sentence"], "found": document["found"]}


def _extended(original: Card, situation: Situation, title: str) -> Card:
    """The card that a character came from, with what the story says beyond it."""
    card, persona = in_version(original, max(original.version, 2)), situation.persona
    data = dict(card.data)
    if not card.text("description").strip():
        data["description"] = _description(persona, title)
    extensions = data.get("extensions")
    data["extensions"] = {**(extensions if isinstance(extensions, dict) else {}), NAMESPACE: _origin(situation, title)}
    own_entries = len(book_entries(data.get("character_book")))
    lore = [entry_document(entry, len(card.book) + number) for number, entry in enumerate(persona.lore[own_entries:])]
    if added := [*_people_entries(situation, len(card.book) + len(lore)), *lore]:
        book = data.get("character_book")
        base_book = book if isinstance(book, dict) else {"name": _book_name(persona, title), "extensions": {}}
        data["character_book"] = {**base_book, "entries": [*card.book, *added]}
    return Card({**card.document, "data": data}, card.version)


def _description(persona: Persona, title: str) -> str:
    """What is known of the character; where the story says nothing of it, what it feels and how it talks."""
    sentences = (*persona.profile, *_unsaid(persona))
    if sentences:
        return "\n".join(sentences)
    parts = [WHO.get(persona.language, WHO["en"]).format(name=persona.name, title=title)]
    parts += persona.feelings()
    if typical := _typical_lines(persona):
        parts += [TALKS.get(persona.language, TALKS["en"]).format(name=persona.name), *typical]
    return "\n".join(parts)


def _typical_lines(persona: Persona) -> list[str]:
    """The own lines whose words are most like those of all, in their order."""
    from understudy.language.lexical import TfIdf  # imports numpy, which a program that only starts should not

    enough = FULL_LINE.get(persona.language, FULL_LINE["en"])
    lines = list(dict.fromkeys(one_line(line.text) for line in persona.past.lines(last=TYPICAL_OF)))
    full = [text for text in lines if enough <= len(text) <= LONGEST_TYPICAL]
    index = TfIdf(full, persona.language)
    chosen = sorted(chosen_index for chosen_index, _ in index.top(" ".join(lines), TYPICAL))
    return [f'"{full[chosen_index]}"' for chosen_index in chosen]


def _unsaid(persona: Persona) -> Iterator[str]:
    """Attributes that no sentence of the profile tells already."""
    profile_text = "\n".join(persona.profile)
    for attribute, values in persona.attributes.items():
        if missing := [value for value in values if value not in profile_text]:
            yield f"{attribute}: {JOIN.get(persona.language, ', ').join(missing)}"


def _book_name(persona: Persona, title: str) -> str:
    """What a program keeps the lorebook as: a file by its name, instead of any other of that name."""
    return NOT_IN_FILE_NAMES.sub("", f"{persona.name} {persona.moment.dotted} ({title})")


def _notes(persona: Persona, title: str) -> str:
    when = "by the end" if persona.moment.is_end else f"at {persona.moment}"
    found = len(persona.found) + sum(tie.found is not None for tie in persona.relations)
    mark = (
        f" {found} of its sentences were found in the text (extensions.{NAMESPACE}.found says where)." if found else ""
    )
    return f"{persona.name} as of '{title}', {when}. The card holds nothing that happens later.{mark}"


def _others(situation: Situation) -> list[Other]:
    """Everybody the character has a tie to, faces or stands beside, each once."""
    ties = situation.persona.relations
    tied = [Other(tie.to, relations=tuple(relation for relation in ties if relation.to == tie.to)) for tie in ties]
    others: dict[str, Other] = {}
    for other in (*([situation.faced] if situation.faced else []), *situation.present, *tied):
        others.setdefault(other.name, other)
    return list(others.values())


def _people_entries(situation: Situation, start: int = 0) -> list[dict[str, Any]]:
    aliases = {other.name: other.aliases for other in situation.acquaintances}
    language = situation.persona.language
    return [
        _entry(other, aliases.get(other.name, ()), language, order)
        for order, other in enumerate(_others(situation), start)
    ]


def _entry(other: Other, aliases: Sequence[str], language: str, order: int) -> dict[str, Any]:
    ties = (tie_sentence(tie, language) for tie in other.relations)
    return {
        "keys": list(dict.fromkeys((other.name, *other.aliases, *aliases))),
        "content": "\n".join((*other.profile, *ties)),
        "extensions": {},
        "enabled": True,
        "insertion_order": order,
        "name": other.name,
    }


# What makes a card playable.
#
# scene       where and when, who is there, the last that was said or done, and who `{{user}}` is
# greeting    a line that began a scene and addresses nobody; with an interlocutor, one that was said to them;
#             else the character introduces itself
# examples    exchanges with one person, who is `{{user}}` throughout: the interlocutor, else the person talked with
# most

EXCHANGES = 8
GREETINGS = 3
SCENES = 8  # looked through at first, backwards from the moment: a past may be long
LAST_LINES, LONGEST_LAST = 3, 300  # of what has just happened
FULL_LINE = {"en": 20, "ja": 8, "zh": 6}  # characters from which a line says enough to open a talk
USER = "{{user}}"
INTRODUCTION = {"en": "I am {name}.", "ja": "{name}です。", "zh": "我是{name}。"}

SECOND_PERSON = {
    "en": re.compile(r"\b(?:you|your|yours|yourself|yourselves|ye|thou|thee|thy|y'all)\b", re.IGNORECASE),
    "ja": re.compile("あなた|あんた|きみ|君|お前|おまえ|貴様|てめえ"),
    "zh": re.compile("[你您]"),
}
CALLS = frozenset(
    "sir madam ma'am miss mister lady ladies gentleman gentlemen lad lass boy boys girl girls child children dear "
    "darling love friend friends captain doctor father mother mum mom dad papa mama everyone everybody folks".split()
)
"""English words that are vocatives where they stand between marks."""
BEFORE_CALL = r"(?P<before>^|[,.!?;:…—、。！？，“\"]\s*|\b[Oo]h )"
AFTER_CALL = r"(?=\s*(?:[,.!?;:…—、。！？，”\"]|$))"
SLOT = re.compile(BEFORE_CALL + r"(?:my |dear |old |little )*(?P<word>[^\W\d_][\w'’]*)" + AFTER_CALL)


@dataclass(frozen=True, slots=True)
class _OwnUtterance:
    """Something the character said to others, what it had heard just before, and who spoke next."""

    scene: int
    said: Line
    heard: Line | None
    goes_on: bool
    """Did it follow another utterance of its own?"""
    others: frozenset[str]
    """Who else was there."""
    answered_by: str | None = None

    @property
    def opens(self) -> bool:
        return self.heard is None and not self.goes_on


class CardScene:
    """The scene, greetings and examples of the character who answers in a situation."""

    def __init__(self, situation: Situation) -> None:
        self.situation = situation
        self.persona = situation.persona
        self.language = situation.persona.language
        self._faced = situation.faced.name if situation.faced else None

    def scenario(self) -> str:
        situation, scene = self.situation, self.situation.scene
        is_over = scene is not None and not situation.is_in_scene and not situation.setting
        parts: list[str] = []
        company: Sequence[str] = [other.name for other in situation.present]
        if is_over and scene is not None:
            parts += self._part("after", setting=one_line(scene.setting))
            company = [name for name in scene.present if name != self.persona.name]
        else:
            parts += self._part("at", setting=one_line(situation.setting))
        parts += self._part("was_with" if is_over else "with", names=listed(company, self.language))
        if scene is not None and (is_over or situation.is_in_scene):
            parts += self._part("last", lines=self._last_lines(scene))
        if parts or self._faced:
            parts.append(scene_sentence("user" if self._faced else "stranger", self.language, name=self._faced or ""))
            parts[0] = scene_sentence("label", self.language, text=parts[0])
        ties = situation.faced.relations if situation.faced else ()
        ties = (*ties, *(tie for tie in self.persona.relations if tie.to in company and tie not in ties))
        return "\n".join((*parts, *(tie_sentence(tie, self.language) for tie in ties)))

    def _part(self, key: str, **values: str) -> list[str]:
        return [scene_sentence(key, self.language, **values)] if all(values.values()) else []

    def _last_lines(self, scene: Scene) -> str:
        """The last that was said or done there, without the character's own thoughts."""
        lines = [line for line in scene.lines if line.moment not in self._thoughts and line.text][-LAST_LINES:]
        texts = [(line.speaker, one_line(line.text)) for line in lines]
        shown = [(who, text if len(text) <= LONGEST_LAST else f"{text[:LONGEST_LAST]}…") for who, text in texts]
        return " ".join(
            scene_sentence("said", self.language, name=who, text=text) if who else text for who, text in shown
        )

    def greetings(self) -> tuple[str, ...]:
        """What can open a talk, the best first: openings of scenes, newest first, and the introduction."""
        openings = [utterance for utterance in reversed(self._recent) if self._can_open(utterance)]
        chosen = [utterance for utterance in openings if utterance.opens]
        if self._faced and not chosen:
            chosen = openings
        introduction = INTRODUCTION.get(self.language, INTRODUCTION["en"]).format(name=self.persona.name)
        introduction = " ".join((introduction, *self.persona.profile[:1]))
        if not chosen and not self.persona.profile:
            chosen = openings
        texts = [one_line(utterance.said.text) for utterance in chosen[: GREETINGS - 1]]
        return tuple(dict.fromkeys((*texts, introduction)))

    def _can_open(self, utterance: _OwnUtterance) -> bool:
        """Is it long enough, and said to nobody in particular, or to the interlocutor?"""
        text = one_line(utterance.said.text)
        if len(text) < FULL_LINE.get(self.language, FULL_LINE["en"]):
            return False
        if find_name(text, self._names_of_others):
            return False
        if self._faced is None:
            return not self._second_person.search(text) and not _calls_somebody(text)
        heard = utterance.heard.speaker if utterance.heard else None
        is_faced = self._faced in (heard, utterance.answered_by) or utterance.others == {self._faced}
        return is_faced or find_name(text, self._names_of(self._faced)) is not None

    @property
    def _second_person(self) -> re.Pattern[str]:
        return SECOND_PERSON.get(self.language, SECOND_PERSON["en"])

    def examples(self) -> str:
        """The last exchanges with one person, a block for each scene."""
        partner = self._partner
        is_user_themselves = partner in (None, self._faced)  # who is called by the name that they go by there
        names = () if partner is None or is_user_themselves else self._names_of(partner)
        calls = re.compile(f"{BEFORE_CALL}(?:{'|'.join(map(re.escape, names))}){AFTER_CALL}") if names else None
        parts: list[str] = []
        scene = None
        for utterance in self._with(partner)[-EXCHANGES:]:
            if utterance.scene != scene:
                parts.append("<START>")
                scene = utterance.scene
            if utterance.heard is not None and not utterance.goes_on:
                parts.append(f"{USER}: {one_line(utterance.heard.text)}")
            said = one_line(utterance.said.text)
            if calls is not None:
                said = calls.sub(rf"\g<before>{USER}", said)
            parts.append(f"{{{{char}}}}: {said}")
        return "\n".join(parts)

    @cached_property
    def _partner(self) -> str | None:
        """The interlocutor where they have talked, else the person talked with most."""
        talked_with = Counter(utterance.heard.speaker for utterance in self._recent if utterance.heard)
        if self._faced in talked_with:
            return self._faced
        return talked_with.most_common(1)[0][0] if talked_with else None

    def _with(self, partner: str | None) -> list[_OwnUtterance]:
        """What was said to one person, and what opened a scene in which nobody else was."""
        chosen: list[_OwnUtterance] = []
        is_to_partner = False
        for utterance in self._recent:
            if utterance.goes_on:
                pass  # it is said to the same person as the utterance before it
            elif utterance.heard is not None:
                is_to_partner = utterance.heard.speaker == partner
            else:
                is_to_partner = utterance.others <= {partner} or utterance.answered_by == partner is not None
            if is_to_partner:
                chosen.append(utterance)
        return chosen

    @cached_property
    def _recent(self) -> list[_OwnUtterance]:
        """What was said to others of late: enough for the examples, or all there is."""
        limit = SCENES
        while True:
            scenes = list(self.persona.past.scenes(last=limit))
            utterances = [
                utterance for number, scene in enumerate(scenes) for utterance in self._said_in(number, scene)
            ]
            pairs = Counter(utterance.heard.speaker for utterance in utterances if utterance.heard)
            most = pairs[self._faced] if self._faced else max(pairs.values(), default=0)
            if most >= EXCHANGES or len(scenes) < limit:
                return utterances
            limit *= 4

    def _said_in(self, number: int, scene: Scene) -> Iterator[_OwnUtterance]:
        spoken = [line for line in scene.lines if line.speaker is not None and line.moment not in self._thoughts]
        own_name = self.persona.name
        others = frozenset(scene.present) - {own_name}
        heard: Line | None = None
        for index, line in enumerate(spoken):
            if line.speaker != own_name:
                heard = line
                continue
            after = next((later.speaker for later in spoken[index + 1 :] if later.speaker != own_name), None)
            goes_on = index > 0 and spoken[index - 1].speaker == own_name
            yield _OwnUtterance(number, line, heard, goes_on, others, after)

    @cached_property
    def _thoughts(self) -> frozenset[object]:
        return frozenset(line.moment for line in self.persona.past.thoughts())

    def _names_of(self, name: str) -> tuple[str, ...]:
        """A name, its parts and its aliases, the longest first."""
        situation = self.situation
        known = (*situation.acquaintances, *situation.present, *([situation.faced] if situation.faced else []))
        aliases = {alias for other in known if other.name == name for alias in other.aliases}
        return tuple(sorted({name, *_parts(name), *aliases} - {""}, key=len, reverse=True))

    @cached_property
    def _names_of_others(self) -> tuple[str, ...]:
        """Everybody else the character knows, without the interlocutor."""
        situation, persona = self.situation, self.persona
        spared = {persona.name, self._faced or ""}
        known = [other for other in (*situation.acquaintances, *situation.present) if other.name not in spared]
        names = {alias for other in known for alias in (other.name, *_parts(other.name), *other.aliases)}
        names |= {tie.to for tie in persona.relations if tie.to not in spared}
        names |= {who for utterance in self._recent for who in utterance.others if who not in spared}
        spared_names = {part for name in spared for part in (name, *_parts(name))}
        return tuple(names - spared_names)


def _parts(name: str) -> Iterator[str]:
    """A first or last name alone; particles are none."""
    return (part for part in name.split() if len(part) > 2 and part[0].isupper())


def _calls_somebody(text: str) -> bool:
    return any(slot["word"].lower() in CALLS for slot in SLOT.finditer(text)) and len(words(text)) > 1
