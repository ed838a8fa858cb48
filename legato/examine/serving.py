"""Examines the stack as it stands: its parts, Postgres's durability, and the schema."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.errors import LegatoError
from ledger.feed import read_feed_head
from ledger.horizon import read_lag
from ledger.sequence import catch_up
from legato.embedded import Status
from legato.examine.finding import Finding, fail, ok, warn

if TYPE_CHECKING:
    from ledger.connect import Ledger
    from legato.embedded import StackStatus

_LATE = 5.0
_DURABLE = ("fsync", "full_page_writes", "synchronous_commit")
_WEAK = frozenset({"off", "local"})


def examine_stack(status: StackStatus) -> list[Finding]:
    """Say how the stack stands, and which of its parts was started again."""
    kind = "embedded" if status.embedded else "your own servers"
    if status.status is Status.STOPPED:
        return [warn("stack", f"{kind}: stopped", "run `legato up`, or any command that needs it")]
    if status.status is not Status.READY:
        return [_not_ready(status, kind)]
    found = [ok("stack", f"{kind}: ready")]
    for part in status.parts:
        if not part.alive:
            step = f"read logs/{part.name}.log in LEGATO_HOME, then `legato down` and `legato up`"
            found.append(fail(part.name, "its process is gone", step))
        elif part.restarts:
            step = f"read logs/{part.name}.log in LEGATO_HOME for why"
            found.append(warn(part.name, f"started again {part.restarts} times", step))
    return found


def _not_ready(status: StackStatus, kind: str) -> Finding:
    reason = status.reason
    if reason is None:
        step = "wait a moment, then run `legato status`"
        return warn("stack", f"{kind}: {status.status.value}", step)
    text = f"{kind}: {status.status.value}: {reason.message} {reason.cause}".strip()
    return fail("stack", text, reason.next or "run `legato up`")


async def examine_feed(ledger: Ledger) -> Finding:
    """Say how far the feed is behind, and whether something holds it back."""
    try:
        await catch_up(ledger)
    except LegatoError as exc:
        return fail("feed", f"{exc.message}: {exc.cause}", exc.next)
    lag = await read_lag(ledger)
    if lag.horizon_age > _LATE:
        text = f"a transaction that writes has been open for {lag.horizon_age:.0f} s"
        step = (
            "end it (see pg_stat_activity and pg_prepared_xacts): nothing new is listed until then"
        )
        return warn("feed", text, step)
    if lag.behind > _LATE:
        text = f"the oldest event without a number is {lag.behind:.0f} s old"
        return warn("feed", text, "start a worker (`legato up`), which numbers it")
    return ok("feed", f"numbered up to {(await read_feed_head(ledger)).global_seq}")


async def examine_postgres(ledger: Ledger) -> Finding:
    """Say whether what Postgres confirms survives a crash of the machine."""
    values = {name: await ledger.pool.fetchval(f"show {name}") for name in _DURABLE}
    version = await ledger.pool.fetchval("show server_version")
    text = ", ".join(f"{name} {value}" for name, value in values.items())
    if any(value in _WEAK for value in values.values()):
        step = "turn them on: without them a crash can lose what the ledger has accepted"
        return fail("postgres", f"{version}: {text}", step)
    return ok("postgres", f"{version}: {text}")
