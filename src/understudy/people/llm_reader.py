"""A language model reads a story scene by scene for facts and ties, in the form the other finders have.

    claim kept   iff  its people are of the cast, its attribute or kind is one of the schema,
                      and every line it quotes stands in the scene at that moment, with those words

What is not kept is counted with the reason. Every answer is stored when it comes, so that reading goes on where it was
stopped, and a scene that has not changed is never paid for twice.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from understudy.database import RecordLog
from understudy.formats.prose.decisions import answer_document, claimed_confidence
from understudy.language.backends import Backend
from understudy.progress import Progress
from understudy.story.dialogue import ChatMessage, Sampling, Usage
from understudy.story.names import sole_names
from understudy.story.storyfile import Story
from understudy.story.storyfile.found import NEVER_FOUND, line_after
from understudy.story.types import PROFILE, Fact, Finding, Line, Moment, Relation, Scene, Schema
from understudy.story.user_folders import cache_folder
from understudy.text import fold

SAMPLING = Sampling(temperature=0.0, max_tokens=2000, seed=0)
MAX_SOURCES = 10
SHORTEST_QUOTE = 4  # characters
MAX_CLAIMS = 200  # of one answer


class UnsupportedClaim(Exception):
    """A claim that its scene does not carry; the message is the reason it is counted under."""


@dataclass
class LlmReader:
    """A finder. `usage` is what this run has cost, `dropped` why claims were not kept, `stored` counts old answers."""

    backend: Backend
    fresh: bool = False
    usage: Usage = field(default_factory=Usage)
    dropped: Counter[str] = field(default_factory=Counter)
    stored: int = 0

    def __call__(self, story: Story, progress: Progress) -> list[Fact | Relation]:
        names = sole_names(story)
        answers = RecordLog(cache_folder() / "draft-llm" / f"{_hash(self.backend.name)}.jsonl")
        if self.fresh:
            answers.records.clear()
        total, claims = story.count()[0], list[Fact | Relation]()
        for number, scene in enumerate(story.scenes(), 1):
            for lines in scene_parts(scene, self.backend.context_tokens):
                messages = scene_prompt(scene, lines, names.values(), story.schema)
                claims += self._claims(self._answer(messages, answers), lines, names, story.schema)
            progress(f"Reading with {self.backend.name}", number, total)
        return _merged(claims)

    def _answer(self, messages: Sequence[ChatMessage], answers: RecordLog) -> str:
        key = _hash("\0".join(message.content for message in messages))
        if (stored := answers.records.get(key)) is not None:
            self.stored += 1
            return str(stored["answer"])
        (completion,) = self.backend.complete(messages, SAMPLING)
        self.usage += completion.usage
        answers.add([{"key": key, "answer": completion.text}])
        return completion.text

    def _claims(
        self, answer: str, lines: Sequence[Line], names: Mapping[str, str], schema: Schema
    ) -> Iterator[Fact | Relation]:
        document = answer_document(answer)
        if document is None:
            self.dropped["the answer is not JSON"] += 1
            return
        by_moment = {line.moment.dotted: line for line in lines}
        for kind, parse in (("facts", _fact), ("relations", _relation)):
            items = document.get(kind, [])
            for item in items[:MAX_CLAIMS] if isinstance(items, list) else ():
                try:
                    if not isinstance(item, dict):
                        raise UnsupportedClaim("not an object")
                    sources = _sources(item, by_moment)
                    yield parse(item, Finding(claimed_confidence(item), sources), names, schema)
                except UnsupportedClaim as reason:
                    self.dropped[str(reason)] += 1


def _sources(item: dict[str, Any], lines: Mapping[str, Line]) -> tuple[Moment, ...]:
    quotes = item.get("quotes")
    if not isinstance(quotes, list) or not quotes or len(quotes) > MAX_SOURCES:
        raise UnsupportedClaim("it quotes no lines")
    moments = set()
    for quote in quotes:
        line = lines.get(str(quote.get("line")).strip("[] ")) if isinstance(quote, dict) else None
        if line is None:
            raise UnsupportedClaim("it quotes a line that is not in the scene")
        words = " ".join(str(quote.get("words", "")).split())
        if len(words) < min(SHORTEST_QUOTE, len(line.text)) or words not in " ".join(line.text.split()):
            raise UnsupportedClaim("the line does not say those words")
        moments.add(line.moment)
    return tuple(sorted(moments))


def _fact(item: dict[str, Any], finding: Finding, names: Mapping[str, str], schema: Schema) -> Fact:
    attribute, value = item.get("attribute"), item.get("value")
    if attribute not in schema.attributes or attribute in NEVER_FOUND:
        raise UnsupportedClaim("its attribute is none of the story's")
    if not isinstance(value, str) or not value.strip() or len(value) > 400 or not value.isprintable():
        raise UnsupportedClaim("its value is no text")
    text = value.strip().rstrip(".。") if attribute == PROFILE else value.strip()
    return Fact(_person(item, "who", names), str(attribute), (text,), line_after(finding.sources[0]), found=finding)


def _relation(item: dict[str, Any], finding: Finding, names: Mapping[str, str], schema: Schema) -> Relation:
    kind, level = item.get("kind"), item.get("level")
    bounds = schema.bounds(str(kind))
    if (kind not in schema.kinds and bounds is None) or kind in NEVER_FOUND:
        raise UnsupportedClaim("its kind is none of the story's")
    if bounds is None:
        level = None
    elif type(level) is not int or not bounds[0] <= level <= bounds[1]:
        raise UnsupportedClaim("its level is none of its kind")
    of, to = _person(item, "of", names), _person(item, "to", names)
    if of == to:
        raise UnsupportedClaim("it ties somebody to themselves")
    term = item.get("term")
    word = term.strip() if isinstance(term, str) and term.isprintable() and len(term) <= 40 and bounds is None else ""
    return Relation(of, to, str(kind), level, line_after(finding.sources[0]), term=word, found=finding)


def _person(item: dict[str, Any], key: str, names: Mapping[str, str]) -> str:
    name = item.get(key)
    if not isinstance(name, str) or fold(name) not in names:
        raise UnsupportedClaim("it is about somebody who is not of the cast")
    return names[fold(name)]


def _merged(claims: Sequence[Fact | Relation]) -> list[Fact | Relation]:
    """The same claim of several scenes as one with all their lines; levels change, so each of theirs is its own."""
    merged: dict[object, Fact | Relation] = {}
    for number, claim in enumerate(claims):
        is_level = isinstance(claim, Relation) and claim.level is not None
        key = number if is_level else (claim.key, claim.values if isinstance(claim, Fact) else ())
        earlier = merged.get(key)
        if earlier is None or earlier.found is None or claim.found is None:
            merged[key] = claim
            continue
        sources = sorted({*earlier.found.sources, *claim.found.sources})[:MAX_SOURCES]
        confidence = max(earlier.found.confidence, claim.found.confidence)
        merged[key] = replace(earlier, since=min(earlier.since, claim.since), found=Finding(confidence, tuple(sources)))
    return list(merged.values())


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:24]


# What a language model is asked about a scene: who people are and are to each other, with the lines that say so.

ANSWER_TOKENS = 2500  # room for the answer and for what is asked
CHARACTERS_PER_TOKEN = 3
MOST_LINES = 150
LISTED_NAMES = 60

TASK = """\
You read one scene of a story and write down what its lines say about its people: facts about one of them, and what \
somebody is to somebody else. Write only what a line says plainly; guess nothing, and use nothing that you know of the \
story from elsewhere.

Answer with one JSON object and nothing else:
{{"facts": [{{"who": NAME, "attribute": ATTRIBUTE, "value": TEXT, "confidence": 0..1,
             "quotes": [{{"line": MOMENT, "words": WORDS}}]}}],
 "relations": [{{"of": NAME, "to": NAME, "kind": KIND, "term": WORD, "confidence": 0..1,
                 "quotes": [{{"line": MOMENT, "words": WORDS}}]}}]}}

NAME is one of these people, written exactly so: {names}.
ATTRIBUTE is one of: {attributes}. The attribute 'profile' is for a whole sentence in the first person, as the character
would say it: "I am a nurse". Values are in the language of the story.
KIND is one of: {kinds}. It says what `to` is to `of`: {{"of": "Ann", "to": "Eve", "kind": "parent", "term": "mother"}}
means that Eve is Ann's mother. WORD is the scene's own word for it, or "".
MOMENT is the number in brackets before a line, and WORDS are copied from that very line, letter by letter.
Where the scene says nothing of the kind, answer {{"facts": [], "relations": []}}."""


def scene_parts(scene: Scene, context_tokens: int) -> Iterator[Sequence[Line]]:
    """The lines of a scene, in as many parts as a model's context asks for."""
    room = max(context_tokens - ANSWER_TOKENS, 500) * CHARACTERS_PER_TOKEN
    part, length = list[Line](), 0
    for line in scene.lines:
        size = len(line.text) + 40
        if part and (length + size > room or len(part) >= MOST_LINES):
            yield part
            part, length = [], 0
        part.append(line)
        length += size
    if part:
        yield part


def scene_prompt(
    scene: Scene, lines: Sequence[Line], names: Collection[str], schema: Schema
) -> tuple[ChatMessage, ChatMessage]:
    """The messages for one part of a scene; those who are there are listed first."""
    listed = list(dict.fromkeys((*scene.present, *names)))[:LISTED_NAMES]
    attributes = [name for name in schema.attributes if name not in NEVER_FOUND]
    kinds = [name for name in schema.kinds if name not in NEVER_FOUND]
    task = TASK.format(names="; ".join(listed), attributes=", ".join(attributes), kinds=", ".join(kinds))
    message = [f"Scene {scene.moment.dotted}: {scene.setting}", f"There: {', '.join(scene.present)}", ""]
    message += [f"[{line.moment.dotted}] {f'{line.speaker}: ' if line.speaker else ''}{line.text}" for line in lines]
    return ChatMessage("system", task), ChatMessage("user", "\n".join(message))
