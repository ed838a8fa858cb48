"""The last step before a child's own program: ties its life to the supervisor's.

Run by path in a bare interpreter, with the standard library only. Arguments: a JSON
object, then the command, which becomes a session of its own. The object's keys, all
optional: `parent`, the supervisor's pid, and `signal`, what the command gets when the
supervisor dies (both or neither; `watch` has a watcher send it instead of the kernel);
`lock`, a file that the command holds locked for as long as it lives; `folder`, where it
runs. Exit status 75 where the lock is held, 76 where the supervisor is gone already.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import sys
import time

LOCKED = 75
ORPHANED = 76
_PR_SET_PDEATHSIG = 1
_LOOK = 0.25


def main(arguments: list[str]) -> int:
    """Become the command; returns only where that is refused."""
    tie = json.loads(arguments[0])
    if "lock" in tie and not _lock(tie["lock"]):
        return LOCKED
    if "folder" in tie:
        os.chdir(tie["folder"])
    if "signal" in tie:
        _die_with(tie["parent"], tie["signal"], by_watching=tie.get("watch", False))
        if os.getppid() != tie["parent"]:
            return ORPHANED
    os.setsid()
    return os.execvp(arguments[1], arguments[1:])  # noqa: S606 - the supervisor's own command


def _lock(path: str) -> bool:
    """Take the lock and leave the descriptor open for the command to inherit."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    os.set_inheritable(descriptor, True)  # noqa: FBT003 - the library takes it so
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _die_with(parent: int, number: int, *, by_watching: bool) -> None:
    """Have the kernel send the signal; where it cannot, leave a small watcher that does."""
    if sys.platform == "linux" and not by_watching:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, number, 0, 0, 0)
        return
    command = os.getpid()
    if os.fork() == 0:
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))  # the lock is the command's alone
        _watch(parent, command, number)
        os._exit(0)


def _watch(parent: int, command: int, number: int) -> None:
    """Wait until the command has another parent than the supervisor, then signal it."""
    while os.getppid() == command:  # the watcher's own parent is the command
        try:
            os.kill(parent, 0)
        except ProcessLookupError:
            os.kill(command, number)
            return
        time.sleep(_LOOK)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
