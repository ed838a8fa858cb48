"""Builds a run's agent by the one boundary and stores it by digest."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, cast

from temporalio import activity

from activities.context import causation, temporal_run
from activities.mcp.sources import with_servers_read
from activities.record import Record, accepted_of, attach, author_of, refresh
from activities.sources import Place, read_sources
from domain.agents.build import Built, build_definition
from domain.agents.definition import fingerprint
from domain.codec import canonical
from domain.errors import LegatoError
from domain.events import Fact, RunDefined, RunRefused
from domain.ids import run_stream
from domain.runs.shapes import brief
from domain.runs.steps import BuildInput, BuildResult, ItemShape, Written
from ledger.append import Part, TakenError, append
from ledger.blobs import put_blob
from ledger.connect import reaching

if TYPE_CHECKING:
    from activities.world import World
    from domain.runs.sequence import Item

BuildDefinition = Callable[[BuildInput], Awaitable[BuildResult]]


def make_build_definition(world: World) -> BuildDefinition:
    """Bind the activity to its world."""

    @activity.defn(name="build_definition")
    async def run(arg: BuildInput) -> BuildResult:
        record = await attach(world.ledger, world.records, arg.run_id, temporal_run())
        first = record.run.version
        if record.run.defined is None and record.run.refused is None:
            world.kill("before:run.defined")
            await _define(world, record, arg.run_id)
            world.kill("after:run.defined")
            record = await refresh(world.ledger, world.records, arg.run_id)
        return _result(record, first)

    return run


async def _define(world: World, record: Record, run_id: str) -> None:
    """Read the sources once, build, and record the definition or everything wrong with it."""
    accepted = accepted_of(record)
    place = Place(world.registry, world.model_problem, world.confinement)
    sources = await read_sources(place, accepted.request)
    sources = await with_servers_read(world.ledger, world.servers, accepted.request, sources)
    refs: tuple[bytes, ...] = ()
    try:
        built = build_definition(accepted.request, sources)
    except LegatoError as exc:
        listed = cast("list[str]", exc.details.get("problems", [exc.message]))
        fact: Fact = RunRefused(code=exc.code, problems=tuple(listed))
    else:
        with reaching():
            bundle = await put_blob(
                world.ledger, canonical(built.definition.model_dump(mode="json"))
            )
        fact, refs = _defined(built, bundle, world.confinement), (bundle,)
    try:
        part = Part(run_stream(run_id), (fact,), refs=refs)
        await append(world.ledger, author_of(record, causation()), part)
    except TakenError:
        return


def _defined(built: Built, bundle: bytes, confinement: str) -> RunDefined:
    return RunDefined(
        fingerprint=fingerprint(built.definition),
        bundle=bundle.hex(),
        runtime=built.runtime,
        items=built.items,
        confinement=confinement,
        notes=built.notes,
        step=built.step,
    )


def _shape(item: Item) -> ItemShape:
    return ItemShape(
        name=item.name,
        has_turn=bool(item.text),
        has_checks=bool(item.checks),
        repairs=item.repairs,
    )


def _result(record: Record, first: int) -> BuildResult:
    written = Written(first, record.run.version, record.head)
    if record.run.defined is None:
        code = record.run.refused.code if record.run.refused is not None else "run_refused"
        return BuildResult(code=code, written=written)
    shapes = [_shape(item) for item in record.run.defined.items]
    return BuildResult(code="ok", items=brief(shapes), written=written)
