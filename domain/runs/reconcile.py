"""What is to be done where the ledger and Temporal differ about a run: one pure rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from domain.watch_events import StuckCode

if TYPE_CHECKING:
    from datetime import timedelta

    from domain.runs.run import Run

State = Literal["open", "absent", "completed", "failed", "cancelled", "terminated", "timed_out"]

GONE = "workflow_gone"


@dataclass(frozen=True)
class Trouble:
    """What keeps an open workflow from going on: the fields of `run.stuck`."""

    code: StuckCode
    where: str
    why: str
    attempts: int


@dataclass(frozen=True)
class Seen:
    """What Temporal says of a run's workflow at one moment.

    `temporal_run` is the last of its chain that Temporal knows, "" where it knows none.
    `version` is how far its activities had seen the run's stream; 0 where that was not read,
    as of an open one that is at work.
    """

    state: State
    temporal_run: str = ""
    trouble: Trouble | None = None
    version: int = 0


@dataclass(frozen=True)
class Leave:
    """All is well, or it cannot be told yet."""


@dataclass(frozen=True)
class Start:
    """Nobody ever started the workflow: start it."""


@dataclass(frozen=True)
class Restart:
    """Temporal remembers less than the ledger: start anew, from what the ledger records.

    `behind` is a Temporal run that was superseded long ago and must end first, or "".
    """

    behind: str = ""


@dataclass(frozen=True)
class Look:
    """It rests, and has not seen all that the ledger holds: tell it to look."""


@dataclass(frozen=True)
class Stick:
    """It stands still until somebody acts: say so."""

    trouble: Trouble


@dataclass(frozen=True)
class Heal:
    """It goes on again: take back what was said."""


@dataclass(frozen=True)
class End:
    """No workflow will ever end the run: end it in the ledger. `reason` is a code."""

    reason: str


@dataclass(frozen=True)
class Terminate:
    """The workflow did not obey a stop: end it in Temporal; the ledger follows."""

    reason: str


Action: TypeAlias = Leave | Start | Restart | Look | Stick | Heal | End | Terminate


def action_for(run: Run, seen: Seen, since: timedelta, grace: timedelta) -> Action:
    """Decide about an open run.

    `since` is how long ago the run was accepted. What Temporal closed without an end was
    ended there by somebody: the run is lost. What Temporal does not know, though it had
    it, or knows as an earlier link of the chain only, it has forgotten: the run goes on
    from the ledger. What Temporal saw and the ledger does not hold is never written over.
    """
    behind = seen.temporal_run if seen.temporal_run in run.temporal_runs[:-1] else ""
    if seen.state == "open" and not behind:
        return _open(run, seen)
    if seen.state == "absent" and since <= grace:
        return Leave()
    if run.stop is not None:
        return Terminate("stop_not_obeyed") if seen.state == "open" else End(_reason(seen))
    if seen.state == "absent":
        return Restart() if run.temporal_runs else Start()
    if behind:
        return Restart(behind if seen.state == "open" else "")
    if seen.state == "completed" or seen.version > run.version:
        return _stick(run, _ledger_behind(run, seen))
    return End(_reason(seen))


def _open(run: Run, seen: Seen) -> Action:
    if seen.trouble is not None:
        return Terminate("stop_not_obeyed") if run.stop is not None else _stick(run, seen.trouble)
    if seen.version > run.version and run.stop is None:
        return _stick(run, _ledger_behind(run, seen))
    if run.stuck is not None:
        return Heal()
    return Look() if seen.version and seen.version != run.version else Leave()


def _stick(run: Run, trouble: Trouble) -> Action:
    """Say it once; again only where something else keeps it now."""
    said = run.stuck
    if said is not None and (said.code, said.where) == (trouble.code, trouble.where):
        return Leave()
    return Stick(trouble)


def _reason(seen: Seen) -> str:
    return GONE if seen.state == "absent" else f"workflow_{seen.state}"


def _ledger_behind(run: Run, seen: Seen) -> Trouble:
    saw = f"up to event {seen.version}" if seen.version > run.version else "its end"
    why = f"Temporal has seen {saw} of this run, the ledger holds {run.version} events"
    return Trouble("ledger_behind", f"Temporal run {seen.temporal_run}", why, 0)


def way_out(code: StuckCode, run_id: str) -> str:
    """Say what is true to do about a run that is stuck."""
    stop = f"`legato stop {run_id}` ends it"
    match code:
        case "workflow_task_failing":
            return (
                f"`legato replay {run_id}` tells what differs: run the build that it began with, "
                f"or reset its workflow in Temporal to the last good task; {stop}"
            )
        case "activity_failing":
            return f"it is tried again by itself; logs/worker.log tells why it fails; {stop}"
        case "start_refused":
            return f"{stop}; read logs/worker.log, then start it anew"
        case "ledger_behind":
            return (
                "restore the ledger's latest state, the run goes on by itself then; where there "
                f"is none, {stop} as the ledger knows it"
            )
