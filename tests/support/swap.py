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
import ctypes, os, sys
path, target, ready = sys.argv[1:]
link = path + ".link"
os.symlink(target, link)
open(ready, "w").close()
exchange = getattr(ctypes.CDLL(None), "renameat2", None)
while exchange is not None:
    if exchange(-100, path.encode(), -100, link.encode(), 2) != 0:
        break
while True:
    os.rename(path, path + ".aside")
    os.rename(link, path)
    os.rename(path, link)
    os.rename(path + ".aside", path)
"""
_SECONDS_TO_BEGIN = 20


@contextmanager
def swapping(path: Path, target: Path) -> Generator[None]:
    """Swap `path` and a link to `target` while the block runs; fails where it cannot begin.

    Where the kernel can exchange two names, one of the two is always there. What `path` was
    may afterwards stand at `path` with `.link` or `.aside` at its end.
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
