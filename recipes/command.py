"""The command line of a recipe: options as `understudy train` has them, errors in a sentence, figures as JSON."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from understudy.cli.options import FOLDER
from understudy.cli.show import print_json
from understudy.cli.train import settings_among, training_bar, training_options
from understudy.errors import UnderstudyError
from understudy.language.model_folder import ModelFolder
from understudy.training.loop import no_progress
from understudy.training.run import TrainingTask

__all__ = ["adapted_option", "novels_option", "recipe"]

novels_option = click.option("--novels", type=FOLDER, metavar="DIR", required=True, help="The folder of PDNC's novels.")
adapted_option = click.option(
    "--base", type=click.Path(path_type=Path, exists=True), metavar="MODEL",
    help="The model to adapt, a .gguf file or a folder (default: the installed SmolLM2).",
)  # fmt: skip


class Recipe(click.Command):
    """A command that says our errors in a sentence."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except UnderstudyError as error:
            raise click.ClickException(str(error)) from error


def recipe(name: str, train: Callable[..., ModelFolder], settings: type[Any], *options: str) -> click.Command:
    """The command that trains a model on a folder, with novels on two; `options` are those of `understudy train`."""

    @click.command(name, cls=Recipe)
    @training_options("data", *options)
    def command(data: Path, out: Path, as_json: bool, novels: Path | None = None, **others: Any) -> None:
        chosen = settings_among(others, settings)
        source = data if novels is None else (data, novels)
        with training_bar(name) as progress:
            model = train(TrainingTask(source, out, chosen, **others), progress or no_progress)
        print_json({"model": str(out), **model.card} if as_json else model.card["figures"])

    return command
