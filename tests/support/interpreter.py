"""The interpreter that confined commands can run wherever this checkout is."""

from __future__ import annotations

import os
import sys

PYTHON = os.path.realpath(sys.executable)
"""Not the environment's own link: under /tmp, which is private to a command, it is not seen."""
