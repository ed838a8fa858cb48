"""Examines the homes of open runs: which of them no worker serves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.words import counted
from ledger.reads import list_streams
from legato.drained import drained_since
from legato.examine.finding import ok, warn
from legato.homes import absent_homes

if TYPE_CHECKING:
    from domain.runs.home import Absent
    from ledger.connect import Ledger
    from legato.embedded import Stack
    from legato.examine.finding import Finding
    from legato.settings import Settings

MOST = 500


async def find_absent_homes(
    ledger: Ledger, settings: Settings, stack: Stack
) -> tuple[Absent, ...] | None:
    """Find which homes of open runs no worker serves now; None where Temporal cannot tell."""
    streams = await list_streams(ledger, "run", only_open=True, limit=MOST)
    runs = [stream.removeprefix("run/") for stream in streams]
    return await absent_homes(settings, stack, ledger, runs)


def examine_homes(away: tuple[Absent, ...] | None, settings: Settings) -> list[Finding]:
    """Say of each home that no worker serves how many runs wait for it."""
    drained = drained_since(settings.home)
    if away is None:
        return []
    found = [
        warn(
            one.home,
            f"{one.code}: {counted(len(one.runs), 'open run')} cannot go on: {one.message}, "
            f"{one.cause}",
            one.next,
        )
        for one in away
    ]
    if drained and all(one.code != "home_drained" for one in away):
        text = f"drained since {drained}: workers take nothing new"
        found.append(warn("drained", text, "`legato up` has them go on"))
    return found or [ok("homes", "no open run lacks a worker")]
