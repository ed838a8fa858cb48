"""Lists read from the projections: runs, open questions, and what was used."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal, TypeAlias

from domain.projections.rows import RunRow
from domain.runs.inputs import InputKind
from ledger.projections.tables import RUN, SCHEMA

if TYPE_CHECKING:
    import asyncpg

    from ledger.projections.catch_up import Connection

MOST_DAMAGED = 100
"""Runs that cannot be read and are named, at most."""

By: TypeAlias = Literal["run", "item", "agent", "day"]

_FILTER = """($1::text[] is null or r.status = any($1))
  and ($2::text is null or r.agent = $2)
  and ($3::text is null or r.workspace = $3 or r.workspace_path = $7)
  and ($4::timestamptz is null or r.accepted_at >= $4)
  and (not $5::boolean or r.ended_at is null)"""
_RUNS = f"""select {RUN.selected("r")} from {SCHEMA}.run r where {_FILTER}
  order by r.accepted_at desc nulls last, r.run_id desc limit $6"""
_ONE = f"select {RUN.selected('r')} from {SCHEMA}.run r where r.run_id = $1"
_DAMAGED = f"""select r.run_id, r.damaged, r.damaged_at from {SCHEMA}.run r
  where r.damaged is not null
    and ($1::text is null or r.agent is null or r.agent = $1)
    and ($2::text is null or r.workspace_path is null or r.workspace = $2 or r.workspace_path = $4)
    and ($3::timestamptz is null or r.accepted_at is null or r.accepted_at >= $3)
  order by r.accepted_at desc nulls first, r.run_id desc limit {MOST_DAMAGED}"""
_QUESTIONS = f"""select i.run_id, r.agent, r.workspace, r.status, r.ended_at is null as run_open,
    i.input_id, i.kind, i.text, i.choices::text, i.who::text, i.asked_at, i.expires_at
  from {SCHEMA}.input i join {SCHEMA}.run r using (run_id)
  where i.settled_at is null and i.asked_at is not null
    and (r.ended_at is null or i.kind = '{InputKind.UNKNOWN.value}')
    and ($1::text is null or r.agent = $1)
    and ($2::text is null or r.workspace = $2 or r.workspace_path = $5)
    and ($3::timestamptz is null or i.asked_at >= $3)
  order by i.asked_at, i.run_id, i.input_id limit $4"""
_SUMS = """sum(u.steps)::bigint as steps, sum(u.calls)::bigint as calls,
  sum(u.tokens)::bigint as tokens, sum(u.cost) as cost,
  sum(u.cost_unknown)::bigint as cost_unknown, sum(u.input_tokens)::bigint as input_tokens,
  sum(u.output_tokens)::bigint as output_tokens, sum(u.cached_tokens)::bigint as cached_tokens,
  sum(u.tokens_unknown)::bigint as tokens_unknown"""
_GROUPS: dict[By, tuple[str, str]] = {
    "run": ("u.run_id, u.agent, min(u.day) as since, max(u.day) as until", "u.run_id, u.agent"),
    "item": (
        "u.run_id, u.item, i.name as name, u.agent, min(u.day) as since, max(u.day) as until",
        "u.run_id, u.item, i.name, u.agent",
    ),
    "agent": (
        "u.agent, count(distinct u.run_id) as runs, min(u.day) as since, max(u.day) as until",
        "u.agent",
    ),
    "day": ("u.day, count(distinct u.run_id) as runs", "u.day"),
}
_ORDER: dict[By, str] = {
    "run": "max(r.accepted_at) desc nulls last, u.run_id desc",
    "item": "max(r.accepted_at) desc nulls last, u.run_id desc, u.item",
    "agent": "u.agent",
    "day": "u.day desc",
}


@dataclass(frozen=True)
class Wanted:
    """Which rows are wanted: None is all.

    `workspace` is its name as lists show it, and `folder` the path that would do as well;
    `since` the earliest acceptance, asking or day of use; `limit` how many at most.
    """

    statuses: tuple[str, ...] | None = None
    agent: str | None = None
    workspace: str | None = None
    folder: str | None = None
    since: datetime | None = None
    only_open: bool = False
    limit: int | None = None


async def runs(connection: Connection, wanted: Wanted) -> list[RunRow]:
    """Read runs, the youngest first."""
    found = await connection.fetch(
        _RUNS,
        None if wanted.statuses is None else list(wanted.statuses),
        wanted.agent,
        wanted.workspace,
        wanted.since,
        wanted.only_open,
        wanted.limit,
        wanted.folder,
    )
    return [RunRow(*row) for row in found]


async def one_run(connection: Connection, run_id: str) -> RunRow | None:
    """Read one run's row; None where there is none yet."""
    row = await connection.fetchrow(_ONE, run_id)
    return None if row is None else RunRow(*row)


@dataclass(frozen=True)
class Damaged:
    """A run that cannot be read: the code of what is wrong with an event of its stream."""

    run_id: str
    code: str
    version: int


async def damaged(connection: Connection, wanted: Wanted) -> list[Damaged]:
    """Read which runs cannot be read, of those wanted or that nobody can tell to be others."""
    found = await connection.fetch(
        _DAMAGED, wanted.agent, wanted.workspace, wanted.since, wanted.folder
    )
    return [Damaged(*row) for row in found]


async def questions(connection: Connection, wanted: Wanted) -> list[asyncpg.Record]:
    """Read what people are asked and nobody has settled, the oldest first."""
    return await connection.fetch(
        _QUESTIONS, wanted.agent, wanted.workspace, wanted.since, wanted.limit, wanted.folder
    )


async def usage(connection: Connection, by: By, wanted: Wanted) -> list[asyncpg.Record]:
    """Sum what was used by run, item, agent or day; a sum of what nobody knows is None."""
    columns, group = _GROUPS[by]
    day = None if wanted.since is None else wanted.since.date()
    return await connection.fetch(
        f"select {columns}, {_SUMS} from {SCHEMA}.usage u"
        f" join {SCHEMA}.run r on r.run_id = u.run_id"
        f" left join {SCHEMA}.item i on i.run_id = u.run_id and i.item = u.item"
        " where ($1::text is null or u.agent = $1)"
        " and ($2::text is null or r.workspace = $2 or r.workspace_path = $5)"
        " and ($3::date is null or u.day >= $3)"
        f" group by {group} order by {_ORDER[by]} limit $4",
        wanted.agent,
        wanted.workspace,
        day,
        wanted.limit,
        wanted.folder,
    )
