"""A card's description taken apart: lists of attributes, example talk, and prose.

    W++            [Character("Mira") { Personality("shy" + "kind") Age("23") }]     also without brackets
    Boostyle, JSON [Character: "Mira"; Personality: "shy" + "kind"]
    PList          [Mira: shy, kind; clothes: cloak (red, long), boots]   [Mira's clothes: cloak, boots]
    key: value     Age: 23    a line each, two or more of known keys
    Ali:Chat       <START> and turns of {{user}} and {{char}} in the description: talk, not a profile

Keys become the attributes of `story.Schema` where they mean one of them ('appearance' is 'looks'), and stay as they are
elsewhere. What is not understood is prose: nothing is lost. Each function reads its text once, so time is
proportionate to length whatever is in it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from understudy.text import fold

ATTRIBUTES = {
    fold(keyword): attribute
    for attribute, keywords in {
        "character": "personality,personalities,personality traits,character traits,traits,trait,mind,temperament,"
        "demeanor,demeanour,disposition,characteristics,性格,个性",
        "looks": "appearance,looks,look,body,features,physical features,physical appearance,appearance features,"
        "physique,figure,外見,外貌,容姿,样貌",
        "age": "age,年齢,年龄",
        "gender": "gender,sex,性別,性别",
        "lineage": "species,race,ancestry,lineage,种族,種族",
        "talents": "talents,talent,abilities,ability,powers,skills,skill,特技,能力",
        "title": "occupation,job,profession,work,role,title,職業,职业",
        "belongings": "belongings,inventory,items,possessions,equipment,持ち物,物品",
        "hobby": "likes,like,loves,hobby,hobbies,interests,enjoys,好きなもの,趣味,喜欢,爱好",
        "dislikes": "dislikes,dislike,hates,hate,嫌いなもの,讨厌,不喜欢",
        "clothes": "clothes,clothing,outfit,attire,wears,服装,衣服",
        "nickname": "nickname,nicknames,alias,aliases,あだ名,昵称",
        "affiliation": "affiliation,member of,所属,隶属",
        "achievement": "achievement,achievements",
    }.items()
    for keyword in keywords.split(",")
}
NAMES = frozenset(map(fold, "character,char,name,full name,名前,姓名,名字".split(",")))
"""Keys whose value is the name of the person the rest is about."""
LOWERED = frozenset({"character"})
"""Attributes that are adjectives, which a list may spell with capitals."""

SUBJECTS = frozenset("i you he she it they we my your his her its their the a an this there".split())
START = re.compile(r"<start>", re.IGNORECASE)
USER_TURN = re.compile(
    r"^[ \t*_\"]{0,8}(?:\{\{user\}\}|<user>)[*_\"]{0,4}[ \t]{0,4}[:：]", re.IGNORECASE | re.MULTILINE
)
POSSESSIVE = re.compile(r"(?P<name>.{1,60}?)['’]s?[ ]+(?P<key>.{1,60})")
QUOTES = str.maketrans("“”„‟«»", '""""""')
KEY_ENDS = frozenset('\n"[](){};+,:=.!?')
LONGEST_KEY = 40
MOST_WORDS = 4  # of a key
LONGEST_LINE_VALUE = 160
ENOUGH_LINES = 2
SENTENCE_END = re.compile(r"[.!?。！？](?:\s|$)")


@dataclass(frozen=True, slots=True)
class Trait:
    """One attribute of the list; `who` is blank for the card's own character."""

    attribute: str
    values: tuple[str, ...]
    who: str = ""


@dataclass(frozen=True, slots=True)
class CardProfile:
    """What a description consists of: attributes, example talk, and the rest."""

    traits: tuple[Trait, ...]
    prose: str
    talk: str


IsOwn = Callable[[str], bool]


def parse_profile(text: str, is_own: IsOwn, is_personality: bool = False) -> CardProfile:
    """`is_own` tells of a name in the list whether it is the card's own character.

    The field `is_personality` is often a bare list of adjectives.
    """
    if is_personality and _is_adjectives(text.strip(), is_own):
        return CardProfile((Trait("character", (text.strip(),)),), "", "")
    traits, remainder = _calls(text)
    listed, remainder = _bracketed(remainder, is_own)
    prose, talk = _without_talk(remainder)
    by_line, prose = _key_lines(prose)
    traits = [replace(trait, who="") if is_own(trait.who) else trait for trait in (*traits, *listed, *by_line)]
    return CardProfile(tuple(traits), prose, talk)


def _is_adjectives(text: str, is_own: IsOwn) -> bool:
    """Is it one line such as 'dry, patient and deaf'?"""
    if not 0 < len(text) <= LONGEST_LINE_VALUE or "\n" in text or SENTENCE_END.search(text):
        return False
    if not any(comma in text for comma in ",、，") or any(mark in text for mark in ':=;()[]{}"'):
        return False
    first, *more = re.split("[,、，]", text)[0].split() or [""]
    return len(more) <= 1 and not is_own(first) and fold(first) not in SUBJECTS


def _calls(text: str) -> tuple[list[Trait], str]:
    """`Key("value" + "value")`, wherever it stands."""
    traits: list[Trait] = []
    pieces: list[str] = []
    who, position = "", 0
    for opening, closing in _pairs(text, "(", ")"):
        values = _quoted(text[opening + 1 : closing])
        key_start = _key_start(text, opening, position)
        key = text[key_start:opening].strip()
        is_apart = text[opening - 1 : opening].isspace()  # 'She called out ("Mira!")' is prose
        if not values or not key or (is_apart and fold(key) not in ATTRIBUTES.keys() | NAMES):
            continue
        pieces.append(text[position:key_start])
        position = closing + 1
        if fold(key) in NAMES:
            who = values[0]
        else:
            traits += _trait(key, values, who)
    return traits, "".join((*pieces, text[position:]))


def _pairs(text: str, opening: str, closing: str) -> list[tuple[int, int]]:
    """Where the brackets that hold no others open and close; those within quotes are none."""
    pairs: list[tuple[int, int]] = []
    opened: int | None = None
    in_quotes = False
    for position, letter in enumerate(text.translate(QUOTES)):
        if letter == '"':
            in_quotes = not in_quotes
        elif letter == "\n":
            in_quotes = False
        elif in_quotes:
            continue
        elif letter == opening:
            opened = position
        elif letter == closing and opened is not None:
            pairs.append((opened, position))
            opened = None
    return pairs


def _key_start(text: str, end: int, earliest: int) -> int:
    start = end
    while start > max(earliest, end - LONGEST_KEY) and text[start - 1] not in KEY_ENDS:
        start -= 1
    return start


def _quoted(inner: str) -> list[str] | None:
    """The values of a call; None if it holds more than quoted texts and what joins them."""
    pieces = inner.translate(QUOTES).split('"')
    if len(pieces) < 3 or len(pieces) % 2 == 0 or any(piece.strip(" \t\n+,;/&") for piece in pieces[::2]):
        return None
    return [piece.strip() for piece in pieces[1::2] if piece.strip()]


def _bracketed(text: str, is_own: IsOwn) -> tuple[list[Trait], str]:
    """Lists of keys and values in square brackets; brackets that hold something else stay."""
    traits: list[Trait] = []
    pieces: list[str] = []
    position = 0
    for opening, closing in _pairs(text, "[", "]"):
        listed = _plist(text[opening + 1 : closing], is_own)
        if listed is not None:
            pieces.append(text[position:opening])
            position = closing + 1
            traits += listed
    return traits, "".join((*pieces, text[position:]))


def _plist(inner: str, is_own: IsOwn) -> list[Trait] | None:
    """`Mira: shy, kind; clothes: cloak (red, long)`; None if it is no list of attributes."""
    pieces = [piece for piece in _split(inner, ";\n") if piece.strip()]
    keyed = [(key.strip(' "'), value) for key, sign, value in map(_partition, pieces) if sign and value.strip()]
    if not keyed or len(keyed) < len(pieces) or any(not _is_key(key) for key, _ in keyed):
        return None
    known = ATTRIBUTES.keys() | NAMES
    if not any(is_own(key) or fold(key) in known or POSSESSIVE.fullmatch(key) for key, _ in keyed):
        return None
    who, traits = "", list[Trait]()
    for number, (key, text) in enumerate(keyed):
        values = _values(text)
        if fold(key) in NAMES:
            who = values[0] if values else ""
        elif possessive := POSSESSIVE.fullmatch(key):
            traits += _trait(possessive["key"], values, possessive["name"].strip())
        elif is_own(key) or (number == 0 and len(keyed) > 1 and fold(key) not in ATTRIBUTES and not key.islower()):
            who = key
            traits += _trait("personality", values, who)
        else:
            traits += _trait(key, values, who)
    return traits


def _partition(piece: str) -> tuple[str, str, str]:
    """Key, sign and value: 'Age: 23', 'Age = 23'."""
    sign = min((position for mark in ":：=" if (position := piece.find(mark)) >= 0), default=-1)
    return (piece, "", "") if sign < 0 else (piece[:sign], piece[sign], piece[sign + 1 :])


def _is_key(text: str) -> bool:
    return 0 < len(text) <= LONGEST_KEY and len(text.split()) <= MOST_WORDS


def _values(text: str) -> list[str]:
    values = (value.translate(QUOTES).strip(' \t\n"{}') for value in _split(text, ",+、，"))
    return [re.sub(r"(?<=\w)\(", " (", value) for value in values if any(letter.isalnum() for letter in value)]


def _split(text: str, separators: str) -> Iterator[str]:
    """Pieces between separators that stand in no brackets and no quotes."""
    depth, start, in_quotes = 0, 0, False
    for position, letter in enumerate(text):
        if letter in '"“”':
            in_quotes = not in_quotes
        elif in_quotes and letter != "\n":
            continue
        elif letter in "([{（":
            depth += 1
        elif letter in ")]}）":
            depth = max(depth - 1, 0)
        elif letter in separators and (depth == 0 or letter == "\n"):
            yield text[start:position]
            start, in_quotes = position + 1, False
    yield text[start:]


def _without_talk(text: str) -> tuple[str, str]:
    """Prose, and the example talk that begins with `<START>` or a turn of the user."""
    starts = [match.start() for match in (START.search(text), USER_TURN.search(text)) if match]
    return (text[: min(starts)], text[min(starts) :]) if starts else (text, "")


def _key_lines(text: str) -> tuple[list[Trait], str]:
    """Lines such as 'Age: 23', where there are several of keys that are known."""
    lines = text.splitlines()
    traits = [_line_trait(line) for line in lines]
    if sum(trait is not None for trait in traits) < ENOUGH_LINES:
        return [], text
    prose = "\n".join(line for line, trait in zip(lines, traits) if trait is None)
    return [item for trait in traits if trait is not None for item in trait], prose


def _line_trait(line: str) -> list[Trait] | None:
    key, sign, value = _partition(line.strip(" \t-*•+"))
    key, value = key.strip("*_ "), value.strip(" \t*_")
    if sign not in (":", "：") or len(value) > LONGEST_LINE_VALUE or SENTENCE_END.search(value):
        return None
    if fold(key) in NAMES:
        return []
    return _trait(key, _values(value), "") or None if fold(key) in ATTRIBUTES else None


def _trait(key: str, values: Sequence[str], who: str) -> list[Trait]:
    attribute = ATTRIBUTES.get(fold(key), key.lower())
    if attribute in LOWERED:
        values = [value[:1].lower() + value[1:] if value[1:].islower() else value for value in values]
    return [Trait(attribute, tuple(values), who)] if values else []
