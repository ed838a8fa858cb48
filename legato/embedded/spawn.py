"""Starts a supervisor that outlives the command which needed it."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from legato.settings import child_environment

from .leftovers import SUPERVISOR_MODULE
from .parts import CODE_ROOT, log_file, log_size, log_tail, open_log, tether

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

LOG = "supervisor"


class Spawned:
    """A supervisor that this process started; `pid` is its number."""

    def __init__(self, home: Path, pid: int, log_start: int) -> None:
        self.pid = pid
        self._home = home
        self._log_start = log_start
        self._status: int | None = None

    def exit_status(self) -> int | None:
        """Tell its exit status, negative for a signal; None while it runs."""
        if self._status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid != 0:
                self._status = os.waitstatus_to_exitcode(status)
        return self._status

    def said(self) -> str:
        """Read the end of what it wrote to its log."""
        return log_tail(self._home, LOG, start=self._log_start)


def spawn_supervisor(
    home: Path, namespace: str, search_attributes: Mapping[str, str], *, with_worker: bool
) -> Spawned:
    """Start a supervisor in a session of its own, its output in logs/supervisor.log.

    It runs in the folder of the code: in the user's own, a package of theirs with the
    name of one of ours would be imported instead.
    """
    os.close(open_log(home, LOG))
    log_start = log_size(home, LOG)
    command = [sys.executable, "-m", SUPERVISOR_MODULE, "--home", str(home)]
    command += ["--namespace", namespace]
    for name, kind in search_attributes.items():
        command += ["--search-attribute", f"{name}={kind}"]
    if not with_worker:
        command.append("--no-worker")
    log, flags = str(log_file(home, LOG)), os.O_WRONLY | os.O_CREAT | os.O_APPEND
    pid = os.posix_spawn(
        sys.executable,
        tether({"folder": str(CODE_ROOT)}, command),
        child_environment(),
        file_actions=(
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, log, flags, 0o600),
            (os.POSIX_SPAWN_DUP2, 1, 2),
        ),
    )
    return Spawned(home, pid, log_start)
