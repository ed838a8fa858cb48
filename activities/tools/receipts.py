"""What a change leaves in its call's folder, so that a later look can tell what became of it."""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from domain.codec import canonical, decode_object
from domain.errors import LegatoError

if TYPE_CHECKING:
    from collections.abc import Generator

    from activities.tools.watch import Watch
    from domain.ports import ToolContext

_POLL = 0.02
_RECEIPT, _LOCK = "file.json", "file.lock"


@dataclass(frozen=True)
class Receipt:
    """A change that is about to happen: digests before and after, "" where there is no file.

    `path` is relative to the workspace; `text` is what the model is told once it happened.
    """

    path: str
    before: str
    after: str
    text: str


def leave_receipt(context: ToolContext, receipt: Receipt) -> None:
    """Write the receipt so that it survives the worker; raises `receipt_not_written`."""
    final = Path(context.call_folder) / _RECEIPT
    draft = final.with_suffix(".draft")
    try:
        with draft.open("wb") as file:
            file.write(canonical(asdict(receipt)))
            file.flush()
            os.fsync(file.fileno())
        draft.replace(final)
    except OSError as exc:
        raise _no_call_folder(exc) from None


def find_receipt(context: ToolContext) -> Receipt | None:
    """Read the receipt of an earlier execution; None where it never came to a change."""
    try:
        held = decode_object((Path(context.call_folder) / _RECEIPT).read_bytes())
    except FileNotFoundError:
        return None
    except OSError as exc:
        raise _no_call_folder(exc) from None
    parts = [str(held[name]) for name in ("path", "before", "after", "text")]
    return Receipt(*parts)


def drop_receipt(context: ToolContext) -> None:
    """Take back the receipt of a change that was refused in the end."""
    (Path(context.call_folder) / _RECEIPT).unlink(missing_ok=True)


@contextmanager
def alone(context: ToolContext, watch: Watch) -> Generator[None]:
    """Keep every other execution and look of this call out, one that outlived its worker too.

    Waits for it within the call's limit; raises `time_limit` or `stopped` after that.
    """
    folder = Path(context.call_folder)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as exc:
        raise _no_call_folder(exc) from None
    try:
        while not _locked(lock):
            watch.check()
            watch.stop.wait(_POLL)
        yield
    finally:
        os.close(lock)


def _locked(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _no_call_folder(problem: OSError) -> LegatoError:
    return LegatoError(
        "receipt_not_written",
        f"the call's own folder cannot be used: {problem.strerror}",
        next="tell the person that Legato's state folder has a problem",
    )
