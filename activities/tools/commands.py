"""Runs a command once per call folder, whatever becomes of the worker that asked for it."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from activities.tools import confine, runner
from domain.errors import LegatoError, problems

if TYPE_CHECKING:
    from collections.abc import Sequence

    from domain.ports import StopSignal

OUTPUT_LIMIT = 50 * 1000 * 1000
"""At most this many bytes of output are kept; the rest is counted."""

_RUNNER = str(Path(__file__).with_name("runner.py"))
_SCRATCH = "scratch"
_LOG = "runner.log"
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_DEFAULTS = {"PATH": _PATH, "LANG": "C.UTF-8", "TZ": "UTC", "PYTHONDONTWRITEBYTECODE": "1"}
"""No bytecode: a check is to leave no `__pycache__` in somebody's tree."""

_POLL = 0.03
_OVERTIME = 5.0
_STARTS = 2


@dataclass(frozen=True)
class Command:
    """What to run, where, and what it may touch. Paths are absolute.

    `argv` is the program and its arguments (`shell_argv` makes it of shell text). `cwd` is in
    `workspace`, the only place that a `writable` command changes (it gets a private /tmp and
    HOME beside). `environment` holds the declared names; PATH, LANG, TZ and
    PYTHONDONTWRITEBYTECODE have defaults, HOME and TMPDIR are always private, nothing else is
    passed on. `limit` is in seconds, the wait for the workspace included. `lock` is the file
    that keeps commands of one workspace apart: a writable one runs alone, others together.
    `protected` paths are neither readable nor writable where a level confines; the call
    folder is added. `readable` names folders under /tmp and /run that it needs to see; those
    that PATH names are added.
    Without `network`, and where a level confines, it reaches only what listens inside it.
    """

    argv: tuple[str, ...]
    cwd: str
    workspace: str
    limit: float
    writable: bool
    level: confine.Level
    lock: str
    protected: tuple[str, ...] = ()
    readable: tuple[str, ...] = ()
    network: bool = False
    environment: Mapping[str, str] = field(default_factory=dict[str, str])


class EndedBy(StrEnum):
    """What ended a command: itself, its time limit, or a stop."""

    EXIT = "exit"
    LIMIT = "limit"
    STOP = "stop"


@dataclass(frozen=True)
class CommandEnd:
    """How a command ended.

    `exit_code` is as a shell tells it (127 not found, 128 + n for signal n) and None where
    `began` is false: the workspace stayed busy to the limit, or a stop came first.
    `seconds` counts from its start. `output_bytes` counts all it printed; the file
    `output` holds the first OUTPUT_LIMIT of them, stdout and stderr as they came.
    """

    exit_code: int | None
    signal: int | None
    ended_by: EndedBy
    seconds: float
    output_bytes: int
    output: str
    began: bool


@dataclass(frozen=True)
class Ended:
    """The folder's command ran, and this is how it ended."""

    end: CommandEnd


@dataclass(frozen=True)
class Running:
    """The folder's runner lives: the command runs, or waits for its workspace."""


@dataclass(frozen=True)
class NeverBegun:
    """Nothing ran for this folder and nothing is under way that could."""


@dataclass(frozen=True)
class Lost:
    """The command began and its runner died before it could say how it ended."""

    reason: str


Found: TypeAlias = Ended | Running | NeverBegun | Lost


def shell_argv(text: str) -> tuple[str, ...]:
    """Make the arguments that run shell text: bash where it is installed, else sh."""
    return (shutil.which("bash", path=_PATH) or "/bin/sh", "-c", text)


def find_command(call_folder: str) -> Found:
    """Tell what became of a call folder's command, from the folder alone."""
    folder = Path(call_folder)
    alive = _is_alive(folder)
    ended = _read_end(folder)  # after the lock: a runner that let go has written it
    if ended is not None:
        return Ended(ended)
    if alive:
        return Running()
    if not (folder / runner.BEGUN).exists():
        return NeverBegun()
    began = json.loads((folder / runner.BEGUN).read_text())
    return Lost(f"the runner of the command (pid {began['pid']}) died before the command ended")


def run_command(command: Command, call_folder: str, stop: StopSignal) -> CommandEnd:
    """Run a command, or wait for the one that an earlier call with this folder started.

    Blocks until it has ended; a set `stop` ends it within two seconds. Raises
    `command_invalid` (everything wrong at once), `command_lost` where an earlier start left
    no word of its end, `command_stuck` where the runner outlives limit and stop,
    `command_not_started` where it does not come up.
    """
    folder = Path(call_folder)
    started: list[subprocess.Popen[bytes]] = []
    while len(started) <= _STARTS:
        found = wait_command(call_folder, command.limit, stop)
        if isinstance(found, Ended):
            _clear(folder, started)
            return found.end
        if isinstance(found, Lost):
            raise _lost(found.reason)
        if stop.is_set():
            return _stopped(folder)
        _raise_if_invalid(command)
        started += _start(command, folder)
    raise _not_started(folder)


def wait_command(call_folder: str, limit: float, stop: StopSignal) -> Found:
    """Wait, at most `limit` seconds and a little, while a folder's command runs.

    Starts nothing. A set `stop` ends the command. Raises `command_stuck`.
    """
    asked = False
    give_up = time.monotonic() + limit + _OVERTIME
    while isinstance(found := find_command(call_folder), Running):
        if asked:
            time.sleep(_POLL)
        elif stop.wait(_POLL):
            request_stop(call_folder)
            asked = True
            give_up = min(give_up, time.monotonic() + _OVERTIME)
        if time.monotonic() > give_up:
            raise _stuck()
    return found


def read_output(end: CommandEnd) -> bytes:
    """Read what was kept of a command's output."""
    try:
        return Path(end.output).read_bytes()
    except FileNotFoundError:
        return b""


def request_stop(call_folder: str) -> None:
    """Ask a running command to end; safe to repeat, and where nothing runs."""
    Path(call_folder, runner.STOP).touch()


def _is_alive(folder: Path) -> bool:
    try:
        fd = os.open(folder / runner.ALIVE, os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(fd)
    return False


def _read_end(folder: Path) -> CommandEnd | None:
    try:
        end = runner.End(**json.loads((folder / runner.EXIT).read_text()))
    except FileNotFoundError:
        return None
    return CommandEnd(
        exit_code=end.exit_code,
        signal=end.signal,
        ended_by=EndedBy(end.ended_by),
        seconds=end.seconds,
        output_bytes=end.output_bytes,
        output=str(folder / runner.OUTPUT),
        began=end.began,
    )


def _start(command: Command, folder: Path) -> list[subprocess.Popen[bytes]]:
    """Start the runner, its life lock already held; nothing where another holds the lock."""
    _prepare(command, folder)
    alive = os.open(folder / runner.ALIVE, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(alive, fcntl.LOCK_EX | fcntl.LOCK_NB)
        runner.write_whole(folder / runner.SPEC, _spec(command, folder)._asdict())
        with (folder / _LOG).open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-I", "-S", _RUNNER, str(folder), str(alive)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=log,
                pass_fds=(alive,),
                start_new_session=True,
                cwd="/",
                env={},
            )
    except BlockingIOError:
        return []
    finally:
        os.close(alive)
    _hand_over(process, _environment(command, folder))
    return [process]


def _hand_over(process: subprocess.Popen[bytes], environment: Mapping[str, str]) -> None:
    """Give the runner the command's environment: it may hold secrets, so never on disk."""
    if process.stdin is not None:
        with contextlib.suppress(BrokenPipeError), process.stdin as pipe:
            pipe.write(json.dumps(dict(environment)).encode())


def _prepare(command: Command, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    (folder / _SCRATCH / "home").mkdir(parents=True, exist_ok=True)
    if command.lock:
        Path(command.lock).parent.mkdir(parents=True, exist_ok=True)


def _spec(command: Command, folder: Path) -> runner.Spec:
    view = confine.View(
        cwd=command.cwd,
        workspace=command.workspace,
        scratch=str(folder / _SCRATCH),
        writable=command.writable,
        network=command.network,
        hidden=(*command.protected, str(folder)),
        readable=(*command.readable, *confine.programs(_environment(command, folder)["PATH"])),
    )
    return runner.Spec(
        argv=list(confine.wrap(command.level, command.argv, view)),
        cwd=command.cwd if command.level is confine.Level.NONE else "/",
        limit=command.limit,
        lock=command.lock,
        exclusive=command.writable,
        wrapped=command.level is not confine.Level.NONE,
        output_limit=OUTPUT_LIMIT,
        missing=_missing(command, view),
    )


def _missing(command: Command, view: confine.View) -> list[list[str | None]]:
    if command.level is confine.Level.NONE:
        return []
    return [[one.path, one.text] for one in confine.made_up(view)]


def _environment(command: Command, folder: Path) -> dict[str, str]:
    confined = command.level is not confine.Level.NONE
    scratch = confine.TMP if confined else str(folder / _SCRATCH)
    home = confine.HOME if confined else str(folder / _SCRATCH / "home")
    return {**_DEFAULTS, **command.environment, "HOME": home, "TMPDIR": scratch}


def _clear(folder: Path, started: Sequence[subprocess.Popen[bytes]]) -> None:
    """Take away what an ended command leaves: its private /tmp, its runner's exit status."""
    for process in started:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_OVERTIME)
    shutil.rmtree(folder / _SCRATCH, ignore_errors=True)


def _stopped(folder: Path) -> CommandEnd:
    """Tell of a command that a stop kept from starting."""
    output = str(folder / runner.OUTPUT)
    return CommandEnd(None, None, EndedBy.STOP, 0.0, 0, output, began=False)


def _raise_if_invalid(command: Command) -> None:
    cwd, workspace = Path(command.cwd), Path(command.workspace)
    found: list[str] = []
    if not cwd.is_dir():
        found.append(f"{cwd} is not a folder")
    elif not cwd.resolve().is_relative_to(workspace.resolve()):
        found.append(f"{cwd} is outside the workspace {workspace}")
    if not command.argv or not command.argv[0]:
        found.append("there is no program to run")
    if not command.limit > 0:
        found.append(f"the limit of {command.limit} seconds is not above 0")
    words = [*command.argv, *command.environment, *command.environment.values()]
    found += [f"{word[:40]!r} cannot be passed to a program" for word in words if not _passes(word)]
    if found:
        raise problems("command_invalid", "the command cannot be run", found, next="correct it")


def _passes(word: str) -> bool:
    try:
        return b"\0" not in os.fsencode(word)
    except UnicodeEncodeError:
        return False


def _lost(reason: str) -> LegatoError:
    return LegatoError(
        "command_lost",
        "the command was begun and it cannot be told how it ended",
        cause=reason,
        next="look at what the command was to change, then decide whether to run it again",
    )


def _stuck() -> LegatoError:
    return LegatoError(
        "command_stuck",
        "the command could not be ended",
        cause="its runner answers neither to its time limit nor to a stop",
        next="look for a process in uninterruptible sleep on this machine",
    )


def _not_started(folder: Path) -> LegatoError:
    said = (folder / _LOG).read_text(errors="replace").strip().splitlines()
    return LegatoError(
        "command_not_started",
        "the program that runs commands does not start on this machine",
        cause=said[-1] if said else "it ended without a word",
        next=f"run it by hand to see why: {sys.executable} -I -S {_RUNNER}",
    )
