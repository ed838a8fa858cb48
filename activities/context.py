"""The Temporal side of an activity: who is running, and why it is being cancelled."""

from __future__ import annotations

from temporalio import activity


def temporal_run() -> str:
    """Name the Temporal run that this activity belongs to."""
    return activity.info().workflow_run_id or ""


def causation() -> str:
    """Name this activity's execution: `temporal run/activity id/attempt`."""
    info = activity.info()
    return f"{info.workflow_run_id}/{info.activity_id}/{info.attempt}"


def is_stop() -> bool:
    """Tell a person's stop from a worker that is shutting down."""
    details = activity.cancellation_details()
    return details is not None and details.cancel_requested
