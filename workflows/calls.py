"""One typed function per activity: its name, types, limits, retries and summary."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, TypeVar

from temporalio import workflow
from temporalio.common import RetryPolicy

with workflow.unsafe.imports_passed_through():
    from domain.runs.steps import (
        BuildInput,
        BuildResult,
        CallInput,
        CallResult,
        CheckInput,
        CheckResult,
        CloseInput,
        CloseResult,
        CompactInput,
        CompactResult,
        LookInput,
        LookResult,
        SignalInput,
        SignalResult,
        StepInput,
        StepResult,
    )

if TYPE_CHECKING:
    from temporalio.workflow import ActivityHandle

T = TypeVar("T")

HEARTBEAT = timedelta(seconds=10)
MODEL_LIMIT = timedelta(minutes=11)
"""Ten minutes of a model call and the reads that ride along, and a minute for the record."""
CHECK_LIMIT = timedelta(minutes=31)
SHORT_LIMIT = timedelta(seconds=30)
CALL_MARGIN = 30.0
"""Seconds that a call's activity has beyond the call's own limit: to adopt and to record."""

RETRY = RetryPolicy(
    initial_interval=timedelta(milliseconds=200),
    backoff_coefficient=2.0,
    maximum_interval=timedelta(seconds=5),
)
"""Without limit: the ledger is the guard, and what cannot succeed is raised as final."""


def _start(
    name: str, arg: object, result: type[T], limit: timedelta, summary: str
) -> ActivityHandle[T]:
    return workflow.start_activity(
        name,
        arg,
        result_type=result,
        start_to_close_timeout=limit,
        heartbeat_timeout=HEARTBEAT,
        retry_policy=RETRY,
        cancellation_type=workflow.ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
        summary=summary,
    )


def build_definition(arg: BuildInput) -> ActivityHandle[BuildResult]:
    """Build the agent and store its definition."""
    return _start("build_definition", arg, BuildResult, SHORT_LIMIT * 2, "build definition")


def take_step(arg: StepInput, item: str, model: str = "") -> ActivityHandle[StepResult]:
    """Take one step: one model call and the leading reads it asked for."""
    summary = f"{item} · turn {arg.turn} step {arg.step}" + (f" · {model}" if model else "")
    return _start("take_step", arg, StepResult, MODEL_LIMIT, summary)


def compact_context(arg: CompactInput, item: str, model: str = "") -> ActivityHandle[CompactResult]:
    """Put a summary in the place of the conversation's beginning."""
    summary = f"{item} · compact before turn {arg.turn} step {arg.step}"
    summary += f" · {model}" if model else ""
    return _start("compact_context", arg, CompactResult, MODEL_LIMIT, summary)


def run_tool(arg: CallInput) -> ActivityHandle[CallResult]:
    """Run one call, or settle it from what is recorded."""
    limit = timedelta(seconds=arg.call.limit + CALL_MARGIN)
    return _start("run_tool", arg, CallResult, limit, arg.call.name)


def check_output(arg: CheckInput, item: str) -> ActivityHandle[CheckResult]:
    """Run an item's checks."""
    summary = f"{item} · check {arg.attempt + 1}"
    return _start("check_output", arg, CheckResult, CHECK_LIMIT, summary)


def look(arg: LookInput) -> ActivityHandle[LookResult]:
    """Read what the ledger says, and record a wait's beginning or end."""
    return _start("look", arg, LookResult, SHORT_LIMIT, f"look {arg.on} {arg.ref}".strip())


def accept_signal(arg: SignalInput) -> ActivityHandle[SignalResult]:
    """Have an operator's plain signal appended through the same validation."""
    return _start("accept_signal", arg, SignalResult, SHORT_LIMIT, f"signal {arg.kind}")


def close_run(arg: CloseInput) -> ActivityHandle[CloseResult]:
    """Record the terminal event; retried without limit."""
    return _start("close_run", arg, CloseResult, SHORT_LIMIT, f"close: {arg.ending.status}")
