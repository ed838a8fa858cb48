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
from typing import IO, TYPE_CHECKING, BinaryIO, Final, cast

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
def only_one(path: Path, context: ToolContext) -> Generator[BinaryIO | None]:
    """Hold a call's lock file, for `ask` to hand on to the process that runs the call.

    Gives None where an earlier execution kept it for `context.limit`, or the call was
    stopped meanwhile.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as lock:
        yield lock if _locked(lock, context) else None


def _locked(lock: BinaryIO, context: ToolContext) -> bool:
    deadline = time.monotonic() + context.limit
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline or context.stop.wait(_LOOK):
                return False
        else:
            return True


def ask(request: Mapping[str, object], context: ToolContext, lock: BinaryIO | None = None) -> Asked:
    """Have one request answered by a process of its own; see `sqlite_child`.

    Takes at most `context.limit` and a second; the process is gone when this returns.
    From its start the process alone holds the `lock`: it is free as soon as nothing can
    be written any more, whatever becomes of the worker.
    """
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", _PROGRAM, _ROOT],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=dict(context.environment),
        cwd="/",
        pass_fds=() if lock is None else (lock.fileno(),),
        start_new_session=True,
    )
    if lock is not None:
        lock.close()
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
