"""Agents that write: what bears on the message is recalled, a prompt is made of it, and a language model answers.

    llm      any OpenAI-compatible server          prompt of style 'instructions'
    batch    any model, asked through files        prompt of style 'instructions'
    local    a GGUF model in this process          prompt of style 'instructions'
    writer   SmolLM2 with the shipped adapter      prompt of style 'compact', the one it was trained on

Drafts are not judged here (see `judging.guards`). The seed is derived from the prompt, so that the same history has the
same reply, as far as the back end honours seeds.
"""

from __future__ import annotations

import zlib
from collections.abc import Generator, Iterator, Sequence
from dataclasses import asdict, replace
from functools import cached_property
from itertools import dropwhile
from pathlib import Path

from understudy.agents.dialogue_context import introduced_name, last_heard, repeats, said_before, said_sentences
from understudy.agents.direct_answers import tells_unasked, told_evidence
from understudy.agents.plain_replies import plainly
from understudy.agents.prompt import BUDGET, Prompt, build_prompt
from understudy.agents.recall import Recall
from understudy.agents.reply_text import ReplyCleaner, StreamCleaner, is_mid_sentence, join_names, split_begun
from understudy.agents.word_tokens import plain_line, roots
from understudy.errors import AgentError, InputError
from understudy.formats.cards.lorebook import keys_named
from understudy.language.backends import Backend, Completion, ScoringBackend
from understudy.language.model_folder import shipped_folder
from understudy.progress import Cancellation
from understudy.registry import Imported
from understudy.story.dialogue import (
    DEFAULT_SAMPLING,
    USER_NAME,
    Candidate,
    ChatMessage,
    Draft,
    Evidence,
    Reply,
    Sampling,
    Situation,
    Streamed,
    Turn,
    Usage,
)
from understudy.story.wording import fill_macros
from understudy.text import sentences

__all__ = ["WriterAgent", "batch_agent", "llm_agent", "local_agent", "writer_agent"]

SAMPLING = {
    "compact": Sampling(temperature=0.6, top_p=0.95, max_tokens=40),
    "instructions": Sampling(temperature=0.8, top_p=0.95, max_tokens=300),
}
LEAST_PROMPT = 256  # tokens, whatever the context
BASE_MODEL = "smollm2"
ADAPTER = "writer.gguf"
LEAVE_OUT = "(Leave the following out of the answer, whatever it was to lead to:\n{said}\n)"
GO_ON = "(The answer has begun already. Write what comes after its beginning, without saying that again.)"
CANNOT = "the model wrote nothing that could be said"


class WriterAgent:
    """Answers with what a language model writes; also gives drafts of an answer, and the answer piece by piece."""

    def __init__(
        self,
        backend: Backend,
        recall: Recall | None = None,
        style: str = "instructions",
        budget: int | None = None,
        sampling: Sampling = DEFAULT_SAMPLING,
        has_title: bool = False,
    ) -> None:
        """`budget` is the length of a prompt in tokens; `sampling` holds where a request leaves a value open.

        The model is told the story's title only where `has_title` says so: it invites reciting.
        """
        self.backend = backend
        self.style = style
        self._given_recall = recall
        self._budget = BUDGET[style] if budget is None else budget
        self._sampling = _filled(sampling, SAMPLING[style])
        self._has_title = has_title

    @property
    def waits(self) -> bool:
        """Whether a reply is mostly waiting for a server."""
        return self.backend.name.startswith("llm:")

    @cached_property
    def _recall(self) -> Recall:
        return self._given_recall or Recall()

    def prompt(self, situation: Situation, history: Sequence[Turn], sampling: Sampling = DEFAULT_SAMPLING) -> Prompt:
        """The prompt for a reply to the last turn of the history, or to go on with it where it is the character's."""
        before, begun = split_begun(situation.persona, history)
        prompt = self._prompt(situation, before, sampling)
        return _resumed(prompt, begun, ()) if begun else prompt

    def _prompt(self, situation: Situation, history: Sequence[Turn], sampling: Sampling) -> Prompt:
        room = self.backend.context_tokens - (_filled(sampling, self._sampling).max_tokens or 0)
        budget = min(self._budget, max(room, LEAST_PROMPT))
        recalled = self._recall.recall(situation, history)
        count = self.backend.count_tokens
        return build_prompt(situation, history, recalled, budget, count, self.style, has_title=self._has_title)

    def reply(
        self,
        situation: Situation,
        history: Sequence[Turn],
        sampling: Sampling = DEFAULT_SAMPLING,
        cancellation: Cancellation | None = None,
    ) -> Reply:
        prompt = self.prompt(situation, history, sampling)
        settings = self._settings(situation, prompt, replace(sampling, n=1))
        cleaner = _cleaner(situation, history)
        completion = self._complete(prompt, settings, cancellation)[0]
        text, usage = cleaner.clean(completion.text, completion.finish_reason), completion.usage
        begun = split_begun(situation.persona, history)[1]
        if not (text or begun) and completion.finish_reason != "cancelled":
            text, more = self._again(prompt, settings, cleaner, cancellation)
            usage += more
        reply = self._reply(situation, history, prompt, text, usage, blank_is_meant=begun != "")
        return replace(reply, log_probs=_log_probs(completion, reply.text))

    def stream(
        self,
        situation: Situation,
        history: Sequence[Turn],
        sampling: Sampling = DEFAULT_SAMPLING,
        cancellation: Cancellation | None = None,
    ) -> Generator[str, None, Reply]:
        prompt, begun = self.prompt(situation, history, sampling), split_begun(situation.persona, history)[1]
        return (yield from self._stream(situation, history, prompt, sampling, cancellation, begun))

    def resume(
        self,
        situation: Situation,
        history: Sequence[Turn],
        begun: str,
        avoid: Sequence[str],
        sampling: Sampling = DEFAULT_SAMPLING,
        cancellation: Cancellation | None = None,
    ) -> Generator[str, None, Reply]:
        """What comes after `begun`, which has been said; all of a reply where it is blank.

        `avoid` are sentences that the model has written and that are not to be said. It hears nothing of the reason.
        """
        prompt = _resumed(self._prompt(situation, history, sampling), begun, avoid)
        return (yield from self._stream(situation, history, prompt, sampling, cancellation, begun))

    def _stream(
        self,
        situation: Situation,
        history: Sequence[Turn],
        prompt: Prompt,
        sampling: Sampling,
        cancellation: Cancellation | None,
        begun: str = "",
    ) -> Generator[str, None, Reply]:
        settings = self._settings(situation, prompt, replace(sampling, n=1))
        cleaner = _cleaner(situation, history)
        shown = StreamCleaner(cleaner, settings.max_tokens)
        pieces = self.backend.stream(prompt.messages, settings, cancellation)
        completion = yield from _feeding(pieces, shown)
        if tail := shown.finish(completion.finish_reason):
            yield tail
        if shown.text or begun or completion.finish_reason == "cancelled":
            reply = self._reply(situation, history, prompt, shown.text, completion.usage, shown.text == "")
            return replace(reply, log_probs=_log_probs(completion, shown.text))
        text, more = self._again(prompt, settings, cleaner, cancellation)
        reply = self._reply(situation, history, prompt, text, completion.usage + more)
        yield reply.text
        return reply

    def drafts(
        self,
        situation: Situation,
        history: Sequence[Turn],
        sampling: Sampling = DEFAULT_SAMPLING,
        cancellation: Cancellation | None = None,
    ) -> tuple[list[Draft], Usage]:
        """`sampling.n` drafts of one prompt, those that are blank or said twice left out.

        A small model often ends where a whole sentence has been said: it is then asked as if nothing had been, and what
        says that sentence again is taken for want of anything else.
        """
        prompt = self.prompt(situation, history, sampling)
        completions = self._complete(prompt, self._settings(situation, prompt, sampling), cancellation)
        before, begun = split_begun(situation.persona, history)
        is_whole = begun != "" and not is_mid_sentence(begun)
        if is_whole and not any(each.text.strip() for each in completions):
            prompt = self._prompt(situation, before, sampling)
            completions += self._complete(prompt, self._settings(situation, prompt, sampling), cancellation)
        cleaner, evidence = (
            _cleaner(situation, history),
            tuple(_evidence(situation, history, prompt, self.backend.name)),
        )
        message, said = last_heard(situation.persona, history), said_sentences(situation.persona, history)
        drafts, again, usage = dict[str, Draft](), dict[str, Draft](), Usage()
        for completion in completions:
            usage += completion.usage
            text = cleaner.clean(completion.text, completion.finish_reason)
            if self.style == "compact":  # it has learnt stage directions from scripts, and means nothing by them
                text = plain_line(text)
                if tells_unasked(situation.persona, message, text) or repeats(text, said):
                    continue
            more = _without_repetition(text, begun) if is_whole else text
            if text:
                draft = Draft(more or text, "writer", evidence=evidence, log_probs=_log_probs(completion, more or text))
                (drafts if more else again).setdefault(draft.text, draft)
        return list((drafts or again).values()), usage

    def _complete(self, prompt: Prompt, settings: Sampling, cancellation: Cancellation | None) -> list[Completion]:
        return self.backend.complete(prompt.messages, settings, cancellation) or [Completion("")]

    def _again(
        self, prompt: Prompt, settings: Sampling, cleaner: ReplyCleaner, cancellation: Cancellation | None
    ) -> tuple[str, Usage]:
        """A second try with another seed, where the first gave nothing to say."""
        another = replace(settings, seed=(settings.seed or 0) ^ 1)
        completion = self._complete(prompt, another, cancellation)[0]
        return cleaner.clean(completion.text, completion.finish_reason), completion.usage

    def _settings(self, situation: Situation, prompt: Prompt, sampling: Sampling) -> Sampling:
        settings = _filled(sampling, self._sampling)
        if settings.seed is None:
            prompt_text = "\0".join(message.content for message in prompt.messages)
            settings = replace(settings, seed=zlib.crc32(prompt_text.encode("utf-8", "surrogatepass")) >> 1)
        if situation.faced is not None:
            settings = replace(settings, stop=tuple(dict.fromkeys((*settings.stop, f"\n{situation.faced.name}:")))[:4])
        return settings

    def _reply(
        self,
        situation: Situation,
        history: Sequence[Turn],
        prompt: Prompt,
        text: str,
        usage: Usage,
        blank_is_meant: bool = False,
    ) -> Reply:
        if not text and not blank_is_meant:
            plain = plainly(situation, said_before(situation.persona, history))
            return replace(plain, evidence=(Evidence("notice", f"{CANNOT}: {self.backend.name}"),), usage=usage)
        evidence = tuple(_evidence(situation, history, prompt, self.backend.name))
        return Reply(text, (Candidate(text, None, source="writer"),), evidence, usage)


class ScoringWriterAgent(WriterAgent):
    """One whose back end tells how probable a given reply is: a `LanguageModel` too.

    The text is taken as the model would have written it, after the same prompt.
    """

    def log_probs(self, situation: Situation, history: Sequence[Turn], text: str) -> list[float]:
        assert isinstance(self.backend, ScoringBackend)
        return self.backend.reply_log_probs(self.prompt(situation, history).messages, text)


def _resumed(prompt: Prompt, begun: str, avoid: Sequence[str]) -> Prompt:
    """The prompt with what has been said as the beginning of the answer, which many servers continue as it stands.

    Others begin a new message; so it is also said in words.
    """
    *before, last = prompt.messages
    directions = [LEAVE_OUT.format(said="\n".join(f"- {text}" for text in avoid))] if avoid else []
    directions += [GO_ON] if begun else []
    asked = replace(last, content="\n".join((last.content, *directions)))
    return replace(prompt, messages=(*before, asked, *([ChatMessage("assistant", begun.rstrip())] if begun else ())))


def _without_repetition(text: str, begun: str) -> str:
    """A text without the sentences at its beginning that have most of their words from what was said."""
    said = roots(begun)
    return " ".join(dropwhile(lambda part: 2 * len(roots(part) & said) > len(roots(part)), sentences(text)))


def _feeding(pieces: Generator[str, None, Completion], shown: StreamCleaner) -> Generator[str, None, Completion]:
    """The cleaned pieces; closing the generator stops the back end."""
    written = Streamed(pieces)
    for piece in written:
        if ready := shown.feed(piece):
            yield ready
    return written.value


def _log_probs(completion: Completion, text: str) -> tuple[float, ...] | None:
    """Log-probabilities of the tokens; None if the text was changed by cleaning."""
    return completion.log_probs if text == completion.text.strip() else None


def _filled(sampling: Sampling, default: Sampling) -> Sampling:
    """The sampling with the default's values where it has none."""
    return replace(default, **{name: value for name, value in asdict(sampling).items() if value not in (None, ())})


def _cleaner(situation: Situation, history: Sequence[Turn]) -> ReplyCleaner:
    persona, faced = situation.persona, situation.faced
    own = join_names((persona.name,), persona.attributes.get("goes by", ()), persona.attributes.get("nickname", ()))
    heard = [turn.text for turn in history if turn.speaker not in own]
    partner = introduced_name(heard, persona.language) if faced is None else faced.name
    speakers = [turn.speaker for turn in history if turn.speaker not in own and turn.speaker != USER_NAME]
    return ReplyCleaner(own, tuple(name for name in join_names((partner,), speakers) if name not in own))


def _evidence(situation: Situation, history: Sequence[Turn], prompt: Prompt, backend: str) -> Iterator[Evidence]:
    """What of the past, the profile and the lorebooks was in the prompt for this message, and the model that wrote."""
    recalled, ties = prompt.recalled, frozenset(situation.persona.feelings())
    for fact in recalled.facts:
        yield Evidence("relation" if fact in ties else "profile", fact)
    for exchange in recalled.own:
        text = f"{exchange.speaker}: {exchange.heard}" if exchange.speaker else exchange.heard or exchange.said
        yield Evidence("exchange", text, exchange.moment)
    for told in recalled.told:
        yield told_evidence(told)
    for line in recalled.others:
        yield Evidence("memory", f"{line.speaker}: {line.text}", line.moment)
    yield from _lore_evidence(situation, history, prompt)
    yield Evidence("notice", f"written by {backend} from a prompt of {prompt.tokens:,} tokens")


def _lore_evidence(situation: Situation, history: Sequence[Turn], prompt: Prompt) -> Iterator[Evidence]:
    """The entries of lorebooks that were in the prompt, each with the keys that brought it up."""
    persona, user = situation.persona, situation.faced.name if situation.faced else ""
    entries = {fill_macros(entry.content, persona.name, user, persona.language): entry for entry in persona.lore}
    for text in prompt.lore:
        entry = entries.get(text)
        yield Evidence("lore", text, words=keys_named(entry, history, persona.name, user) if entry else ())


def llm_agent(model: str | None = None, backend: Backend | None = None, recall: Recall | None = None) -> WriterAgent:
    """Writes with a model of the OpenAI-compatible server that is set up; by default with the model set up for it."""
    return WriterAgent(backend or Imported("understudy.language.backends", "open_llm")(model), recall)


def batch_agent(folder: str | None = None, backend: Backend | None = None, recall: Recall | None = None) -> WriterAgent:
    """Writes with the default model, asked through files of requests and answers in a folder."""
    if backend is None and folder is None:
        raise AgentError("say where its files are to lie: batch:FOLDER")
    return WriterAgent(backend or Imported("understudy.language.backends", "open_batch")(folder), recall)


def local_agent(model: str | None = None, backend: Backend | None = None, recall: Recall | None = None) -> WriterAgent:
    """Writes with a GGUF model in this process: a path, a name of `understudy models`, or hub:OWNER/REPO/FILE."""
    opened: Backend = backend or Imported("understudy.language.backends", "open_local")(model or BASE_MODEL)
    writer = ScoringWriterAgent if isinstance(opened, ScoringBackend) else WriterAgent
    return writer(opened, recall)


def writer_agent(
    model: Path | None = None, backend: Backend | None = None, recall: Recall | None = None
) -> WriterAgent:
    """Writes with SmolLM2 and an adapter trained for this: that of a model folder, by default the shipped one."""
    folder = model or shipped_folder("writer")
    if not (folder / ADAPTER).is_file():
        raise InputError(f"has no {ADAPTER}: train the model again, or fetch it again", folder)
    opened: Backend = backend or Imported("understudy.language.backends", "open_local")(
        BASE_MODEL, adapter=folder / ADAPTER
    )
    writer = ScoringWriterAgent if isinstance(opened, ScoringBackend) else WriterAgent
    return writer(opened, recall, style="compact")
