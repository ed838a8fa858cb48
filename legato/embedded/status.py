"""How the stack stands, part by part, as a person or a program is told."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from domain.errors import LegatoError
from legato.drained import drained_since
from legato.settings import without_password

from . import api, postgres, temporal
from .lock import is_locked, signed_by
from .parts import NotReadyError
from .postgres import probe_database
from .processes import is_alive
from .stack import own_stack, read_state
from .state import PartState, Reason, StackState, Status

if TYPE_CHECKING:
    from legato.settings import Settings

    from .processes import ProcessId
    from .stack import Stack

_ANSWER = 5.0
_REWRITTEN = 3.0
_LOOK = 0.05
_GONE = Reason(
    "supervisor_gone",
    "The embedded stack's supervisor ended without stopping its parts.",
    next="run any command that needs the stack, such as `legato up`",
)


@dataclass(frozen=True, slots=True)
class PartStatus:
    """One part now; `since` in seconds since 1970, UTC, None where it is not known."""

    name: str
    pid: int | None
    alive: bool
    address: str
    since: float | None
    restarts: int


@dataclass(frozen=True, slots=True, repr=False)
class StackStatus:
    """The whole stack now; `database_url` holds its password, part addresses do not.

    `drained` is since when the home's workers take nothing new, "" where they do.
    """

    embedded: bool
    status: Status
    reason: Reason | None = None
    temporal_address: str = ""
    ui_address: str = ""
    database_url: str = ""
    api_address: str = ""
    parts: tuple[PartStatus, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict[str, str])
    drained: str = ""


async def stack_status(settings: Settings) -> StackStatus:
    """Say how the stack stands; nothing is started.

    Servers of the user's own are asked whether they answer. Addresses are given while a
    supervisor serves them; an ended stack has none.

    Raises:
        LegatoError: `stack_settings_incomplete`, `state_from_other_version`.

    """
    own = own_stack(settings)
    status = await (_embedded_status(settings) if own is None else _own_status(own))
    return replace(status, drained=drained_since(settings.home))


async def _embedded_status(settings: Settings) -> StackStatus:
    state = await _present_state(settings)
    if state is None:
        return StackStatus(embedded=True, status=Status.STOPPED)
    supervised = is_locked(settings.home) and is_alive(state.supervisor)
    status, reason = _true_status(state, supervised=supervised)
    supervisor = PartState("supervisor", process=state.supervisor)
    now = state if supervised else StackState(state.status, state.supervisor)
    return StackStatus(
        embedded=True,
        status=status,
        reason=reason,
        temporal_address=now.temporal_address,
        ui_address=now.ui_address,
        database_url=now.database_url,
        api_address=now.part(api.NAME).address,
        parts=tuple(_part(part) for part in (supervisor, *state.parts)),
        versions=now.versions,
    )


async def _present_state(settings: Settings) -> StackState | None:
    """Read the state; one that its live supervisor did not write, it soon writes anew."""
    until = time.monotonic() + _REWRITTEN
    while is_locked(settings.home):
        supervisor = signed_by(settings.home)
        if supervisor is None or not is_alive(supervisor) or _wrote(supervisor, settings):
            break
        if time.monotonic() > until:
            return StackState(Status.STARTING, supervisor)
        await asyncio.sleep(_LOOK)
    return read_state(settings)


def _wrote(supervisor: ProcessId, settings: Settings) -> bool:
    try:
        state = read_state(settings)
    except LegatoError:
        return False
    return state is not None and state.supervisor == supervisor


def _true_status(state: StackState, *, supervised: bool) -> tuple[Status, Reason | None]:
    """What the state file says counts as long as its writer lives."""
    ended = state.status in {Status.STOPPED, Status.FAILED}
    if supervised or ended:
        return state.status, state.reason
    return Status.FAILED, _GONE


def _part(part: PartState) -> PartStatus:
    alive = is_alive(part.process)
    return PartStatus(
        name=part.name,
        pid=part.process.pid if part.process is not None and alive else None,
        alive=alive,
        address=part.address,
        since=part.since if alive else None,
        restarts=part.restarts,
    )


async def _own_status(stack: Stack) -> StackStatus:
    alive = await asyncio.gather(_listens(stack.temporal_address), _serves_sql(stack.database_url))
    addresses = (stack.temporal_address, without_password(stack.database_url))
    names = (temporal.NAME, postgres.NAME)
    return StackStatus(
        embedded=False,
        status=Status.READY if all(alive) else Status.FAILED,
        temporal_address=stack.temporal_address,
        database_url=stack.database_url,
        parts=tuple(
            PartStatus(name, None, answers, address, None, 0)
            for name, answers, address in zip(names, alive, addresses, strict=True)
        ),
    )


async def _listens(address: str) -> bool:
    host, _, port = address.rpartition(":")
    try:
        async with asyncio.timeout(_ANSWER):
            _, writer = await asyncio.open_connection(host.strip("[]"), int(port))
    except (OSError, TimeoutError):
        return False
    writer.close()
    return True


async def _serves_sql(url: str) -> bool:
    try:
        await probe_database(url)
    except NotReadyError:
        return False
    return True
