"""The roots of a text's content words ('wrote' and 'writing' are the same), by endings and a list of forms."""

from __future__ import annotations

from functools import lru_cache

from understudy.text import stop_words, words

__all__ = ["IRREGULAR", "roots"]

IRREGULAR = {
    form: verb
    for verb, forms in {
        "write": "wrote written", "take": "took taken", "steal": "stole stolen", "burn": "burnt", "fall": "fell fallen",
        "catch": "caught", "tell": "told", "know": "knew known", "give": "gave given", "go": "went gone",
        "make": "made", "sell": "sold", "buy": "bought", "sleep": "slept asleep", "die": "died dead death dying",
        "hide": "hid hidden", "keep": "kept", "lie": "lied lying", "wear": "wore worn", "break": "broke broken",
        "see": "saw seen", "say": "said", "send": "sent", "find": "found", "lose": "lost", "leave": "left",
        "kill": "killed killer", "forge": "forged forger forgery", "think": "thought", "hear": "heard",
        "come": "came", "run": "ran", "meet": "met", "hold": "held", "pay": "paid", "bring": "brought",
        "marry": "married marriage husband wife", "begin": "began begun", "speak": "spoke spoken", "swear": "swore",
        "feel": "felt", "do": "did done", "get": "got", "bear": "born",
    }.items()
    for form in forms.split()
}  # fmt: skip
ENDINGS = ("'s", "ing", "ed", "es", "s")


@lru_cache(50_000)
def roots(text: str, language: str = "en") -> frozenset[str]:
    """The content words of a text without their endings, so that 'wrote' and 'writing' are the same."""
    small = stop_words(language)
    meaningful = (word for word in words(text, language) if word not in small)
    return frozenset(map(_root, meaningful) if language == "en" else meaningful)


@lru_cache(50_000)
def _root(word: str) -> str:
    if word not in IRREGULAR:
        for ending in ENDINGS:
            if word.endswith(ending) and len(word) - len(ending) >= 3:
                word = word[: -len(ending)]
                if ending in ("ing", "ed") and len(word) > 3 and word[-1] == word[-2]:
                    word = word[:-1]
                break
    verb = IRREGULAR.get(word, word)
    return verb.removesuffix("e") if len(verb) > 4 else verb
