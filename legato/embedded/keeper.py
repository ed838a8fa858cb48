"""Keeps one part running: starts it, waits until it serves, starts it again."""

from __future__ import annotations

import asyncio
import os
import time
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from domain.errors import LegatoError
from legato.settings import without_password

from .journal import note
from .parts import (
    WATCHED,
    NotReadyError,
    Part,
    StillStartingError,
    log_size,
    log_tail,
    open_log,
    tethered,
)
from .processes import end, identify
from .state import PartState

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from .parts import Start

RESTARTS = 5
WINDOW = 60.0
_FIRST_DELAY, _LONGEST_DELAY = 0.2, 5.0
_PATIENCE = 30.0
_LOOK = 0.03


def delay_before_restart(ends: Sequence[float], now: float) -> float | None:
    """Say how many seconds to wait after the last of these ends; None: give up.

    `ends` are the times at which the part ended, in seconds, the last one included.
    """
    recent = [moment for moment in ends if now - moment < WINDOW]
    if len(recent) > RESTARTS:
        return None
    return min(_FIRST_DELAY * 2.0 ** (max(len(recent), 1) - 1), _LONGEST_DELAY)


class Keeper:
    """One part and its present process; `report` is told of every change."""

    def __init__(self, home: Path, part: Part, report: Callable[[PartState, Start], None]) -> None:
        self.name = part.name
        self.ready = asyncio.Event()
        self._home = home
        self._part = part
        self._report = report
        self._state = PartState(part.name)
        self._start: Start | None = None
        self._process: asyncio.subprocess.Process | None = None
        self._ends: list[float] = []

    async def keep(self) -> None:
        """Keep the part running until cancelled.

        Raises:
            LegatoError: where no start can help, or `part_keeps_failing`.

        """
        while True:
            log_start = log_size(self._home, self.name)
            try:
                start = await self._part.prepare()
                process = await self._launch(start)
                await self._until_it_serves(start, process)
                self._tell(start)
                self.ready.set()
                failure = f"it ended with status {await process.wait()}"
            except (NotReadyError, OSError) as error:
                failure = str(error) or type(error).__name__
            await self._end_process()
            await self._wait_or_give_up(failure, log_tail(self._home, self.name, start=log_start))

    async def stop(self) -> None:
        """End the part's process; nothing where there is none."""
        await self._end_process()

    async def _launch(self, start: Start) -> asyncio.subprocess.Process:
        log = open_log(self._home, self.name)
        try:
            process = await asyncio.create_subprocess_exec(
                *tethered(start),
                stdin=asyncio.subprocess.PIPE if WATCHED else asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=dict(start.environment),
                umask=0o077 if start.private else -1,
            )
        finally:
            os.close(log)
        self._process = process
        self._start = start
        self._state = replace(
            self._state,
            process=identify(process.pid),
            address=without_password(start.address),
            since=time.time(),
        )
        self._report(self._state, start)
        note("part.started", part=self.name, pid=process.pid)
        return process

    async def _until_it_serves(self, start: Start, process: asyncio.subprocess.Process) -> None:
        until = time.monotonic() + _PATIENCE
        while True:
            if process.returncode is not None:
                raise NotReadyError(f"it ended with status {process.returncode}")
            try:
                await start.probe()
            except StillStartingError:
                until = time.monotonic() + _PATIENCE
                await asyncio.sleep(_LOOK)
            except NotReadyError as error:
                if time.monotonic() > until:
                    raise NotReadyError(f"no answer in {_PATIENCE:.0f} s: {error}") from error
                await asyncio.sleep(_LOOK)
            else:
                return

    def _tell(self, start: Start) -> None:
        self._report(self._state, start)
        note("part.ready", part=self.name)

    async def _wait_or_give_up(self, failure: str, tail: str) -> None:
        now = time.monotonic()
        self._ends.append(now)
        delay = delay_before_restart(self._ends, now)
        note("part.ended", part=self.name, why=failure, restart_in=delay)
        if delay is None:
            raise LegatoError(
                "part_keeps_failing",
                f"{self.name} failed {RESTARTS + 1} times within a minute: {failure}",
                cause=tail or failure,
                next=f"read logs/{self.name}.log in {self._home}, then run `legato up`",
            )
        await asyncio.sleep(delay)
        self._state = replace(self._state, restarts=self._state.restarts + 1)

    async def _end_process(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        identity = identify(process.pid) if process.returncode is None else None
        if identity is not None:
            await end(identity, self._part.stop_signals)
        with suppress(ProcessLookupError):
            await process.wait()
        self._state = replace(self._state, process=None)
        if self._start is not None:
            self._report(self._state, self._start)
