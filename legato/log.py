"""Configures the log: one JSON object a line, without any text that was made while running."""

from __future__ import annotations

import faulthandler
import json
import linecache
import logging
import os
import sys
import threading
import warnings
from datetime import UTC, datetime
from typing import TYPE_CHECKING, cast

import structlog

from legato.shape import shape

if TYPE_CHECKING:
    from types import TracebackType
    from typing import TextIO

    from structlog.typing import EventDict

LEFT_OUT = "a text is left out here"
"""What a line says whose text does not stand in the code that logs it."""

_KNOWN = (
    "Task exception was never retrieved",
    "Future exception was never retrieved",
    'An open stream object is being garbage collected; call "stream.close()" explicitly.',
)
"""What asyncio says by way of a handler that it does not stand in."""


def own_output() -> TextIO:
    """Keep standard error for the log, and give whatever else is printed to nobody.

    Tools of plug-ins print, and so do programs that they start: what they print is content.
    """
    kept = os.fdopen(os.dup(2), "w", buffering=1, encoding="utf-8", errors="backslashreplace")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    for number in (1, 2):
        os.dup2(nowhere, number)
    os.close(nowhere)
    faulthandler.enable(kept)
    return kept


def configure_log(out: TextIO | None = None) -> None:
    """Set up the log of a process of ours, for what libraries log as well.

    It goes to `out`, else to standard error.
    """
    out = out or sys.stderr
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            without_texts,
            structlog.processors.JSONRenderer(),
        ],
        logger_factory=structlog.WriteLoggerFactory(file=out),
    )
    handler = logging.StreamHandler(out)
    handler.setFormatter(_Lines())
    handler.setLevel(logging.WARNING)
    logging.getLogger().handlers[:] = [handler]
    warnings.showwarning = _warned
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
        """Give the message as it stands in the code, where that is, and the shape."""
        at = datetime.fromtimestamp(record.created, UTC).isoformat().replace("+00:00", "Z")
        row: dict[str, object] = {
            "logger": record.name,
            "event": _as_written(record),
            "place": f"{record.pathname}:{record.lineno}",
            "level": record.levelname.lower(),
            "timestamp": at,
        }
        if record.exc_info and record.exc_info[1] is not None:
            row["exception"] = shape(record.exc_info[1])
        return json.dumps(row)


def _as_written(record: logging.LogRecord) -> str:
    """Give a message's first line where it stands so in the code: one made up may hold anything."""
    said = str(record.msg).partition("\n")[0]
    core: object = getattr(record, "temporal_log", None)
    if core is not None:  # of the SDK's core: its texts are its code's, its fields are left out
        return str(getattr(core, "message", LEFT_OUT))
    written = said in _KNOWN or said in "".join(linecache.getlines(record.pathname))
    return said if said and written else LEFT_OUT


def _warned(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Log a warning without its text, in which values stand."""
    del message, file, line
    place = f"{filename}:{lineno}"
    structlog.get_logger().warning("warned", category=category.__name__, place=place)


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
