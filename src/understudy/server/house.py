"""Everything a request can reach: the stage, the one who speaks, and what is kept."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.requests import Request

from understudy.server.database import Database
from understudy.server.speaking import Speaking
from understudy.server.stage import Stage

__all__ = ["House", "house_of"]


@dataclass(frozen=True, slots=True)
class House:
    stage: Stage
    speaking: Speaking
    database: Database


def house_of(request: Request) -> House:
    house = request.app.state.house
    assert isinstance(house, House)
    return house
