"""Configures the log: one JSON object a line on standard error, exceptions without their texts."""

from __future__ import annotations

import json
import logging
import sys
import threading
from datetime import UTC, datetime
from typing import TYPE_CHECKING, cast

import structlog

from legato.shape import shape

if TYPE_CHECKING:
    from types import TracebackType

    from structlog.typing import EventDict


def configure_log() -> None:
    """Set up the log of a process of ours, for what libraries log as well."""
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            without_texts,
            structlog.processors.JSONRenderer(),
        ],
        logger_factory=structlog.WriteLoggerFactory(file=sys.stderr),
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Lines())
    handler.setLevel(logging.WARNING)
    logging.getLogger().handlers[:] = [handler]
    sys.excepthook = _uncaught
    threading.excepthook = _uncaught_in_thread
    sys.unraisablehook = _unraisable


def without_texts(_logger: object, _method: str, event: EventDict) -> EventDict:
    """Replace an event's exception by its shape: structlog's processor for it."""
    given: object = event.pop("exc_info", None)
    exc = given
    if given is True:
        exc = sys.exc_info()[1]
    elif isinstance(given, tuple):
        exc = cast("tuple[object, ...]", given)[1]
    if isinstance(exc, BaseException):
        event["exception"] = shape(exc)
    return event


class _Lines(logging.Formatter):
    """Writes what a library logs as a line of ours, without its arguments: texts stand there."""

    def format(self, record: logging.LogRecord) -> str:
        """Give the first line of the message as it was written in the code, and the shape."""
        said = str(record.msg).partition("\n")[0]
        at = datetime.fromtimestamp(record.created, UTC).isoformat().replace("+00:00", "Z")
        row: dict[str, object] = {
            "logger": record.name,
            "event": said,
            "level": record.levelname.lower(),
            "timestamp": at,
        }
        if record.exc_info and record.exc_info[1] is not None:
            row["exception"] = shape(record.exc_info[1])
        return json.dumps(row)


def _uncaught_in_thread(given: threading.ExceptHookArgs) -> None:
    """Log what ended a thread of somebody's own."""
    if given.exc_value is not None:
        _uncaught(given.exc_type, given.exc_value, given.exc_traceback)


def _unraisable(given: sys.UnraisableHookArgs) -> None:
    """Log what was raised where nobody can catch it."""
    if given.exc_value is not None:
        _uncaught(given.exc_type, given.exc_value, given.exc_traceback)


def _uncaught(
    _kind: type[BaseException], exc: BaseException, _traceback: TracebackType | None
) -> None:
    """Log what nobody caught."""
    structlog.get_logger().critical("uncaught", error=type(exc).__name__, exc_info=exc)
