"""The guards of form: stop a draft that is no reply of this character, whatever it says.

not_a_reply   speaks as a bot or for somebody else, is in another language, goes round in circles
form          the same, told by less; and what makes one draft worse than another: stage directions where the
              character's own lines have none (actions between asterisks are told where the card or the talk tells
              them), a text that breaks off, the question given back, what was said before
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from understudy.agents.dialogue_context import KnownPeople, last_heard
from understudy.agents.pools import KeyedCache
from understudy.agents.prompt_contents import ACTION, shows_actions
from understudy.agents.word_tokens import roots
from understudy.judging.guards.phrases import asks, has_negation, plain, repeats_runs
from understudy.judging.guards.story_view import Verdict, own_names
from understudy.story.dialogue import Draft, Situation, Turn
from understudy.story.persona import Past, Persona
from understudy.text import fold, guess_language, sentences, word_table, words

NAME = "form"
BOT_CLASSES = ("machine", "machine_de", "do_not")
LIKELY = 2  # polite people say one of them too
ARTIFICIAL = re.compile(r"\b(?:ai|a\.i\.|artificial|robot|android|computer|machine|chatbot|assistant)\b", re.IGNORECASE)
SCRIPT_ROLE = re.compile(
    r"(?:^|\n)\s*[*_]*(?:user|assistant|system|human)[*_]*\s*[:：]|\b(?:User|Assistant)[:：]|\n\s*[*_]*(?:You|Me)[*_]*\s*:"
)
ROLE = re.compile(
    r"(?:^|\n)\s*(?:user|assistant|system|human|me|you)\s*[:：]|\b(?:user|assistant|system)\s*[:：]", re.I
)
LABEL = re.compile(r"(?:^|\n)\s*\**([A-Z][\w.'’-]*(?: [A-Z][\w.'’-]*){0,3})\**\s*[:：]\**(?=\s)")
FOREIGN = frozenset(
    """je ne pas vous est une les des dans avec pour mais moi der die das und nicht ich ist ein eine mit auf wir
    que el los las una por con pero muy yo esta soy non sono che della il per questo nao eu voce uma""".split()
)
SPECIAL = re.compile(r"<\||\|>")
HAN = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]")
HAN_ONLY = 12
SURELY_FOREIGN, FOREIGN_SHARE = 8, 0.4  # words, and how many of them are small words of another language
OWN_FOREIGN_SHARE = 0.09  # of all words of who speaks it: in German plays .11 and more, in English stories at most .07
REPEATED_WORDS = 8  # from which on a reply that was given before is no coincidence
CIRCLES, CIRCLED_SHARE = 12, 0.5  # words, and the share of runs that were there before
LONGEST_WORDS = 160
SAMPLED_LINES = 400  # the most recent lines, by which it is known how a character's lines look
USUAL_SHARE = 0.7
DIRECTION = re.compile(r"\([^)]*\)|\[[^\]]*\]|\*[^*]+\*|（[^）]*）|＊[^＊]+＊")
CLOSED = re.compile(r"[.!?…。！？~〜♪☆）)\]*\"'”’」』]\s*$")


@dataclass(frozen=True, slots=True)
class LineStyle:
    """How a character's own lines look; what is usual in them is no fault in a draft."""

    has_directions: bool
    ends_with_mark: bool
    starts_with_capital: bool
    is_foreign: bool = False
    """Of another language than the story is read as: there is no tokenizer of its own for it."""


_STYLES = KeyedCache[LineStyle](256)


def form(situation: Situation, history: Sequence[Turn], draft: Draft) -> Verdict:
    """Is it a reply of the right form?"""
    fault = _fault(situation, history, draft)
    return Verdict.stopped(NAME, fault) if fault else Verdict.passing(NAME)


def not_a_reply(situation: Situation, history: Sequence[Turn], draft: Draft) -> Verdict:
    """Is it no reply at all, however well it is written?"""
    text, language = draft.text.strip(), situation.persona.language
    fault = ""
    if _speaks_as_bot(situation, text):
        fault = "speaks as an assistant"
    elif SCRIPT_ROLE.search(text) or _labels_another(situation, history, text):
        fault = "speaks for another"
    elif _is_surely_foreign(text, language) and not style_of(situation.persona).is_foreign:
        fault = "is in another language"
    elif _goes_in_circles(text, language):
        fault = "says it twice"
    elif len(text.split()) >= REPEATED_WORDS and any(plain(turn.text) == plain(text) for turn in history):
        fault = "was said in this chat"
    return Verdict.stopped(NAME, fault) if fault else Verdict.passing(NAME)


def _speaks_as_bot(situation: Situation, text: str) -> bool:
    """Who is artificial, or has said so before, may say so; whoever is asked about bots may ask back, or deny."""
    if any(map(ARTIFICIAL.search, (*situation.persona.profile, *situation.persona.attributes.get("title", ())))):
        return SPECIAL.search(text) is not None
    said = [part for part in sentences(text) if not asks(part) and not has_negation(part)]
    plain_marks = text.replace("’", "'")
    phrases = _bot_phrases()
    if (
        phrases["certain"].search(plain_marks) is None
        and not any(map(phrases["unless_denied"].search, said))
        and len(phrases["likely"].findall(plain_marks)) < LIKELY
    ):
        return False
    persona = situation.persona
    own = (*persona.greetings, *(line.text for line in persona.past.lines()))
    return not any(phrases["certain"].search(line.replace("’", "'")) for line in own)


@cache
def _bot_phrases() -> dict[str, re.Pattern[str]]:
    """A pattern for each list of bots.toml."""
    table = word_table("judging", "guards", "bots.toml")
    classes = {f"{{{name}}}": f"(?:{'|'.join(table.pop(name))})" for name in BOT_CLASSES}
    patterns = dict[str, re.Pattern[str]]()
    for kind, listed in table.items():
        joined = "|".join(listed)
        for name, alternatives in classes.items():
            joined = joined.replace(name, alternatives)
        patterns[kind] = re.compile(joined, re.IGNORECASE)
    return patterns


def _labels_another(situation: Situation, history: Sequence[Turn], text: str) -> bool:
    """A line that begins with the name of somebody else and a colon."""
    labels = {fold(label[1]) for label in LABEL.finditer(text)}
    if not labels:
        return False
    own = {fold(part) for name in own_names(situation) for part in (name, *name.split())}
    others = {turn.speaker for turn in history} | {other.name for other in KnownPeople.of(situation).people}
    known = {fold(part) for name in others for part in (name, *name.split())} - own
    return not labels.isdisjoint(known)


def _is_surely_foreign(text: str, language: str) -> bool:
    """All of it, at some length: a word or a sentence of another language is a matter of style."""
    if language != "en":
        return guess_language(text) == "en" and len(words(text)) >= SURELY_FOREIGN
    if guess_language(text) != "en":
        return len(text.split()) < len(HAN.findall(text))
    bag = words(text)
    return len(bag) >= SURELY_FOREIGN and _foreign_share(bag) >= FOREIGN_SHARE


def _foreign_share(bag: Sequence[str]) -> float:
    return sum(word in FOREIGN for word in bag) / max(len(bag), 1)


def _goes_in_circles(text: str, language: str) -> bool:
    bag = words(text, language) if language == "en" else list(text)
    size = 4 if language == "en" else 8
    runs = [tuple(bag[first : first + size]) for first in range(len(bag) - size + 1)]
    return len(bag) >= CIRCLES and len(set(runs)) < (1 - CIRCLED_SHARE) * len(runs)


def _fault(situation: Situation, history: Sequence[Turn], draft: Draft) -> str:
    text, language = draft.text.strip(), situation.persona.language
    bag = words(text, language) if language == "en" else list(text)
    if not any(character.isalnum() for character in text):
        return "says nothing"
    if _bot_phrases()["doubtful"].search(text):
        return "speaks as an assistant"
    if ROLE.search(text) or _labels_somebody(situation, text):
        return "speaks for another"
    if _is_foreign(text, language):
        return "is in another language"
    if draft.source != "exchange" and DIRECTION.search(text) and not _may_direct(situation, history, text):
        return "has stage directions"
    if len(bag) > LONGEST_WORDS * (1 if language == "en" else 4):
        return "goes on too long"
    if _loops(bag, language):
        return "says it twice"
    if _breaks_off(situation, text, draft.source):
        return "breaks off"
    return _repeats(situation, history, text, draft.source)


def _may_direct(situation: Situation, history: Sequence[Turn], text: str) -> bool:
    """Do the own lines have directions; or are they actions between asterisks, as the card or this talk has?"""
    if style_of(situation.persona).has_directions:
        return True
    is_acted = DIRECTION.search(ACTION.sub("", text)) is None
    return is_acted and shows_actions((*situation.persona.greetings, *(turn.text for turn in history)))


def _labels_somebody(situation: Situation, text: str) -> bool:
    """A label such as 'Zita: ...', be it the character's own name."""
    label = LABEL.search(text)
    if label is None:
        return False
    people = (situation.persona.name, *(other.name for other in KnownPeople.of(situation).people))
    known = {fold(part) for name in people for part in (name, *name.split())}
    known |= {fold(alias) for other in KnownPeople.of(situation).people for alias in other.aliases}
    return fold(label[1]) in known


def _is_foreign(text: str, language: str) -> bool:
    guessed = guess_language(text)
    if language == "en":
        bag = words(text)
        return guessed != "en" or (len(bag) > 3 and _foreign_share(bag) * len(bag) >= max(2, len(bag) // 3))
    if guessed == "en":
        return len(re.findall(r"[A-Za-z]{2,}", text)) >= 3
    return guessed != language and len(text) > HAN_ONLY


def _loops(bag: Sequence[str], language: str) -> bool:
    """The same run of words again and again."""
    size = 4 if language == "en" else 8
    if repeats_runs(bag, size):
        return True
    return language == "en" and len(bag) > 8 and len(set(bag)) < 0.45 * len(bag)


def _breaks_off(situation: Situation, text: str, source: str) -> bool:
    if source == "exchange":  # an old line is quoted as it is; only one that was interrupted is no answer
        return re.search(r"[-–—]\s*$|,\s*$", text) is not None
    style = style_of(situation.persona)
    if re.search(r"(?:[-–—,;:]|\b(?:and|or|but|the|a|an|of|to|with|that))\s*$", text):
        return True
    return (style.ends_with_mark and CLOSED.search(text) is None) or (style.starts_with_capital and text[:1].islower())


def _repeats(situation: Situation, history: Sequence[Turn], text: str, source: str) -> str:
    """Was it said before in this chat? A greeting from the bank may be the same as the other's."""
    flat, language = plain(text), situation.persona.language
    own = fold(situation.persona.name)
    if any(plain(turn.text) == flat for turn in history if source != "bank" or fold(turn.speaker) == own):
        return "was said in this chat"
    message = last_heard(situation.persona, history)
    meant = frozenset() if source == "told" else roots(text, language)  # whoever asks what they asked is told it
    if text.rstrip("\"'”’").endswith(("?", "？")) and meant and meant <= roots(message, language):
        return "gives the question back"
    return ""


def style_of(persona: Persona) -> LineStyle:
    return _STYLES.get_or_create(id(persona.past), persona.past, lambda: _line_style(persona.past))


def _line_style(past: Past) -> LineStyle:
    lines = [line.text.strip() for line in past.lines(SAMPLED_LINES) if line.text.strip()]
    if len(lines) < 3:
        return LineStyle(False, True, True)
    return LineStyle(
        any(DIRECTION.search(line) for line in lines),
        sum(CLOSED.search(line) is not None for line in lines) >= USUAL_SHARE * len(lines),
        sum(not line[:1].islower() for line in lines) >= USUAL_SHARE * len(lines),
        _foreign_share(words(" ".join(lines))) >= OWN_FOREIGN_SHARE,
    )
