"""Prometheus metrics and the log. Neither contains what users or characters say."""

from __future__ import annotations

import json
import logging
import math
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from understudy.server.executor import AgentExecutor

LOG = logging.getLogger("understudy.server")
METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"
BUCKETS_S = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class Telemetry:
    """Metrics in a registry of their own, so that those of two servers in a process do not add up."""

    def __init__(self, executor: AgentExecutor | None = None) -> None:
        self._registry = CollectorRegistry()
        labels = "method", "route", "status"
        self._requests = Counter(
            "understudy_requests", "Requests by route and status.", labels, registry=self._registry
        )
        self._seconds = Histogram(
            "understudy_request_seconds", "From a request's first byte to its answer's last.", ("route",),
            buckets=BUCKETS_S, registry=self._registry,
        )  # fmt: skip
        self.streams = Gauge("understudy_streams_open", "Event streams under way.", registry=self._registry)
        if executor is not None:
            waiting = Gauge("understudy_queue_waiting", "Replies waiting for their turn.", registry=self._registry)
            waiting.set_function(lambda: executor.queue_length)
            replies = Gauge("understudy_replies", "Replies the agent has given.", registry=self._registry)
            replies.set_function(lambda: executor.replies_total)
        self._children: dict[tuple[str, str, int], tuple[Any, Any]] = {}

    def record(self, method: str, route: str, status: int, seconds: float) -> None:
        key = method, route, status
        children = self._children.get(key)
        if children is None:
            children = self._requests.labels(method, route, str(status)), self._seconds.labels(route)
            self._children[key] = children
        children[0].inc()
        children[1].observe(seconds)
        if LOG.isEnabledFor(logging.INFO):
            LOG.info("%s %s %d %.1f ms", method, route, status, 1000 * seconds)

    def exposition(self) -> bytes:
        return generate_latest(self._registry)


class PlainLines(logging.Formatter):
    """Time and message; of an exception only type and location, since its message may quote a user's text."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(message)s", "%H:%M:%S")

    def formatException(self, ei: Any) -> str:  # noqa: N802
        return _exception(ei)


class JsonLines(logging.Formatter):
    """A log line as one JSON object."""

    def format(self, record: logging.LogRecord) -> str:
        entry = {"time": self.formatTime(record), "level": record.levelname.lower(), "message": record.getMessage()}
        if record.name != LOG.name:
            entry["logger"] = record.name
        if record.exc_info and record.exc_info[0]:
            entry["exception"] = _exception(record.exc_info)
        return json.dumps(entry, ensure_ascii=False)


def _exception(exc_info: Any) -> str:
    return f"{exc_info[0].__name__} at {error_location(exc_info[1])}"


def error_location(error: BaseException) -> str:
    """The last three stack frames of where it was raised."""
    frames = traceback.extract_tb(error.__traceback__)[-3:]
    return " > ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in frames)


def set_up_log(json_lines: bool) -> None:
    """One log format on standard error for the whole process: ours, uvicorn's, asyncio's, and warnings."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines() if json_lines else PlainLines())
    logging.getLogger().handlers = [handler]
    logging.captureWarnings(True)
    LOG.setLevel(logging.INFO)


class ThrottledLog:
    """Logs at most once in `every_s` seconds, and then says how many messages it dropped."""

    def __init__(
        self, log: Callable[[str], object], every_s: float = 60.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._log, self._every_s, self._clock = log, every_s, clock
        self._next = -math.inf
        self._dropped = 0

    def __call__(self, message: str) -> None:
        now = self._clock()
        if now < self._next:
            self._dropped += 1
            return
        self._log(f"{message} ({self._dropped} times since the last such line)" if self._dropped else message)
        self._next, self._dropped = now + self._every_s, 0
