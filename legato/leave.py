"""The one way out of our programs."""

from __future__ import annotations

import os
import sys
from typing import NoReturn


def leave(status: int) -> NoReturn:
    """Flush and end the process at once.

    An ordinary end of an interpreter that used Temporal's client aborts now and then
    (exit status 134) after the work is done; this does not.
    """
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            continue
    os._exit(status)
