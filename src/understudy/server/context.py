"""Everything a request can reach: the stage, the one who speaks, and what is kept."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from starlette.requests import Request

from understudy.dialogue import Agent
from understudy.server.chats.talking import Chats
from understudy.server.data_folder import DataFolder
from understudy.server.database import Database
from understudy.server.executor import AgentExecutor
from understudy.server.story_registry import StoryRegistry
from understudy.server.telemetry import Telemetry
from understudy.server.uploads.service import UploadService
from understudy.utterances import UtteranceStore

__all__ = ["AppContext", "context_of"]

DATABASE = "server.sqlite"


@dataclass(frozen=True, slots=True)
class AppContext:
    """Whoever opens it closes it: `with AppContext.open(...) as context`."""

    stories: StoryRegistry
    executor: AgentExecutor
    database: Database
    telemetry: Telemetry
    chats: Chats
    folder: DataFolder
    uploads: UploadService
    """Opened and closed by the application, when it starts and stops."""
    utterances: UtteranceStore | None = None
    """Lines to be reviewed, where there are any; whoever opened it closes it."""

    @classmethod
    def open(
        cls,
        stories: StoryRegistry,
        agent: Agent,
        data: Path,
        at_once: int | None = None,
        utterances: UtteranceStore | None = None,
    ) -> AppContext:
        """`data` is the folder of what is kept; `at_once` is how many replies are made at a time."""
        folder = DataFolder(data)
        try:
            database = Database(data / DATABASE)
        except BaseException:
            folder.close()
            raise
        executor = AgentExecutor(agent, at_once)
        return cls(
            stories=stories,
            executor=executor,
            database=database,
            telemetry=Telemetry(executor),
            chats=Chats(database, stories, executor),
            folder=folder,
            uploads=UploadService(database, stories, data),
            utterances=utterances,
        )

    def close(self) -> None:
        self.executor.close()
        self.database.close()
        self.folder.close()

    def __enter__(self) -> AppContext:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def context_of(request: Request) -> AppContext:
    context = request.app.state.context
    assert isinstance(context, AppContext)
    return context
