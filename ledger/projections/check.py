"""Checks all rows at one number of the feed, stream by stream, without writing anything."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from domain.projections.project import DECODED, Needs, project
from domain.projections.tables import Tables
from ledger.projections.batch import event_of
from ledger.projections.compare import Difference, Differences, differing
from ledger.projections.project import standing
from ledger.projections.tables import (
    CALL,
    INPUT,
    ITEM,
    RUN,
    SCHEMA,
    SESSION,
    STEP,
    TABLES,
    USAGE,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ledger.projections.source import Source
    from ledger.projections.tables import Table

PAGE = 2000
_MANY = 4000
"""Rows of whole streams are compared once so many events were projected."""

_WANTED = sorted(DECODED)
_EVENTS = """select f.stream_id, f.version, e.type, e.schema_version, e.recorded_at, e.envelope,
    e.codec, case when e.type = any($4) then e.body end as body, b.size, b.data
  from ledger.feed f
  left join ledger.event e on e.stream_id = f.stream_id and e.version = f.version
  left join ledger.blob b on e.codec = 2 and e.type = any($4) and b.blob_id = e.body
  where (f.stream_id, f.version) > ($1, $2) and f.global_seq <= $3
  order by f.stream_id, f.version limit $5"""
_SURPLUS = {
    table: f"select {table.selected('t')} from {SCHEMA}.{table.name} t where not exists ("
    f"select from ledger.feed f where f.stream_id = 'run/' || t.run_id and f.global_seq <= $1)"
    " limit 100"
    for table in TABLES
    if table is not SESSION
}


@dataclass(frozen=True)
class Checked:
    """What a check found: the number that the rows tell up to, how many rows, what differs."""

    global_seq: int
    rows: int
    differences: int
    differing: tuple[Difference, ...]


@dataclass
class _Check:
    """A check under way: up to which number, and what it has found."""

    until: int
    rows: int = 0
    found: Differences = field(default_factory=lambda: Differences([]))


async def check_rows(source: Source) -> Checked:
    """Project every stream anew and compare each row that is in use, at one number.

    `source` is a connection in a repeatable-read transaction, so that rows and number are
    of one moment. Raises `projections_missing` and `event_too_new`.
    """
    stands = await standing(source)
    check = _Check(stands.rows)
    if stands.rows > stands.feed:
        what = Difference("checkpoint", ("rows",), "differs", ("global_seq",))
        return Checked(stands.rows, 0, 1, (what,))
    sessions, at, count = Tables(), Tables(), 0
    last, since = ("", 0), ""
    while page := await source.fetch(_EVENTS, *last, check.until, _WANTED, PAGE):
        for row in page:
            stream = row["stream_id"]
            if stream != since and count >= _MANY:
                await _compare(source, check, at)
                at, count = Tables(), 0
            since = stream
            event = event_of(tuple(row))
            Needs().add(event)
            project(at if event.kind == "run" else sessions, event)
            count += 1
        last = (page[-1]["stream_id"], page[-1]["version"])
    await _compare(source, check, at)
    await _compare_table(source, check, SESSION, sessions.sessions, None)
    for table, statement in _SURPLUS.items():
        check.found.add(_surplus(table, await source.fetch(statement, check.until)))
    return Checked(check.until, check.rows, check.found.count, tuple(check.found.named))


async def _compare(source: Source, check: _Check, at: Tables) -> None:
    """Compare all rows of whole runs."""
    runs = list(at.runs)
    if not runs:
        return
    every: tuple[tuple[Table, Mapping[Any, Any]], ...] = (
        (RUN, at.runs),
        (ITEM, at.items),
        (STEP, at.steps),
        (CALL, at.calls),
        (INPUT, at.inputs),
        (USAGE, at.usage),
    )
    for table, wanted in every:
        await _compare_table(source, check, table, wanted, runs)


async def _compare_table(
    source: Source,
    check: _Check,
    table: Table,
    wanted: Mapping[Any, Any],
    runs: list[str] | None,
) -> None:
    where = "" if runs is None else " where t.run_id = any($1)"
    given = () if runs is None else (runs,)
    stands = {
        tuple(row)[: table.keys]: tuple(row)
        for row in await source.fetch(
            f"select {table.selected('t')} from {SCHEMA}.{table.name} t{where}", *given
        )
    }
    check.rows += len(stands)
    for one in wanted.values():
        values = table.values(one)
        found = stands.pop(values[: table.keys], None)
        if found is None:
            check.found.add([Difference(table.name, values[: table.keys], "missing")])
        elif (wrong := differing(table, found, values)) is not None:
            check.found.add([wrong])
    check.found.add(_surplus(table, stands.values()))


def _surplus(table: Table, rows: Iterable[Any]) -> Iterable[Difference]:
    for row in rows:
        yield Difference(table.name, tuple(row)[: table.keys], "surplus")
