"""The worker of the bare engine: Legato's worker settings, and activities that only answer."""

from __future__ import annotations

import asyncio
import hashlib
import signal
import sys
from datetime import timedelta
from pathlib import Path

from temporalio import activity
from temporalio.worker import Worker

from bench.bare_workflow import ACTIVITY, BareConversation, Reference, Step
from bench.cluster import PAD
from legato.client import connect
from legato.leave import leave
from workers.beat import ActivitySurround
from workers.under_way import UnderWay
from workers.worker import MOST_ACTIVITIES, MOST_RUNS_KEPT, THROTTLE, WITHOUT_END

QUEUE = "bare"


@activity.defn(name=ACTIVITY)
async def step(arg: Step) -> Reference:
    """Answer at once: step 1 with what the file holds, step 2 with a text of that size."""
    text = await asyncio.to_thread(Path(arg.file).read_text) if arg.step == 1 else PAD
    return Reference(hashlib.sha256(text.encode()).hexdigest(), len(text))


async def serve(address: str, namespace: str) -> None:
    """Serve until told to stop."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    worker = Worker(
        await connect(address, namespace),
        task_queue=QUEUE,
        workflows=[BareConversation],
        activities=[step],
        interceptors=[ActivitySurround(UnderWay())],
        max_cached_workflows=MOST_RUNS_KEPT,
        max_concurrent_activities=MOST_ACTIVITIES,
        sticky_queue_schedule_to_start_timeout=timedelta(seconds=2),
        max_heartbeat_throttle_interval=THROTTLE,
        default_heartbeat_throttle_interval=THROTTLE,
        graceful_shutdown_timeout=WITHOUT_END,
    )
    async with worker:
        await stop.wait()


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1], sys.argv[2]))
    leave(0)
