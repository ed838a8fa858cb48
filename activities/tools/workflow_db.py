"""The workspace's workflow database: described, queried and changed by SQL."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Final

from activities.tools.sqlite_process import Asked, ask, only_one
from domain.agents.profile import require_writer
from domain.errors import refused
from domain.ports import Absent, Executed, Tool, Unclear
from domain.tools.registry import Effect, Writes, tool_spec
from domain.tools.results import error, ok

if TYPE_CHECKING:
    from collections.abc import Mapping

    from domain.codec import Json
    from domain.ports import Probed, ToolContext, ToolReturn

_RESOURCE: Final = "workflow_db"
_KEPT: Final = "select result from _legato_call where call_id = ?"

_NEXT: Final = {
    "sql_not_allowed": (
        "query_workflow_db takes SELECT; mutate_workflow_db takes INSERT, UPDATE, DELETE and "
        "CREATE, ALTER or DROP of a TABLE, INDEX or VIEW; describe_workflow_db shows the schema"
    ),
    "one_statement_only": "give exactly one statement in each sql",
    "sql_error": "look at the schema with describe_workflow_db and correct the sql",
    "bad_parameters": "give one value for each ? in a list, or for each :name in an object",
    "constraint_failed": "look at the rows in question with query_workflow_db first",
    "time_limit": "narrow it: WHERE, LIMIT, an index, or a bound in the recursive part",
    "too_large": "work on less at once: fewer rows, shorter values, a simpler statement",
    "database_busy": "another call is writing; try again",
    "database_unreadable": "report it: the file workflow.db of this workspace needs a person",
    "sql_crashed": "try a simpler statement",
    "stopped": "",
}

_VALUE: Final[dict[str, object]] = {
    "description": 'null, number, string, {"blob": "hex"} or {"int": "digits"} beyond 2^53',
    "anyOf": [
        {"type": ["null", "boolean", "number", "string"]},
        {
            "type": "object",
            "properties": {mark: {"type": "string"} for mark in ("blob", "int", "real")},
            "minProperties": 1,
        },
    ],
}
_SQL: Final[dict[str, object]] = {
    "type": "string",
    "description": "One SQLite statement; ? or :name for values",
}
_PARAMS: Final[dict[str, object]] = {
    "description": "Values by place (a list) or by name (an object)",
    "anyOf": [
        {"type": "array", "items": _VALUE},
        {"type": "object", "additionalProperties": _VALUE},
    ],
}


def _database(context: ToolContext) -> str:
    if not context.stores:
        raise refused(
            "no_workspace",
            "this run has no workspace, so it has no workflow database",
            next="start the run with a workspace",
        )
    return str(Path(context.stores) / "workflow.db")


def _executed(asked: Asked) -> Executed:
    if not asked.code:
        return Executed(ok(asked.text))
    advice = _NEXT.get(asked.code, "")
    return Executed(error(asked.code, f"{asked.text}; {advice}" if advice else asked.text))


def _describe(
    arguments: Mapping[str, Json],  # noqa: ARG001 - the port's name
    context: ToolContext,
) -> ToolReturn:
    request: dict[str, object] = {
        "op": "describe",
        "database": _database(context),
        "statements": [],
    }
    return _executed(ask(request, context))


def _query(arguments: Mapping[str, Json], context: ToolContext) -> ToolReturn:
    statement = {"sql": arguments["sql"], "params": arguments.get("params")}
    request = {
        "op": "query",
        "database": _database(context),
        "statements": [statement],
        "max_rows": arguments.get("max_rows", 100),
    }
    return _executed(ask(request, context))


def _mutate(arguments: Mapping[str, Json], context: ToolContext) -> ToolReturn:
    require_writer(context.claim, "mutate_workflow_db")
    database = _database(context)
    request = {
        "op": "mutate",
        "database": database,
        "call_id": context.call_id,
        "statements": arguments["statements"],
    }
    Path(database).parent.mkdir(parents=True, exist_ok=True)
    with only_one(_lock_path(context), context) as lock:
        if lock is None:
            return Unclear("an earlier execution of this call still runs")
        asked = ask(request, context, lock)
    if asked.complete:
        return _executed(asked)
    # It may have committed just before it was ended: the receipt tells.
    kept = _kept(context)
    return kept if isinstance(kept, Executed) else _executed(asked)


def _probe_mutate(
    arguments: Mapping[str, Json],  # noqa: ARG001 - the port's name
    context: ToolContext,
) -> Probed:
    with only_one(_lock_path(context), context) as lock:
        if lock is None:
            return Unclear("an earlier execution of this call still runs")
        return _kept(context)


def _lock_path(context: ToolContext) -> Path:
    return Path(context.call_folder) / "workflow_db.lock"


def _kept(context: ToolContext) -> Executed | Absent | Unclear:
    """Read the receipt of a call that surely does not run now."""
    path = Path(_database(context))
    if not path.exists():
        return Absent()
    place = f"{path.as_uri()}?mode=ro"
    try:
        with closing(sqlite3.connect(place, uri=True, timeout=context.limit)) as connection:
            if not connection.execute(
                "select 1 from sqlite_schema where name = '_legato_call'"
            ).fetchone():
                return Absent()
            row: tuple[str] | None = connection.execute(_KEPT, [context.call_id]).fetchone()
    except sqlite3.Error as exc:
        return Unclear(f"the workflow database cannot be read: {exc}")
    return Absent() if row is None else Executed(ok(row[0]))


_DESCRIBE_TOOL: Final = Tool(
    tool_spec(
        "describe_workflow_db",
        "Show the tables, views and indexes of the workflow database: kind, name, number of "
        "rows, and the SQL that defines each.",
        {"type": "object", "properties": {}, "additionalProperties": False},
        effect=Effect.READ,
        writes=Writes.NOTHING,
        timeout=10.0,
        resource=_RESOURCE,
    ),
    _describe,
)

_QUERY_TOOL: Final = Tool(
    tool_spec(
        "query_workflow_db",
        "Run one SELECT on the workflow database (SQLite). Gives columns, rows and left_out, "
        "the number of rows not shown. A database without tables answers with no rows.",
        {
            "type": "object",
            "properties": {
                "sql": _SQL,
                "params": _PARAMS,
                "max_rows": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 100},
            },
            "required": ["sql"],
            "additionalProperties": False,
        },
        effect=Effect.READ,
        writes=Writes.NOTHING,
        timeout=10.0,
        resource=_RESOURCE,
    ),
    _query,
)

_MUTATE_TOOL: Final = Tool(
    tool_spec(
        "mutate_workflow_db",
        "Change the workflow database (SQLite): all statements in one transaction, or none. "
        "INSERT, UPDATE, DELETE (RETURNING gives rows), and CREATE, ALTER or DROP of a TABLE, "
        "INDEX or VIEW. Gives the number of rows changed by each statement.",
        {
            "type": "object",
            "properties": {
                "statements": {
                    "type": "array",
                    "minItems": 1,
                    "maxItems": 100,
                    "items": {
                        "type": "object",
                        "properties": {"sql": _SQL, "params": _PARAMS},
                        "required": ["sql"],
                        "additionalProperties": False,
                    },
                }
            },
            "required": ["statements"],
            "additionalProperties": False,
        },
        effect=Effect.TRANSACTIONAL,
        writes=Writes.LASTING,
        timeout=30.0,
        resource=_RESOURCE,
    ),
    _mutate,
    _probe_mutate,
)

WORKFLOW_DB_TOOLS: Final[tuple[Tool, ...]] = (_DESCRIBE_TOOL, _QUERY_TOOL, _MUTATE_TOOL)
"""What a worker registers for the workflow database."""
