"""Names in Japanese and Chinese prose, which has neither spaces nor capitals.

Japanese: what stands before an honorific (さん, 先生), or before は or が with a verb of speech after it.
Chinese: a common surname and one or two characters more, before a verb of speech in the same clause.
"""

from __future__ import annotations

import re
from collections import Counter

from understudy.quotations.prose import NovelCharacter, Prose

__all__ = ["find_unspaced_cast"]

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
