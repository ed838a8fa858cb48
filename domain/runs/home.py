"""What is said of an open run whose home has no worker: derived when it is read, never stored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from domain.runs.run import OPEN, SLOT, Status

if TYPE_CHECKING:
    from collections.abc import Sequence

HOME = "home"
"""What such a run waits for, beside the waits that the ledger records."""

Place = Literal["embedded", "own", "elsewhere"]
"""Whose home it is to whoever reads: this one on the embedded stack, this one, another one."""


@dataclass(frozen=True)
class Absent:
    """A home that nobody serves at this moment, and the open runs read that wait for it."""

    home: str
    code: str
    message: str
    cause: str
    next: str
    runs: tuple[str, ...]


def absent(home: str, runs: Sequence[str], *, place: Place, drained: str) -> Absent:
    """Say that a home has no worker, and what is true to do; `drained` is since when, or ""."""
    message = f"no worker serves {home}"
    if drained:
        return Absent(
            home,
            "home_drained",
            message,
            f"it has been drained since {drained}",
            "`legato up` has its workers go on",
            tuple(runs),
        )
    cause = "its workers have ended, or were never started"
    return Absent(home, "home_absent", message, cause, _step(home, place), tuple(runs))


def _step(home: str, place: Place) -> str:
    match place:
        case "embedded":
            return "`legato status` and logs/worker.log tell why; it is started again by itself"
        case "own":
            return "start `legato-worker` here, with this LEGATO_HOME and LEGATO_HOST"
        case "elsewhere":
            host = home.removeprefix(f"{HOME}/")
            return f"start a worker where LEGATO_HOST is {host}: only there are its workspaces"


def needs_home(status: str, waiting_on: str | None) -> bool:
    """Tell whether a run can only go on where its home has a worker; in line it needs none."""
    return status in {one.value for one in OPEN} and waiting_on != SLOT


def status_at_home(status: str, waiting_on: str) -> tuple[str, str]:
    """Give the status and the wait of a run whose home has no worker.

    What it waits for anyway stays: an answer is taken without a worker, and read by the next.
    """
    if status == Status.WAITING.value:
        return status, f"{waiting_on}, {HOME}"
    return (status if status == Status.STOPPING.value else Status.WAITING.value), HOME
