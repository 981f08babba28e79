"""Headings of a text: volumes, books, parts, chapters, sections; told from sentences and from tables of contents.

A heading is a word for a division with a number (`CHAPTER I`, `Book the First`, `第三章`), or, where a text has none
of these in it, a number alone that goes on counting. Their levels and numbers are worked out by `numbered`.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from understudy.novels.prose import Block
from understudy.text import roman_number

# Numbers as headings write them: 12, XII, twelve, the twelfth, 十二.

UNITS = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
).split()
TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth "
    "sixteenth seventeenth eighteenth nineteenth"
).split()
HAN = {digit: value for value, digit in enumerate("〇一二三四五六七八九")} | {"零": 0, "两": 2}
HAN_TENS = {"十": 10, "百": 100, "千": 1000}

WORDS = {word: number for listed in (UNITS, ORDINALS) for number, word in enumerate(listed, 1)}
OTHER_LANGUAGES = (
    "erste zweite dritte vierte fünfte sechste siebente achte neunte zehnte elfte zwölfte",
    "erstes zweites drittes viertes fünftes sechstes siebentes achtes neuntes zehntes elftes zwölftes",
    "erster zweiter dritter vierter fünfter sechster siebenter achter neunter zehnter elfter zwölfter",
    "premier deuxième troisième quatrième cinquième sixième septième huitième neuvième dixième onzième douzième",
    "première seconde troisième quatrième cinquième sixième septième huitième neuvième dixième onzième douzième",
    "primero segundo tercero cuarto quinto sexto séptimo octavo noveno décimo undécimo duodécimo",
    "primera segunda tercera cuarta quinta sexta séptima octava novena décima undécima duodécima",
    "primo secondo terzo quarto quinto sesto settimo ottavo nono decimo undicesimo dodicesimo",
)
WORDS |= {word: number for listed in OTHER_LANGUAGES for number, word in enumerate(listed.split(), 1)}
for number, tens in enumerate(TENS, 2):
    WORDS |= {tens: 10 * number, tens[:-1] + "ieth": 10 * number}
    for unit, (cardinal, ordinal) in enumerate(zip(UNITS[:9], ORDINALS[:9]), 1):
        WORDS |= {f"{tens}-{cardinal}": 10 * number + unit, f"{tens}-{ordinal}": 10 * number + unit}

_SPELT = "|".join(sorted(map(re.escape, WORDS), key=len, reverse=True)).replace(r"\-", r"[\s-]")
NUMERAL = rf"(?:\d{{1,4}}|[ivxlcdm]{{1,12}}|{_SPELT}|[{''.join(HAN)}{''.join(HAN_TENS)}]{{1,9}})"
"""For patterns that do not mind case."""


def number_of(numeral: str) -> int | None:
    """What a numeral means, or None where it is none."""
    plain = re.sub(r"[\s-]+", "-", unicodedata.normalize("NFKC", numeral).strip().casefold())
    if plain.isdecimal():
        return int(plain)
    if plain in WORDS:
        return WORDS[plain]
    roman = roman_number(plain)
    return _han(plain) if roman is None else roman


def _han(numeral: str) -> int | None:
    if not numeral or any(letter not in HAN and letter not in HAN_TENS for letter in numeral):
        return None
    if not any(letter in HAN_TENS for letter in numeral):
        return int("".join(str(HAN[letter]) for letter in numeral))
    total, digit = 0, 0
    for letter in numeral:
        if letter in HAN:
            digit = HAN[letter]
        else:
            total += (digit or 1) * HAN_TENS[letter]
            digit = 0
    return total + digit


KINDS = {
    "volume": "volume vol tome band том tomo 卷 巻",
    "book": "book livre buch libro книга",
    "part": "part partie teil parte часть 部 編 篇 编",
    "chapter": "chapter chap chapitre kapitel capítulo capitulo capitolo глава letter canto stave 章 回 话 話 幕",
    "section": "section 节 節",
}
"""Level -> the words for it, from the one that usually holds the others down."""
KIND = {word: kind for kind, listed in KINDS.items() for word in listed.split()}
RANK = {kind: rank for rank, kind in enumerate(KINDS)}

_WORDS = "|".join(word for word in KIND if word.isascii() or (word[0] > "à" and len(word) > 1))
AFTER = r"(?P<rest>$|\s*[.:)\]—–-].*|\s+[^\W\d_].*)"
NAMED = re.compile(
    rf"(?:the\s+)?(?P<kind>{_WORDS})\b\.?\s+(?:the\s+)?(?P<number>{NUMERAL})(?![^\W_]){AFTER}", re.IGNORECASE
)
ORDINAL = re.compile(rf"(?:the\s+)?(?P<number>{NUMERAL})\s+(?P<kind>{_WORDS})(?P<rest>$|\s*[.:—–-].*)", re.IGNORECASE)
HAN_NAMED = re.compile(
    r"第\s*(?P<number>[0-9０-９〇零一二三四五六七八九十百千两]{1,9})\s*(?P<kind>[章回话話幕节節卷巻部編篇编])"
    r"(?P<rest>$|[\s:：　「『、.].*)"
)
ALONE = re.compile(r"(?:§\s*)?(?P<number>\d{1,3}|[IVXLC]{1,8}|[〇一二三四五六七八九十百]{1,5})(?P<rest>$|\s*[.)]$)")
OPENING = re.compile(r"(?:prologue|prolog|prologo|пролог|序章|楔子|プロローグ)\W*(?P<rest>.*)", re.IGNORECASE)
CLOSING = re.compile(
    r"(?:epilogue|epilog|epilogo|эпилог|終章|尾声|エピローグ|conclusion|postscript|(?:the )?(?:last|final) chapter)"
    r"\W*(?P<rest>.*)",
    re.IGNORECASE,
)
CONTENTS = re.compile(
    r"(?:table of )?contents\W*|inhalt(?:sverzeichnis)?\W*|table des matières\W*|índice\W*|目\s*[录錄次]\W*",
    re.IGNORECASE,
)
QUOTED = re.compile(r"^[\"“'‘«„「『—].{3}")
SENTENCE = re.compile(r"[^.!?]{20,}[a-z][.!?][\"'”’]?$")
BORDER = " .:)]—–-_\t　"

LONGEST = 120
MOST_ROWS = 5
TITLE_WORDS = 12
LITTLE_TEXT = 240  # characters between two entries of what says that it is a table of contents
NEAR = 8  # blocks in which a title page is done


@dataclass(frozen=True, slots=True)
class NumberedHeading:
    """A heading: of which kind, its number as written, its title; `rows` of the block with that index are its own.

    `title_blocks` more blocks after it are its title.
    """

    kind: str
    number: int | None
    title: str
    block: int
    rows: int
    title_blocks: int = 0
    is_named: bool = True


def divisions_of(text: str, blocks: Sequence[Block]) -> list[NumberedHeading]:
    """The headings among blocks of rows, without those of a table of contents."""
    named = [heading for index, block in enumerate(blocks) if (heading := _named(text, block, index)) is not None]
    alone = _counting(
        [heading for index, block in enumerate(blocks) if (heading := _alone(text, block, index)) is not None]
    )
    if any(heading.kind == "chapter" and heading.number is not None for heading in named):
        alone = [replace(heading, kind="section") for heading in alone]
    every = sorted([*named, *alone], key=lambda heading: heading.block)
    remaining = _outside_contents(text, blocks, every)
    taken = {heading.block for heading in remaining}
    return [_with_title(text, blocks, heading, taken) for heading in remaining]


def contents_of(text: str, blocks: Sequence[Block], divisions: Sequence[NumberedHeading]) -> set[int]:
    """The blocks of a table of contents: from its heading to the first heading of the text."""
    first = divisions[0].block if divisions else len(blocks)
    for index, block in enumerate(blocks[:first]):
        if CONTENTS.fullmatch(_words(text, block[0])):
            end = index + 1
            while end < first and _is_list(text, blocks[end]):
                end += 1
            return set(range(index, end))
    return {index for index in range(first) if _named(text, blocks[index], index) is not None}


def _is_list(text: str, block: Block) -> bool:
    return all(
        row.end - row.start <= LONGEST and not SENTENCE.search(words) and not QUOTED.search(words)
        for row in block
        for words in (_words(text, row),)
    )


def _is_summary(text: str, blocks: Sequence[Block]) -> bool:
    """What a table of contents may tell of a chapter."""
    rows = [row for block in blocks[:NEAR] for row in block[:NEAR]]
    return (
        len(blocks) <= NEAR
        and sum(row.end - row.start for row in rows) <= LITTLE_TEXT
        and not any(QUOTED.search(_words(text, row)) for row in rows)
    )


def _named(text: str, block: Block, index: int) -> NumberedHeading | None:
    rows = 1
    words = _words(text, block[0])
    if len(block) > 1 and sum(_heads(_words(text, row)) is not None for row in block[:MOST_ROWS]) > 1:
        return None  # a table of contents
    if len(block) > 1 and words.strip(BORDER).casefold() in KIND:
        rows, words = 2, f"{words} {_words(text, block[1])}"
    if len(words) > LONGEST or not words or words[0].islower():
        return None
    match = _heads(words)
    if match is None:
        bound = OPENING.fullmatch(words) or CLOSING.fullmatch(words)
        if bound is None or len(block) > MOST_ROWS or len(words) > 40 or SENTENCE.search(words):
            return None
        number = 0 if OPENING.fullmatch(words) else None
        return NumberedHeading("chapter", number, words.strip(BORDER).capitalize(), index, 1)
    number = number_of(match["number"])
    rest = match["rest"]
    reads_on = rest[:1].isspace() and rest.strip()[:1].islower()
    if number is None or reads_on or (len(block) == 1 and rest.rstrip().endswith((",", ";"))):
        return None
    kind = KIND[match["kind"].casefold().rstrip(".")]
    if len(block) > MOST_ROWS:  # a heading right above its text
        return NumberedHeading(kind, number, rest.strip(BORDER), index, rows) if not rest.strip(BORDER) else None
    if SENTENCE.search(rest) and len(block) > 1:
        return None
    title = " ".join([rest.strip(BORDER), *(_words(text, row).strip(BORDER) for row in block[rows:])]).strip()
    return NumberedHeading(kind, number, title, index, len(block))


def _heads(words: str) -> re.Match[str] | None:
    return NAMED.fullmatch(words) or ORDINAL.fullmatch(words) or HAN_NAMED.fullmatch(words)


def _alone(text: str, block: Block, index: int) -> NumberedHeading | None:
    words = _words(text, block[0])
    if len(words) > 10 or len(block) > 3 or not (match := ALONE.fullmatch(words)):
        return None
    number = number_of(match["number"])
    if number is None or not number or any(not _is_title(_words(text, row)) for row in block[1:]):
        return None
    title = " ".join(_words(text, row).strip(BORDER) for row in block[1:])
    return NumberedHeading("chapter", number, title, index, len(block), is_named=False)


def _counting(numbers: Sequence[NumberedHeading]) -> list[NumberedHeading]:
    """Numbers alone that count on from one, perhaps several times; a page number or a year does not."""
    kept: list[NumberedHeading] = []
    for division in numbers:
        before = kept[-1].number if kept else 0
        if division.number == 1 or division.number == (before or 0) + 1:
            kept.append(division)
    return kept if any(division.number == 2 for division in kept) else []


def _outside_contents(
    text: str, blocks: Sequence[Block], divisions: Sequence[NumberedHeading]
) -> list[NumberedHeading]:
    """A table of contents is a run of headings with next to nothing between; its last ones may be real."""
    kept: list[NumberedHeading] = []
    run: list[NumberedHeading] = []
    last = {(division.kind, division.number): position for position, division in enumerate(divisions)}
    announced = next((index for index, block in enumerate(blocks) if CONTENTS.fullmatch(_words(text, block[0]))), None)
    for position, division in enumerate(divisions):
        run.append(division)
        after = divisions[position + 1].block if position + 1 < len(divisions) else len(blocks)
        between = blocks[division.block + 1 : after]
        is_close = len(between) <= NEAR and all(_is_list(text, block) for block in between)
        if not is_close and announced is not None and announced < run[0].block <= announced + NEAR:
            is_close = _is_summary(text, between)
        if is_close and position + 1 < len(divisions):
            continue
        kept.extend(_real(run, [last[other.kind, other.number] > position for other in run], last, position))
        run = []
    return kept


def _real(
    run: Sequence[NumberedHeading], repeated: Sequence[bool], last: Mapping[tuple[str, int | None], int], position: int
) -> Sequence[NumberedHeading]:
    """The headings at the end of a run that head text: one of each kind, the rest is a table of contents."""
    if len(run) > 2 and repeated[-1] and last.get((run[-1].kind, 1), 0) > position:
        return []
    start = len(run) - 1
    kinds = {run[-1].kind}
    while start > 0 and run[start - 1].kind not in kinds:
        start -= 1
        kinds.add(run[start].kind)
    first = {(division.kind, division.number) for division in run[start:]}
    again = sum(more or (entry.kind, entry.number) in first for more, entry in zip(repeated[:start], run))
    return run[start:] if start > 1 and again * 2 >= start else run


def _with_title(text: str, blocks: Sequence[Block], division: NumberedHeading, taken: set[int]) -> NumberedHeading:
    """A heading without a title takes the short line after it as one, where it is no sentence."""
    index = division.block + 1
    if division.title or division.rows < len(blocks[division.block]) or index >= len(blocks) - 1 or index in taken:
        return division
    block = blocks[index]
    if len(block) > 3 or (index + 1 in taken and RANK[division.kind] >= RANK["chapter"]):
        return division
    rows = [_words(text, row) for row in block]
    if all(row.isupper() or (len(block) == 1 and _is_title(row)) for row in rows):
        return replace(division, title=" ".join(row.strip(BORDER) for row in rows), title_blocks=1)
    return division


def _is_title(words: str) -> bool:
    """Short, begins with a capital, and ends and is marked as no sentence is."""
    bare = words.strip(BORDER) if not words.isupper() else words.strip()
    if not bare or len(bare.split()) > TITLE_WORDS or len(bare) > LONGEST:
        return False
    if words.isupper():
        return True
    capitals = sum(word[0].isupper() for word in bare.split())
    return (
        not words.endswith((".", ",", ";", "!", '"', "”", "’", "'", "」", "»"))
        and words[0] not in "\"'“‘«„「『—–-"
        and (words[0].isupper() and capitals * 2 >= len(bare.split()))
    )


def _words(text: str, row: tuple[int, ...]) -> str:
    return text[row[0] : min(row[1], row[0] + LONGEST + 1)]


# The levels of a text's headings and the numbers they have there.
#
# The divisions there are fewer of hold the others: ('volume', 'chapter'). Numbers are taken as they are written as
# long as they grow, else counted.


def numbered(divisions: Sequence[NumberedHeading]) -> tuple[tuple[str, ...], list[tuple[int, ...]]]:
    """(levels, the numbers of each heading): numbers of a level always grow within what holds it.

    Where the deepest level begins again at one, what holds it goes on by one, with or without a heading of its own.
    """
    counts = Counter(division.kind for division in divisions)
    levels = sorted(counts, key=lambda kind: (counts[kind], RANK[kind]))
    restarts = _restarts(divisions, levels[-1]) if levels else set()
    if len(levels) == 1 and restarts:
        levels.insert(0, "part" if levels[0] != "part" else "book")
    depths = [levels.index(division.kind) for division in divisions]
    outermost = {depth: division.number or 1 for division, depth in reversed(list(zip(divisions, depths)))}
    following: list[int | None] = _following(divisions)
    position: list[int] = []
    numbers: list[tuple[int, ...]] = []
    for index, (division, depth) in enumerate(zip(divisions, depths)):
        if index in restarts and len(position) > depth:
            position = [*position[: depth - 1], position[depth - 1] + 1]
        del position[depth + 1 :]
        while len(position) < depth:  # no heading of the level above yet
            above = outermost.get(len(position), 2)
            position.append(max(above - 1, 0))
        last = position[depth] if depth < len(position) else -1 if division.number == 0 else 0
        written = division.number
        if written is None or written <= last or (written > last + 1 and following[index] in (last + 2, last + 1)):
            written = last + 1
        position[depth:] = [written]
        numbers.append(tuple(position))
    return tuple(levels), numbers


def _restarts(divisions: Sequence[NumberedHeading], kind: str) -> set[int]:
    """Headings numbered one that come after a third or later one, and before a second one."""
    own = [(index, division.number) for index, division in enumerate(divisions) if division.kind == kind]
    return {
        index
        for (before, earlier), (index, number), (_, later) in zip(own, own[1:], own[2:])
        if number == 1 and later == 2 and (earlier or 0) >= 3 and index == before + 1
    }


def _following(divisions: Sequence[NumberedHeading]) -> list[int | None]:
    """The number of the next heading of the same kind."""
    following: list[int | None] = [None] * len(divisions)
    latest: dict[str, int | None] = {}
    for index in range(len(divisions) - 1, -1, -1):
        following[index] = latest.get(divisions[index].kind)
        latest[divisions[index].kind] = divisions[index].number
    return following
