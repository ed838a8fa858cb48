"""The program that runs a model's SQL: a process of its own, to be killed at any time.

Preparing or stepping a statement can hold a core or eat all memory inside one call of the
library (a chain of doubling CTEs needs half a gigabyte before the first step); only a
process boundary ends that. One request comes as a JSON line on stdin, which then stays
open: its end means that the worker is gone, and so is this process, uncommitted. One
answer `{"code", "text"}` goes to stdout.

This module is loaded by a bare interpreter: it imports the standard library only.
"""

from __future__ import annotations

import json
import os
import resource
import sqlite3
import sys
import threading
import time
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from activities.tools.sqlite_guard import DATABASE_BYTES, RESERVED_PREFIX, Guard, confine
from activities.tools.sqlite_values import Rows, read_rows, sql_parameters

if TYPE_CHECKING:
    from collections.abc import Generator

_MEMORY_BYTES: Final = 768 * 1024 * 1024
_STEPS_BETWEEN_LOOKS: Final = 20_000
_COUNTED_ROWS: Final = 100_000
_RETURNED_ROWS: Final = 100
_WAIT_SHARE: Final = 0.8
"""The part of the limit that may be spent waiting for another writer."""

_RECEIPTS: Final = """
create table if not exists _legato_call (
    call_id text primary key, result text not null, at text not null
)"""
_KEEP: Final = "insert into _legato_call values (?, ?, strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))"
_KEPT: Final = "select result from _legato_call where call_id = ?"
_SCHEMA: Final = """
select type, name, sql from sqlite_schema
where sql is not null and substr(lower(tbl_name), 1, 7) not in (?, 'sqlite_')
order by tbl_name, type = 'index', name"""
_WRONG_REFERENCES: Final = """
select s.name from sqlite_schema s, pragma_foreign_key_list(s.name) f
where s.type = 'table' and substr(lower(f."table"), 1, 7) in (?, 'sqlite_')"""

_BY_SQLITE: Final = {
    sqlite3.SQLITE_INTERRUPT: "time_limit",
    sqlite3.SQLITE_AUTH: "sql_not_allowed",
    sqlite3.SQLITE_TOOBIG: "too_large",
    sqlite3.SQLITE_NOMEM: "too_large",
    sqlite3.SQLITE_FULL: "too_large",
    sqlite3.SQLITE_BUSY: "database_busy",
    sqlite3.SQLITE_LOCKED: "database_busy",
    sqlite3.SQLITE_NOTADB: "database_unreadable",
    sqlite3.SQLITE_CORRUPT: "database_unreadable",
    sqlite3.SQLITE_CANTOPEN: "database_unreadable",
    sqlite3.SQLITE_IOERR: "database_unreadable",
    sqlite3.SQLITE_CONSTRAINT: "constraint_failed",
}


@dataclass(frozen=True)
class Request:
    """One request. `database` is a path, `limit` in seconds from the start."""

    op: str
    database: str
    limit: float
    call_id: str = ""
    max_rows: int = _RETURNED_ROWS
    statements: tuple[dict[str, object], ...] = ()


@dataclass(frozen=True)
class Answer:
    """What came of it; code "" is success."""

    code: str
    text: str


class Refused(Exception):  # noqa: N818 - named as the domain says it
    """A statement that cannot be run; `code` is stable."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code
        self.text = text


def _open(request: Request, *, write: bool) -> sqlite3.Connection:
    """Open the database with its limits; a missing one reads as an empty one."""
    path = Path(request.database)
    mode = "rwc" if write else "ro"
    place = f"{path.as_uri()}?mode={mode}" if write or path.exists() else ":memory:"
    connection = sqlite3.connect(
        place,
        uri=True,
        isolation_level=None,
        timeout=request.limit * _WAIT_SHARE,
        cached_statements=0,
    )
    connection.text_factory = _text
    confine(connection)
    deadline = time.monotonic() + request.limit
    connection.set_progress_handler(lambda: int(time.monotonic() > deadline), _STEPS_BETWEEN_LOOKS)
    if write:
        _make_ready(connection, deadline)
    return connection


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _make_ready(connection: sqlite3.Connection, deadline: float) -> None:
    """Set the journal and the receipts up once; SQLite does not queue for the former."""
    while True:
        try:
            connection.execute("pragma journal_mode=wal")
            break
        except sqlite3.OperationalError as exc:
            if _sqlite_code(exc) != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
    connection.execute("pragma synchronous=full")
    connection.execute("pragma foreign_keys=on")
    connection.execute(_RECEIPTS)


def _run(
    connection: sqlite3.Connection, guard: Guard, statement: dict[str, object], max_rows: int
) -> Rows | None:
    """Run one statement under the guard; raises Refused or what SQLite raises."""
    try:
        parameters = sql_parameters(statement.get("params"))
    except ValueError as exc:
        raise Refused("bad_parameters", str(exc)) from exc
    guard.arm()
    connection.set_authorizer(guard)
    try:
        cursor = connection.execute(str(statement["sql"]), parameters)
        rows = read_rows(cursor, max_rows)
    except Exception as exc:
        raise Refused(*_why(exc, guard)) from exc
    finally:
        connection.set_authorizer(None)
    if not guard.seen:
        raise Refused("one_statement_only", "there is no statement in the sql")
    # ALTER TABLE checks old rows by a query of its own, whose rows are not an answer.
    return None if guard.defining else rows


def _sqlite_code(exc: BaseException) -> int:
    return getattr(exc, "sqlite_errorcode", 0) & 0xFF


def _why(exc: Exception, guard: Guard) -> tuple[str, str]:
    """Tell the stable code and the text of a failure."""
    text = str(exc)
    if isinstance(exc, Refused):
        return exc.code, exc.text
    if guard.refused:
        return "sql_not_allowed", guard.refused
    if isinstance(exc, MemoryError):
        return "too_large", "the statement needs more memory than it may have"
    if "one statement" in text:
        return "one_statement_only", "the sql holds more than one statement"
    if "may not be modified" in text or "within a transaction" in text:
        return "sql_not_allowed", text
    known = _BY_SQLITE.get(_sqlite_code(exc), "")
    if known == "time_limit":
        return known, "it ran over its time"
    if known:
        return known, text
    if isinstance(exc, sqlite3.DataError):
        return "too_large", text
    if isinstance(exc, sqlite3.ProgrammingError | sqlite3.InterfaceError) and "null" not in text:
        return "bad_parameters", text
    if isinstance(exc, sqlite3.Error | UnicodeError):
        return "sql_error", text
    raise exc


def _query(request: Request) -> Answer:
    """Run one reading statement."""
    guard = Guard(may_write=False)
    try:
        with closing(_open(request, write=False)) as connection:
            rows = _run(connection, guard, request.statements[0], request.max_rows)
    except Refused as exc:
        if "no such table" in exc.text and not Path(request.database).exists():
            note = "the workflow database is empty: it has no tables yet"
            return Answer("", json.dumps({"columns": [], "left_out": 0, "note": note, "rows": []}))
        raise
    return Answer("", rows.render() if rows else "{}")


def _describe(request: Request) -> Answer:
    """List tables, views and indexes with their definitions, and rows of tables."""
    with closing(_open(request, write=False)) as connection:
        lines = _schema_lines(connection)
    if not lines:
        return Answer("", '{"schema": [], "note": "the workflow database is empty"}')
    return Answer("", '{"schema": [\n' + ",\n".join(lines) + "\n]}")


def _schema_lines(connection: sqlite3.Connection) -> list[str]:
    lines: list[str] = []
    for kind, name, sql in connection.execute(_SCHEMA, [RESERVED_PREFIX]).fetchall():
        row: dict[str, object] = {"kind": kind, "name": name, "sql": sql}
        if kind == "table":
            quoted = str(name).replace('"', '""')
            counted = f'select count(*) from (select 1 from "{quoted}" limit {_COUNTED_ROWS})'  # noqa: S608 - quoted
            count: int = connection.execute(counted).fetchone()[0]
            row["rows"] = count if count < _COUNTED_ROWS else f"{_COUNTED_ROWS} or more"
        lines.append(json.dumps(row, ensure_ascii=False))
    return lines


def _mutate(request: Request) -> Answer:
    """Run all statements and keep the receipt in one transaction, or change nothing."""
    with closing(_open(request, write=True)) as connection, _transaction(connection):
        kept = connection.execute(_KEPT, [request.call_id]).fetchone()
        if kept is not None:
            return Answer("", str(kept[0]))
        text = _apply(connection, request)
        _check_references(connection)
        connection.execute(_KEEP, [request.call_id, text])
    return Answer("", text)


def _check_references(connection: sqlite3.Connection) -> None:
    """Refuse foreign keys to tables that are not the model's: they would fail later writes."""
    found = connection.execute(_WRONG_REFERENCES, [RESERVED_PREFIX]).fetchone()
    if found is not None:
        text = f"a foreign key of {found[0]} refers to a table that is not yours"
        raise Refused("sql_not_allowed", text)


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Generator[None]:
    connection.execute("begin immediate")
    try:
        yield
        connection.execute("commit")
    finally:
        if connection.in_transaction:
            connection.execute("rollback")


def _apply(connection: sqlite3.Connection, request: Request) -> str:
    guard = Guard(may_write=True)
    parts: list[str] = []
    for place, statement in enumerate(request.statements):
        before = connection.total_changes
        try:
            rows = _run(connection, guard, statement, request.max_rows)
        except Refused as exc:
            where = f"statement {place + 1} of {len(request.statements)}: {exc.text}"
            raise Refused(exc.code, where) from exc
        changed = connection.total_changes - before
        parts.append(
            f'{{"rows_changed": {changed}}}'
            if rows is None
            else f'{{"rows_changed": {changed}, "returned": {rows.render()}}}'
        )
    return '{"applied": true, "statements": [\n' + ",\n".join(parts) + "\n]}"


_OPERATIONS: Final = {"query": _query, "describe": _describe, "mutate": _mutate}


def answer(request: Request) -> Answer:
    """Do what is asked; every failure that SQL can cause is an answer with a code."""
    try:
        return _OPERATIONS[request.op](request)
    except Refused as exc:
        return Answer(exc.code, exc.text)
    except (sqlite3.Error, MemoryError) as exc:
        return Answer(*_why(exc, Guard(may_write=False)))


def _limit_process(seconds: float) -> None:
    """Bound what one request may use, for what SQLite's own limits do not see."""
    wanted = {
        resource.RLIMIT_AS: _MEMORY_BYTES,
        resource.RLIMIT_FSIZE: 2 * DATABASE_BYTES,
        resource.RLIMIT_CPU: int(seconds) + 5,
        resource.RLIMIT_CORE: 0,
    }
    for name, value in wanted.items():
        # A platform that does not know a limit leaves it to SQLite's own and to the worker.
        with suppress(ValueError, OSError):
            resource.setrlimit(name, (value, value))


def _leave_with_the_worker() -> None:
    sys.stdin.buffer.read(1)
    os._exit(1)


def _request(values: dict[str, Any]) -> Request:
    """Read what the worker wrote."""
    return Request(
        op=values["op"],
        database=values["database"],
        limit=values["limit"],
        statements=tuple(values["statements"]),
        call_id=values.get("call_id", ""),
        max_rows=values.get("max_rows", _RETURNED_ROWS),
    )


def main() -> None:
    """Serve one request and leave."""
    line = sys.stdin.buffer.readline()
    if not line.endswith(b"\n"):
        os._exit(1)
    request = _request(json.loads(line))
    threading.Thread(target=_leave_with_the_worker, daemon=True).start()
    os.umask(0o077)
    _limit_process(request.limit)
    done = answer(request)
    text = json.dumps({"code": done.code, "text": done.text})
    sys.stdout.buffer.write(text.encode())
    sys.stdout.buffer.flush()
    os._exit(0)
