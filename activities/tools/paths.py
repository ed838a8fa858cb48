"""From the path a model wrote to a place in the workspace, or a refusal that says what to do."""

from __future__ import annotations

import errno
import os
import unicodedata
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from activities.tools.beneath import FOLDER, make_folder, open_folder, resolve
from activities.tools.refusals import refusal_of
from domain.errors import LegatoError, refused

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from domain.ports import ToolContext

Identity: TypeAlias = tuple[int, int]
"""Device and inode: what a folder is, whatever it is called."""

_LONGEST_NAME = 255
_LONGEST_PATH = 4096
_NOT_WRITTEN = frozenset({".git", "git~1", ".legato"})
_INSIDE = "use a path relative to the workspace, without leading / and without .."


@dataclass(frozen=True)
class Place:
    """A path in the workspace: `parts` are real names, no link among them.

    `root` is the descriptor of the workspace; `protected` the folders that hold Legato's
    own state and every folder above them.
    """

    root: int
    parts: tuple[str, ...]
    protected: frozenset[Identity]

    @property
    def path(self) -> str:
        """The path relative to the workspace, "." for the workspace itself."""
        return "/".join(self.parts) or "."


def split_path(text: str, workspace: str) -> tuple[str, ...]:
    """Split a path into names below the workspace; `a/../b` is `b`.

    An absolute path is taken where it begins with the workspace. Raises `invalid_path`,
    `name_too_long`, `path_outside_workspace`.
    """
    _refuse_unusable(text)
    if text.startswith("/"):
        text = _below(text, workspace)
    names: list[str] = []
    for name in text.split("/"):
        if name in {"", "."}:
            continue
        if name == "..":
            if not names:
                raise _outside(text)
            names.pop()
        else:
            names.append(name)
    if any(len(os.fsencode(name)) > _LONGEST_NAME for name in names):
        raise refusal_of(OSError(errno.ENAMETOOLONG, ""), shown(text[:80]))
    return tuple(names)


def _refuse_unusable(text: str) -> None:
    try:
        size = len(os.fsencode(text))
    except UnicodeEncodeError:
        size = -1
    if size < 0 or "\0" in text:
        raise refused(
            "invalid_path",
            f"{shown(text)} holds a character that no file name can have",
            next="use a name without NUL and without broken Unicode",
        )
    if size > _LONGEST_PATH:
        raise refusal_of(OSError(errno.ENAMETOOLONG, ""), shown(text[:80]))


def _below(text: str, workspace: str) -> str:
    text = "/" + text.lstrip("/")
    for base in (workspace.rstrip("/"), os.path.realpath(workspace).rstrip("/")):
        if text == base or text.startswith(base + "/"):
            return text[len(base) :].lstrip("/")
    raise _outside(text)


def _outside(text: str) -> LegatoError:
    return refused(
        "path_outside_workspace", f"{shown(text)} is outside the workspace", next=_INSIDE
    )


def shown(text: str) -> str:
    """Make a file name printable: control characters and broken bytes are escaped."""
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in text
    )


@contextmanager
def place_to_read(context: ToolContext, text: str) -> Generator[Place]:
    """Find a path to read; links are followed where they stay in the workspace."""
    given = split_path(text, context.workspace)
    with _workspace(context) as root:
        yield Place(root, _real(root, given, text), _protected(context))


@contextmanager
def place_to_change(context: ToolContext, text: str) -> Generator[Place]:
    """Find a path to change: through no link, and nothing that only its own tools change."""
    given = split_path(text, context.workspace)
    with _workspace(context) as root:
        parts = _real(root, given, text)
        _refuse_names((*given, *parts), text)
        if parts != given:
            raise refused(
                "path_is_a_link",
                f"{shown(text)} goes through a symbolic link; its real path is {'/'.join(parts)}",
                next=f"use {'/'.join(parts)}",
            )
        yield Place(root, parts, _protected(context))


def _real(root: int, given: tuple[str, ...], text: str) -> tuple[str, ...]:
    try:
        return resolve(root, given)
    except OSError as exc:
        raise refusal_of(exc, shown(text)) from None


def _refuse_names(parts: Sequence[str], text: str) -> None:
    for name in parts:
        if _folded(name) in _NOT_WRITTEN:
            raise _is_protected(f"{shown(text)} is in {shown(name)}, which file tools never change")


def _folded(name: str) -> str:
    """Reduce a name to what a file system that ignores case may take it for."""
    visible = "".join(char for char in name if unicodedata.category(char) != "Cf")
    return unicodedata.normalize("NFKC", visible).casefold().rstrip(" .")


def _is_protected(message: str) -> LegatoError:
    return refused("protected_path", message, next="leave it; use the tool made for it, if any")


@contextmanager
def _workspace(context: ToolContext) -> Generator[int]:
    if not context.workspace:
        raise refused("no_workspace", "this run has no workspace", next="work without files")
    try:
        root = os.open(context.workspace, FOLDER)
    except OSError as exc:
        raise LegatoError(
            "workspace_missing",
            f"the workspace cannot be opened: {exc.strerror}",
            next="tell the person that the workspace is gone",
        ) from None
    try:
        if _identity(os.fstat(root)) in _identities(
            [context.home, context.stores, context.call_folder]
        ):
            raise _is_protected("the workspace is Legato's own state")
        yield root
    finally:
        os.close(root)


def _identity(found: os.stat_result) -> Identity:
    return found.st_dev, found.st_ino


def _identities(paths: Sequence[str]) -> frozenset[Identity]:
    found: set[Identity] = set()
    for path in paths:
        if path and os.path.exists(path):  # noqa: PTH110 - a path as text, as the context has it
            found.add(_identity(os.stat(path)))  # noqa: PTH116 - the same
    return frozenset(found)


def _protected(context: ToolContext) -> frozenset[Identity]:
    return _identities([context.home, context.stores, context.call_folder])


def is_protected(place: Place, folder: int) -> bool:
    """Tell whether an open folder is one of Legato's own, or leads to one."""
    return _identity(os.fstat(folder)) in place.protected


@contextmanager
def folder_at(place: Place, parts: tuple[str, ...], *, make: bool = False) -> Generator[int]:
    """Open a folder of the workspace; raises OSError, or `protected_path`.

    `make` makes what is missing of it.
    """
    folder, depth, missing = _deepest(place, parts)
    try:
        _refuse_protected(place, folder, depth)
        if missing is not None and not (make and isinstance(missing, FileNotFoundError)):
            raise missing
        for name in parts[depth:]:
            below = make_folder(folder, name)
            os.close(folder)
            folder = below
            if is_protected(place, folder):
                raise _is_protected(f"{place.path} is in Legato's own state")
        yield folder
    finally:
        os.close(folder)


def _deepest(place: Place, parts: tuple[str, ...]) -> tuple[int, int, OSError | None]:
    """Open as much of a path as there is, so that a refusal tells nothing of protected state."""
    missing: OSError | None = None
    for depth in range(len(parts), -1, -1):
        try:
            return open_folder(place.root, parts[:depth]), depth, missing
        except (FileNotFoundError, NotADirectoryError) as exc:
            missing = missing or exc
    raise refusal_of(missing or OSError(errno.ENOENT, ""), place.path)


def _refuse_protected(place: Place, folder: int, depth: int) -> None:
    """Climb from an open folder to the workspace: what it really is, not what it is called."""
    for up in range(depth):
        above = os.stat("../" * up + ".", dir_fd=folder)
        if _identity(above) in place.protected:
            raise _is_protected(f"{place.path} is in Legato's own state")
    top = os.stat("../" * depth + ".", dir_fd=folder)
    if _identity(top) != _identity(os.fstat(place.root)):
        raise refusal_of(OSError(errno.EXDEV, ""), place.path)


@contextmanager
def parent_of(place: Place, *, make: bool = False) -> Generator[tuple[int, str]]:
    """Open the folder that holds a place; yields its descriptor and the place's name in it."""
    if not place.parts:
        raise refusal_of(OSError(errno.EISDIR, ""), ".")
    with folder_at(place, place.parts[:-1], make=make) as folder:
        yield folder, place.parts[-1]
