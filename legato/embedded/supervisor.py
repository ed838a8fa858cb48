"""The supervisor: the one process that owns a home and all that runs in it."""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from domain.errors import LegatoError
from legato.build import is_tried
from legato.settings import child_environment
from legato.shape import broke_at, shape

from . import api, postgres, temporal, worker
from .api import Api
from .journal import note
from .keeper import Keeper
from .leftovers import end_leftovers
from .lock import HELD, HomeLock, take_lock
from .loopback import port_of
from .postgres import Postgres, postgres_version
from .postgres_data import PASSWORD
from .processes import ProcessId, identify
from .state import PartState, Reason, StackState, Status, load_state, write_state
from .temporal import Remembered, Temporal, temporal_version
from .trying import try_build
from .versions import own_versions
from .worker import Worker

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .parts import Part, Start

_LOCK_LOOK = 1.0


Migrate: TypeAlias = Callable[[str], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Options:
    """What one supervisor runs; without a worker no tables are made either."""

    home: Path
    namespace: str
    search_attributes: Mapping[str, str]
    with_worker: bool = True


class Supervisor:
    """Starts the parts, keeps them, stops them in reverse, and writes down how it stands."""

    def __init__(self, options: Options, lock: HomeLock) -> None:
        self._options = options
        self._lock = lock
        self._stop = asyncio.Event()
        self._keepers: list[tuple[Keeper, asyncio.Task[None]]] = []
        self._left = _left_behind(options.home)
        self._had_ledger = (options.home / PASSWORD).exists()
        self._state = StackState(
            status=Status.STARTING,
            supervisor=identify(os.getpid()) or ProcessId(os.getpid(), ""),
            temporal_address=self._left.temporal_address if self._left else "",
            temporal_namespace=options.namespace,
            ui_address=self._left.ui_address if self._left else "",
            versions=own_versions(),
        )
        self._recorded = False  # until then the file still names what was left running
        self._ports = Remembered(
            port_of(self._state.temporal_address), port_of(self._state.ui_address)
        )

    def stop(self) -> None:
        """Ask it to stop everything and return from `run`; a second time changes nothing."""
        self._stop.set()

    async def run(self) -> bool:
        """Run the stack until asked to stop; False where it stopped because it failed."""
        work = asyncio.create_task(self._bring_up())
        ends = (
            work,
            asyncio.create_task(self._stop.wait()),
            asyncio.create_task(self._until_home_is_lost()),
        )
        self._mend()
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        reason = _reason(work)
        state = replace(self._state, status=Status.STOPPING, step="stopping", reason=reason)
        self._record(state)
        for task in ends:
            task.cancel()
        await asyncio.gather(*ends, return_exceptions=True)
        await self._stop_parts()
        status = Status.FAILED if reason else Status.STOPPED
        self._record(replace(self._state, status=status, step=""))
        return reason is None

    async def _bring_up(self) -> None:
        """Start everything in order, then stay until a part fails for good."""
        if self._left is not None:
            ended = await end_leftovers(self._left)
            note("leftovers.ended", parts=ended)
        home, options = self._options.home, self._options
        environment = child_environment()
        self._step("starting Postgres and Temporal")
        servers = (
            Postgres(home, environment),
            Temporal(home, options.namespace, options.search_attributes, self._ports, environment),
        )
        if options.with_worker:
            importing = asyncio.create_task(asyncio.to_thread(_migration, first=self._left is None))
            await self._until_ready(*servers)
            self._step("bringing the ledger's tables up to date")
            migrate = await importing
            await migrate(self._state.database_url)
            await self._try_build()
            self._step("starting the worker")
            await self._until_ready(Worker(self._worker_environment))
        else:
            await self._until_ready(*servers)
        versions = {**self._state.versions, **await self._server_versions()}
        self._record(replace(self._state, status=Status.READY, step="ready", versions=versions))
        if options.with_worker:  # nobody waits for it: a run needs none of it
            before = self._left.part(api.NAME).address if self._left else ""
            part = Api(self._api_environment, port_of(before))
            keeper = Keeper(self._options.home, part, self._told)
            self._keepers.append((keeper, asyncio.create_task(_keep_if_it_can_be(keeper))))
        await asyncio.gather(*(task for _, task in self._keepers))

    async def _try_build(self) -> None:
        """Refuse a build that cannot go on with the open runs; in a new home there are none."""
        home = self._options.home
        if self._had_ledger and not await asyncio.to_thread(is_tried, home):
            self._step("replaying the open runs by this build")
            await try_build(self._worker_environment())

    async def _until_ready(self, *parts: Part) -> None:
        """Start parts side by side and wait for all; the first lasting failure is raised."""
        started = [Keeper(self._options.home, part, self._told) for part in parts]
        for keeper in started:
            self._keepers.append((keeper, asyncio.create_task(keeper.keep())))
        ready = asyncio.create_task(_all_ready(started))
        tasks = [task for _, task in self._keepers]
        await asyncio.wait([ready, *tasks], return_when=asyncio.FIRST_COMPLETED)
        if not ready.done():
            ready.cancel()
            for task in tasks:
                if task.done():
                    task.result()

    def _told(self, part: PartState, start: Start) -> None:
        """Write a part's change down; a worker that was given another address starts anew."""
        before = self._state
        state = before.with_part(part)
        if part.name == postgres.NAME:
            state = replace(state, database_url=start.address)
        if part.name == temporal.NAME:
            ui_address = f"http://127.0.0.1:{self._ports.ui_port}"
            state = replace(state, temporal_address=start.address, ui_address=ui_address)
        self._record(state)
        if state.temporal_address != before.temporal_address:
            for keeper, _ in self._keepers:
                if keeper.name == worker.NAME:
                    self._restarting = asyncio.create_task(keeper.stop())

    def _worker_environment(self) -> Mapping[str, str]:
        own = child_environment(
            LEGATO_HOME=str(self._options.home),
            DATABASE_URL=self._state.database_url,
            TEMPORAL_ADDRESS=self._state.temporal_address,
            TEMPORAL_NAMESPACE=self._options.namespace,
            PYTHONUNBUFFERED="1",
        )
        anchors = own.get("LEGATO_ANCHORS") or str(self._options.home / "anchors")
        return {**own, "LEGATO_ANCHORS": anchors}

    def _api_environment(self, address: str) -> Mapping[str, str]:
        return child_environment(
            LEGATO_HOME=str(self._options.home),
            DATABASE_URL=self._state.database_url,
            LEGATO_API_ADDRESS=address,
            PYTHONUNBUFFERED="1",
        )

    async def _server_versions(self) -> dict[str, str]:
        found = await asyncio.gather(
            postgres_version(self._state.database_url),
            temporal_version(self._state.ui_address.removeprefix("http://")),
        )
        return dict(zip((postgres.NAME, temporal.NAME), found, strict=True))

    async def _until_home_is_lost(self) -> None:
        """Return once the home was removed under us: what runs in it serves nobody then."""
        while self._lock.still_guards():
            self._mend()
            await asyncio.sleep(_LOCK_LOOK)
        note("home.lost", home=str(self._options.home))

    def _mend(self) -> None:
        """Write anew what others damaged or removed of what tells them of this supervisor."""
        try:
            self._lock.sign(self._state.supervisor)
        except OSError as error:
            note("lock.not_signed", why=str(error))
        if self._recorded and _left_behind(self._options.home) != self._state:
            self._record(self._state)

    async def _stop_parts(self) -> None:
        for keeper, task in reversed(self._keepers):
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            await keeper.stop()

    def _step(self, step: str) -> None:
        note("stack.step", step=step)
        self._record(replace(self._state, step=step))

    def _record(self, state: StackState) -> None:
        if state.status is not self._state.status:
            note("stack.status", status=state.status.value)
        self._state, self._recorded = state, True
        if not self._lock.still_guards():  # a home made anew under us is another supervisor's
            return
        try:
            write_state(self._options.home, state)
        except OSError as error:  # a full disk: the parts go on, the next change tries again
            note("state.not_written", why=str(error))


async def supervise(options: Options) -> int:
    """Own a home until told to stop: 0 after that, 1 after a failure, 3 where it is owned."""
    options.home.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = await take_lock(options.home)
    if lock is None:
        return HELD
    supervisor = Supervisor(options, lock)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, supervisor.stop)
    try:
        return 0 if await supervisor.run() else 1
    finally:
        lock.release()


async def _keep_if_it_can_be(keeper: Keeper) -> None:
    """Keep a part that no run needs: where it keeps failing the others go on."""
    try:
        await keeper.keep()
    except LegatoError as exc:
        note("part.given_up", part=keeper.name, code=exc.code, cause=exc.cause)


async def _all_ready(keepers: Sequence[Keeper]) -> None:
    for keeper in keepers:
        await keeper.ready.wait()


def _migration(*, first: bool) -> Migrate:
    """Import what makes the ledger's tables; what a first start needs takes seconds to load."""
    from ledger.migrate import migrate  # noqa: PLC0415 - servers alone need none of it

    if first:
        import_module("ledger.upgrade")
    return migrate


def _left_behind(home: Path) -> StackState | None:
    """Read the state before ours; one that cannot be read leaves nothing known."""
    try:
        return load_state(home)
    except LegatoError:
        return None


def _reason(work: asyncio.Task[None]) -> Reason | None:
    """Tell why the work ended by itself; None where it did not."""
    error = work.exception() if work.done() and not work.cancelled() else None
    if error is None:
        return None
    if isinstance(error, LegatoError):
        return Reason.of(error)
    note("supervisor.failed", exception=shape(error))
    return Reason(
        "supervisor_failed",
        "The embedded stack's supervisor failed.",
        cause=broke_at(error),
        next="read logs/supervisor.log in LEGATO_HOME and report it",
    )


def _options(arguments: list[str]) -> Options:
    parser = argparse.ArgumentParser(prog="legato.embedded.supervisor")
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--namespace", required=True)
    parser.add_argument("--search-attribute", action="append", default=[])
    parser.add_argument("--no-worker", action="store_true")
    given = parser.parse_args(arguments)
    attributes = (str(text).partition("=") for text in given.search_attribute)
    return Options(
        home=given.home,
        namespace=given.namespace,
        search_attributes={name: kind for name, _, kind in attributes},
        with_worker=not given.no_worker,
    )


def main() -> None:
    """Run one supervisor from the command line."""
    sys.exit(asyncio.run(supervise(_options(sys.argv[1:]))))


if __name__ == "__main__":
    main()
