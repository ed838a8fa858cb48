"""The last step before a child's own program: ties its life to the supervisor's.

Run by path in a bare interpreter, with the standard library only. Arguments: a JSON
object, then the command, which becomes a session of its own. The object's keys, all
optional: `parent`, the supervisor's pid, and `signal`, what the command gets when the
supervisor dies (both or neither); `watch`, true where the kernel cannot send it: then a
watcher does, at the end of the standard input, whose other end the supervisor holds;
`lock`, a file that the command holds locked for as long as it lives; `folder`, where it
runs. Exit status 75 where the lock is held, 76 where the supervisor is gone already.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import select
import sys

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
        watch = tie.get("watch", False)
        if not _die_with(tie["parent"], tie["signal"], by_watching=watch):
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


def _die_with(parent: int, number: int, *, by_watching: bool) -> bool:
    """Have the signal sent when the supervisor dies; False where it is dead already."""
    if by_watching:
        command = os.getpid()
        if os.fork() == 0:
            os.closerange(3, os.sysconf("SC_OPEN_MAX"))  # the lock is the command's alone
            _watch(command, number)
            os._exit(0)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    else:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, number, 0, 0, 0)
    return os.getppid() == parent


def _watch(command: int, number: int) -> None:
    """Wait for the end of the input, whose other end the supervisor holds, then signal."""
    while os.getppid() == command:  # as long as the command, the watcher's parent, lives
        readable, _, _ = select.select([0], [], [], _LOOK)
        if readable:
            os.kill(command, number)
            return


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
