"""Examples from PersonaChat: replies that use the profile, and questions about single sentences of one."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import NamedTuple

from recipes.writer.grounding import WORD, content
from recipes.writer.tables import asked_patterns, random_name, table
from understudy.agents.prompt_contents import ChatTurn, PastExchange, PromptContents
from understudy.training.dialogues import ProfiledDialogue

__all__ = ["TrainingExample", "asked_examples", "chat_examples", "near_misses"]

OF_ONESELF = re.compile(
    r"\b(I have|I've|I am an?|I'm an?|I work|I live|I own|I was|I got|I used|I just|I play|I love|I like|[Ww]e have|"
    r"[Mm]y)\b"
)
CHATTER = re.compile(r"\b(lol|haha\w*|lmao|omg|ll)\b", re.IGNORECASE)
QUESTION = re.compile(r"\s*[^.!?]*\?")
TELLS = re.compile(r"(?:I|My|We|I'm|I've)\b")
LEANS_ON_TALK = re.compile(r"\b(you|your|lol|too|also|well|same|either)\b", re.IGNORECASE)
UNTOLD = 0.15  # share of replies that are kept although they say of themselves what no profile does
STATEMENTS = 0.5  # share of replies to no question that are kept where they use nothing of the profile


class TrainingExample(NamedTuple):
    """A prompt's contents and the reply to learn."""

    contents: PromptContents
    reply: str


def chat_examples(
    dialogues: Sequence[ProfiledDialogue], expressed: Mapping[str, Sequence[str]], rng: Random
) -> Iterator[TrainingExample]:
    """Replies of both speakers; those that state what no profile says are left out, but for a few."""
    for dialogue in dialogues:
        for index, (who, reply) in enumerate(dialogue.turns):
            is_answer = index > 0 and dialogue.turns[index - 1][0] != who
            if not is_answer or not 2 <= len(reply.split()) <= 30 or CHATTER.search(reply):
                continue
            profile, message = dialogue.profiles[who], dialogue.turns[index - 1][1]
            used = [
                text for text in profile if text in expressed.get(reply, ()) or len(content(text) & content(reply)) >= 2
            ]
            if not used and OF_ONESELF.search(reply) and rng.random() > UNTOLD:
                continue
            if not used and "?" not in message and rng.random() > STATEMENTS:
                continue
            yield TrainingExample(_chat_contents(dialogue, index, who, used, rng), reply)


def _chat_contents(dialogue: ProfiledDialogue, index: int, who: int, used: list[str], rng: Random) -> PromptContents:
    profile = dialogue.profiles[who]
    unused = [text for text in profile if text not in used]
    facts = used[:2] if rng.random() < 0.7 else []
    facts += rng.sample(unused, min(len(unused), rng.choice((0, 0, 1))))
    rng.shuffle(facts)
    start = max(0, index - 1 - rng.choice((0, 2, 4)))
    turns = tuple(ChatTurn(speaker == who, text) for speaker, text in dialogue.turns[start : index - 1])
    own = [
        text
        for position, (speaker, text) in enumerate(dialogue.turns)
        if speaker == who and abs(position - index) > 4 and 3 <= len(text.split()) <= 20
    ]
    return PromptContents(
        name=random_name(rng),
        profile=profile if rng.random() < 0.8 else tuple(used or profile[:3]),
        facing=random_name(rng) if rng.random() < 0.3 else "",
        voice=tuple(rng.sample(own, min(len(own), rng.choice((0, 0, 2, 3))))),
        turns=turns[1:] if turns and turns[0].is_own else turns,
        message=dialogue.turns[index - 1][1],
        facts=tuple(facts),
    )


def asked_examples(
    dialogues: Sequence[ProfiledDialogue], expressed: Mapping[str, Sequence[str]], rng: Random, most: int
) -> Iterator[TrainingExample]:
    """Questions about a profile sentence, answered by an utterance that expresses it; now and then evaded."""
    profiles = [profile for dialogue in dialogues for profile in dialogue.profiles if profile]
    answers = _answers(expressed)
    order = list(answers)
    rng.shuffle(order)
    count = 0
    for sentence in order:
        fitting = ((pattern.search(sentence), texts) for pattern, texts in asked_patterns())
        match, questions = next(((matched, texts) for matched, texts in fitting if matched), (None, ()))
        if match is None or count == most or not profiles:
            continue
        count += 1
        question = rng.choice(questions)
        question = question.format(match[1]) if "{0}" in question else question
        unrelated = [text for text in rng.choice(profiles) if not match.re.search(text)][:5]
        own = tuple(near_misses(question, rng)) if rng.random() < 0.5 else ()
        facing, name = random_name(rng) if rng.random() < 0.5 else "", random_name(rng, surname=0.3)
        if unrelated and rng.random() < 0.2:  # the same question where the prompt does not have the answer
            facts = tuple(rng.sample(unrelated, min(2, len(unrelated))))
            evasion = rng.choice(table("deflected")["answers"]).format(fact=rng.choice(unrelated))
            untold = PromptContents(name, tuple(unrelated), facing, message=question, own=own, facts=facts)
            yield TrainingExample(untold, evasion)
        facts = _shuffled([sentence, *(rng.sample(unrelated, 1) if unrelated and rng.random() < 0.5 else [])], rng)
        yield TrainingExample(
            PromptContents(
                name,
                _shuffled([*unrelated, sentence], rng),
                facing,
                message=question,
                own=own,
                facts=facts if rng.random() < 0.8 else (),
            ),
            rng.choice([*answers[sentence], sentence]),
        )


def _answers(expressed: Mapping[str, Sequence[str]]) -> Mapping[str, Sequence[str]]:
    """Profile sentence -> utterances that express it and stand alone."""
    answers = defaultdict[str, list[str]](list)
    for utterance, sentences in expressed.items():
        plain = QUESTION.sub("", utterance).strip()
        if not 3 <= len(plain.split()) <= 22 or not TELLS.match(plain) or LEANS_ON_TALK.search(plain):
            continue
        for sentence in sentences:
            if len(content(sentence) & content(plain)) >= max(1, len(content(sentence)) / 2):
                answers[sentence].append(plain)
    return answers


def near_misses(question: str, rng: Random) -> list[PastExchange]:
    """Past answers to a similar question that asks for something else: distractors, not to be repeated."""
    question_words = set(WORD.findall(question.lower()))
    weighed = [
        (len(question_words & set(WORD.findall(heard.lower()))) + rng.random(), heard, said) for heard, said in _pairs()
    ]
    name = random_name(rng)
    return [
        PastExchange(name, heard, said) if rng.random() < 0.7 else PastExchange("", "", said)
        for _, heard, said in sorted(weighed, reverse=True)[: rng.choice((1, 2))]
    ]


def _pairs() -> Sequence[tuple[str, str]]:
    return [(heard, said) for heard, said in table("near_misses")["pairs"]]


def _shuffled(texts: list[str], rng: Random) -> tuple[str, ...]:
    rng.shuffle(texts)
    return tuple(texts)
