"""Starts the process that runs SQL, and ends it at the limit, on stop and with the worker."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import selectors
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, cast

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from domain.ports import ToolContext

_GRACE: Final = 1.0
_LOOK: Final = 0.05
_ROOT: Final = str(Path(__file__).resolve().parents[2])
_PROGRAM: Final = (
    "import sys; sys.path.append(sys.argv[1]); "
    "from activities.tools.sqlite_child import main; main()"
)


@dataclass(frozen=True)
class Asked:
    """What the process answered; `code` is "" for success.

    `complete` is False where it was ended or died before it answered: then what it did
    is to be looked up in the database.
    """

    code: str
    text: str
    complete: bool = True


@contextlib.contextmanager
def only_one(path: Path, context: ToolContext) -> Generator[int | None]:
    """Hold a call's lock, shared with the process that runs it, so that it outlives a worker.

    Gives the lock's file descriptor, or None where an earlier execution kept it for
    `context.limit` or the call was stopped.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        yield lock if _locked(lock, context) else None
    finally:
        os.close(lock)


def _locked(lock: int, context: ToolContext) -> bool:
    deadline = time.monotonic() + context.limit
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline or context.stop.wait(_LOOK):
                return False
        else:
            return True


def ask(request: Mapping[str, object], context: ToolContext, lock: int | None = None) -> Asked:
    """Have one request answered by a process of its own; see `sqlite_child`.

    Takes at most `context.limit` and a second; the process is gone when this returns.
    """
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", _PROGRAM, _ROOT],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=dict(context.environment),
        cwd="/",
        pass_fds=() if lock is None else (lock,),
        start_new_session=True,
    )
    try:
        return _answer(process, request, context)
    finally:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            with contextlib.suppress(OSError):
                cast("IO[bytes]", pipe).close()


def _answer(
    process: subprocess.Popen[bytes], request: Mapping[str, object], context: ToolContext
) -> Asked:
    deadline = time.monotonic() + context.limit + _GRACE
    stdin, stdout = cast("IO[bytes]", process.stdin), cast("IO[bytes]", process.stdout)
    with contextlib.suppress(BrokenPipeError):
        stdin.write(json.dumps({**request, "limit": context.limit}).encode() + b"\n")
        stdin.flush()
    received = bytearray()
    with selectors.DefaultSelector() as selector:
        selector.register(stdout, selectors.EVENT_READ)
        while True:
            if context.stop.is_set():
                return Asked("stopped", "it was stopped", complete=False)
            if time.monotonic() > deadline:
                return Asked("time_limit", "it ran over its time", complete=False)
            if not selector.select(_LOOK):
                continue
            piece = os.read(stdout.fileno(), 1 << 16)
            if not piece:
                return _decoded(bytes(received))
            received += piece


def _decoded(received: bytes) -> Asked:
    try:
        value = cast("dict[str, str]", json.loads(received))
    except ValueError:
        return Asked("sql_crashed", "the process that ran the sql died", complete=False)
    return Asked(value["code"], value["text"])
