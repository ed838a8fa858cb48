"""What a command asks of the stack: be there, and end."""

from __future__ import annotations

import asyncio
import signal
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from domain.errors import LegatoError, refused

from .leftovers import end_leftovers
from .lock import HELD, is_locked, signed_by, take_lock
from .parts import NotReadyError
from .postgres import probe_database
from .postgres_data import PASSWORD
from .processes import end, is_alive
from .spawn import Spawned, spawn_supervisor
from .state import StackState, Status, load_state, write_state
from .temporal import probe_temporal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from legato.settings import Settings

    from .processes import ProcessId

DEADLINE = 60.0
REFUSED_BUILD = "build_cannot_replay"
"""The reason that whoever starts the stack is to mend: it is raised as what it is."""

_LOOK = 0.05
_STOPPING = 45.0
_RELEASING = 5.0


@dataclass(frozen=True, slots=True, repr=False)
class Stack:
    """Where to reach a stack; `ui_address` is None where it is not known to us.

    `database_url` holds a password: it is not in the text form.
    """

    embedded: bool
    temporal_address: str
    temporal_namespace: str
    database_url: str
    ui_address: str | None

    def __repr__(self) -> str:
        """Everything but the database's address."""
        return (
            f"Stack(embedded={self.embedded}, temporal_address={self.temporal_address!r}, "
            f"temporal_namespace={self.temporal_namespace!r}, ui_address={self.ui_address!r})"
        )


async def ensure_up(
    settings: Settings,
    *,
    progress: Callable[[str], None],
    search_attributes: Mapping[str, str] | None = None,
    with_worker: bool = True,
    deadline: float = DEADLINE,
) -> Stack:
    """Return the stack to use, starting the embedded one where it does not run.

    With TEMPORAL_ADDRESS and DATABASE_URL set those are returned and nothing is
    started. `progress` is told each new step in words. `search_attributes` (name to
    type, for Temporal) and `with_worker` count only for a stack started here. Of
    several callers at once one starts it and all wait for it, `deadline` seconds each.

    Raises:
        LegatoError: `stack_settings_incomplete`, `home_unusable`, `build_cannot_replay`,
            `stack_failed` with what the supervisor gave as its reason, `stack_not_ready`
            after the deadline.

    """
    own = own_stack(settings)
    if own is not None:
        return own
    _make_home(settings.home)
    spawned: Spawned | None = None
    told = ""
    until = time.monotonic() + deadline
    while time.monotonic() < until:
        state = load_state(settings.home)
        if is_locked(settings.home):
            if state is not None and await _serves(state):
                return _stack(state)
        else:
            spawned = _replaced(spawned, state) or spawn_supervisor(
                settings.home,
                settings.temporal_namespace,
                search_attributes or {},
                with_worker=with_worker,
            )
        told = _tell(progress, state, told)
        await asyncio.sleep(_LOOK)
    raise _not_ready(settings.home, spawned, deadline)


async def down(settings: Settings) -> bool:
    """Stop the embedded stack of this home; False where nothing of it ran.

    Raises:
        LegatoError: `stack_not_stopped` where its supervisor does not end.

    """
    home = settings.home
    if not home.is_dir():
        return False
    found = False
    until = time.monotonic() + _RELEASING
    while is_locked(home) and time.monotonic() < until:
        supervisor = find_supervisor(home)
        if supervisor is not None:
            found = True
            await end(supervisor, ((signal.SIGTERM, _STOPPING), (signal.SIGKILL, 5.0)))
        await asyncio.sleep(_LOOK)
    lock = await take_lock(home, patience=_RELEASING)
    if lock is None:
        raise LegatoError(
            "stack_not_stopped",
            f"The embedded stack in {home} did not stop.",
            cause="its supervisor still holds the lock of this home",
            next="read logs/supervisor.log there and run `legato down` again",
        )
    try:
        return await _clear(home) or found
    finally:
        lock.release()


def find_supervisor(home: Path) -> ProcessId | None:
    """Name the live supervisor of a home, by its lock or else by the state file.

    Raises:
        LegatoError: `state_from_other_version`.

    """
    signed = signed_by(home)
    if is_alive(signed):
        return signed
    state = load_state(home)
    return state.supervisor if state is not None and is_alive(state.supervisor) else None


def read_state(settings: Settings) -> StackState | None:
    """Read the state file of this home; None where there is none to read.

    Raises:
        LegatoError: `state_from_other_version`.

    """
    return load_state(settings.home)


def own_stack(settings: Settings) -> Stack | None:
    """Return the user's own servers where the settings name them, else None.

    Raises:
        LegatoError: `stack_settings_incomplete` where they name only one of the two.

    """
    if settings.temporal_address is None and settings.database_url is None:
        return None
    if settings.temporal_address is not None and settings.database_url is not None:
        return Stack(
            embedded=False,
            temporal_address=settings.temporal_address,
            temporal_namespace=settings.temporal_namespace,
            database_url=settings.database_url,
            ui_address=None,
        )
    given, missing = "TEMPORAL_ADDRESS", "DATABASE_URL"
    if settings.temporal_address is None:
        given, missing = missing, given
    raise refused(
        "stack_settings_incomplete",
        f"{given} is set but {missing} is not.",
        cause="Legato uses either servers of your own, both of them, or its embedded ones",
        next=f"set {missing} too, or unset {given} to use the embedded stack",
    )


def has_ledger(settings: Settings) -> bool:
    """Tell whether there can be a ledger: servers of one's own, or a home that was started once."""
    return own_stack(settings) is not None or (settings.home / PASSWORD).exists()


async def answers(state: StackState) -> bool:
    """Tell whether the servers of this state serve now."""
    try:
        await asyncio.gather(
            probe_database(state.database_url),
            probe_temporal(state.ui_address.removeprefix("http://"), state.temporal_namespace),
        )
    except NotReadyError:
        return False
    return True


async def _serves(state: StackState) -> bool:
    return state.status is Status.READY and is_alive(state.supervisor) and await answers(state)


def _stack(state: StackState) -> Stack:
    return Stack(
        embedded=True,
        temporal_address=state.temporal_address,
        temporal_namespace=state.temporal_namespace,
        database_url=state.database_url,
        ui_address=state.ui_address,
    )


def _make_home(home: Path) -> None:
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise LegatoError(
            "home_unusable",
            f"The folder {home} cannot be made.",
            cause=str(error),
            next="set LEGATO_HOME to a folder that you can write to",
        ) from error


def _replaced(spawned: Spawned | None, state: StackState | None) -> Spawned | None:
    """Return our supervisor while it may still come up; None: start another.

    Raises:
        LegatoError: `stack_failed` where ours has ended.

    """
    status = None if spawned is None else spawned.exit_status()
    if spawned is None or status == HELD:  # whoever held the lock has given it up since
        return None
    if status is None:
        return spawned
    reason = state.reason if state and state.supervisor.pid == spawned.pid else None
    if reason is None:
        raise LegatoError(
            "stack_failed",
            f"The embedded stack's supervisor ended with status {status} while starting.",
            cause=spawned.said(),
            next="run `legato up` again; if it ends again, report logs/supervisor.log",
        )
    if reason.code == REFUSED_BUILD:
        raise refused(
            REFUSED_BUILD,
            reason.message,
            cause=reason.cause,
            next=reason.next,
            details=reason.details,
        )
    raise LegatoError(
        "stack_failed",
        reason.message,
        cause=reason.cause,
        next=reason.next,
        details={"reason": reason.code},
    )


def _tell(progress: Callable[[str], None], state: StackState | None, told: str) -> str:
    step = "starting the supervisor"
    if state is not None and is_alive(state.supervisor):
        ready = state.status is Status.READY
        step = "waiting until the servers answer" if ready else state.step
    if step != told:
        progress(step)
    return step


def _not_ready(home: Path, spawned: Spawned | None, deadline: float) -> LegatoError:
    state = load_state(home)
    step = state.step if state is not None else "not begun"
    said = spawned.said() if spawned is not None else ""
    return LegatoError(
        "stack_not_ready",
        f"The embedded stack was not ready within {deadline:.0f} s.",
        cause=f"it was still at: {step}\n{said}".strip(),
        next=f"read the logs in {home / 'logs'}; `legato status` says when it is ready",
        details={"step": step},
    )


async def _clear(home: Path) -> bool:
    """End what a supervisor that is gone left running; the caller holds the lock."""
    state = load_state(home)
    if state is None:
        return False
    ended = await end_leftovers(state)
    if ended:
        parts = tuple(replace(part, process=None) for part in state.parts)
        write_state(home, replace(state, status=Status.STOPPED, step="", parts=parts))
    return bool(ended)
