"""Everything a request can reach: the stage, the one who speaks, and what is kept."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from starlette.requests import Request

from understudy.dialogue import Agent
from understudy.server.chats.talking import Chats
from understudy.server.database import Database
from understudy.server.datafolder import DataFolder
from understudy.server.speaking import Speaking
from understudy.server.stage import Stage
from understudy.server.telemetry import Telemetry
from understudy.server.uploads.stories import Uploads
from understudy.utterances import UtteranceStore

__all__ = ["House", "house_of"]

DATABASE = "server.sqlite"


@dataclass(frozen=True, slots=True)
class House:
    """Whoever opens it closes it: `with House.open(...) as house`."""

    stage: Stage
    speaking: Speaking
    database: Database
    telemetry: Telemetry
    chats: Chats
    folder: DataFolder
    uploads: Uploads
    """Opened and closed by the application, when it starts and stops."""
    utterances: UtteranceStore | None = None
    """Lines to be reviewed, where there are any; whoever opened it closes it."""

    @classmethod
    def open(
        cls,
        stage: Stage,
        agent: Agent,
        data: Path,
        at_once: int | None = None,
        utterances: UtteranceStore | None = None,
    ) -> House:
        """`data` is the folder of what is kept; `at_once` is how many replies are made at a time."""
        folder = DataFolder(data)
        try:
            database = Database(data / DATABASE)
        except BaseException:
            folder.close()
            raise
        speaking = Speaking(agent, at_once)
        return cls(
            stage=stage,
            speaking=speaking,
            database=database,
            telemetry=Telemetry(speaking),
            chats=Chats(database, stage, speaking),
            folder=folder,
            uploads=Uploads(database, stage, data),
            utterances=utterances,
        )

    def close(self) -> None:
        self.speaking.close()
        self.database.close()
        self.folder.close()

    def __enter__(self) -> House:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def house_of(request: Request) -> House:
    house = request.app.state.house
    assert isinstance(house, House)
    return house
