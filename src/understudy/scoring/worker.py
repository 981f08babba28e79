"""One of the processes that score parts. It is told in plain words what to do, and makes the metrics once."""

from __future__ import annotations

import platform
import signal
from pathlib import Path
from threading import current_thread, main_thread
from typing import TYPE_CHECKING

from understudy.errors import UnderstudyError
from understudy.libraries import import_library
from understudy.metrics.measure import LineMetric
from understudy.scoring.asked import Asked
from understudy.scoring.parts import STOP, Part
from understudy.scoring.tables import write_part

if TYPE_CHECKING:
    import daft
else:
    daft = import_library("daft")

__all__ = ["Worker"]


class Worker:
    """Scores go straight into the folder; what comes back is only what went wrong, empty where nothing did."""

    def __init__(self, asked: str, folder: str) -> None:
        self._asked, self._folder = Asked.read(asked), Path(folder)
        self._metrics: list[LineMetric] = []
        if current_thread() is main_thread():
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # who started it says when to stop

    @daft.method.batch(return_dtype=daft.DataType.string(), batch_size=1)
    def score(self, parts: daft.Series) -> list[str]:
        return [self._scored(Part.read(part)) for part in parts.to_pylist()]

    def _scored(self, part: Part) -> str:
        if (self._folder / STOP).exists():
            return ""
        try:
            self._metrics = self._metrics or self._asked.made()
            write_part(part, self._metrics, self._asked.why, self._folder)
        except UnderstudyError as error:
            return str(error)
        except OSError as error:
            return f"{error} (on {platform.node()}: every worker must find the story and the lines, and write scores)"
        return ""
