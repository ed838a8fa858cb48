"""The program that runs one command and outlives the worker that asked for it.

Started by path (`python -I -S runner.py CALL_FOLDER LOCK_FD`) with only the standard
library, so that it is up in a moment and needs no installed package. The call folder is
its whole interface:

- `spec.json` what to run (`Spec`, without the environment, which arrives on stdin and so
  is never on disk); `alive.lock` is held for the runner's whole life: it is handed over
  locked by the starter, so that there is no moment at which a runner is under way unseen;
- `begun.json` is written and synced before the command starts: pid, start time;
- `output` is what the command printed, stdout and stderr as they came, at most
  `output_limit` bytes; `stop` is created by whoever wants the command ended;
- `exit.json` (`End`) is written last and whole.

So a folder always tells: lock held, running; `exit.json`, ended; neither, but
`begun.json`, the runner was killed, all it started is gone and the effect is unclear;
none of them, never begun.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import json
import os
import select
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

SPEC = "spec.json"
ALIVE = "alive.lock"
BEGUN = "begun.json"
OUTPUT = "output"
STOP = "stop"
EXIT = "exit.json"

_POLL = 0.05
_GRACE = 0.7
_DRAIN = 0.2
_CHUNK = 1 << 16
_ROOM = 1 << 16
_SIGNALS = 64
_DEFAULTED = (
    signal.SIGTERM,
    signal.SIGHUP,
    signal.SIGINT,
    signal.SIGPIPE,
    signal.SIGXFSZ,
)  # the others are not changed by this program or by Python
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


class Spec(NamedTuple):
    """What to run. A named tuple, as dataclasses would double the runner's start time.

    `limit` counts seconds from the runner's start, the wait for the workspace included.
    `lock` is the workspace's lock file ("" for none), taken alone where `exclusive`.
    `wrapped` tells that argv's own process only wraps the command (a confinement).
    `missing` lists `[path, text]` of what is to stand while it runs: a file with this
    text, or (None) an empty folder. It is taken away after.
    """

    argv: list[str]
    cwd: str
    limit: float
    lock: str
    exclusive: bool
    wrapped: bool
    output_limit: int
    missing: Sequence[Sequence[str | None]] = ()


class End(NamedTuple):
    """How it ended. `exit_code` is as a shell tells it (128 + n for signal n).

    `ended_by` is exit, limit or stop. `began` is false where the command was never
    started: the workspace stayed busy to the limit, or the stop came first.
    `output_bytes` counts all that was printed, kept or not.
    """

    exit_code: int | None
    signal: int | None
    ended_by: str
    seconds: float
    output_bytes: int
    began: bool


class _Stop:
    """Whether the command must end: the stop file is there, or SIGTERM came."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / STOP
        self._signalled = False
        signal.signal(signal.SIGTERM, self._on_signal)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    def _on_signal(self, _number: int, _frame: object) -> None:
        self._signalled = True

    def requested(self) -> bool:
        return self._signalled or self._file.exists()


class _Output:
    """Copies the command's output to the file, and counts what is over the limit."""

    def __init__(self, path: Path, source: int, limit: int) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        self._source = source
        self._room = limit
        self._open = True
        self.total = 0

    def take(self, wait: float) -> bool:
        """Copy one chunk, waiting at most `wait` seconds; False where there was none."""
        if not self._open:
            time.sleep(min(wait, 0.01))
            return False
        if not select.select([self._source], [], [], wait)[0]:
            return False
        chunk = os.read(self._source, _CHUNK)
        self._open = bool(chunk)
        self.total += len(chunk)
        self._keep(chunk[: self._room])
        return self._open

    def _keep(self, chunk: bytes) -> None:
        try:
            while chunk:
                written = os.write(self._file, chunk)
                chunk = chunk[written:]
                self._room -= written
        except OSError:  # a full disk must not end the command: what follows is counted
            self._room = 0


def write_whole(path: Path, value: object) -> None:
    """Write JSON so that a reader sees all of it or nothing, after a power cut too."""
    part = path.with_name(path.name + ".part")
    fd = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        os.write(fd, json.dumps(value).encode())
        os.fsync(fd)
    finally:
        os.close(fd)
    part.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _start_time() -> float:
    """Tell when this process started: clock ticks since boot, or the wall clock elsewhere."""
    try:
        return float(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
    except OSError:
        return time.time()


def _take_workspace(spec: Spec, deadline: float, stop: _Stop) -> str:
    """Wait for the workspace; return "" when it is ours, else what ended the wait."""
    if not spec.lock:
        return ""
    fd = os.open(spec.lock, os.O_RDWR | os.O_CREAT, 0o600)
    kind = fcntl.LOCK_EX if spec.exclusive else fcntl.LOCK_SH
    while True:
        if stop.requested():
            return "stop"
        try:
            fcntl.flock(fd, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                return "limit"
            time.sleep(_POLL)
        else:
            return ""


def _stand(missing: Sequence[Sequence[str | None]]) -> dict[str, int]:
    """Make what is missing; return the locks that keep others from taking it away.

    Every runner holds the folders in which it made something, shared; so the last one
    tidies, and none while a command of another relies on what stands there.
    """
    held: dict[str, int] = {}
    for path, text in missing:
        parent = os.path.dirname(str(path))  # noqa: PTH120 - a key, not a path to open
        if parent not in held:
            held[parent] = os.open(parent, os.O_RDONLY)
            fcntl.flock(held[parent], fcntl.LOCK_SH)
        try:
            if text is None:
                Path(str(path)).mkdir()
            else:
                fd = os.open(str(path), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
                os.write(fd, text.encode())
                os.close(fd)
        except (FileExistsError, PermissionError):  # it stands, or no command can make it either
            continue
        except OSError as problem:
            if problem.errno != errno.EROFS:
                raise
    return held


def _tidy(missing: Sequence[Sequence[str | None]], held: dict[str, int]) -> None:
    """Take away what stands as it was made, where no other command is under way."""
    alone: set[str] = set()
    for parent, fd in held.items():
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            alone.add(parent)
    for path, text in missing:
        place = Path(str(path))
        if str(place.parent) not in alone:
            continue
        with contextlib.suppress(OSError):  # not empty, or not there: it is not ours
            if text is None:
                place.rmdir()
            elif place.read_text() == text:
                place.unlink()
    for fd in held.values():
        os.close(fd)


def _start(spec: Spec, environment: dict[str, str], output: int) -> int:
    """Start the command under a keeper, in a session of its own; return the keeper's pid.

    The keeper is a copy of this process that ends with the command, as it did. Should the
    runner be killed, it ends all that was started; it holds the runner's locks until then.
    """
    lifeline, held = os.pipe()
    pid = os.fork()
    if pid:
        os.close(lifeline)
        return pid
    try:
        os.close(held)
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        _prctl(_PR_SET_CHILD_SUBREAPER, 1)
        keeper = os.getpid()
        command = os.fork()
        if command == 0:
            _become(spec, environment, output, keeper)
        os._exit(_keep(_Child(command), lifeline))
    finally:
        os._exit(126)


def _keep(command: _Child, lifeline: int) -> int:
    """Wait for the command, and end everything once the lifeline shows the runner's death."""
    woken = [lifeline]
    if hasattr(os, "pidfd_open"):
        woken.append(os.pidfd_open(command.pid))
    while not command.ended():
        if lifeline in select.select(woken, [], [], _POLL)[0]:
            while _signal_all(_living(os.getpid()), signal.SIGKILL):
                command.ended()
            return 128 + signal.SIGKILL
    return command.exit_code()


def _become(spec: Spec, environment: dict[str, str], output: int, keeper: int) -> None:
    """Turn this process into the command; what prevents it is said in its output."""
    status = 126
    try:
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != keeper:
            os._exit(status)
        for number in _DEFAULTED:
            signal.signal(number, signal.SIG_DFL)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.chdir(spec.cwd)
        os.execvpe(spec.argv[0], spec.argv, environment)  # noqa: S606 - argv is the task
    except OSError as problem:
        os.write(2, f"cannot start {spec.argv[0]}: {problem.strerror}\n".encode())
        status = 127 if isinstance(problem, FileNotFoundError) else 126
    finally:
        os._exit(status)


def _living(group: int, spare: int = 0) -> list[int]:
    """List every living descendant but the first `spare` generations, in any session.

    Orphans come to this process, as it is their subreaper. Where there is no /proc the
    process group stands for all.
    """
    try:
        names = os.listdir("/proc")  # noqa: PTH208 - names are wanted, not paths
    except OSError:
        return [-group]
    children: dict[int, list[int]] = {}
    for name in filter(str.isdigit, names):
        try:
            text = Path("/proc", name, "stat").read_text(errors="replace")
        except OSError:
            continue
        state, parent, *_ = text.rpartition(")")[2].split()
        if state not in "ZX":
            children.setdefault(int(parent), []).append(int(name))
    generation = children.get(os.getpid(), [])
    found: list[int] = []
    while generation:
        found += generation if spare <= 0 else []
        spare -= 1
        generation = [pid for parent in generation for pid in children.get(parent, [])]
    return found


def _signal_all(pids: list[int], number: int) -> bool:
    """Signal each; tell whether any was still there."""
    there = False
    for pid in pids:
        try:
            os.kill(pid, number)
        except OSError:
            continue
        there = True
    return there


class _Child:
    """The started process: reaps it and every orphan, remembers its wait status."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.status: int | None = None

    def ended(self) -> bool:
        """Reap whatever has ended; tell whether the command itself has."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                break
            if pid == 0:
                break
            if pid == self.pid:
                self.status = status
        return self.status is not None

    def exit_code(self) -> int:
        """Tell how it ended, as a shell does."""
        code = os.waitstatus_to_exitcode(self.status or 0)
        return 128 - code if code < 0 else code


def _watch(child: _Child, output: _Output, deadline: float, stop: _Stop) -> str:
    """Copy output until the command ends, its time is over or a stop comes."""
    while True:
        if child.ended():
            return "exit"
        if stop.requested():
            return "stop"
        if time.monotonic() >= deadline:
            return "limit"
        output.take(_POLL)


def _end(child: _Child, output: _Output, *, wrapped: bool) -> None:
    """End all that lives: SIGTERM, then SIGKILL at the end of the grace, until none is left.

    The keeper and a wrapping process are spared SIGTERM: their death would kill the command.
    """
    if not child.ended():
        _signal_all(_living(child.pid, spare=2 if wrapped else 1), signal.SIGTERM)
        grace = time.monotonic() + _GRACE
        while not child.ended() and time.monotonic() < grace:
            output.take(_POLL)
    while _signal_all(_living(child.pid), signal.SIGKILL) or not child.ended():
        child.ended()
        output.take(0.01)
    drained = time.monotonic() + _DRAIN
    while time.monotonic() < drained and output.take(0):
        pass


def _run(
    spec: Spec, environment: dict[str, str], folder: Path, deadline: float, stop: _Stop
) -> End:
    source, sink = os.pipe()
    output = _Output(folder / OUTPUT, source, spec.output_limit)
    began = time.monotonic()
    child = _Child(_start(spec, environment, sink))
    os.close(sink)
    ended_by = _watch(child, output, deadline, stop)
    _end(child, output, wrapped=spec.wrapped)
    code = child.exit_code()
    number = code - 128 if 0 < code - 128 <= _SIGNALS else None
    seconds = round(time.monotonic() - began, 3)
    return End(code, number, ended_by, seconds, output.total, began=True)


def run(folder: Path, alive: int) -> None:
    """Run the folder's command once: a folder where one has begun is left as it is."""
    os.set_inheritable(alive, False)  # noqa: FBT003 - positional only
    if (folder / BEGUN).exists() or (folder / EXIT).exists():
        return
    spec = Spec(**json.loads((folder / SPEC).read_text()))
    environment: dict[str, str] = json.load(sys.stdin)
    deadline = time.monotonic() + spec.limit
    stop = _Stop(folder)
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    ended_by = _take_workspace(spec, deadline, stop)
    if ended_by:
        end = End(None, None, ended_by, 0.0, 0, began=False)
    else:
        write_whole(folder / BEGUN, {"pid": os.getpid(), "start": _start_time()})
        held = _stand(spec.missing)
        end = _run(spec, environment, folder, deadline, stop)
        _tidy(spec.missing, held)
    _record(folder, end)


def _record(folder: Path, end: End) -> None:
    """Write how it ended; on a full disk the tail of the output makes room for that."""
    try:
        write_whole(folder / EXIT, end._asdict())
    except OSError:
        output = folder / OUTPUT
        os.truncate(output, max(0, output.stat().st_size - _ROOM))
        write_whole(folder / EXIT, end._asdict())


if __name__ == "__main__":
    run(Path(sys.argv[1]), int(sys.argv[2]))
