"""The work in plain Temporal: what a turn costs before anything is recorded."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
import uuid
from contextlib import contextmanager
from typing import TYPE_CHECKING

from bench.bare_worker import QUEUE
from bench.bare_workflow import BareConversation, Work
from bench.cluster import PAD, Cluster, history_of
from bench.measured import Measured
from legato.embedded.parts import CODE_ROOT

if TYPE_CHECKING:
    from collections.abc import Generator

ENGINE = "bare"


@contextmanager
def worker(cluster: Cluster) -> Generator[None]:
    """Keep the engine's worker, a process of its own as Legato's is."""
    stack = cluster.stack
    command = (sys.executable, "-m", "bench.bare_worker")
    with (cluster.folder / "bare-worker.log").open("wb") as log:
        process = subprocess.Popen(
            [*command, stack.temporal_address, stack.temporal_namespace],
            cwd=CODE_ROOT,
            stdout=log,
            stderr=log,
        )
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


async def measure(cluster: Cluster, turns: int, runs: int) -> Measured:
    """Time so many conversations at once."""
    file = cluster.workspace / "bare.txt"
    file.write_text(PAD)
    work = Work(turns, str(file))

    began = time.monotonic()
    handles = await asyncio.gather(
        *(
            cluster.client.start_workflow(
                BareConversation.run, work, id=f"bare/{uuid.uuid4()}", task_queue=QUEUE
            )
            for _ in range(runs)
        )
    )
    done = await asyncio.gather(*(handle.result() for handle in handles))
    seconds = time.monotonic() - began
    sizes = await asyncio.gather(
        *(
            history_of(cluster.client, cluster.client.get_workflow_handle(handle.id))
            for handle in handles
        )
    )
    short = [count for count in done if count != turns * 2]
    return Measured(
        ENGINE,
        turns,
        runs,
        seconds,
        events=sum(size.events for size in sizes),
        kib=sum(size.kib for size in sizes),
        error=f"{short[0]} activities instead of {turns * 2}" if short else None,
    )
