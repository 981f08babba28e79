"""One judge for everything that could be said: the best of it that passes every guard is said.

    agent = GuardedAgent([OldLines(encoder), writer], stories, encoder)
    agent.reply(situation, history)        drafts of all drafters, scored together, judged best first
    agent.stream(situation, history)       a writer's sentences as they pass; one that fails is written again

Nothing is shown that no guard has seen. Where nothing passes, or what passes answers something else, the character
finds a way of not answering.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from understudy.agents.encoder import EncoderAgent
from understudy.agents.old_lines import DIRECT, RecalledDraft
from understudy.cancellation import Cancellation
from understudy.dialogue import (
    DEFAULT_SAMPLING,
    Candidate,
    Draft,
    Drafter,
    Evidence,
    LanguageModel,
    Reply,
    Sampling,
    Situation,
    StreamingAgent,
    Turn,
    Usage,
)
from understudy.errors import BackendError
from understudy.judging.guards import Guard, Stories, StoryViews, Verdict, all_guards, objection
from understudy.judging.guards.knowledge import prepare
from understudy.judging.politeness import evasion_drafts, greeting_drafts
from understudy.judging.selection import Scored, mutual_information, score_drafts

__all__ = ["GuardedAgent"]

SHOWN = 8  # candidates that a reply lists
ENOUGH = 5  # drafts that pass: the rest need not be judged
ANSWERS = 0.34  # the score from which on an old line, a memory or a fact is taken for an answer
ANSWERS_WITHOUT_LINES = 0.12  # the same, where there are no old lines, or no encoder to compare them by
GREETS, GREETS_BESIDE_WRITER = 1.0, 0.2
ATTEMPTS = 3  # at a sentence that fails
SENTENCE = re.compile(r".+?(?:[.!?…][\"'”’)\]]*\s+|[。！？][」』”]*|\n+)", re.DOTALL)
OFF_TOPIC = "answers something else"
LARGEST_SEED = 2**31


@dataclass(frozen=True, slots=True)
class Judged:
    """A scored draft, and the verdict that stops it, if one does."""

    draft: Draft
    score: float
    verdict: Verdict | None
    off_topic: bool = False


class GuardedAgent:
    """Any drafters together, behind all guards. `best_of` is how many drafts a writer is asked for; 1 streams."""

    def __init__(
        self,
        drafters: Sequence[Drafter],
        stories: Stories | StoryViews,
        ranker: EncoderAgent | None = None,
        best_of: int = 8,
        guards: Sequence[Guard] | None = None,
        notice: str = "",
        gain_by: LanguageModel | None = None,
        writer_first: bool = False,
    ) -> None:
        """`gain_by` measures how much likelier the message makes a draft; it costs a pass of the model for each.

        `writer_first` says that what passes of a writer's drafts goes before everything else.
        """
        self._gain_by, self._writer_first = gain_by, writer_first
        self._drafters, self._best_of, self.notice = tuple(drafters), best_of, notice
        self._views = stories if isinstance(stories, StoryViews) else StoryViews(stories)
        self._guards = all_guards(self._views) if guards is None else tuple(guards)
        self._ranker = EncoderAgent() if ranker is None else ranker

    @property
    def waits(self) -> bool:
        """Whether a reply is mostly waiting for a server."""
        return any(getattr(drafter, "waits", False) for drafter in self._drafters)

    @property
    def offers_alternatives(self) -> bool:
        """Whether the candidates of a reply are what it would say as well: of several drafts they are."""
        return self._best_of > 1

    @property
    def description(self) -> str:
        return " ".join(("guarded", *(type(drafter).__qualname__ for drafter in self._drafters)))

    def reply(self, situation: Situation, history: Sequence[Turn]) -> Reply:
        return self._answer(situation, history, DEFAULT_SAMPLING, None)

    def stream(
        self,
        situation: Situation,
        history: Sequence[Turn],
        sampling: Sampling = DEFAULT_SAMPLING,
        cancellation: Cancellation | None = None,
    ) -> Generator[str, None, Reply]:
        writer = next((drafter for drafter in self._drafters if isinstance(drafter, StreamingAgent)), None)
        if writer is not None and max(sampling.n, self._best_of) == 1:
            reply = yield from self._written(writer, situation, history, sampling, cancellation)
            if reply is not None:
                return reply
        reply = self._answer(situation, history, sampling, cancellation)
        yield from _pieces(reply.text)
        return reply

    def judge(self, situation: Situation, history: Sequence[Turn], draft: Draft) -> Verdict | None:
        """Why a draft may not be said; None where it may."""
        return objection(self._guards, situation, history, draft)

    def _answer(
        self, situation: Situation, history: Sequence[Turn], sampling: Sampling, cancellation: Cancellation | None
    ) -> Reply:
        drafts, usage, notices = self._drafts(situation, history, sampling, cancellation)
        if greetings := greeting_drafts(situation, history):
            written = [draft for draft in drafts if draft.source == "writer"]
            best = GREETS_BESIDE_WRITER if written else GREETS
            worth = {draft.text: best - rank / 2 for rank, draft in enumerate(greetings)}
            drafts = [*(_with_bearing(draft, worth[draft.text]) for draft in greetings), *written]
        cached = self._ranker.encoder(situation.persona.language)
        voice = self._voice(situation) if any(draft.source == "writer" for draft in drafts) else None
        gain = None if self._gain_by is None else partial(mutual_information, self._gain_by, situation, history)
        scored = score_drafts(situation, history, drafts, cached, voice, gain)
        if self._writer_first:
            scored.sort(key=lambda item: item.draft.source != "writer")
        judged = self._judged(situation, history, scored)
        least = ANSWERS if len(situation.persona.past) and cached is not None else ANSWERS_WITHOUT_LINES
        chosen = next((item for item in judged if item.verdict is None and _is_answer(item, least)), None)
        if chosen is None:
            chosen = self._evasion(situation, history)
        judged = [item if _is_answer(item, least) else replace(item, off_topic=True) for item in judged]
        return _reply(chosen, judged, usage if usage.calls else None, notices)

    def _drafts(
        self, situation: Situation, history: Sequence[Turn], sampling: Sampling, cancellation: Cancellation | None
    ) -> tuple[list[Draft], Usage, list[Evidence]]:
        """What all drafters offer. One that fails is done without, as long as another offers something."""
        wanted = replace(sampling, n=max(sampling.n, self._best_of))
        drafts, usage, failures = list[Draft](), Usage(), list[BackendError]()
        for drafter in self._drafters:
            if isinstance(drafter, StreamingAgent) and self._is_answered(situation, history, sampling, drafts):
                continue
            try:
                offered, cost = drafter.drafts(situation, history, wanted, cancellation)
            except BackendError as error:
                failures.append(error)
                continue
            drafts += offered
            usage += cost
        if failures and len(failures) == len(self._drafters):
            raise failures[0]
        return drafts, usage, [Evidence("notice", str(error)) for error in failures]

    def _is_answered(
        self, situation: Situation, history: Sequence[Turn], sampling: Sampling, drafts: Sequence[Draft]
    ) -> bool:
        """Whether the very question is answered by what is known of the character: a small writer adds only time."""
        if self._writer_first or sampling.n > 1:
            return False
        return any(self.judge(situation, history, draft) is None for draft in drafts if _is_direct(draft))

    def _voice(self, situation: Situation) -> Callable[[Sequence[str]], Sequence[float]] | None:
        """How much texts sound like the character, where there is a story to compare with."""
        views = self._views(situation)
        return views[0].voices if views and len(situation.persona.past) else None

    def _judged(self, situation: Situation, history: Sequence[Turn], scored: Sequence[Scored]) -> list[Judged]:
        """Best first, until enough have passed."""
        judged, passed = list[Judged](), 0
        prepare(self._views, situation, [item.draft.text for item in scored if item.draft.source == "writer"])
        for item in scored:
            verdict = self.judge(situation, history, item.draft)
            judged.append(Judged(item.draft, item.score, verdict))
            passed += verdict is None
            if passed == ENOUGH:
                break
        return judged

    def _evasion(self, situation: Situation, history: Sequence[Turn]) -> Judged:
        """A way of not answering: an own line where it passes the guards, else the bank's, which state nothing."""
        for draft in evasion_drafts(situation, history):
            if draft.source == "bank" or self.judge(situation, history, draft) is None:
                return Judged(draft, 0.0, None)
        return Judged(Draft("...", "bank"), 0.0, None)

    def _written(
        self,
        writer: StreamingAgent,
        situation: Situation,
        history: Sequence[Turn],
        sampling: Sampling,
        cancellation: Cancellation | None,
    ) -> Generator[str, None, Reply | None]:
        """A writer's sentences, each shown once it has passed; None where not even one did."""
        said, usage, stopped = "", Usage(), list[Judged]()
        for attempt in range(ATTEMPTS):
            if cancellation is not None and cancellation.is_cancelled:
                break
            before = (*history, Turn(situation.persona.name, said)) if said else tuple(history)
            writing = writer.stream(situation, before, _seeded(sampling, attempt), cancellation)
            finished, failed, reply = False, None, None
            sentences = _sentences(writing)
            try:
                while True:
                    sentence = next(sentences)
                    separated = sentence if not said or said[-1:].isspace() else f" {sentence}"
                    failed = self._sentence_verdict(situation, history, said, sentence)
                    if failed is not None:
                        stopped.append(Judged(Draft(sentence.strip(), "writer"), 0.0, failed))
                        break
                    said += separated
                    yield separated
            except StopIteration as stop:
                finished, reply = True, stop.value
            except BackendError:
                if not said:
                    raise
                finished = True
            finally:
                writing.close()
            if reply is not None and reply.usage is not None:
                usage += reply.usage
            if finished:
                break
        if not said.strip():
            return None
        best = Judged(Draft(said, "writer"), 0.0, None)
        return _reply(best, [best, *stopped], usage if usage.calls else None, [])

    def _sentence_verdict(
        self, situation: Situation, history: Sequence[Turn], said: str, sentence: str
    ) -> Verdict | None:
        """Judges a sentence by itself, and together with what was said before it."""
        alone = self.judge(situation, history, Draft(sentence.strip(), "writer"))
        if alone is not None or not said:
            return alone
        return self.judge(situation, history, Draft(f"{said.strip()} {sentence.strip()}", "writer"))


def _sentences(writing: Generator[str, None, Reply]) -> Generator[str, None, Reply]:
    """The pieces of a stream put together to whole sentences."""
    buffer = ""
    while True:
        try:
            buffer += next(writing)
        except StopIteration as stop:
            if buffer.strip():
                yield buffer
            reply: Reply = stop.value
            return reply
        while (match := SENTENCE.match(buffer)) and match.end() < len(buffer):
            if match[0].strip():
                yield match[0]
            buffer = buffer[match.end() :]


def _pieces(text: str) -> Iterator[str]:
    """A text by sentences; joined they are the text."""
    position = 0
    for match in SENTENCE.finditer(text):
        yield match[0]
        position = match.end()
    if position < len(text):
        yield text[position:]


def _is_direct(draft: Draft) -> bool:
    """Whether it answers the very question from what is known of the character."""
    return isinstance(draft, RecalledDraft) and draft.bearing >= DIRECT


def _is_answer(item: Judged, least: float) -> bool:
    """What was written for the message answers it; what is older may answer something else."""
    return not isinstance(item.draft, RecalledDraft) or item.score >= least


def _with_bearing(draft: Draft, bearing: float) -> RecalledDraft:
    return RecalledDraft(draft.text, draft.source, draft.moment, draft.evidence, draft.log_probs, bearing)


def _seeded(sampling: Sampling, attempt: int) -> Sampling:
    """Another seed for another attempt: the same one would write the same again."""
    if not attempt:
        return sampling
    return replace(sampling, seed=((sampling.seed or 0) + attempt) % LARGEST_SEED)


def _reply(best: Judged, judged: Sequence[Judged], usage: Usage | None, notices: Sequence[Evidence]) -> Reply:
    """The chosen one first, parts of what is listed left out, and the text of what must not be known."""
    listed = [best]
    for item in judged:
        is_spoiler = item.verdict is not None and item.verdict.is_spoiler
        if is_spoiler or not any(item.draft.text in other.draft.text for other in listed):
            listed.append(item)
    listed = listed[:SHOWN]
    kept_back = sum(item.verdict is not None for item in judged)
    evidence = [*best.draft.evidence, *notices]
    if kept_back:
        evidence.append(Evidence("notice", f"{kept_back} of {len(judged)} drafts were kept back by the guards"))
    return Reply(best.draft.text, tuple(map(_candidate, listed)), tuple(evidence), usage)


def _candidate(item: Judged) -> Candidate:
    draft, score = item.draft, round(item.score, 6)
    if item.verdict is not None and item.verdict.is_spoiler:
        return Candidate("", score, None, draft.source, item.verdict.reason)
    reason = item.verdict.reason if item.verdict is not None else OFF_TOPIC if item.off_topic else ""
    return Candidate(draft.text, score, draft.moment, draft.source, reason)
