"""Named places where a test may have this process killed; without a test, nothing."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def kill_points(names: str, folder: Path) -> Callable[[str], None]:
    """Build the hook: at the first arrival at a named place the process kills itself.

    `names` lists places separated by commas, "" for none; a mark in `folder` remembers
    that a place has been used, so that the next process goes on.
    """
    wanted = frozenset(name.strip() for name in names.split(",") if name.strip())

    def reach(name: str) -> None:
        if name not in wanted:
            return
        mark = folder / name.replace(":", "_")
        if mark.exists():
            return
        folder.mkdir(parents=True, exist_ok=True)
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)

    return reach
