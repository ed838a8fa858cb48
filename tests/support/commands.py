"""Commands over real folders, and what is left of their processes, for tests of the runner."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from activities.tools.commands import Command, read_output, run_command, shell_argv
from activities.tools.confine import Level, offers

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from activities.tools.commands import CommandEnd

PATIENCE = 20.0
"""Seconds until a test gives up waiting for something that takes a moment."""

offered = functools.cache(offers)
"""Whether this machine offers a level, tried once."""


def command_in(  # noqa: PLR0913 - each is something that one test sets and the others leave
    place: Path,
    text: str,
    *,
    limit: float = PATIENCE,
    writable: bool = True,
    level: Level = Level.NONE,
    environment: Mapping[str, str] | None = None,
    network: bool = False,
) -> Command:
    """Describe shell text in `place/workspace`, with Legato's own state in `place/home`."""
    workspace, stores = place / "workspace", place / "home" / "stores"
    for folder in (workspace, stores):
        folder.mkdir(parents=True, exist_ok=True)
    return Command(
        argv=shell_argv(text),
        cwd=str(workspace),
        workspace=str(workspace),
        limit=limit,
        writable=writable,
        level=level,
        lock=str(stores / "workspace.lock"),
        protected=(str(place / "home"),),
        network=network,
        environment=environment or {},
    )


def folder_in(place: Path, call: str = "call-1") -> str:
    """Name a call's folder in Legato's home."""
    return str(place / "home" / "calls" / call)


def run_text(command: Command, folder: str) -> tuple[CommandEnd, str]:
    """Run a command that nobody stops; return its end and its output."""
    end = run_command(command, folder, threading.Event())
    return end, read_output(end).decode()


def eventually(holds: Callable[[], bool], what: str) -> None:
    """Wait until something holds; fails the test with its name where it does not."""
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline, f"in vain: {what}"
        time.sleep(0.01)


def processes_with(mark: str) -> list[int]:
    """List the living processes whose command line or environment holds a mark."""
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
            words = (entry / "cmdline").read_bytes() + (entry / "environ").read_bytes()
        except OSError:
            continue
        if state not in "ZX" and mark.encode() in words:
            found.append(int(entry.name))
    return found


def without_namespaces(
    empty: Path, script: str, *arguments: str
) -> subprocess.CompletedProcess[str]:
    """Run Python where no namespace can be made and PATH, the folder `empty`, has no program."""
    taken_away = 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$0" "$@"'
    shell = ["/bin/sh", "-c", taken_away, sys.executable, "-c", script, *arguments]
    return subprocess.run(
        ["/usr/bin/unshare", "--user", "--map-root-user", *shell],
        cwd=Path(__file__).parents[2],
        env={"PATH": str(empty)},
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
