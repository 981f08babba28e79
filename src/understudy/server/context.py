"""Everything a request can reach: stories, the agent's executor, the database and the services on top of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from starlette.requests import Request

from understudy.metrics.utterances import UtteranceStore
from understudy.people.memory import MEMORY_FILE, PeopleMemory
from understudy.server.chats.scene import ChatMemory
from understudy.server.chats.service import ChatService
from understudy.server.database import DataFolder, ServerDatabase
from understudy.server.executor import AgentExecutor
from understudy.server.story_registry import StoryRegistry
from understudy.server.telemetry import Telemetry
from understudy.server.uploads.service import UploadService
from understudy.story.dialogue import Agent

DATABASE = "server.sqlite"

Listed = Literal["main", "end", "all"]
"""Who is listed as a model: main characters at their start, end and turning points, those at their end alone, everybody
at all of these."""


@dataclass(frozen=True, slots=True)
class AppContext:
    """Closed by its opener: `with AppContext.open(...) as context`."""

    stories: StoryRegistry
    executor: AgentExecutor
    database: ServerDatabase
    telemetry: Telemetry
    chats: ChatService
    memory: ChatMemory
    folder: DataFolder
    uploads: UploadService
    """Opened and closed by the application, when it starts and stops."""
    utterances: UtteranceStore | None = None
    """The lines to be reviewed, where the server has any; closed by its opener."""
    story_paths: Mapping[str, Path] = field(default_factory=dict)
    """The files and folders of the author's that stories were read from; what is decided of a story lies beside it."""
    listed: Listed = "main"

    @classmethod
    def open(
        cls,
        stories: StoryRegistry,
        agents: Agent | Mapping[str, Agent],
        data: Path | DataFolder,
        concurrency: int | None = None,
        utterances: UtteranceStore | None = None,
        story_paths: Mapping[str, Path] | None = None,
        database_address: str | None = None,
        looks_for_people: bool = True,
        listed: Listed = "main",
    ) -> AppContext:
        """`agents` is one agent, or several by name with the default first; `concurrency` fixes the number of replies
        made at a time.

        `data` is the folder of everything stored, or one that was opened already and is shared with other processes.
        With a `database_address` of a PostgreSQL, chats and the records of uploads are stored there. It
        `looks_for_people` in the texts of uploads, behind them.
        """
        folder = data if isinstance(data, DataFolder) else DataFolder(data)
        try:
            database = ServerDatabase(database_address or folder.path / DATABASE)
        except BaseException:
            folder.close()
            raise
        executor = AgentExecutor(agents, concurrency)
        memory = ChatMemory(database, stories, PeopleMemory(folder.path / MEMORY_FILE))
        return cls(
            stories=stories,
            executor=executor,
            database=database,
            telemetry=Telemetry(executor),
            chats=ChatService(database, stories, executor, memory),
            memory=memory,
            folder=folder,
            uploads=UploadService(
                database, stories, folder.path, owns_folder=folder is not data, looks_for_people=looks_for_people
            ),
            utterances=utterances,
            story_paths=story_paths or {},
            listed=listed,
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
