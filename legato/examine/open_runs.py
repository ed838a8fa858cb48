"""Examines the open runs: which of them stand still, and why that may be."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING

from temporalio.service import RPCError

from domain.errors import LegatoError
from domain.runs.hand_over import HANDED_OVER
from domain.runs.overview import PEOPLE
from domain.runs.reconcile import (
    End,
    Heal,
    Leave,
    Look,
    Restart,
    Start,
    Stick,
    Terminate,
    Trouble,
    action_for,
    way_out,
)
from domain.runs.recorded import facts_of
from domain.runs.run import SLOT, fold
from ledger.feed import Numbered, read_feed, read_feed_head, read_mark
from ledger.parked import read_parked
from ledger.reads import clock, list_streams
from ledger.sequence import catch_up
from legato.client import RELAY, connect, run_of
from legato.cluster import missing_attributes
from legato.examine.finding import Finding, fail, ok, warn
from legato.readings import overview_of, read_run
from legato.seen import see

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import datetime

    from temporalio.client import Client

    from domain.runs.reconcile import Action
    from domain.runs.recorded import Recorded
    from domain.runs.run import Run
    from ledger.connect import Ledger
    from ledger.parked import Parked
    from ledger.reads import Stored

MOST = 50
QUIET = timedelta(minutes=15)
GRACE = timedelta(minutes=1)
"""So long what was accepted may be unknown to Temporal and to workers: both may lag."""

_LIMIT = 10.0


async def examine_runs(
    ledger: Ledger,
    address: str,
    namespace: str,
    grace: timedelta = GRACE,
    without_home: Collection[str] = (),
) -> list[Finding]:
    """Look at the open runs, the hand-over to Temporal, and Temporal's view of each run.

    `without_home` are runs of which it is told already that no worker serves their home.
    """
    now = await clock(ledger)
    streams = await list_streams(ledger, "run", only_open=True, limit=MOST)
    runs, unreadable = await _read(ledger, streams)
    many = f"{len(streams)}{' or more' if len(streams) == MOST else ''}"
    found = [ok("open runs", many), *unreadable]
    found += [
        hint
        for events in runs
        if (hint := still(events, now, without_home=without_home)) is not None
    ]
    waiting = await _waiting(ledger)
    found.append(_handed_over(waiting, now))
    folded = [fold(facts_of(events)) for events in runs]
    named = [one for run in folded if (one := _said(run)) is not None]
    told = {one.name for one in named}
    parked = [_parked(one) for one in await read_parked(ledger, RELAY)]
    found += [*named, *(one for one in parked if one.name not in told)]
    later = {run_of(one) for one in waiting if one.fact.type == "run.accepted"}
    begun = [events for events in runs if overview_of(events).identity.workflow_id]
    handed_over = [events for events in begun if overview_of(events).identity.run_id not in later]
    try:
        async with asyncio.timeout(_LIMIT):
            client = await connect(address, namespace)
            hints = [await _in_temporal(client, events, now, grace) for events in handed_over]
            missing = await missing_attributes(client)
    except (LegatoError, RPCError, TimeoutError) as exc:
        step = "run `legato status`; runs go on once Temporal answers"
        return [*found, fail("temporal", f"it does not answer: {type(exc).__name__}", step)]
    fresh = [one for one in hints if one is not None and one.name not in told]
    return [*found, _temporal(address, missing), *fresh]


async def _read(
    ledger: Ledger, streams: Sequence[str]
) -> tuple[list[list[Recorded]], list[Finding]]:
    """Read runs; of one whose record is damaged it is told instead."""
    runs: list[list[Recorded]] = []
    found: list[Finding] = []
    for stream in streams:
        name = stream.removeprefix("run/")
        try:
            runs.append(await read_run(ledger, name))
        except LegatoError as exc:
            step = "`legato ledger verify` names the first bad place of each stream"
            found.append(fail(f"run {name}", f"it cannot be read: {exc}", step))
    return runs, found


async def _waiting(ledger: Ledger) -> list[Stored]:
    """List what is accepted and not handed over yet, the first hundred of it."""
    with suppress(LegatoError):  # what holds the feed back is a finding of its own
        await catch_up(ledger)
    mark, head = await read_mark(ledger, RELAY), await read_feed_head(ledger)
    found = await read_feed(ledger, mark, HANDED_OVER, until=head.global_seq, limit=100)
    return [numbered.stored for numbered in found if isinstance(numbered, Numbered)]


def _temporal(address: str, missing: Sequence[str]) -> Finding:
    if not missing:
        return ok("temporal", f"answers at {address}")
    step = "run `legato up`, or have whoever runs the server register them as Keyword"
    text = f"answers at {address}, without the search attributes {', '.join(missing)}"
    return warn("temporal", f"{text}: runs work, lists there cannot be filtered", step)


def still(
    events: Sequence[Recorded], now: datetime, without_home: Collection[str] = ()
) -> Finding | None:
    """Say why an open run may stand still; None where it moves, or for want of its home."""
    seen, since = overview_of(events), now - events[-1].at
    run_id, name = seen.identity.run_id, f"run {seen.identity.run_id}"
    minutes = f"{since.total_seconds() / 60:.0f} minutes"
    if seen.waits.waiting_on in PEOPLE:
        return warn(name, f"waits for a person since {minutes}", "see `legato inbox`")
    if seen.waits.waiting_on == SLOT or run_id in without_home:
        return None
    if not seen.state.started_at and since > GRACE:
        step = "start a worker on this host (`legato up`); it takes the run up by itself"
        return warn(name, f"no worker has taken it up for {minutes}", step)
    if not seen.waits.waiting_on and since > QUIET:
        step = f"see `legato show {run_id}`; `legato stop {run_id}` ends it"
        return warn(name, f"nothing has happened for {minutes}: {seen.state.doing}", step)
    return None


def _handed_over(waiting: Sequence[Stored], now: datetime) -> Finding:
    late = [one for one in waiting if now - one.recorded_at > GRACE]
    if not late:
        return ok("relay", "everything accepted is handed over to Temporal")
    text = f"{len(late)} accepted events are not handed over to Temporal for over a minute"
    return fail("relay", text, "start a worker (`legato up`), or read logs/worker.log")


def _parked(parked: Parked) -> Finding:
    """Say what Temporal refused for good: a run was not started, or only not told at once."""
    kind, _, name = parked.stream.partition("/")
    text = f"its {parked.type} was not handed over to Temporal, for good: {parked.code}"
    if parked.type == "run.accepted":
        step = f"`legato stop {name}` ends it; read logs/worker.log, then start it anew"
        return fail(f"run {name}", text, step)
    return warn(f"{kind} {name}", text, "nothing is lost: the run reads it at its next step")


async def _in_temporal(
    client: Client, events: Sequence[Recorded], now: datetime, grace: timedelta
) -> Finding | None:
    """Compare an open run with what Temporal says of it, by the reconcilers' rule."""
    run = fold(facts_of(events))
    if run.accepted is None:
        return None
    begun = next(event.at for event in events if event.fact == run.accepted)
    seen = await see(client, run.accepted.workflow_id)
    return finding_of(run.accepted.run_id, action_for(run, seen, now - begun, grace))


def finding_of(run_id: str, action: Action) -> Finding | None:
    """Say what is wrong with an open run, and what is true to do; None where nothing is."""
    name = f"run {run_id}"
    match action:
        case Stick():
            return stuck(run_id, action.trouble)
        case End():
            text = f"it is open in the ledger, but not in Temporal: {action.reason}"
            step = f"a worker ends it in a minute, `legato stop {run_id}` at once"
            return fail(name, text, f"{step}; then start it anew")
        case Start():
            text = "Temporal has not heard of it"
            return warn(name, text, "start a worker (`legato up`): it hands the run over")
        case Restart():
            text = "Temporal has forgotten it: its memory is older than the ledger"
            return warn(name, text, "start a worker (`legato up`): the run goes on from the ledger")
        case Terminate():
            text = "it does not obey a stop"
            return warn(name, text, "a worker terminates its workflow in a minute")
        case Look():
            text = "its workflow has not seen all that the ledger holds"
            return warn(name, text, "a worker tells it to look in a minute")
        case Heal() | Leave():
            return None


def _said(run: Run) -> Finding | None:
    """Give what was recorded of a run's being stuck."""
    said = run.stuck
    if said is None or run.accepted is None:
        return None
    trouble = Trouble(said.code, said.where, said.why, said.attempts)
    return stuck(run.accepted.run_id, trouble)


def stuck(run_id: str, trouble: Trouble) -> Finding:
    """Say of a stuck run where, why, and what is true to do about it."""
    text = f"stuck ({trouble.code}) at {trouble.where}: {trouble.why}"
    return fail(f"run {run_id}", text, way_out(trouble.code, run_id))
