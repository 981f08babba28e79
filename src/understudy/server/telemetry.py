"""What the server counts, for Prometheus, and the one line it writes about a request: neither holds what was said."""

from __future__ import annotations

import json
import logging
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from understudy.server.speaking import Speaking

__all__ = ["LOG", "METRICS_TYPE", "JsonLines", "Telemetry"]

LOG = logging.getLogger("understudy.server")
METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"
SECONDS = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class Telemetry:
    """A registry of its own for every server, so that two in a process do not add up."""

    def __init__(self, speaking: Speaking) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "understudy_requests",
            "Requests by route and status.",
            ("method", "route", "status"),
            registry=self._registry,
        )
        self._seconds = Histogram(
            "understudy_request_seconds",
            "From a request's first byte to its answer's last.",
            ("route",),
            buckets=SECONDS,
            registry=self._registry,
        )
        self.streams = Gauge("understudy_streams_open", "Event streams under way.", registry=self._registry)
        waiting = Gauge("understudy_queue_waiting", "Replies waiting for their turn.", registry=self._registry)
        waiting.set_function(lambda: speaking.waiting)
        replies = Gauge("understudy_replies", "Replies the agent has given.", registry=self._registry)
        replies.set_function(lambda: speaking.given)
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


class JsonLines(logging.Formatter):
    """A log line as one JSON object."""

    def format(self, record: logging.LogRecord) -> str:
        told = {"time": self.formatTime(record), "level": record.levelname.lower(), "message": record.getMessage()}
        return json.dumps(told, ensure_ascii=False)
