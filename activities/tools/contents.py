"""What a regular file holds: its digest, its lines, and whether it is text."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from activities.tools.paths import parent_of
from activities.tools.refusals import refusal_of
from domain.errors import refused

if TYPE_CHECKING:
    from collections.abc import Generator

    from activities.tools.paths import Place
    from activities.tools.watch import Watch

MOST_TEXT = 5 * 1024 * 1024
"""The most bytes of text that one call reads or writes."""

MOST_SCANNED = 256 * 1024 * 1024
"""The largest file, in bytes, whose revision is taken."""

_CHUNK = 1024 * 1024
_REVISION = 16
_SOME_INVALID = 16
_KINDS = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


@dataclass(frozen=True)
class Found:
    """A regular file as it was read: `digest` is the SHA-256 of its bytes, `size` in bytes.

    `lines` counts newlines and an unfinished last line; `start` is the byte at which the
    line asked for begins, None past the end.
    """

    digest: str
    size: int
    lines: int
    start: int | None
    has_nul: bool
    status: os.stat_result

    @property
    def revision(self) -> str:
        """The short form of the digest that models pass back."""
        return self.digest[:_REVISION]


def digest_of(data: bytes) -> str:
    """Take the hexadecimal SHA-256 of a file's bytes."""
    return hashlib.sha256(data).hexdigest()


def revision_of(digest: str) -> str:
    """Shorten a digest to a revision: its first 16 hexadecimal digits."""
    return digest[:_REVISION]


@contextmanager
def open_regular(folder: int, name: str, path: str) -> Generator[int]:
    """Open a regular file to read, without waiting, whatever stands there.

    Raises OSError, `path_is_a_link`, `is_a_directory`, `not_a_regular_file`.
    """
    _refuse_irregular(os.stat(name, dir_fd=folder, follow_symlinks=False), path)
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
    opened = os.open(name, flags, dir_fd=folder)
    try:
        _refuse_irregular(os.fstat(opened), path)
        yield opened
    finally:
        os.close(opened)


def _refuse_irregular(status: os.stat_result, path: str) -> None:
    kind = stat.S_IFMT(status.st_mode)
    if kind == stat.S_IFREG:
        return
    if kind == stat.S_IFDIR:
        raise refusal_of(OSError(errno.EISDIR, ""), path)
    if kind == stat.S_IFLNK:
        raise refusal_of(OSError(errno.ELOOP, ""), path)
    raise refused(
        "not_a_regular_file",
        f"{path} is {_KINDS.get(kind, 'no regular file')}",
        next="leave it: only regular files can be read or changed",
    )


def scan(opened: int, path: str, watch: Watch, line: int = 1) -> Found:
    """Read an open file through once; raises `file_too_large` beyond 256 MiB."""
    status = os.fstat(opened)
    hasher, size, newlines, has_nul, last = hashlib.sha256(), 0, 0, False, b"\n"
    start = 0 if line <= 1 else None
    while size <= MOST_SCANNED and status.st_size <= MOST_SCANNED:
        watch.check()
        chunk = os.pread(opened, _CHUNK, size)
        if not chunk:
            break
        here = chunk.count(b"\n")
        if start is None and newlines + here >= line - 1:
            start = size + after_newlines(chunk, line - 1 - newlines)
        hasher.update(chunk)
        has_nul = has_nul or b"\0" in chunk
        size, newlines, last = size + len(chunk), newlines + here, chunk[-1:]
    else:
        raise _too_large(path, max(size, status.st_size), MOST_SCANNED)
    lines = newlines + (last != b"\n")
    if line > max(lines, 1):
        start = None
    return Found(hasher.hexdigest(), size, lines, start, has_nul, status)


def after_newlines(data: bytes, count: int) -> int:
    """Return the position after the first `count` newlines, the length where there are fewer."""
    position = 0
    for _ in range(count):
        found = data.find(b"\n", position)
        if found < 0:
            return len(data)
        position = found + 1
    return position


def _too_large(path: str, size: int, most: int) -> Exception:
    return refused(
        "file_too_large",
        f"{path} has {size} bytes; at most {most} are read for this",
        next="leave it, or work on a part of it with another tool",
    )


def current(place: Place, watch: Watch) -> Found | None:
    """Read what is at a place now; None where nothing is there."""
    try:
        with parent_of(place) as (folder, name), open_regular(folder, name, place.path) as opened:
            return scan(opened, place.path, watch)
    except FileNotFoundError:
        return None


def whole(place: Place, watch: Watch) -> tuple[Found, bytes]:
    """Read a file of at most 5 MiB; raises OSError, `file_too_large`."""
    with parent_of(place) as (folder, name), open_regular(folder, name, place.path) as opened:
        found = scan(opened, place.path, watch)
        if found.size > MOST_TEXT:
            raise _too_large(place.path, found.size, MOST_TEXT)
        data = os.pread(opened, MOST_TEXT + 1, 0)
    if digest_of(data) != found.digest:
        raise refused("file_changing", f"{place.path} changes while it is read", next="try again")
    return found, data


def as_text(data: bytes) -> tuple[str, int] | None:
    """Decode UTF-8: the text, and how many broken pieces became U+FFFD; None for no text.

    Up to 16 broken pieces, or 1 in 100 bytes, still make a text; a NUL never does.
    """
    if b"\0" in data:
        return None
    text = data.decode("utf-8", "replace")
    broken = text.count("\ufffd") - data.count(b"\xef\xbf\xbd")
    return None if broken > max(_SOME_INVALID, len(data) // 100) else (text, broken)
