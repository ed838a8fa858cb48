"""What is listed over all runs, from the projections: runs, questions, and what was used."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, cast

from domain.projections.budgeting import budget_of, seconds
from domain.runs.overview import why
from domain.runs.recorded import stamp
from domain.runs.run import SLOT
from ledger.projections import lists
from ledger.projections.catch_up import WITHIN, Lag, fresh
from legato.readings import answer_command, profile_named

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    import asyncpg

    from domain.projections.rows import RunRow
    from ledger.connect import Ledger
    from ledger.projections.catch_up import Connection, Mark
    from ledger.projections.lists import By, Damaged, Wanted

    Row = dict[str, object]

_SAME = ("run_id", "workflow_id", "agent", "workspace", "workspace_path", "entry", "session")
_WRONG = {
    "body_damaged": "whose body is damaged",
    "event_missing": "which is not in the ledger",
}
_FIGURES = ("items_done", "turn", "step", "steps", "calls", "tokens")


@dataclass(frozen=True)
class Listed:
    """Rows of a list, and what they lack; `more` tells that others were left out.

    Nothing in a row depends on now: all that does is in `lag`. `unreadable` are the runs of
    which the rows tell only what was known before an event that is damaged.
    """

    rows: tuple[dict[str, object], ...]
    more: bool
    lag: Lag
    unreadable: tuple[dict[str, object], ...] = ()


async def list_runs(
    ledger: Ledger, wanted: Wanted, *, after: Mark | None = None, within: float = WITHIN
) -> Listed:
    """List runs, the youngest first; raises what `fresh` raises."""

    async def read(connection: Connection) -> Iterable[Row]:
        return [run_row(row) for row in await lists.runs(connection, one_more(wanted))]

    return await _listed(ledger, wanted, read, after, within)


async def list_questions(ledger: Ledger, wanted: Wanted, *, after: Mark | None = None) -> Listed:
    """List what people are asked, the oldest question first; raises what `fresh` raises.

    Ended runs are among them where nobody has told what became of an effect.
    """

    async def read(connection: Connection) -> Iterable[Row]:
        return [_question(row) for row in await lists.questions(connection, one_more(wanted))]

    return await _listed(ledger, wanted, read, after, WITHIN)


async def list_usage(
    ledger: Ledger, by: By, wanted: Wanted, *, after: Mark | None = None
) -> Listed:
    """Sum what was used by run, item, agent or day; raises what `fresh` raises."""

    async def read(connection: Connection) -> Iterable[Row]:
        return [_used(row) for row in await lists.usage(connection, by, one_more(wanted))]

    return await _listed(ledger, wanted, read, after, WITHIN)


def one_more(wanted: Wanted) -> Wanted:
    """Ask for one row more than are shown, to know whether there is one."""
    return wanted if wanted.limit is None else replace(wanted, limit=wanted.limit + 1)


async def _listed(
    ledger: Ledger,
    wanted: Wanted,
    read: Callable[[Connection], Awaitable[Iterable[Row]]],
    after: Mark | None,
    within: float,
) -> Listed:

    async def both(connection: Connection) -> tuple[Iterable[Row], list[Damaged]]:
        return await read(connection), await lists.damaged(connection, wanted)

    (found, damaged), lag = await fresh(ledger, both, after=after, within=within)
    rows = tuple(found)
    kept = rows if wanted.limit is None else rows[: wanted.limit]
    return Listed(kept, len(kept) < len(rows), lag, tuple(map(unreadable, damaged)))


def unreadable(run: Damaged) -> Row:
    """Say what is wrong with a run that cannot be read, and what to do."""
    return {
        "run_id": run.run_id,
        "code": run.code,
        "message": f"run {run.run_id} is told of only up to event {run.version} of its stream, "
        + _WRONG.get(run.code, "which this build cannot read"),
        "next": "restore a backup; `legato ledger verify` names all that is damaged",
    }


def run_row(row: RunRow) -> Row:
    """Give a run's row as lists show it: the same as is folded of its events."""
    ended = row.end_reason
    reason, by, message = why(
        None if ended is None else (ended, row.end_by or "", row.end_message or ""),
        None if row.stop_by is None else (row.stop_by, row.stop_reason or ""),
        "" if row.waiting_on in {None, SLOT} else str(row.waiting_on),
    )
    del message  # the row of a list has no sentence
    shown: Row = {name: getattr(row, name) or "" for name in _SAME}
    shown |= {"status": row.status, "stuck": row.stuck or "", "reason": reason, "by": by}
    shown["damaged"] = row.damaged or ""
    shown |= {"waiting_on": row.waiting_on or "", "accepted_at": stamp(row.accepted_at)}
    shown |= {"started_at": stamp(row.started_at), "ended_at": stamp(row.ended_at)}
    shown |= {"model": row.model or "", "fingerprint": row.fingerprint or ""}
    shown |= {name: getattr(row, name) for name in _FIGURES}
    shown |= {"cost": format(row.cost, "f"), "cost_unknown": row.cost_unknown}
    shown |= {"tokens_unknown": row.tokens_unknown, "seconds": round(seconds(row), 3)}
    shown |= {"budget": [dict(vars(one)) for one in budget_of(row)]}
    shown |= {"items": row.items or 0, "unknown_effects": row.unknown_effects}
    shown |= {"open_questions": row.open_questions}
    return shown | {"profile": profile_named(row.profile, row.agent or "")}


def _question(row: asyncpg.Record) -> Row:
    run_id, input_id = str(row["run_id"]), str(row["input_id"])
    choices = cast("list[str]", json.loads(row["choices"]))
    return {
        "run_id": run_id,
        "agent": row["agent"],
        "workspace": row["workspace"] or "",
        "status": row["status"],
        "run_open": row["run_open"],
        "input_id": input_id,
        "kind": row["kind"],
        "text": row["text"],
        "choices": choices,
        "who": json.loads(row["who"]),
        "since": stamp(row["asked_at"]),
        "expires_at": row["expires_at"] or "",
        "command": answer_command(run_id, input_id, choices),
    }


def _used(row: asyncpg.Record) -> Row:
    """Give a sum: its group first, money as text, None where nobody knows."""
    shown: Row = {}
    for name, value in row.items():
        if name in {"day", "since", "until"}:
            shown[name] = value.isoformat()
        elif isinstance(value, Decimal):
            shown[name] = format(value, "f")
        else:
            shown[name] = value
    return shown
