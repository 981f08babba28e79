"""Texts in English, Japanese and Chinese: sentences, words, their stems and stop words, and names found in them."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from difflib import get_close_matches
from functools import cache, lru_cache
from importlib.resources import files
from itertools import islice, pairwise
from threading import Lock
from typing import Any, NamedTuple, TypeVar

from understudy.errors import InputError, MissingExtra

Owner = TypeVar("Owner", bound=Hashable)

LANGUAGES = ("en", "ja", "zh")
UNSPACED_LANGUAGES = frozenset({"ja", "zh"})
TITLES = frozenset("mr mrs ms miss dr sir lady lord captain".split())
"""What English names begin with and nobody is called by alone, in small letters and without full stops."""

WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
SENTENCE_END = re.compile(  # a run of marks is tried once, from its first: else long ones would take their square
    r"(?<![.!?…])[.!?…]++[\"'”’)\]*_]*+(?=\s|\Z)|(?<![!?])[!?]++(?=[\u3040-\u30ff\u4e00-\u9fff])"
    r"|[。！？]+(?:[」』）”’]+(?=[\s「『]|\Z)|(?![」』）”’]))"  # 「行く。」と言った。 is one
)
NEXT_LETTER = re.compile(r"[\s\"'“‘(\[*_]*(\w?)")
ABBREVIATION = re.compile(
    r"(?<!\w)(?:M[rs]|Mrs|Messrs|Mme|Mlle|Dr|Ste?|Rev|Hon|Prof|Capt|Col|Gen|Maj|Lt|Lieut|Sgt|Sergt|vs|e\.g|i\.e"
    r"|[A-HJ-Z])\.\Z"
)
LONGEST_ABBREVIATION = 8  # letters, with the full stop and what is before it
KANA = re.compile(r"[\u3040-\u30ff]")
HAN = re.compile(r"[\u4e00-\u9fff]")
ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100, "d": 500, "m": 1000}
ROMAN_FORM = re.compile(r"m{0,3}(?:cm|cd|d?c{0,4})(?:xc|xl|l?x{0,4})(?:ix|iv|v?i{0,4})", re.IGNORECASE)
UNSPACED = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")
NOT_IN_NAMES = re.compile(r"[\W_]+")
SIMILAR = 0.7  # a share of letters in common from which on a word may be another misspelt

STOP_WORDS = {
    "en": """
        a about after again all also am an and any are aren't as at be because been before being but by can can't
        could couldn't did didn't do does doesn't doing don't down for from get got had has have haven't having he
        her here hers him his how i i'd i'll i'm i've if in into is isn't it it's its itself just let me more most
        my myself no nor not now of off oh on once only or other our ours out over own same she should so some such
        than that that's the their them then there there's these they they're this those through to too under until
        up us very was wasn't we we're were what what's when where which while who whom why will with won't would
        wouldn't yes you you'd you'll you're you've your yours yourself""",
    "ja": """
        の に は を た が で て と し れ さ ある いる も する から な こと として い や れる など なっ ない
        この ため その あっ よう また もの という あり まで られ なる へ か だ これ によって により おり
        より による ず なり られる ば なかっ なく しかし について せ だっ です ます う ね よ わ さん ん って
        けど それ あれ ここ そこ お ご なん 何 どう いま どこ どなた あんた""",
    "zh": """
        的 了 在 是 我 你 他 她 它 们 我们 你们 他们 和 就 都 而 及 与 着 或 一个 没有 这 那 这个 那个 也 不
        很 到 说 要 去 会 看 好 自己 上 又 把 被 让 给 啊 呢 吧 吗 嘛 哦 呀 之 以 于 其 但 还 只 什么 怎么
        因为 所以 如果 下 您 咋 谁""",
}


@lru_cache(4096)
def fold(name: str) -> str:
    """The form in which names are compared: no case, accents of width, punctuation or spaces."""
    return NOT_IN_NAMES.sub("", unicodedata.normalize("NFKC", name).casefold())


def is_unspaced(text: str) -> bool:
    """Has it letters of a script in which nothing shows where a word ends?"""
    return UNSPACED.search(text) is not None


def either(words: Iterable[str]) -> str:
    """A pattern of any of some words, the longest first."""
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


def sole_owners(names: Iterable[tuple[str, Owner]]) -> dict[str, Owner]:
    """Of names, each with whose it is: those that are only one's, and whose."""
    owners: dict[str, set[Owner]] = {}
    for name, who in names:
        owners.setdefault(name, set()).add(who)
    return {name: next(iter(whose)) for name, whose in owners.items() if len(whose) == 1}


@lru_cache(4096)
def name_pattern(names: tuple[str, ...]) -> re.Pattern[str] | None:
    """Finds any of the names where it stands whole; names in scripts without spaces wherever they stand."""
    longest_first = sorted({name for name in names if name.strip()}, key=len, reverse=True)
    if not longest_first:
        return None
    return re.compile("|".join(rf"(?<!\w){re.escape(n)}(?!\w)" if n.isascii() else re.escape(n) for n in longest_first))


def find_name(text: str, names: Iterable[str]) -> re.Match[str] | None:
    """Where a text has one of the names first; the longest of those that begin there."""
    pattern = name_pattern(tuple(names))
    return None if pattern is None else pattern.search(text)


def did_you_mean(word: str, choices: Iterable[str]) -> str:
    """ " (did you mean 'Zita'?)", to be put into an error; nothing where no choice is written much like the word."""
    folded = {fold(choice): choice for choice in choices}
    close = get_close_matches(fold(word), folded, 1, SIMILAR)
    return f" (did you mean '{folded[close[0]]}'?)" if close else ""


def capitalised(text: str) -> str:
    """A text with a capital at its beginning; the rest stays as it is."""
    return text[:1].upper() + text[1:]


def one_line(text: str) -> str:
    """A text whose runs of white space, line ends among them, are single blanks."""
    return " ".join(text.split())


def roman_number(numeral: str) -> int | None:
    """What a Roman numeral means, or None where it is none."""
    if not numeral or ROMAN_FORM.fullmatch(numeral) is None:
        return None
    values = [ROMAN[letter] for letter in numeral.lower()]
    return sum(-value if value < after else value for value, after in zip(values, [*values[1:], 0]))


def guess_language(sample: str) -> str:
    """Kana means Japanese, Han characters without kana Chinese, anything else is read as English."""
    kana, han = len(KANA.findall(sample)), len(HAN.findall(sample))
    if kana > 0 and (kana + han) * 10 > len(sample):
        return "ja"
    return "zh" if han * 10 > len(sample) and han > 0 else "en"


def sentence_ends(text: str) -> list[int]:
    """Where sentences are over: after their mark, and what closes with it.

    None is over after 'Mr.' or an initial, nor before a small letter, unless the text has no capitals at all.
    """
    ends, has_capitals = [], not text.islower()
    for match in SENTENCE_END.finditer(text):
        follower = NEXT_LETTER.match(text, match.end())
        is_lower = has_capitals and follower is not None and follower[1].islower()
        if is_lower or ends_with_abbreviation(text[max(0, match.end() - LONGEST_ABBREVIATION) : match.end()]):
            continue
        ends.append(match.end())
    return ends


def ends_with_abbreviation(text: str) -> bool:
    """Whether the full stop at the end is that of 'Mr.' or an initial."""
    return ABBREVIATION.search(text) is not None


def sentences(text: str) -> list[str]:
    """The sentences of a text; its last words are one, whether it is over or not."""
    bounds = pairwise([0, *sentence_ends(text), len(text)])
    return [part for start, end in bounds if (part := text[start:end].strip())]


def words(text: str, language: str = "en") -> list[str]:
    """The words of a text, lower-cased, punctuation left out."""
    return tokenizer(language)(text)


@cache
def stop_words(language: str) -> frozenset[str]:
    return frozenset(STOP_WORDS[known(language)].split())


@cache
def word_table(*path: str) -> dict[str, Any]:
    """A TOML file of words and patterns that comes with the package, by its path there."""
    return tomllib.loads(files("understudy").joinpath(*path).read_text(encoding="utf-8"))


def known(language: str) -> str:
    if language not in LANGUAGES:
        raise InputError(f"language '{language}' is not one of {', '.join(LANGUAGES)}")
    return language


@cache
def tokenizer(language: str) -> Callable[[str], list[str]]:
    """The word tokenizer of a language; those of Japanese and Chinese are optional extras."""
    tokenize = pieces(language)
    if language == "en":
        return tokenize
    return lambda text: [piece.lower() for piece in tokenize(text) if WORD.search(piece)]


def pieces(language: str) -> Callable[[str], list[str]]:
    """Splits a text into words as they are written and the punctuation between them; English into words alone."""
    with _LOADING:  # a dictionary takes a second to load: threads that ask at once wait for one of them
        return _loaded_pieces(language)


_LOADING = Lock()


@cache
def _loaded_pieces(language: str) -> Callable[[str], list[str]]:
    return {"en": _english, "ja": _japanese, "zh": _chinese}[known(language)]()


def _english() -> Callable[[str], list[str]]:
    return lambda text: [word.replace("’", "'") for word in WORD.findall(text.lower())]


def _japanese() -> Callable[[str], list[str]]:
    try:
        import fugashi
    except ImportError as error:
        raise MissingExtra("cutting Japanese into words", "ja") from error
    tagger = fugashi.Tagger()
    return lambda text: [word.surface for word in tagger(text)]


def _chinese() -> Callable[[str], list[str]]:
    try:
        import logging

        import jieba
    except ImportError as error:
        raise MissingExtra("cutting Chinese into words", "zh") from error
    jieba.setLogLevel(logging.WARNING)
    segmenter = jieba.Tokenizer()
    # By default it loads its dictionary, with marshal, from a file of a known name in the shared temporary folder,
    # where any user can plant one. Reading the dictionary's text takes hardly longer.
    segmenter.FREQ, segmenter.total = segmenter.gen_pfdict(segmenter.get_dict_file())
    segmenter.initialized = True
    return lambda text: list(segmenter.cut(text))


# English words without their endings: 'skiing', 'skis' and 'ski' have one stem.
#
# Endings are cut by rule, longest first; words that end in ss, us or is keep theirs, a doubled consonant becomes one,
# and a last e is dropped, so that a stem is no word but the same for its forms.


ENDINGS = (("ies", 5, "y"), ("sses", 6, "ss"), ("ing", 6, ""), ("ed", 5, ""), ("es", 5, "e"), ("s", 4, ""))
CLITICS = ("'s", "'re", "'ve", "'m", "'ll", "'d")


def stems(text: str) -> list[str]:
    """The stem of each word of a text, stop words too."""
    return [stem(word) for word in words(text)]


@cache
def stem(word: str) -> str:
    """Of a word as `text.words` gives it."""
    for clitic in CLITICS:
        word = word.removesuffix(clitic)
    for ending, least, instead in ENDINGS:
        if word.endswith(ending) and len(word) >= least and not word.endswith(("ss", "us", "is")):
            word = word.removesuffix(ending) + instead
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lse":
        word = word[:-1]  # 'running', 'run'
    if len(word) > 3:
        word = word.removesuffix("e")
    return f"{word[:-1]}i" if len(word) > 3 and word.endswith("y") else word


# Finding the names of a cast in running text, without a regular expression per name; and replacing names in it.

BEGINNING = re.compile(r"(?<![^\W_])[^\W_a-z][^\W_]*(?:[’'][^\W_]+)*")  # a token that may begin a name
RUN_ON = "\u3005\u3041-\u309f\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"  # hiragana, Han, Hangul: words are not set apart
KATAKANA = "\u30a1-\u30fa\u30fc-\u30ff\uff66-\uff9f"
SPACED = f"[^\\W_{RUN_ON}{KATAKANA}]"  # letters and digits of scripts that set words apart
POSSESSIVE = ("'s", "’s")
NOT_NAMES = TITLES | frozenset("doctor the old young little uncle aunt".split())
"""What can be part of a name, and means nobody by itself."""


class HeardName(NamedTuple):
    """Who was named, and how."""

    character: int
    name: str


class NameFinder:
    """Says whose names a text contains.

    Names match as they are written or in capitals, never in lower case ('will' is not Will). A word of a longer
    name counts when only one person has it (`Ines` for Ines Vale; `Geller` is nobody in particular). A name two
    people share points to neither.
    """

    def __init__(self, names: Iterable[tuple[int, str]]) -> None:
        owners: dict[str, set[int]] = {}
        parts: dict[str, set[int]] = {}
        for character, name in names:
            owners.setdefault(name, set()).add(character)
            tokens = WORD.findall(name)
            for token in tokens if len(tokens) > 1 else ():
                if token.lower() not in NOT_NAMES and len(token) > 1 and not token[0].islower():
                    parts.setdefault(token, set()).add(character)
        for part, who in parts.items():
            owners.setdefault(part, who)  # a name that stands on its own, shared or not, wins over a part of one
        owners = {name: who for name, who in owners.items() if len(who) == 1}
        self._by_token: dict[str, list[tuple[tuple[str, ...], HeardName]]] = {}
        self._unspaced: dict[str, HeardName] = {}
        for name, who in owners.items():
            heard = HeardName(next(iter(who)), name)
            if is_unspaced(name):
                self._unspaced[name] = heard
                continue
            for form in {name, name.upper()}:
                tokens = WORD.findall(form)
                if tokens and not tokens[0].islower():
                    self._by_token.setdefault(tokens[0], []).append((tuple(tokens), heard))
        self._beginnings = {token + ending for token in self._by_token for ending in ("", *POSSESSIVE)}
        for entries in self._by_token.values():
            entries.sort(key=lambda entry: -len(entry[0]))
        self._unspaced_pattern = re.compile(either(self._unspaced))

    def find(self, text: str) -> Iterator[int]:
        """The characters named in a text, each as often as named. The longest name at a place wins."""
        return (heard.character for heard in self.find_names(text))

    def find_names(self, text: str) -> Iterator[HeardName]:
        """The same with the name of the cast, or the part of it, that stands in the text."""
        if self._unspaced:
            for match in self._unspaced_pattern.finditer(text):
                yield self._unspaced[match[0]]
        if self._beginnings.isdisjoint(BEGINNING.findall(text)):
            return  # most lines name nobody, and two C calls are enough to know
        end = 0
        for match in BEGINNING.finditer(text):
            if match.start() < end:
                continue
            for name, heard in self._by_token.get(_bare(match[0]), ()):
                if len(name) == 1:
                    yield heard
                    end = match.end()
                    break
                tokens = list(islice(WORD.finditer(text, match.start()), len(name)))
                if tuple(_bare(token[0]) for token in tokens) == name:
                    yield heard
                    end = tokens[-1].end()
                    break


class NameReplacer:
    """Puts other names in the place of names, where they stand whole.

    A name ends where its script does or a word would: Casimir is not in 'Casimirways', but in "Casimir's" and in
    'Casimirは'; カシム is not in カシムール. Han and hiragana are written without a mark between words, so there a name
    is found wherever its letters stand, unless they belong to a longer one of `others`, which stays as it is.
    """

    def __init__(self, names: Mapping[str, str], others: Iterable[str] = ()) -> None:
        self._new = {form(old): form(new) for old, new in names.items() for form in (str.upper, str)}
        self._new |= {form(name): form(name) for name in others for form in (str.upper, str)}
        longest_first = sorted(filter(None, self._new), key=len, reverse=True)
        self._pattern = re.compile("|".join(map(_whole, longest_first))) if longest_first else None

    def __call__(self, text: str) -> str:
        return text if self._pattern is None else self._pattern.sub(lambda match: self._new[match[0]], text)

    def undecided(self, text: str) -> int:
        """How many characters at the end of a text may belong to a name, depending on what follows them."""
        longest = max(map(len, self._new), default=0)
        for size in range(min(longest, len(text)), 0, -1):
            if any(name.startswith(text[-size:]) for name in self._new):
                return size
        return 0


def _whole(name: str) -> str:
    """A pattern for a name that is not part of a longer word of its own script."""
    before, after = _script(name[0]), _script(name[-1])
    return (f"(?<!{before})" if before else "") + re.escape(name) + (f"(?!{after})" if after else "")


def _script(letter: str) -> str | None:
    """The letters that would go on with a word; None where words are not set apart, or it is no letter."""
    return next((script for script in (f"[{KATAKANA}]", SPACED) if re.match(script, letter)), None)


def _bare(token: str) -> str:
    return token[:-2] if token.endswith(POSSESSIVE) else token
