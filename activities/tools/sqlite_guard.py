"""What SQL written by a model may do to a database: an allow-list, asked at each preparation.

This module is loaded by a bare interpreter: it imports the standard library only.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Final

RESERVED_PREFIX: Final = "_legato"
"""Names that begin so (in any case) are ours: no statement may read or change them."""

VALUE_BYTES: Final = 4 * 1024 * 1024
DATABASE_BYTES: Final = 512 * 1024 * 1024
HEAP_BYTES: Final = 192 * 1024 * 1024

_LIMITS: Final = {
    sqlite3.SQLITE_LIMIT_LENGTH: VALUE_BYTES,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 200_000,
    sqlite3.SQLITE_LIMIT_COLUMN: 500,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 200,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 100,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 1000,
    sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER: 2000,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 20,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}

_FUNCTIONS: Final = frozenset(
    """
    -> ->> abs acos acosh asin asinh atan atan2 atanh avg ceil ceiling changes char coalesce
    concat concat_ws cos cosh count cume_dist current_date current_time current_timestamp date
    datetime degrees dense_rank exp first_value floor format glob group_concat hex if ifnull iif
    instr json json_array json_array_length json_error_position json_extract json_group_array
    json_group_object json_insert json_object json_patch json_pretty json_quote json_remove
    json_replace json_set json_type json_valid jsonb jsonb_array jsonb_extract jsonb_group_array
    jsonb_group_object jsonb_insert jsonb_object jsonb_patch jsonb_remove jsonb_replace jsonb_set
    julianday lag last_insert_rowid last_value lead length like likelihood likely ln log log10
    log2 lower ltrim max median min mod nth_value ntile nullif octet_length percent_rank
    percentile percentile_cont percentile_disc pi pow power printf quote radians random
    randomblob rank replace round row_number rtrim sign sin sinh soundex sqlite_version sqrt
    strftime string_agg substr substring sum tan tanh time timediff total total_changes trim
    trunc typeof unhex unicode unistr unistr_quote unixepoch unlikely upper zeroblob
    """.split()  # noqa: SIM905 - a list literal would take a page
)

_ALTER_FUNCTIONS: Final = frozenset(
    {
        "raise",
        "sqlite_drop_column",
        "sqlite_fail",
        "sqlite_rename_column",
        "sqlite_rename_quotefix",
        "sqlite_rename_table",
        "sqlite_rename_test",
    }
)
"""What ALTER TABLE calls by itself."""

_SCHEMA_TABLES: Final = frozenset({"sqlite_master", "sqlite_schema"})
_TEMP_TABLES: Final = frozenset({"sqlite_temp_master", "sqlite_temp_schema"})
_KEPT_BY_SQLITE: Final = frozenset(
    {
        *_SCHEMA_TABLES,
        *_TEMP_TABLES,
        "sqlite_sequence",
        "sqlite_stat1",
        "sqlite_stat4",
    }
)

_READS: Final = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE})
_CHANGES: Final = {
    sqlite3.SQLITE_INSERT: "INSERT",
    sqlite3.SQLITE_UPDATE: "UPDATE",
    sqlite3.SQLITE_DELETE: "DELETE",
}
_DEFINES: Final = {
    sqlite3.SQLITE_CREATE_TABLE: "CREATE TABLE",
    sqlite3.SQLITE_CREATE_INDEX: "CREATE INDEX",
    sqlite3.SQLITE_CREATE_VIEW: "CREATE VIEW",
    sqlite3.SQLITE_DROP_TABLE: "DROP TABLE",
    sqlite3.SQLITE_DROP_INDEX: "DROP INDEX",
    sqlite3.SQLITE_DROP_VIEW: "DROP VIEW",
    sqlite3.SQLITE_ALTER_TABLE: "ALTER TABLE",
}
_NEVER: Final = {
    sqlite3.SQLITE_ATTACH: "ATTACH and VACUUM",
    sqlite3.SQLITE_DETACH: "DETACH",
    sqlite3.SQLITE_PRAGMA: "PRAGMA",
    sqlite3.SQLITE_TRANSACTION: "BEGIN, COMMIT and ROLLBACK",
    sqlite3.SQLITE_SAVEPOINT: "SAVEPOINT",
    sqlite3.SQLITE_REINDEX: "REINDEX",
    sqlite3.SQLITE_ANALYZE: "ANALYZE",
    sqlite3.SQLITE_CREATE_TRIGGER: "CREATE TRIGGER",
    sqlite3.SQLITE_DROP_TRIGGER: "DROP TRIGGER",
    sqlite3.SQLITE_CREATE_VTABLE: "CREATE VIRTUAL TABLE",
    sqlite3.SQLITE_DROP_VTABLE: "DROP VIRTUAL TABLE",
    sqlite3.SQLITE_CREATE_TEMP_TABLE: "TEMP tables",
    sqlite3.SQLITE_CREATE_TEMP_INDEX: "TEMP indexes",
    sqlite3.SQLITE_CREATE_TEMP_VIEW: "TEMP views",
    sqlite3.SQLITE_CREATE_TEMP_TRIGGER: "TEMP triggers",
}


@dataclass
class Guard:
    """The authorizer of one connection; `arm` it before each statement.

    `refused` is why the statement was refused ("" where it was not), `seen` tells whether
    there was a statement at all.
    """

    may_write: bool
    refused: str = ""
    seen: bool = False
    defining: bool = False

    def arm(self) -> None:
        """Forget the statement before."""
        self.refused, self.seen, self.defining = "", False, False

    def __call__(
        self,
        action: int,
        first: str | None,
        second: str | None,
        database: str | None,
        _source: str | None,
    ) -> int:
        """Answer SQLite: whether the statement being prepared may do this."""
        self.seen = True
        reason = self._reason(action, first or "", second or "", database or "")
        if reason:
            self.refused = self.refused or reason
            return sqlite3.SQLITE_DENY
        if action in _DEFINES:
            self.defining = True
        return sqlite3.SQLITE_OK

    def _reason(self, action: int, first: str, second: str, database: str) -> str:
        if action in _READS:
            return ""
        if action == sqlite3.SQLITE_READ:
            return self._table_reason(first)
        if action == sqlite3.SQLITE_FUNCTION:
            return self._function_reason(second.lower())
        if action in _CHANGES:
            return self._change_reason(_CHANGES[action], first)
        if action in _DEFINES:
            return self._define_reason(_DEFINES[action], first, second, database)
        if self.defining and _follows_a_definition(action, first):
            return ""
        return f"{_NEVER.get(action, 'this kind of statement')}: not allowed here"

    def _table_reason(self, table: str) -> str:
        name = table.lower()
        if name.startswith(RESERVED_PREFIX):
            return f"tables named {RESERVED_PREFIX}... are not yours to read or change"
        if name.startswith("sqlite_") and name not in _KEPT_BY_SQLITE:
            return f"the table {name} is not allowed here"
        return ""

    def _function_reason(self, function: str) -> str:
        if function in _FUNCTIONS or (self.defining and function in _ALTER_FUNCTIONS):
            return ""
        return f"the function {function} is not allowed here"

    def _change_reason(self, verb: str, table: str) -> str:
        name = table.lower()
        if name in _SCHEMA_TABLES:
            # SQLite itself refuses these in written SQL; asked here, they are its own upkeep.
            return ""
        if not self.may_write:
            return f"{verb} changes data and query_workflow_db only reads"
        if name in _TEMP_TABLES and not self.defining:
            return "TEMP tables, views and triggers: not allowed here, use a CTE or a table"
        if name.startswith("sqlite_") and not self.defining:
            return f"the table {name} is kept by SQLite and not yours to change"
        return self._table_reason(table)

    def _define_reason(self, verb: str, first: str, second: str, database: str) -> str:
        if not self.may_write:
            return f"{verb} changes the schema and query_workflow_db only reads"
        if any(n.lower().startswith(RESERVED_PREFIX) for n in (first, second, database)):
            return f"names that begin with {RESERVED_PREFIX} are not yours to define or drop"
        return ""


def _follows_a_definition(action: int, first: str) -> bool:
    """Tell what SQLite does by itself while it carries out a CREATE or an ALTER."""
    if action == sqlite3.SQLITE_PRAGMA:
        return first == "quick_check"
    return action == sqlite3.SQLITE_REINDEX


def confine(connection: sqlite3.Connection) -> None:
    """Lower the limits of a connection and its heap; made before the guard is set."""
    for limit, value in _LIMITS.items():
        connection.setlimit(limit, value)
    connection.execute(f"PRAGMA hard_heap_limit={HEAP_BYTES}")
    page_size = connection.execute("PRAGMA page_size").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count={DATABASE_BYTES // page_size}")
    connection.execute("PRAGMA journal_size_limit=16777216")
    connection.execute("PRAGMA trusted_schema=OFF")
    connection.execute("PRAGMA cell_size_check=ON")
