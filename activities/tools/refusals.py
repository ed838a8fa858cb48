"""Refusals of the file tools as outcomes that a model can act on."""

from __future__ import annotations

import errno
from functools import wraps
from typing import TYPE_CHECKING

from domain.errors import LegatoError, refused
from domain.ports import Executed
from domain.tools.results import error

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from domain.codec import Json
    from domain.ports import Execute, ToolContext, ToolReturn

_BY_ERRNO: Mapping[int, tuple[str, str, str]] = {
    errno.ENOENT: ("not_found", "does not exist", "look for it with list_files"),
    errno.ENOTDIR: (
        "not_a_directory",
        "goes through a file as if it were a folder",
        "look at the folder above it with list_files",
    ),
    errno.EISDIR: ("is_a_directory", "is a folder", "list it with list_files"),
    errno.ELOOP: (
        "path_is_a_link",
        "goes through a symbolic link",
        "use the real path of the file, as list_files shows it",
    ),
    errno.EXDEV: (
        "path_outside_workspace",
        "leads out of the workspace, or through an absolute link",
        "use a path relative to the workspace and inside it",
    ),
    errno.ENAMETOOLONG: ("name_too_long", "is too long a name", "use a shorter name"),
    errno.EACCES: (
        "permission_denied",
        "may not be opened by this worker",
        "leave it as it is, or ask a person to change its permissions",
    ),
    errno.ENOSPC: ("disk_full", "does not fit: the disk is full", "ask a person to make room"),
    errno.EROFS: (
        "read_only_file_system",
        "is on a file system that cannot be written",
        "report what should change instead of changing it",
    ),
}
_SAME = {errno.EPERM: errno.EACCES, errno.EDQUOT: errno.ENOSPC}


def refusal_of(problem: OSError, path: str) -> LegatoError:
    """Say what the operating system's answer about `path` means and what to do."""
    number = problem.errno or 0
    row = _BY_ERRNO.get(_SAME.get(number, number))
    if row is None:
        reason = problem.strerror or type(problem).__name__
        return refused("io_error", f"{path} could not be used: {reason}", next="try once more")
    code, what, advice = row
    return refused(code, f"{path} {what}", next=advice)


def text_of(problem: LegatoError) -> str:
    """Render a refusal for a model: what happened, then what to do."""
    return f"{problem.message}. Next: {problem.next}." if problem.next else f"{problem.message}."


def answering(execute: Callable[[Mapping[str, Json], ToolContext], ToolReturn]) -> Execute:
    """Make an executor return its refusals as error outcomes."""

    @wraps(execute)
    def run(arguments: Mapping[str, Json], context: ToolContext) -> ToolReturn:
        try:
            return execute(arguments, context)
        except LegatoError as exc:
            return Executed(error(exc.code, text_of(exc)))
        except OSError as exc:
            problem = refusal_of(exc, str(arguments.get("path") or "the workspace"))
            return Executed(error(problem.code, text_of(problem)))

    return run
