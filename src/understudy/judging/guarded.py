"""One judge for everything that could be said.

    agent = GuardedAgent([OldLines(encoder), writer], stories, encoder)
    agent.reply(situation, history)        what is said, and what else could have been
    agent.stream(situation, history)       the same, as it passes

A *capable* writer (`writer_first`) is said whole: every guard that stops looks at each sentence, those that doubt stop
nothing and are shown as evidence. Where a sentence is stopped it is asked to go on without (see `spoken`); only where
nothing of it passes does what is known of the character answer the very question, or the character does not answer.

The drafts of a small writer stand in one field with old lines and facts: scored on one scale, judged by all guards,
best first; the best that passes is said. Nothing is shown that no guard has seen.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain

from understudy.agents.encoder import EncoderAgent
from understudy.agents.old_lines import DIRECT, RecalledDraft
from understudy.agents.reply_text import is_mid_sentence, joint, split_begun, without_label
from understudy.errors import BackendError
from understudy.judging.guards import (
    Guard,
    Stories,
    StoryViews,
    Verdict,
    doubting_guards,
    objection,
    objections,
    stopping_guards,
)
from understudy.judging.selection import Scored, evasion_drafts, greeting_drafts, score_drafts
from understudy.judging.spoken import Spoken, judged_texts, pieces_of, speak
from understudy.progress import Cancellation
from understudy.story.dialogue import (
    DEFAULT_SAMPLING,
    Candidate,
    Draft,
    Drafter,
    Evidence,
    Reply,
    Sampling,
    Situation,
    Streamed,
    StreamingAgent,
    Turn,
    Usage,
)

SHOWN = 8  # candidates that a reply lists
ENOUGH = 5  # drafts that pass: the rest need not be judged
ANSWERS = 0.34  # the score from which on an old line, a memory or a fact is taken for an answer
ANSWERS_WITHOUT_LINES = 0.12  # the same, where there are no old lines, or no encoder to compare them by
GREETS, GREETS_BESIDE_WRITER = 1.0, 0.2
QUOTED = 0.5  # the share of a capable writer's text that makes it an old line again; five common words are none
OFF_TOPIC = "answers something else"
WRITTEN = "writer"


@dataclass(frozen=True, slots=True)
class Judged:
    """A draft with its score, where it was compared with others, and the verdict that stops it, if one does."""

    draft: Draft
    score: float | None
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
        writer_first: bool = False,
    ) -> None:
        """`writer_first` says that the writer is a capable one: what it writes goes first, doubts do not stop it."""
        self._writer_first = writer_first
        self._drafters, self._best_of, self.notice = tuple(drafters), best_of, notice
        self._views = stories if isinstance(stories, StoryViews) else StoryViews(stories)
        self._stopping = stopping_guards(self._views) if guards is None else tuple(guards)
        self._doubting = doubting_guards(self._views) if guards is None else ()
        self._ranker = EncoderAgent() if ranker is None else ranker
        streaming = (drafter for drafter in self._drafters if isinstance(drafter, StreamingAgent))
        self._speaker = next(streaming, None) if best_of == 1 else None
        """The writer whose sentences are shown as they come."""

    @property
    def waits(self) -> bool:
        """Whether a reply is mostly waiting for a server."""
        return any(getattr(drafter, "waits", False) for drafter in self._drafters)

    @property
    def offers_alternatives(self) -> bool:
        """Whether the candidates of a reply are what it would say as well: of several drafts they are."""
        return self._best_of > 1

    @property
    def is_capable(self) -> bool:
        """Whether its writer is one that is said whole: only guards that stop hold for it."""
        return self._writer_first

    @property
    def description(self) -> str:
        return " ".join(("guarded", *(type(drafter).__qualname__ for drafter in self._drafters)))

    def reply(self, situation: Situation, history: Sequence[Turn]) -> Reply:
        streamed = Streamed(self.stream(situation, history))
        deque(streamed, maxlen=0)
        reply = streamed.value
        if self._speaker is not None and self.is_capable and reply.text and reply.candidates[0].source == WRITTEN:
            # Who waits for the whole reply may choose another: rules do.
            alternatives = self._field(situation, history, self._recalled(situation, history))
            listed = (*reply.candidates, *(_candidate(item) for item in alternatives))
            reply = replace(reply, candidates=listed[:SHOWN])
        return reply

    def stream(
        self,
        situation: Situation,
        history: Sequence[Turn],
        sampling: Sampling = DEFAULT_SAMPLING,
        cancellation: Cancellation | None = None,
    ) -> Generator[str, None, Reply]:
        stopped = list[Judged]()
        if self._speaker is not None and sampling.n == 1:
            judge = partial(self._judge_written, situation, history)
            names = self._views.own_names(situation)
            spoken = yield from speak(self._speaker, situation, history, judge, sampling, cancellation, names)
            stopped = [Judged(Draft(text, WRITTEN), None, verdict) for text, verdict in spoken.stopped]
            if spoken.text or spoken.is_cancelled or (self.is_capable and split_begun(situation.persona, history)[1]):
                return self._spoken_reply(situation, history, spoken, stopped)
        if stopped and self.is_capable:
            reply = self._known_answer(situation, history, stopped)
        else:
            reply = self._answer(situation, history, sampling, cancellation)
        yield from pieces_of(reply.text)
        return reply

    def judge(self, situation: Situation, history: Sequence[Turn], draft: Draft) -> Verdict | None:
        """Why a draft may not be said; None where it may."""
        if self.is_capable and draft.source == WRITTEN:
            return objection(self._stopping, situation, history, draft, QUOTED)
        return objection((*self._stopping, *self._doubting), situation, history, draft)

    def all_objections(self, situation: Situation, history: Sequence[Turn], draft: Draft) -> list[Verdict]:
        """Everything that would keep a draft from being said whole, each once: for those who measure guards."""
        if self.is_capable and draft.source == WRITTEN:
            drafts = [replace(draft, text=text) for text in judged_texts(draft.text)]
            verdicts = (objections(self._stopping, situation, history, each, QUOTED) for each in drafts)
            return list(dict.fromkeys(chain.from_iterable(verdicts)))
        return list(dict.fromkeys(objections((*self._stopping, *self._doubting), situation, history, draft)))

    def _judge_written(self, situation: Situation, history: Sequence[Turn], text: str) -> Verdict | None:
        return self.judge(situation, history, Draft(text, WRITTEN))

    def _spoken_reply(
        self, situation: Situation, history: Sequence[Turn], spoken: Spoken, stopped: Sequence[Judged]
    ) -> Reply:
        """What a writer said, with what was stopped of it and, of a capable one, what is in doubt."""
        said = Draft(spoken.text, WRITTEN, evidence=spoken.evidence)
        doubts = self._doubts(situation, history, said) if self.is_capable and spoken.text else []
        usage = spoken.usage if spoken.usage.calls else None
        best = Judged(said, None, None)
        return replace(_reply(best, [best, *stopped], usage, doubts), log_probs=spoken.log_probs)

    def _doubts(self, situation: Situation, history: Sequence[Turn], said: Draft) -> list[Evidence]:
        """What doubting guards say of a reply; nothing of what must not be explained."""
        verdicts = objections(self._doubting, situation, history, said, QUOTED)
        reasons = dict.fromkeys(verdict.reason for verdict in verdicts if not verdict.is_spoiler)
        return [Evidence("notice", f"in doubt: {reason}") for reason in reasons]

    def _known_answer(self, situation: Situation, history: Sequence[Turn], stopped: Sequence[Judged]) -> Reply:
        """What is known of the character, where it answers the very question; else a way of not answering."""
        known = [draft for draft in self._recalled(situation, history) if _is_direct(draft)]
        judged = [Judged(draft, DIRECT, self.judge(situation, history, draft)) for draft in known]
        chosen = next((item for item in judged if item.verdict is None), None) or self._evasion(situation, history)
        return _reply(chosen, [*stopped, *judged], None, [])

    def _recalled(self, situation: Situation, history: Sequence[Turn]) -> list[Draft]:
        """What drafters offer that do not write."""
        drafters = (drafter for drafter in self._drafters if not isinstance(drafter, StreamingAgent))
        return [draft for drafter in drafters for draft in drafter.drafts(situation, history)[0]]

    def _answer(
        self, situation: Situation, history: Sequence[Turn], sampling: Sampling, cancellation: Cancellation | None
    ) -> Reply:
        drafts, usage, notices = self._drafts(situation, history, sampling, cancellation)
        judged = self._field(situation, history, drafts)
        chosen = next((item for item in judged if self._may_be_said(item)), None)
        return _reply(chosen or self._evasion(situation, history), judged, usage if usage.calls else None, notices)

    def _field(self, situation: Situation, history: Sequence[Turn], drafts: list[Draft]) -> list[Judged]:
        """Drafts with greetings, where the message is one, scored and judged: best first."""
        is_begun = split_begun(situation.persona, history)[1] != ""
        if greetings := () if is_begun else greeting_drafts(situation, history):
            written = [draft for draft in drafts if draft.source == WRITTEN]
            best = GREETS_BESIDE_WRITER if written else GREETS
            worth = {draft.text: best - rank / 2 for rank, draft in enumerate(greetings)}
            drafts = [*(_with_relevance(draft, worth[draft.text]) for draft in greetings), *written]
        cached = self._ranker.encoder(situation.persona.language)
        voice = self._voice(situation) if any(draft.source == WRITTEN for draft in drafts) else None
        scored = score_drafts(situation, history, drafts, cached, voice, whole=self.is_capable)
        if self.is_capable:
            scored.sort(key=lambda item: item.draft.source != WRITTEN)
        judged = self._judged(situation, history, scored)
        least = ANSWERS if len(situation.persona.past) and cached is not None else ANSWERS_WITHOUT_LINES
        return [item if _is_answer(item, least) else replace(item, off_topic=True) for item in judged]

    def _may_be_said(self, item: Judged) -> bool:
        """Does it pass and answer? Beside a capable writer old lines answer nothing but the very question."""
        if item.verdict is not None or item.off_topic:
            return False
        return not self.is_capable or item.draft.source == WRITTEN or _is_direct(item.draft)

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
            names = self._views.own_names(situation)
            drafts += [
                replace(draft, text=without_label(draft.text, names)) if draft.source == WRITTEN else draft
                for draft in offered
            ]
            usage += cost
        if failures and len(failures) == len(self._drafters):
            raise failures[0]
        return drafts, usage, [Evidence("notice", str(error)) for error in failures]

    def _is_answered(
        self, situation: Situation, history: Sequence[Turn], sampling: Sampling, drafts: Sequence[Draft]
    ) -> bool:
        """Whether the very question is answered by what is known of the character: a small writer adds only time."""
        if self.is_capable or sampling.n > 1:
            return False
        return any(self.judge(situation, history, draft) is None for draft in drafts if _is_direct(draft))

    def _voice(self, situation: Situation) -> Callable[[Sequence[str]], Sequence[float]] | None:
        """How much texts sound like the character, where there is a story to compare with."""
        views = self._views(situation)
        return views[0].voices if views and len(situation.persona.past) else None

    def _judged(self, situation: Situation, history: Sequence[Turn], scored: Sequence[Scored]) -> list[Judged]:
        """Best first, until enough have passed."""
        judged, passed = list[Judged](), 0
        for item in scored:
            verdict = self._verdict(situation, history, item.draft)
            judged.append(Judged(item.draft, item.score, verdict))
            passed += verdict is None
            if passed == ENOUGH:
                break
        return judged

    def _verdict(self, situation: Situation, history: Sequence[Turn], draft: Draft) -> Verdict | None:
        """Of a capable writer's draft, what would stop it while it was said.

        What goes on in the middle of a sentence is judged with its beginning.
        """
        begun = split_begun(situation.persona, history)[1]
        if is_mid_sentence(begun):
            draft = replace(draft, text=begun + joint(begun, draft.text) + draft.text)
        if self.is_capable and draft.source == WRITTEN:
            verdicts = (self._judge_written(situation, history, text) for text in judged_texts(draft.text))
            return next((verdict for verdict in verdicts if verdict is not None), None)
        return self.judge(situation, history, draft)

    def _evasion(self, situation: Situation, history: Sequence[Turn]) -> Judged:
        """A way of not answering: an own line where it passes the guards, else the bank's, which state nothing.

        A reply that has begun needs none: there is nothing to add to it.
        """
        if split_begun(situation.persona, history)[1]:
            return Judged(Draft("", "bank"), None, None)
        for draft in evasion_drafts(situation, history):
            if draft.source == "bank" or self.judge(situation, history, draft) is None:
                return Judged(draft, None, None)
        return Judged(Draft("...", "bank"), None, None)


def _is_direct(draft: Draft) -> bool:
    """Whether it answers the very question from what is known of the character."""
    return isinstance(draft, RecalledDraft) and draft.relevance >= DIRECT


def _is_answer(item: Judged, least: float) -> bool:
    """What was written for the message answers it; what is older may answer something else."""
    return not isinstance(item.draft, RecalledDraft) or (item.score is not None and item.score >= least)


def _with_relevance(draft: Draft, relevance: float) -> RecalledDraft:
    return RecalledDraft(draft.text, draft.source, draft.moment, draft.evidence, draft.log_probs, relevance)


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
    draft, score = item.draft, None if item.score is None else round(item.score, 6)
    if item.verdict is not None and item.verdict.is_spoiler:
        return Candidate("", score, None, draft.source, item.verdict.reason)
    reason = item.verdict.reason if item.verdict is not None else OFF_TOPIC if item.off_topic else ""
    return Candidate(draft.text, score, draft.moment, draft.source, reason)
