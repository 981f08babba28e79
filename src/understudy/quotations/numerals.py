"""Numbers as headings write them: 12, XII, twelve, the twelfth, 十二."""

from __future__ import annotations

import re
import unicodedata

__all__ = ["NUMERAL", "number_of"]

UNITS = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
).split()
TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth "
    "sixteenth seventeenth eighteenth nineteenth"
).split()
ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100, "d": 500, "m": 1000}
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

ROMAN_FORM = re.compile(r"m{0,3}(?:cm|cd|d?c{0,4})(?:xc|xl|l?x{0,4})(?:ix|iv|v?i{0,4})")


def number_of(numeral: str) -> int | None:
    """What a numeral means, or None where it is none."""
    plain = re.sub(r"[\s-]+", "-", unicodedata.normalize("NFKC", numeral).strip().casefold())
    if plain.isdecimal():
        return int(plain)
    if plain in WORDS:
        return WORDS[plain]
    if plain and ROMAN_FORM.fullmatch(plain):
        values = [ROMAN[letter] for letter in plain]
        return sum(-value if value < after else value for value, after in zip(values, [*values[1:], 0]))
    return _han(plain)


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
