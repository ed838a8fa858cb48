"""Verifies the ledger against Temporal, run by run; what could not be compared is said."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from temporalio.service import RPCError

from domain.errors import LegatoError
from ledger.reads import list_streams
from legato.client import connect
from legato.compare import compare

if TYPE_CHECKING:
    from collections.abc import Sequence

    from temporalio.client import Client

    from ledger.connect import Ledger
    from ledger.verify import Pass
    from legato.compare import Compared

ALL = 10_000_000
AT_ONCE = 4
ANSWERING = 10.0
"""Seconds that Temporal may take to answer at all."""

ALONE = "start Temporal (`legato up`), or verify the ledger alone with --no-temporal"
DIFFERS = (
    "keep a copy of both as they are; where the ledger was restored from an older copy, restore "
    "its latest state"
)


@dataclass
class InTemporal:
    """How the runs were compared, in numbers; what was not compared at all has its reason.

    `now` were compared with their histories, `earlier` when they ended and their history is
    gone since, `gone` never: Temporal keeps their history no longer, or not whole.
    """

    compared: bool = False
    now: int = 0
    earlier: int = 0
    gone: int = 0
    first_gone: str = ""
    why_not: str = ""


async def check_temporal(
    verified: Pass, ledger: Ledger, at: tuple[str, str], told: InTemporal
) -> None:
    """Compare every run with its histories, and find workflows of which the ledger knows none.

    `at` is Temporal's address and namespace; `told` is filled. Where Temporal does not
    answer that is a problem of its own: nothing is taken for right that was not looked at.
    """
    runs = await list_streams(ledger, "run", limit=ALL)
    try:
        async with asyncio.timeout(ANSWERING):
            client = await connect(*at)
            known = [one.id async for one in client.list_workflows("WorkflowType = 'AgentRun'")]
        runs = await list_streams(ledger, "run", limit=ALL)
        compared = await _each(client, ledger, [one.removeprefix("run/") for one in runs])
    except (LegatoError, RPCError, TimeoutError) as exc:
        why = exc.status.name.lower() if isinstance(exc, RPCError) else type(exc).__name__
        told.why_not = f"Temporal does not answer ({why})"
        what = f"{told.why_not}: {len(runs)} runs were not compared with it"
        verified.tell("temporal", 0, what, ALONE)
        return
    told.compared, told.why_not = True, ""
    for one in compared:
        _count(verified, one, told)
    _unknown(verified, set(known) - {one.workflow_id for one in compared})


async def _each(client: Client, ledger: Ledger, runs: Sequence[str]) -> list[Compared]:
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(run_id: str) -> Compared:
        async with gate:
            return await compare(client, ledger, run_id)

    return await asyncio.gather(*(one(run_id) for run_id in runs))


def _count(at: Pass, one: Compared, told: InTemporal) -> None:
    stream = f"run/{one.run_id}"
    if one.result == "mismatch" and one.place is not None:
        at.tell(stream, one.place.version, one.place.what, DIFFERS)
    elif one.result == "checked":
        told.now += 1
    elif one.earlier is None:
        told.gone += 1
        told.first_gone = told.first_gone or stream
    elif one.earlier.result == "mismatch":
        what = f"when it ended it was compared with Temporal: {one.earlier.where}"
        at.tell(stream, 0, what, DIFFERS)
    elif one.earlier.result == "checked":
        told.earlier += 1
    else:
        told.gone += 1
        told.first_gone = told.first_gone or stream


def _unknown(at: Pass, workflows: set[str]) -> None:
    """Name workflows that Temporal holds and no run of the ledger names: it was restored."""
    if not workflows:
        return
    first, many = min(workflows), len(workflows)
    what = f"Temporal holds {many} workflows of which the ledger holds no run; the first is {first}"
    at.tell("temporal", 0, what, DIFFERS)
