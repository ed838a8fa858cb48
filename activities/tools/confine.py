"""What a command may see and change: the view it is given, and what enforces it here.

Confined, a command sees the whole file system read-only, except: its workspace (writable
for a Writer, with the git folder of a linked worktree, but for what `sealed` lists), a
private /tmp with its HOME in it, and a minimal /dev. Hidden are the protected paths
(Legato's home and stores), /run (sockets of daemons that would do its bidding) and the
credentials in the user's home. It runs in a process namespace of its own: it sees and
signals no process outside, and nothing of it outlives it. Its network is a loopback of its
own, unless the view grants the machine's: servers of the machine are out of reach.
"""

from __future__ import annotations

import json
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from activities.tools.sealed import GitFolders, Missing, git_folders, missing, sealed

TMP = "/tmp"  # noqa: S108 - the private one
HOME = "/tmp/home"  # noqa: S108 - inside the private one

_LAUNCHER = str(Path(__file__).with_name("namespaces.py"))
_EXEC = ("/bin/sh", "-c", 'exec "$0" "$@"')  # tells a missing program by 127, bubblewrap by 1
_PROBE_LIMIT = 15.0
_CREDENTIALS = (
    ".aws",
    ".azure",
    ".config/gcloud",
    ".config/gh",
    ".docker",
    ".git-credentials",
    ".gnupg",
    ".kube",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".ssh",
)
_PRIVATE = (TMP, "/var/tmp")  # noqa: S108 - both are the private one
_RUN_KEPT = ("/run/current-system", "/run/resolvconf", "/run/systemd/resolve", "/run/wrappers")


class Level(StrEnum):
    """What enforces a view, best first; `none` enforces nothing."""

    BUBBLEWRAP = "bubblewrap"
    NAMESPACES = "namespaces"
    NONE = "none"


@dataclass(frozen=True)
class Confinement:
    """What this machine offers, and why not something better (for people to read)."""

    level: Level
    reason: str


class Access(StrEnum):
    """What a mount makes of a path. In the order in which equal paths are mounted.

    To seal is to make read-only what could not be made where it is missing.
    """

    READ = "1-read"
    WRITE = "2-write"
    SEAL = "3-seal"
    HIDE = "4-hide"


@dataclass(frozen=True)
class View:
    """What one command is to see. Paths are absolute; `scratch` becomes its /tmp."""

    cwd: str
    workspace: str
    scratch: str
    writable: bool
    network: bool = False
    hidden: tuple[str, ...] = ()
    readable: tuple[str, ...] = ()


@dataclass(frozen=True)
class Mount:
    """One path that differs from the read-only whole, and what is seen there."""

    access: Access
    source: str
    target: str


def detect() -> Confinement:
    """Find the best confinement by trying each: takes up to a second, so keep the answer."""
    refusals: list[str] = []
    namespaces = "namespaces work, with Landlock where the kernel has it"
    for level, works in (
        (Level.BUBBLEWRAP, "bubblewrap works"),
        (Level.NAMESPACES, namespaces),
    ):
        problem = _problem(level)
        if not problem:
            return Confinement(level, "; ".join([works, *refusals]))
        refusals.append(problem)
    return Confinement(Level.NONE, "; ".join(refusals))


def offers(level: Level) -> bool:
    """Tell whether one level works on this machine, by trying it."""
    return level is Level.NONE or not _problem(level)


def _problem(level: Level) -> str:
    """Tell what prevents a level, by running a trivial command under it; "" for nothing."""
    if sys.platform != "linux":
        return f"{level} needs Linux"
    if level is Level.BUBBLEWRAP and shutil.which("bwrap") is None:
        return "bubblewrap is not installed (install the package bubblewrap)"
    with tempfile.TemporaryDirectory() as folder:
        view = View(cwd="/", workspace=folder, scratch=folder, writable=True)
        argv = wrap(level, ("/bin/sh", "-c", "exit 0"), view)
        try:
            done = subprocess.run(
                argv,
                capture_output=True,
                timeout=_PROBE_LIMIT,
                check=False,
                stdin=subprocess.DEVNULL,
            )
        except (OSError, subprocess.TimeoutExpired) as problem:
            return f"{level}: {problem}"
    said = done.stderr.decode(errors="replace").strip().replace("\n", ", ")
    return "" if done.returncode == 0 else f"{level} was refused: {said}"


def wrap(level: Level, argv: tuple[str, ...], view: View) -> tuple[str, ...]:
    """Put a command into its confinement: the arguments to run instead of `argv`."""
    if level is Level.NONE:
        return argv
    cwd = os.path.realpath(view.cwd)
    if level is Level.BUBBLEWRAP:
        return (*_bubblewrap(view), "--chdir", cwd, "--", *_EXEC, *argv)
    plan = {
        "cwd": cwd,
        "network": view.network,
        "mounts": [[m.access.value, m.source, m.target] for m in mounts(view)],
    }
    return (sys.executable, "-I", "-S", _LAUNCHER, json.dumps(plan), *argv)


def _bubblewrap(view: View) -> list[str]:
    flags = [shutil.which("bwrap") or "bwrap", "--die-with-parent", "--unshare-pid"]
    flags += ["--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--cap-drop", "ALL"]
    closing: list[str] = []
    if os.getuid() == 0:  # root is expected to write files of others, here too
        flags += ["--cap-add", "CAP_DAC_OVERRIDE"]
        closing += ["--remount-ro", "/proc"]  # /proc/sys obeys uid 0, with or without capabilities
    if not view.network:
        flags.append("--unshare-net")
    flags += ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    for mount in mounts(view):
        if mount.access is Access.WRITE:
            flags += ["--bind", mount.source, mount.target]
        elif mount.access is Access.READ:
            flags += ["--ro-bind", mount.source, mount.target]
        elif mount.access is Access.SEAL:
            flags += ["--ro-bind-try", mount.source, mount.target]
        elif Path(mount.target).is_dir():
            flags += ["--tmpfs", mount.target]
            closing += ["--remount-ro", mount.target]
        else:
            flags += ["--ro-bind", os.devnull, mount.target]
    return flags + closing


def mounts(view: View) -> tuple[Mount, ...]:
    """Plan a view's mounts in their order: the deeper path is later and so decides."""
    own = Access.WRITE if view.writable else Access.READ
    workspace, scratch = os.path.realpath(view.workspace), os.path.realpath(view.scratch)
    hidden = _real((*view.hidden, *_credentials()))
    private = _real(_PRIVATE)
    daemons = _real(("/run",))
    planned = [Mount(Access.HIDE, path, path) for path in (hidden | daemons) - private]
    planned += [Mount(Access.WRITE, scratch, path) for path in private]
    planned.append(Mount(own, workspace, workspace))
    git = _git(workspace, hidden)
    if git:
        planned += [Mount(own, path, path) for path in dict.fromkeys((git.common, git.own))]
    if view.writable:
        seals = map(os.path.realpath, sealed(workspace, git))
        planned += [Mount(Access.SEAL, path, path) for path in seals]
    for path in _real((*view.readable, *_RUN_KEPT)):
        if _inside(path, private | daemons) and not _inside(path, {*hidden, workspace}):
            planned.append(Mount(Access.READ, path, path))
    return tuple(sorted(planned, key=lambda m: (len(Path(m.target).parts), m.access, m.target)))


def made_up(view: View) -> tuple[Missing, ...]:
    """List what must stand while a command has this view, as only what exists can be sealed."""
    if not view.writable:
        return ()
    workspace = os.path.realpath(view.workspace)
    return missing(workspace, _git(workspace, _real((*view.hidden, *_credentials()))))


def _git(workspace: str, hidden: set[str]) -> GitFolders | None:
    """Find the git folder of a workspace, unless it is hidden apart from the workspace."""
    git = git_folders(workspace)
    if git and git.linked and _inside(git.common, hidden):
        return None
    return git


def programs(search_path: str) -> tuple[str, ...]:
    """List the folders that a PATH needs: an environment is kept whole, not its bin alone."""
    folders: list[str] = []
    for entry in filter(os.path.isabs, search_path.split(os.pathsep)):
        real = Path(os.path.realpath(entry))
        whole = real.name == "bin" and str(real.parent) not in {*_PRIVATE, "/", "/run"}
        folders.append(str(real.parent if whole else real))
    return tuple(folders)


def _real(paths: tuple[str, ...]) -> set[str]:
    """Resolve paths, leaving out those that do not exist for this user."""
    return {os.path.realpath(path) for path in paths if _exists(path)}


def _exists(path: str) -> bool:
    try:
        return Path(path).exists()
    except OSError:  # what this user cannot look at, its commands cannot either
        return False


def _inside(path: str, folders: set[str]) -> bool:
    return any(Path(path).is_relative_to(folder) for folder in folders)


def _credentials() -> tuple[str, ...]:
    try:
        home = Path(pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError:
        return ()
    return tuple(str(home / name) for name in _CREDENTIALS)
