"""A process that turns a path into a link and back without pause: the other side of a race."""

from __future__ import annotations

import subprocess
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

_LOOP = """
import os, sys
path, target, ready = sys.argv[1:]
open(ready, "w").close()
while True:
    try:
        os.rename(path, path + ".aside")
        os.symlink(target, path)
        os.unlink(path)
        os.rename(path + ".aside", path)
    except OSError:
        pass
"""
_SECONDS_TO_BEGIN = 20


@contextmanager
def swapping(path: Path, target: Path) -> Generator[None]:
    """Swap `path` and a link to `target` while the block runs; fails where it cannot begin.

    What `path` was may afterwards stand at `path` with `.aside` at its end.
    """
    ready = path.with_name(path.name + ".ready")
    command = [sys.executable, "-I", "-S", "-c", _LOOP, str(path), str(target), str(ready)]
    process = subprocess.Popen(command)
    try:
        deadline = time.monotonic() + _SECONDS_TO_BEGIN
        while not ready.exists():
            assert time.monotonic() < deadline, "the swapping process did not begin"
            assert process.poll() is None, "the swapping process ended"
        yield
    finally:
        process.kill()
        process.wait()
        ready.unlink(missing_ok=True)
