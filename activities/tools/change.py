"""One file of the workspace replaced or removed in one step, with a receipt before it."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from activities.tools.contents import Found, current, digest_of, revision_of
from activities.tools.paths import parent_of, place_to_change
from activities.tools.receipts import (
    Receipt,
    alone,
    drop_receipt,
    find_receipt,
    leave_receipt,
)
from activities.tools.refusals import text_of
from activities.tools.watch import watch
from domain.errors import LegatoError, refused
from domain.ports import Absent, Executed, Probed, ToolContext, Unclear
from domain.tools.results import ok

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from activities.tools.paths import Place
    from domain.codec import Json

DRAFT_PREFIX = ".legato-draft-"
"""How a file begins that is not yet in its place; the search and list tools leave it out."""

_NO_HARD_LINKS = frozenset({errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK})
_MODE_KEPT = 0o1777


def expect(path: str, found: Found | None, revision: str | None, *, must: bool = True) -> None:
    """Compare what is there with what the caller read.

    Raises `not_found`, `revision_required` (where `must`), `revision_mismatch`, each with
    the current revision where there is one.
    """
    if found is None:
        if revision is None:
            return
        raise refused(
            "not_found",
            f"{path} does not exist, so it has no revision {revision}",
            next="to create it, call write_file without expected_revision",
        )
    if revision is None and must:
        raise refused(
            "revision_required",
            f"{path} exists (current revision: {found.revision})",
            next="read it, then pass its revision as expected_revision",
        )
    if revision is not None and revision != found.revision:
        raise _mismatch(path, f"is at revision {found.revision}, not {revision}")


def _mismatch(path: str, what: str) -> LegatoError:
    return refused(
        "revision_mismatch", f"{path} {what}", next="read it again and decide anew what to change"
    )


def replace_file(
    context: ToolContext, place: Place, found: Found | None, data: bytes, text: str
) -> Executed:
    """Put `data` at a place as one step; `found` is what was there when it was decided.

    Owner, group and permissions are kept. Raises OSError, `revision_mismatch` where the file
    changed in between; the workspace is then as it was.
    """
    receipt = Receipt(place.path, found.digest if found else "", digest_of(data), text)
    with parent_of(place, make=True) as (folder, name):
        draft = _draft_name(context)
        try:
            _write_draft(folder, draft, data, found)
            with _receipt_left(context, receipt):
                _put(folder, draft, name, place, found)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(draft, dir_fd=folder)
        _settle(folder)
    return done(receipt)


def remove_file(context: ToolContext, place: Place, found: Found, text: str) -> Executed:
    """Remove the file that was found at a place; raises OSError, `revision_mismatch`."""
    receipt = Receipt(place.path, found.digest, "", text)
    with parent_of(place) as (folder, name):
        with _receipt_left(context, receipt):
            _refuse_changed(folder, name, place, found)
            os.unlink(name, dir_fd=folder)
        _settle(folder)
    return done(receipt)


def done(receipt: Receipt) -> Executed:
    """Build the outcome of a change that happened."""
    revision = f"\nrevision: {revision_of(receipt.after)}" if receipt.after else ""
    return Executed(ok(receipt.text + revision, changed=(receipt.path,)))


def _draft_name(context: ToolContext) -> str:
    return DRAFT_PREFIX + hashlib.sha256(context.call_id.encode()).hexdigest()[:16]


def _write_draft(folder: int, draft: str, data: bytes, found: Found | None) -> None:
    with suppress(FileNotFoundError):
        os.unlink(draft, dir_fd=folder)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    opened = os.open(draft, flags, 0o600 if found else 0o666, dir_fd=folder)
    with os.fdopen(opened, "wb") as file:
        if found is not None:
            _keep(opened, found.status)
        file.write(data)
        file.flush()
        os.fsync(opened)


def _keep(opened: int, status: os.stat_result) -> None:
    fresh = os.fstat(opened)
    if (fresh.st_uid, fresh.st_gid) != (status.st_uid, status.st_gid):
        with suppress(PermissionError):  # only root may give a file away
            os.fchown(opened, status.st_uid, status.st_gid)
    os.fchmod(opened, stat.S_IMODE(status.st_mode) & _MODE_KEPT)


@contextmanager
def _receipt_left(context: ToolContext, receipt: Receipt) -> Generator[None]:
    leave_receipt(context, receipt)
    try:
        yield
    except (OSError, LegatoError):
        drop_receipt(context)
        raise


def _put(folder: int, draft: str, name: str, place: Place, found: Found | None) -> None:
    if found is not None:
        _refuse_changed(folder, name, place, found)
        os.replace(draft, name, src_dir_fd=folder, dst_dir_fd=folder)
        return
    try:
        os.link(draft, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    except FileExistsError:
        raise _mismatch(place.path, "appeared in the meantime") from None
    except OSError as exc:
        if exc.errno not in _NO_HARD_LINKS:
            raise
        os.replace(draft, name, src_dir_fd=folder, dst_dir_fd=folder)


def _refuse_changed(folder: int, name: str, place: Place, found: Found) -> None:
    try:
        now = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        raise _mismatch(place.path, "was removed in the meantime") from None
    if _signature(now) != _signature(found.status):
        raise _mismatch(place.path, "changed in the meantime")


def _signature(status: os.stat_result) -> tuple[int, ...]:
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def _settle(folder: int) -> None:
    with suppress(OSError):  # some file systems cannot sync a folder; the change is made
        os.fsync(folder)


def probe_change(arguments: Mapping[str, Json], context: ToolContext) -> Probed:
    """Tell by the receipt and the file what became of an earlier execution.

    No receipt: it never came to the change. Else the file as it is now decides: as it was
    meant to become, as it was before, or neither, which only a person can judge.
    """
    seen = watch(context)
    try:
        with alone(context, seen):
            _sweep(arguments, context)
            receipt = find_receipt(context)
            if receipt is None:
                return Absent()
            with place_to_change(context, receipt.path) as place:
                found = current(place, seen)
    except LegatoError as exc:
        return Unclear(text_of(exc))
    except OSError as exc:
        return Unclear(f"the file cannot be looked at: {exc.strerror}")
    return _judge(receipt, found.digest if found else "")


def _judge(receipt: Receipt, now: str) -> Probed:
    if now == receipt.after:
        return done(receipt)
    if now == receipt.before:
        return Absent()
    return Unclear(
        f"{receipt.path} was about to change when the worker died, and is now neither what it "
        "was nor what it was to become"
    )


def _sweep(arguments: Mapping[str, Json], context: ToolContext) -> None:
    """Remove what an execution that was cut short left beside the file."""
    with (
        suppress(OSError, LegatoError),
        place_to_change(context, str(arguments["path"])) as place,
        parent_of(place) as (folder, _),
    ):
        os.unlink(_draft_name(context), dir_fd=folder)
