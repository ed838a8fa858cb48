"""Opening folders beneath a root without following a link, whatever the tree does meanwhile."""

from __future__ import annotations

import ctypes
import errno
import os
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
MOST_LINKS = 40

_OPENAT2 = 437
_NO_MAGIC_LINKS, _NO_LINKS, _BENEATH = 0x02, 0x04, 0x08
_TRIES = 8


def open_folder(root: int, parts: Sequence[str]) -> int:
    """Open the folder `parts` beneath `root` and return its descriptor, the caller's to close.

    No part may be a link, so the names passed are the real ones. Raises OSError: EXDEV for
    a part that could leave the root, ELOOP for a link, ENOENT, ENOTDIR, EACCES.
    """
    if openat2_works():
        return open_by_kernel(root, parts)
    return open_by_walk(root, parts)


@lru_cache(maxsize=1)
def openat2_works() -> bool:
    """Tell whether this kernel has openat2 and lets us call it."""
    here = os.open("/", FOLDER)
    try:
        os.close(open_by_kernel(here, ()))
    except (OSError, AttributeError):
        return False
    else:
        return True
    finally:
        os.close(here)


def open_by_kernel(root: int, parts: Sequence[str]) -> int:
    """Open a folder by one openat2 call: the kernel keeps it beneath the root."""
    _refuse_strange(parts)
    path = os.fsencode("/".join(parts) or ".")
    how = (ctypes.c_uint64 * 3)(FOLDER, 0, _BENEATH | _NO_LINKS | _NO_MAGIC_LINKS)
    call = _system_call()
    code = 0
    for _ in range(_TRIES):
        opened = call(_OPENAT2, root, path, ctypes.byref(how), ctypes.sizeof(how))
        if opened >= 0:
            return opened
        code = ctypes.get_errno()
        if code not in (errno.EAGAIN, errno.EINTR):
            break
    raise OSError(code, os.strerror(code), "/".join(parts))


@lru_cache(maxsize=1)
def _system_call() -> Callable[..., int]:
    function = ctypes.CDLL(None, use_errno=True).syscall
    function.restype = ctypes.c_long
    return function


def open_by_walk(root: int, parts: Sequence[str]) -> int:
    """Open a folder one name at a time: the way where there is no openat2."""
    _refuse_strange(parts)
    current = os.open(".", FOLDER, dir_fd=root)
    for name in parts:
        try:
            below = _step(current, name)
        finally:
            os.close(current)
        current = below
    return current


def make_folder(parent: int, name: str) -> int:
    """Open the folder `name` in `parent`, making it where it is missing."""
    _refuse_strange((name,))
    with suppress(FileExistsError):
        os.mkdir(name, dir_fd=parent)
    return _step(parent, name)


def _step(parent: int, name: str) -> int:
    try:
        return os.open(name, FOLDER | os.O_NOFOLLOW, dir_fd=parent)
    except NotADirectoryError:
        # Linux says ENOTDIR for a link to a folder, macOS ELOOP.
        if read_link(parent, name) is None:
            raise
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), name) from None


def _refuse_strange(parts: Sequence[str]) -> None:
    for name in parts:
        if name in {"", ".", ".."} or "/" in name or "\0" in name:
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), name)


def read_link(folder: int, name: str) -> str | None:
    """Return where the link `name` points, None where it is missing or no link."""
    try:
        return os.readlink(name, dir_fd=folder)
    except OSError as exc:
        if exc.errno in (errno.EINVAL, errno.ENOENT, errno.ENOTDIR):
            return None
        raise


def resolve(root: int, parts: Sequence[str]) -> tuple[str, ...]:
    """Follow relative links that stay beneath `root`; names that do not exist are kept.

    What this finds may be outdated at once: it says which names to ask for, and
    `open_folder` decides. Raises OSError: EXDEV for a link that is absolute or leaves the
    root, ELOOP for more than 40 links.
    """
    pending, done, links = list(reversed(parts)), list[str](), 0
    while pending:
        name = pending.pop()
        if name in {"", "."}:
            continue
        if name == "..":
            if not done:
                raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), "..")
            done.pop()
            continue
        target = _link_at(root, done, name)
        if target is None:
            done.append(name)
            continue
        links += 1
        if target.startswith("/") or links > MOST_LINKS:
            code = errno.EXDEV if target.startswith("/") else errno.ELOOP
            raise OSError(code, os.strerror(code), name)
        pending.extend(reversed(target.split("/")))
    return tuple(done)


def _link_at(root: int, folder: Sequence[str], name: str) -> str | None:
    try:
        opened = open_folder(root, folder)
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        return read_link(opened, name)
    finally:
        os.close(opened)
