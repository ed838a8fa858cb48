"""Processes of this machine: who they are, whether they live, how they are ended."""

from __future__ import annotations

import asyncio
import itertools
import os
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

if TYPE_CHECKING:
    import signal
    from collections.abc import Callable, Iterator, Sequence

_GONE = (psutil.NoSuchProcess, psutil.ZombieProcess, psutil.AccessDenied)
_BOOT = Path("/proc/sys/kernel/random/boot_id")
_LOOK = 0.02


@dataclass(frozen=True, slots=True)
class ProcessId:
    """One process for ever: a number can be given out again, number and start cannot."""

    pid: int
    started: str


def identify(pid: int) -> ProcessId | None:
    """Name the process that has this number now; None where it is gone or a zombie."""
    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return None
        return ProcessId(pid, _started(process))
    except _GONE:
        return None


def is_alive(process: ProcessId | None) -> bool:
    """Tell whether exactly this process still runs; a zombie does not."""
    return process is not None and identify(process.pid) == process


def command_line(pid: int) -> tuple[str, ...]:
    """Read a process's arguments; empty where it is gone or not ours to see."""
    try:
        return tuple(psutil.Process(pid).cmdline())
    except _GONE:
        return ()


def having_arguments(first: str, second: str) -> tuple[ProcessId, ...]:
    """Find the live processes whose arguments hold these two, one after the other."""

    def matches(process: psutil.Process) -> bool:
        arguments = process.cmdline()
        return (first, second) in itertools.pairwise(arguments)

    return tuple(_matching(matches))


def working_in(folder: Path) -> tuple[ProcessId, ...]:
    """Find the live processes whose working directory is this folder."""
    target = os.path.realpath(folder)
    return tuple(_matching(lambda process: process.cwd() == target))


async def end(process: ProcessId, signals: Sequence[tuple[signal.Signals, float]]) -> bool:
    """Send each signal in turn, waiting so many seconds after it; tell whether it ended."""
    for number, patience in signals:
        if not is_alive(process):
            return True
        with suppress(ProcessLookupError):
            os.kill(process.pid, number)
        until = time.monotonic() + patience
        while is_alive(process) and time.monotonic() < until:  # noqa: ASYNC110 - not our child
            await asyncio.sleep(_LOOK)
    return not is_alive(process)


def _matching(matches: Callable[[psutil.Process], bool]) -> Iterator[ProcessId]:
    for process in psutil.process_iter():
        try:
            found = process.pid != os.getpid() and matches(process)
        except _GONE:
            continue
        identity = identify(process.pid) if found else None
        if identity is not None:
            yield identity


def _started(process: psutil.Process) -> str:
    """Tell when a process began, in terms that a change of the clock does not move."""
    try:
        text = Path(f"/proc/{process.pid}/stat").read_text(encoding="utf-8", errors="replace")
        ticks = text.rpartition(")")[2].split()[19]
        return f"{_BOOT.read_text(encoding='ascii')[:8]}:{ticks}"
    except FileNotFoundError:
        return f"{process.create_time():.3f}"
