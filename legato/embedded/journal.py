"""The supervisor's log: one JSON object a line on standard error.

Written without structlog, whose import would take half of the supervisor's start.
"""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from datetime import UTC, datetime


def note(event: str, **values: object) -> None:
    """Write one event with its values."""
    line = {"at": datetime.now(UTC).isoformat(), "event": event, **values}
    with suppress(OSError):  # a full disk must not end what is being reported on
        sys.stderr.write(json.dumps(line, default=str) + "\n")
        sys.stderr.flush()
