"""What makes a card playable: the scene it stands in, what opens a talk, and example talk.

scene       where and when, who is there, the last that was said or done, and who `{{user}}` is
greeting    a line that began a scene and calls nobody; before somebody given, one that was said to them;
            else the character introduces itself
examples    exchanges with one person, who is `{{user}}` throughout: the one given, else whoever was talked with most
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from understudy.formats.cards.document import one_line
from understudy.story.dialogue import Situation
from understudy.story.types import Line, Scene
from understudy.story.wording import listed, scene_sentence, tie_sentence
from understudy.text import words

__all__ = ["CardScene"]

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
"""English words that call somebody where they stand between marks."""
BEFORE_CALL = r"(?P<before>^|[,.!?;:…—、。！？，“\"]\s*|\b[Oo]h )"
AFTER_CALL = r"(?=\s*(?:[,.!?;:…—、。！？，”\"]|$))"
SLOT = re.compile(BEFORE_CALL + r"(?:my |dear |old |little )*(?P<word>[^\W\d_][\w'’]*)" + AFTER_CALL)


@dataclass(frozen=True, slots=True)
class _Utterance:
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

    def _can_open(self, utterance: _Utterance) -> bool:
        """Does it say enough, and to nobody in particular, or to the one faced?"""
        text = one_line(utterance.said.text)
        if len(text) < FULL_LINE.get(self.language, FULL_LINE["en"]):
            return False
        if self._names_of_others.search(text):
            return False
        if self._faced is None:
            return not self._second_person.search(text) and not _calls_somebody(text)
        heard = utterance.heard.speaker if utterance.heard else None
        is_faced = self._faced in (heard, utterance.answered_by) or utterance.others == {self._faced}
        return is_faced or self._names_of(self._faced).search(text) is not None

    @property
    def _second_person(self) -> re.Pattern[str]:
        return SECOND_PERSON.get(self.language, SECOND_PERSON["en"])

    def examples(self) -> str:
        """The last exchanges with one person, a block for each scene."""
        partner = self._partner
        is_user_themselves = partner in (None, self._faced)  # who is called by the name that they go by there
        calls = None if is_user_themselves else self._names_of(str(partner), BEFORE_CALL, AFTER_CALL)
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
        """The one faced where they have talked, else whoever was talked with most."""
        talked_with = Counter(utterance.heard.speaker for utterance in self._recent if utterance.heard)
        if self._faced in talked_with:
            return self._faced
        return talked_with.most_common(1)[0][0] if talked_with else None

    def _with(self, partner: str | None) -> list[_Utterance]:
        """What was said to one person, and what opened a scene in which nobody else was."""
        chosen: list[_Utterance] = []
        is_to_partner = False
        for utterance in self._recent:
            if utterance.goes_on:
                pass  # it is said to whom the one before it was said
            elif utterance.heard is not None:
                is_to_partner = utterance.heard.speaker == partner
            else:
                is_to_partner = utterance.others <= {partner} or utterance.answered_by == partner is not None
            if is_to_partner:
                chosen.append(utterance)
        return chosen

    @cached_property
    def _recent(self) -> list[_Utterance]:
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

    def _said_in(self, number: int, scene: Scene) -> Iterator[_Utterance]:
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
            yield _Utterance(number, line, heard, goes_on, others, after)

    @cached_property
    def _thoughts(self) -> frozenset[object]:
        return frozenset(line.moment for line in self.persona.past.thoughts())

    def _names_of(self, name: str, before: str = r"\b", after: str = r"\b") -> re.Pattern[str]:
        situation = self.situation
        known = (*situation.acquaintances, *situation.present, *([situation.faced] if situation.faced else []))
        aliases = {alias for other in known if other.name == name for alias in other.aliases}
        return _any_of({name, *_parts(name), *aliases}, before, after)

    @cached_property
    def _names_of_others(self) -> re.Pattern[str]:
        """Everybody else whom the character knows, the one faced left out."""
        situation, persona = self.situation, self.persona
        spared = {persona.name, self._faced or ""}
        known = [other for other in (*situation.acquaintances, *situation.present) if other.name not in spared]
        names = {alias for other in known for alias in (other.name, *_parts(other.name), *other.aliases)}
        names |= {tie.to for tie in persona.relations if tie.to not in spared}
        names |= {who for utterance in self._recent for who in utterance.others if who not in spared}
        spared_names = {part for name in spared for part in (name, *_parts(name))}
        return _any_of(names - spared_names)


def _parts(name: str) -> Iterator[str]:
    """A first or last name alone; particles are none."""
    return (part for part in name.split() if len(part) > 2 and part[0].isupper())


def _any_of(names: set[str], before: str = r"\b", after: str = r"\b") -> re.Pattern[str]:
    """Any of the names; where words are not divided by blanks, wherever it stands."""
    spelled = [re.escape(name) for name in sorted(filter(None, names), key=len, reverse=True)]
    if before == r"\b":
        spelled = [name if not name.isascii() else rf"\b{name}\b" for name in spelled]
        before = after = ""
    return re.compile(f"{before}(?:{'|'.join(spelled)}){after}" if spelled else r"(?!)")


def _calls_somebody(text: str) -> bool:
    return any(slot["word"].lower() in CALLS for slot in SLOT.finditer(text)) and len(words(text)) > 1
