"""The Temporal side of an activity: who is running, since when, and why it is being cancelled."""

from __future__ import annotations

import time
from contextvars import ContextVar
from dataclasses import dataclass, field

from temporalio import activity


@dataclass
class Execution:
    """One execution of an activity: when it began (monotonic), and whether its time is over."""

    begun: float = field(default_factory=time.monotonic)
    over: bool = False


_execution: ContextVar[Execution | None] = ContextVar("execution", default=None)


def begin_execution() -> None:
    """Begin to count the working time of this execution, once."""
    if _execution.get() is None:
        _execution.set(Execution())


def worked() -> float:
    """For how many seconds this execution has lived; 0 where it has not begun to count."""
    execution = _execution.get()
    return 0.0 if execution is None else time.monotonic() - execution.begun


def end_working_time() -> None:
    """Tell this execution, and what it began, that the run's working time is over."""
    execution = _execution.get()
    if execution is not None:
        execution.over = True


def is_over() -> bool:
    """Tell whether the run's working time has ended while this execution ran."""
    execution = _execution.get()
    return execution is not None and execution.over


def temporal_run() -> str:
    """Name the Temporal run that this activity belongs to."""
    return activity.info().workflow_run_id or ""


def causation() -> str:
    """Name this activity's execution: `temporal run/activity id/attempt`."""
    info = activity.info()
    return f"{info.workflow_run_id}/{info.activity_id}/{info.attempt}"


def is_stop() -> bool:
    """Tell a stop, or the end of the working time, from a worker that is shutting down."""
    if is_over():
        return True
    details = activity.cancellation_details()
    return details is not None and details.cancel_requested
