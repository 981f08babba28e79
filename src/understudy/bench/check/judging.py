"""What is wrong with the replies of one conversation, by everything its test asks for.

    must               one of the terms is in the last reply
    must_not, never, language, max_words      hold for every reply
    rules              hold for every reply, by the story's metrics at the test's moment
    voice_like         the mean of `voice` over the replies that are long enough to tell reaches `voice_at_least`

`voice` tells the lines given from those of `voice_unlike` or, where there are none, from the talk of the embedded
story.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from understudy.bench.check.faults import FAULTS, too_long, wrong_language
from understudy.bench.check.tests_file import CheckTest
from understudy.dialogue import Score
from understudy.judging import StoryMetrics, judge
from understudy.metrics import Samples
from understudy.metrics.voice import voice
from understudy.readers import read
from understudy.readers.probes import is_said
from understudy.storyfile import Story
from understudy.text import guess_language, words
from understudy.utterances import APPROVED

__all__ = ["Judge", "judge_of"]

THEY, OTHERS = "they", "others"
TELLING_WORDS = 5  # too few words to judge a voice by
EMBEDDED = {"en": "demo", "ja": "demo-ja", "zh": "demo-zh"}

Judge = Callable[[Sequence[str]], list[str]]
"""Of the replies of a conversation, in turn: what is wrong with them; nothing where the test is passed."""


def judge_of(test: CheckTest, story: Story | None) -> Judge:
    """Costly parts (a voice, the story's metrics) are made once; the judge may be called from several threads."""
    by_voice = _voice_judge(test)
    by_rules = _rule_judge(test, story)

    def judged(replies: Sequence[str]) -> list[str]:
        reasons: list[str] = []
        before: list[str] = []
        for turn, reply in zip(test.turns, replies):
            before.append(turn)
            reasons += _faults_of(test, reply, before)
            before.append(reply)
        if test.must and not any(is_said(term, replies[-1]) for term in test.must):
            reasons.append(f"says none of {', '.join(repr(term) for term in test.must)}")
        reasons += by_rules(replies)
        reasons += by_voice(replies)
        return list(dict.fromkeys(reasons))

    return judged


def _faults_of(test: CheckTest, reply: str, before: Sequence[str]) -> list[str]:
    if not any(character.isalnum() for character in reply):
        return ["says nothing"]
    reasons = [f"says '{term}'" for term in test.must_not if is_said(term, reply)]
    reasons += [FAULTS[name](reply, before) for name in test.never]
    reasons.append(wrong_language(reply, test.language) if test.language else "")
    reasons.append(too_long(reply, test.max_words) if test.max_words else "")
    return [reason for reason in reasons if reason]


def _rule_judge(test: CheckTest, story: Story | None) -> Judge:
    if not test.rules or story is None or test.situation is None:
        return lambda _: []
    (metrics,) = StoryMetrics((rule.metric for rule in test.rules), lambda _: [story])(test.situation)

    def judged(replies: Sequence[str]) -> list[str]:
        scores = {rule.metric: metrics[rule.metric](replies) for rule in test.rules}
        decisions = [
            judge({name: column[index] for name, column in scores.items()}, test.rules) for index in range(len(replies))
        ]
        return [decision.why for decision in decisions if decision.decision != APPROVED]

    return judged


def _voice_judge(test: CheckTest) -> Judge:
    if not test.voice_like:
        return lambda _: []
    language = test.language if test.language in EMBEDDED else guess_language(" ".join(test.voice_like))
    others = test.voice_unlike or _embedded_lines(language)
    metric = voice(Samples({THEY: test.voice_like, OTHERS: others}, language), THEY)

    def judged(replies: Sequence[str]) -> list[str]:
        long_enough = [reply for reply in replies if len(words(reply, language)) >= TELLING_WORDS]
        scores: list[Score] = metric(long_enough) if long_enough else []
        missing = [score.reason for score in scores if score.value is None]
        if missing:
            return [f"cannot be judged by voice: {missing[0]}"]
        values = [score.value for score in scores if score.value is not None]
        mean = sum(values) / len(values) if values else 1.0
        return [] if mean >= test.voice_at_least else [f"voice {mean:.2f}, wanted at least {test.voice_at_least:g}"]

    return judged


@cache
def _embedded_lines(language: str) -> tuple[str, ...]:
    return tuple(line.text for scene in read(EMBEDDED[language]).scenes() for line in scene.lines if line.speaker)
