"""What surrounds every activity: heartbeats from the event loop, and errors as short codes."""

from __future__ import annotations

import asyncio
from typing import Any

import structlog
from temporalio import activity
from temporalio.exceptions import ApplicationError
from temporalio.worker import (
    ActivityInboundInterceptor,
    ExecuteActivityInput,
    Interceptor,
)

from domain.errors import LegatoError, rule_of
from workers.under_way import LEAVES, UnderWay

log = structlog.get_logger()

BEAT = 0.5
"""Seconds between two heartbeats: a stop arrives with the next one.

The first comes after the first pause: an activity that is done before costs the server none.
"""

MOST_ATTEMPTS = 5
"""So many attempts are given to an error that we do not know."""

UNLIMITED = "close_run"
"""The activity that is tried for ever: without it a run would have no end at all."""


class ActivitySurround(Interceptor):
    """Adds the surround to a worker's activities, which `under_way` counts."""

    def __init__(self, under_way: UnderWay) -> None:
        self._under_way = under_way

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:  # noqa: A002 - the SDK's name
        """Wrap the next interceptor."""
        return _Surround(next, self._under_way)


async def _beat() -> None:
    while True:
        await asyncio.sleep(BEAT)
        activity.heartbeat()


class _Surround(ActivityInboundInterceptor):
    def __init__(self, next: ActivityInboundInterceptor, under_way: UnderWay) -> None:  # noqa: A002 - the SDK's name
        super().__init__(next)
        self._under_way = under_way

    async def execute_activity(self, input: ExecuteActivityInput) -> Any:  # noqa: A002, ANN401 - the SDK's names and types
        """Run the activity while beating; its errors travel as codes, never as text."""
        beating = asyncio.create_task(_beat())
        info = activity.info()
        try:
            with (
                self._under_way.carried_out(),
                structlog.contextvars.bound_contextvars(
                    workflow_id=info.workflow_id, activity=info.activity_type
                ),
            ):
                return await self._run(input, info.attempt)
        finally:
            beating.cancel()

    async def _run(self, input: ExecuteActivityInput, attempt: int) -> Any:  # noqa: A002, ANN401 - the SDK's names and types
        try:
            return await self.next.execute_activity(input)
        except LegatoError as exc:
            log.warning("activity_refused", code=exc.code, cause=exc.cause)
            final = not rule_of(exc.code, exc.kind).retry
            raise ApplicationError(exc.code, type=exc.code, non_retryable=final) from None
        except ApplicationError:
            raise
        except asyncio.CancelledError:
            if not self._under_way.leaving or activity.cancellation_details() is not None:
                raise
            raise ApplicationError(LEAVES, type=LEAVES) from None
        except Exception as exc:
            log.exception("activity_failed", error=type(exc).__name__)
            final = attempt >= MOST_ATTEMPTS and activity.info().activity_type != UNLIMITED
            raise ApplicationError(
                type(exc).__name__, type="internal", non_retryable=final
            ) from None
