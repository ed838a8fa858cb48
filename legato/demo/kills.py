"""Kills the worker of the embedded stack without warning and watches another take over."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from domain.errors import LegatoError
from legato.embedded import read_state
from legato.embedded.processes import ProcessId, is_alive

if TYPE_CHECKING:
    from legato.settings import Settings

_LOOK = 0.05
_PATIENCE = 30.0


@dataclass(frozen=True, slots=True)
class Kill:
    """One kill: where the run was, the worker killed and the one after it.

    `at` is when, in seconds since 1970, UTC; `away` the seconds until the next one was
    started.
    """

    where: str
    pid: int
    next_pid: int
    at: float
    away: float


def worker_of(settings: Settings) -> ProcessId | None:
    """Name the process of this home's worker; None where none lives."""
    state = read_state(settings)
    process = None if state is None else state.part("worker").process
    return process if is_alive(process) else None


async def kill_worker(settings: Settings) -> tuple[ProcessId, float]:
    """Kill the worker with SIGKILL; gives its process and when that was.

    Raises:
        LegatoError: `worker_missing` where there is none to kill.

    """
    worker = await _live_worker(settings)
    at = time.time()
    os.kill(worker.pid, signal.SIGKILL)
    return worker, at


async def next_worker(settings: Settings, where: str, killed: ProcessId, at: float) -> Kill:
    """Wait until the supervisor has started another worker.

    Raises:
        LegatoError: `worker_missing` where it does not.

    """
    worker = await _live_worker(settings, besides=killed)
    return Kill(where, killed.pid, worker.pid, at, round(time.time() - at, 2))


async def _live_worker(settings: Settings, besides: ProcessId | None = None) -> ProcessId:
    until = time.monotonic() + _PATIENCE
    while time.monotonic() < until:
        worker = worker_of(settings)
        if worker is not None and worker != besides:
            return worker
        await asyncio.sleep(_LOOK)
    raise LegatoError(
        "worker_missing",
        f"No worker was running in {settings.home} for {_PATIENCE:.0f} s.",
        cause="the supervisor did not start one",
        next=f"read {settings.home / 'logs' / 'worker.log'}, then `legato down` and try again",
    )
