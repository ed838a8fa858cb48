"""The disk of the ledger's database is full for a while: nothing acknowledged is lost."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import time
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from domain.errors import LegatoError
from domain.events import event_id
from ledger.append import Part, append
from ledger.migrate import migrate
from ledger.reads import read_stream
from ledger.verify import verify
from legato.embedded import down
from tests.support import facts
from tests.support.embedded_stack import bring_up, ended_after, settings_of
from tests.support.ledger import PERSON, opened
from tests.system.test_postgres_crash import SHARED, WRITERS, Acknowledged, write

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from pathlib import Path

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.skipif(os.geteuid() != 0, reason="a disk of its own has to be mounted"),
]

SIZE = "200m"
BEFORE, AFTER = 300, 200
QUIET = 3.0
"""Seconds without any acknowledgement: the disk is full for everybody."""


@contextmanager
def disk(folder: Path) -> Generator[Path]:
    """Move a folder onto a small disk of its own; gives a file there that can be made large."""
    kept = folder.with_name("kept")
    folder.rename(kept)
    folder.mkdir(mode=0o700)
    subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={SIZE},mode=0700", "tmpfs", folder], check=True
    )
    try:
        shutil.copytree(kept, folder, dirs_exist_ok=True, symlinks=True)
        yield folder / "ballast"
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


def fill(ballast: Path) -> int:
    """Take all the room that there is; gives how many bytes that was."""
    free = shutil.disk_usage(ballast.parent).free
    with ballast.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, free - free % 4096)
    return free


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """An empty home; whatever runs in it is ended."""
    with ended_after(tmp_path / "home"):
        yield tmp_path / "home"


async def until_quiet(told: Acknowledged) -> None:
    """Wait until nothing has been acknowledged for a while."""
    async with asyncio.timeout(120):
        while not told.refused or time.monotonic() - max(told.at.values()) < QUIET:  # noqa: ASYNC110 - writers are counted
            await asyncio.sleep(0.1)


async def test_writers_go_on_once_there_is_room_and_nothing_acknowledged_is_lost(
    home: Path, say: Callable[[str], None]
) -> None:
    await bring_up(home)
    await down(settings_of(home))
    with disk(home / "postgres") as ballast:
        stack = await bring_up(home)
        await migrate(stack.database_url)
        async with opened(stack.database_url, most=WRITERS) as ledger:
            told = Acknowledged()
            writing = asyncio.gather(*(write(ledger, n, told) for n in range(WRITERS)))
            await told.until(BEFORE)
            taken = fill(ballast)
            await until_quiet(told)
            with pytest.raises(LegatoError) as refused:
                await append(ledger, PERSON, Part("incoming/late", (facts.message("late"),)))
            ballast.unlink()
            moment = time.monotonic()
            await bring_up(home)
            await told.until(AFTER, moment)
            told.ending = True
            await writing
            streams = [SHARED, *(f"incoming/{n}" for n in range(WRITERS))]
            stored = [(s, event) for s in streams for event in await read_stream(ledger, s)]
            report = await verify(ledger)
        await down(settings_of(home))

    there = Counter((stream, event_id(event.fact)) for stream, event in stored)
    assert set(there) == set(told.at), "acknowledged and not there, or there and never told"
    assert set(there.values()) == {1}
    assert set(told.refused) == {"ledger_unreachable"}
    assert report.ok, report.problems
    assert (refused.value.cause, "make room" in refused.value.next) == ("DiskFullError", True)
    first = min(at for at in told.at.values() if at > moment)
    say(
        f"{taken >> 20} MiB taken; first append {first - moment:.2f} s after there was room; "
        f"{len(there)} events acknowledged, 0 lost, {told.found} in doubt found by their ids, "
        f"{told.refused.total()} refusals, load {os.getloadavg()[0]:.1f}"
    )
