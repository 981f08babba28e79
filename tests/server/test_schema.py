"""Every operation keeps to what the schema says of it, whatever is sent: thousands of requests made from the schema."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance

from understudy.agents import Scripted
from understudy.metrics.utterances import open_store
from understudy.metrics.utterances.record import APPROVED, Utterance
from understudy.server.access import AccessPolicy
from understudy.server.app import OPERATIONS, make_app
from understudy.server.application import PARAMETER
from understudy.server.context import AppContext
from understudy.server.middleware import RequestLimits
from understudy.server.operations import Operation
from understudy.server.story_registry import StoryRegistry
from understudy.story.dialogue import Score
from understudy.story.storyfile import Story

ANY_NUMBER = RequestLimits(per_second=1e9, burst=10**9)
CALLED = AccessPolicy(host_names=frozenset({"testserver"}))


@pytest.fixture(scope="module")
def everything(stories: dict[str, Story], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The schema of an application of its own, with every operation in it."""
    agent = Scripted(f"Line {number}." for number in range(1, 101))
    folder = tmp_path_factory.mktemp("schema")
    lines = open_store(folder / "lines.db")
    lines.add([Utterance("Ahoy.", "Ines Vale", scores={"psprob": Score("psprob", 0.4)})], APPROVED, "filter")
    with (
        closing(lines),
        AppContext.open(StoryRegistry(stories), agent, folder, utterances=lines, looks_for_people=False) as context,
    ):
        context.chats.pace_s = 0
        yield schemathesis.openapi.from_asgi("/openapi.json", make_app(context, CALLED, ANY_NUMBER))


REAL = {
    "story": "brass-key",
    "name": "Ines Vale",
    "character": "Ines Vale",
    "characters": ["Ines Vale"],
    "model": "brass-key/Ines@2.1",
    "at": "2.1",
    "since": "1.1",
    "facing": "Tobias",
    "to": "Tobias",
    "number": "1",
    "metric": "psprob",
}
"""Names that mean something here: what is made up hardly ever does."""
# A file of made-up bytes is as the schema says, and no story; a title that is too long is cut, not refused.
NOT_OF_FORMS = [positive_data_acceptance, negative_data_rejection]


def _made_real(case: Any) -> bool:
    """The same request, of somebody who is there."""
    parts = [part for part in (case.path_parameters, case.query, case.body) if isinstance(part, dict)]
    for part in parts:
        part.update({name: value for name, value in REAL.items() if name in part})
    return any(name in part for part in parts for name in REAL)


@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: str(mode.value))
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: f"{operation.method} {operation.path}")
def test_every_operation_keeps_to_the_schema(everything: Any, operation: Operation, mode: GenerationMode) -> None:
    schema = everything[PARAMETER.sub(r"{\1}", operation.path)][operation.method]

    @settings(max_examples=settings().max_examples // 8, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(schema.as_strategy(generation_mode=mode))
    def keeps_to_it(case: Any) -> None:
        case.call_and_validate(excluded_checks=NOT_OF_FORMS if operation.form else [])
        if mode is GenerationMode.POSITIVE and _made_real(case):
            case.call_and_validate(excluded_checks=NOT_OF_FORMS if operation.form else [])

    try:
        keeps_to_it()
    except Unsatisfiable:
        assert mode is GenerationMode.NEGATIVE  # there is no wrong way to ask for it
