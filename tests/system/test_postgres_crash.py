"""Postgres killed with all its processes under writers: what was acknowledged is there, once."""

from __future__ import annotations

import asyncio
import os
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import psutil
import pytest

from domain.errors import LegatoError
from domain.events import event_id
from ledger.append import Part, append
from ledger.migrate import migrate
from ledger.reads import read_stream
from ledger.verify import verify
from tests.support import facts
from tests.support.embedded_stack import bring_up, ended_after, process_of
from tests.support.ledger import PERSON, opened

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from domain.events import Fact
    from ledger.connect import Ledger

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]

WRITERS = 8
BEFORE, AFTER = 400, 200
SHARED = "incoming/all"
SECONDS = 60.0


@dataclass
class Acknowledged:
    """What writers were told stands in the ledger, and when; `refused` what they were not.

    `back` is when the first append was acknowledged that began after a refusal.
    """

    at: dict[tuple[str, str], float] = field(default_factory=dict[tuple[str, str], float])
    refused: Counter[str] = field(default_factory=Counter[str])
    found: int = 0
    ending: bool = False
    back: float = 0.0

    def since(self, moment: float) -> int:
        """Count what was acknowledged after a moment."""
        return sum(at > moment for at in self.at.values())

    async def until(self, count: int, moment: float = 0.0) -> None:
        """Wait until so much was acknowledged after a moment."""
        async with asyncio.timeout(SECONDS):
            while self.since(moment) < count:  # noqa: ASYNC110 - writers are counted
                await asyncio.sleep(0.01)


async def write(ledger: Ledger, writer: int, told: Acknowledged) -> None:
    """Append one message after the other, the same one until it is acknowledged."""
    n = 0
    while not told.ending:
        n += 1
        fact = facts.message(f"{writer}.{n}")
        stream = SHARED if n % 2 else f"incoming/{writer}"
        await _acknowledged(ledger, stream, fact, told)


async def _acknowledged(ledger: Ledger, stream: str, fact: Fact, told: Acknowledged) -> None:
    async with asyncio.timeout(SECONDS):
        while True:
            again = bool(told.refused)
            try:
                done = await append(ledger, PERSON, Part(stream, (fact,)))
            except LegatoError as exc:
                told.refused[exc.code] += 1
                await asyncio.sleep(0.02)
                continue
            told.found += done.repeated
            told.at[stream, event_id(fact)] = now = time.monotonic()
            told.back = told.back or (now if again else 0.0)
            return


def kill_postgres(home: Path) -> int:
    """End the postmaster and every process of its own at once; gives how many there were."""
    postmaster = psutil.Process(process_of(home, "postgres").pid)
    family = [postmaster, *postmaster.children(recursive=True)]
    for one in family:
        one.suspend()
    for one in family:
        one.kill()
    return len(family)


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """An empty home; whatever runs in it is ended."""
    with ended_after(tmp_path / "home"):
        yield tmp_path / "home"


async def test_nothing_acknowledged_is_lost_and_what_was_in_doubt_is_found_by_its_id(
    home: Path, caplog: pytest.LogCaptureFixture, say: Callable[[str], None]
) -> None:
    stack = await bring_up(home)
    await migrate(stack.database_url)
    async with opened(stack.database_url, most=WRITERS) as ledger:
        told = Acknowledged()
        writing = asyncio.gather(*(write(ledger, n, told) for n in range(WRITERS)))
        await told.until(BEFORE)
        killed, moment = kill_postgres(home), time.monotonic()
        await told.until(AFTER, moment)
        told.ending = True
        await writing
        streams = [SHARED, *(f"incoming/{n}" for n in range(WRITERS))]
        stored = [(s, event) for s in streams for event in await read_stream(ledger, s)]
        report = await verify(ledger)

    there = Counter((stream, event_id(event.fact)) for stream, event in stored)
    assert killed > 1
    assert set(there) == set(told.at), "acknowledged and not there, or there and never told"
    assert set(there.values()) == {1}
    assert set(told.refused) == {"ledger_unreachable"}
    assert report.ok, report.problems
    assert [one.getMessage() for one in caplog.records if one.name.startswith("asyncpg")] == []
    say(
        f"{killed} processes killed; first append after {told.back - moment:.2f} s; "
        f"{len(there)} events acknowledged, 0 lost, {told.found} in doubt found by their ids, "
        f"{told.refused.total()} refusals, load {os.getloadavg()[0]:.1f}"
    )
