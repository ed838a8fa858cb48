"""Reads the file of saved plan steps that a request names."""

from __future__ import annotations

import os
from pathlib import Path

from activities.tools.contents import open_regular
from domain.agents.imported.step_file import MOST_BYTES, StepFile, read_bytes
from domain.errors import LegatoError


def read_step_file(path: str) -> tuple[StepFile | None, str]:
    """Read a regular file whole: what it holds, or why it cannot be read."""
    place = Path(path)
    if not place.is_absolute():
        return None, "its path is not absolute"
    try:
        folder = os.open(place.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            with open_regular(folder, place.name, place.name) as opened:
                data = _whole(opened)
        finally:
            os.close(folder)
    except (OSError, ValueError, LegatoError) as exc:  # ValueError: a NUL in its path
        why = exc.code if isinstance(exc, LegatoError) else type(exc).__name__
        return None, f"it cannot be read: {why}"
    return read_bytes(data), ""


def _whole(opened: int) -> bytes:
    with os.fdopen(os.dup(opened), "rb") as file:
        return file.read(MOST_BYTES + 1)
