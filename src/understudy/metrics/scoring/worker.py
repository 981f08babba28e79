"""A worker process that scores parts; it makes its metrics once, from the request."""

from __future__ import annotations

import platform
import signal
from pathlib import Path
from threading import current_thread, main_thread
from typing import TYPE_CHECKING

from understudy.errors import UnderstudyError
from understudy.language.libraries import import_library
from understudy.metrics.line_metric import LineMetric
from understudy.metrics.scoring.engine import ScoringRequest
from understudy.metrics.scoring.inputs import STOP, FilePart
from understudy.metrics.scoring.output import write_part

if TYPE_CHECKING:
    import daft
else:
    daft = import_library("daft")

__all__ = ["Worker"]


class Worker:
    """Writes scores straight into the folder and returns error messages, empty where nothing went wrong."""

    def __init__(self, request: str, folder: str) -> None:
        self._request, self._folder = ScoringRequest.read(request), Path(folder)
        self._metrics: list[LineMetric] = []
        if current_thread() is main_thread():
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # who started it says when to stop

    @daft.method.batch(return_dtype=daft.DataType.string(), batch_size=1)
    def score(self, parts: daft.Series) -> list[str]:
        return [self._scored(FilePart.read(part)) for part in parts.to_pylist()]

    def _scored(self, part: FilePart) -> str:
        if (self._folder / STOP).exists():
            return ""
        try:
            self._metrics = self._metrics or self._request.build_metrics()
            write_part(part, self._metrics, self._request.why, self._folder)
        except UnderstudyError as error:
            return str(error)
        except OSError as error:
            return f"{error} (on {platform.node()}: every worker must find the story and the lines, and write scores)"
        return ""
