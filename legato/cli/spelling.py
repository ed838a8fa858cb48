"""How this very program is called from the shell, and texts that name its commands so."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from functools import lru_cache
from pathlib import Path

NAME = "legato"
_COMMAND = re.compile(rf"(^|`){NAME} (?=[a-z-])", re.MULTILINE)


def spelled(text: str) -> str:
    """Write the commands in a text so that they can be run from here.

    A command begins a line or stands behind a backtick, as everywhere in this program.
    """
    program = program_here()
    return text if program == NAME else _COMMAND.sub(lambda found: found[1] + program + " ", text)


@lru_cache(maxsize=1)
def program_here() -> str:
    """Give the shortest way to call this program: its name where PATH leads to it, or a path."""
    started = shutil.which(sys.argv[0]) or sys.argv[0]
    ours = Path(started) if Path(started).name == NAME else Path(sys.executable).with_name(NAME)
    if not ours.exists():
        return NAME
    found = shutil.which(NAME)
    if found is not None and Path(found).resolve() == ours.resolve():
        return NAME
    whole = str(ours.absolute())
    near = os.path.relpath(whole)
    return shlex.quote(near if len(near) < len(whole) and os.sep in near else whole)
