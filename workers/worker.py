"""A worker process: workflows and activities on its queues, relay and reconciler beside them."""

from __future__ import annotations

import asyncio
import secrets
import signal
from contextlib import AsyncExitStack, suppress
from datetime import timedelta
from importlib.metadata import version
from typing import TYPE_CHECKING

import structlog
from temporalio.worker import Worker
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions

from activities.accept_signal import make_accept_signal
from activities.build_definition import make_build_definition
from activities.check_output import make_check_output
from activities.close_run import make_close_run
from activities.compact_context import make_compact_context
from activities.look import make_look
from activities.models.prices import reserve
from activities.run_tool import make_run_tool
from activities.take_step import make_take_step
from ledger.connect import UNREACHABLE
from ledger.live import drop_old_pieces
from legato.client import HandOver, home_queue
from legato.drained import LOOK, drained_since, working
from workers.anchor import anchor
from workers.beat import ActivitySurround
from workers.project import project
from workers.reconciler import reconcile
from workers.relay import relay
from workers.sequence import sequence
from workers.under_way import UnderWay
from workflows.agent_run import AgentRun

if TYPE_CHECKING:
    from collections.abc import Callable

    from temporalio.client import Client

    from activities.world import World
    from legato.settings import Settings
    from workers.observe import Observed

log = structlog.get_logger()

AGENT_QUEUE = "agent"
"""The queue for runs without a workspace: any worker takes them."""

PRICED = "openai:gpt-4o"
"""Any name with a price: looking it up loads the price list, off the event loop."""

BUILD = f"legato-{version('legato')}"
"""Given, since the SDK would else compile and hash every loaded module at the start."""

MOST_RUNS_KEPT = 200
MOST_ACTIVITIES = 50
GRACE = 5.0
"""Seconds for what is under way when the process is told to end."""

WITHOUT_END = timedelta(days=30)
"""So long the SDK lets executions go on in a shutdown: who ends them is `UnderWay`."""

THROTTLE = timedelta(seconds=1)


def activities_of(world: World) -> list[Callable[..., object]]:
    """Bind every activity to the world: the one list of them."""
    return [
        make_build_definition(world),
        make_take_step(world),
        make_compact_context(world),
        make_run_tool(world),
        make_check_output(world),
        make_look(world),
        make_accept_signal(world),
        make_close_run(world),
    ]


def build_worker(
    client: Client, world: World, queue: str, observed: Observed, under_way: UnderWay
) -> Worker:
    """Build the worker of one queue; in its shutdown what is under way goes on to its end.

    Each is named anew, so that one that has ended is never taken for one that serves.
    """
    runner = SandboxedWorkflowRunner(
        restrictions=SandboxRestrictions.default.with_passthrough_modules("domain")
    )
    return Worker(
        client,
        task_queue=queue,
        workflows=[AgentRun],
        activities=activities_of(world),
        build_id=BUILD,
        identity=f"{client.identity}.{secrets.token_hex(2)}",
        workflow_runner=runner,
        interceptors=[observed, ActivitySurround(under_way)],
        max_cached_workflows=MOST_RUNS_KEPT,
        max_concurrent_activities=MOST_ACTIVITIES,
        sticky_queue_schedule_to_start_timeout=timedelta(seconds=2),
        max_heartbeat_throttle_interval=THROTTLE,
        default_heartbeat_throttle_interval=THROTTLE,
        graceful_shutdown_timeout=WITHOUT_END,
    )


async def serve(settings: Settings, client: Client, world: World, observed: Observed) -> None:
    """Serve until SIGTERM or SIGINT; what runs is given time, then left to the next worker."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    to = HandOver(client, world.ledger, settings.most_events)
    grace = timedelta(seconds=settings.grace)
    watching = asyncio.gather(
        relay(to, stop, world.kill),
        sequence(world.ledger, stop),
        project(world.ledger, stop),
        reconcile(to, grace, stop),
        *([anchor(world.ledger, settings.anchors, stop)] if settings.anchors else ()),
    )
    warming = asyncio.create_task(asyncio.to_thread(reserve, PRICED, 1, 1))
    clearing = asyncio.create_task(_drop_old_pieces(world))
    while not stop.is_set():
        if not drained_since(settings.home):
            await _work(settings, client, world, observed, stop)
        await pause(stop)
    await watching
    await warming
    await clearing
    log.info("worker_stopped")


async def _work(
    settings: Settings, client: Client, world: World, observed: Observed, stop: asyncio.Event
) -> None:
    """Take work until told to end or the home is drained, and see what is under way to its end."""
    queues, under_way = (home_queue(settings), AGENT_QUEUE), UnderWay()
    with working(settings.home):
        if drained_since(settings.home):  # asked anew: whoever drains sees us from here on
            return
        workers = [build_worker(client, world, queue, observed, under_way) for queue in queues]
        async with AsyncExitStack() as stack:
            for worker in workers:
                await stack.enter_async_context(worker)
            log.info("worker_ready", queues=list(queues), tools=len(world.tools))
            while not stop.is_set() and not drained_since(settings.home):
                await pause(stop)
            log.info("worker_takes_nothing_new", under_way=len(under_way.tasks))
            ending = asyncio.create_task(_end_when_told(under_way, stop))
            await asyncio.gather(*(worker.shutdown() for worker in workers))
            ending.cancel()
    log.info("worker_rests")


async def _drop_old_pieces(world: World) -> None:
    with suppress(*UNREACHABLE):
        await drop_old_pieces(world.ledger)


async def _end_when_told(under_way: UnderWay, stop: asyncio.Event) -> None:
    await stop.wait()
    await under_way.end_after(GRACE)


async def pause(stop: asyncio.Event) -> None:
    """Wait for the next look, or until told to end."""
    with suppress(TimeoutError):
        await asyncio.wait_for(stop.wait(), LOOK)
