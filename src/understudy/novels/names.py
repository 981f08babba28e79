"""Proper names in running text: runs of capitalised words, with their titles, initials and particles.

A word that stands at the head of a sentence has a capital whatever it is: it is part of a name only where the text has
it with a capital elsewhere, and not mostly without one.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from understudy.novels.lexicon import Lexicon, given_names
from understudy.novels.prose import NovelCharacter, Prose

UPPER = "A-ZÀ-ÖØ-ÞĀĂĄĆČĎĐĒĖĘĚĞĢĪİĶĻŁŃŇŌŐŒŘŚŞŠŤŪŮŰŹŻŽΑ-ΩА-ЯЁІЇЄ"
ABBREVIATION = (
    r"(?:Mr|Mrs|Ms|Dr|Mme|Mlle|Mons|Messrs|MM?|Me|St|Ste|Rev|Hon|Capt|Col|Gen|Maj|Lieut|Lt|Sergt|Sgt|Prof|[A-HJ-Z])\."
)
WORD = rf"(?:[{UPPER}]['’])?[{UPPER}][^\W\d_]*(?:['’\-][^\W\d_]+)*"
GAP = r"(?:[ \t]{1,4}\n?|\n)[ \t]{0,8}"  # bounded, so that long white space is not tried again and again
SUFFIX = re.compile(r"['’](?:s|S|ll|d|ve|re|m)$")
TOKEN = re.compile(rf"{ABBREVIATION}|{WORD}|[^\W\d_]+['’]?")
LOWER_WORD = re.compile(r"(?<![^\W\d_])[^\W\d_]{2,}")
BREAK = re.compile(r"[.!?…]|\n[ \t]*\n")
STARTS_AFTER = ".!?…:;-—–("
MARKS = " \t\n\"'“”‘’«»_*"
SAINT = ("St", "Ste", "Saint")
LONGEST = 6  # words of a name; more are a headline or a list
MOSTLY_LOWER = 2.0  # times more often without a capital: not a name at the head of a sentence


class NameForm(NamedTuple):
    """A way of writing somebody's name: 'Mr.', ('Frank', 'Churchill')."""

    title: str
    words: tuple[str, ...]

    @property
    def surface(self) -> str:
        return " ".join(filter(None, (self.title, *self.words)))


class NameMention(NamedTuple):
    form: NameForm
    start: int
    end: int
    sentence: int
    is_quoted: bool
    is_opener: bool
    is_possessive: bool


class QuotedParts:
    """Tells whether a character of a text is said by somebody."""

    def __init__(self, prose: Prose) -> None:
        parts = sorted(part for quotation in prose.quotations for part in quotation.parts)
        self._starts = [part.start for part in parts]
        self._ends = [part.end for part in parts]

    def __contains__(self, offset: int) -> bool:
        index = bisect_right(self._starts, offset) - 1
        return index >= 0 and offset < self._ends[index]


class _Token(NamedTuple):
    text: str
    start: int
    end: int
    is_possessive: bool


class _CapitalRun(NamedTuple):
    title: str
    tokens: tuple[_Token, ...]
    start: int
    is_opener: bool


def name_mentions(prose: Prose, lexicon: Lexicon, lower: Mapping[str, int]) -> list[NameMention]:
    """All that may be names, in the order of the text; headings and paratexts are left out."""
    text = prose.text
    left_out = sorted([chapter.span for chapter in prose.chapters] + [paratext.span for paratext in prose.paratexts])
    runs = list(_runs(text, lexicon))
    inner = Counter(
        token.text for run in runs for token in (run.tokens[1:] if run.is_opener and not run.title else run.tokens)
    )
    phrases = {tuple(token.text for token in run.tokens) for run in runs if not run.is_opener}
    quoted = QuotedParts(prose)
    mentions: list[NameMention] = []
    sentence, previous_end, passed = 0, 0, 0
    for run in runs:
        tokens = run.tokens
        is_opener = run.is_opener
        if is_opener and not run.title and tuple(token.text for token in tokens) not in phrases:
            first = tokens[0].text
            if first.lower() in lexicon.openers or lower[first.lower()] > MOSTLY_LOWER * inner[first]:
                tokens, is_opener = tokens[1:], False
        if not 0 < len(tokens) <= LONGEST:
            continue
        start, end = (run.start if run.title else tokens[0].start), tokens[-1].end
        while passed < len(left_out) and left_out[passed].end <= start:
            passed += 1
        if passed < len(left_out) and left_out[passed].start <= start:
            continue
        if BREAK.search(text, previous_end, start):
            sentence += 1
        previous_end = end
        form = NameForm(run.title, tuple(token.text for token in tokens))
        mentions.append(NameMention(form, start, end, sentence, start in quoted, is_opener, tokens[-1].is_possessive))
    return mentions


def lower_counts(text: str) -> Counter[str]:
    """How often the text has each word without a capital."""
    return Counter(word for word in LOWER_WORD.findall(text) if word[0].islower())


def _runs(text: str, lexicon: Lexicon) -> Iterator[_CapitalRun]:
    particles = "|".join(sorted(lexicon.particles, key=len, reverse=True))
    run = re.compile(
        rf"(?<![^\W_])(?:{ABBREVIATION}|{WORD})(?:{GAP}(?:(?:{particles}){GAP}){{0,2}}(?:{ABBREVIATION}|{WORD}))*"
    )
    for match in run.finditer(text):
        yield from _names_in(match, text, lexicon)


def _names_in(match: re.Match[str], text: str, lexicon: Lexicon) -> Iterator[_CapitalRun]:
    """The names of a run: a title begins another, a possessive ends one, and so does a word that is none."""
    names = given_names().genders
    title, title_start, tokens = "", -1, list[_Token]()
    is_opener = _opens_sentence(text, match.start())

    def flush() -> Iterator[_CapitalRun]:
        nonlocal title, title_start, tokens, is_opener
        while tokens and tokens[-1].text.lower() in lexicon.particles:
            tokens.pop()
        if title and not tokens:  # alone: 'Nanny', 'the General'
            tokens = [_Token(title, title_start, title_start + len(title), False)]
            title = ""
        if tokens:
            yield _CapitalRun(title, tuple(tokens), title_start if title else tokens[0].start, is_opener)
        title, title_start, tokens, is_opener = "", -1, [], False

    for token in TOKEN.finditer(match[0]):
        word, start = token[0], match.start() + token.start()
        bare = word.removesuffix(".")
        suffix = SUFFIX.search(word)
        name = word[: suffix.start()] if suffix else word
        if not word[0].isupper():
            if bare in lexicon.particles and ((tokens and bare != "of") or (title and not tokens)):
                tokens.append(_Token(word, start, start + len(word), False))
            else:
                yield from flush()
        elif bare in lexicon.titles and (bare not in SAINT or not tokens):
            if tokens:
                yield from flush()
            elif title:
                is_opener = False
            title, title_start = word, start
        elif (
            (len(name) > 1 and name.isupper() and not name.endswith("."))
            or word.endswith(("n't", "n’t"))
            or (name.lower() in lexicon.openers and name not in names and (tokens or not is_opener))
        ):
            yield from flush()
        else:
            tokens.append(_Token(name, start, start + len(name), suffix is not None))
            if suffix:
                yield from flush()
    yield from flush()


def _opens_sentence(text: str, start: int) -> bool:
    index = start - 1
    while index >= 0 and text[index] in MARKS:
        if text[index] in '"“«‘_' and index == start - 1 and text[index] != "_":
            return True
        index -= 1
    return index < 0 or text[index] in STARTS_AFTER


# Names in Japanese and Chinese prose, which has neither spaces nor capitals.
#
# Japanese: what stands before an honorific (さん, 先生), or before は or が with a verb of speech after it. Chinese: a
# common surname and one or two characters more, before a verb of speech in the same clause.

LEAST = 2
MOST = 300  # people
SHARE_OF_LONGER = 0.6  # of the mentions of a shorter name that a longer one must have to be the whole name

HONORIFICS = "さん|君|くん|ちゃん|様|さま|先生|先輩|殿|氏|嬢"
JA_NAME = r"(?:[\u4e00-\u9fff々]{1,4}|[\u30a1-\u30fa\u30fc・＝]{2,12})"
JA_HONOURED = re.compile(rf"(?<![\u4e00-\u9fff々\u30a1-\u30fa\u30fc])({JA_NAME}?)({HONORIFICS})(?![\u4e00-\u9fff々])")
JA_SAYS = re.compile(
    rf"(?<![\u4e00-\u9fff々\u30a1-\u30fa\u30fc])({JA_NAME})(?:は|が)[^。、「」『』\n]{{0,16}}?"
    "(?:言|云|いっ|叫|答え|尋ね|訊|聞い|呟|つぶや|笑|話し|囁|ささや|頷|うなず)"
)
JA_NOBODY = frozenset(
    "彼 彼女 私 僕 俺 自分 誰 男 女 皆 人 何 声 母 父 兄 姉 弟 妹 子 我 君 先生 先輩 神 客 奥 嬢 王 お前 相手 二人 少年"
    " 少女 一人 今日 昨日 明日 皆様 客様 奥様 様子 王様 神様 皆 同様 仏 両親 彼等 彼ら 老人 店員 医者 警官 者"
    " 方 親父".split()
)
JA_PRONOUNS = (("彼女", "f"), ("彼", "m"))

SURNAMES = (
    "王李张張刘劉陈陳杨楊黄黃赵趙吴吳周徐孙孫马馬朱胡郭何林高罗羅郑鄭梁谢謝宋唐许許韩韓冯馮邓鄧曹彭曾肖蕭萧田董潘"
    "袁蔡蒋蔣余于杜叶葉程魏苏蘇吕呂丁任卢盧姚沈钟鍾姜崔谭譚陆陸范汪廖石金韦韋贾賈夏付方邹鄒熊白孟秦邱侯江尹薛闫"
    "段雷龙龍黎史陶贺賀顾顧毛郝龚龔邵万萬覃武钱錢戴严嚴莫孔向汤湯尤柳岳花岑费費"
)
ZH_VERBS = "说|說|道|问|問|答|笑|叫|喊|骂|罵|叹|嘆|想"
ZH_SAYS = re.compile(
    rf"(?:^|(?<=[。！？；，、“”‘’「」『』…\s]))((?:[{SURNAMES}]|[小老阿])[\u4e00-\u9fff]{{1,2}}?)"
    rf"(?=[\u4e00-\u9fff]{{0,5}}?(?:{ZH_VERBS}))",
    re.MULTILINE,
)
ZH_NOT_NAMES = frozenset("说說道问問答笑叫喊骂罵叹嘆想的了是在不也又就都着地得个這这那一和")
ZH_PRONOUNS = (("她", "f"), ("他", "m"))


def find_unspaced_cast(prose: Prose) -> tuple[NovelCharacter, ...]:
    if prose.language == "ja":
        return _japanese(prose.text)
    return _chinese(prose.text)


def _japanese(text: str) -> tuple[NovelCharacter, ...]:
    counts: Counter[str] = Counter()
    honoured: dict[str, Counter[str]] = {}
    for match in JA_HONOURED.finditer(text):
        name = match[1]
        if name not in JA_NOBODY:
            counts[name] += 1
            honoured.setdefault(name, Counter())[match[0]] += 1
    counts.update(match[1] for match in JA_SAYS.finditer(text) if match[1] not in JA_NOBODY)
    people = []
    for name, count in counts.most_common(MOST):
        if count >= LEAST:
            aliases = tuple(alias for alias, _ in honoured.get(name, Counter()).most_common() if alias != name)
            people.append(NovelCharacter(name, aliases, _gender(text, name, JA_PRONOUNS)))
    return tuple(people)


def _chinese(text: str) -> tuple[NovelCharacter, ...]:
    two = Counter(match[1][:2] for match in ZH_SAYS.finditer(text) if not ZH_NOT_NAMES & set(match[1][1:2]))
    people = []
    for short, count in two.most_common(MOST):
        if count < LEAST:
            continue
        longer = Counter(text[at : at + 3] for at in _occurrences(text, short) if _is_han(text[at + 2 : at + 3]))
        name = short
        for whole, often in longer.most_common(1):
            if often >= SHARE_OF_LONGER * text.count(short) and whole[2] not in ZH_NOT_NAMES:
                name = whole
        people.append(NovelCharacter(name, (), _gender(text, name, ZH_PRONOUNS)))
    return tuple({person.name: person for person in people}.values())


def _occurrences(text: str, name: str) -> list[int]:
    return [match.start() for match in re.finditer(re.escape(name), text)]


def _is_han(character: str) -> bool:
    return "\u4e00" <= character <= "\u9fff"


def _gender(text: str, name: str, pronouns: tuple[tuple[str, str], ...]) -> str:
    """That of the pronoun which follows a name most often in the same or the next sentence."""
    votes: Counter[str] = Counter()
    for at in _occurrences(text, name):
        window = text[at + len(name) : at + len(name) + 40]
        first = min(
            ((position, gender) for word, gender in pronouns if (position := window.find(word)) >= 0), default=None
        )
        if first:
            votes[first[1]] += 1
    gender = max("mf", key=lambda each: votes[each])
    return gender if votes[gender] > LEAST and votes[gender] > 2 * (votes.total() - votes[gender]) else ""


# How a text uses a name: what tells people from towns, months and peoples.
#
#     p = (4 says + 1.5 acts + vocative + owns + 0.5 pronoun) / n      for a person
#     q = (2 in a place + 2 after an article) / n                      against
#
# with each count over the n mentions of a name. Somebody with a title is a person whatever the counts.


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
