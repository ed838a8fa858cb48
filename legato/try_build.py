"""Has a build replay the open runs of a home before its worker takes work, and refuses it else."""

from __future__ import annotations

import asyncio
import json
import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from temporalio.service import RPCError

from domain.errors import LegatoError, refused, to_json
from domain.runs.recorded import facts_of
from domain.runs.run import fold
from domain.words import counted
from ledger.connect import close_ledger, open_ledger
from ledger.reads import list_streams
from legato.build import Tried, is_tried, remember, this_build
from legato.client import connect, home_queue
from legato.homes import queues_of
from legato.leave import leave
from legato.readings import read_run
from legato.replay import replayed_problem
from legato.seen import is_unknown
from legato.settings import environment, load_settings

if TYPE_CHECKING:
    from temporalio.client import Client, WorkflowHistory

    from ledger.connect import Ledger
    from legato.settings import Settings

MOST = 100
"""Runs that are replayed, those that moved last first."""

LIMIT = 15.0
"""Seconds for all of them; the one that is being replayed then still ends."""

_KNOWN_STUCK = "workflow_task_failing"
_OPEN = 10_000
_NAMED = 5


@dataclass(frozen=True)
class Found:
    """What the replays came to: a problem by run, how many went well, which were not tried."""

    problems: dict[str, str]
    replayed: int
    left: tuple[str, ...]


async def require_replayable(settings: Settings, client: Client, ledger: Ledger) -> None:
    """Let a build in that replays the open runs of the home; at once where it is known to.

    Raises `build_cannot_replay`.
    """
    if is_tried(settings.home):
        return
    found = await try_replays(client, ledger, home_queue(settings))
    if found.problems:
        raise _cannot(found)
    remember(settings.home, Tried(this_build(), found.replayed, found.left))


async def try_replays(
    client: Client, ledger: Ledger, queue: str, *, limit: float = LIMIT, most: int = MOST
) -> Found:
    """Replay the present histories of a home's open runs, as far as there is time."""
    streams = await list_streams(ledger, "run", only_open=True, limit=_OPEN)
    latest = [one.removeprefix("run/") for one in streams]
    of_home = frozenset((await queues_of(ledger, latest)).get(queue, ()))
    runs = [one for one in latest if one in of_home]
    problems: dict[str, str] = {}
    until, tried, replayed = time.monotonic() + limit, 0, 0
    for run_id in runs[:most]:
        if time.monotonic() > until:
            break
        tried += 1
        problem = await _problem(client, ledger, run_id)
        replayed += problem == ""
        if problem:
            problems[run_id] = problem
    return Found(problems, replayed, tuple(runs[tried:]))


async def _problem(client: Client, ledger: Ledger, run_id: str) -> str | None:
    """Say why this build cannot replay a run, "" where it can; None where that says nothing.

    So it is where no build could before, where there is nothing to replay, and where the
    record is damaged, of which others tell.
    """
    try:
        run = fold(facts_of(await read_run(ledger, run_id)))
    except LegatoError:
        return None
    known = run.stuck is not None and run.stuck.code == _KNOWN_STUCK
    if run.accepted is None or known:
        return None
    history = await _history(client, run.accepted.workflow_id)
    return None if history is None else await replayed_problem(history)


async def _history(client: Client, workflow_id: str) -> WorkflowHistory | None:
    """Read the history of the last Temporal run; None where no build has ordered anything yet."""
    try:
        history = await client.get_workflow_handle(workflow_id).fetch_history()
    except RPCError as exc:
        if not is_unknown(exc):
            raise
        return None
    ordered = any(
        one.HasField("workflow_task_completed_event_attributes") for one in history.events
    )
    return history if ordered else None


def _cannot(found: Found) -> LegatoError:
    runs = list(found.problems)
    named = ", ".join(runs[:_NAMED]) + (" and others" if len(runs) > _NAMED else "")
    return refused(
        "build_cannot_replay",
        f"this build cannot replay {counted(len(runs), 'open run')}: {named}",
        cause=next(iter(found.problems.values())),
        next=(
            "start the build that they began with until they have ended, or end them there with "
            "`legato stop`; `legato up --force` lets this one in, and they stand still then"
        ),
        details={"runs": runs, "problems": found.problems, "not_replayed": list(found.left)},
    )


async def try_on(settings: Settings, address: str, database_url: str) -> None:
    """Let this build in on servers, or refuse it.

    Raises `build_cannot_replay`, `temporal_unreachable`, `ledger_unreachable`.
    """
    if is_tried(settings.home):
        return
    ledger = await open_ledger(database_url, most=2)
    try:
        client = await connect(address, settings.temporal_namespace)
        await require_replayable(settings, client, ledger)
    except RPCError as exc:
        raise LegatoError(
            "temporal_unreachable",
            f"Temporal did not answer at {address}",
            cause=exc.status.name.lower(),
            next="run the command again; `legato status` tells how Temporal stands",
        ) from None
    finally:
        await close_ledger(ledger)


def main() -> None:
    """Try this build on the servers that the environment names; one JSON document says how.

    It goes to what is stdout at the start; what the SDK prints there joins the errors.
    """
    answer = os.dup(1)
    os.dup2(2, 1)
    said: dict[str, object] = {"ok": True}
    try:
        settings = load_settings(environment())
        url = settings.database_url or ""
        asyncio.run(try_on(settings, settings.temporal_address or "", url))
    except LegatoError as exc:
        said = to_json(exc)
    os.write(answer, json.dumps(said).encode())
    leave(0 if said["ok"] else 1)


if __name__ == "__main__":
    main()
