"""The only write primitive: parts of one or more streams, all or nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import asyncpg

from domain.errors import Kind, LegatoError, bug, refused
from domain.events import Fact, Use, event_id
from ledger.blobs import put_blob
from ledger.connect import when_back
from ledger.encode import KEY_ID, Row, row_of, same_digest
from ledger.statement import MOST, Writing, statement, values

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ledger.connect import Ledger
    from ledger.encode import Author

_UNREADABLE = frozenset({"22", "23", "42", "54"})
"""Classes of SQLSTATE that say our statement or its values are wrong: no repeat can help."""

_TRIES = 4

_FAILURES = (asyncpg.PostgresError, asyncpg.InterfaceError, OSError, TimeoutError)

_MANY = """select *, statement_timestamp() as recorded_at
  from ledger.append($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14,$15,$16)"""


@dataclass(frozen=True)
class Part:
    """What one stream gets: events at its head, which must be at `expected` where given.

    A part without events only asserts. `refs` are names of blobs that the bodies mention;
    `open_only` refuses a closed stream whatever the part holds.
    """

    stream: str
    facts: tuple[Fact, ...] = ()
    expected: int | None = None
    refs: tuple[bytes, ...] = ()
    open_only: bool = False


@dataclass(frozen=True)
class Appended:
    """Where each stream with new events stands right after the append: version and head hash.

    `repeated` tells that it had been made before: the heads are those of that first time.
    `at` is when the events were recorded, None where that was an earlier time.
    """

    heads: Mapping[str, tuple[int, bytes]]
    repeated: bool = False
    at: datetime | None = None


class VersionConflictError(LegatoError):
    """A stream was not where the writer expected it: fold again and decide again."""


class TakenError(LegatoError):
    """Another writer was first: read its event and go on from it."""


def _after_end(part: Part) -> bool:
    """An assertion holds on a closed stream; facts only where all may come after the end."""
    return not part.open_only and all(fact.after_end for fact in part.facts)


async def append(ledger: Ledger, author: Author, *parts: Part) -> Appended:
    """Append parts, all or nothing.

    Raises VersionConflictError (`version_conflict`), TakenError (`event_taken`: an event
    of use `first` is there already, or one of its batch), `idempotency_mismatch` (an event
    of use `same` is there with other content), `run_closed`. A repeated append of equal
    content gives the first result. An error of the database is resolved by id first;
    `ledger_unreachable` says that the append is not there or that nobody can tell, and
    repeating it is safe. `append_invalid` is a bug: the database cannot store this.
    """
    now = datetime.now(UTC).isoformat()
    rows = [_rows_of(ledger, author, part, now) for part in parts]
    try:
        for part_rows in rows:
            for row in part_rows:
                if row.blob is not None:
                    await put_blob(ledger, row.blob)
        if len(parts) == 1 and 0 < len(rows[0]) <= MOST:
            return await _append_to_one(ledger, parts[0], rows[0])
        return await _append_many(ledger, parts, rows)
    except asyncpg.UniqueViolationError:
        return await _resolve(ledger, parts, None)
    except _FAILURES as exc:
        error = _translated(exc, parts)
        if error.kind is Kind.BUG:
            raise error from None
        return await _resolve(ledger, parts, error)


def _rows_of(ledger: Ledger, author: Author, part: Part, now: str) -> list[Row]:
    refs = b"".join(part.refs)
    return [row_of(fact, author, now, ledger.secret, refs) for fact in part.facts]


def _translated(exc: Exception, parts: Sequence[Part]) -> LegatoError:
    """Turn the database's word into ours."""
    state = str(getattr(exc, "sqlstate", None) or "")
    said = str(exc.args[0]) if exc.args else type(exc).__name__
    if state == "LG001":
        return VersionConflictError(
            "version_conflict", said, next="fold the stream again and decide again"
        )
    if state == "LG002":
        return closed_error(str(getattr(exc, "detail", None) or parts[0].stream))
    if state[:2] in _UNREADABLE or isinstance(exc, ValueError):
        return bug("append_invalid", f"the ledger cannot store this: {said}", sqlstate=state)
    return _unreachable(exc, "and it is not there")


def _unreachable(exc: Exception, known: str) -> LegatoError:
    error = LegatoError(
        "ledger_unreachable",
        f"the ledger did not answer an append, {known}",
        cause=type(exc).__name__,
        next="run `legato status`, then repeat the command: the same ids are safe to repeat",
    )
    error.next = when_back(exc, error.next)
    return error


def closed_error(stream: str) -> LegatoError:
    """Say that a run has ended and takes nothing more."""
    run_id = stream.removeprefix("run/")
    return refused(
        "run_closed",
        f"the run {run_id} has ended and takes nothing more",
        next=f"see `legato show {run_id}`; start a new run, or go on from what this one left "
        f"undone with `legato resume {run_id}`",
    )


async def _append_to_one(ledger: Ledger, part: Part, rows: Sequence[Row]) -> Appended:
    """Append by a statement of its own, or with others where those are on their way already."""
    if ledger.together.must_wait():
        writing = Writing(part.stream, part.expected, rows, _after_end(part))
        head = await ledger.together.join(ledger.pool, writing)
        if head is not None:
            return Appended({part.stream: head[:2]}, at=head[2])
    ledger.together.begin()
    try:
        return await _append_alone(ledger, part, rows)
    finally:
        ledger.together.end(ledger.pool)


async def _append_alone(ledger: Ledger, part: Part, rows: Sequence[Row]) -> Appended:
    given = values(part.stream, part.expected, rows, after_end=_after_end(part))
    for _ in range(_TRIES):
        done = await ledger.pool.fetch(statement(len(rows)), *given)
        if done:
            last = max((row[0], row[1]) for row in done)
            return Appended({part.stream: last}, at=done[0]["recorded_at"])
        head = await ledger.pool.fetchrow(
            "select version, closed_at from ledger.stream where stream_id = $1", part.stream
        )
        why = _why_not(part, head)
        if why is not None:
            return await _resolve(ledger, [part], why)
        if head is None:
            await ledger.pool.execute(
                "insert into ledger.stream (stream_id, kind) values ($1, split_part($1, '/', 1))"
                " on conflict do nothing",
                part.stream,
            )
    raise bug("append_failed", f"{part.stream} took no event", stream=part.stream)


def _why_not(part: Part, head: asyncpg.Record | None) -> LegatoError | None:
    """Say why a head refuses a part; None where it does not now, though it did a moment ago."""
    if head is not None and head["closed_at"] is not None and not _after_end(part):
        return closed_error(part.stream)
    actual = 0 if head is None else head["version"]
    if part.expected is None or part.expected == actual:
        return None
    return VersionConflictError(
        "version_conflict",
        f"expected {part.stream} at version {part.expected}, it is at {actual}",
        next="fold the stream again and decide again",
        details={"expected": part.expected, "actual": actual},
    )


async def _append_many(
    ledger: Ledger, parts: Sequence[Part], rows: Sequence[Sequence[Row]]
) -> Appended:
    flat = [(n, row) for n, part_rows in enumerate(rows, start=1) for row in part_rows]
    each = [row for _, row in flat]
    done = await ledger.pool.fetch(
        _MANY,
        [part.stream for part in parts],
        [part.expected for part in parts],
        [_after_end(part) for part in parts],
        [n for n, _ in flat],
        [row.event_id for row in each],
        [row.type for row in each],
        [row.schema_version for row in each],
        [row.correlation for row in each],
        [row.envelope for row in each],
        [row.body for row in each],
        [int(row.codec) for row in each],
        [KEY_ID for _ in each],
        [row.blobs for row in each],
        [row.commit for row in each],
        [row.same for row in each],
        [row.closes for row in each],
    )
    heads = {r["out_stream"]: (r["out_version"], r["out_hash"]) for r in done}
    return Appended(heads, at=done[0]["recorded_at"] if done else None)


@dataclass(frozen=True)
class _Found:
    """One event of an append that is there already: where, and what it holds."""

    version: int
    hash: bytes
    same: bytes


_There = dict[tuple[str, str], _Found]


async def _resolve(ledger: Ledger, parts: Sequence[Part], error: LegatoError | None) -> Appended:
    """Find out by id whether an append that failed is there, and say so truly.

    A batch is a unit: with all of its ids there it was made before; with some of them
    another writer was first.
    """
    wanted = [(part.stream, fact) for part in parts for fact in part.facts]
    try:
        found = await _find(ledger, wanted)
    except _FAILURES as exc:
        raise _unreachable(exc, "nor the question whether it is there") from None
    if len(found) == len(wanted) and wanted:
        return _repeated(ledger, wanted, found)
    if found:
        raise _mismatch(ledger, wanted, found) or _taken(name for _, name in found)
    raise error or bug("append_failed", "a unique id was refused and is not there")


async def _find(ledger: Ledger, wanted: Sequence[tuple[str, Fact]]) -> _There:
    rows = await ledger.pool.fetch(
        "select stream_id, event_id, version, hash, same_digest from ledger.event e"
        " join unnest($1::text[], $2::text[]) as w(s, i) on e.stream_id = w.s and e.event_id = w.i",
        [stream for stream, _ in wanted],
        [event_id(fact) for _, fact in wanted],
    )
    return {
        (r["stream_id"], r["event_id"]): _Found(r["version"], r["hash"], r["same_digest"])
        for r in rows
    }


def _taken(names: Iterable[str]) -> TakenError:
    return TakenError(
        "event_taken",
        f"another writer was first with {', '.join(sorted(names))}",
        next="read the event that is there and go on from it",
    )


def _differing(
    ledger: Ledger, wanted: Sequence[tuple[str, Fact]], found: _There
) -> list[tuple[str, Fact]]:
    """List the facts that are there with other content."""
    return [
        (stream, fact)
        for stream, fact in wanted
        if (there := found.get((stream, event_id(fact)))) is not None
        and there.same != same_digest(ledger.secret, fact)
    ]


def _mismatch(
    ledger: Ledger, wanted: Sequence[tuple[str, Fact]], found: _There
) -> LegatoError | None:
    for stream, fact in _differing(ledger, wanted, found):
        if fact.use is Use.SAME:
            return LegatoError(
                "idempotency_mismatch",
                f"{event_id(fact)} of {stream} is recorded with other content",
                kind=Kind.REFUSED,
                next="use a new submission id for a new command",
                details={"stream": stream, "event_id": event_id(fact)},
            )
    return None


def _repeated(ledger: Ledger, wanted: Sequence[tuple[str, Fact]], found: _There) -> Appended:
    """Judge a batch that is there whole: ours repeated, or another writer's."""
    mismatch = _mismatch(ledger, wanted, found)
    if mismatch is not None:
        raise mismatch
    differing = _differing(ledger, wanted, found)
    if differing:
        raise _taken(event_id(fact) for _, fact in differing)
    heads: dict[str, tuple[int, bytes]] = {}
    for (stream, _), there in found.items():
        heads[stream] = max(heads.get(stream, (0, b"")), (there.version, there.hash))
    return Appended(heads, repeated=True)


__all__ = ["Appended", "Fact", "Part", "TakenError", "VersionConflictError", "append"]
