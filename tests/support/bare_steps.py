"""Single activities on a real ledger, without workflows: what one step does, quickly."""

from __future__ import annotations

import uuid
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from activities.build_definition import make_build_definition
from activities.compact_context import make_compact_context
from activities.models.select import models
from activities.take_step import make_take_step
from activities.tools.confine import Level
from activities.world import World
from domain.agents.request import AgentRequest
from domain.events import Entry
from domain.ids import run_stream
from domain.runs.run import fold
from domain.runs.steps import BuildInput, CompactInput, StepInput
from ledger.connect import close_ledger, open_ledger
from ledger.dispatch import Launch, dispatch
from ledger.encode import Author
from ledger.reads import read_stream
from legato.readings import recorded
from legato.settings import load_settings
from workers.world import build_world

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from domain.events import Fact
    from domain.ports import Model
    from domain.runs.recorded import Recorded
    from domain.runs.run import Run
    from domain.runs.steps import CompactResult, StepResult

F = TypeVar("F")
PERSON = Author("person:tester", "person:tester", "cli")


@dataclass(frozen=True)
class Retried:
    """An execution that Temporal is to begin again, after `delay` seconds where that is said."""

    code: str
    delay: float | None = None


@dataclass
class Bare:
    """A world whose activities are run one by one."""

    world: World
    folder: Path
    temporal: ActivityEnvironment = field(default_factory=ActivityEnvironment)

    async def begin(self, **asked: object) -> str:
        """Accept a run and build its agent."""
        given: dict[str, object] = {
            "role": "generic",
            "message": "go",
            "workspace": str(self.folder),
            "stores": str(self.folder / "stores"),
            **asked,
        }
        run_id = str(uuid.uuid4())
        request = AgentRequest.model_validate(given)
        await dispatch(self.world.ledger, PERSON, Launch(run_id, Entry.HAND, request, "home/bare"))
        built = await self.temporal.run(make_build_definition(self.world), BuildInput(run_id))
        assert built.code == "ok", await self.facts(run_id)
        return run_id

    async def step(self, run_id: str, step: int = 1, turn: int = 1) -> StepResult | Retried:
        """Execute one step once."""
        given = StepInput(run_id, 0, turn, step, 0)
        try:
            return await self.temporal.run(make_take_step(self.world), given)
        except ApplicationError as error:
            delay = error.next_retry_delay
            return Retried(error.type or "", None if delay is None else delay.total_seconds())

    async def compact(self, run_id: str, step: int, turn: int = 1) -> CompactResult:
        """Compact the conversation before a step."""
        given = CompactInput(run_id, turn, step, 0)
        return await self.temporal.run(make_compact_context(self.world), given)

    async def facts(self, run_id: str) -> list[Fact]:
        """Read a run's facts."""
        return [event.fact for event in await read_stream(self.world.ledger, run_stream(run_id))]

    async def recorded(self, run_id: str) -> list[Recorded]:
        """Read a run's events as views are folded from them."""
        return [recorded(one) for one in await read_stream(self.world.ledger, run_stream(run_id))]

    async def of(self, run_id: str, kind: type[F]) -> list[F]:
        """Read a run's facts of one type."""
        return [fact for fact in await self.facts(run_id) if isinstance(fact, kind)]

    async def run(self, run_id: str) -> Run:
        """Fold a run."""
        return fold(await self.facts(run_id))


@asynccontextmanager
async def bare_steps(database_url: str, folder: Path, *, idle: float = 60) -> AsyncGenerator[Bare]:
    """Open a world on a ledger; every model has a key, and `idle` seconds of silence end one."""
    ledger = await open_ledger(database_url)
    settings = load_settings({"LEGATO_HOME": str(folder / "home")})
    world = build_world(settings, ledger, Level.NONE)
    lookup = models(lambda _: "key-of-a-test", idle=idle)

    def model(name: str, _pipeline: str) -> Model:
        return lookup(name)

    def key(_name: str) -> str:
        return "key-of-a-test"

    def problem(_name: str) -> str:
        return ""

    for needed in (folder / "home", folder / "stores"):
        needed.mkdir(parents=True, exist_ok=True)
    try:
        known = replace(world, model=model, model_problem=problem, model_key=key)
        yield Bare(known, folder)
    finally:
        await close_ledger(ledger)
