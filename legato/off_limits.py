"""Which folders are never a workspace, whoever asks."""

from __future__ import annotations

from pathlib import Path

from domain.errors import refused

_SYSTEM = ("/proc", "/sys", "/dev")
_LENT = ("worktrees", "demo")
"""The folders in LEGATO_HOME with a folder for each run, and in that what the run works on."""

_DEPTH = 3


def require_allowed(folder: Path, home: Path) -> None:
    """Refuse a folder that no agent may work in; both are real, absolute paths.

    A folder that contains LEGATO_HOME is allowed: tools and commands are kept out of it.
    Raises `workspace_refused`.
    """
    why = _why(folder, home)
    if why:
        raise refused(
            "workspace_refused",
            f"{folder} cannot be a workspace.",
            cause=why,
            next="name the folder of the project to work on",
        )


def _why(folder: Path, home: Path) -> str:
    if folder == Path(folder.anchor):
        return "it is the root of the whole file system"
    for system in _SYSTEM:
        if folder.is_relative_to(system):
            return f"{system} is the operating system's own"
    if not folder.is_relative_to(home):
        return ""
    inner = folder.relative_to(home).parts
    if len(inner) >= _DEPTH and inner[0] in _LENT:
        return ""
    return f"it is {'in ' if inner else ''}LEGATO_HOME, {home}, where Legato keeps its own data"
