"""The program that gives one command namespaces of its own, where bubblewrap is missing.

Started by path (`python -I -S namespaces.py PLAN ARGV...`) with only the standard
library. PLAN is JSON: `cwd`, `network`, and `mounts` as `[access, source, target]` with
access 1-read, 2-write, 3-seal, 4-hide, shallow paths first. Exits as the command does, 128 + n
for signal n; exits 125 where it cannot confine. Landlock, where the kernel has it, says
a second time what may be written, and keeps signals and abstract sockets inside.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import signal
import socket
import stat
import struct
import sys
from typing import NamedTuple

_READ, _WRITE, _SEAL, _HIDE = "1-read", "2-write", "3-seal", "4-hide"
_CANNOT = 125

_CLONE = {
    "mount": 0x20000,
    "uts": 0x4000000,
    "ipc": 0x8000000,
    "user": 0x10000000,
    "pid": 0x20000000,
}
_CLONE_NET = 0x40000000
_MS_RDONLY, _MS_NOSUID, _MS_NODEV, _MS_NOEXEC = 1, 2, 4, 8
_MS_BIND, _MS_REC, _MS_SLAVE = 0x1000, 0x4000, 0x80000
_AT_FDCWD, _AT_RECURSIVE = -100, 0x8000
_PR_SET_PDEATHSIG, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS, _PR_CAP_AMBIENT = 1, 24, 38, 47
_PR_CAP_AMBIENT_CLEAR_ALL = 4
_CAPABILITY_VERSION_3 = 0x20080522
_LAST_CAPABILITY = 63
_SYS_MOUNT_SETATTR, _SYS_LANDLOCK = 442, 444  # the same number on every architecture
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
_LINKS = {
    "fd": "/proc/self/fd",
    "stdin": "fd/0",
    "stdout": "fd/1",
    "stderr": "fd/2",
    "ptmx": "pts/ptmx",
}

# Landlock's rights to change files: write, then remove_dir to make_sym; refer and
# truncate came with the second and third version, scopes with the sixth.
_LANDLOCK_WRITES = 1 << 1 | sum(1 << bit for bit in range(4, 13))
_LANDLOCK_REFER, _LANDLOCK_TRUNCATE = 1 << 13, 1 << 14
_LANDLOCK_SCOPES = 0b11
_LANDLOCK_SCOPES_SINCE = 6

_libc = ctypes.CDLL(None, use_errno=True)


class Mount(NamedTuple):
    """One path of the plan, its source opened before anything is covered."""

    access: str
    source: int
    target: str


def _checked(what: str, result: int) -> int:
    if result < 0:
        problem = os.strerror(ctypes.get_errno())
        sys.stderr.write(f"cannot confine: {what}: {problem}\n")
        sys.stderr.flush()
        os._exit(_CANNOT)
    return result


def _mount(source: str, target: str, kind: str, flags: int, options: str = "") -> None:
    done = _libc.mount(
        source.encode(), target.encode(), kind.encode(), ctypes.c_ulong(flags), options.encode()
    )
    _checked(f"mount {kind or 'bind'} on {target}", done)


def _attributes(target: str, *, add: int = 0, drop: int = 0, deep: bool = False) -> int:
    wanted = struct.pack("QQQQ", add, drop, 0, 0)
    flags = _AT_RECURSIVE if deep else 0
    return int(
        _libc.syscall(
            _SYS_MOUNT_SETATTR,
            _AT_FDCWD,
            target.encode(),
            flags,
            wanted,
            ctypes.c_size_t(len(wanted)),
        )
    )


def _enter(*, network: bool) -> None:
    """Leave for new namespaces, as the same user inside as outside."""
    uid, gid = os.getuid(), os.getgid()
    flags = sum(_CLONE.values()) | (0 if network else _CLONE_NET)
    _checked("new namespaces", _libc.unshare(flags))
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{uid} {uid} 1"),
        ("gid_map", f"{gid} {gid} 1"),
    ):
        with open(f"/proc/self/{name}", "w") as file:  # noqa: PTH123 - one dependency less
            file.write(text)
    if not network:
        _loopback_up()


def _loopback_up() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh22x", b"lo", 0x1 | 0x40))


def _open_all(plan: list[list[str]]) -> list[Mount]:
    """Open every source; what is to be sealed and could not be made cannot be made inside."""
    return [
        Mount(access, os.open(source, os.O_PATH), target)
        for access, source, target in plan
        if access != _SEAL or os.path.lexists(source)
    ]


def _place(target: str, *, folder: bool) -> None:
    """Make what a mount needs to stand on, where an outer mount covered it."""
    if os.path.lexists(target):
        return
    parent = os.path.dirname(target)  # noqa: PTH120 - no pathlib here
    os.makedirs(target if folder else parent, exist_ok=True)  # noqa: PTH103 - no pathlib here
    if not folder:
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o600))


def _is_folder(opened: int) -> bool:
    return stat.S_ISDIR(os.fstat(opened).st_mode)


def _bind(source: int, target: str) -> None:
    _place(target, folder=_is_folder(source))
    _mount(f"/proc/self/fd/{source}", target, "", _MS_BIND | _MS_REC)


def _devices() -> None:
    """Put the harmless devices in the place of all."""
    opened = {name: os.open(f"/dev/{name}", os.O_PATH) for name in _DEVICES}
    _mount("tmpfs", "/dev", "tmpfs", _MS_NOSUID, "mode=755")
    for name, device in opened.items():
        _bind(device, f"/dev/{name}")
        os.close(device)
    os.mkdir("/dev/shm")  # noqa: PTH102, S108 - the private one
    os.chmod("/dev/shm", 0o1777)  # noqa: PTH101, S103, S108 - as everywhere
    os.mkdir("/dev/pts")  # noqa: PTH102 - no pathlib here
    _mount(
        "devpts",
        "/dev/pts",
        "devpts",
        _MS_NOSUID | _MS_NOEXEC,
        "newinstance,ptmxmode=0666,mode=620",
    )
    for name, to in _LINKS.items():
        os.symlink(to, f"/dev/{name}")  # noqa: PTH211 - no pathlib here


def _build(mounts: list[Mount]) -> list[str]:
    """Build the view; return the paths that may be written."""
    nothing = os.open(os.devnull, os.O_PATH)
    _mount("", "/", "", _MS_REC | _MS_SLAVE)
    _checked("a read-only file system", _attributes("/", add=_MS_RDONLY, deep=True))
    _mount("proc", "/proc", "proc", _MS_RDONLY | _MS_NOSUID | _MS_NODEV | _MS_NOEXEC)
    _devices()
    sealed: list[str] = []
    for mount in mounts:
        if mount.access != _HIDE:
            _bind(mount.source, mount.target)
            if mount.access == _WRITE:  # refused where it was read-only before: it stays so
                _attributes(mount.target, drop=_MS_RDONLY)
        elif _is_folder(mount.source):
            _place(mount.target, folder=True)
            _mount("tmpfs", mount.target, "tmpfs", _MS_NOSUID | _MS_NODEV, "mode=755,size=1m")
            sealed.append(mount.target)
        else:
            _bind(nothing, mount.target)
            _checked("hide", _attributes(mount.target, add=_MS_RDONLY | _MS_NODEV))
    for target in sealed:
        _checked("seal", _attributes(target, add=_MS_RDONLY))
    for fd in (nothing, *(mount.source for mount in mounts)):
        os.close(fd)
    return [mount.target for mount in mounts if mount.access == _WRITE]


def _drop_capabilities() -> None:
    """Give up every capability, for whatever is run from here on too."""
    _libc.prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    for capability in range(_LAST_CAPABILITY + 1):
        _libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)
    header, none = struct.pack("Ii", _CAPABILITY_VERSION_3, 0), bytes(24)
    _checked("capabilities", _libc.capset(header, none))
    _checked("no_new_privs", _libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))


def _landlock(writable: list[str]) -> None:
    """Allow writes beneath the given paths only; nothing on a kernel without Landlock."""
    version = int(_libc.syscall(_SYS_LANDLOCK, None, ctypes.c_size_t(0), 1))
    if version < 1:
        return
    rights = _LANDLOCK_WRITES
    rights |= _LANDLOCK_REFER if version > 1 else 0
    rights |= _LANDLOCK_TRUNCATE if version > 2 else 0  # noqa: PLR2004 - the third version
    attributes = struct.pack("QQQ", rights, 0, _LANDLOCK_SCOPES)
    size = 24 if version >= _LANDLOCK_SCOPES_SINCE else 8
    rules = _checked("landlock", _libc.syscall(_SYS_LANDLOCK, attributes, ctypes.c_size_t(size), 0))
    for path in (*writable, "/dev"):
        beneath = os.open(path, os.O_PATH)
        rule = struct.pack("=Qi", rights, beneath)
        _checked(f"landlock {path}", _libc.syscall(_SYS_LANDLOCK + 1, rules, 1, rule, 0))
        os.close(beneath)
    _checked("landlock", _libc.syscall(_SYS_LANDLOCK + 2, rules, 0))
    os.close(rules)


def _status(wait_status: int) -> int:
    code = os.waitstatus_to_exitcode(wait_status)
    return 128 - code if code < 0 else code


def _wait_for(child: int) -> int:
    """Reap what ends until the child does; return its exit status as a shell tells it."""
    while True:
        pid, status = os.wait()
        if pid == child:
            return _status(status)


def _first(plan: dict[str, object], listed: list[list[str]], argv: list[str]) -> None:
    """Be the first process inside: its end is the end of all."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    writable = _build(_open_all(listed))
    os.chdir(str(plan["cwd"]))
    _drop_capabilities()
    _landlock(writable)
    child = os.fork()
    if child:
        os._exit(_wait_for(child))
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execvp(argv[0], argv)  # noqa: S606 - argv is the task
    except OSError as problem:
        sys.stderr.write(f"cannot start {argv[0]}: {problem.strerror}\n")
        sys.stderr.flush()
        os._exit(127 if isinstance(problem, FileNotFoundError) else 126)


def run(plan: dict[str, object], listed: list[list[str]], argv: list[str]) -> int:
    """Run one command by the plan; returns its exit status."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    try:
        _enter(network=bool(plan["network"]))
        first = os.fork()
        if first == 0:
            _first(plan, listed, argv)
    except OSError as problem:
        sys.stderr.write(f"cannot confine: {problem}\n")
        sys.stderr.flush()
        os._exit(_CANNOT)
    return _wait_for(first)


if __name__ == "__main__":
    given = json.loads(sys.argv[1])
    sys.exit(run(given, given["mounts"], sys.argv[2:]))
