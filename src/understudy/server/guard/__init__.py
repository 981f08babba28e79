"""What stands between the network and the application: who may come in, from where, how often and with how much."""

from __future__ import annotations

from understudy.server.guard.door import Door
from understudy.server.guard.limits import Limits
from understudy.server.guard.middleware import Guard

__all__ = ["Door", "Guard", "Limits"]
